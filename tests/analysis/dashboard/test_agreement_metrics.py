"""The groups of the agreement statistics, beside a plain way over the rows of the database; and the
shuffle of the chance floor."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from analysis.dashboard import agreement_metrics
from analysis.judgements.live import _snapshots, get_snapshot
from annotation.models import Judgement, Pair
from annotation.services.people.exclusion import exclude_annotator
from assay.labels.agreement.raters import _shuffle_grades
from assay.labels.labels import LabelTable
from pooling.platform.jobs import run_job
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    _snapshots.clear()
    made = make_campaign(n_topics=3, n_documents=6, judgements_per_pair=2)
    people = [make_annotator(made) for _ in range(3)]
    for turn in range(30):
        judge(people[turn % 3], turn % 4)
    for i, judgement in enumerate(Judgement.objects.order_by("pk")):
        Judgement.objects.filter(pk=judgement.pk).update(guideline_version=1 if i < 12 else 2)
    yield made
    _snapshots.clear()


def test_pairs_are_grouped_by_the_guidelines_of_all_their_judgements_and_by_length(campaign):
    versions: dict[tuple[str, str], set[int]] = defaultdict(set)
    words = {}
    for row in Judgement.objects.filter(current=True, status="counted").select_related(
        "pair__entry__topic", "pair__entry__document"
    ):
        key = (row.pair.entry.topic.topic_id, row.pair.entry.docno)
        versions[key].add(row.guideline_version)
        words[key] = (row.pair.entry.document.n_words or 0) if row.pair.entry.document else 0
    live = get_snapshot(campaign, fresh=0.0)
    table = live.table(len(campaign.scale))
    pairs = [table.pair_ids(i) for i in range(table.n_pairs)]
    assert agreement_metrics._guideline_groups(live).tolist() == [
        next(iter(versions[p])) if len(versions[p]) == 1 else -1 for p in pairs
    ]
    assert {1, 2} & set(agreement_metrics._guideline_groups(live).tolist())
    bounds = [high for _, high in agreement_metrics.LENGTH_RANGES if high]
    assert agreement_metrics._length_groups(live).tolist() == [
        sum(words[p] >= high for high in bounds) for p in pairs
    ]
    assert Pair.objects.filter(campaign=campaign).count() >= len(pairs)


def test_the_lowest_topics_are_those_with_the_lowest_alpha_and_the_undefined_come_last(
    campaign, monkeypatch
):
    monkeypatch.setattr(agreement_metrics, "MIN_PAIRS", 1)
    monkeypatch.setattr(agreement_metrics, "MAX_GROUPS", 2)
    table = get_snapshot(campaign, fresh=0.0).table(len(campaign.scale))
    alphas = {
        t: found.alpha
        for t, found in agreement_metrics._alpha_by_group(table, table.pair_topic, fewest=1).items()
    }
    shown = set(agreement_metrics._lowest_topics(table).tolist()) - {-1}
    defined = sorted((alpha, t) for t, alpha in alphas.items() if not np.isnan(alpha))
    assert shown >= {t for _, t in defined[:2]}
    assert len(shown) == min(2, len(alphas))


def test_alpha_is_announced_while_it_is_calculated(campaign):
    live = get_snapshot(campaign, fresh=0.0)
    assert agreement_metrics.latest_alpha(campaign, live)["reason"] == "Being calculated."


def test_without_shared_pairs_the_page_says_what_alpha_needs(campaign):
    Judgement.objects.all().delete()
    _snapshots.clear()
    judge(campaign.memberships.first(), 1)
    live = get_snapshot(campaign, fresh=0.0)
    reason = agreement_metrics.latest_alpha(campaign, live)["reason"]
    assert reason == "Available once two annotators have judged the same pair."


def test_an_exclusion_makes_alpha_outdated_and_due_at_once_but_new_judgements_do_not(campaign):
    live = get_snapshot(campaign, fresh=0.0)
    job = agreement_metrics.refresh_alpha_if_due(campaign, live)
    assert job is not None
    run_job(job.pk)
    assert agreement_metrics.latest_alpha(campaign, live)["current"]
    annotator = campaign.memberships.get(pseudonym="A001")
    judge(annotator, 3)
    live = get_snapshot(campaign, fresh=0.0)
    assert not agreement_metrics.latest_alpha(campaign, live)["outdated"]
    assert agreement_metrics.refresh_alpha_if_due(campaign, live) is None
    exclude_annotator(annotator, reason="at random", actor=None)
    live = get_snapshot(campaign, fresh=0.0)
    assert agreement_metrics.latest_alpha(campaign, live)["outdated"]
    assert agreement_metrics.refresh_alpha_if_due(campaign, live) is not None


def test_the_shuffle_keeps_each_annotators_grades_and_follows_the_numbers():
    rng = np.random.default_rng(3)
    annotator = np.sort(rng.integers(7, size=500))
    grade, numbers = rng.integers(5, size=500), rng.random(500)
    bounds = [*np.unique(annotator, return_index=True)[1].tolist(), 500]
    expected = [
        g
        for a in range(7)
        for _, g in sorted(zip(numbers[annotator == a], grade[annotator == a], strict=True))
    ]
    assert _shuffle_grades(bounds, grade, numbers).tolist() == expected


def test_a_pair_belongs_to_the_day_of_its_second_judgement():
    """Pair 0 is judged on days 3, 1 and 2, pair 1 on day 5 only, pair 2 on days 4 and 4."""
    day = 86400.0
    table = LabelTable(
        topics=["t"],
        documents=["a", "b", "c"],
        annotators=["x", "y", "z"],
        pair_topic=np.zeros(3, np.int32),
        pair_document=np.arange(3, dtype=np.int32),
        pair=np.array([0, 0, 0, 1, 2, 2], np.int32),
        annotator=np.array([0, 1, 2, 0, 0, 1], np.int32),
        grade=np.zeros(6, np.int16),
        seconds=np.full(6, np.nan),
        judged_at=np.array([3, 1, 2, 5, 4, 4.5]) * day,
        n_grades=2,
    )
    assert agreement_metrics.compared_days(table).tolist() == [2, -1, 4]
