"""Read judgements made in general annotation tools: Label Studio's JSON export and Potato's table.
`read_judgements` detects them by content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.formats.delimited import (
    DOCUMENT_NAMES,
    TOPIC_NAMES,
    DelimitedRow,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.judgement_cells import (
    GRADE_NAMES,
    FileJudgement,
    InvalidCell,
    WarningCounter,
    parse_seconds,
    parse_time,
)
from assay.formats.streams import PeekableStream, read_json

LEADING_GRADE_PATTERN = re.compile(r"\s*(?:grade\s*)?(\d{1,5})(?!\d)", re.IGNORECASE)
EXPECTED_LABELS = "labels that begin with their grade, such as `2 Partial`"
POTATO_COLUMNS = {"user", "instanceid"}
RESULT_KINDS = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": ""}
"""Label Studio's result types that can hold a grade, and the field that holds it."""


def parse_leading_grade(label: str) -> int:
    """Return the number at the start of a label. Raises InvalidCell if there is none."""
    number = LEADING_GRADE_PATTERN.match(label)
    if number is None:
        raise InvalidCell(f"label {label[:40]!r} has no number", EXPECTED_LABELS)
    return int(number[1])


def is_potato(names: list[str], first: list[str]) -> bool:
    return {name.replace("_", "") for name in names} >= POTATO_COLUMNS and any(
        ":::" in cell for cell in first
    )


def make_potato_reader(table: DelimitedTable) -> Callable[[DelimitedRow], FileJudgement]:
    """Return a reader of the rows of Potato's table, `user instance_id displayed_text
    SCHEMA:::LABEL ...`.

    The grade is the label whose cell is filled, or the value of a scale (`SCHEMA:::scale_5`). An
    instance ID is `topic document`. If the table has several schemas, the one with a name for
    grades counts.
    """
    names = normalise_names(table.first.cells)
    user, instance = (
        next(k for k, name in enumerate(names) if name.replace("_", "") == wanted)
        for wanted in ("user", "instanceid")
    )
    columns: list[tuple[int, str, str]] = [
        (k, cell.partition(":::")[0], cell.partition(":::")[2])
        for k, cell in enumerate(table.first.cells)
        if ":::" in cell
    ]
    schemas = {schema for _, schema, _ in columns}
    chosen = (
        sorted(schemas)
        if len(schemas) == 1
        else [schema for schema in schemas if schema.strip().lower() in GRADE_NAMES]
    )
    if len(chosen) != 1:
        raise FormatError.single(
            table.name,
            table.first.line,
            f"several schemas ({', '.join(sorted(schemas))})",
            f"one schema, or one called {' or '.join(GRADE_NAMES)}",
        )
    labels = [(k, label) for k, schema, label in columns if schema == chosen[0]]

    def read(row: DelimitedRow) -> FileJudgement:
        parts, filled = (
            row.cells[instance].split(),
            [(label, row.cells[k].strip()) for k, label in labels if row.cells[k].strip()],
        )
        if len(parts) != 2:
            raise InvalidCell(
                f"instance {row.cells[instance]!r} does not name a topic and a document",
                "`topic document` separated by one space",
            )
        if len(filled) != 1:
            raise InvalidCell(f"{len(filled)} labels", "one label per row")
        if not row.cells[user].strip():
            raise InvalidCell("the user is missing", "a user")
        label, cell = filled[0]
        return FileJudgement(
            row.line,
            parts[0],
            parts[1],
            row.cells[user].strip(),
            parse_leading_grade(cell if label.startswith("scale_") else label),
        )

    return read


def load_label_studio(
    stream: PeekableStream, file_name: str
) -> tuple[Iterator[FileJudgement], FileProblems, WarningCounter]:
    """Return the judgements, problems and warnings of a list of tasks. A task has `data`, which
    includes a topic ID and a document ID, and `annotations`, of which the one with a grade counts.
    """
    tasks = read_json(stream, file_name)
    mistakes, warnings = FileProblems(file_name), WarningCounter()
    if not all(isinstance(task, dict) and "annotations" in task for task in tasks):
        raise FormatError.single(
            file_name,
            1,
            "the JSON list does not contain annotated tasks",
            "Label Studio's JSON export",
        )

    def judgements() -> Iterator[FileJudgement]:
        for number, task in enumerate(tasks, 1):
            for annotation in task["annotations"] or []:
                try:
                    judgement = _read_annotation(task, annotation, warnings)
                except InvalidCell as error:
                    mistakes.add(
                        None, f"task {task.get('id', number)}: {error.problem}", error.expected
                    )
                    continue
                if judgement is not None:
                    yield judgement

    return judgements(), mistakes, warnings


def _read_annotation(
    task: Mapping[str, Any], annotation: Any, warnings: WarningCounter
) -> FileJudgement | None:
    data = task.get("data")
    if not isinstance(data, dict) or not isinstance(annotation, dict):
        raise InvalidCell(
            "the data are missing, or an annotation is not an object",
            "a task as Label Studio exports it",
        )
    if annotation.get("was_cancelled"):
        warnings.add("annotation", "was", "were", "skipped by the annotator and left out")
        return None
    keys = list(data)
    names = normalise_names(keys)
    places = {
        what: find_column(names, known)
        for what, known in (("topic", TOPIC_NAMES), ("document", DOCUMENT_NAMES))
    }
    if missing := [what for what, place in places.items() if place is None]:
        raise InvalidCell(
            f"the task's data lack {' and '.join(missing)}", "keys such as topic and document"
        )
    topic, document = (
        str(data[keys[place]]).strip() for place in places.values() if place is not None
    )
    if not topic or not document:
        raise InvalidCell("the topic or document ID is empty", "IDs of a topic and a document")
    by = annotation.get("completed_by")
    who = by.get("email") or by.get("id") if isinstance(by, dict) else by
    if who in (None, ""):
        raise InvalidCell("the annotation has no user", "completed_by")
    seconds = annotation.get("lead_time")
    return FileJudgement(
        1,
        topic,
        document,
        str(who),
        _read_grade(annotation.get("result")),
        parse_seconds("" if seconds is None else str(seconds)),
        parse_time(str(annotation.get("created_at") or ""), warnings),
        gold=bool(annotation.get("ground_truth")),
    )


def _read_grade(results: Any) -> int:
    """Return the grade of an annotation's results. Raises InvalidCell unless exactly one can be
    it."""
    if not isinstance(results, list):
        raise InvalidCell("the list of results is missing", "a list of results")
    known = [
        one
        for one in results
        if isinstance(one, dict)
        and RESULT_KINDS.get(str(one.get("type")))
        and isinstance(one.get("value"), dict)
    ]
    named = [one for one in known if str(one.get("from_name", "")).lower() in GRADE_NAMES]
    chosen = named or known
    if len(chosen) != 1:
        raise InvalidCell(
            f"{len(chosen)} results could be the grade",
            f"one choice or rating, or one called {' or '.join(GRADE_NAMES)}",
        )
    value = chosen[0]["value"].get(RESULT_KINDS[chosen[0]["type"]])
    if isinstance(value, list):
        if len(value) != 1:
            raise InvalidCell(f"the answer has {len(value)} choices", "one choice")
        return parse_leading_grade(str(value[0]))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        raise InvalidCell(f"invalid rating {value!r}", "a whole number")
    return int(value)
