"""Everything that a row keeps of other rows or of a file: spoiled, it is told and nothing is
changed; with --fix it is as counted by hand again."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import override_settings
from django.utils import timezone

from analysis.models import Report
from annotation.models import (
    AuditEvent,
    Campaign,
    Invitation,
    LlmJudge,
    LlmLabel,
    Membership,
    Pair,
)
from annotation.selectors.judging import count_judged_today
from annotation.services.campaigns import lifecycle
from annotation.services.judging import questions
from annotation.services.llm_judges import judges
from annotation.services.llm_judges.judges import JudgeOptions
from annotation.services.people import accounts
from config import verification
from pooling.models import Document, DocumentFile, Job, Pool, Qrels, Run, Stratum, Topic, Upload
from pooling.platform import jobs
from pooling.services import pools, sampling
from pooling.services.collections import create_collection
from tests.builders import judge, judge_pair, make_annotator, make_campaign, make_user
from tests.pooling.conftest import DOCUMENTS, RUN_A, bring_in, fill
from tests.pooling.test_verify import only, verify

pytestmark = pytest.mark.django_db
AGREES = (0, ["no problems"])
ENDPOINTS = {"http://127.0.0.1:1/v1": ""}


@pytest.fixture(autouse=True)
def at_once(monkeypatch) -> None:
    monkeypatch.setattr(verification, "RECHECK_SECONDS", 0.0)


@override_settings(LLM_ENDPOINTS=ENDPOINTS)
def make_world() -> Campaign:
    """Of the four pairs (051 with a, b and d, 7 with x; texts of a and b) one is gold, one
    everyone's, and two are judged; one question has an answer that nobody has opened."""
    manager = make_user("collector")
    full = fill(create_collection(name="Small", user=manager), manager)
    boss = make_user("m", may_create=True)
    campaign = make_campaign(
        collection=full, pool=full.pools.get(), manager=boss, guideline="Read."
    )
    ada = make_annotator(campaign, "ada")
    for grade in (2, 1):
        judge(ada, grade)
    pair = Pair.objects.get(entry__docno="a")
    question = questions.ask_question(ada, pair_id=pair.pk, key=uuid.uuid4(), text="Why?")
    questions.answer_question(question, "Because.", actor=boss)
    lifecycle.set_pair_kind(Pair.objects.get(entry__docno="d"), "everyone", actor=boss)
    lifecycle.set_pair_kind(Pair.objects.get(entry__docno="x"), "gold", gold_grade=3, actor=boss)
    llm_judge = judges.create_judge(
        campaign, JudgeOptions("llm_judge", "model", "http://127.0.0.1:1/v1"), actor=boss
    )
    LlmLabel.objects.create(
        judge=llm_judge, topic=full.topics.get(topic_id="051"), docno="a", state="graded", grade=1
    )
    judges.freeze_judge(llm_judge, actor=boss)
    return campaign


@pytest.fixture
def installation(world, settings, tmp_path) -> Campaign:
    settings.DATA_DIR = tmp_path
    settings.LLM_ENDPOINTS = ENDPOINTS
    assert verify() == AGREES
    return world


FIGURES: list[tuple[Any, dict[str, Any], str, Any, Any]] = [
    # Of which row, which field, another value, and the true one, counted by hand.
    (Campaign, {}, "n_pairs", 5, 4),
    (Campaign, {}, "n_topics", 1, 2),
    (Campaign, {}, "n_gold", 0, 1),
    (Campaign, {}, "n_everyone", 0, 1),
    (Campaign, {}, "top_priority", 7, 1),  # of depth 2, at rank 1
    (Campaign, {}, "newest_guideline", 0, 1),
    (Membership, {"role": "annotator"}, "n_judged", 3, 2),
    (Membership, {"role": "annotator"}, "unread_answers", 0, 1),
    (Pair, {"entry__docno": "a"}, "topic_row", 0, "051"),
    (Pair, {"entry__docno": "a"}, "priority", 9, 1),
    (Pair, {"entry__docno": "d"}, "priority", 1, 0),
    (Pair, {"entry__docno": "a"}, "without_text", True, False),
    (Pair, {"entry__docno": "x"}, "without_text", False, True),
    (Pair, {"entry__docno": "b"}, "removed", True, False),
    (Pair, {"entry__docno": "b"}, "unjudgeable", True, False),
    (Pair, {"entry__docno": "x"}, "started", True, False),
    (Pool, {}, "n_pairs", 5, 4),
    (Pool, {}, "missing_documents", 0, 2),
    (Pool, {}, "by_depth", {"1": 4, "2": 4}, {"1": 3, "2": 4}),
    (Run, {"tag": "A"}, "n_rows", 2, 3),
    (Run, {"tag": "A"}, "n_topics", 1, 2),
    (Run, {"tag": "A"}, "max_depth", 1, 2),
    (Qrels, {}, "n_rows", 1, 2),
    (Qrels, {}, "n_topics", 2, 1),
    (Qrels, {}, "grades", {"0": 2}, {"0": 1, "1": 1}),
    (DocumentFile, {}, "n_bytes", 1, len(DOCUMENTS)),
    (Document, {"docno": "b"}, "n_words", 4, 3),  # text of b
]


WORDS = {
    "n_judged": "judged by the counter",
    "unread_answers": "0 unread answers by the counter, 1 by the rows",
    "unjudgeable": "is marked as one that cannot be judged, and 0 of 3 said so",
}


@pytest.mark.long
def test_each_figure_that_is_kept_is_told_when_it_is_wrong_and_mended_only_when_told_to(
    installation,
):
    for model, which, field, spoiled, so in FIGURES:
        rows, case = model.objects.filter(**which), f"{model.__name__}.{field} {spoiled}"
        true = Topic.objects.get(topic_id=so).pk if field == "topic_row" else so
        assert rows.values_list(field, flat=True).get() == true, case
        rows.update(**{field: spoiled})
        status, lines = verify()
        assert (status, {line[:5] for line in lines[:-1]}) == (1, {"WRONG"}), case
        assert any(WORDS.get(field, field) in line for line in lines), (case, lines)
        assert rows.values_list(field, flat=True).get() == spoiled, (
            f"{case}: looking changes nothing"
        )
        status, lines = verify("--fix")
        assert (status, {line[:5] for line in lines[:-1]}) == (0, {"fixed"}), case
        assert rows.values_list(field, flat=True).get() == true, case
    assert verify() == AGREES


def test_the_slots_of_a_pair_for_everyone_are_what_the_campaign_says(installation):
    pair = Pair.objects.filter(entry__docno="d")
    pair.update(needed=9, open_slots=9)
    assert "needs 9" in only(verify())
    assert verify("--fix")[0] == 0
    assert pair.values_list("needed", "open_slots").get() == (3, 3)  # judgements per pair
    assert verify() == AGREES


def test_what_was_judged_today_is_counted_when_it_is_asked_for_next(installation):
    ada = Membership.objects.filter(role="annotator")
    assert ada.values_list("n_today", flat=True).get() == 2
    ada.update(n_today=5)
    assert "5 judged today by the counter, 2 by the rows" in only(verify())
    assert ada.values_list("n_today", flat=True).get() == 5
    assert verify("--fix")[0] == 0
    member = ada.select_related("user__profile").get()
    assert count_judged_today(member, timezone.now())[1] == 2
    assert verify() == AGREES


@pytest.mark.long
def test_what_only_a_person_can_decide_is_told_and_never_mended(installation):
    """Digests: which of the two is right is nothing that can be counted. A file without a digest
    may have been cut off."""
    llm_judge, upload = (
        LlmJudge.objects.filter(frozen_at__isnull=False),
        Upload.objects.filter(name="waits.run"),
    )
    pool, label = Pool.objects.all(), LlmLabel.objects.all()
    assert upload.values_list("n_bytes", flat=True).get() == len(RUN_A)
    for rows, change, back, words in (
        (pool, {"digest": "0" * 64}, {"digest": pool.get().digest}, "digest is 000"),
        (
            upload,
            {"n_bytes": 9},
            {"n_bytes": len(RUN_A)},
            f"n_bytes is 9, but a recount gives {len(RUN_A)}",
        ),
        (
            llm_judge,
            {"digest": "0" * 64},
            {"digest": llm_judge.get().digest},
            "its labels do not match its digest",
        ),
        (label, {"grade": 2}, {"grade": 1}, "its labels do not match its digest"),
    ):
        rows.update(**change)
        assert words in only(verify())
        assert words in only(verify("--fix"))
        for name, value in change.items():
            assert rows.values_list(name, flat=True).get() == value
        rows.update(**back)
    assert verify() == AGREES


def test_pairs_that_are_others_than_those_of_the_pools_digest_are_found(installation):
    Pool.objects.get().entries.filter(docno="b").update(best_rank=2)
    status, lines = verify("--fix")
    assert status == 1
    assert any("digest is" in line and line.startswith("WRONG") for line in lines)


def test_the_ids_of_a_document_file_are_as_many_as_its_documents_and_in_order(installation):
    file = DocumentFile.objects.get()
    DocumentFile.objects.update(n_documents=3)
    assert "n_documents is 3, but a recount gives 2" in only(verify("--fix"))
    DocumentFile.objects.update(n_documents=2)
    path = Path(file.ids.path)
    digests = np.load(path)
    np.save(path.open("wb"), digests[::-1])
    assert f"{file.ids.name} cannot be read" in only(verify("--fix"))
    path.write_bytes(b"")
    assert f"{file.ids.name} cannot be read" in only(verify("--fix"))


@pytest.mark.long
def test_documents_of_a_file_that_are_empty_or_long_are_counted_anew(installation):
    """One has neither title nor text, one 513 words, one a title and no text, one two words: more
    than 512 are long."""
    texts = [("", ""), ("", "w " * 513), ("Title", ""), ("", "two words")]
    lines = [
        json.dumps({"_id": f"e{number}", "title": title, "text": text})
        for number, (title, text) in enumerate(texts)
    ]
    bring_in(
        installation.collection,
        "documents",
        "\n".join(lines) + "\n",
        name="lengths.jsonl",
        accept_warnings=True,
    )
    assert verify() == AGREES
    rows = DocumentFile.objects.filter(name="lengths.jsonl")
    for field, so in (("n_empty", 1), ("n_long", 1), ("n_words", 515)):
        assert rows.values_list(field, flat=True).get() == so
        rows.update(**{field: 7})
        assert f"(lengths.jsonl): {field} is 7, but a recount gives {so}" in only(verify())
        assert rows.values_list(field, flat=True).get() == 7
        assert verify("--fix")[0] == 0
        assert rows.values_list(field, flat=True).get() == so
    assert verify() == AGREES


@pytest.mark.long
def test_how_often_an_invitation_was_used_is_what_the_audit_trail_says(installation):
    boss = installation.created_by
    link, personal = (
        accounts.create_invitation(campaign=installation, actor=boss),
        accounts.create_invitation(campaign=installation, actor=boss, name="Bob", max_uses=1),
    )
    for invitation, name in ((link, "eve"), (link, "fay"), (personal, "bob")):
        accounts.join_campaign(invitation=invitation, user=make_user(name))
    accounts.remove_member(
        installation.memberships.get(user__username="fay"), actor=boss
    )  # the link was used all the same
    assert verify() == AGREES
    for invitation, spoiled, so in ((link, 5, 2), (link, 0, 2), (personal, 0, 1)):
        rows = Invitation.objects.filter(pk=invitation.pk)
        rows.update(n_uses=spoiled)
        assert f"{spoiled} uses by the counter, {so} by the audit log" in only(verify())
        assert rows.get().n_uses == spoiled
        assert verify("--fix")[0] == 0
        assert rows.get().n_uses == so
    assert verify() == AGREES


def test_an_invitation_that_the_trail_does_not_name_may_have_been_used_more_often(installation):
    """As earlier versions left it: one use untold, then one that is told."""
    link = accounts.create_invitation(campaign=installation, actor=installation.created_by)
    accounts.join_campaign(invitation=link, user=make_user("eve"))
    AuditEvent.objects.filter(action__in=("invited", "joined")).update(
        details={"role": "annotator"}
    )
    accounts.join_campaign(invitation=link, user=make_user("fay"))
    assert Invitation.objects.get().n_uses == 2
    assert verify() == AGREES
    Invitation.objects.update(n_uses=0)
    assert "0 uses by the counter, 1 by the audit log" in only(verify())


def test_a_use_by_a_process_of_the_version_before_in_the_middle_of_an_upgrade_is_not_one_too_many(
    installation,
):
    link = accounts.create_invitation(campaign=installation, actor=installation.created_by)
    accounts.join_campaign(invitation=link, user=make_user("eve"))
    accounts.join_campaign(invitation=link, user=make_user("fay"))
    AuditEvent.objects.filter(action="joined", actor__username="eve").update(
        details={"role": "annotator"}
    )
    assert verify() == AGREES
    Invitation.objects.update(n_uses=3)
    assert "3 uses by the counter, 1 by the audit log" in only(verify())


@pytest.mark.long
def test_what_was_said_of_a_pair_that_cannot_be_judged_is_counted_anew(installation):
    """Three judgements a pair: two have said so of b, which is not enough."""
    pair = Pair.objects.filter(entry__docno="b")
    for name in ("eve", "fay"):
        judge_pair(
            make_annotator(installation, name),
            pair.get(),
            None,
            now=timezone.now(),
            cannot_reason="document",
        )
    assert verify() == AGREES
    Campaign.objects.update(judgements_per_pair=2)  # past the service, which would follow
    lines = verify()[1]
    assert any(
        "is not marked as one that cannot be judged, and 2 of 2 said so" in line for line in lines
    )
    assert not pair.get().unjudgeable
    assert verify("--fix")[0] == 0
    assert pair.get().unjudgeable
    assert verify() == AGREES


def test_a_file_of_a_report_that_is_missing_is_found(installation):
    name = default_storage.save("reports/1/result.json", ContentFile(b"{}"))
    Report.objects.create(
        collection=installation.collection,
        kind="evaluate",
        title="about runs",
        files={"result.json": name},
    )
    assert verify() == AGREES
    default_storage.delete(name)
    assert f"(about runs): its file {name} is missing" in only(verify("--fix"))


def test_verify_recounts_the_drawn_pairs_of_each_stratum(installation, collection, manager):
    bring_in(collection, "topics", "1\tquery\n", name="topics.tsv", user=manager)
    bring_in(
        collection,
        "run",
        "".join(f"1 Q0 d{rank:02d} {rank + 1} {100 - rank} A\n" for rank in range(40)),
        name="A.run",
        user=manager,
    )
    making = sampling.make_sampled_parameters("rank", (0.1, 0.3))
    job = pools.request_pool(
        collection,
        runs=list(collection.runs.all()),
        depth=40,
        seed=3,
        name="sample",
        making=making,
        user=None,
    )
    jobs.run_job(job.pk)
    assert verify() == AGREES
    first = Stratum.objects.order_by("-size").first()
    drawn = [
        first.pool.entries.filter(stratum=first.number, stage__lte=stage).count()
        for stage in (1, 2)
    ]
    assert first.drawn == drawn
    Stratum.objects.filter(pk=first.pk).update(drawn=[drawn[0], drawn[1] + 1])
    assert f"drawn is {[drawn[0], drawn[1] + 1]}, but a recount gives {drawn}" in only(
        verify("--fix")
    )


def test_figures_that_follow_a_job_are_left_to_it(installation):
    """While it extends the pool, they lag."""
    Campaign.objects.update(n_pairs=3)
    Pool.objects.update(missing_documents=1)
    pool = Pool.objects.get()
    job = Job.objects.create(
        kind="extend pool",
        parameters={"pool": pool.pk},
        label="more",
        collection=pool.collection,
        state=Job.State.RUNNING,
    )
    assert verify("--fix") == AGREES
    job.delete()
    assert verify("--fix")[1][-1] == "2 problems, 2 of them fixed"


def test_what_agrees_a_moment_later_is_not_told(installation, monkeypatch):
    Campaign.objects.update(n_gold=0)

    def follow(seconds: float) -> None:
        Campaign.objects.update(n_gold=1)

    monkeypatch.setattr(verification.time, "sleep", follow)
    assert verify() == AGREES
