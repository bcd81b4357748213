"""Pairs whose document has no stored text: held back from annotators on every way of the scheduler,
counted, served when it comes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Pair
from annotation.selectors.judging import check_invariants
from annotation.selectors.pairs import count_pairs_without_text
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.pairs import release_pairs_with_text
from annotation.services.judging import assignment, claim_sql, qualification, scheduling
from pooling.models import Document, PoolEntry
from tests.builders import (
    judge,
    judge_pair,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    submit,
)

pytestmark = pytest.mark.django_db


def campaign_without(*docnos: str, n_topics: int = 1, n_documents: int = 3, **settings):
    """An open campaign whose pool lacks the texts of `docnos`; without names, of all documents.
    Document di has priority 10 - i."""
    collection = make_collection(n_topics=n_topics, n_documents=n_documents)
    pool = make_pool(collection)
    missing = PoolEntry.objects.filter(pool=pool)
    (missing.filter(docno__in=docnos) if docnos else missing).update(document=None)
    return make_campaign(collection=collection, pool=pool, **{"judgements_per_pair": 1, **settings})


def bring(campaign, *docnos: str) -> None:
    """What the job that fetches texts does to the entries."""
    for document in Document.objects.filter(collection=campaign.collection, docno__in=docnos):
        PoolEntry.objects.filter(pool=campaign.pool, docno=document.docno).update(document=document)


def documents_served(member) -> list[str]:
    """Everything that the annotator gets, judging each."""
    found = []
    while (lease := scheduling.claim_pair(member)) is not None:
        found.append(lease.pair.entry.docno)
        submit(member, lease, 1)
    return found


def test_the_pair_of_highest_priority_is_not_served_without_a_text_and_is_served_with_it():
    campaign = campaign_without("d1")
    ada = make_annotator(campaign)
    assert count_pairs_without_text(campaign) == 1
    assert documents_served(ada) == ["d2", "d3"]
    bring(campaign, "d1")
    assert scheduling.claim_pair(ada) is None  # the campaign has not taken it up yet
    assert release_pairs_with_text(campaign) == 1
    assert count_pairs_without_text(campaign) == 0
    assert documents_served(ada) == ["d1"]
    assert release_pairs_with_text(campaign) == 0
    assert check_invariants(campaign) == []


def test_held_back_for_an_annotator_restricted_to_topics():
    campaign = campaign_without("d1", "d2", n_topics=2)
    topic = campaign.collection.topics.get(topic_id="t2")
    assert documents_served(make_annotator(campaign, topic_rows=[topic.pk])) == ["d3"]
    assert count_pairs_without_text(campaign) == 4
    assert count_pairs_without_text(campaign, [topic.pk]) == 2


def test_held_back_near_the_deadline_in_a_block_and_when_put_aside():
    campaign = campaign_without(
        "d9", n_documents=3, judgements_per_pair=2, deadline=timezone.now() + timedelta(hours=1)
    )
    first = Pair.objects.get(campaign=campaign, entry__docno="d1")
    judge_pair(make_annotator(campaign), first, 1, now=timezone.now())
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    put_aside = Pair.objects.get(campaign=campaign, entry__docno="d2")
    put_aside.skips.create(membership=bob)
    Pair.objects.filter(pk__in=[first.pk, put_aside.pk]).update(without_text=True)
    assert documents_served(ada) == ["d3"]
    assert documents_served(bob) == ["d3"]


@pytest.mark.parametrize("kind", [Pair.Kind.GOLD, Pair.Kind.EVERYONE])
def test_gold_and_everyone_pairs_are_held_back_too(kind):
    campaign = campaign_without("d1", "d3", n_documents=3, gold_every=1)
    for docno in ("d1", "d2"):
        lifecycle.set_pair_kind(
            Pair.objects.get(campaign=campaign, entry__docno=docno), kind, gold_grade=1
        )
    campaign.refresh_from_db()
    assert documents_served(make_annotator(campaign)) == ["d2"]
    bring(campaign, "d1", "d3")
    release_pairs_with_text(campaign)
    assert sorted(documents_served(make_annotator(campaign))) == ["d1", "d2", "d3"]


def test_the_qualification_asks_and_counts_only_pairs_with_a_text():
    campaign = campaign_without("d2", n_documents=3, qualification_pass=1.0)
    for docno in ("d1", "d2"):
        lifecycle.set_pair_kind(
            Pair.objects.get(campaign=campaign, entry__docno=docno),
            Pair.Kind.QUALIFICATION,
            gold_grade=1,
        )
    campaign.refresh_from_db()
    ada = make_annotator(campaign)
    served = assignment.refill_leases(ada, want=3)
    assert [lease.shown.docno for lease in served.leases] == ["d1"]
    assert submit(ada, served.leases[0], 1).feedback["right"]
    ada.refresh_from_db()
    assert qualification.get_score(ada) == (1, 1, 1, 1)
    assert [lease.shown.docno for lease in assignment.refill_leases(ada, want=3).leases] == ["d3"]


def test_who_has_judged_nothing_waits_for_the_documents_and_who_has_is_done():
    campaign = campaign_without("d1", "d2", n_documents=3)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge(ada, 1)
    done = assignment.refill_leases(ada, want=3).situation
    assert done.state == "done"
    assert "2 documents have no text yet" in done.message
    waiting = assignment.refill_leases(bob, want=3).situation
    assert (waiting.state, waiting.details["without_documents"]) == ("nothing_now", 2)
    assert "Its manager has to import them" in waiting.message
    bring(campaign, "d1", "d2")
    release_pairs_with_text(campaign)
    assert len(assignment.refill_leases(bob, want=3).leases) == 2


def test_a_campaign_opens_once_one_of_its_pairs_has_a_text():
    campaign = campaign_without(state="draft")
    with pytest.raises(lifecycle.CampaignError, match="Import the documents first"):
        lifecycle.open_campaign(campaign)
    bring(campaign, "d2")
    lifecycle.set_pool(campaign, campaign.pool)  # saving the step once more takes it up, too
    lifecycle.open_campaign(campaign)
    assert documents_served(make_annotator(campaign)) == ["d2"]
    assert count_pairs_without_text(campaign) == 2


def test_a_pair_that_has_all_its_judgements_is_not_counted_as_held_back():
    campaign = campaign_without("d9")
    judge(make_annotator(campaign), 1)
    Pair.objects.filter(campaign=campaign).update(without_text=True)
    assert count_pairs_without_text(campaign) == 2


def test_a_claim_does_not_walk_through_the_pairs_held_back():
    from django.db import connection

    campaign = campaign_without("d1", n_documents=2)
    query = f"SELECT p.id FROM annotation_pair p WHERE {claim_sql.FREE_SQL} ORDER BY {claim_sql.SERVICE_ORDER_SQL} LIMIT 1"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
        explain = "EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
        cursor.execute(explain + query, {"campaign": campaign.pk, "me": 0})
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert "open_pairs" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan
