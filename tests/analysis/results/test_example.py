"""The demo's example: created empty, filled by its job."""

from __future__ import annotations

from collections import Counter

import pytest

from analysis.models import Report
from annotation.demo import campaign as demo
from annotation.demo import creation, example
from annotation.demo.clicks import simulate_click_labels
from annotation.demo.corpus import CorpusEntry
from annotation.demo.systems import tf_idf
from annotation.demo.topics import TOPICS
from annotation.models import Campaign, Feedback, Judgement, Pair, Question
from pooling.models import Job
from pooling.platform import jobs

N_TOPICS = 6


@pytest.fixture
def created(db, tmp_path, settings, monkeypatch) -> Campaign:
    """The example on some entries of the grades' file, whose text is that of their topic."""
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "media", tmp_path
    words = {topic.topic: topic.text for topic in TOPICS}
    lines = example.QRELS.read_text(encoding="utf-8").splitlines()
    entries = {}
    for topic, _, name, _grade in map(str.split, lines):
        if int(topic) <= N_TOPICS:
            entries.setdefault(
                name, CorpusEntry(name, "function", name, words[topic], name.partition(".")[0])
            )
    monkeypatch.setattr(demo, "read_standard_library", lambda: list(entries.values()))
    monkeypatch.setattr(demo, "SYSTEMS", dict.fromkeys(demo.SYSTEMS, tf_idf))
    monkeypatch.setattr(example, "N_ANNOTATORS", 6)
    creation.request_demo()
    jobs.run_job(Job.objects.get(kind=creation.CREATE_JOB).pk)
    return Campaign.objects.get(slug=example.SLUG)


def test_the_job_fills_the_example_and_leaves_three_disputes_and_a_question(created):
    assert (created.state, created.simulated) == ("open", True)
    assert not Judgement.objects.exists()
    job = Job.objects.get(kind=example.FILL_JOB)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "")
    created.refresh_from_db()
    assert created.state == "closed"
    pairs = Pair.objects.filter(campaign=created, removed=False)
    assert all(pair.counted >= 2 for pair in pairs)
    judged = Judgement.objects.filter(pair__campaign=created)
    grades: dict[int, list[int]] = {}
    counted = judged.filter(status="counted").exclude(pair__kind="gold")  # gold is not disputed
    for pair, grade in counted.values_list("pair", "grade"):
        grades.setdefault(pair, []).append(grade)
    uncertain = {
        pair
        for pair, given in grades.items()
        if max(given) - min(given) >= 2
        or (len(set(given)) > 1 and len(set(Counter(given).values())) == 1)
    }
    settled = set(pairs.exclude(adjudicated_grade=None).values_list("pk", flat=True))
    assert len(uncertain - settled) == 3
    assert settled <= uncertain
    assert len(set(judged.values_list("judged_at__date", flat=True))) >= 3
    assert Question.objects.get().answered_at is None
    assert sorted(Feedback.objects.values_list("score", flat=True)) == [
        *("DECENT", "GOOD", "GOOD", "GOOD", "VERY_GOOD")
    ]
    gold = pairs.filter(kind="gold")
    assert Counter(gold.values_list("gold_grade", flat=True)) == {0: 2, 1: 2, 2: 2, 3: 2}
    assert judged.filter(pair__in=gold).count() >= 8
    assert not Judgement.objects.filter(pair__campaign__slug="try-judging").exists()
    titles = set(Report.objects.filter(campaign=created).values_list("title", flat=True))
    assert titles == {"Rankings by judgements and by clicks", "Judgements and click labels"}
    assert Job.objects.filter(state="queued", campaign_id=created.pk).count() == 4


def test_the_job_of_the_first_start_creates_both_campaigns_once(created):
    """Another attempt of the job, after one whose end was not recorded, changes nothing."""
    manager = Campaign.objects.get(slug=example.TO_JUDGE_SLUG).created_by
    before = set(Campaign.objects.values_list("pk", "slug"))
    job = Job.objects.create(
        kind=creation.CREATE_JOB, created_by=manager, parameters={"with_example": True}
    )
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "")
    assert set(Campaign.objects.values_list("pk", "slug")) == before


def test_an_interrupted_job_continues_with_the_same_annotators(created, monkeypatch):
    job = Job.objects.get(kind=example.FILL_JOB)

    def stop(*arguments, **named):
        raise jobs.JobTakenOver

    with monkeypatch.context() as patch:
        patch.setattr("analysis.results.example.request_additional_judgement", stop)
        jobs.run_job(job.pk)
    judged = Judgement.objects.filter(pair__campaign=created).count()
    assert judged
    Job.objects.filter(pk=job.pk).update(state="queued")
    jobs.run_job(job.pk)
    created.refresh_from_db()
    assert created.state == "closed"
    assert created.memberships.filter(annotator_type="simulated").count() == 6
    assert Question.objects.count() == 1


def test_only_its_managers_find_the_example(created, django_user_model):
    manager, annotator = (
        django_user_model.objects.get(username=name) for name in ("manager", "annotator")
    )
    assert example.find_example(manager) == created
    assert example.find_example(annotator) is None
    Campaign.objects.filter(pk=created.pk).update(annotator_type="human")
    assert example.find_example(manager) is None, "a campaign of people that has the same slug"


def test_click_labels_follow_grade_and_rank():
    """The rates to expect at rank 1 are the probabilities of the grades, 0.02, 0.08, 0.25 and 0.6,
    and half of that at rank 4. The labels' thresholds are 0.04 and 0.3."""
    topics = [str(number) for number in range(1, 41)]
    run = [f"{topic} Q0 d{rank} {rank} 1.0 BM25" for topic in topics for rank in range(1, 12)]
    grades = {(topic, f"d{rank}"): 3 for topic in topics for rank in (1, 4)}
    labels = simulate_click_labels(run, grades, seed=1)
    mean = {
        name: labels.grades[labels.documents == name.encode()].mean() for name in ("d1", "d2", "d4")
    }
    assert mean["d1"] == 3.0, "0.6 of 60 clicks is far above 0.3"
    assert 2.3 < mean["d4"] < 2.8, "0.3 itself: above the threshold about every second time"
    assert mean["d2"] < 1.0, "0.014: no click in 43% of the topics, seldom two"
    assert b"d11" not in set(labels.documents.tolist())


def test_the_grades_cover_the_topics_that_the_topic_check_keeps():
    lines = example.QRELS.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines]
    assert len(rows) == len({(topic, name) for topic, _, name, _ in rows}) == 608
    assert {topic for topic, *_ in rows} == {str(number) for number in range(1, 35)}
    assert Counter(grade for *_, grade in rows) == {"0": 240, "1": 227, "2": 89, "3": 52}
