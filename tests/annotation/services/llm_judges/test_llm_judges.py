"""LLM judges of a campaign: asked in the worker at an endpoint that replays, fails and holds; a
layer that people's figures never see."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from analysis.judgements.labels import LabelChoices, make_labels
from annotation.llm import database_store
from annotation.llm.label_files import read_label_file
from annotation.models import Campaign, Judgement, LlmJudge, LlmLabel, Pair
from annotation.selectors import llm_judges as selectors
from annotation.services.campaigns.lifecycle import CampaignError
from annotation.services.errors import AnswerRefused
from annotation.services.judging import scheduling
from annotation.services.llm_judges import judges
from annotation.services.llm_judges.judges import CallLimits, JudgeOptions
from assay.formats.errors import FormatError
from pooling.models import Job
from pooling.platform import jobs
from tests.annotation.llm.endpoint_server import Replay, serving
from tests.annotation.llm.test_chat_endpoint import Trickle
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db

PAIRS = [(str(t), str(d)) for t in (1, 2) for d in range(1, 6)]
LABELS = {pair: (int(pair[0]) + int(pair[1])) % 4 for pair in PAIRS}


@pytest.fixture
def campaign() -> Campaign:
    """Topics t1, t2 with documents d1 to d5; the endpoint finds `topic 1` and `document 2` in the
    prompt."""
    made = make_campaign(n_topics=2, n_documents=5, guideline="Judge the text.")
    for topic in made.collection.topics.all():
        topic.text = f"topic {topic.topic_id[1:]}"
        topic.save()
    for document in made.collection.documents.all():
        document.text = f"document {document.docno[1:]}"
        document.save()
    return made


def made(
    campaign: Campaign,
    settings: Any,
    url: str,
    *,
    name: str = "model",
    samples: int = 1,
    **limits: Any,
) -> LlmJudge:
    settings.LLM_ENDPOINTS = {url: "ASSAY_LLM_KEY"}
    wanted = JudgeOptions(
        name, "replay", url, samples=samples, limits=CallLimits(attempts=2, **limits)
    )
    return judges.create_judge(campaign, wanted, actor=None)


def asked(judge: LlmJudge) -> Job:
    job = judges.request_run(judge, user=None)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return job


def test_every_pair_is_asked_k_times_and_none_of_it_reaches_people(
    campaign: Campaign, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LLM_KEY", "a-secret-key")
    ada = make_annotator(campaign)
    judge(ada, 2)
    before = (
        list(Pair.objects.order_by("pk").values()),
        [row.grade for row in make_labels(campaign, LabelChoices(min_judgements=1)).rows],
    )
    replay = Replay(LABELS)
    with serving(replay) as url:
        llm_judge = made(campaign, settings, url, samples=3, price_in=10, price_out=50)
        expected = selectors.estimate_judge_cost(llm_judge)
        job = asked(llm_judge)
    assert (job.state, job.report["facts"]["calls now"]) == ("done", 30)
    assert (expected.calls, selectors.estimate_judge_cost(llm_judge).calls) == (30, 0)
    counts = selectors.count_answers(llm_judge)
    assert (counts.pairs, counts.labelled, counts.answers, counts.calls) == (10, 10, 30, 30)
    assert counts.cost == pytest.approx((3000 * 10 + 120 * 50) / 1e6)
    assert selectors.get_labels(llm_judge) == {
        (f"t{t}", f"d{d}"): grade for (t, d), grade in LABELS.items()
    }
    assert replay.headers[0]["Authorization"] == "Bearer a-secret-key"
    stored = json.dumps(
        [list(model.objects.values()) for model in (LlmJudge, LlmLabel, Job)], default=str
    )
    assert "a-secret-key" not in stored
    assert before == (
        list(Pair.objects.order_by("pk").values()),
        [row.grade for row in make_labels(campaign, LabelChoices(min_judgements=1)).rows],
    )
    assert Judgement.objects.count() == 1
    assert campaign.memberships.filter(annotator_type="llm").count() == 0
    prompt = replay.seen[0]["messages"][1]["content"]
    assert "Judge the text." in prompt
    assert all(str(grade["name"]) in prompt for grade in campaign.scale)


def test_two_judges_of_one_model_are_asked_apart(campaign: Campaign, settings: Any) -> None:
    replay = Replay(LABELS)
    with serving(replay) as url:
        for name in ("first", "second"):
            assert asked(made(campaign, settings, url, name=name)).state == "done"
    assert len(replay.executed) == 20


def test_the_counts_of_all_llm_judges_are_two_statements(
    campaign: Campaign, django_assert_num_queries: Any
) -> None:
    """Of 10 pairs 5 are left without the second topic, one of them has no text. A pair with two
    samples is labelled once."""
    first_topic, second_topic = campaign.collection.topics.order_by("topic_id")
    second_topic.removed_reason = "odd"
    second_topic.save()
    campaign.collection.documents.get(docno="d5").delete()
    busy, unsure, silent = (
        LlmJudge.objects.create(
            campaign=campaign,
            name=name,
            model="m",
            samples=2,
            limits={"price_in": 10.0, "price_out": 50.0},
        )
        for name in ("busy", "unsure", "silent")
    )
    graded = {"state": "graded", "grade": 1, "calls": 1, "tokens_in": 100, "tokens_out": 4}
    for llm_judge, topic, docno, sample, fields in (
        (busy, first_topic, "d1", 0, graded),
        (busy, first_topic, "d1", 1, graded),
        (busy, first_topic, "d2", 0, graded),
        (busy, first_topic, "d2", 1, {"state": "refused", "calls": 3, "tokens_in": 50}),
        (busy, first_topic, "d3", 0, {"state": "asked", "calls": 2}),
        (busy, first_topic, "gone", 0, graded),
        (busy, second_topic, "d1", 0, graded),
        (unsure, first_topic, "d1", 0, {"state": "malformed", "calls": 1}),
    ):
        LlmLabel.objects.create(judge=llm_judge, topic=topic, docno=docno, sample=sample, **fields)
    with django_assert_num_queries(2):
        counts = selectors.count_answers_by_judge(campaign, [busy, unsure, silent])
    assert [
        (one.pairs, one.without_text, one.labelled, one.missing) for one in counts.values()
    ] == [(5, 1, 2, 3), (5, 1, 0, 5), (5, 1, 0, 5)]
    assert [dict(one.outcomes) for one in counts.values()] == [
        {"graded": 5, "refused": 1, "malformed": 0},
        {"graded": 0, "refused": 0, "malformed": 1},
        {"graded": 0, "refused": 0, "malformed": 0},
    ]
    assert [
        (one.answers, one.waiting, one.calls, one.tokens_in, one.tokens_out)
        for one in counts.values()
    ] == [
        (6, 1, 10, 550, 20),
        (1, 0, 1, 0, 0),
        (0, 0, 0, 0, 0),
    ]
    assert [one.cost for one in counts.values()] == [pytest.approx(0.0065), 0, 0]
    assert selectors.count_answers(busy) == counts[busy.pk]


def test_troubles_refusals_and_nonsense_are_counted(campaign: Campaign, settings: Any) -> None:
    """d1: limited once, then answered; d2: refuses; d3: another number; d4: never answers."""

    def behaves(server: Replay, pair: tuple[str, str], number: int) -> Any:
        if pair[1] == "1" and number == 1:
            return 429, {"Retry-After": "0"}
        if pair[1] == "4":
            return 500, {"Retry-After": "0"}
        return {"2": "I'm sorry, I cannot help with that.", "3": "Grade: 9"}.get(pair[1])

    replay = Replay(LABELS, behaves)
    with serving(replay) as url:
        llm_judge = made(campaign, settings, url)
        job = asked(llm_judge)
        llm_judge.refresh_from_db()
        counts = selectors.count_answers(llm_judge)
        assert counts.outcomes == {"graded": 4, "refused": 2, "malformed": 2}
        assert (counts.waiting, counts.labelled, counts.calls) == (2, 4, 14)
        assert counts.troubles == {"rate limited": 2, "server error": 4}
        assert job.report["warnings"] == ["2 answers are missing; resume to request them again"]
        replay.behaviour = None
        assert asked(llm_judge).report["facts"]["calls now"] == 2
    assert selectors.count_answers(llm_judge).labelled == 6


def test_a_key_that_the_endpoint_does_not_take_ends_it_with_a_reason(
    campaign: Campaign, settings: Any
) -> None:
    with serving(Replay(LABELS, lambda server, pair, number: 401)) as url:
        job = asked(made(campaign, settings, url, threads=1))
    assert job.state == "failed"
    assert "status 401" in job.message
    assert "received so far are kept" in job.message


def test_the_limit_of_cost_holds(campaign: Campaign, settings: Any) -> None:
    """.104 a call of 100 tokens sent and 4 received, at 1,000 a million."""
    with serving(Replay(LABELS)) as url:
        llm_judge = made(
            campaign, settings, url, threads=1, price_in=1000, price_out=1000, most_cost=0.6
        )
        job = asked(llm_judge)
    assert 0 < selectors.count_answers(llm_judge).cost <= 0.6
    assert any("cost limit" in warning for warning in job.report["warnings"])


def test_cancelling_keeps_what_was_answered(
    campaign: Campaign, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "THROTTLE_SECONDS", 0.0)
    replay = Replay(LABELS)
    with serving(replay) as url:
        llm_judge = made(campaign, settings, url, threads=1)
        job = judges.request_run(llm_judge, user=None)

        def cancels(server: Replay, pair: tuple[str, str], number: int) -> None:
            if len(server.answers) == 3:
                cancel.append(True)

        cancel: list[bool] = []
        replay.behaviour = cancels
        progress = jobs.ClaimedJob.progress

        def told(work: jobs.ClaimedJob, *arguments: Any, **named: Any) -> None:
            if cancel:
                jobs.request_cancel(work.job)
            progress(work, *arguments, **named)

        monkeypatch.setattr(jobs.ClaimedJob, "progress", told)
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.message) == ("cancelled", "Cancelled. The work done so far is kept.")
        kept = selectors.count_answers(llm_judge).answers
        assert 3 <= kept < 10
        monkeypatch.setattr(jobs.ClaimedJob, "progress", progress)
        replay.behaviour = None
        assert asked(llm_judge).state == "done"
    assert selectors.count_answers(llm_judge).answers == 10
    assert set(replay.executed.values()) == {1}


def test_cancelling_ends_a_call_whose_answer_trickles_in_and_never_comes(
    campaign: Campaign, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run makes the call again under the same idempotency key."""
    monkeypatch.setattr(jobs, "THROTTLE_SECONDS", 0.0)
    monkeypatch.setattr(database_store, "GRACE_SECONDS", 0.1)
    with Trickle() as trickle:
        llm_judge = made(campaign, settings, trickle.url, threads=2)
        job = judges.request_run(llm_judge, user=None)
        progress = jobs.ClaimedJob.progress

        def told(work: jobs.ClaimedJob, *arguments: Any, **named: Any) -> None:
            if trickle.n_calls == 2:
                jobs.request_cancel(work.job)
            progress(work, *arguments, **named)

        monkeypatch.setattr(jobs.ClaimedJob, "progress", told)
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.message) == ("cancelled", "Cancelled. The work done so far is kept.")
        assert trickle.n_calls == 2
    assert selectors.count_answers(llm_judge).answers == 0
    assert llm_judge.labels.filter(state=LlmLabel.State.ASKED).count() == 2


def test_frozen_nothing_can_be_added(campaign: Campaign, settings: Any) -> None:
    replay = Replay(
        LABELS,
        lambda server, pair, number: (500, {"Retry-After": "0"}) if pair == ("1", "1") else None,
    )
    with serving(replay) as url:
        llm_judge = made(campaign, settings, url)
        with pytest.raises(CampaignError, match="no labels yet"):
            judges.freeze_judge(llm_judge, actor=None)
        asked(llm_judge)
        waiting = judges.request_run(llm_judge, user=None)
        with pytest.raises(CampaignError, match="is running"):
            judges.freeze_judge(llm_judge, actor=None)
        jobs.request_cancel(waiting)
        judges.freeze_judge(llm_judge, actor=None)
        for act, who in (
            (judges.request_run, "user"),
            (judges.freeze_judge, "actor"),
            (judges.delete_judge, "actor"),
        ):
            with pytest.raises(CampaignError, match="frozen"):
                act(llm_judge, **{who: None})  # type: ignore[operator]
        stale = jobs.enqueue(
            selectors.LLM_JUDGE_JOB,
            {"llm_judge": llm_judge.pk},
            label="from before",
            user=None,
            campaign_id=campaign.pk,
        )
        replay.behaviour = None
        jobs.run_job(stale.pk)
        stale.refresh_from_db()
    assert stale.state == "failed"
    assert "frozen" in stale.message
    assert LlmLabel.objects.filter(judge=llm_judge).count() == 9
    lines = sorted(
        f"t{t} 0 d{d} {grade}\n" for (t, d), grade in LABELS.items() if (t, d) != ("1", "1")
    )
    llm_judge.refresh_from_db()
    assert llm_judge.digest == hashlib.sha256("".join(lines).encode()).hexdigest()
    with pytest.raises(IntegrityError), transaction.atomic():
        LlmJudge.objects.filter(pk=llm_judge.pk).update(digest="")


def test_the_confidence_of_trecs_six_columns_is_kept_with_the_answer(campaign: Campaign) -> None:
    source = io.BytesIO(b"# made elsewhere\nt1 Q0 d1 2 0.75 judge\nt1 Q0 d2 0 1 judge\n")
    llm_judge = judges.create_judge_from_file(
        campaign,
        name="m",
        model="some",
        labels=read_label_file(source, name="labels.txt"),
        file_name="labels.txt",
        actor=None,
    )
    kept = (
        LlmLabel.objects.filter(judge=llm_judge)
        .order_by("docno")
        .values_list("docno", "grade", "answer")
    )
    assert list(kept) == [("d1", 2, "confidence 0.75"), ("d2", 0, "confidence 1")]


@pytest.mark.parametrize("form", ["qrels", "six columns", "umbrela", "umbrela with ids"])
def test_labels_from_a_file(campaign: Campaign, form: str) -> None:
    if form == "qrels":
        lines = [f"t{t} 0 d{d} {grade}" for (t, d), grade in LABELS.items()] + ["t9 0 d1 1"]
    elif form == "six columns":
        lines = [f"t{t} Q0 d{d} {grade} 0.5 umbrela" for (t, d), grade in LABELS.items()] + [
            "t9 Q0 d1 1 0.5 umbrela"
        ]
    elif form == "umbrela":
        lines = [
            json.dumps(
                {
                    "query": f"topic {t}",
                    "passage": f"document  {d}\n",
                    "judgment": g,
                    "reasoning": "why",
                }
            )
            for (t, d), g in LABELS.items()
        ]
    else:
        lines = [
            json.dumps(
                {"qid": f"t{t}", "docid": f"d{d}", "query": "", "passage": "", "judgment": g}
            )
            for (t, d), g in LABELS.items()
        ]
    source = io.BytesIO("\n".join(lines).encode())
    source.name = "labels.txt"
    llm_judge = judges.create_judge_from_file(
        campaign,
        name="umbrela",
        model="some",
        labels=read_label_file(source),
        file_name="labels.txt",
        actor=None,
    )
    assert selectors.get_labels(llm_judge) == {
        (f"t{t}", f"d{d}"): grade for (t, d), grade in LABELS.items()
    }
    judges.freeze_judge(llm_judge, actor=None)
    assert "LLM labels, not human labels: umbrela" in selectors.label_file_header(llm_judge)
    assert "sha256 " + selectors.compute_labels_digest(
        selectors.get_labels(llm_judge)
    ) in selectors.label_file_header(llm_judge)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t1 0 d1 7\n", "grade 7 is not on the campaign's scale"),
        ("t1 Q0 d1 7 1 m\n", ":1: grade 7 is not on the campaign's scale"),
        ("t1 Q0 d1 1 1 m\nt1 Q0 d2 1 high m\n", "not a confidence"),
        ("x 0 d1 1\n", "no row matches a pair of the campaign's pool"),
        (
            '{"query": "topic 1", "passage": "document 1", "judgment": "two"}\n',
            "no labelled passage",
        ),
        (
            (
                '{"query": "topic 1", "passage": "document 1", "judgment": 1}\n{"query": "topic 1", '
                '"passage": "document 1", "judgment": 2}\n'
            ),
            ":2: the pair appears twice",
        ),
    ],
)
def test_a_file_that_cannot_be_taken_leaves_nothing(
    campaign: Campaign, text: str, said: str
) -> None:
    source = io.BytesIO(text.encode())
    source.name = "labels.txt"
    with pytest.raises((CampaignError, FormatError), match=said):
        judges.create_judge_from_file(
            campaign,
            name="m",
            model="some",
            labels=read_label_file(source),
            file_name="labels.txt",
            actor=None,
        )
    assert not LlmJudge.objects.exists()


def test_no_endpoint_but_those_of_the_operator(campaign: Campaign, settings: Any) -> None:
    settings.LLM_ENDPOINTS = {"http://127.0.0.1:1/v1": ""}
    with pytest.raises(CampaignError, match="Endpoint not configured"):
        judges.create_judge(
            campaign, JudgeOptions("m", "some", "http://169.254.1.1/v1"), actor=None
        )
    judges.create_judge(campaign, JudgeOptions("m", "some", "http://127.0.0.1:1/v1"), actor=None)
    with pytest.raises(CampaignError, match="has an LLM judge named m"):
        judges.create_judge(
            campaign, JudgeOptions("m", "some", "http://127.0.0.1:1/v1"), actor=None
        )


def test_a_member_that_is_an_llm_judge_claims_nothing(campaign: Campaign) -> None:
    llm_judge = make_annotator(campaign, annotator_type="llm")
    with pytest.raises(AnswerRefused, match="can't be assigned pairs"):
        scheduling.claim_pair(llm_judge)
    assert not Pair.objects.exclude(held=0).exists()
