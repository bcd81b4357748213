"""Click models against slow twins that go through the sessions one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from assay.formats.clicks import ClickCounts, ClickTally, read_clicks
from assay.labels.click_models import (
    START_EXAMINATION,
    TOLERANCE,
    estimate_coec,
    estimate_pbm,
    estimate_sdbn,
)
from assay.labels.clicks import make_click_labels
from tests.assay.comparison.rankings_by_hand import grades_by_topic


class Session(NamedTuple):
    """ranking: documents, best first. clicked: some of them."""

    topic: str
    ranking: list[str]
    clicked: set[str]


Estimates = dict[tuple[str, str], float]


def tally(sessions: list[Session]) -> ClickCounts:
    counts = ClickTally()
    for one in sessions:
        counts.add_session(
            one.topic, {d: rank for rank, d in enumerate(one.ranking, 1)}, one.clicked
        )
    return counts.build_counts("log", len(sessions), [])


def by_pair(counts: ClickCounts, values: np.ndarray) -> Estimates:
    pairs = zip(counts.topic.tolist(), counts.document.tolist(), strict=True)
    return dict(
        zip(
            ((counts.topics[t], counts.documents[d]) for t, d in pairs),
            values.tolist(),
            strict=True,
        )
    )


def simulate(seed: int, n_sessions: int = 400) -> list[Session]:
    """Rankings in changing orders; clicks by rank and document."""
    rng = np.random.default_rng(seed)
    sessions = []
    for _ in range(n_sessions):
        topic = str(rng.integers(3))
        order = [f"d{k}" for k in rng.permutation(6)[: rng.integers(2, 7)]]
        clicked = {
            document
            for rank, document in enumerate(order, 1)
            if rng.random() < 0.9 / rank * (0.15 * int(document[1]))
        }
        sessions.append(Session(topic, order, clicked))
    return sessions


def slow_sdbn(sessions: list[Session]) -> Estimates:
    """Attractiveness times satisfaction, each counted separately (Chapelle and Zhang 2009)."""
    attracted: Counter[tuple[str, str]] = Counter()
    examined: Counter[tuple[str, str]] = Counter()
    satisfied: Counter[tuple[str, str]] = Counter()
    seen = {(s.topic, document) for s in sessions for document in s.ranking}
    for topic, ranking, clicked in sessions:
        if not clicked:
            continue
        last = max(ranking.index(document) for document in clicked)
        for document in ranking[: last + 1]:
            examined[topic, document] += 1
            attracted[topic, document] += document in clicked
        satisfied[topic, ranking[last]] += 1
    return {
        pair: float("nan")
        if not examined[pair]
        else attracted[pair] / examined[pair] * (satisfied[pair] / attracted[pair])
        if attracted[pair]
        else 0.0
        for pair in seen
    }


def slow_coec(sessions: list[Session]) -> Estimates:
    shown: Counter[int] = Counter()
    clicks: Counter[int] = Counter()
    for _, ranking, clicked in sessions:
        for rank, document in enumerate(ranking):
            shown[rank] += 1
            clicks[rank] += document in clicked
    expected: defaultdict[tuple[str, str], float] = defaultdict(float)
    observed: Counter[tuple[str, str]] = Counter()
    for topic, ranking, clicked in sessions:
        for rank, document in enumerate(ranking):
            expected[topic, document] += clicks[rank] / shown[rank]
            observed[topic, document] += document in clicked
    return {p: observed[p] / e if e else float("nan") for p, e in expected.items()}


def slow_pbm(sessions: list[Session]) -> Estimates:
    """Expectation maximisation over the results of every session, with the same start and end."""
    results = [
        ((topic, document), rank, document in clicked)
        for topic, ranking, clicked in sessions
        for rank, document in enumerate(ranking)
    ]
    ever = {pair for pair, _, is_clicked in results if is_clicked}
    estimates: Estimates = {pair: 0.0 for pair, _, _ in results}
    results = [one for one in results if one[0] in ever]
    attractive = dict.fromkeys((pair for pair, _, _ in results), 0.5)
    examined = dict.fromkeys((rank for _, rank, _ in results), START_EXAMINATION)
    while True:
        a_parts: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        e_parts: defaultdict[int, list[float]] = defaultdict(list)
        for pair, rank, is_clicked in results:
            a, e = attractive[pair], examined[rank]
            a_parts[pair].append(1.0 if is_clicked else a * (1 - e) / (1 - a * e))
            e_parts[rank].append(1.0 if is_clicked else e * (1 - a) / (1 - a * e))
        next_a = {pair: sum(parts) / len(parts) for pair, parts in a_parts.items()}
        next_e = {rank: sum(parts) / len(parts) for rank, parts in e_parts.items()}
        change = max(
            max(abs(next_a[pair] - attractive[pair]) for pair in next_a),
            max(abs(next_e[rank] - examined[rank]) for rank in next_e),
        )
        attractive, examined = next_a, next_e
        if change < TOLERANCE:
            break
    most = max(examined.values())
    return estimates | {pair: min(a * most, 1) for pair, a in attractive.items()}


@pytest.mark.parametrize(
    ("estimate", "slow"),
    [(estimate_sdbn, slow_sdbn), (estimate_coec, slow_coec), (estimate_pbm, slow_pbm)],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_equals_its_twin(
    estimate: Callable[[ClickCounts], np.ndarray],
    slow: Callable[[list[Session]], Estimates],
    seed: int,
) -> None:
    sessions = simulate(seed)
    counts = tally(sessions)
    assert by_pair(counts, estimate(counts)) == pytest.approx(slow(sessions), abs=1e-6, nan_ok=True)


def test_sdbn_by_hand() -> None:
    """a: examined in 3 sessions, last click of 1. b: examined in 2, last click of 2. c: below the
    last click. Sessions without a click are not counted."""
    sessions = [
        Session("t", ["a", "b", "c"], {"a", "b"}),
        Session("t", ["a", "b", "c"], {"b"}),
        Session("t", ["a", "b", "c"], {"a"}),
        Session("t", ["a", "b", "c"], set()),
    ]
    counts = tally(sessions)
    assert by_pair(counts, estimate_sdbn(counts)) == pytest.approx(
        {("t", "a"): 1 / 3, ("t", "b"): 1, ("t", "c"): np.nan}, nan_ok=True
    )


def repeat(ranking: list[str], document: str, n_clicks: int, n: int) -> list[Session]:
    return [Session("t", ranking, {document} if k < n_clicks else set()) for k in range(n)]


def test_coec_by_hand() -> None:
    """Rank 1 is clicked in 6 of 20 sessions and rank 2 in 2 of 20. a is expected to get
    10 x 0.3 + 10 x 0.1 = 4 clicks, as is b."""
    sessions = [
        *repeat(["a", "b"], "a", 5, 10),
        *repeat(["b", "a"], "b", 1, 8),
        *[Session("t", ["b", "a"], {"a"})] * 2,
    ]
    counts = tally(sessions)
    assert by_pair(counts, estimate_coec(counts)) == pytest.approx(
        {("t", "a"): 7 / 4, ("t", "b"): 1 / 4}
    )
    assert grades_by_topic(make_click_labels(counts, "coec")) == {"t": {"a": 2, "b": 1}}
    assert grades_by_topic(make_click_labels(counts, "coec", thresholds=[1, 1.5])) == {
        "t": {"a": 3, "b": 1}
    }


def test_coec_is_undefined_at_ranks_without_any_click() -> None:
    counts = tally([Session("t", ["a", "b"], {"a"})])
    assert by_pair(counts, estimate_coec(counts)) == pytest.approx(
        {("t", "a"): 1, ("t", "b"): np.nan}, nan_ok=True
    )
    labels = make_click_labels(counts, "coec")
    assert grades_by_topic(labels) == {"t": {"a": 1}}
    assert labels.warnings == ["1 of 2 pairs has no estimate by coec and no label"]


def test_pbm_by_hand() -> None:
    """Each document alone at ranks 1 and 2, 100 sessions each. Clicks 50 and 25, and 20 and 10: rank
    2 is examined half as often, so attractiveness is 0.5 and 0.2."""
    filler = ["x"]  # never clicked
    sessions = [
        *repeat(["a"], "a", 50, 100),
        *repeat([*filler, "a"], "a", 25, 100),
        *repeat(["b"], "b", 20, 100),
        *repeat([*filler, "b"], "b", 10, 100),
    ]
    counts = tally(sessions)
    assert by_pair(counts, estimate_pbm(counts)) == pytest.approx(
        {("t", "a"): 0.5, ("t", "b"): 0.2, ("t", "x"): 0}, abs=1e-4
    )


def test_pbm_is_undefined_at_ranks_that_no_clicked_document_connects() -> None:
    """a connects ranks 1 and 2. c is clicked at rank 3 only."""
    counts = tally(
        [
            *repeat(["a"], "a", 50, 100),
            *repeat(["x", "a"], "a", 25, 100),
            Session("t", ["x", "y", "c"], {"c"}),
        ]
    )
    assert by_pair(counts, estimate_pbm(counts)) == pytest.approx(
        {("t", "a"): 0.5, ("t", "c"): np.nan, ("t", "x"): 0, ("t", "y"): 0}, nan_ok=True, abs=1e-4
    )


def test_pbm_refuses_a_log_with_one_fixed_ranking() -> None:
    """Examination and attractiveness cannot be separated."""
    counts = tally([Session("t", ["a", "b", "c"], {"a", "b"})] * 3)
    with pytest.raises(
        ValueError, match="needs clicked documents that were shown at several ranks"
    ):
        make_click_labels(counts, "pbm")


def test_a_log_without_a_click_has_labels_of_grade_0_or_none() -> None:
    counts = tally([Session("t", ["a", "b"], set())])
    assert grades_by_topic(make_click_labels(counts, "pbm")) == {"t": {"a": 0, "b": 0}}
    for model in ("sdbn", "coec", "raw"):
        assert len(make_click_labels(counts, model)) == 0


@pytest.mark.parametrize("model", ["dctr", "pbm", "sdbn"])
def test_a_threshold_above_1_is_refused_if_no_estimate_exceeds_it(model: str) -> None:
    with pytest.raises(
        ValueError, match=f"a threshold of 2 for {model}, expected rates from 0 to 1"
    ):
        make_click_labels(tally(simulate(1, 5)), model, thresholds=[0.5, 2])


@pytest.mark.data
def test_the_simulated_log_of_nfcorpus_has_estimates_where_they_are_defined(data_folder) -> None:
    """Each topic has one fixed ranking."""
    folder = data_folder / "nfcorpus" / "sim-clicks"
    counts = read_clicks(str(folder / "clicks.tsv.gz"), shown=str(folder / "shown.tsv.gz"))
    with pytest.raises(ValueError, match="choose another click model"):
        estimate_pbm(counts)
    assert not np.isnan(estimate_coec(counts)).any()
    assert (np.isnan(estimate_sdbn(counts)) == (counts.clicks + counts.skipped == 0)).all()
