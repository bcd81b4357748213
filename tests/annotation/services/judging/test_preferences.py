"""Preferences: answers by side on the page, by document in the database."""

from __future__ import annotations

import io
import uuid

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from annotation.core.preferences import (
    BOTH_BAD,
    LEFT,
    PREFERENCE_SCALE,
    RIGHT,
    TIE,
    is_swapped,
    mirror_answer,
)
from annotation.core.simulation import prefer
from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors import judging
from annotation.selectors.questions import get_own_questions
from annotation.selectors.setup import get_setup
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import questions, scheduling, submission
from annotation.services.judging.submission import Answer
from annotation.services.simulation.annotators import KnownGrades, recruit_annotators
from annotation.services.simulation.simulated_time import run_directly
from assay.formats.qrels import read_qrels
from tests.battles import make_battle_campaign, make_battle_pool
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_battle_campaign()


def make_annotator_with_sides(campaign: Campaign, *, swapped: bool) -> Membership:
    """Return an annotator who sees the battles of t1 as drawn, or exchanged."""
    row = campaign.collection.topics.get(topic_id="t1").pk
    annotator = make_annotator(campaign)
    annotator.seed = next(
        seed for seed in range(100) if is_swapped(seed=seed, topic=row) == swapped
    )
    annotator.save(update_fields=["seed"])
    return annotator


def answer(annotator: Membership, first: str, other: str, value: int | None) -> Judgement:
    """Answer the battle between two documents of t1, by side."""
    pair = Pair.objects.get(
        campaign=annotator.campaign,
        entry__topic__topic_id="t1",
        entry__docno=first,
        entry__other_docno=other,
    )
    while True:
        lease = scheduling.claim_pair(annotator)
        assert lease is not None
        if lease.pair_id == pair.pk:
            break
    reason = "" if value else "query"
    given = Answer(grade=value, cannot_reason=reason)
    return submission.submit_judgement(
        annotator, lease=lease.token, key=uuid.uuid4(), answer=given
    ).judgement


def shown(annotator: Membership, pair: Pair) -> tuple[str, str]:
    rendered = judging.render_pair(judging.get_pair_text(pair), annotator)
    return rendered["document"]["id"], rendered["other"]["id"]


@pytest.mark.parametrize(
    ("swapped", "value", "stored"),
    [
        (False, LEFT, LEFT),
        (False, RIGHT, RIGHT),
        (True, LEFT, RIGHT),
        (True, RIGHT, LEFT),
        (True, TIE, TIE),
        (True, BOTH_BAD, BOTH_BAD),
        (True, None, None),
    ],
)
def test_an_answer_by_side_is_stored_by_document(
    campaign: Campaign, swapped: bool, value: int | None, stored: int | None
) -> None:
    annotator = make_annotator_with_sides(campaign, swapped=swapped)
    judgement = Judgement.objects.get(pk=answer(annotator, "d1", "d2", value).pk)
    assert judgement.grade == stored
    assert judgement.presentation == {"left": "b" if swapped else "a"}
    pair = judgement.pair
    assert shown(annotator, pair) == (("d2", "d1") if swapped else ("d1", "d2"))
    [item] = judging.get_history(annotator, limit=5, before=None)
    assert item["grade"] == value
    assert (item["document"]["id"], item["other"]["id"]) == shown(annotator, pair)


def test_a_repeated_battle_has_the_sides_exchanged_for_every_annotator(campaign: Campaign) -> None:
    pairs = Pair.objects.filter(campaign=campaign, entry__topic__topic_id="t1")
    first = pairs.get(entry__docno="d1")
    again = pairs.get(entry__docno="d2", entry__other_docno="d1")
    for swapped in (False, True):
        annotator = make_annotator_with_sides(campaign, swapped=swapped)
        assert shown(annotator, first) == shown(annotator, again)[::-1]


def test_half_of_the_annotators_see_the_documents_exchanged() -> None:
    """Of 2,000 fair draws, fewer than 900 or more than 1,100 have a probability below 0.00001."""
    n = sum(is_swapped(seed=seed, topic=7) for seed in range(2000))
    assert 900 < n < 1100


def test_mirroring_twice_changes_nothing() -> None:
    for value in (LEFT, TIE, RIGHT, BOTH_BAD, None):
        assert mirror_answer(mirror_answer(value)) == value


def test_a_revision_by_side_is_stored_by_document(campaign: Campaign) -> None:
    annotator = make_annotator_with_sides(campaign, swapped=True)
    first = answer(annotator, "d1", "d2", LEFT)
    submission.revise_judgement(annotator, first.pk, key=uuid.uuid4(), answer=Answer(grade=RIGHT))
    rows = Judgement.objects.order_by("revision").values_list("grade", "presentation")
    assert list(rows) == [(RIGHT, {"left": "b"}), (LEFT, {"left": "b"})]


def test_annotators_see_neither_systems_nor_the_order_of_a_battle(campaign: Campaign) -> None:
    annotator = make_annotator(campaign)
    scheduling.claim_pair(annotator)
    [lease] = judging.render_leases(judging.get_active_leases(annotator), annotator)
    assert {*lease} >= {"document", "other"}
    assert not {"systems", "contributions", "swapped", "rank", "priority"} & {
        *lease,
        *lease["document"],
        *lease["other"],
    }


def test_the_answers_are_translated() -> None:
    campaign = make_battle_campaign()
    annotator = make_annotator(campaign)
    with translation.override("de"):
        names = [grade["name"] for grade in get_setup(annotator)["scale"]]
    assert names == ["Links ist besser", "Gleich gut", "Rechts ist besser", "Beide schlecht"]
    assert campaign.scale == PREFERENCE_SCALE


def test_a_pair_without_one_of_its_texts_is_not_assigned() -> None:
    campaign = make_battle_campaign()
    pair = Pair.objects.get(campaign=campaign, entry__docno="d2", entry__other_docno="d3")
    pair.entry.other_document = None
    pair.entry.save(update_fields=["other_document"])
    copy = lifecycle.create_campaign(
        name="Copy", collection=campaign.collection, actor=None, task="preferences"
    )
    assert campaign.pool is not None
    lifecycle.set_pool(copy, campaign.pool)
    waiting = Pair.objects.filter(campaign=copy, without_text=True)
    assert [one.entry_id for one in waiting] == [pair.entry_id]
    assert not Pair.objects.filter(campaign=campaign, without_text=True).exists()
    assert not Lease.objects.exists()


@pytest.mark.parametrize(
    "setting",
    [
        {"spans": "optional"},
        {"rotate_text": True},
        {"qualification_pass": 0.5},
        {"show_near_duplicates": True},
    ],
)
def test_settings_that_need_grades_are_refused(setting: dict[str, object]) -> None:
    campaign = make_battle_campaign()
    with pytest.raises(CampaignError, match="A preference campaign can't have"):
        lifecycle.update_campaign(campaign, actor=None, **setting)


def test_the_task_cannot_be_changed() -> None:
    with pytest.raises(CampaignError, match="task of a campaign can't be changed"):
        lifecycle.update_campaign(make_battle_campaign(), actor=None, task="grades")
    with pytest.raises(CampaignError, match="task of a campaign can't be changed"):
        lifecycle.update_campaign(make_campaign(), actor=None, task="preferences")


def test_pools_of_battles_and_campaigns_of_preferences_belong_together() -> None:
    pool = make_battle_pool()
    grades = lifecycle.create_campaign(name="Grades", collection=pool.collection, actor=None)
    with pytest.raises(CampaignError, match="A pool of battles needs a preference campaign"):
        lifecycle.set_pool(grades, pool)
    plain = make_campaign()
    preferences = lifecycle.create_campaign(
        name="Preferences", collection=plain.collection, actor=None, task="preferences"
    )
    assert plain.pool is not None
    with pytest.raises(CampaignError, match="A preference campaign needs a pool of battles"):
        lifecycle.set_pool(preferences, plain.pool)


def test_a_battle_cannot_be_a_control_pair_with_a_known_answer(campaign: Campaign) -> None:
    pair = Pair.objects.filter(campaign=campaign).first()
    assert pair is not None
    with pytest.raises(CampaignError, match="Battles have no known answer"):
        lifecycle.set_pair_kind(pair, "gold", gold_grade=LEFT)


@pytest.mark.parametrize(
    ("left", "right", "preferred"),
    [(2, 1, LEFT), (0, 3, RIGHT), (None, 1, RIGHT), (2, 2, TIE), (0, None, BOTH_BAD)],
)
def test_simulated_annotators_prefer_the_higher_grade(
    left: int | None, right: int | None, preferred: int
) -> None:
    assert prefer(left, right) == preferred


def test_simulated_preferences_are_stored_by_document(campaign: Campaign) -> None:
    """With full reliability: d1 has grade 2, d2 grade 1 and d3 none."""
    qrels = read_qrels(io.BytesIO(b"t1 0 d1 2\nt1 0 d2 1\nt2 0 d1 2\nt2 0 d2 1\n"))
    annotators = recruit_annotators(campaign, 3, weights={"reliable": 1}, seed=1)
    truth = KnownGrades(qrels, campaign)
    run_directly(campaign, annotators, truth, reliability=1.0, seconds=5.0, start=timezone.now())
    rows = Judgement.objects.values_list("pair__entry__docno", "pair__entry__other_docno", "grade")
    assert set(rows) == {("d1", "d2", LEFT), ("d2", "d3", LEFT), ("d2", "d1", RIGHT)}
    assert len(rows) == 12


@pytest.mark.parametrize(("swapped", "names"), [(False, "d1 / d2"), (True, "d2 / d1")])
def test_a_question_names_both_documents_as_the_annotator_saw_them(
    campaign: Campaign, client: Client, swapped: bool, names: str
) -> None:
    campaign.collection.documents.update(title="")
    annotator = make_annotator_with_sides(campaign, swapped=swapped)
    pair = answer(annotator, "d1", "d2", TIE).pair
    question = questions.ask_question(
        annotator, pair_id=pair.pk, key=uuid.uuid4(), text="Is the left one spam?"
    )
    assert get_own_questions(annotator)[0]["document"] == {"id": "d1 d2", "title": names}
    manager = campaign.memberships.get(role="manager").user
    client.force_login(manager)
    page = client.get(reverse("campaign-questions", args=[campaign.slug]), {"q": "d2"})
    assert names in " ".join(page.content.decode().split())
    questions.answer_question(question, "Yes.", actor=manager)
    text = questions.publish_example(question, actor=manager).text
    left, right = names.split(" / ")
    assert f"documents “{left}” and “{right}”.**" in text
