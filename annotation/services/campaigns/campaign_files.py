"""Campaigns as TOML files: read, with the files that they name, and written."""

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
    read_document,
)
from assay.formats.delimited import DelimitedTable, FileProblems, find_column
from assay.formats.errors import FileProblem, FormatError
from assay.formats.qrels import read_qrels
from assay.formats.toml_text import read_toml
from pooling.core.declaration import Mistake, find_line

MAX_FILE_BYTES = 1 << 24
"""Bytes of such a file."""
MAX_DIGITS = 18
"""Of a grade: what a column of the database holds."""


class CampaignFile:
    """described: what it says, with the texts and rows of the files that it names."""

    def __init__(self, path: str | Path) -> None:
        """FormatError for what is wrong with it, with lines."""
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
            self.described = load_named_files(read_document(said), self.folder)
        except CampaignMistakes as error:
            raise self.with_lines(error) from None

    def with_lines(self, error: CampaignMistakes) -> FormatError:
        """The mistakes where they stand in the file."""
        problems = []
        for one in error.mistakes:
            line = find_line(self.text, one.path)
            problems.append(
                FileProblem(line, f"{format_path(one.path)}: {one.problem}", one.expected)
            )
        return FormatError(self.name, sorted(problems, key=lambda problem: problem.line or 0))


def load_named_files(described: CampaignDescription, folder: str) -> CampaignDescription:
    """What stands in guidelines_file and gold_file, in the place of their names. Raises
    CampaignMistakes and FormatError."""
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
                        "a path from the folder of this file",
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
    return read_document(make_document(CampaignDescription(**again)))


def read_gold_file(path: str, name: str) -> list[dict[str, Any]]:
    """Known pairs: a table with columns topic, document, grade and perhaps kind and explanation,
    tab-separated; or qrels."""
    table = DelimitedTable(path, name=name, delimiter="\t", quoting=False)
    columns = [cell.strip().lower() for cell in table.first.cells]
    at: dict[str, int | None] = {
        column: find_column(columns, (column,))
        for column in ("topic", "document", "grade", "kind", "explanation")
    }
    if at["topic"] is None or at["document"] is None:
        qrels = read_qrels(path, name=name)
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
    wrong.raise_any()
    return rows


def format_gold_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return known pairs as the table that `read_gold_file` reads."""
    columns = ("topic", "document", "grade", "kind", "explanation")
    lines = [
        "\t".join("" if row.get(column) is None else str(row[column]) for column in columns)
        for row in rows
    ]
    return "\n".join(["\t".join(columns), *lines, ""])


def format_toml(document: Mapping[str, Any]) -> str:
    """Texts over several lines stand so, where that says the same."""
    text = tomli_w.dumps(document, multiline_strings=True)
    return text if tomllib.loads(text) == document else tomli_w.dumps(document)
