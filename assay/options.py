"""Options of an analysis, each said once: its type, default, label, help and bounds.

@dataclass(frozen=True)
class Options(Checked):
    min_relevant: int = option(1, "Lowest relevant grade", help="except for nDCG", least=1)

The command line (`add_options`), the form of the web pages, the keys of a study and the arguments
of the Python function are read from the dataclass."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Self, get_args, get_type_hints


@dataclass(frozen=True)
class Option:
    """What is said of an option beside its name, type and default.

    label: in a form. help: on the command line, where the default is added. hint: below the field
    of the form. choices: value and words. least, most: bounds, both included, or excluded if
    strict. most_in_form: a bound of the form alone, for what a server computes. read: from text, an
    ArgumentTypeError for a wrong one. required: on the command line, which then has no default.
    kind: of the form's field where the type does not tell. more: further settings of the
    form's field."""

    label: str
    help: str = ""
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    strict: bool = False
    most_in_form: float | None = None
    read: Callable[[str], Any] | None = None
    metavar: str = ""
    required: bool = False
    kind: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DeclaredOption:
    """An option with its name, type and default. A type `X | None` is given as X: None says that the
    option was not given."""

    name: str
    type: type
    default: Any
    about: Option

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def values(self) -> list[str]:
        """Those to choose from; none if any will do."""
        return [value for value, _ in self.about.choices]

    @property
    def kind(self) -> str:
        """What a form asks for: `about.kind`, or choice, flag, whole, number or text by the type."""
        kinds = {bool: "flag", int: "whole", float: "number"}
        return self.about.kind or ("choice" if self.about.choices else kinds.get(self.type, "text"))

    @property
    def uploaded(self) -> bool:
        return self.kind in ("list", "lists", "rows")

    def wrong(self, value: Any) -> str:
        """Why the value will not do, '' if it will."""
        about = self.about
        if value is None and self.default is None:
            return ""
        if self.values and value not in self.values:
            return f"expected one of {', '.join(map(repr, self.values))}, not {value!r}"
        if self.type in (int, float) and not about.choices:
            expected = "a whole number" if self.type is int else "a number"
            if isinstance(value, bool) or not isinstance(
                value, int if self.type is int else (int, float)
            ):
                return f"expected {expected}, not {value!r}"
            low, high = about.least, about.most
            if about.strict and low is not None and not value > low:
                return f"expected {expected} above {low:g}, not {value!r}"
            if about.strict and high is not None and not value < high:
                return f"expected {expected} below {high:g}, not {value!r}"
            if low is not None and not value >= low:
                return f"expected {expected} of at least {low:g}, not {value!r}"
            if high is not None and not value <= high:
                return f"expected {expected} of at most {high:g}, not {value!r}"
        return ""

    def from_text(self, text: str) -> Any:
        """For argparse."""
        if self.about.read is not None:
            return self.about.read(text)
        try:
            value = self.type(text)
        except ValueError:
            value = text
        if reason := self.wrong(value):
            raise ArgumentTypeError(reason.removesuffix(f", not {value!r}") + f", not {text!r}")
        return value


def option(default: Any, label: str, **about: Any) -> Any:
    """A field of an Options dataclass."""
    return field(default=default, metadata={"option": Option(label, **about)})


def _unwrap_optional(annotation: Any) -> Any:
    """X of `X | None`."""
    given = [one for one in get_args(annotation) if one is not type(None)]
    return given[0] if isinstance(annotation, UnionType) else annotation


def list_options(options: type, *names: str) -> list[DeclaredOption]:
    """All of a class of options in their order, or those of these names in the order of the names."""
    types = get_type_hints(options)
    declared = {
        one.name: DeclaredOption(
            one.name, _unwrap_optional(types[one.name]), one.default, one.metadata["option"]
        )
        for one in fields(options)
    }
    return [declared[name] for name in names or declared]


@dataclass(frozen=True)
class CheckedOptions:
    """Base of options. Texts are read where an option says how; values outside their choices and
    bounds raise ValueError."""

    def __post_init__(self) -> None:
        for one in list_options(type(self)):
            value = getattr(self, one.name)
            if one.about.read is not None and isinstance(value, str):
                try:
                    object.__setattr__(self, one.name, one.about.read(value))
                except ArgumentTypeError as error:
                    raise ValueError(str(error)) from None
            elif reason := one.wrong(value):
                raise ValueError(f"{one.name}: {reason}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From a mapping that may hold more than these options."""
        return cls(**{one.name: given[one.name] for one in fields(cls) if one.name in given})


def add_options(parser: ArgumentParser, options: type, *names: str) -> None:
    """Every option of the class, or those of these names, to the command line."""
    for one in list_options(options, *names):
        about = one.about
        text = about.help or about.label[:1].lower() + about.label[1:]
        if one.type is bool:
            parser.add_argument(one.flag, action="store_true", help=text.replace("%", "%%"))
        elif about.choices:
            words = " or ".join(
                _choice(value, words, is_default=value == one.default and not about.required)
                for value, words in about.choices
            )
            parser.add_argument(
                one.flag,
                choices=one.values,
                default=None if about.required else one.default,
                required=about.required,
                help=f"{text}: {words}".replace("%", "%%"),
            )
        else:
            known = (
                ""
                if "(default" in text or one.default in (None, "", ())
                else f" (default: {one.default})"
            )
            parser.add_argument(
                one.flag,
                type=one.from_text,
                default=one.default,
                metavar=about.metavar or "N",
                help=f"{text}{known}".replace("%", "%%"),
            )


def _choice(value: str, words: str, *, is_default: bool) -> str:
    more = [*([words] if words != value else []), *(["default"] if is_default else [])]
    return f"{value} ({'; '.join(more)})" if more else value
