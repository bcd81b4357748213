"""Read TripClick's log, JSON lines with one record per click, and count it per (topic, document).

A record has the session (`SessionId`), the query as typed (`Keywords`), the IDs of the documents
shown, best first (`Documents`), and the clicked document (`DocumentId`). Other fields are ignored.
Queries are matched to topics by their text.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from assay.formats.clicks import ClickCounts, ClickTally
from assay.formats.delimited import FileProblems
from assay.formats.streams import Source, display_name, is_valid_id, iterate_lines
from assay.formats.topics import read_topics
from assay.formats.ubi import normalise_query

LOG_FIELDS = ("SessionId", "Keywords", "Documents", "DocumentId")
EXPECTED_RECORD = f"a JSON object with {', '.join(LOG_FIELDS)}"


class ResultList(NamedTuple):
    """A list of results that a session saw for a query."""

    session: str
    topic: str
    documents: tuple[str, ...]


def read_tripclick(
    path: Source,
    *,
    queries: Source,
    name: str | None = None,
    queries_name: str | None = None,
    max_bytes: int | None = None,
) -> ClickCounts:
    """Read the counts of a log.

    queries: a topics file. A record belongs to the topic with the same text, ignoring case and
    white space. All clicks of a session on the same list of results count as one impression of that
    list. Records of unknown queries, records without a list of results, and clicks on documents
    that are not in the list are left out with a warning that counts them. Raises FormatError for a
    line that is not such a record, and for two topics with the same text.
    """
    topics = map_queries_to_topics(queries, queries_name)
    file_name = display_name(path, name)
    mistakes = FileProblems(file_name)
    showings: dict[ResultList, set[str]] = {}
    unknown = unlisted = elsewhere = 0
    for line, text in iterate_lines(path, name=name, max_bytes=max_bytes):
        if not text.strip():
            continue
        record = _parse_record(text)
        if record is None:
            mistakes.add(line, "not a record of clicks", EXPECTED_RECORD, text)
            continue
        topic = topics.get(normalise_query(record["Keywords"]))
        shown = tuple(dict.fromkeys(str(document) for document in record["Documents"]))
        clicked = str(record["DocumentId"])
        if topic is None:
            unknown += 1
        elif not shown:
            unlisted += 1
        elif clicked not in shown:
            elsewhere += 1
        else:
            showings.setdefault(ResultList(str(record["SessionId"]), topic, shown), set()).add(
                clicked
            )
    if not showings and not mistakes.count:
        mistakes.add(
            None,
            "no click on a result of one of the topics",
            "a log and a file of topics with queries in common",
        )
    mistakes.raise_if_any()
    counts = ClickTally()
    for showing, clicks in showings.items():
        counts.add_session(
            showing.topic,
            {document: rank for rank, document in enumerate(showing.documents, 1)},
            clicks,
        )
    left_out = (
        (unknown, "whose query is not a topic"),
        (unlisted, "without a list of results"),
        (elsewhere, "of a click on a document missing from its result list"),
    )
    warnings = [f"{n:,} record{'' if n == 1 else 's'} {why}, left out" for n, why in left_out if n]
    return counts.build_counts(file_name, len({showing.session for showing in showings}), warnings)


def _parse_record(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("Keywords"), str)
        or not isinstance(value.get("Documents"), list)
    ):
        return None
    ids = [value.get("SessionId"), value.get("DocumentId"), *value["Documents"]]
    return value if all(map(is_valid_id, ids)) else None


def map_queries_to_topics(queries: Source, name: str | None = None) -> dict[str, str]:
    """Return {normalised query: topic ID} of a topics file. Raises FormatError for two topics with
    the same text."""
    mistakes = FileProblems(display_name(queries, name))
    topics: dict[str, str] = {}
    for topic in read_topics(queries, name=name):
        first = topics.setdefault(normalise_query(topic.text), topic.topic)
        if first != topic.topic:
            mistakes.add(
                topic.line,
                f"topic {topic.topic} has the text of topic {first}",
                "one topic per text",
                topic.text,
            )
    mistakes.raise_if_any()
    return topics
