"""What a study is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.charts.svg import Picture
from assay.options import DeclaredOption, Option, list_options
from assay.tabular import Table

if TYPE_CHECKING:
    from analysis.studies.study_context import StudyContext

MAX_SHOWN = 500
"""Rows of a table that the report shows; longer ones are in their files only."""


class PartLeftOut(Exception):
    """A part cannot be made; the message says what it would need."""


def setting(
    name: str,
    kind: str,
    help: str,
    default: Any = None,
    *,
    least: float | None = None,
    choices: Sequence[str] = (),
) -> DeclaredOption:
    """An input of the TOML file. kind: file; files (patterns, in the order of names); named (a
    table: name = file); names (a table: name = words); whole, number, text, texts, flag. help: one
    sentence. least: of numbers."""
    words = tuple((one, one) for one in choices)
    return DeclaredOption(
        name, str, default, Option(name, help=help, choices=words, least=least, kind=kind)
    )


def settings_from(options: type, *names: str) -> tuple[DeclaredOption, ...]:
    """Options of an analysis as inputs of a study: those of these names, in their order. One that
    the file lacks has no value, so that the analysis's default applies."""
    kinds = {bool: "flag", int: "whole", float: "number"}
    return tuple(
        setting(
            one.name,
            kinds.get(one.type, "text"),
            " ".join(filter(None, (_describe(one), one.about.hint))),
            least=one.about.least,
            choices=one.values,
        )
        for one in list_options(options, *names)
    )


def _describe(one: DeclaredOption) -> str:
    has_default = one.type is not bool and one.default not in (None, "", ())
    return f"{one.about.label}{f' (default: {one.default})' if has_default else ''}."


@dataclass(frozen=True)
class Figure:
    """key: of its files. picture: what a function of `assay.charts` gives."""

    key: str
    caption: str
    picture: Picture


@dataclass(frozen=True)
class Section:
    """What a part gives. words: paragraphs. values: for JSON, what a script would ask for. files:
    name below `data/` -> content."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPart:
    """make raises LeftOut where inputs are missing."""

    name: str
    title: str
    make: Callable[[StudyContext], Section]


@dataclass(frozen=True)
class Study:
    """name: of the command. source: the paper. sentence: what one gets."""

    name: str
    title: str
    source: str
    sentence: str
    keys: tuple[DeclaredOption, ...]
    parts: tuple[StudyPart, ...]
