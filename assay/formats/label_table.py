"""Read tables with one row per pair and one column per judge, as LLMJudge publishes its labels.

query_id  doc_id  human  judge-a  judge-b
q49       p3659   3      2
"""

from __future__ import annotations

from assay.column_types import QrelsColumns
from assay.formats.delimited import DelimitedTable, FileProblems
from assay.formats.qrels import make_qrels
from assay.formats.streams import Source, display_name

EXPECTED_LABELS = (
    "a topic, a document, and a whole number of at least 0 in the column of each judge, or "
    "an empty cell if there is no label"
)


def read_label_table(path: Source, *, name: str | None = None) -> dict[str, QrelsColumns]:
    """Return column name -> qrels for each column after the first two, in file order. Raises
    FormatError with the line of every problem."""
    file_name = display_name(path, name)
    table = DelimitedTable(path, name=file_name)
    header = [cell.strip() for cell in table.first.cells]
    mistakes = FileProblems(file_name)
    if len(header) < 4 or len(set(header)) < len(header) or not all(header):
        mistakes.add(
            table.first.line,
            "no header with topic, document and at least two columns of labels with different names",
            EXPECTED_LABELS,
        )
        mistakes.raise_if_any()
    rows: dict[str, list[tuple[str, str, int]]] = {column: [] for column in header[2:]}
    pairs: set[tuple[str, str]] = set()
    for row in table:
        cells = [cell.strip() for cell in row.cells]
        pair = (cells[0], cells[1]) if len(cells) == len(header) else None
        if pair is None or not all(pair) or any(len(one.split()) != 1 for one in pair):
            mistakes.add(
                row.line,
                f"{len(cells)} cells, or a missing topic or document, or one with spaces",
                f"{len(header)} cells",
                "\t".join(row.cells),
            )
            continue
        if pair in pairs:
            mistakes.add(
                row.line, f"duplicate document {pair[1]} for topic {pair[0]}", "each pair once"
            )
        pairs.add(pair)
        for column, cell in zip(header[2:], cells[2:], strict=True):
            if cell.isascii() and cell.isdigit() and len(cell) < 6:
                rows[column].append((*pair, int(cell)))
            elif cell:
                mistakes.add(row.line, f"{column}: {cell[:20]!r} is not a grade", EXPECTED_LABELS)
    if not pairs:
        mistakes.add(None, "no rows below the header", EXPECTED_LABELS)
    mistakes.raise_if_any()
    return {column: make_qrels(column, labels) for column, labels in rows.items()}
