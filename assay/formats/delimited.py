"""Read comma- and tab-separated files with a header row by row, with line numbers, and make cells
safe for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.formats.errors import MAX_SHOWN, FileProblem, FormatError
from assay.formats.streams import MAX_DOCUMENT_BYTES, Source, display_name, iterate_lines

csv.field_size_limit(max(csv.field_size_limit(), MAX_DOCUMENT_BYTES))


class DelimitedRow(NamedTuple):
    """A row of a delimited file, with the line where it begins."""

    line: int
    cells: list[str]


class FileProblems:
    """The first 50 problems of a file and the number of all, collected while it is read."""

    def __init__(self, file: str) -> None:
        self.file, self.count = file, 0
        self.first: list[FileProblem] = []

    def add(self, line: int | None, problem: str, expected: str, text: str = "") -> None:
        self.count += 1
        if len(self.first) < MAX_SHOWN:
            self.first.append(FileProblem(line, problem, expected, text))

    def raise_if_any(self) -> None:
        if self.count:
            raise FormatError(
                self.file, sorted(self.first, key=lambda problem: problem.line or 0), self.count
            )


class DelimitedTable:
    """A delimited file whose first row with content has been read.

    first: that row. delimiter: comma, tab or semicolon, whichever occurs most often in that row.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        delimiter: str | None = None,
        quoting: bool = True,
        max_bytes: int | None = None,
    ) -> None:
        self.name = display_name(source, name)
        self._lines = iterate_lines(source, name=self.name, max_bytes=max_bytes)
        self._quoting = quoting
        number, text = 0, ""
        for number, text in self._lines:  # noqa: B007 - the line found is used after the loop
            if text.strip():
                break
        else:
            raise FormatError.single(self.name, None, "the file is empty", "a header and rows")
        self.delimiter = delimiter or max("\t,;", key=lambda mark: (text.count(mark), mark == "\t"))
        self._rows = self._read(number, text)
        first = next(self._rows, None)
        if first is None:
            raise FormatError.single(
                self.name, number, "the rows have no cells", "a header and rows", text
            )
        self.first = first

    def _read(self, number: int, text: str) -> Iterator[DelimitedRow]:
        if not self._quoting:
            yield DelimitedRow(number, text.split(self.delimiter))
            for number, text in self._lines:
                if text.strip():
                    yield DelimitedRow(number, text.split(self.delimiter))
            return
        at = [number]

        def feed() -> Iterator[str]:
            yield text + "\n"
            for line, more in self._lines:
                at[0] = line
                yield more + "\n"

        reader = csv.reader(feed(), delimiter=self.delimiter, strict=True)
        begin = number
        try:
            for cells in reader:
                if any(cells):
                    yield DelimitedRow(begin, cells)
                begin = at[0] + 1
        except csv.Error as error:
            raise FormatError.single(
                self.name,
                begin,
                f"the row cannot be read ({error})",
                "closed quotes, with inner quotes doubled",
            ) from None

    def __iter__(self) -> Iterator[DelimitedRow]:
        """Yield the rows after the first."""
        return self._rows


def normalise_names(cells: Iterable[str]) -> list[str]:
    """Normalise header cells: trimmed, lower case, underscores for spaces and hyphens."""
    return [cell.strip().lower().replace("-", "_").replace(" ", "_") for cell in cells]


def find_column(names: Sequence[str], candidates: Sequence[str]) -> int | None:
    """Return the index of the first of `wanted` that occurs in `names`, or None."""
    for name in candidates:
        if name in names:
            return list(names).index(name)
    return None


TOPIC_NAMES = (
    "topic",
    "topic_id",
    "query_id",
    "qid",
    "queryid",
    "topicid",
    "topic_number",
    "query",
)
DOCUMENT_NAMES = ("document", "document_id", "doc_id", "docid", "documentid", "docno", "corpus_id")


FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")
"""First characters of cells that some spreadsheets execute. The last four are from East Asian
keyboards."""


def escape_formula(cell: str) -> str:
    """Prefix a cell with an apostrophe if a spreadsheet would read it as a formula."""
    return f"'{cell}" if cell[:1] in FORMULA_STARTS else cell
