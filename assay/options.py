"""Options of an analysis, declared once with type, default, label, help and bounds.

    @dataclass(frozen=True)
    class Options(CheckedOptions):
        min_relevant: int = option(1, "Minimum relevant grade", help="except for nDCG", least=1)

The command line (`add_options`), the forms of the web pages, the keys of a study and the arguments
of the library's functions are read from the dataclass.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Self, get_args, get_type_hints


@dataclass(frozen=True)
class Option:
    """The properties of an analysis's option other than its name, type and default.

    label: label in forms. help: help on the command line, which adds the default. hint: text below
    the field in forms. choices: (value, label). least, most: bounds, inclusive, or exclusive if
    strict. most_in_form: upper bound in forms only, to limit the computations of a server. read:
    parser of text, which raises ArgumentTypeError for invalid text. required: on the command line,
    which then has no default. kind: kind of the form's field, if the type does not determine it.
    more: further settings of the form's field.
    """

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
    """An option with its name, type and default. The type `X | None` is stored as X. None means
    that the option was not given."""

    name: str
    type: type
    default: Any
    about: Option

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def values(self) -> list[str]:
        """Return the values to choose from, or none if any value is allowed."""
        return [value for value, _ in self.about.choices]

    @property
    def kind(self) -> str:
        """Return the kind of form field: `about.kind`, or choice, flag, whole, number or text,
        depending on the type."""
        kinds = {bool: "flag", int: "whole", float: "number"}
        return self.about.kind or ("choice" if self.about.choices else kinds.get(self.type, "text"))

    @property
    def uploaded(self) -> bool:
        return self.kind in ("list", "lists", "rows")

    def find_problem(self, value: Any) -> str:
        """Return what is wrong with a value of the option, or an empty string."""
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
        """Parse text for argparse."""
        if self.about.read is not None:
            return self.about.read(text)
        try:
            value = self.type(text)
        except ValueError:
            value = text
        if reason := self.find_problem(value):
            raise ArgumentTypeError(reason.removesuffix(f", not {value!r}") + f", not {text!r}")
        return value


def option(default: Any, label: str, **about: Any) -> Any:
    """Declare a field of an Options dataclass."""
    return field(default=default, metadata={"option": Option(label, **about)})


def _unwrap_optional(annotation: Any) -> Any:
    """Return X for `X | None`."""
    given = [one for one in get_args(annotation) if one is not type(None)]
    return given[0] if isinstance(annotation, UnionType) else annotation


def list_options(options: type, *names: str) -> list[DeclaredOption]:
    """Return all options of a class in order, or those with these names in the order of the
    names."""
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
    """Base class of the options of an analysis. Text is parsed if the option has a parser. Values
    outside the choices or bounds raise ValueError."""

    def __post_init__(self) -> None:
        for one in list_options(type(self)):
            value = getattr(self, one.name)
            if one.about.read is not None and isinstance(value, str):
                try:
                    object.__setattr__(self, one.name, one.about.read(value))
                except ArgumentTypeError as error:
                    raise ValueError(str(error)) from None
            elif reason := one.find_problem(value):
                raise ValueError(f"{one.name}: {reason}")

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Create options from a mapping that may hold other keys as well."""
        return cls(**{one.name: given[one.name] for one in fields(cls) if one.name in given})


def add_options(parser: ArgumentParser, options: type, *names: str) -> None:
    """Add every option of the class, or those with these names, to the command line."""
    for one in list_options(options, *names):
        about = one.about
        text = about.help or about.label[:1].lower() + about.label[1:]
        if one.type is bool:
            parser.add_argument(one.flag, action="store_true", help=text.replace("%", "%%"))
        elif about.choices:
            *first, last = (
                _format_choice(value, words, is_default=value == one.default and not about.required)
                for value, words in about.choices
            )
            words = f"{', '.join(first)} or {last}"
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


def _format_choice(value: str, words: str, *, is_default: bool) -> str:
    more = [*([words] if words != value else []), *(["default"] if is_default else [])]
    return f"{value} ({'; '.join(more)})" if more else value
