"""Keeping a page supplied: what an answer brings when several requests of one page are at work."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Lease, Membership, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from annotation.services.judging import assignment, scheduling
from tests.builders import make_annotator, make_campaign, make_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return make_annotator(
        make_campaign(collection=make_collection(n_topics=1, n_documents=12), lease_window=3)
    )


def test_an_answer_has_every_lease_of_another_request_that_came_between(ada, monkeypatch):
    """The other request, whose answer is late or lost, claims between the look at what is held and
    the first claim of this one."""
    real, first = scheduling.claim_pairs, []

    def between(membership, at_most, **options):
        first.append(scheduling.claim_pair(membership, now=timezone.now()))
        return real(membership, at_most, **options)

    monkeypatch.setattr(scheduling, "claim_pairs", between)
    served = assignment.refill_leases(ada, want=3)
    assert served.leases[0].order == first[0].pk
    assert [lease.order for lease in served.leases] == sorted(
        ada.leases.values_list("pk", flat=True)
    )


def test_with_no_wish_what_is_held_is_sent_again_and_nothing_is_claimed(ada):
    [first, second] = assignment.refill_leases(ada, want=2).leases
    again = assignment.refill_leases(ada, want=0, held=[first.token])
    assert [lease.token for lease in again.leases] == [second.token]
    assert ada.leases.count() == 2


def test_where_the_claims_of_others_are_met_in_the_middle_what_was_claimed_is_claimed_anew(
    ada, monkeypatch
):
    """All claims of a request are one transaction, which ends with nothing taken where one of them
    has to wait; then each is its own."""
    real, looks = scheduling._try_claim, []

    def met(membership, at_most, now, **how):
        looks.append(how["wait"])
        if len(looks) == 3:
            raise scheduling.ClaimContended
        return real(membership, at_most, now, **how)

    monkeypatch.setattr(scheduling, "_try_claim", met)
    served = assignment.refill_leases(ada, want=3)
    monkeypatch.undo()
    ada.refresh_from_db()
    assert len(looks) == 3 + 3
    assert (
        len({lease.shown.pair for lease in served.leases})
        == ada.leases.count()
        == ada.n_served
        == 3
    )
    assert check_invariants(ada.campaign) == []
    [following] = [
        lease.shown.docno
        for lease in assignment.refill_leases(ada, want=4).leases
        if lease.token not in {one.token for one in served.leases}
    ]
    assert [lease.shown.docno for lease in served.leases] + [following] == ["d1", "d2", "d3", "d4"]


def test_what_is_claimed_at_once_is_what_single_claims_would_have_taken():
    """With gold pairs and one for everyone in the middle, pairs put aside, blocks of two topics,
    and slots that somebody's expired leases hold."""
    campaign = make_campaign(
        n_topics=2, n_documents=7, judgements_per_pair=1, gold_every=4, target_per_annotator=12
    )
    for pair in campaign.pairs.filter(entry__docno="d7"):
        lifecycle.set_pair_kind(pair, Pair.Kind.GOLD, gold_grade=1, explanation="known")
    lifecycle.set_pair_kind(campaign.pairs.filter(entry__docno="d6").first(), Pair.Kind.EVERYONE)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    for _ in range(3):
        scheduling.claim_pair(bob, now=now)
    Lease.objects.update(expires_at=now)
    taken = []
    for at_once in (True, False):
        with transaction.atomic():
            member = Membership.objects.select_related("campaign").get(pk=ada.pk)
            if at_once:
                scheduling.claim_pairs(member, 14, now=now)
            else:
                while scheduling.claim_pair(member, now=now):
                    pass
            assert check_invariants(campaign) == []
            taken.append(
                list(
                    ada.leases.order_by("pk").values_list("pair", "pair__kind", "takes_slot", "why")
                )
            )
            transaction.set_rollback(True)
    assert taken[0] == taken[1]
    kinds = [kind for _, kind, *_ in taken[0]]
    assert (len(kinds), kinds.count("gold"), kinds.count("everyone")) == (14, 2, 1)
    assert "gold" in kinds[:-3]


def test_ten_pairs_are_assigned_ahead_only_to_judge_offline(ada):
    assert len(assignment.refill_leases(ada, want=50).leases) == 4  # a window of three
    assert len(assignment.refill_leases(ada, want=50, offline=True).leases) == 11
