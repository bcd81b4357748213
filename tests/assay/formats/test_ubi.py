"""OpenSearch's User Behavior Insights as a click log."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from assay.formats.clicks import ClickCounts
from assay.formats.errors import FormatError
from assay.formats.ubi import read_ubi
from tests.assay.formats.test_clicks import counts, stream


def event(
    action: str, query: str, document: str, position: int | None = None, **more: Any
) -> dict[str, Any]:
    """As UBI 1.3 prescribes. dwell: seconds. Other names are fields of the event."""
    about: dict[str, Any] = {"object": {"object_id": document, "object_id_field": "asin"}}
    if position is not None:
        about["position"] = {"ordinal": position}
    if "dwell" in more:
        about["dwell_time"] = more.pop("dwell")
    return {
        "application": "shop",
        "action_name": action,
        "query_id": query,
        "client_id": "c",
        "timestamp": "2024-12-10T00:01:29.378Z",
        "user_query": "red shoes",
        "message": None,
        "event_attributes": about,
    } | more


EVENTS = [
    event("search", "q1", ""),
    event("impression", "q1", "a", 1),
    event("impression", "q1", "b", 2),
    event("impression", "q1", "c", 3),
    event("click", "q1", "b", 2, dwell=12.5),
    event("impression", "q2", "b", 1, user_query="Red  Shoes"),
    event("impression", "q2", "a", 2, user_query="Red  Shoes"),
    event("click", "q2", "b", 1, user_query="Red  Shoes", dwell=90),
    event("click", "q2", "b", 1, user_query="Red  Shoes"),
    event("add_to_cart", "q2", "b", 1),
    event("impression", "q3", "a", 1, user_query="hats"),
]
EXPECTED = {
    ("hats", "a"): (1, 0, 0),
    ("red shoes", "a"): (2, 0, 1),
    ("red shoes", "b"): (2, 2, 0),
    ("red shoes", "c"): (1, 0, 0),
}
"""(impressions, clicks, skipped), by hand."""


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


def by_rank(found: ClickCounts) -> dict[tuple[str, str, int], tuple[int, int]]:
    return {
        (found.topics[found.topic[p]], found.documents[found.document[p]], r): (n, c)
        for p, r, n, c in zip(
            found.rank_pair,
            found.rank.tolist(),
            found.rank_impressions.tolist(),
            found.rank_clicks.tolist(),
            strict=True,
        )
    }


@pytest.mark.parametrize(
    "text",
    [
        lines(EVENTS),
        json.dumps(EVENTS),
        json.dumps(EVENTS, indent=2),
        "".join(
            json.dumps({"index": {"_index": "ubi_events"}}) + "\n" + json.dumps(one) + "\n"
            for one in EVENTS
        ),
        json.dumps({"took": 3, "hits": {"hits": [{"_id": "x", "_source": one} for one in EVENTS]}}),
        lines([{"_index": "ubi_events", "_source": one} for one in EVENTS]),
    ],
    ids=["lines", "array", "indented", "bulk", "answer of a search", "documents"],
)
def test_every_form_of_the_events_is_counted_alike(text: str) -> None:
    found = read_ubi(stream(text))
    assert counts(found) == EXPECTED
    assert by_rank(found) == {
        ("hats", "a", 1): (1, 0),
        ("red shoes", "a", 1): (1, 0),
        ("red shoes", "a", 2): (1, 0),
        ("red shoes", "b", 1): (1, 1),
        ("red shoes", "b", 2): (1, 1),
        ("red shoes", "c", 3): (1, 0),
    }
    assert found.n_sessions == 3
    assert found.warnings == ["left out events other than impressions and clicks: 2"]


def test_an_application_that_counts_positions_from_0_is_noticed() -> None:
    found = read_ubi(
        stream(
            lines(
                [
                    event("impression", "q1", "a", 0),
                    event("impression", "q1", "b", 1),
                    event("impression", "q2", "a", 1, application="other"),
                ]
            )
        )
    )
    assert by_rank(found) == {
        ("red shoes", "a", 1): (2, 0),
        ("red shoes", "b", 2): (1, 0),
    }


def test_short_visits_do_not_count_on_request_and_unknown_ones_do() -> None:
    found = read_ubi(stream(lines(EVENTS)), min_dwell=30)
    assert counts(found)["red shoes", "b"] == (2, 1, 0)
    assert "left out clicks with less than 30 seconds of dwell time: 1" in found.warnings


def test_queries_give_texts_and_the_results_of_searches_without_impressions() -> None:
    queries = [
        {"query_id": "q1", "user_query": "hats", "query_response_hit_ids": ["a", "b"]},
        {"query_id": "q2", "user_query": "hats", "query_response_hit_ids": ["b", "a"]},
        {"query_id": "q3", "user_query": "hats", "query_response_hit_ids": []},
    ]
    clicks = [event("click", "q1", "b", 2), event("click", "q2", "x", 1), event("click", "q9", "a")]
    for one in clicks:
        del one["user_query"]
    found = read_ubi(stream(lines(clicks)), queries=stream(lines(queries)))
    assert counts(found) == {("hats", "a"): (2, 0, 1), ("hats", "b"): (2, 1, 0)}
    assert found.n_sessions == 2
    assert found.warnings == ["left out clicks on documents that the search did not show: 2"]


def test_with_topics_only_their_queries_count() -> None:
    found = read_ubi(stream(lines(EVENTS)), topics={"red shoes": "7"})
    assert counts(found) == {("7", d): n for (t, d), n in EXPECTED.items() if t == "red shoes"}
    assert "left out searches whose query is not a topic: 1" in found.warnings


def test_documents_without_a_position_follow_in_the_order_of_the_file() -> None:
    found = read_ubi(stream(lines([event("impression", "q", d) for d in "ba"])))
    assert by_rank(found) == {("red shoes", "b", 1): (1, 0), ("red shoes", "a", 2): (1, 0)}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "not a JSON object"),
        ('{"query_id": "q", "user_query": "x"}', "UBI queries"),
        ('{"query_id": "q"}', "no action_name"),
        ('{"action_name": "click", "query_id": "q"}', "click without query_id or object_id"),
        (json.dumps(event("click", "", "a", 1)), "click without query_id or object_id"),
        (json.dumps(event("click", "q", "a", -1)), "position -1"),
        (
            json.dumps(event("impression", "q", "a") | {"event_attributes": 1}),
            "impression without query_id or object_id",
        ),
    ],
)
def test_each_mistake_is_refused_with_its_line(line: str, problem: str) -> None:
    with pytest.raises(FormatError) as error:
        read_ubi(stream(f"{json.dumps(EVENTS[1])}\n\n{line}\n"), name="events")
    assert [(p.line, p.problem) for p in error.value.problems] == [(3, problem)]


def test_a_log_without_impressions_and_queries_without_events_are_refused() -> None:
    with pytest.raises(FormatError, match="no query has an impression of a document"):
        read_ubi(stream(lines([event("click", "q", "a", 1)])))
    with pytest.raises(FormatError, match="no query_id or user_query"):
        read_ubi(stream(lines(EVENTS)), queries=io.BytesIO(b'{"query_id": "q"}\n'))


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.mark.data
def test_the_sample_of_opensearch_is_counted_as_pandas_counts_it(data_folder: Path) -> None:
    pd = pytest.importorskip("pandas")
    folder = data_folder / "ubi"
    events, queries = (read_lines(folder / f"ubi_{name}.json.gz") for name in ("events", "queries"))
    counted = [one for one in events if one["action_name"] in ("impression", "click")]
    text_of: dict[str, str] = {}
    for one in counted + queries:
        if one.get("user_query", "").strip():
            text_of.setdefault(one["query_id"], one["user_query"])
    rows = pd.DataFrame(
        {
            "query": " ".join(text_of.get(one["query_id"], "").lower().split()),
            "document": one["event_attributes"]["object"]["object_id"],
            "search": one["query_id"],
            "action": one["action_name"],
        }
        for one in counted
    ).drop_duplicates()
    rows = rows[rows["query"] != ""]
    shown, clicked = (
        rows[rows["action"] == action].drop(columns="action") for action in ("impression", "click")
    )
    pair = ["query", "document"]
    n_shown = shown.groupby(pair)["search"].nunique()
    n_clicked = shown.merge(clicked).groupby(pair)["search"].nunique()
    n_clicked = n_clicked.reindex(n_shown.index, fill_value=0)
    expected = dict(zip(n_shown.index, zip(n_shown, n_clicked, strict=True), strict=True))
    found = read_ubi(folder / "ubi_events.json.gz", queries=folder / "ubi_queries.json.gz")
    assert {pair: numbers[:2] for pair, numbers in counts(found).items()} == expected
    assert len(expected) == 1119
    assert found.n_sessions == shown["search"].nunique()
