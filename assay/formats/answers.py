"""Read generated answers, and the labels of their citations, nuggets and criteria.

read_answers(path) -> list[GeneratedAnswer]                      JSON lines of TREC RAG and Auto-Judge
read_nuggets(path) -> {topic: [Nugget]}                 JSON lines with `qid` and `nuggets`
read_rubrics(path) -> {topic: [Criterion]}              JSON lines with `qid` and `rubrics`
read_support_labels(path), read_nugget_labels(path), read_rubric_labels(path)
                                                        tables with a header
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from assay.formats.delimited import (
    TOPIC_NAMES,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.streams import Source, display_name, is_valid_id, iterate_lines
from assay.measures.answer_scores import NUGGET_VALUES, SUPPORT_VALUES, VERDICT_VALUES
from assay.number_words import format_count

MAX_WORDS = 1024
"""Maximum number of words of an answer, counted by white space (TREC RAG)."""
MAX_CITATIONS = 3
"""Maximum number of citations of a sentence (TREC RAG)."""
EXPECTED_ANSWER = (
    'lines such as {"metadata": {"run_id": "...", "narrative_id": "..."}, "references": [...], '
    '"answer": [{"text": "...", "citations": [0]}]}'
)
TOPIC_KEYS = ("narrative_id", "topic_id", "qid")
RUN_NAMES = ("system", "run", "run_id", "tag")


class Sentence(NamedTuple):
    """A sentence of a generated answer. citations: document IDs, in order."""

    text: str
    citations: tuple[str, ...]


class GeneratedAnswer(NamedTuple):
    """An answer that a system generated for a topic. line: where the file has it."""

    line: int
    run: str
    topic: str
    sentences: tuple[Sentence, ...]

    @property
    def n_words(self) -> int:
        return sum(len(sentence.text.split()) for sentence in self.sentences)

    @property
    def n_citations(self) -> int:
        return sum(len(sentence.citations) for sentence in self.sentences)


class Nugget(NamedTuple):
    """A fact that answers to a topic should contain. is_vital: whether an answer without it is
    poor."""

    text: str
    is_vital: bool


class Criterion(NamedTuple):
    """A criterion of a topic's rubric. A negative weight marks a fault."""

    text: str
    weight: float


def read_answers(
    path: Source,
    *,
    name: str | None = None,
    max_words: int | None = MAX_WORDS,
    max_citations: int | None = MAX_CITATIONS,
) -> list[GeneratedAnswer]:
    """Return the answers in file order. Citations are positions in `references`, from 0, or IDs.

    Raises FormatError with all violations: a line that is no answer, a second answer of a run to a
    topic, more than max_words words or max_citations citations of a sentence, a position outside
    the references, an ID that the references lack (unless there are none), a document cited twice
    by a sentence.
    """
    file_name = display_name(path, name)
    problems = FileProblems(file_name)
    answers: dict[tuple[str, str], GeneratedAnswer] = {}
    for number, text in iterate_lines(path, name=file_name):
        if not text.strip():
            continue
        try:
            answer = _parse_answer(number, text, problems, max_citations)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            problems.add(number, "no answer", EXPECTED_ANSWER, text[:200])
            continue
        first = answers.setdefault((answer.run, answer.topic), answer)
        if first is not answer:
            expected = f"one answer of each run to a topic (first in line {first.line})"
            problems.add(number, f"a second answer of {answer.run} to {answer.topic}", expected)
        if max_words is not None and answer.n_words > max_words:
            expected = f"at most {max_words:,}"
            problems.add(
                number, f"{answer.n_words:,} words in {answer.run}, {answer.topic}", expected
            )
    if not answers and not problems.count:
        problems.add(None, "no answers", EXPECTED_ANSWER)
    problems.raise_if_any()
    return list(answers.values())


def _parse_answer(
    number: int, text: str, problems: FileProblems, max_citations: int | None
) -> GeneratedAnswer:
    row = json.loads(text)
    about = row["metadata"]
    run = about["run_id"]
    topic = next((str(about[key]) for key in TOPIC_KEYS if key in about), "")
    if not (is_valid_id(run) and is_valid_id(topic)):
        raise ValueError
    references = [str(one) for one in row.get("references") or []]
    sentences = []
    for place, one in enumerate(row["answer"] if "answer" in row else row["responses"], 1):
        if not isinstance(one["text"], str):
            raise TypeError
        where = f"sentence {place} of {run}, {topic}"
        citations = []
        for citation in one.get("citations") or []:
            document, wrong = _resolve_citation(citation, references)
            if wrong:
                problems.add(number, f"{where} cites {wrong}", _expected_citation(references))
            elif document in citations:
                problems.add(number, f"{where} cites {document} twice", "each document once")
            citations.append(document)
        if max_citations is not None and len(citations) > max_citations:
            n_citations = format_count(len(citations), "citation")
            problems.add(number, f"{where} has {n_citations}", f"at most {max_citations}")
        sentences.append(Sentence(one["text"], tuple(citations)))
    return GeneratedAnswer(number, run, topic, tuple(sentences))


def _resolve_citation(citation: Any, references: list[str]) -> tuple[str, str]:
    """Return (document, description of a wrong citation or an empty string)."""
    if isinstance(citation, bool):
        raise TypeError
    if isinstance(citation, int):
        if 0 <= citation < len(references):
            return references[citation], ""
        return str(citation), f"reference {citation}"
    if not is_valid_id(citation):
        raise TypeError
    wrong = "" if not references or citation in references else str(citation)
    return str(citation), wrong


def _expected_citation(references: list[str]) -> str:
    last = len(references) - 1
    if last < 0:
        return "IDs of documents, because there are no references"
    return f"one of the references, or its position from 0 to {last}"


def _read_lists(path: Source, key: str, name: str | None) -> Iterator[tuple[int, str, list[Any]]]:
    """Yield (line, topic, list under `key`) of JSON lines. Raises FormatError."""
    file_name = display_name(path, name)
    first: dict[str, int] = {}
    expected = f'lines such as {{"qid": "...", "{key}": [...]}}'
    for number, text in iterate_lines(path, name=file_name):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            topic, rows = str(row["qid"]), row[key]
            if not is_valid_id(topic) or not isinstance(rows, list):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FormatError.single(
                file_name, number, f"missing {key}", expected, text[:200]
            ) from None
        if first.setdefault(topic, number) != number:
            raise FormatError.single(
                file_name, number, f"duplicate list for topic {topic}", "each topic once", topic
            )
        yield number, topic, rows
    if not first:
        raise FormatError.single(file_name, None, f"missing {key}", expected)


def read_nuggets(path: Source, *, name: str | None = None) -> dict[str, list[Nugget]]:
    """Return {topic: nuggets in order}. Raises FormatError for a line without nuggets, a second
    list of a topic, or a nugget without text or with an importance other than vital or okay."""
    made: dict[str, list[Nugget]] = {}
    for number, topic, rows in _read_lists(path, "nuggets", name):
        made[topic] = []
        for row in rows:
            text, importance = _get_text(row, "text"), _get_text(row, "importance")
            if not text or importance not in ("vital", "okay"):
                raise FormatError.single(
                    display_name(path, name),
                    number,
                    f"nugget {len(made[topic])} of {topic}: missing text or invalid importance {importance!r}",
                    "text, and importance vital or okay",
                )
            made[topic].append(Nugget(text, importance == "vital"))
    return made


def read_rubrics(path: Source, *, name: str | None = None) -> dict[str, list[Criterion]]:
    """Return {topic: criteria in order}. Raises FormatError for a line without rubrics, a second
    list of a topic, or a criterion without text or finite weight."""
    made: dict[str, list[Criterion]] = {}
    for number, topic, rows in _read_lists(path, "rubrics", name):
        made[topic] = []
        for row in rows:
            text = _get_text(row, "criterion")
            weight = row.get("weight") if isinstance(row, dict) else None
            if (
                not text
                or isinstance(weight, bool)
                or not isinstance(weight, (int, float))
                or not math.isfinite(weight)
            ):
                raise FormatError.single(
                    display_name(path, name),
                    number,
                    f"criterion {len(made[topic])} of {topic} has no text or weight",
                    "text, and a weight such as 4 or -3",
                )
            made[topic].append(Criterion(text, float(weight)))
    return made


def _get_text(row: Any, key: str) -> str:
    value = row.get(key) if isinstance(row, dict) else None
    return value if isinstance(value, str) else ""


class ItemLabel(NamedTuple):
    """A label of an item of an answer. item: (sentence, citation), (nugget,) or (criterion,), from
    0."""

    line: int
    run: str
    topic: str
    item: tuple[int, ...]
    label: str


def read_support_labels(path: Source, *, name: str | None = None) -> list[ItemLabel]:
    """Read labels of citations: columns topic, system, sentence, citation, label (full, partial or
    none)."""
    return _read_labels(path, name, ("sentence", "citation"), "label", SUPPORT_VALUES)


def read_nugget_labels(path: Source, *, name: str | None = None) -> list[ItemLabel]:
    """Read assignments of nuggets: columns topic, system, nugget, assignment (support,
    partial_support or not_support)."""
    return _read_labels(path, name, ("nugget",), "assignment", NUGGET_VALUES)


def read_rubric_labels(path: Source, *, name: str | None = None) -> list[ItemLabel]:
    """Read verdicts on criteria: columns topic, system, criterion, verdict (met, partly or not)."""
    return _read_labels(path, name, ("criterion",), "verdict", VERDICT_VALUES)


def _read_labels(
    path: Source,
    name: str | None,
    items: tuple[str, ...],
    column: str,
    values: Mapping[str, float],
) -> list[ItemLabel]:
    """Read labels of items of answers. Raises FormatError for a missing column, another number of
    columns, an item that is not a whole number of at least 0, an unknown label, a second label of
    an item, or no rows."""
    table = DelimitedTable(path, name=name)
    problems = FileProblems(table.name)
    header = normalise_names(table.first.cells)
    wanted = {"topic": TOPIC_NAMES, "system": RUN_NAMES}
    wanted |= {key: (key,) for key in (*items, column)}
    places = {key: find_column(header, known) for key, known in wanted.items()}
    if missing := [key for key, place in places.items() if place is None]:
        raise FormatError.single(
            table.name,
            table.first.line,
            f"no column {', '.join(missing)}",
            f"a header with {', '.join(wanted)}",
        )
    labels: dict[tuple[str, str, tuple[int, ...]], ItemLabel] = {}
    for row in table:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != len(header):
            columns = format_count(len(row.cells), "column")
            problems.add(row.line, columns, f"{len(header)}, as in the header", text)
            continue
        cells = {
            key: row.cells[place].strip() for key, place in places.items() if place is not None
        }
        numbers = [cells[key] for key in items]
        if wrong := [cell for cell in numbers if not (cell.isascii() and cell.isdigit())]:
            problems.add(row.line, f"{wrong[0]!r} is not a position", "a whole number from 0", text)
        elif cells[column] not in values:
            expected = " or ".join(values)
            problems.add(row.line, f"unknown {column} {cells[column]!r}", expected, text)
        elif not (is_valid_id(cells["topic"]) and is_valid_id(cells["system"])):
            problems.add(row.line, "no topic or system", "IDs without spaces", text)
        else:
            item = tuple(map(int, numbers))
            one = ItemLabel(row.line, cells["system"], cells["topic"], item, cells[column])
            first = labels.setdefault((one.run, one.topic, item), one)
            if first is not one:
                expected = f"each item once (first in line {first.line})"
                problems.add(row.line, f"a second {column}", expected, text)
    if not labels and not problems.count:
        problems.add(None, "no rows", f"rows with {', '.join(wanted)}")
    problems.raise_if_any()
    return list(labels.values())
