"""Tests of claims on PostgreSQL only: a claim first reads with one prepared statement, which locks
the annotator first.

Run by tests/annotation/test_on_postgresql.py.
"""

from __future__ import annotations

import threading
import time
import uuid

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from annotation.models import Lease, Membership, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import scheduling, slots
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def stale_copy(member):
    return Membership.objects.select_related("campaign").get(pk=member.pk)


def test_behind_a_pooler_it_is_the_same_claim_unprepared(monkeypatch):
    campaign = make_campaign(n_topics=2, n_documents=5, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    prepared = [scheduling.claim_pair(ada).pair_id for _ in range(4)]
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    assert [scheduling.claim_pair(bob).pair_id for _ in range(4)] == prepared


def test_a_membership_that_was_loaded_before_another_claim_takes_the_next_pair():
    campaign = make_campaign(n_topics=2, n_documents=5, judgements_per_pair=1)
    ada = make_annotator(campaign)
    stale = stale_copy(ada)
    taken = [
        scheduling.claim_pair(member).pair_id for member in (ada, stale, stale_copy(ada), stale)
    ]
    assert len(set(taken)) == 4
    assert stale.n_served == Membership.objects.get(pk=ada.pk).n_served == 4
    assert check_invariants(campaign) == []


def test_whoever_was_restricted_or_paused_meanwhile_gets_what_holds_now():
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=1)
    ada = make_annotator(campaign)
    stale = stale_copy(ada)
    second = campaign.collection.topics.get(topic_id="t2").pk
    Membership.objects.filter(pk=ada.pk).update(topic_rows=[second])
    assert Pair.objects.get(pk=scheduling.claim_pair(stale).pair_id).topic_row == second
    Membership.objects.filter(pk=ada.pk).update(status="paused")
    assert scheduling.claim_pair(stale) is None
    assert Lease.objects.count() == 1


def test_nothing_is_taken_in_a_transaction_that_is_broken():
    ada = make_annotator(make_campaign())
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            scheduling.claim_pair(ada, now=timezone.now())
        transaction.set_rollback(False)
    assert not Lease.objects.exists()


@pytest.mark.parametrize("want", [0, 2])
def test_an_answer_waits_for_the_disk_once_at_its_end(monkeypatch, want):
    """By the claim's transaction where there is one, else by one of its own; also where the
    judgement was stored before, perhaps a moment ago."""
    ada, client = make_annotator(make_campaign(min_active_seconds=0)), Client()
    client.force_login(ada.user)
    address = f"/api/v1/judging/{ada.campaign.slug}/"
    [pair] = client.post(address + "leases", {"want": 1}, content_type="application/json").json()[
        "pairs"
    ]
    statements, plain = [], psycopg.Cursor.execute
    monkeypatch.setattr(
        psycopg.Cursor,
        "execute",
        lambda cursor, sql, *more, **how: (
            statements.append(str(sql)),
            plain(cursor, sql, *more, **how),
        )[1],
    )

    def steps() -> list[str]:
        """What bears on the disk, in its order."""
        signs = {
            "synchronous_commit": "store",
            "INSERT INTO annotation_lease": "take",
            "pg_logical_emit_message": "message",
        }
        told = [name for sql in statements for sign, name in signs.items() if sign in sql]
        statements.clear()
        return told

    body = {"lease": pair["lease"], "key": str(uuid.uuid4()), "grade": 1, "want": want, "held": []}
    for attempt in range(2):
        assert (
            client.post(address + "judgements", body, content_type="application/json").status_code
            == 200
        )
        if attempt:
            assert steps() == ["message"]  # all leases exist, and the judgement too
        else:
            assert steps() == ["store", *(["take"] * want or ["message"])]
    client.post(address + "leases", {"want": 3, "held": []}, content_type="application/json")
    assert set(steps()) == {"take"}
    bob = make_annotator(make_campaign(n_topics=1, n_documents=2))
    client.force_login(bob.user)
    client.post(
        f"/api/v1/judging/{bob.campaign.slug}/leases",
        {"want": 3, "held": []},
        content_type="application/json",
    )
    assert steps() == ["take", "take"]  # also if fewer pairs are left than were requested


@pytest.mark.django_db(transaction=True)
def test_claims_at_once_that_meet_a_change_of_all_pairs_crosswise_end_as_if_one_came_after_the_other():
    """A manager's change locks pairs by their ids, the gold pair before the one that the
    annotator's transaction has taken already, which then waits for the gold pair: PostgreSQL ends
    one of the two, and whichever it is tries again."""
    campaign = make_campaign(
        n_topics=1, n_documents=6, judgements_per_pair=1, gold_every=2, target_per_annotator=4
    )
    gold = campaign.pairs.order_by("pk").first()
    set_pair_kind(gold, Pair.Kind.GOLD, gold_grade=1, explanation="known")
    ada, has_gold = make_annotator(campaign), threading.Event()

    def change() -> int:
        list(Pair.objects.select_for_update().filter(pk=gold.pk))
        has_gold.set()
        time.sleep(0.3)  # ada takes the first pair and waits for the gold one
        return len(Pair.objects.select_for_update().filter(campaign=campaign).order_by("-pk"))

    def manager() -> None:
        try:
            found.append(slots.run_with_retries(change))
        finally:
            connection.close()

    found: list[int] = []
    other = threading.Thread(target=manager)
    other.start()
    has_gold.wait()
    scheduling.claim_pairs(ada, 4, now=timezone.now())
    other.join()
    assert found == [6]
    assert (ada.leases.filter(state="live").count(), ada.leases.filter(pair=gold).count()) == (4, 1)
    assert check_invariants(campaign) == []
