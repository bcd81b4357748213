"""A campaign on an ordered pool: batches are planned by themselves from the labels so far, and
annotators see nothing of them."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle, planned_batches
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling
from pooling import hooks
from pooling.models import Collection, Document, Job, Pool
from pooling.services import ordering, pools
from pooling.upkeep import Upkeep
from tests.builders import judge, lease_of, make_annotator, make_campaign, make_user, submit
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db

SIZE = 10


@pytest.fixture
def pool(settings, tmp_path) -> Pool:
    """Two topics of 30 documents each, in batches of ten with two audit pairs."""
    settings.MEDIA_ROOT = tmp_path / "files"
    collection = Collection.objects.create(slug="ordered", name="Ordered")
    bring_in(collection, "topics", "1\tone\n2\ttwo\n", name="topics.tsv")
    Document.objects.bulk_create(
        Document(collection=collection, docno=f"d{number:02d}", text=f"text {number}", n_words=2)
        for number in range(30)
    )
    for tag, step in (("A", 1), ("B", 7)):
        lines = [
            f"{topic} Q0 d{step * rank % 30:02d} {rank + 1} {100 - rank} {tag}\n"
            for topic in (1, 2)
            for rank in range(30)
        ]
        bring_in(collection, "run", "".join(lines), name=f"{tag}.run")
    job = do(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=30,
            seed=1,
            name="pool",
            making=ordering.make_ordered_parameters(batch=SIZE, audit=0.2),
            user=None,
        )
    )
    assert job.state == "done", job.message
    return Pool.objects.get()


@pytest.fixture
def campaign(pool) -> Campaign:
    return make_campaign(
        collection=pool.collection,
        pool=pool,
        judgements_per_pair=2,
        min_active_seconds=0,
        target_per_annotator=0,
    )


def worker() -> list[Job]:
    """What the worker does by itself when it looks."""
    asked = planned_batches.plan_low_batches()
    for job in asked:
        assert do(job).state == "done", job.message
    return asked


def test_the_next_batch_comes_when_few_pairs_wait_though_others_still_owe_their_second_judgement(
    campaign, pool
):
    assert campaign.n_pairs == SIZE
    ada = make_annotator(campaign)
    for _ in range(SIZE - 2):
        judge(ada, 0)
    assert worker() == [], "two of ten wait"
    judge(ada, 3)
    (job,) = worker()
    assert job.report["facts"]["batch"] == 2
    assert Campaign.objects.get().n_pairs == 2 * SIZE
    assert worker() == []
    bob = make_annotator(campaign)
    served = [scheduling.claim_pair(bob).pair.entry.stage for _ in range(SIZE)]
    assert set(served) == {1}, "pairs that are begun come first"
    assert check_invariants(campaign) == []


@pytest.mark.long
def test_one_annotator_alone_gets_to_the_end_of_the_pool_with_exact_overlap(campaign, pool):
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for member in (ada, bob):
        while (lease := scheduling.claim_pair(member)) is not None:
            submit(member, lease, 3 if int(lease.pair.entry.docno[1:]) % 5 == 0 else 0)
            worker()
    assert pool.entries.filter(stage=None).count() == 0
    assert Counter(campaign.pairs.values_list("counted", flat=True)) == {2: 60}
    assert (
        pool.entries.filter(entered="chance").count()
        == sum(one.drawn[-1] for one in pool.strata.all())
        == 12
    )
    assert check_invariants(campaign) == []


def test_labels_so_far_are_the_majority_the_lowest_grade_of_a_tie_and_what_a_manager_decides(
    campaign, pool
):
    pairs = list(campaign.pairs.select_related("entry").order_by("position"))
    members = [make_annotator(campaign) for _ in range(3)]
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=3)
    for pair, grades in zip(
        pairs, ([3], [3, 0], [0, 2, 3], [2, 2, 0], [None, None, None], [3, 3, 3]), strict=False
    ):
        for member, grade in zip(members, grades, strict=False):
            submit(member, lease_of(member, pair, now=timezone.now() - timedelta(minutes=1)), grade)
    Pair.objects.filter(pk=pairs[5].pk).update(adjudicated_grade=0)
    found = planned_batches.get_current_labels(pool)
    expected = [True, False, False, True, None, False]
    assert [found.get(pair.entry_id) for pair in pairs[:6]] == expected
    assert len(found) == 5
    Membership.objects.filter(pk=members[0].pk).update(annotator_type="llm")
    assert pairs[0].entry_id not in planned_batches.get_current_labels(pool), (
        "an LLM judge's labels are a layer of their own"
    )
    Judgement.objects.filter(pair=pairs[3]).update(status=Judgement.Status.EXCLUDED)
    assert pairs[3].entry_id not in planned_batches.get_current_labels(pool)


def test_nothing_is_planned_for_who_does_not_judge_or_after_a_job_that_failed(campaign, pool):
    ada = make_annotator(campaign)
    for _ in range(SIZE):
        judge(ada, 1)
    lifecycle.pause_campaign(campaign)
    assert worker() == []
    lifecycle.resume_campaign(campaign)
    Campaign.objects.update(deadline=timezone.now() - timedelta(minutes=1))
    assert worker() == []
    Campaign.objects.update(deadline=None)
    failed = ordering.request_batch(pool, user=None)
    assert worker() == [], "one is on its way"
    Job.objects.filter(pk=failed.pk).update(state="failed")
    assert worker() == [], "a manager looks first"
    assert do(ordering.request_batch(pool, user=None)).state == "done"
    for _ in range(SIZE):
        judge(ada, 1)
    assert len(worker()) == 1


def test_a_worker_asks_for_what_is_due_and_survives_what_goes_wrong_with_it(campaign, monkeypatch):
    seen = []

    def due() -> list[Job]:
        seen.append(1)
        return []

    monkeypatch.setattr(hooks, "upkeep", [lambda: 1 / 0, due])
    care = Upkeep()
    care.step()
    care.step()
    assert seen == [1], "every few seconds, not at each step"


def test_the_worker_looks_after_ordered_pools():
    assert planned_batches.plan_low_batches in hooks.upkeep
    assert planned_batches.get_current_labels in hooks.labels_so_far


def test_another_campaign_takes_another_pool(campaign, pool):
    other = lifecycle.create_campaign(
        name="Other", collection=pool.collection, actor=make_user(may_create=True)
    )
    with pytest.raises(CampaignError, match="determine the order of this pool"):
        lifecycle.set_pool(other, pool)
    lifecycle.set_pool(campaign, pool)


def words_of(value: Any) -> set[str]:
    """Every name and every text of an answer."""
    if isinstance(value, dict):
        return set(value).union(*(words_of(one) for one in value.values()))
    if isinstance(value, list):
        return set().union(*(words_of(one) for one in value))
    return {value} if isinstance(value, str) else set()


def test_no_answer_to_an_annotator_tells_batches_or_audit_pairs(campaign, pool):
    """The same answers, but for tokens, whichever pairs were drawn at random; and no name or word
    that speaks of it."""
    ada = make_annotator(campaign)
    client = APIClient()
    client.force_authenticate(ada.user)
    address = f"/api/v1/judging/{campaign.slug}/"
    answers = []

    def told(answer: Any) -> Any:
        answers.append(answer.json())
        return answers[-1]

    leases = told(client.post(address + "leases", {"want": 3, "held": []}, format="json"))["pairs"]
    by_chance = [Lease.objects.get(token=one["lease"]).pair.entry.entered for one in leases]
    pool.entries.filter(stage=1).update(entered="chance" if by_chance[0] == "choice" else "choice")
    again = told(client.post(address + "leases", {"want": 3, "held": []}, format="json"))["pairs"]
    assert [{k: v for k, v in one.items() if k != "expires_at"} for one in leases] == [
        {k: v for k, v in one.items() if k != "expires_at"} for one in again
    ]
    told(
        client.post(
            address + "judgements",
            {"lease": leases[0]["lease"], "grade": 1, "key": str(uuid.uuid4()), "held": []},
            format="json",
        )
    )
    told(client.post(address + "skip", {"lease": leases[1]["lease"], "held": []}, format="json"))
    for path in ("setup", "skipped", "history", f"history/{Judgement.objects.get().pk}"):
        told(client.get(address + path))
    said = set().union(*(words_of(one) for one in answers))
    hidden = {
        "priority",
        "position",
        "stage",
        "stratum",
        "place",
        "entered",
        "best_rank",
        "contributions",
        "batch",
        "audit",
        "chance",
        "choice",
        "ordered",
    }
    assert "grade" in said
    assert said & hidden == set()
