"""What a notebook hands over, as the columns that all computing is done on: files, mappings, data
frames, or what a reader has returned.

A data frame is anything with `columns` that gives a column by its name (pandas, polars, a dict of
lists); no package is needed for it."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.cli.base import BadInput
from assay.column_types import JudgementColumns, QrelsColumns, RunColumns
from assay.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, find_column
from assay.formats.judgement_cells import GRADE_NAMES
from assay.formats.judgements import read_judgements
from assay.formats.qrels import qrels_of_rows, read_qrels
from assay.formats.runs import read_run, run_of_rows

GRADES = tuple(dict.fromkeys(("grade", "relevance", "rel", "label", "score", *GRADE_NAMES)))
SCORES = ("score", "sim")
TAGS = ("run", "tag", "system", "run_id")


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def column_names_of(frame: Any) -> list[str]:
    return [str(name) for name in (frame.columns if is_frame(frame) else frame)]


def column(frame: Any, names: Sequence[str], what: str) -> list[Any]:
    """Raises BadInput where there is none of these names."""
    present = column_names_of(frame)
    place = find_column([name.lower() for name in present], tuple(names))
    if place is None:
        raise BadInput(
            f"{what}: no column {names[0]} (or {', '.join(names[1:4])}) among {', '.join(present)}"
        )
    return list(frame[present[place]])


def numbers(values: Iterable[Any], what: str) -> list[float]:
    as_floats = [float(value) for value in values]
    for row, value in enumerate(as_floats):
        if not math.isfinite(value):
            raise BadInput(f"{what}: row {row} has no number ({value})")
    return as_floats


def whole_numbers(values: Iterable[Any], what: str) -> list[int]:
    as_floats = numbers(values, what)
    for row, value in enumerate(as_floats):
        if value != int(value):
            raise BadInput(f"{what}: {value:g} in row {row} is no grade, expected a whole number")
    return [int(value) for value in as_floats]


def rows_of(value: Any, names: Sequence[str], what: str) -> tuple[list[str], list[str], list[Any]]:
    """topics, documents and values of a data frame or of {topic: {document: value}}."""
    if isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values()):
        rows = [
            (str(topic), str(document), number)
            for topic, inner in value.items()
            for document, number in inner.items()
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    if not (is_frame(value) or isinstance(value, Mapping)):
        raise BadInput(
            f"{what}: a {type(value).__name__}, expected a file's path, {{topic: {{document: number}}}} or a data frame"
        )
    topics, documents = column(value, TOPIC_NAMES, what), column(value, DOCUMENT_NAMES, what)
    return (
        [str(topic) for topic in topics],
        [str(document) for document in documents],
        column(value, names, what),
    )


def qrels_given(value: Any, name: str = "qrels") -> QrelsColumns:
    """Raises BadInput or FormatError."""
    if isinstance(value, QrelsColumns):
        return value
    if hasattr(value, "qrels"):  # labels that `aggregate` has made
        made: QrelsColumns = value.qrels(name)
        return made
    if is_path(value):
        return read_qrels(value)
    topics, documents, grades = rows_of(value, GRADES, name)
    return qrels_of_rows(name, zip(topics, documents, whole_numbers(grades, name), strict=True))


def run_given(value: Any, tag: str | None = None, *, lenient: bool = False) -> RunColumns:
    """tag: in place of the file's own. Raises BadInput or FormatError."""
    from dataclasses import replace

    if isinstance(value, RunColumns):
        run = value
    elif is_path(value):
        run = read_run(value, lenient=lenient)
    else:
        topics, documents, scores = rows_of(value, SCORES, tag or "run")
        run = run_of_rows(
            tag or tag_of(value), zip(topics, documents, numbers(scores, tag or "run"), strict=True)
        )
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
    """One run, several in a sequence, or {tag: run}."""
    if (
        isinstance(value, Mapping)
        and not all(isinstance(inner, (list, tuple)) for inner in value.values())
        and not is_nested(value)
    ):
        return [run_given(one, str(tag)) for tag, one in value.items()]
    if isinstance(value, Sequence) and not is_path(value):
        return [run_given(one) for one in value]
    return [run_given(value)]


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
    if not (is_frame(value) or isinstance(value, Mapping)):
        raise BadInput(
            f"judgements: a {type(value).__name__}, expected a file's path or a data frame"
        )
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


def cell(value: Any) -> Any:
    """As it stands in a file: nothing for what is unknown, 0 and 1 for truth."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return int(value) if isinstance(value, bool) or type(value).__name__ == "bool_" else value
