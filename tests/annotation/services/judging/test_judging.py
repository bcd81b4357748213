"""What a judgement is worth: counted, extra, too fast, cannot judge; revisions, late answers,
deadlines, times, spans."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Judgement, Lease, Pair
from annotation.selectors.judging import check_invariants, get_history, get_situation
from annotation.services.campaigns import lifecycle
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import scheduling, submission
from annotation.services.judging.submission import Answer
from tests.builders import judge, judge_pair, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


def only_pair(**settings):
    campaign = make_campaign(n_topics=1, n_documents=1, **settings)
    return campaign, campaign.pairs.get()


def refused(code):
    return pytest.raises(AnswerRefused, check=lambda error: error.code == code)


def test_a_judgement_counts_and_fills_a_slot():
    campaign, pair = only_pair(judgements_per_pair=2)
    judgement = judge(make_annotator(campaign), 2)
    pair.refresh_from_db()
    assert (judgement.status, pair.counted, pair.held, pair.open_slots) == ("counted", 1, 0, 1)
    assert check_invariants(campaign) == []


def test_the_same_key_again_is_the_same_judgement():
    campaign, _ = only_pair()
    ada = make_annotator(campaign)
    lease, key = scheduling.claim_pair(ada), uuid.uuid4()
    first = submit(ada, lease, 2, key=key)
    again = submit(ada, lease, 3, key=key)
    assert again.judgement.pk == first.judgement.pk
    assert Judgement.objects.get().grade == 2
    assert check_invariants(campaign) == []


def test_the_same_lease_judged_on_two_devices_is_one_judgement_with_two_versions():
    campaign, pair = only_pair()
    ada, now = make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    submit(ada, lease, 2, now=now + timedelta(seconds=30))
    outcome = submit(ada, lease, 3, now=now + timedelta(seconds=50))
    assert (outcome.judgement.revision, outcome.judgement.status, outcome.judgement.grade) == (
        2,
        "counted",
        3,
    )
    assert "The latest judgement counts" in outcome.message
    pair.refresh_from_db()
    ada.refresh_from_db()
    assert (pair.counted, ada.n_judged) == (1, 1)
    assert check_invariants(campaign) == []


def test_what_was_judged_before_but_arrives_after_does_not_replace_the_later_judgement():
    campaign, _ = only_pair()
    ada, now = make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    submit(ada, lease, 2, now=now + timedelta(seconds=60))
    sent = now + timedelta(seconds=90)
    with refused(
        "already_judged"
    ):  # pressed 30 seconds after it was served, and kept by a telephone without a connection
        submit(ada, lease, 3, now=sent, judged_at=now + timedelta(seconds=30), sent_at=sent)
    assert Judgement.objects.get().grade == 2


def test_somebody_elses_lease_is_unknown():
    campaign, _ = only_pair()
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    with refused("lease_unknown"):
        submit(bob, scheduling.claim_pair(ada), 1)


def test_a_late_answer_counts_if_the_slot_is_still_free():
    campaign, _ = only_pair(judgements_per_pair=1)
    ada, now = make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    outcome = submit(ada, lease, 1, now=now + timedelta(minutes=30))
    assert (outcome.judgement.status, outcome.judgement.late) == ("counted", True)
    assert "it still counts" in outcome.message
    assert check_invariants(campaign) == []


def test_a_late_answer_for_a_full_pair_is_extra_and_the_annotator_is_told():
    campaign, pair = only_pair(judgements_per_pair=1)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    judge(bob, 2, now=now + timedelta(minutes=11))
    outcome = submit(ada, lease, 1, now=now + timedelta(minutes=12))
    assert (outcome.judgement.status, outcome.judgement.late) == ("extra", True)
    assert "extra" in outcome.message
    pair.refresh_from_db()
    assert pair.counted == 1
    assert check_invariants(campaign) == []


def test_a_late_answer_does_not_take_the_slot_that_another_holds():
    campaign, _ = only_pair(judgements_per_pair=1)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    lost = scheduling.claim_pair(ada, now=now)
    held = scheduling.claim_pair(bob, now=now + timedelta(minutes=11))
    assert submit(ada, lost, 1, now=now + timedelta(minutes=12)).judgement.status == "extra"
    assert submit(bob, held, 1, now=now + timedelta(minutes=13)).judgement.status == "counted"
    assert check_invariants(campaign) == []


def test_an_answer_for_an_expired_lease_uses_the_annotators_own_new_lease():
    campaign, _ = only_pair(judgements_per_pair=1)
    ada, now = make_annotator(campaign), timezone.now()
    lost = scheduling.claim_pair(ada, now=now)
    again = scheduling.claim_pair(ada, now=now + timedelta(minutes=11))
    assert again.pair_id == lost.pair_id
    assert submit(ada, lost, 1, now=now + timedelta(minutes=12)).judgement.status == "counted"
    again.refresh_from_db()
    assert again.state == Lease.State.SUBMITTED
    assert check_invariants(campaign) == []


def test_an_extra_never_counts_even_when_a_slot_becomes_free():
    campaign, _ = only_pair(judgements_per_pair=1)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    lost = scheduling.claim_pair(ada, now=now)
    judge(bob, 2, now=now + timedelta(minutes=11))
    extra = submit(ada, lost, 1, now=now + timedelta(minutes=12)).judgement
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=2)
    extra.refresh_from_db()
    assert extra.status == "extra"
    assert (
        submission.revise_judgement(
            ada, extra.pk, key=uuid.uuid4(), answer=Answer(grade=2)
        ).judgement.status
        == "extra"
    )
    assert check_invariants(campaign) == []


def test_a_too_fast_judgement_is_kept_but_fills_no_slot_and_the_pair_is_not_offered_again():
    campaign, pair = only_pair(judgements_per_pair=1, min_active_seconds=1.0)
    ada, now = make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    outcome = submit(ada, lease, 2, now=now + timedelta(seconds=30), active_ms=999, wall_ms=2000)
    pair.refresh_from_db()
    ada.refresh_from_db()
    assert (outcome.judgement.status, pair.counted, pair.open_slots, ada.n_judged) == (
        "too fast",
        0,
        1,
        0,
    )
    assert scheduling.claim_pair(ada) is None
    assert scheduling.claim_pair(make_annotator(campaign)) is not None
    assert check_invariants(campaign) == []


def test_taking_more_time_on_a_revision_mends_a_too_fast_judgement():
    campaign, pair = only_pair(judgements_per_pair=1)
    ada, now = make_annotator(campaign), timezone.now()
    first = submit(
        ada, scheduling.claim_pair(ada, now=now), 2, now=now + timedelta(seconds=30), active_ms=600
    ).judgement
    again = submission.revise_judgement(
        ada,
        first.pk,
        key=uuid.uuid4(),
        answer=Answer(grade=3, active_ms=500),
        now=now + timedelta(seconds=60),
    ).judgement
    assert (again.status, again.active_ms) == ("counted", 1100)
    pair.refresh_from_db()
    ada.refresh_from_db()
    assert (pair.counted, ada.n_judged) == (1, 1)
    assert check_invariants(campaign) == []


def test_the_servers_clock_bounds_the_pages():
    campaign, _ = only_pair()
    ada, now = make_annotator(campaign), timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    row = submit(
        ada, lease, 1, now=now + timedelta(seconds=20), active_ms=3_600_000, wall_ms=3_700_000
    ).judgement
    assert (row.active_ms, row.wall_ms, row.server_ms) == (20_000, 20_000, 20_000)


def test_the_times_of_simulated_annotators_are_taken_as_given():
    campaign, _ = only_pair()
    ada, now = make_annotator(campaign, annotator_type="simulated"), timezone.now()
    row = submit(
        ada, scheduling.claim_pair(ada, now=now), 1, now=now, active_ms=48_000, wall_ms=50_000
    ).judgement
    assert (row.active_ms, row.wall_ms, row.server_ms, row.status) == (
        48_000,
        50_000,
        None,
        "counted",
    )


def test_cannot_judge_fills_no_slot_and_others_are_asked():
    campaign, pair = only_pair(judgements_per_pair=2)
    ada, bob, cyd = (make_annotator(campaign) for _ in range(3))
    assert judge(ada, None, cannot_reason="language").status == "cannot judge"
    judge(bob, 1)
    judge(cyd, 1)
    pair.refresh_from_db()
    assert (pair.counted, pair.unjudgeable) == (2, False)
    assert check_invariants(campaign) == []


def test_a_pair_that_enough_annotators_call_broken_is_not_offered_any_more_until_one_takes_it_back():
    campaign, pair = only_pair(judgements_per_pair=2)
    ada, bob, cyd = (make_annotator(campaign) for _ in range(3))
    judge(ada, None, cannot_reason="document")
    second = judge(bob, None, cannot_reason="query")
    assert scheduling.claim_pair(cyd) is None
    assert check_invariants(campaign) == []
    submission.revise_judgement(bob, second.pk, key=uuid.uuid4(), answer=Answer(grade=1))
    pair.refresh_from_db()
    assert (pair.unjudgeable, pair.counted, pair.open_slots) == (False, 1, 1)
    assert scheduling.claim_pair(cyd) is not None
    assert check_invariants(campaign) == []


def test_cannot_judge_needs_a_reason_and_a_grade_has_none():
    campaign, _ = only_pair()
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    with refused("reason_missing"):
        submit(ada, lease, None, cannot_reason="")
    with refused("grade_and_reason"):
        submit(ada, lease, 1, cannot_reason="other")
    with refused("grade_unknown"):
        submit(ada, lease, 4)


def test_every_revision_is_kept_and_the_last_one_counts():
    campaign, pair = only_pair(judgements_per_pair=1)
    ada = make_annotator(campaign)
    first = judge(ada, 0)
    for grade in (1, 2, 3):
        submission.revise_judgement(ada, first.pk, key=uuid.uuid4(), answer=Answer(grade=grade))
    rows = list(
        Judgement.objects.order_by("revision").values_list("revision", "grade", "current", "status")
    )
    assert rows == [
        (1, 0, False, "counted"),
        (2, 1, False, "counted"),
        (3, 2, False, "counted"),
        (4, 3, True, "counted"),
    ]
    pair.refresh_from_db()
    assert pair.counted == 1
    assert [item["grade"] for item in get_history(ada, limit=10, before=None)[0]["revisions"]] == [
        0,
        1,
        2,
        3,
    ]
    assert check_invariants(campaign) == []


def test_a_revision_with_a_repeated_key_adds_nothing():
    campaign, _ = only_pair()
    ada, key = make_annotator(campaign), uuid.uuid4()
    first = judge(ada, 0)
    for _ in range(2):
        submission.revise_judgement(ada, first.pk, key=key, answer=Answer(grade=1))
    assert Judgement.objects.count() == 2


def test_a_revision_to_cannot_judge_gives_the_slot_back_and_to_a_grade_takes_it_if_free():
    campaign, _ = only_pair(judgements_per_pair=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    first = judge(ada, 0)
    submission.revise_judgement(
        ada, first.pk, key=uuid.uuid4(), answer=Answer(grade=None, cannot_reason="other")
    )
    judge(bob, 1)
    again = submission.revise_judgement(
        ada, first.pk, key=uuid.uuid4(), answer=Answer(grade=2)
    ).judgement
    assert again.status == "extra"
    assert check_invariants(campaign) == []


def test_only_own_judgements_can_be_revised():
    campaign, _ = only_pair()
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    with refused("judgement_unknown"):
        submission.revise_judgement(bob, judge(ada, 0).pk, key=uuid.uuid4(), answer=Answer(grade=1))


def test_judged_before_the_deadline_and_arrived_in_the_grace_is_taken_and_flagged():
    now = timezone.now()
    campaign, _ = only_pair(deadline=now + timedelta(minutes=5), grace_minutes=10)
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada, now=now)
    arrived = now + timedelta(minutes=12)
    pressed = arrived - timedelta(minutes=8)  # eight minutes in the outbox, by the page's own clock
    row = submit(
        ada,
        lease,
        1,
        now=arrived,
        judged_at=pressed - timedelta(hours=3),
        sent_at=arrived - timedelta(hours=3),
    ).judgement
    assert (row.after_deadline, row.judged_at) == (True, pressed)


def test_judged_after_the_deadline_or_arrived_after_the_grace_is_refused():
    now = timezone.now()
    campaign, _ = only_pair(deadline=now + timedelta(minutes=5), grace_minutes=10)
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada, now=now)
    with refused("deadline_passed"):
        submit(ada, lease, 1, now=now + timedelta(minutes=6))
    arrived = now + timedelta(minutes=16)
    with refused("deadline_passed"):
        submit(
            ada, lease, 1, now=arrived, judged_at=arrived - timedelta(minutes=12), sent_at=arrived
        )
    assert not Judgement.objects.exists()
    assert check_invariants(campaign) == []


def test_a_closed_campaign_takes_what_was_judged_before_and_no_revision():
    campaign, _ = only_pair(grace_minutes=10)
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    lifecycle.close_campaign(campaign)
    now = timezone.now()
    row = submit(
        ada,
        lease,
        1,
        now=now + timedelta(seconds=5),
        judged_at=now - timedelta(minutes=1),
        sent_at=now + timedelta(seconds=5),
    ).judgement
    assert (row.after_deadline, row.status) == (True, "counted")
    with refused("closed"):
        submission.revise_judgement(
            ada, row.pk, key=uuid.uuid4(), answer=Answer(grade=2), now=now + timedelta(seconds=6)
        )
    assert check_invariants(campaign) == []


def test_spans_are_checked_against_the_stored_text():
    campaign, pair = only_pair(spans="required", spans_from=2)
    document = pair.entry.document
    document.text = "🦄 naïve ﷺ text"
    document.save()
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    with refused("span_required"):
        submit(ada, lease, 2)
    with refused("span_outside"):
        submit(ada, lease, 2, spans=[(0, len(document.text) + 1)])
    row = submit(ada, lease, 2, spans=[(8, 9), (0, 1), (2, 7)]).judgement
    assert [document.text[start:end] for start, end in row.spans] == ["🦄", "naïve", "ﷺ"]


def test_a_low_grade_needs_no_span_and_a_campaign_without_spans_takes_none():
    campaign, _ = only_pair(spans="required", spans_from=2)
    assert judge(make_annotator(campaign), 1).spans == []
    other, _ = only_pair(spans="off")
    ada = make_annotator(other)
    with refused("spans_off"):
        submit(ada, scheduling.claim_pair(ada), 1, spans=[(0, 1)])


def test_the_managers_own_label_is_stored_with_its_reason_and_can_be_taken_back():
    campaign, pair = only_pair()
    manager = campaign.created_by
    submission.adjudicate_pair(pair, 3, reason="both are right", actor=manager)
    pair.refresh_from_db()
    assert (pair.adjudicated_grade, pair.adjudicated_by, pair.adjudicated_reason) == (
        3,
        manager,
        "both are right",
    )
    submission.adjudicate_pair(pair, None, reason="", actor=manager)
    pair.refresh_from_db()
    assert (pair.adjudicated_grade, pair.adjudicated_by) == (None, None)
    with pytest.raises(CampaignError, match="scale"):
        submission.adjudicate_pair(pair, 7, reason="", actor=manager)
    assert (
        AuditEvent.objects.filter(action__in=["adjudicated", "withdrew an adjudication"]).count()
        == 2
    )


def test_history_is_ordered_by_first_judgement_and_goes_on_where_it_stopped():
    campaign = make_campaign(n_topics=1, n_documents=5, judgements_per_pair=1, block_length=1)
    ada = make_annotator(campaign)
    rows = [judge(ada, 1) for _ in range(5)]
    submission.revise_judgement(ada, rows[0].pk, key=uuid.uuid4(), answer=Answer(grade=3))
    shown = get_history(ada, limit=2, before=None)
    assert [item["document"]["id"] for item in shown] == ["d5", "d4"]
    rest = get_history(ada, limit=10, before=shown[-1]["judgement"])
    assert [(item["document"]["id"], item["grade"]) for item in rest] == [
        ("d3", 1),
        ("d2", 1),
        ("d1", 3),
    ]
    assert [
        item["document"]["id"] for item in get_history(ada, limit=10, before=rest[-1]["judgement"])
    ] == []


def test_judging_a_gold_pair_does_not_limit_how_often_it_is_judged():
    campaign, pair = only_pair(judgements_per_pair=1)
    lifecycle.set_pair_kind(pair, Pair.Kind.GOLD, gold_grade=3)
    campaign.refresh_from_db()
    for _ in range(3):
        assert judge(make_annotator(campaign), 3).status == "counted"
    pair.refresh_from_db()
    assert pair.counted == 3
    assert check_invariants(campaign) == []


def test_the_counters_of_an_annotator_do_not_depend_on_who_judged_when():
    campaign = make_campaign(
        n_topics=1, n_documents=2, judgements_per_pair=2, target_per_annotator=2
    )
    ada = make_annotator(campaign)
    now = timezone.now()
    judge_pair(ada, campaign.pairs.get(entry__docno="d1"), 1, now=now)
    ada.refresh_from_db()
    assert (ada.n_judged, ada.finished_at) == (1, None)
    judge_pair(ada, campaign.pairs.get(entry__docno="d2"), 1, now=now)
    ada.refresh_from_db()
    assert (ada.n_judged, ada.finished_at) == (2, now)


@pytest.mark.parametrize("end", ["close", "deadline"])
def test_the_end_of_a_campaign_takes_the_completion_code_from_nobody_who_did_the_whole_part(end):
    campaign = make_campaign(
        n_topics=1, n_documents=4, judgements_per_pair=3, target_per_annotator=2
    )
    done, half, idle = make_annotator(campaign), make_annotator(campaign), make_annotator(campaign)
    for member, n in ((done, 2), (half, 1)):
        for _ in range(n):
            judge(member, 2)
    if end == "close":
        lifecycle.close_campaign(campaign, actor=None)
    else:
        type(campaign).objects.filter(pk=campaign.pk).update(
            deadline=timezone.now() - timedelta(hours=1)
        )
    codes = []
    for member in (done, half, idle):
        member = type(member).objects.select_related("campaign", "user").get(pk=member.pk)
        codes.append(get_situation(member, now=timezone.now()).details.get("completion_code"))
    assert codes == [campaign.completion_code, None, None]


def test_who_judged_all_there_was_keeps_the_completion_code_after_the_end():
    campaign = make_campaign(
        n_topics=1, n_documents=1, judgements_per_pair=2, target_per_annotator=50
    )
    ada = make_annotator(campaign)
    judge(ada, 2)
    lifecycle.close_campaign(campaign, actor=None)
    ada = type(ada).objects.select_related("campaign", "user").get(pk=ada.pk)
    assert (
        get_situation(ada, now=timezone.now()).details["completion_code"]
        == campaign.completion_code
    )
