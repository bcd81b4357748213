"""Classes for studies, their inputs, their parts and the results of parts."""

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
"""Maximum number of table rows in the report. Longer tables are only in their files."""


class PartLeftOut(Exception):
    """A part of a study cannot be made. The message names the missing inputs."""


def setting(
    name: str,
    kind: str,
    help: str,
    default: Any = None,
    *,
    least: float | None = None,
    choices: Sequence[str] = (),
    of: DeclaredOption | None = None,
) -> DeclaredOption:
    """Declare an input of a study, which is a key of its TOML file.

    kind: file, files (patterns, sorted by name), named (a table `name = file`), names (a table
    `name = words`), systems (names or tables by run), whole (an integer), number, text, texts or
    flag. help: one sentence. least: minimum of a number. of: option of an analysis that this input
    sets.
    """
    words = tuple((one, one) for one in choices)
    return DeclaredOption(
        name,
        str,
        default,
        Option(name, help=help, choices=words, least=least, kind=kind, more={"of": of}),
    )


def settings_from(options: type, *names: str) -> tuple[DeclaredOption, ...]:
    """Declare the named options of an analysis as inputs of a study, in the order of the names. For
    keys missing from the file, the default of the analysis applies."""
    kinds = {bool: "flag", int: "whole", float: "number"}
    return tuple(
        setting(
            one.name,
            kinds.get(one.type, "text"),
            " ".join(filter(None, (_describe(one), one.about.hint))),
            least=one.about.least,
            choices=one.values,
            of=one,
        )
        for one in list_options(options, *names)
    )


def _describe(one: DeclaredOption) -> str:
    has_default = one.type is not bool and one.default not in (None, "", ())
    return f"{one.about.label}{f' (default: {one.default})' if has_default else ''}."


@dataclass(frozen=True)
class Figure:
    """A figure of a study. key: base of its file names. picture: the chart, made by a function of
    `assay.charts`."""

    key: str
    caption: str
    picture: Picture


@dataclass(frozen=True)
class Section:
    """The result of a part of a study. words: paragraphs. values: data for scripts, written as
    JSON. files: content by name below `data/`."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPart:
    """A part of a study. make: computes its section, and raises PartLeftOut if inputs are
    missing."""

    name: str
    title: str
    make: Callable[[StudyContext], Section]


@dataclass(frozen=True)
class Study:
    """The definition of a study. name: name in the command. source: citation of the paper.
    sentence: description of its output. group: group in the list of analyses."""

    name: str
    title: str
    source: str
    sentence: str
    keys: tuple[DeclaredOption, ...]
    parts: tuple[StudyPart, ...]
    group: str = "compare"
