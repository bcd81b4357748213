"""What needs a person: on Home, in the API; from figures that are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.dashboard import home_summary as figures
from analysis.dashboard.annotators import RandomLikeAnnotator
from analysis.dashboard.home_summary import HomeStatistics
from analysis.dashboard.to_do_list import ToDoKind, build_to_do_list, get_to_do_list
from analysis.dashboard.to_do_mail import mail_body
from analysis.judgements import live as kept
from analysis.models import Recipe, Release
from annotation.models import Campaign, Membership, Pair, Profile, Question
from annotation.services.campaigns import lifecycle
from annotation.services.judging import assignment
from annotation.services.people import exclusion
from assay.campaigns.flags import RANDOM_LIKE_FLAGS
from pooling.models import Job
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import (
    judge,
    judged_campaign,
    make_annotator,
    make_campaign,
    make_collection,
    make_user,
    submit,
)
from tests.pooling.conftest import run as do

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


def again(campaign: Campaign) -> list:
    """The list of the campaign's manager, counted now."""
    kept._snapshots.clear()
    items, asked = get_to_do_list(campaign.created_by)
    assert asked == []
    return items


def kinds(campaign: Campaign) -> list[str]:
    return [item.kind.value for item in again(campaign)]


def test_nothing_to_do_in_a_campaign_that_has_just_begun():
    campaign = make_campaign()
    assert kinds(campaign) == []
    assert "Nothing needs you now." in text_of(manager_of(campaign).get("/"))


def test_who_failed_the_qualification_can_be_let_in_or_try_again():
    campaign = make_campaign(
        n_topics=1, n_documents=5, judgements_per_pair=1, qualification_pass=1.0
    )
    for pair in campaign.pairs.order_by("position")[3:]:
        lifecycle.set_pair_kind(
            pair, Pair.Kind.QUALIFICATION, gold_grade=2, explanation="It answers a part."
        )
    campaign.refresh_from_db()
    ada = make_annotator(campaign)
    for grade in (0, 2):
        submit(ada, assignment.refill_leases(ada, want=1).leases[0], grade)
    (item,) = again(campaign)
    assert (item.kind, item.count) == (ToDoKind.QUALIFICATION, 1)
    assert item.words == "1 annotator failed the qualification test"
    client = manager_of(campaign)
    assert [(action.words, action.fields) for action in item.actions] == [
        ("Admit anyway", {"action": "let-in"}),
        ("Allow another attempt", {"action": "try-again"}),
    ]
    client.post(item.actions[0].address, item.actions[0].fields)
    assert kinds(campaign) == []


def test_a_speeder_can_be_paused_from_the_list_and_leaves_it():
    campaign = make_campaign(n_topics=2, n_documents=6, judgements_per_pair=3, min_active_seconds=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(10):
        judge(ada, 1, active_ms=200)
        judge(bob, 1)
    (item,) = again(campaign)
    assert (item.kind, item.words) == (
        ToDoKind.TOO_FAST,
        f"{ada.pseudonym}: 10 of 10 judgements too fast",
    )
    look, pause = item.actions
    assert (look.address, look.posts) == (
        f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/",
        False,
    )
    client = manager_of(campaign)
    assert f"{ada.pseudonym}: 10 of 10 judgements too fast" in text_of(client.get("/"))
    assert f'<span class="mono small">{ada.pseudonym}' not in client.get("/").content.decode(), (
        "said once"
    )
    client.post(pause.address, pause.fields)
    ada.refresh_from_db()
    assert ada.status == Membership.Status.PAUSED
    assert get_to_do_list(campaign.created_by)[0] == [], (
        "though the figures are of before the pause"
    )


def test_who_was_paused_by_the_rule_is_looked_at_or_goes_on():
    campaign = make_campaign(
        n_topics=2, n_documents=6, judgements_per_pair=3, min_active_seconds=2, pause_after_fast=3
    )
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(3):
        judge(ada, 1, active_ms=200)
    (item,) = again(campaign)
    assert (item.kind, item.words, item.count) == (
        ToDoKind.PAUSED_BY_RULE,
        f"{ada.pseudonym}: paused after 3 too-fast judgements",
        1,
    )
    look, go_on = item.actions
    assert (look.words, look.address) == (
        "Open",
        f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/",
    )
    client = manager_of(campaign)
    assert f"{ada.pseudonym}: paused after 3 too-fast judgements" in text_of(client.get("/"))
    [told] = client.get("/api/v1/to-do/").json()["items"]
    assert (told["kind"], [action["words"] for action in told["actions"]]) == (
        "paused by rule",
        ["Open", "Resume"],
    )
    assert f"- {item.words}.\n  http://here{look.address}" in mail_body(
        Profile(user=campaign.created_by, to_do_address="http://here"), [item]
    )
    for _ in range(3):
        judge(bob, 1, active_ms=200)
    (item,) = again(campaign)
    assert item.words == "2 annotators paused for too-fast judgements"
    assert [action.about for action in item.actions[::2]] == [
        f"{name}: 3 too fast" for name in sorted((ada.pseudonym, bob.pseudonym))
    ]
    client.post(go_on.address, go_on.fields)
    ada.refresh_from_db()
    assert ada.status == Membership.Status.ACTIVE
    exclusion.pause_annotator(bob, reason="Let us talk first.", actor=campaign.created_by)
    assert kinds(campaign) == ["too fast"], (
        "ada, who judges again; a manager's own pause is no item of the list"
    )


def test_open_questions_wait_for_an_answer():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    pair = campaign.pairs.first()
    for text in ("Why?", "How?"):
        Question.objects.create(membership=ada, pair=pair, text=text)
    (item,) = again(campaign)
    assert (item.words, item.count) == ("2 annotators' questions to answer", 2)
    assert manager_of(campaign).get(item.actions[0].address).status_code == 200
    Question.objects.update(answered_at=timezone.now(), answer="So.")
    assert kinds(campaign) == []


def test_a_deadline_that_has_passed_and_one_that_will_be_missed():
    campaign = make_campaign(n_topics=10, n_documents=10, judgements_per_pair=3)
    ada, start = make_annotator(campaign), timezone.now() - timedelta(days=4)
    for hours in range(90):
        judge(ada, 1, now=start + timedelta(hours=hours))
    # 210 of 300 are left, 24 a day: nine days
    for days, expected in ((30, []), (2, ["deadline at risk"]), (-1, ["deadline passed"])):
        Campaign.objects.filter(pk=campaign.pk).update(
            deadline=timezone.now() + timedelta(days=days)
        )
        assert kinds(campaign) == expected, days
    (item,) = again(campaign)
    assert item.words == "The deadline has passed and 210 judgements are missing"
    assert [action.words for action in item.actions] == ["Extend deadline", "Close campaign"]
    lifecycle.close_campaign(Campaign.objects.get(pk=campaign.pk), actor=None)
    assert kinds(campaign) == []


def like_random_figures(campaign: Campaign, *signs: RandomLikeAnnotator) -> HomeStatistics:
    known, _asked = figures.get_home_figures([campaign])
    return replace(known[campaign.pk], like_random=list(signs))


def test_whose_judgements_look_random_comes_first_also_when_they_no_longer_judge():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    Question.objects.create(membership=ada, pair=campaign.pairs.first(), text="Why?")
    known = {
        campaign.pk: like_random_figures(
            campaign,
            RandomLikeAnnotator(ada.pseudonym, "agreement may be chance", 150, 143, [0.36, 0.8]),
        )
    }
    for status in ("active", "paused"):
        Membership.objects.filter(pk=ada.pk).update(status=status)
        first, second = build_to_do_list([campaign], known)
        assert (
            first.words
            == f"{ada.pseudonym} may agree with others only by chance: alpha 0.36, 0.80 without them, "
            "150 judgements, 143 labels affected"
        )
        assert [action.words for action in first.actions] == ["Review", "Exclude…"]
        assert second.kind == ToDoKind.QUESTIONS
    where = manager_of(campaign).post(first.actions[1].address, first.actions[1].fields)
    assert "/exclude/" in where.url, "a preview of what it would change"
    Membership.objects.filter(pk=ada.pk).update(status="excluded")
    assert [item.kind for item in build_to_do_list([campaign], known)] == [ToDoKind.QUESTIONS], (
        "though the figures are of before the exclusion"
    )


@pytest.mark.parametrize("sign", RANDOM_LIKE_FLAGS)
def test_each_sign_of_random_judgements_has_its_sentence(sign):
    campaign = make_campaign()
    ada = make_annotator(campaign)
    (item,) = build_to_do_list(
        [campaign],
        {
            campaign.pk: like_random_figures(
                campaign, RandomLikeAnnotator(ada.pseudonym, sign, 20, 1)
            )
        },
    )
    assert item.words.startswith(ada.pseudonym)
    assert item.words.endswith("20 judgements, 1 label affected")


def test_the_to_do_list_counts_exactly_the_disputed_pairs():
    grades = {
        ("t1", "d1"): (0, 0, 1),
        ("t1", "d2"): (0, 0, 2),
        ("t1", "d3"): (0, 1, 2),
        ("t1", "d4"): (2, 2, 2),
    }
    campaign = judged_campaign(grades, names=("ada", "bob", "cyd"), judgements_per_pair=3)
    rows = {pair.entry.docno: pair.pk for pair in campaign.pairs.select_related("entry")}
    disputed, _done = again(campaign)
    assert (disputed.words, disputed.count) == ("2 disputed pairs to adjudicate", 2), (
        "d1 has a majority, next to the other grade"
    )
    assert disputed.actions[0].address == f"/campaigns/{campaign.slug}/pairs/{rows['d2']}/"


def test_a_closed_campaign_keeps_its_disputed_pairs_until_a_release_is_built_or_for_sixty_days():
    campaign = judged_campaign({("t1", "d1"): (0, 3), ("t1", "d2"): (2, 2)})
    lifecycle.close_campaign(Campaign.objects.get(pk=campaign.pk), actor=None)
    assert kinds(campaign) == ["disputed"]
    page = text_of(manager_of(campaign).get("/"))
    assert "1 disputed pair to adjudicate" in page
    assert "Nothing needs you now" not in page
    first = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
    assert "1 disputed pair to adjudicate" in text_of(first)
    assert all(word not in text_of(first) for word in ("Pace", "Active", "Live", "Try judging"))
    assert 'hx-trigger="every' not in first.content.decode()
    recipe = Recipe.objects.create(campaign=campaign, name="All")
    release = Release.objects.create(recipe=recipe, file="x.zip", digest="0" * 64)
    assert kinds(campaign) == []
    Release.objects.filter(pk=release.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert kinds(campaign) == ["disputed"], "that release was built before the end"
    Campaign.objects.filter(pk=campaign.pk).update(closed_at=timezone.now() - timedelta(days=61))
    assert kinds(campaign) == []


def test_the_to_do_list_reports_completion_and_undecided_disputed_pairs():
    campaign = judged_campaign({("t1", "d1"): (0, 3), ("t1", "d2"): (1, 2)})
    first, second = campaign.pairs.order_by("position")
    disputed, done = again(campaign)
    assert (done.kind, done.words) == (
        ToDoKind.ALL_JUDGED,
        "All required judgements have been made",
    )
    assert [action.address for action in done.actions] == [
        f"/campaigns/{campaign.slug}/settings/open/",
        f"/campaigns/{campaign.slug}/export/",
    ]
    assert (disputed.count, disputed.actions[0].address) == (
        2,
        f"/campaigns/{campaign.slug}/pairs/{first.pk}/",
    )
    Pair.objects.filter(pk=first.pk).update(adjudicated_grade=1)
    disputed, _ = again(campaign)
    assert (disputed.words, disputed.count) == ("1 disputed pair to adjudicate", 1)
    assert disputed.actions[0].address == f"/campaigns/{campaign.slug}/pairs/{second.pk}/"


def test_pairs_without_text_lead_to_the_files():
    campaign = make_campaign(n_topics=1, n_documents=3)
    Pair.objects.filter(pk=campaign.pairs.first().pk).update(without_text=True)
    (item,) = again(campaign)
    assert (item.words, item.actions[0].address) == (
        "1 pair can't be judged because its text is missing",
        f"/campaigns/{campaign.slug}/settings/files/",
    )


def test_the_api_tells_the_same_list_and_only_one_s_own():
    campaign = make_campaign()
    Question.objects.create(
        membership=make_annotator(campaign), pair=campaign.pairs.first(), text="Why?"
    )
    answer = manager_of(campaign).get("/api/v1/to-do/").json()
    (item,) = answer["items"]
    assert (item["kind"], item["campaign"], item["count"], item["as_of"]) == (
        "questions",
        campaign.slug,
        1,
        None,
    )
    assert item["actions"] == [
        {
            "words": "Answer",
            "address": f"/campaigns/{campaign.slug}/questions/",
            "fields_to_post": {},
            "about": "",
        }
    ]
    assert manager_of(make_campaign()).get("/api/v1/to-do/").json() == {"items": []}


def test_the_row_of_a_campaign_has_bar_forecast_and_the_age_of_its_alpha():
    campaign = make_campaign(n_topics=1, n_documents=4, judgements_per_pair=1)
    judge(make_annotator(campaign), 1)
    page = manager_of(campaign).get("/")
    assert 'progress value="1" max="4"' in page.content.decode()
    assert "A forecast needs two working days of judgements." in text_of(page)
    assert "alpha" not in text_of(page)
    Job.objects.create(
        kind="agreement statistics",
        campaign_id=campaign.pk,
        state="done",
        finished_at=timezone.now() - timedelta(hours=3),
        report={"graded": {"alpha": 0.6123, "alpha_ci": [None, None]}, "n_judgements": 400},
    )
    kept._snapshots.clear()
    again = " ".join(text_of(manager_of(campaign).get("/")).split())
    assert "alpha 0.61, computed 3 hours ago" in again


def test_a_large_campaign_is_counted_by_a_job_and_its_card_waits_for_it(monkeypatch):
    campaign = make_campaign(n_topics=1, n_documents=4)
    ada = make_annotator(campaign)
    judge(ada, 1)
    Membership.objects.filter(pk=ada.pk).update(n_judged=figures.INLINE_LIMIT + 1)
    client = manager_of(campaign)
    assert "Statistics are being computed." in text_of(client.get("/"))
    assert "Statistics are being computed." in text_of(client.get("/"))
    (job,) = Job.objects.filter(kind=figures.STATISTICS_JOB)
    do(job)
    assert "1 of 12" in text_of(client.get("/"))
    assert Job.objects.filter(kind=figures.STATISTICS_JOB).count() == 1, "fresh enough"
    job.refresh_from_db()
    job.report["forecast"]["of_an_earlier_version"] = 1
    job.save()
    assert "Statistics are being computed." in text_of(client.get("/"))
    assert Job.objects.filter(kind=figures.STATISTICS_JOB).count() == 2


def test_statements_of_home_do_not_grow_with_annotators_pairs_or_judgements_and_little_with_campaigns():
    collection, manager = make_collection(n_topics=3, n_documents=8), make_user(may_create=True)
    client = None

    def statements() -> int:
        kept._snapshots.clear()
        client.get("/")  # type: ignore[union-attr]
        kept._snapshots.clear()
        with CaptureQueriesContext(connection) as seen:
            assert client.get("/").status_code == 200  # type: ignore[union-attr]
        return len(seen)

    first = make_campaign(collection=collection, manager=manager)
    client = manager_of(first)
    client.force_login(manager)
    for grade in (0, 1, 3):
        judge(make_annotator(first), grade)
    assert "disputed" in kinds(first)
    few = statements()
    for _ in range(4):
        ada = make_annotator(first)
        for grade in (0, 1, 2, 3):
            judge(ada, grade)
    assert statements() == few
    for _ in range(3):
        judge(make_annotator(make_campaign(collection=collection, manager=manager)), 1)
    assert statements() - few <= 3 * 10
    with CaptureQueriesContext(connection) as seen:
        client.get("/")  # counted a moment ago
    assert len(seen) <= 14
