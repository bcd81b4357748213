"""Read OpenSearch's User Behavior Insights (UBI 1.3) as a click log.

A file of events, and optionally one of queries, each as JSON lines, a JSON array, OpenSearch's
bulk format or the answer of a search. A search (`query_id`) is a session, its `impression` events
are the documents shown, and its `click` events the clicks.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from assay.formats.archives import ARCHIVE_ERRORS, make_damaged_archive_error, open_zip
from assay.formats.clicks import ClickCounts, ClickTally
from assay.formats.delimited import FileProblems
from assay.formats.errors import FormatError
from assay.formats.streams import (
    PeekableStream,
    Source,
    display_name,
    is_valid_id,
    iterate_lines,
    read_json,
)

IMPRESSIONS = frozenset({"impression"})
CLICKS = frozenset({"click", "item_click"})
"""Names of actions that count as clicks."""
BULK_ACTIONS = frozenset({"index", "create"})
EXPECTED_EVENTS = (
    'UBI events such as {"action_name": "click", "query_id": "...", "event_attributes": {...}}'
)
EXPECTED_QUERIES = 'UBI queries such as {"query_id": "...", "user_query": "red shoes"}'


def detect_ubi(head: str) -> str:
    """Return `events`, `queries` or an empty string for the start of a JSON or JSONL file."""
    if head.lstrip()[:1] not in ("{", "[") or '"query_id"' not in head:
        return ""
    if '"action_name"' in head:
        return "events"
    return "queries" if '"user_query"' in head else ""


class _Event(NamedTuple):
    """An impression or click of a UBI log. position: as logged, None if missing. dwell: seconds,
    NaN if unknown."""

    query: str
    document: str
    is_click: bool
    application: str
    position: int | None
    dwell: float


def read_ubi(
    events: Source,
    *,
    queries: Source | None = None,
    topics: Mapping[str, str] | None = None,
    min_dwell: float = 0.0,
    name: str | None = None,
    queries_name: str | None = None,
    max_bytes: int | None = None,
) -> ClickCounts:
    """Read the counts of a log of events.

    queries: file of queries, for events without `user_query`. A search keeps its first text. If the
    log has no impressions, a search shows its results (`query_response_hit_ids`, best first).
    topics: {normalised query: topic ID}. Otherwise a topic is a query, ignoring case and white
    space. min_dwell: clicks with a shorter known dwell time, in seconds, do not count. Positions
    count from 1, or from 0 in an application that logged a position 0. A document seen at several
    positions counts at the best one, and documents without a position follow the others in the
    order of the file.

    Left out, with warnings that count them: searches without a query or of unknown topics, clicks
    on documents that the search did not show, and other events. Raises FormatError for a line that
    is not a JSON object, an event without `action_name`, an impression or click without `query_id`
    or `object_id`, a position that is not a whole number from 0, and a log without impressions.
    """
    file_name = display_name(events, name)
    texts, results = (
        ({}, {}) if queries is None else _read_queries(queries, queries_name, max_bytes)
    )
    log = _EventLog(file_name)
    for line, record in _iterate_records(events, file_name, max_bytes, EXPECTED_EVENTS):
        log.add(line, record)
    log.problems.raise_if_any()
    return log.count(results, texts, topics, min_dwell)


class _EventLog:
    """The impressions and clicks of a file, by search."""

    def __init__(self, file_name: str) -> None:
        self.file_name, self.problems = file_name, FileProblems(file_name)
        self.events: list[_Event] = []
        self.texts: dict[str, str] = {}
        self.zero_based: set[str] = set()
        self.n_other = 0

    def add(self, line: int, record: dict[str, Any]) -> None:
        action = record.get("action_name")
        if not isinstance(action, str):
            problem = "UBI queries" if "user_query" in record else "no action_name"
            self.problems.add(line, problem, EXPECTED_EVENTS, json.dumps(record)[:200])
            return
        if action not in IMPRESSIONS | CLICKS:
            self.n_other += 1
            return
        about = _get(record, "event_attributes")
        query, document = record.get("query_id"), _get(about, "object").get("object_id")
        position = _get(about, "position").get("ordinal")
        if not is_valid_id(query) or not is_valid_id(document):
            self.problems.add(line, f"{action} without query_id or object_id", EXPECTED_EVENTS)
            return
        whole = isinstance(position, int) and not isinstance(position, bool)
        if position is not None and not (whole and 0 <= position < 10**9):
            self.problems.add(line, f"position {position!r}", "a whole number from 0")
            return
        application = str(record.get("application", ""))
        if position == 0:
            self.zero_based.add(application)
        if is_valid_id(text := record.get("user_query")):
            self.texts.setdefault(str(query), str(text))
        self.events.append(
            _Event(
                str(query),
                str(document).strip(),
                action in CLICKS,
                application,
                position,
                _to_seconds(about.get("dwell_time")),
            )
        )

    def count(
        self,
        results: Mapping[str, list[str]],
        texts: Mapping[str, str],
        topics: Mapping[str, str] | None,
        min_dwell: float,
    ) -> ClickCounts:
        texts = dict(texts) | self.texts
        shown = self.rank_documents() or {
            search: {document: rank for rank, document in enumerate(dict.fromkeys(documents), 1)}
            for search, documents in results.items()
            if documents
        }
        left_out: Counter[str] = Counter()
        topic_of: dict[str, str] = {}
        for search in shown:
            query = normalise_query(texts.get(search, ""))
            topic = query if topics is None else topics.get(query)
            if topic:
                topic_of[search] = topic
            else:
                left_out[
                    "searches whose query is not a topic" if query else "searches without a query"
                ] += 1
        if not topic_of:
            raise FormatError.single(
                self.file_name, None, "no query has an impression of a document", EXPECTED_EVENTS
            )
        clicked: dict[str, set[str]] = {}
        for event in self.events:
            if not event.is_click or (event.query in shown and event.query not in topic_of):
                continue
            if event.document not in shown.get(event.query, ()):
                left_out["clicks on documents that the search did not show"] += 1
            elif event.dwell < min_dwell:
                left_out[f"clicks with less than {min_dwell:g} seconds of dwell time"] += 1
            else:
                clicked.setdefault(event.query, set()).add(event.document)
        left_out["events other than impressions and clicks"] += self.n_other
        tally = ClickTally()
        for search, topic in topic_of.items():
            tally.add_session(topic, shown[search], clicked.get(search, set()))
        warnings = [f"left out {why}: {n:,}" for why, n in left_out.items() if n]
        return tally.build_counts(self.file_name, len(topic_of), warnings)

    def rank_documents(self) -> dict[str, dict[str, int]]:
        """Return the rank of each document that a search showed, by its impressions."""
        shown: dict[str, dict[str, int]] = {}
        unplaced: dict[str, list[str]] = {}
        for event in self.events:
            if event.is_click:
                continue
            ranking = shown.setdefault(event.query, {})
            if event.position is None:
                unplaced.setdefault(event.query, []).append(event.document)
                continue
            rank = event.position + (event.application in self.zero_based)
            ranking[event.document] = min(rank, ranking.get(event.document, rank))
        for search, documents in unplaced.items():
            last = max(shown[search].values(), default=0)
            rest = [one for one in dict.fromkeys(documents) if one not in shown[search]]
            shown[search] |= {document: last + k for k, document in enumerate(rest, 1)}
        return shown


def normalise_query(text: str) -> str:
    """Return a query without differences of case and white space."""
    return " ".join(text.casefold().split())


def _get(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _to_seconds(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else math.nan


def _read_queries(
    source: Source, name: str | None, max_bytes: int | None
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return ({query_id: text}, {query_id: results, best first})."""
    file_name = display_name(source, name)
    problems = FileProblems(file_name)
    texts: dict[str, str] = {}
    results: dict[str, list[str]] = {}
    for line, record in _iterate_records(source, file_name, max_bytes, EXPECTED_QUERIES):
        query, text = record.get("query_id"), record.get("user_query")
        if not is_valid_id(query) or not isinstance(text, str):
            problems.add(
                line, "no query_id or user_query", EXPECTED_QUERIES, json.dumps(record)[:200]
            )
            continue
        if is_valid_id(text):
            texts.setdefault(str(query), text)
        hits = record.get("query_response_hit_ids")
        if isinstance(hits, list) and hits:
            results.setdefault(str(query), [str(one).strip() for one in hits if is_valid_id(one)])
    problems.raise_if_any()
    return texts, results


def _iterate_records(
    source: Source, file_name: str, max_bytes: int | None, expected: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of JSON lines or bulk lines, or (1, object) of a whole JSON file. Raises
    FormatError for other content."""
    stream = PeekableStream(source, name=file_name, max_bytes=max_bytes)
    head = stream.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = _parse_object(head.split(b"\n", 1)[0].decode("utf-8", "replace"))
    if head[:1] == b"[" or (head[:1] == b"{" and (first is None or "hits" in first)):
        for value in _unwrap(read_json(stream, file_name)):
            if not isinstance(value, dict):
                raise FormatError.single(file_name, 1, "JSON, but not a list of objects", expected)
            yield 1, value
        return
    problems = FileProblems(file_name)
    for line, text in iterate_lines(stream, name=file_name):
        if not text.strip():
            continue
        value = _parse_object(text)
        if value is None:
            problems.add(line, "not a JSON object", expected, text)
        elif not (len(value) == 1 and BULK_ACTIONS & value.keys()):
            yield (
                line,
                value.get("_source", value) if isinstance(value.get("_source"), dict) else value,
            )
    problems.raise_if_any()


def _parse_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unwrap(value: Any) -> list[Any]:
    """Return the objects of a JSON array, or of the answer of a search."""
    hits = _get(value, "hits").get("hits") if isinstance(value, dict) else value
    rows = hits if isinstance(hits, list) else [value]
    return [
        row["_source"] if isinstance(row, dict) and isinstance(row.get("_source"), dict) else row
        for row in rows
    ]


def find_packed_ubi(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Return the names of the events and of the queries in a zip archive of just these two files,
    or None for another archive."""
    member_by_content: dict[str, str] = {}
    try:
        with open_zip(path, display_name(path)) as archive:
            files = [info.filename for info in archive.infolist() if not info.is_dir()]
            for name in files if len(files) == 2 else []:
                with archive.open(name) as file:
                    head = file.read(1 << 16).decode("utf-8", "replace")
                member_by_content[detect_ubi(head)] = name
    except (*ARCHIVE_ERRORS, FormatError, OSError, ValueError, IndexError):
        return None
    return (
        (member_by_content["events"], member_by_content["queries"])
        if member_by_content.keys() == {"events", "queries"}
        else None
    )


def read_packed_ubi(
    path: str | os.PathLike[str], *, min_dwell: float = 0.0, max_bytes: int | None = None
) -> ClickCounts:
    """Read the counts of a zip archive that `find_packed_ubi` recognises. min_dwell: as for
    `read_ubi`."""
    names = find_packed_ubi(path)
    if names is None:
        raise ValueError(f"{path} does not contain UBI events and queries")
    file_name = display_name(path)
    try:
        with (
            open_zip(path, file_name) as archive,
            archive.open(names[0]) as events,
            archive.open(names[1]) as queries,
        ):
            return read_ubi(
                events,  # type: ignore[arg-type]
                queries=queries,  # type: ignore[arg-type]
                min_dwell=min_dwell,
                name=names[0],
                queries_name=names[1],
                max_bytes=max_bytes,
            )
    except ARCHIVE_ERRORS as error:
        raise make_damaged_archive_error(file_name, error) from None
