"""Read the inputs of library functions: files, mappings, data frames, objects of other libraries,
or what a reader has returned.

A table is an object with `columns` (pandas, polars, PyTerrier) or `column_names` (Hugging Face)
that returns a column by its name, a dict of lists, or an iterable of named tuples (ir_measures,
ir_datasets). Objects are recognised by their public attributes. None of these packages is needed,
and only ir_datasets is imported, for the name `irds:ID`.
"""

from __future__ import annotations

import csv
import glob
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.cli.base import BadInput
from assay.column_types import BattleColumns, JudgementColumns, QrelsColumns, RunColumns
from assay.formats.battles import read_battles
from assay.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, find_column, normalise_names
from assay.formats.documents import DocumentRecord, make_documents, read_documents
from assay.formats.judgement_cells import GRADE_NAMES
from assay.formats.judgements import read_judgements
from assay.formats.packaged import iterate_entries
from assay.formats.qrels import make_qrels, read_qrels
from assay.formats.runs import make_run, read_run
from assay.formats.topics import TopicRecord, make_topics, read_topics

GRADE_COLUMNS = tuple(dict.fromkeys(("grade", "relevance", "rel", "label", "score", *GRADE_NAMES)))
SCORE_COLUMNS = ("score", "sim")
TAG_COLUMNS = ("run", "tag", "system", "run_id")


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def is_data_frame(value: object) -> bool:
    return hasattr(value, "__getitem__") and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def is_named_tuples(value: object) -> bool:
    """Return whether the value is rows as named tuples."""
    return isinstance(value, Sequence) and len(value) > 0 and hasattr(value[0], "_fields")


def is_dataset(value: object) -> bool:
    """Return whether the value is a dataset of ir_datasets. The readers of files accept its ID as
    `irds:ID`."""
    return hasattr(value, "has_qrels")


def is_ranx_object(value: object) -> bool:
    """Return whether the value is a Run or Qrels of ranx: it has `to_dict()` and an attribute `run`
    or `qrels`."""
    return hasattr(value, "to_dict") and any(
        hasattr(value, name) and not callable(getattr(value, name)) for name in ("run", "qrels")
    )


def list_column_names(frame: Any) -> list[str]:
    names = frame
    if hasattr(frame, "columns"):
        names = frame.columns
    elif hasattr(frame, "column_names"):
        names = frame.column_names
        if isinstance(names, Mapping):
            raise BadInput(
                f"a dataset with several tables ({', '.join(names)}), expected one of them"
            )
    return [str(name) for name in names]


def get_column(frame: Any, names: Sequence[str], what: str) -> list[Any]:
    """Return the column with one of these names. Raises BadInput if there is none."""
    present = list_column_names(frame)
    place = find_column(normalise_names(present), tuple(names))
    if place is None:
        raise BadInput(
            f"{what}: no column {names[0]} (or {', '.join(names[1:4])}) among {', '.join(present)}"
        )
    return list(frame[present[place]])


def to_numbers(values: Iterable[Any], what: str) -> list[float]:
    as_floats = []
    for row, value in enumerate(values):
        try:
            as_floats.append(float(value))
        except (TypeError, ValueError):
            as_floats.append(math.nan)
        if not math.isfinite(as_floats[-1]):
            raise BadInput(
                f"{what}: {value} in row {row} is not a number, expected a finite number"
            )
    return as_floats


def to_whole_numbers(values: Iterable[Any], what: str) -> list[int]:
    as_floats = to_numbers(values, what)
    for row, value in enumerate(as_floats):
        if value != int(value):
            raise BadInput(
                f"{what}: {value:g} in row {row} is not a grade, expected a whole number"
            )
    return [int(value) for value in as_floats]


def to_table(value: Any, what: str, expected: str) -> Any:
    """Return a data frame, or named tuples as a mapping of columns. Raises BadInput for other
    values."""
    if is_data_frame(value) or isinstance(value, Mapping):
        return value
    rows = list(value) if isinstance(value, Iterable) and not is_path(value) else [value]
    fields = getattr(rows[0], "_fields", None) if rows else ()
    for place, row in enumerate(rows):
        if fields is None or getattr(row, "_fields", None) != fields:
            kind = "" if isinstance(value, type(row)) else f" of {type(row).__name__}"
            where = f" in row {place}" if place else ""
            raise BadInput(f"{what}: a {type(value).__name__}{kind}{where}, expected {expected}")
    return {name: [row[i] for row in rows] for i, name in enumerate(fields or ())}


def to_rows(value: Any, names: Sequence[str], what: str) -> tuple[list[str], list[str], list[Any]]:
    """Return (topics, documents, values) of a table or of {topic: {document: value}}."""
    if isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values()):
        rows = [
            (str(topic), str(document), number)
            for topic, inner in value.items()
            for document, number in inner.items()
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    table = to_table(
        value,
        what,
        "a file's path, {topic: {document: number}}, a data frame or named tuples",
    )
    if not list_column_names(table):
        return [], [], []
    topics, documents = (
        get_column(table, TOPIC_NAMES, what),
        get_column(table, DOCUMENT_NAMES, what),
    )
    return (
        [str(topic) for topic in topics],
        [str(document) for document in documents],
        get_column(table, names, what),
    )


def read_qrels_input(value: Any, name: str = "qrels") -> QrelsColumns:
    """Read qrels. Raises BadInput or FormatError."""
    if isinstance(value, QrelsColumns):
        return value
    if is_dataset(value):
        value = iterate_entries(value, "qrels", "")
    elif is_path(value):
        return read_qrels(value)
    elif is_data_frame(value):
        pass
    elif is_ranx_object(value):
        name, value = value.name or name, value.to_dict()
    elif hasattr(value, "qrels"):  # the result of `aggregate`
        made: QrelsColumns = value.qrels(name)
        return made
    topics, documents, grades = to_rows(value, GRADE_COLUMNS, name)
    return make_qrels(name, zip(topics, documents, to_whole_numbers(grades, name), strict=True))


def read_run_input(value: Any, tag: str | None = None, *, lenient: bool = False) -> RunColumns:
    """Read a run. tag: used instead of the file's own. Raises BadInput or FormatError."""
    from dataclasses import replace

    if isinstance(value, RunColumns):
        run = value
    elif is_path(value):
        run = read_run(value, lenient=lenient)
    else:
        own = ""
        if is_dataset(value):
            value = iterate_entries(value, "scoreddocs", "")
        elif is_data_frame(value) or (isinstance(value, Mapping) and not is_nested_run(value)):
            own = get_run_tag(value)
        elif is_ranx_object(value):
            own, value = value.name or "", value.to_dict()
        name = tag or own or "run"
        topics, documents, scores = to_rows(value, SCORE_COLUMNS, name)
        run = make_run(name, zip(topics, documents, to_numbers(scores, name), strict=True))
    return run if tag is None or tag == run.tag else replace(run, tag=tag)


def get_run_tag(value: Any) -> str:
    """Return the only value of a data frame's column `run`, or `run` without such a column."""
    place = find_column([name.lower() for name in list_column_names(value)], TAG_COLUMNS)
    tags = (
        list(dict.fromkeys(str(tag) for tag in value[list_column_names(value)[place]]))
        if place is not None
        else []
    )
    if len(tags) > 1:
        raise BadInput(
            f"a data frame with {len(tags)} runs ({', '.join(tags[:3])} ...), expected one; pass "
            f"{{tag: rows of this run}} instead"
        )
    return tags[0] if tags else "run"


def read_runs_input(value: Any) -> list[RunColumns]:
    """Read one run, several in an iterable, {tag: run}, or the files that match a pattern such as
    `runs/*.run`."""
    if (
        isinstance(value, RunColumns)
        or is_dataset(value)
        or is_data_frame(value)
        or is_ranx_object(value)
    ):
        return [read_run_input(value)]
    if is_path(value):
        return [read_run_input(path) for path in expand_paths(value)]
    if isinstance(value, Mapping):
        is_columns = all(
            isinstance(inner, (list, tuple)) and not is_named_tuples(inner)
            for inner in value.values()
        )
        if is_columns or is_nested_run(value):
            return [read_run_input(value)]
        return [read_run_input(one, str(tag)) for tag, one in value.items()]
    if not isinstance(value, Iterable):
        return [read_run_input(value)]
    rows_or_runs = list(value)
    if is_named_tuples(rows_or_runs):
        return [read_run_input(rows_or_runs)]
    return [
        read_run_input(run)
        for one in rows_or_runs
        for run in (expand_paths(one) if is_path(one) else [one])
    ]


def expand_paths(path: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """Return the path itself, or the sorted paths that match it as a pattern (`*`, `?`, `[...]`,
    `**`). Raises BadInput if none does."""
    pattern = os.fspath(path)
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [path]
    files = sorted(one for one in glob.glob(pattern, recursive=True) if os.path.isfile(one))
    if not files:
        raise BadInput(f"no file matches {pattern}")
    return list(files)


def is_nested_run(value: Mapping[Any, Any]) -> bool:
    """Return whether the value is one run as {topic: {document: score}}, not {tag: run}."""
    return all(
        isinstance(inner, Mapping)
        and not any(isinstance(score, (Mapping, list)) for score in inner.values())
        for inner in value.values()
    )


def read_judgements_input(value: Any, scale: int) -> JudgementColumns:
    """Read judgements from a file's path, the result of read_judgements, or a data frame with the
    columns of such a file."""
    if isinstance(value, JudgementColumns):
        return value
    if is_path(value):
        return read_judgements(value, scale=scale)
    return read_judgements(to_csv_file(value, "judgements"), scale=scale, name="judgements")


def read_battles_input(value: Any) -> BattleColumns:
    """Read battles from a file's path, the result of read_battles, or a data frame with the columns
    of such a file."""
    if isinstance(value, BattleColumns):
        return value
    if is_path(value):
        return read_battles(value)
    return read_battles(to_csv_file(value, "battles"), name="battles")


def to_csv_file(value: Any, what: str) -> io.BytesIO:
    """Return a table as a CSV file with a header, for the reader of such files."""
    value = to_table(value, what, "a file's path, a data frame or named tuples")
    names = list_column_names(value)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        [format_cell(one) for one in row]
        for row in zip(*(list(value[name]) for name in names), strict=True)
    )
    return io.BytesIO(text.getvalue().encode("utf-8"))


def read_topics_input(value: Any) -> list[TopicRecord]:
    """Read topics from a file's path, an ID or dataset of ir_datasets, {topic: text}, or a table
    with the column names of topic files. Raises BadInput or FormatError."""
    if is_dataset(value):
        return make_topics(iterate_entries(value, "queries", ""), "topics")
    if is_path(value) or hasattr(value, "read"):
        return read_topics(value)
    return read_topics(to_json_lines(value, "topics"), name="topics")


def read_documents_input(value: Any) -> Iterator[DocumentRecord]:
    """Yield documents one by one. Input as for `read_topics_input`."""
    if is_dataset(value):
        yield from make_documents(iterate_entries(value, "docs", ""))
    elif is_path(value) or hasattr(value, "read"):
        yield from read_documents(value)
    else:
        yield from read_documents(to_json_lines(value, "documents"), name="documents")


def to_json_lines(value: Any, what: str) -> io.BytesIO:
    """Return topics or documents as a file of JSON objects, for their reader."""
    if isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values()):
        value = {"id": list(value), "text": list(value.values())}
    table = to_table(value, what, "a file's path, {id: text}, a data frame or named tuples")
    names = list_column_names(table)
    rows = (
        {
            key: one
            for key, one in zip(normalise_names(names), map(format_cell, row), strict=True)
            if one is not None and one != ""
        }
        for row in zip(*(list(table[name]) for name in names), strict=True)
    )
    text = "".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows)
    return io.BytesIO(text.encode("utf-8"))


def format_cell(value: Any) -> Any:
    """Format a value as in a file: empty if unknown, 0 and 1 for booleans."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return int(value) if isinstance(value, bool) or type(value).__name__ == "bool_" else value
