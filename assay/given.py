"""What a notebook hands over, as the columns that all computing is done on: files, mappings, data
frames, objects of other libraries, or what a reader has returned.

A table is anything with `columns` (pandas, polars, PyTerrier) or `column_names` (Hugging Face) that
gives a column by its name, a dict of lists, or named tuples in any iterable (ir_measures,
ir_datasets). Objects are recognised by their public attributes: none of these packages is needed,
and none is imported but ir_datasets for the name `irds:ID`."""

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
from assay.column_types import JudgementColumns, QrelsColumns, RunColumns
from assay.formats import packaged
from assay.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, column_names, find_column
from assay.formats.documents import DocumentRecord, read_documents
from assay.formats.judgement_cells import GRADE_NAMES
from assay.formats.judgements import read_judgements
from assay.formats.markup import one_line
from assay.formats.qrels import qrels_of_rows, read_qrels
from assay.formats.runs import read_run, run_of_rows
from assay.formats.topics import TopicRecord, read_topics

GRADES = tuple(dict.fromkeys(("grade", "relevance", "rel", "label", "score", *GRADE_NAMES)))
SCORES = ("score", "sim")
TAGS = ("run", "tag", "system", "run_id")


DATA_SET = "irds:"
"""Before the id of a data set that the package ir_datasets knows."""


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def is_frame(value: object) -> bool:
    return hasattr(value, "__getitem__") and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def is_tuples(value: object) -> bool:
    """Whether these are rows as named tuples."""
    return isinstance(value, Sequence) and len(value) > 0 and hasattr(value[0], "_fields")


def is_data_set(value: object) -> bool:
    """Whether this is a data set of ir_datasets, or `irds:` and its id."""
    return hasattr(value, "has_qrels") or (isinstance(value, str) and value.startswith(DATA_SET))


def is_of_ranx(value: object) -> bool:
    """Whether this is a Run or Qrels of ranx: a mapping under this name, and `to_dict()`."""
    return hasattr(value, "to_dict") and any(
        hasattr(value, name) and not callable(getattr(value, name)) for name in ("run", "qrels")
    )


def part_of_data_set(value: Any, part: str) -> tuple[str, Iterator[Any]]:
    """part: docs, queries, qrels or scoreddocs. -> (id or "", named tuples)"""
    name = value.removeprefix(DATA_SET) if isinstance(value, str) else ""
    return name, packaged.entries(packaged.load(name) if name else value, part, name)


def column_names_of(frame: Any) -> list[str]:
    names = frame
    if hasattr(frame, "columns"):
        names = frame.columns
    elif hasattr(frame, "column_names"):
        names = frame.column_names
        if isinstance(names, Mapping):
            raise BadInput(f"a data set of {', '.join(names)}, expected one of them")
    return [str(name) for name in names]


def column(frame: Any, names: Sequence[str], what: str) -> list[Any]:
    """Raises BadInput where there is none of these names."""
    present = column_names_of(frame)
    place = find_column(column_names(present), tuple(names))
    if place is None:
        raise BadInput(
            f"{what}: no column {names[0]} (or {', '.join(names[1:4])}) among {', '.join(present)}"
        )
    return list(frame[present[place]])


def numbers(values: Iterable[Any], what: str) -> list[float]:
    as_floats = []
    for row, value in enumerate(values):
        try:
            as_floats.append(float(value))
        except (TypeError, ValueError):
            as_floats.append(math.nan)
        if not math.isfinite(as_floats[-1]):
            raise BadInput(f"{what}: row {row} has no number ({value})")
    return as_floats


def whole_numbers(values: Iterable[Any], what: str) -> list[int]:
    as_floats = numbers(values, what)
    for row, value in enumerate(as_floats):
        if value != int(value):
            raise BadInput(f"{what}: {value:g} in row {row} is no grade, expected a whole number")
    return [int(value) for value in as_floats]


def table_of(value: Any, what: str, expected: str) -> Any:
    """A data frame, or a mapping of columns made of named tuples. Raises BadInput."""
    if is_frame(value) or isinstance(value, Mapping):
        return value
    rows = list(value) if isinstance(value, Iterable) and not is_path(value) else [value]
    fields = getattr(rows[0], "_fields", None) if rows else ()
    for place, row in enumerate(rows):
        if fields is None or getattr(row, "_fields", None) != fields:
            kind = "" if isinstance(value, type(row)) else f" of {type(row).__name__}"
            where = f" in row {place}" if place else ""
            raise BadInput(f"{what}: a {type(value).__name__}{kind}{where}, expected {expected}")
    return {name: [row[i] for row in rows] for i, name in enumerate(fields or ())}


def rows_of(value: Any, names: Sequence[str], what: str) -> tuple[list[str], list[str], list[Any]]:
    """topics, documents and values of a table or of {topic: {document: value}}."""
    if isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values()):
        rows = [
            (str(topic), str(document), number)
            for topic, inner in value.items()
            for document, number in inner.items()
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    table = table_of(
        value,
        what,
        "a file's path, {topic: {document: number}}, a data frame or named tuples",
    )
    if not column_names_of(table):
        return [], [], []
    topics, documents = column(table, TOPIC_NAMES, what), column(table, DOCUMENT_NAMES, what)
    return (
        [str(topic) for topic in topics],
        [str(document) for document in documents],
        column(table, names, what),
    )


def qrels_given(value: Any, name: str = "qrels") -> QrelsColumns:
    """Raises BadInput or FormatError."""
    if isinstance(value, QrelsColumns):
        return value
    if is_data_set(value):
        identifier, value = part_of_data_set(value, "qrels")
        name = identifier or name
    elif is_path(value):
        return read_qrels(value)
    elif is_frame(value):
        pass
    elif is_of_ranx(value):
        name, value = value.name or name, value.to_dict()
    elif hasattr(value, "qrels"):  # labels that `aggregate` has made
        made: QrelsColumns = value.qrels(name)
        return made
    topics, documents, grades = rows_of(value, GRADES, name)
    return qrels_of_rows(name, zip(topics, documents, whole_numbers(grades, name), strict=True))


def run_given(value: Any, tag: str | None = None, *, lenient: bool = False) -> RunColumns:
    """tag: in place of the file's own. Raises BadInput or FormatError."""
    from dataclasses import replace

    if isinstance(value, RunColumns):
        run = value
    elif is_path(value) and not is_data_set(value):
        run = read_run(value, lenient=lenient)
    else:
        own = ""
        if is_data_set(value):
            own, value = part_of_data_set(value, "scoreddocs")
        elif is_frame(value) or (isinstance(value, Mapping) and not is_nested(value)):
            own = tag_of(value)
        elif is_of_ranx(value):
            own, value = value.name or "", value.to_dict()
        name = tag or own or "run"
        topics, documents, scores = rows_of(value, SCORES, name)
        run = run_of_rows(name, zip(topics, documents, numbers(scores, name), strict=True))
    return run if tag is None or tag == run.tag else replace(run, tag=tag)


def tag_of(value: Any) -> str:
    """The one value of a data frame's column `run`, or `run`."""
    place = find_column([name.lower() for name in column_names_of(value)], TAGS)
    tags = (
        list(dict.fromkeys(str(tag) for tag in value[column_names_of(value)[place]]))
        if place is not None
        else []
    )
    if len(tags) > 1:
        raise BadInput(
            f"a data frame with {len(tags)} runs ({', '.join(tags[:3])} ...), expected one: hand "
            f"over {{tag: rows of this run}}"
        )
    return tags[0] if tags else "run"


def runs_given(value: Any) -> list[RunColumns]:
    """One run, several in an iterable, {tag: run}, or the files that a pattern such as `runs/*.run`
    names."""
    if isinstance(value, RunColumns) or is_data_set(value) or is_frame(value) or is_of_ranx(value):
        return [run_given(value)]
    if is_path(value):
        return [run_given(path) for path in paths_of(value)]
    if isinstance(value, Mapping):
        is_columns = all(
            isinstance(inner, (list, tuple)) and not is_tuples(inner) for inner in value.values()
        )
        if is_columns or is_nested(value):
            return [run_given(value)]
        return [run_given(one, str(tag)) for tag, one in value.items()]
    if not isinstance(value, Iterable):
        return [run_given(value)]
    rows_or_runs = list(value)
    if is_tuples(rows_or_runs):
        return [run_given(rows_or_runs)]
    return [
        run_given(run)
        for one in rows_or_runs
        for run in (paths_of(one) if is_path(one) and not is_data_set(one) else [one])
    ]


def paths_of(path: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """The path itself, or in order those that it names as a pattern (`*`, `?`, `[...]`, `**`).
    Raises BadInput where there is none."""
    pattern = os.fspath(path)
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [path]
    files = sorted(one for one in glob.glob(pattern, recursive=True) if os.path.isfile(one))
    if not files:
        raise BadInput(f"no file matches {pattern}")
    return list(files)


def is_nested(value: Mapping[Any, Any]) -> bool:
    """Whether this is one run as {topic: {document: score}}, not {tag: run}."""
    return all(
        isinstance(inner, Mapping)
        and not any(isinstance(score, (Mapping, list)) for score in inner.values())
        for inner in value.values()
    )


def judgements_given(value: Any, scale: int) -> JudgementColumns:
    """A file's path, what read_judgements returned, or a data frame with the columns of such a
    file."""
    if isinstance(value, JudgementColumns):
        return value
    if is_path(value):
        return read_judgements(value, scale=scale)
    value = table_of(value, "judgements", "a file's path, a data frame or named tuples")
    names = column_names_of(value)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        [cell(one) for one in row]
        for row in zip(*(list(value[name]) for name in names), strict=True)
    )
    return read_judgements(
        io.BytesIO(text.getvalue().encode("utf-8")), scale=scale, name="judgements"
    )


def topics_given(value: Any) -> list[TopicRecord]:
    """A file's path, an id or a data set of ir_datasets, {topic: text}, or a table with the names
    that files of topics use. Raises BadInput or FormatError."""
    if is_data_set(value):
        value = part_of_data_set(value, "queries")[1]
    elif is_path(value) or hasattr(value, "read"):
        return read_topics(value)
    return read_topics(json_lines(value, "topics"), name="topics")


def documents_given(value: Any) -> Iterator[DocumentRecord]:
    """As topics_given, one by one."""
    if is_data_set(value):
        for line, document in enumerate(part_of_data_set(value, "docs")[1], 1):
            row = packaged.row_of(document)
            title = one_line(row.pop("title", ""))
            yield DocumentRecord(row.pop("id"), title, row.pop("text"), row, line)
    elif is_path(value) or hasattr(value, "read"):
        yield from read_documents(value)
    else:
        yield from read_documents(json_lines(value, "documents"), name="documents")


def json_lines(value: Any, what: str) -> io.BytesIO:
    """Topics or documents as a file of JSON objects, for their reader."""
    if isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values()):
        value = {"id": list(value), "text": list(value.values())}
    table = table_of(value, what, "a file's path, {id: text}, a data frame or named tuples")
    names = column_names_of(table)
    rows = (
        {
            key: one
            for key, one in zip(column_names(names), map(cell, row), strict=True)
            if one is not None and one != ""
        }
        for row in zip(*(list(table[name]) for name in names), strict=True)
    )
    text = "".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows)
    return io.BytesIO(text.encode("utf-8"))


def cell(value: Any) -> Any:
    """As it stands in a file: nothing for what is unknown, 0 and 1 for truth."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return int(value) if isinstance(value, bool) or type(value).__name__ == "bool_" else value
