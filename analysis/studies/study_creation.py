"""Creation of a study part by part. Parts with missing inputs are left out with the reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from analysis.studies.settings import StudySettings, keys_by_name
from analysis.studies.study import Figure, PartLeftOut, Section, Study, StudyPart
from analysis.studies.study_context import StudyContext, StudySystem
from assay.charts.print_files import (
    FALLBACK_FONT,
    FONTS,
    MAX_INCHES,
    EmptyFigure,
    find_font_family,
    lay_out_figure,
)
from assay.tabular import Table
from assay.version import program_version

LIBRARIES = ("numpy", "scipy", "matplotlib")
"""Libraries whose versions affect the bytes of the output."""


@dataclass(frozen=True)
class MadePart:
    part: StudyPart
    section: Section
    commands: list[str]


@dataclass(frozen=True)
class MadeStudy:
    """A study in memory, before it is written to its folder. left_out: title and reason by part.
    inputs: (key, path as in the file, size, SHA-256)."""

    study: Study
    settings: StudySettings
    parts: list[MadePart]
    left_out: dict[str, tuple[str, str]]
    warnings: list[str]
    inputs: list[tuple[str, str, int, str]]
    command: str

    @property
    def title(self) -> str:
        return self.settings.values["title"] or self.study.title

    def parameters(self) -> dict[str, Any]:
        """Return the study's values that are not files, including defaults."""
        kinds = keys_by_name(self.study)
        return {
            name: value
            for name, value in self.settings.values.items()
            if kinds[name].kind not in FILE_KINDS
        }

    def versions(self) -> dict[str, str]:
        return {"assay": program_version(), **{name: version(name) for name in LIBRARIES}}


TEXT_INCHES, COLUMN_INCHES = 7.0, 3.33
"""Widths of figures in inches, across both columns of a paper and in one column."""
POOLED_MARK = "*"
FILE_KINDS = ("file", "files", "named")


def make_study(
    study: Study,
    settings: StudySettings,
    context: StudyContext,
    *,
    command: str = "",
    step: Callable[[str], object] = lambda title: None,
) -> MadeStudy:
    """Make all parts of a study whose inputs are given.

    command: the command line that reproduces the study from its inputs. step: called with the title
    of each part before it is made. Raises PartLeftOut with all reasons if no part can be made.
    """
    parts: list[MadePart] = []
    left_out: dict[str, tuple[str, str]] = {}
    for part in study.parts:
        context.begin()
        step(part.title)
        try:
            section = part.make(context)
            tables = [
                mark_pooled_runs(group_systems(table, context.systems), context.pooled_runs)
                for table in section.tables
            ]
            section = replace(section, tables=tables)
            parts.append(MadePart(part, section, list(context.commands)))
        except PartLeftOut as reason:
            left_out[part.name] = (part.title, str(reason))
    if not parts:
        reasons = "; ".join(f"{name}: {why}" for name, (_, why) in left_out.items())
        raise PartLeftOut(f"no part of the study {study.name} can be computed: {reasons}")
    font = settings.values["font"]
    if font and find_font_family(font) is None:
        context.warn(
            f"The font {font} is not installed as a TrueType file ({' or '.join(FONTS[font])}), "
            f"so figures use {FALLBACK_FONT}."
        )
    for made in parts:
        for figure in made.section.figures:
            warn_if_too_high(figure, context)
    return MadeStudy(
        study, settings, parts, left_out, context.warnings, list_inputs(study, settings), command
    )


def fits_page(figure: Figure, inches: float) -> bool:
    """Return whether the figure fits on a page when it is this wide. Raises EmptyFigure."""
    return lay_out_figure(figure.picture, inches).height_inches <= MAX_INCHES + 0.01


def warn_if_too_high(figure: Figure, context: StudyContext) -> None:
    try:
        if not fits_page(figure, TEXT_INCHES):
            context.warn(f"The figure {figure.key} is taller than {MAX_INCHES:g} inches.")
        if not fits_page(figure, COLUMN_INCHES):
            context.warn(
                f"The figure {figure.key} would be taller than {MAX_INCHES:g} inches at the width of one column, so no file of this width was written."
            )
    except EmptyFigure:
        return


def group_systems(table: Table, systems: Sequence[StudySystem]) -> Table:
    """Sort the rows of a table of systems by the systems' groups, in the order of `systems`, and
    name the groups. Rows keep their order within a group."""
    group = {one.name: one.group for one in systems}
    names = [row[0] for row in table.rows]
    if (
        not any(group.values())
        or table.header[:1] != ["run"]
        or len(set(names)) < len(names)
        or not all(name in group for name in names)
    ):
        return table
    order = [one for one in dict.fromkeys(group.values()) if one] + [""]
    place = {name: order.index(of) for name, of in group.items()}
    old = sorted(range(len(names)), key=lambda row: place[str(names[row])])
    new = {row: number for number, row in enumerate(old)}
    of_row = [group[str(names[row])] for row in old]
    begins = [row for row, name in enumerate(of_row) if row == 0 or name != of_row[row - 1]]
    return replace(
        table,
        rows=[table.rows[row] for row in old],
        bold=frozenset((new[row], column) for row, column in table.bold),
        marks={(new[row], column): sign for (row, column), sign in table.marks.items()},
        ruled=frozenset(begins),
        groups={row: of_row[row] for row in begins if of_row[row]},
    )


def mark_pooled_runs(table: Table, pooled: frozenset[str]) -> Table:
    """Mark the runs that made the pool in a table's column `run`, and explain the mark in the
    table's note."""
    columns = [column for column, name in enumerate(table.header) if name == "run"]
    cells = {
        (row, column): POOLED_MARK
        for row, values in enumerate(table.rows)
        for column in columns
        if values[column] in pooled
    }
    if not cells:
        return table
    note = f"{table.note} {POOLED_MARK}: the run made the pool.".strip()
    return replace(table, marks={**table.marks, **cells}, note=note)


def list_inputs(study: Study, settings: StudySettings) -> list[tuple[str, str, int, str]]:
    inputs = []
    for name, key in keys_by_name(study).items():
        value = settings.values[name]
        if key.kind not in FILE_KINDS or not value:
            continue
        for path in (
            [value]
            if isinstance(value, str)
            else value.values()
            if isinstance(value, dict)
            else value
        ):
            with open(settings.path(path), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                inputs.append((name, path, file.tell(), digest))
    return inputs
