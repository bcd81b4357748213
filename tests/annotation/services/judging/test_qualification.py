"""The test before judging, and how people do where the grade is known."""

from __future__ import annotations

import uuid

import pytest

from annotation.models import Lease, Pair
from annotation.selectors.judging import check_invariants
from annotation.selectors.qualification import (
    QualificationScore,
    get_failed_annotators,
    get_known_scores,
)
from annotation.services.campaigns import lifecycle
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import assignment, qualification, submission
from annotation.services.judging.submission import Answer
from tests.builders import judge, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Three qualification pairs of grade 2, to be right in two of three; three normal ones."""
    made = make_campaign(n_topics=1, n_documents=6, judgements_per_pair=1, qualification_pass=0.66)
    for pair in made.pairs.order_by("position")[3:]:
        lifecycle.set_pair_kind(
            pair, Pair.Kind.QUALIFICATION, gold_grade=2, explanation="It answers a part."
        )
    made.refresh_from_db()
    return made


def answers(member, grades):
    """The states and feedback on the way through the test."""
    told = []
    for grade in grades:
        served = assignment.refill_leases(member, want=1)
        assert served.situation.state == "qualification"
        told.append(submit(member, served.leases[0], grade).feedback)
    return told


def test_the_test_comes_first_explains_each_answer_and_opens_the_way(campaign):
    ada = make_annotator(campaign)
    told = answers(ada, [2, 0, 2])
    assert [row["right"] for row in told] == [True, False, True]
    assert told[1] == {
        "right": False,
        "grade": 0,
        "gold_grade": 2,
        "explanation": "It answers a part.",
        "judged": 2,
        "n_right": 1,
        "total": 3,
        "needed": 2,
        "passed": None,
    }
    assert [row["passed"] for row in told] == [None, None, True]
    served = assignment.refill_leases(ada, want=3)
    assert served.situation.state == "judging"
    assert {
        lease.pair.kind
        for lease in Lease.objects.filter(token__in=[own.token for own in served.leases])
    } == {"normal"}
    assert served.situation.progress.judged == 0
    assert check_invariants(campaign) == []


def test_who_fails_is_paused_with_the_reason_and_can_be_let_in(campaign):
    ada = make_annotator(campaign)
    answers(ada, [0, 0, 2])
    situation = assignment.refill_leases(ada, want=3).situation
    assert situation.state == "paused"
    assert situation.message == (
        "You got 1 of 3 test answers right. You need 2. "
        "Your manager has been informed and can let you try again."
    )
    assert situation.details["reason"] == situation.message  # shown once
    qualification.admit_annotator(ada, actor=campaign.created_by)
    assert assignment.refill_leases(ada, want=3).situation.state == "judging"


def test_answers_of_the_test_enter_no_labels_and_cannot_be_changed(campaign):
    ada = make_annotator(campaign)
    served = assignment.refill_leases(ada, want=1)
    row = submit(ada, served.leases[0], 0).judgement
    assert row.status == "extra"
    with pytest.raises(AnswerRefused, check=lambda error: error.code == "qualification_final"):
        submission.revise_judgement(ada, row.pk, key=uuid.uuid4(), answer=Answer(grade=2))


def test_everybody_takes_the_same_test_and_pairs_of_it_are_not_served_later(campaign):
    for _ in range(2):
        answers(make_annotator(campaign), [2, 2, 2])
    pairs = campaign.pairs.filter(kind="qualification")
    assert all(pair.judgements.count() == 2 for pair in pairs)


def test_results_are_counted_for_each_person(campaign):
    gold = campaign.pairs.order_by("position").first()
    lifecycle.set_pair_kind(gold, Pair.Kind.GOLD, gold_grade=3)
    campaign.refresh_from_db()
    ada = make_annotator(campaign)
    answers(ada, [2, 0, 2])
    ada.refresh_from_db()
    for _ in range(3):
        judge(ada, 3)
    assert get_known_scores(campaign) == {
        ada.pk: {
            "qualification": QualificationScore(2, 2, 3, 3),
            "gold": QualificationScore(1, 1, 1, 1),
        }
    }


def test_who_may_try_again_is_asked_every_pair_once_more_and_only_the_new_answers_decide(campaign):
    ada = make_annotator(campaign)
    answers(ada, [0, 0, 2])
    with pytest.raises(CampaignError, match="is not waiting"):
        qualification.restart_qualification(make_annotator(campaign), actor=campaign.created_by)
    assert list(get_failed_annotators()) == [ada]
    qualification.restart_qualification(ada, actor=campaign.created_by)
    assert not get_failed_annotators().exists()
    told = answers(ada, [2, 2, 0])
    assert [row["right"] for row in told] == [True, True, False]
    assert assignment.refill_leases(ada, want=3).situation.state == "judging"
    assert get_known_scores(campaign)[ada.pk]["qualification"] == QualificationScore(
        right=2, exact=2, judged=3, total=3
    )
    assert ada.judgements.count() == 6
    assert ada.judgements.filter(current=True, revision=2).count() == 3
    assert check_invariants(campaign) == []


def test_who_fails_again_waits_again(campaign):
    ada = make_annotator(campaign)
    answers(ada, [0, 0, 2])
    qualification.restart_qualification(ada, actor=campaign.created_by)
    answers(ada, [2, 0, 0])
    assert list(get_failed_annotators()) == [ada]
    assert assignment.refill_leases(ada, want=3).situation.state == "paused"


@pytest.mark.parametrize(
    ("rule", "right"),
    [  # of gold grades 0, 1, 2, 3 answered 1, 2, 3, 3; the lowest relevant grade is 2
        ("exact", [False, False, False, True]),
        ("near", [True, True, True, True]),
        ("side", [True, False, True, True]),
    ],
)
def test_gold_and_qualification_are_right_by_the_campaigns_rule_and_the_exact_share_is_kept(
    rule, right
):
    made = make_campaign(
        n_topics=1, n_documents=8, judgements_per_pair=1, qualification_pass=0.1, gold_rule=rule
    )
    pairs = list(made.pairs.order_by("position"))
    for grade, (gold, test) in enumerate(zip(pairs[:4], pairs[4:], strict=True)):
        lifecycle.set_pair_kind(gold, Pair.Kind.GOLD, gold_grade=grade)
        lifecycle.set_pair_kind(test, Pair.Kind.QUALIFICATION, gold_grade=grade)
    made.refresh_from_db()
    ada = make_annotator(made)
    assert [row["right"] for row in answers(ada, [1, 2, 3, 3])] == right
    ada.refresh_from_db()
    for _ in range(4):
        (lease,) = assignment.refill_leases(ada, want=1).leases
        submit(ada, lease, min(Lease.objects.get(token=lease.token).pair.gold_grade + 1, 3))
    n = sum(right)
    assert get_known_scores(made) == {
        ada.pk: {
            "qualification": QualificationScore(n, 1, 4, 4),
            "gold": QualificationScore(n, 1, 4, 4),
        }
    }


def test_cannot_judge_is_right_by_no_rule():
    made = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1, qualification_pass=1.0)
    lifecycle.set_pair_kind(made.pairs.first(), Pair.Kind.QUALIFICATION, gold_grade=0)
    ada = make_annotator(made)
    assert answers(ada, [None])[0]["right"] is False
