"""The answer of the page Systems: kept with its age, computed by a job, by the labels of now;
nothing naive of a sample or of a half-finished order."""

from __future__ import annotations

import html
import math
from datetime import timedelta

import numpy as np
import pytest
import pytrec_eval
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy import stats

from analysis.judgements.campaign_sample import read_campaign_sample
from analysis.judgements.labels import LabelChoices, make_labels
from analysis.judgements.live import expire_caches, get_snapshot
from analysis.systems import answers
from analysis.systems.answer_page import describe_decision, describe_unjudged
from annotation.models import Campaign, Judgement
from assay.measures.measures import parse_measure
from pooling.models import Job
from pooling.services.runs import load_rankings
from tests.analysis.publishing.test_nothing_naive import forbid_measures_under_labels
from tests.analysis.publishing.test_nothing_naive import make_world as make_sampled_world
from tests.analysis.systems.builders import small_campaign, small_collection, work_off
from tests.builders import lease_of, make_annotator, submit

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def judged(world: Campaign) -> Campaign:
    return world


def page_of(campaign: Campaign, client: Client, query: str = "") -> str:
    client.force_login(campaign.created_by)
    return client.get(reverse("campaign-systems", args=[campaign.slug]) + query).content.decode()


def computed(campaign: Campaign, measure: str = "nDCG@10") -> dict:
    _, job = answers.get_newest_answer(
        campaign, get_snapshot(campaign, fresh=0.0), parse_measure(measure)
    )
    assert job is not None
    job = work_off(job)
    assert job.state == "done", job.message
    return job.report


def by_trec_eval(campaign: Campaign, measure: str) -> dict[str, dict[str, float]]:
    """Per topic of the labels, by run; a topic that the run has not is 0."""
    qrels: dict[str, dict[str, int]] = {}
    for row in make_labels(campaign, LabelChoices()).rows:
        qrels.setdefault(row.topic, {})[row.document] = row.grade
    scores = {}
    for run in campaign.collection.runs.all():
        columns = load_rankings(run)
        ranked = {
            topic: {
                document.decode(): 1000.0 - rank
                for rank, document in enumerate(columns.documents[columns.rows(k)].tolist())
            }
            for k, topic in enumerate(columns.topics)
        }
        by_topic = pytrec_eval.RelevanceEvaluator(
            qrels, {measure}, relevance_level=campaign.min_relevant
        ).evaluate(ranked)
        scores[run.tag] = {topic: by_topic.get(topic, {}).get(measure, 0.0) for topic in qrels}
    return scores


@pytest.mark.parametrize(("measure", "of_trec_eval"), [("nDCG@10", "ndcg_cut_10"), ("AP", "map")])
def test_means_and_p_values_are_those_of_trec_eval_and_scipy(judged, measure, of_trec_eval):
    answer = computed(judged, measure)
    scores = by_trec_eval(judged, of_trec_eval)
    order = [one["tag"] for one in answer["systems"]]
    assert order == sorted(scores, key=lambda tag: (-np.mean(list(scores[tag].values())), tag))
    for one in answer["systems"]:
        assert one["mean"] == pytest.approx(np.mean(list(scores[one["tag"]].values())), abs=1e-9)
    for i, row in enumerate(answer["p"]):
        for k, p in enumerate(row):
            a, b = (np.array(list(scores[order[n]].values())) for n in (i, i + 1 + k))
            assert p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-9)
    assert answer["words"].startswith(
        f"{order[0]} leads by {measure} ({answer['systems'][0]['mean']:.4f}, 8 topics)"
    )


def test_unjudged_shares_are_counted_by_hand_and_no_mean_lies_outside_its_range(judged):
    answer = computed(judged)
    known = {(row.topic, row.document) for row in make_labels(judged, LabelChoices()).rows}
    topics = {topic for topic, _ in known}
    for one in answer["systems"]:
        columns = load_rankings(judged.collection.runs.get(tag=one["tag"]))
        tops = [
            (t, d.decode())
            for k, t in enumerate(columns.topics)
            if t in topics
            for d in columns.documents[columns.rows(k)][:10].tolist()
        ]
        assert one["unjudged"] == pytest.approx(sum(pair not in known for pair in tops) / len(tops))
        assert one["least"] <= one["mean"] <= one["most"]


def test_the_page_shows_the_answer_its_age_and_what_is_unjudged(judged, client):
    first = page_of(judged, client)
    assert "The answer is being computed" in first
    job = work_off(Job.objects.get(kind=answers.ANSWER_JOB))
    page = page_of(judged, client)
    assert job.report["words"] in html.unescape(page)
    assert describe_decision(job.report) in html.unescape(page)
    assert (
        "Based on the 8 of 8 topics with a label. 40 labels by majority. "
        "A label needs at least 2 judgements." in page
    )
    assert "They count as not relevant here" in page
    assert "No confidence interval for any run: " in page
    assert "Tests and 95% confidence intervals hold for one check." in page
    assert "Newer judgements exist." not in page
    assert Job.objects.filter(kind=answers.ANSWER_JOB).count() == 1


def test_where_no_reason_is_known_none_is_said_to_be_missing():
    answer = {
        "estimated": False,
        "systems": [{"tag": "a", "unjudged": None}],
        "why_no_bounds": "",
        "open": "",
    }
    assert describe_unjudged(answer) == "Unjudged documents count as not relevant in these means."
    why = "AP has no cutoff"
    assert describe_unjudged(answer | {"why_no_bounds": why}).endswith(
        f"means. Score bounds are not available: {why}."
    )


def ranked(holm: list[list[float | None]], *, means: tuple[float, ...] = (0.6, 0.5, 0.4), **more):
    """An answer with three runs. holm: corrected p-values of each run against those below it."""
    return {
        "topics": 40,
        "systems": [{"tag": tag, "mean": mean} for tag, mean in zip("ABC", means, strict=True)],
        "holm": holm,
        "opposed": [[False, False], [False]],
        "untested": "",
    } | more


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            ranked([[0.01, 0.001], [0.2]]),
            "A is best: it differs significantly from every other run (Holm correction).",
        ),
        (
            ranked([[0.2, 0.001], [0.01]]),
            "No clear winner: A leads, but does not differ significantly from B (Holm correction).",
        ),
        (
            ranked([[0.9, 0.2], [0.01]], means=(0.6, 0.6, 0.4)),
            "No clear winner: A and B lead, but do not differ significantly from C (Holm correction).",
        ),
        (
            ranked([[0.01, 0.001], [0.2]], opposed=[[True, False], [False]]),
            "No clear winner: mean and signed ranks disagree about A and B.",
        ),
        (
            ranked([[None, None], [None]], untested="5 topics; a verdict needs at least 6"),
            "No verdict yet: 5 topics; a verdict needs at least 6.",
        ),
        (ranked([[None, None], [None]], topics=0), "No ranking yet: no topic has a label."),
    ],
)
def test_one_sentence_says_whether_a_system_is_best(answer, said) -> None:
    assert describe_decision(answer) == said


def test_a_new_judgement_is_said_and_computed_after_a_minute(judged, client):
    computed(judged)
    annotator = make_annotator(judged)
    pair = judged.pairs.order_by("position")[41]
    now = timezone.now()
    submit(
        annotator,
        lease_of(annotator, pair, now=now),
        3,
        now=now + timedelta(seconds=6),
        active_ms=5000,
        wall_ms=5500,
    )
    expire_caches()
    assert "Newer judgements exist." in page_of(judged, client)
    assert Job.objects.filter(kind=answers.ANSWER_JOB).count() == 1, "not yet"
    Job.objects.filter(kind=answers.ANSWER_JOB).update(
        finished_at=timezone.now() - timedelta(seconds=61)
    )
    assert "The answer is being updated." in page_of(judged, client)
    assert Job.objects.filter(kind=answers.ANSWER_JOB).count() == 2


def test_looks_are_taken_at_tenths_and_the_last_one_is_now(judged):
    """240 pairs of three judgements: a tenth is 72, and 80 have been made."""
    for k, judgement in enumerate(Judgement.objects.order_by("pk")):
        Judgement.objects.filter(pk=judgement.pk).update(
            judged_at=timezone.now() - timedelta(hours=100 - k)
        )
    expire_caches()
    answer = computed(judged)
    assert [
        (check["judgements"], round(check["share"], 4)) for check in answer["interim_checks"]
    ] == [
        (72, 0.1),
        (80, 0.1111),
    ]
    assert answer["interim_checks"][-1]["means"] == pytest.approx(
        [one["mean"] for one in answer["systems"]], abs=1e-12
    )
    Judgement.objects.filter(
        pk__in=Judgement.objects.order_by("-judged_at").values("pk")[:8]
    ).delete()
    judged.refresh_from_db()
    fewer = by_trec_eval(judged, "ndcg_cut_10")
    means = {
        one["tag"]: mean
        for one, mean in zip(answer["systems"], answer["interim_checks"][0]["means"], strict=True)
    }
    for tag, by_topic in fewer.items():
        assert means[tag] == pytest.approx(math.fsum(by_topic.values()) / len(by_topic), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nonsense", "nknown measure"),
        ("HT-nDCG@10", "pool is not sampled"),
        ("Judged@10", "how much is judged"),
    ],
)
def test_a_wrong_measure_is_refused_in_words(judged, client, name, said):
    assert said in page_of(judged, client, f"?measure={name}")
    assert (
        client.get(
            reverse("api-campaign-systems", args=[judged.slug]) + f"?measure={name}"
        ).status_code
        == 400
    )
    assert not Job.objects.filter(kind=answers.ANSWER_JOB).exists()


def test_the_api_gives_the_answer_of_the_page(judged, client):
    client.force_login(judged.created_by)
    address = reverse("api-campaign-systems", args=[judged.slug]) + "?measure=AP"
    first = client.get(address).json()
    assert (first["answer"], first["working"], first["why_not"]) == (None, True, "")
    job = work_off(Job.objects.get(kind=answers.ANSWER_JOB))
    second = client.get(address).json()
    assert second["answer"] == job.report
    assert (second["measure"], second["current"], second["working"]) == ("AP", True, False)


def test_a_failed_answer_is_said_and_not_asked_for_again_and_again(judged, client, monkeypatch):
    def fail(*args: object, **named: object) -> None:
        raise answers.jobs.Refused("a reason")

    page_of(judged, client)
    with monkeypatch.context() as patch:
        patch.setattr(answers, "make_labels", fail)
        work_off(Job.objects.get(kind=answers.ANSWER_JOB))
    assert "The answer could not be computed. A reason." in page_of(judged, client)
    assert Job.objects.filter(kind=answers.ANSWER_JOB).count() == 1


def test_of_a_sampled_pool_means_are_estimates_and_no_naive_measure_is_taken(
    settings, tmp_path, monkeypatch, client
):
    settings.MEDIA_ROOT = tmp_path / "files"
    sampled_campaign = make_sampled_world()
    forbid_measures_under_labels(monkeypatch)
    assert read_campaign_sample(sampled_campaign, LabelChoices()).stage >= 1
    assert "would treat unsampled pairs" in page_of(sampled_campaign, client, "?measure=nDCG@10")
    page_of(sampled_campaign, client)
    job = work_off(Job.objects.get(kind=answers.ANSWER_JOB))
    assert job.state == "done", job.message
    assert "No verdict: 3 topics; a verdict needs at least 6." in job.report["words"]
    assert " the highest estimated mean HT-nDCG@10 " in job.report["words"]
    page = page_of(sampled_campaign, client)
    assert "Pairs outside the sample are estimated rather than counted as not relevant." in page
    assert job.report["interim_checks"] == []
