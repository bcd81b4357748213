"""What other labels do to the ranking of real systems: against pytrec_eval's measures, scipy's tau
and the definition of tau_ap."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
import pytrec_eval
from scipy.stats import kendalltau

from analysis.dashboard import exclusions, method_effect
from analysis.judgements.labels import LabelChoices
from analysis.judgements.live import get_snapshot
from analysis.publishing import recipe_rankings, recipes
from analysis.publishing.release.parts import ReleasePlan
from annotation.services.judging import submission
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.real_campaign import by_majority, by_place, labels_of, real_campaign, store_run
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db
MEASURES = ("nDCG@5", "AP")  # the pool is judged to rank 5
LEVEL = 2  # from Partly answers, as the campaign's scale has it
BAD = "A007"


@pytest.fixture
def world(data_folder):
    return real_campaign(data_folder)


def means(runs, qrels, *, level: int = LEVEL) -> dict[str, list[float]]:
    """Measure -> mean of each run over all topics of the qrels, by pytrec_eval."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_5", "map"}, relevance_level=level)
    found: dict[str, list[float]] = {"nDCG@5": [], "AP": []}
    for tag in sorted(runs):
        topics = evaluator.evaluate(by_place(runs[tag]))
        for name, theirs in (("nDCG@5", "ndcg_cut_5"), ("AP", "map")):
            found[name].append(
                round(sum(values[theirs] for values in topics.values()) / len(qrels), 10)
            )
    return found


def tau_ap(reference: list[float], other: list[float]) -> float:
    """Yilmaz et al. 2008, equation 3, for rankings without ties: i runs over the ranks of `other`
    from the second."""
    order = sorted(range(len(other)), key=lambda i: -other[i])
    shares = [
        sum(reference[above] > reference[order[i]] for above in order[:i]) / i
        for i in range(1, len(order))
    ]
    return 2 * sum(shares) / len(shares) - 1


def ordinal_alpha(given, *, without: str) -> float:
    names = sorted({name for grades in given.values() for name in grades} - {without})
    data = [[grades.get(name, np.nan) for grades in given.values()] for name in names]
    return krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")


def done(job: Job) -> dict:
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    return job.report


def swaps(a: list[float], b: list[float]) -> int:
    return sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i in range(len(a)) for j in range(i))


def test_the_preview_of_an_exclusion_gives_tau_between_the_rankings_before_and_after(world):
    campaign, given, runs = world
    report = done(exclusions.request_exclusion_preview(campaign, [BAD], user=campaign.created_by))
    assert report["alpha"] == [
        pytest.approx(ordinal_alpha(given, without=out), abs=1e-9) for out in ("", BAD)
    ]
    before, after = means(runs, labels_of(given)), means(runs, labels_of(given, without=BAD))
    assert [row["measure"] for row in report["rankings"]] == list(MEASURES)
    for row in report["rankings"]:
        x, y = before[row["measure"]], after[row["measure"]]
        assert row["tau"] == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
        assert row["tau_ap"] == pytest.approx(tau_ap(x, y), abs=1e-12)
        assert (row["swapped"], row["tied"], row["reason"]) == (swaps(x, y), [0, 0], "")
        assert row["tau"] < 1  # there is something to see
    changed = {
        (t, d)
        for t, ds in labels_of(given).items()
        for d, g in ds.items()
        if labels_of(given, without=BAD)[t][d] != g
    }
    assert (report["n_changes"], report["without_label"], report["systems"]) == (
        len(changed),
        0,
        len(runs),
    )


def test_the_effect_of_another_aggregation_method_is_tau_with_the_ranking_by_majority(world):
    campaign, given, runs = world
    _, job = method_effect.newest_effect(campaign, get_snapshot(campaign))
    rows = {row["name"]: row for row in done(job)["methods"]}
    majority = labels_of(given)
    median = labels_of(given, label=lambda grades: sorted(grades)[(len(grades) - 1) // 2])
    for i, measure in enumerate(MEASURES):
        expected = kendalltau(
            means(runs, majority)[measure], means(runs, median)[measure]
        ).statistic
        assert rows["median"]["tau"][i] == pytest.approx(expected, abs=1e-12)
        assert rows["majority"]["tau"][i] == pytest.approx(1)
    assert rows["median"]["different"] == sum(
        majority[t][d] != median[t][d] for t in majority for d in majority[t]
    )


def compare(campaign, *plans: ReleasePlan) -> dict:
    first, second = (
        recipes.save_recipe(campaign, plan, user=campaign.created_by) for plan in plans
    )
    _, job = recipe_rankings.get_newest_comparison(campaign, first, second, get_snapshot(campaign))
    return done(job)


def test_two_recipes_are_compared_by_the_rankings_on_both_scales_each_at_its_own_level(world):
    campaign, given, runs = world
    report = compare(
        campaign,
        ReleasePlan("public"),
        ReleasePlan("strict", LabelChoices(exclude=(BAD,), min_relevant=3)),
    )
    graded = means(runs, labels_of(given)), means(runs, labels_of(given, without=BAD), level=3)
    on_two = [
        labels_of(
            given,
            without=out,
            label=lambda grades, level=level: by_majority(
                [int(grade >= level) for grade in grades]
            ),
        )
        for out, level in (("", 2), (BAD, 3))
    ]
    binary = [means(runs, qrels, level=1) for qrels in on_two]
    assert [(row["scale"], row["measure"]) for row in report["rankings"]] == [
        (scale, measure) for scale in ("all grades", "two grades") for measure in MEASURES
    ]
    for row in report["rankings"]:
        x, y = (one[row["measure"]] for one in (graded if row["scale"] == "all grades" else binary))
        assert row["tau"] == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
        assert row["swapped"] == swaps(x, y)
        if row["tied"] == [0, 0]:
            assert row["tau_ap"] == pytest.approx(tau_ap(x, y), abs=1e-12)


def test_a_comparison_is_made_anew_when_a_label_or_a_run_changes_and_not_before(world):
    campaign, _, runs = world
    saved = [
        recipes.save_recipe(campaign, ReleasePlan(name), user=campaign.created_by)
        for name in ("one", "two")
    ]
    _, job = recipe_rankings.get_newest_comparison(campaign, *saved, get_snapshot(campaign))
    done(job)
    assert recipe_rankings.get_newest_comparison(campaign, *saved, get_snapshot(campaign)) == (
        job,
        None,
    )
    Job.objects.update(finished_at="2026-01-01T00:00:00Z")
    submission.adjudicate_pair(campaign.pairs.first(), 3, reason="clear", actor=campaign.created_by)
    second = recipe_rankings.get_newest_comparison(campaign, *saved, get_snapshot(campaign))[1]
    done(second)
    Job.objects.update(finished_at="2026-01-01T00:00:00Z")
    assert (
        recipe_rankings.get_newest_comparison(campaign, *saved, get_snapshot(campaign))[1] is None
    )
    store_run(campaign.collection, "new", next(iter(runs.values())))
    assert (
        recipe_rankings.get_newest_comparison(campaign, *saved, get_snapshot(campaign))[1]
        is not None
    )


class TestUndefinedIsSaid:
    PLANS = (ReleasePlan("one"), ReleasePlan("two", LabelChoices(method="median")))

    def judged(self):
        campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2)
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        for grade in (3, 2, 3, 0, 1, 2):
            judge(ada, grade)
            judge(bob, grade)
        return campaign

    def test_without_two_runs(self):
        report = compare(self.judged(), *self.PLANS)
        assert (report["rankings"], report["reason"]) == (
            [],
            "a ranking needs at least two runs",
        )

    def test_without_a_label(self):
        campaign = make_campaign()
        for tag in ("a", "b"):
            store_run(campaign.collection, tag, {"t1": {"d1": 2.0, "d2": 1.0 + (tag == "a")}})
        assert compare(campaign, *self.PLANS)["reason"] == "no pair has a label under one and two"

    def test_where_all_systems_are_tied(self):
        campaign = self.judged()
        for tag, score in (("a", 1.0), ("b", 3.0)):  # other scores, the same order
            store_run(
                campaign.collection,
                tag,
                {"t1": {"d1": 5 * score, "d2": score}, "t2": {"d3": score}},
            )
        rows = compare(campaign, *self.PLANS)["rankings"]
        assert len(rows) == 4
        assert {(row["tau"], row["tau_ap"], row["reason"]) for row in rows} == {
            (None, None, "all 2 systems are tied under one and two")
        }
        report = done(
            exclusions.request_exclusion_preview(campaign, ["A001"], user=campaign.created_by)
        )
        assert (report["rankings"], report["no_rankings"]) == (
            [],
            "no pair has enough judgements for a label",
        )

    def test_the_method_effect_says_which_measure_cannot_rank(self):
        campaign = self.judged()
        for tag in ("a", "b"):
            store_run(campaign.collection, tag, {"t1": {"d1": 5.0, "d2": 4.0 + (tag == "a") / 2}})
        report = done(method_effect.newest_effect(campaign, get_snapshot(campaign))[1])
        assert report["reason"] == "nDCG@10: all 2 systems are tied under majority"
        assert all(value is None for row in report["methods"] for value in row["tau"])
        assert not any(
            isinstance(value, float) and math.isnan(value)
            for row in report["methods"]
            for value in row["tau"]
        )
