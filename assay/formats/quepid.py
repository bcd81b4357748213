"""Read grades and runs of search-tuning tools: Quepid's ratings and snapshots, LTR files, Rated
Ranking Evaluator JSON, and judgement lists of OpenSearch's Search Relevance.

These formats identify topics by query text. `topics` (text -> ID) provides IDs. Otherwise the text
is used as the ID.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.delimited import DelimitedTable, FileProblems, find_column, normalise_names
from assay.formats.errors import FormatError
from assay.formats.markup import collapse_spaces
from assay.formats.qrels import make_qrels
from assay.formats.runs import make_run
from assay.formats.streams import (
    PeekableStream,
    Source,
    display_name,
    is_valid_id,
    iterate_lines,
    read_json,
    strip_suffixes,
)
from assay.number_words import format_count

LTR_PATTERN = re.compile(r"(-?\d+)\s+qid:(\S+)\s+(?:\d+:\S+\s+)*#\s*(\S+)(?:\s+(.*\S))?\s*")
LTR_QUERY_PATTERN = re.compile(r"#\s*qid:([^\s:]+):\s*(?:\*:)?(.*\S)\s*")
LEADING_COMMENTS = re.compile(rb"(?:#[^\n]*\n\s*)+")
JUDGMENT_LIST = b'"judgmentRatings"'
WHOLE_EXPECTED = (
    "a whole number; grades are not rounded: choose a grade of your scale for each fraction"
)
JUDGMENT_EXPECTED = '{"query": "red shoes", "ratings": [{"docId": "d1", "rating": "2"}]}'
Grade = tuple[int, str, str, int]
"""Line number, query text, document and grade."""


Found = TypeVar("Found", QrelsColumns, RunColumns)


def detect_query_form(head: bytes) -> str:
    """Return the format of a file that identifies topics by query text: `ratings` (CSV, LTR, RRE,
    OpenSearch), `snapshot`, or an empty string for any other file."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = text.split(b"\n", 1)[0].decode("utf-8", "replace").replace('"', "")
    names = normalise_names(first.split(","))
    if names[:1] == ["query"] and names[1:] in (["docid", "rating"], ["doc_id", "rating"]):
        return "ratings"
    if {"snapshot_name", "query_text", "doc_id", "doc_position"} <= set(names):
        return "snapshot"
    if _is_ltr(text) or (
        text[:1] in (b"{", b"[") and (b"relevant_documents" in text or JUDGMENT_LIST in text)
    ):
        return "ratings"
    return ""


def _is_ltr(text: bytes) -> bool:
    comments = LEADING_COMMENTS.match(text)
    return re.match(rb"-?\d+\s+qid:", text[comments.end() if comments else 0 :]) is not None


def replace_query_texts(by_query_text: Found, topics: Mapping[str, str]) -> tuple[Found, list[str]]:
    """Replace query texts by topic IDs in grades or a run. Returns (rows of known topics, texts
    left out).

    topics: text -> ID. White space counts as one space. If no text is equal, case is ignored. A
    second text of the same topic is left out.
    """
    exact = {collapse_spaces(text): topic for text, topic in reversed(list(topics.items()))}
    folded = {
        collapse_spaces(text).casefold(): topic for text, topic in reversed(list(topics.items()))
    }
    chosen: dict[str, int] = {}
    exactly_matched: set[int] = set()
    left_out = []
    for pass_exact in (True, False):
        for index, text in enumerate(by_query_text.topics):
            if index in exactly_matched:
                continue
            line = collapse_spaces(text)
            topic = exact.get(line) if pass_exact else folded.get(line.casefold())
            if topic is not None and topic not in chosen:
                chosen[topic] = index
                if pass_exact:
                    exactly_matched.add(index)
            elif not pass_exact:
                left_out.append(text)
    order = sorted(chosen.items(), key=lambda item: item[1])
    rows = np.concatenate(
        [np.arange(by_query_text.offsets[i], by_query_text.offsets[i + 1]) for _, i in order]
        or [np.empty(0, np.int64)]
    )
    offsets = np.concatenate(
        (
            [0],
            np.cumsum([by_query_text.offsets[i + 1] - by_query_text.offsets[i] for _, i in order]),
        )
    ).astype(np.int64)
    columns = (
        ("documents", "grades")
        if isinstance(by_query_text, QrelsColumns)
        else ("documents", "scores", "ranks")
    )
    taken = {name: getattr(by_query_text, name)[rows] for name in columns}
    return replace(
        by_query_text, topics=[topic for topic, _ in order], offsets=offsets, **taken
    ), left_out


def read_ratings(
    path: Source,
    *,
    name: str | None = None,
    topics: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
) -> QrelsColumns:
    """Read grades from a Quepid ratings CSV (`query,docid,rating`), an LTR file (`rating qid:1 #
    docid query text`), RRE JSON or a judgement list of OpenSearch, detected by content.

    Rows without a rating or document are skipped and counted. Raises FormatError for grades that
    are not whole numbers, a pair with two grades, query texts that `topics` does not have, or no
    grades.
    """
    file_name = display_name(path)
    stream = PeekableStream(path, name=file_name, max_bytes=max_bytes)
    mistakes = FileProblems(file_name)
    head = stream.head.lstrip()
    empty = [0]
    if head[:1] in (b"{", b"["):
        read = _read_judgment_lists if JUDGMENT_LIST in head else _read_rre
        ratings = read(stream, mistakes)
    elif _is_ltr(head):
        ratings = _read_ltr(stream, mistakes)
    else:
        ratings = _read_ratings_csv(stream, mistakes, empty)
    grades: dict[tuple[str, str], int] = {}
    repeated = 0
    for line, query, document, grade in ratings:
        topic = query if topics is None else topics.get(query)
        if topic is None:
            mistakes.add(line, f"query {query!r} is not among the topics", "the text of a topic")
        elif grades.setdefault((topic, document), grade) != grade:
            mistakes.add(
                line,
                f"document {document} of {query!r} has grade {grade} here and {grades[topic, document]} before",
                "one grade per pair",
            )
        else:
            repeated += 1
    if not grades and not mistakes.count:
        mistakes.add(None, "no ratings", "at least one")
    mistakes.raise_if_any()
    qrels = make_qrels(
        name or strip_suffixes(file_name),
        ((topic, document, grade) for (topic, document), grade in grades.items()),
    )
    if repeated > len(grades):
        qrels.warnings.append(
            f"{format_count(repeated - len(grades), 'pair', 'appears', 'appear')} more than once with the same grade"
        )
    if empty[0]:
        qrels.warnings.append(
            f"{format_count(empty[0], 'row')} without rating or document {'was' if empty[0] == 1 else 'were'} skipped"
        )
    return qrels


def read_snapshot(
    path: Source,
    *,
    name: str | None = None,
    topics: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
) -> RunColumns:
    """Read a Quepid snapshot CSV as a run: rank = Doc Position, score = -rank, tag = name of the
    snapshot. Other columns are ignored.

    Raises FormatError for missing columns, a position that is not a whole number, a document listed
    twice for a query, or queries that `topics` does not have.
    """
    table = DelimitedTable(path, name=name, delimiter=",", max_bytes=max_bytes)
    names = normalise_names(table.first.cells)
    places = [find_column(names, (wanted,)) for wanted in ("query_text", "doc_id", "doc_position")]
    title = find_column(names, ("snapshot_name",))
    if None in places or title is None:
        raise FormatError.single(
            table.name,
            table.first.line,
            "not a Quepid snapshot",
            "Snapshot Name, Query Text, Doc ID, Doc Position",
        )
    query, document, position = (int(place) for place in places if place is not None)
    mistakes = FileProblems(table.name)
    rows: dict[tuple[str, str], float] = {}
    tag = ""
    for line, cells in table:
        text = ",".join(cells)
        if len(cells) != len(names):
            mistakes.add(
                line, f"{len(cells)} columns", f"{len(names)} columns as in the header", text
            )
            continue
        topic = cells[query].strip() if topics is None else topics.get(cells[query].strip())
        tag = tag or "_".join(cells[title].split())
        if not topic:
            mistakes.add(
                line, f"query {cells[query]!r} is not among the topics", "the text of a topic", text
            )
        elif not (
            cells[position].isascii() and cells[position].isdigit() and len(cells[position]) < 10
        ):
            mistakes.add(
                line,
                f"position {cells[position]!r} is not a whole number",
                "a position such as 1",
                text,
            )
        elif not cells[document].strip() or (topic, cells[document].strip()) in rows:
            mistakes.add(
                line,
                f"document {cells[document]!r} is empty, or a duplicate for its query",
                "each document once",
                text,
            )
        else:
            rows[topic, cells[document].strip()] = -float(cells[position])
    if not rows and not mistakes.count:
        mistakes.add(None, "no rows", "at least one row below the header")
    mistakes.raise_if_any()
    return make_run(
        tag or strip_suffixes(table.name),
        ((topic, d, score) for (topic, d), score in rows.items()),
        name=table.name,
    )


def _parse_whole(value: Any) -> int | None:
    text = re.fullmatch(r"(-?[0-9]{1,9})(\.0+)?", str(value).strip())
    return int(text[1]) if text else None


def _read_ratings_csv(
    stream: PeekableStream, mistakes: FileProblems, empty: list[int]
) -> Iterator[Grade]:
    table = DelimitedTable(stream, name=mistakes.file, delimiter=",")
    names = normalise_names(table.first.cells)
    if (
        names[:1] != ["query"]
        or names[1:2] not in (["docid"], ["doc_id"])
        or names[2:] != ["rating"]
    ):
        header = ",".join(table.first.cells)
        raise FormatError.single(
            table.name,
            table.first.line,
            "unknown format of ratings",
            "a header query,docid,rating",
            header,
        )
    for line, cells in table:
        if len(cells) != 3:
            mistakes.add(
                line, f"{len(cells)} columns", "3 columns: query,docid,rating", ",".join(cells)
            )
            continue
        query, document, rating = (cell.strip() for cell in cells)
        grade = _parse_whole(rating)
        if not document or not rating:
            empty[0] += 1
        elif grade is None or not query:
            mistakes.add(
                line,
                f"invalid rating {rating!r} of {query!r}",
                "a query and a whole number",
                ",".join(cells),
            )
        else:
            yield line, query, document, grade


def _read_ltr(stream: PeekableStream, mistakes: FileProblems) -> Iterator[Grade]:
    """Yield the grades of lines `rating qid:1 # docid query text`. A comment `# qid:1: query text`
    overrides the text on the lines, which can be empty or, for example, a title."""
    queries: dict[str, str] = {}
    for line, text in iterate_lines(stream, name=mistakes.file):
        if text.lstrip().startswith("#"):
            if named := LTR_QUERY_PATTERN.fullmatch(text.strip()):
                queries[named[1]] = named[2]
            continue
        parts = LTR_PATTERN.fullmatch(text.strip())
        query = parts and queries.get(parts[2], parts[4])
        if parts and query and len(parts[1]) < 10:
            yield line, query, parts[3], int(parts[1])
        elif text.strip():
            expected = "`rating qid:1 # docid query text`, or `# qid:1: query text` above"
            mistakes.add(line, "not an LTR line", expected, text)


def _read_rre(stream: PeekableStream, mistakes: FileProblems) -> Iterator[Grade]:
    """Yield the grades of every object with `placeholders.$query` and `relevant_documents`, at any
    depth."""
    waiting = [read_json(stream, mistakes.file)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        if not isinstance(value, dict):
            continue
        places, relevant = value.get("placeholders"), value.get("relevant_documents")
        query = places.get("$query") if isinstance(places, dict) else None
        if not (isinstance(query, str) and query.strip() and isinstance(relevant, dict)):
            waiting += reversed(value.values())
            continue
        for document, rated in relevant.items():
            grade = _parse_whole(rated.get("gain")) if isinstance(rated, dict) else None
            if grade is None or not document.strip():
                mistakes.add(
                    None,
                    f"document {document!r} of {query!r} has no gain, or one that is not a whole number",
                    '{"gain": 2}',
                )
            else:
                yield 1, query.strip(), document.strip(), grade


def _read_judgment_lists(stream: PeekableStream, mistakes: FileProblems) -> Iterator[Grade]:
    """Yield the grades of every `judgmentRatings`, at any depth."""
    waiting = [read_json(stream, mistakes.file)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        if not isinstance(value, dict):
            continue
        judged = value.get("judgmentRatings")
        if not isinstance(judged, list):
            waiting += reversed(value.values())
            continue
        for entry in judged:
            query = entry.get("query") if isinstance(entry, dict) else None
            ratings = entry.get("ratings") if isinstance(entry, dict) else None
            if not is_valid_id(query) or not isinstance(ratings, list):
                mistakes.add(None, "judgmentRatings without query or ratings", JUDGMENT_EXPECTED)
                continue
            for rated in ratings:
                document = rated.get("docId") if isinstance(rated, dict) else None
                if not is_valid_id(document):
                    mistakes.add(None, f"a rating of {query!r} without docId", JUDGMENT_EXPECTED)
                    continue
                grade = _parse_whole(rated.get("rating"))
                if grade is None:
                    problem = f"rating {rated.get('rating')!r} of {document!r} for {query!r}"
                    mistakes.add(None, problem, WHOLE_EXPECTED)
                else:
                    yield 1, str(query).strip(), str(document).strip(), grade
