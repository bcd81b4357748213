"""Read campaign files (TOML) together with the files to which they refer, and write them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from annotation.core.campaign_file import (
    CampaignDescription,
    CampaignMistakes,
    format_path,
    make_document,
    parse_campaign_file,
)
from annotation.core.publication import Publication
from assay.formats.delimited import DelimitedTable, FileProblems, find_column
from assay.formats.errors import FileProblem, FormatError
from assay.formats.qrels import read_qrels
from assay.formats.toml_text import read_toml
from pooling.core.declaration import Mistake, find_line

MAX_FILE_BYTES = 1 << 24
"""Maximum size of a campaign file in bytes."""
MAX_DIGITS = 18
"""Maximum digits of a grade, to fit a database column."""


class CampaignFile:
    """A campaign file. described: its contents, with the texts and rows of the files that it
    names."""

    def __init__(self, path: str | Path) -> None:
        """Read the file. Raises FormatError with the lines of all errors."""
        self.name, self.folder = str(path), str(Path(path).parent)
        data = Path(path).read_bytes()
        if len(data) > MAX_FILE_BYTES:
            raise FormatError.single(
                self.name, None, f"{len(data):,} bytes", f"at most {MAX_FILE_BYTES:,}"
            )
        try:
            self.text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FormatError.single(self.name, None, "a byte that is not UTF-8", "UTF-8") from None
        said = read_toml(self.name, self.text)
        try:
            self.described = load_named_files(parse_campaign_file(said), self.folder)
        except CampaignMistakes as error:
            raise self.with_lines(error) from None

    def with_lines(self, error: CampaignMistakes) -> FormatError:
        """Convert errors in the contents to a FormatError with line numbers."""
        problems = []
        for one in error.mistakes:
            line = find_line(self.text, one.path)
            problems.append(
                FileProblem(line, f"{format_path(one.path)}: {one.problem}", one.expected)
            )
        return FormatError(self.name, sorted(problems, key=lambda problem: problem.line or 0))


def load_named_files(described: CampaignDescription, folder: str) -> CampaignDescription:
    """Return the description with the contents of guidelines_file and gold_file instead of their
    names. Raises CampaignMistakes and FormatError."""
    campaign = dict(described.campaign)
    for name in ("guidelines_file", "gold_file"):
        if name not in campaign:
            continue
        path = os.path.join(folder, campaign[name])
        if not os.path.isfile(path):
            raise CampaignMistakes(
                [
                    Mistake(
                        ("campaign", name),
                        f"there is no file {campaign[name]}",
                        "a path relative to the folder of this file",
                    )
                ]
            )
        if name == "guidelines_file":
            try:
                campaign["guidelines"] = Path(path).read_text(encoding="utf-8-sig")
            except UnicodeDecodeError:
                raise FormatError.single(
                    campaign[name], None, "a byte that is not UTF-8", "UTF-8"
                ) from None
        else:
            campaign["gold"] = read_gold_file(path, campaign[name])
        del campaign[name]
    again = {"collection": described.collection, "pool": described.pool, "campaign": campaign}
    return parse_campaign_file(make_document(CampaignDescription(**again)))


def read_gold_file(path: str, name: str) -> list[dict[str, Any]]:
    """Read control pairs from a tab-separated table with columns topic, document, grade and
    optionally kind and explanation, or from qrels."""
    table = DelimitedTable(path, name=name, delimiter="\t", quoting=False)
    columns = [cell.strip().lower() for cell in table.first.cells]
    at: dict[str, int | None] = {
        column: find_column(columns, (column,))
        for column in ("topic", "document", "grade", "kind", "explanation")
    }
    if at["topic"] is None or at["document"] is None:
        try:
            qrels = read_qrels(path, name=name)
        except FormatError as error:  # names the path, which is a temporary file for uploads
            raise FormatError(name, error.problems, error.count) from None
        return [
            {"topic": topic, "document": document.decode("utf-8"), "grade": grade}
            for index, topic in enumerate(qrels.topics)
            for document, grade in zip(
                qrels.documents[qrels.rows(index)].tolist(),
                qrels.grades[qrels.rows(index)].tolist(),
                strict=True,
            )
        ]
    rows, wrong = [], FileProblems(name)
    for line, cells in table:
        row: dict[str, Any] = {
            column: cells[place].strip()
            for column, place in at.items()
            if place is not None and place < len(cells)
        }
        grade = row.pop("grade", "")
        if grade and not (grade.isascii() and grade.isdigit() and len(grade) <= MAX_DIGITS):
            wrong.add(line, f"grade {grade[:40]!r}", "a grade of the scale", "\t".join(cells))
        elif grade:
            row["grade"] = int(grade)
        rows.append(
            {
                column: value
                for column, value in row.items()
                if value != "" or column in ("topic", "document")
            }
        )
    wrong.raise_if_any()
    return rows


def format_gold_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Format control pairs as a table that `read_gold_file` can read."""
    columns = ("topic", "document", "grade", "kind", "explanation")
    lines = [
        "\t".join("" if row.get(column) is None else str(row[column]) for column in columns)
        for row in rows
    ]
    return "\n".join(["\t".join(columns), *lines, ""])


def format_toml(document: Mapping[str, Any]) -> str:
    """Format a document as TOML, with multi-line strings if they have the same value."""
    text = tomli_w.dumps(document, multiline_strings=True)
    return text if tomllib.loads(text) == document else tomli_w.dumps(document)


def format_publication(publication: Publication) -> str:
    """Format publication metadata as a table of a campaign file. Empty values are left out."""
    described = CampaignDescription(campaign={"publication": publication.as_json()})
    return format_toml(make_document(described))
