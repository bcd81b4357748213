"""What a manager is told without looking for it: an end that has passed, people who wait,
judgements that were too fast."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.dashboard import disagreements, progress
from analysis.dashboard.annotators import list_annotators
from analysis.judgements import live as kept
from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import assignment
from annotation.services.people import exclusion
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, judged_campaign, make_annotator, make_campaign, submit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]
TABS = [
    "",
    "people/",
    "agreement/",
    "time/",
    "gold/",
    "judgements/",
    "systems/",
    "feedback/",
    "export/",
    "audit/",
    "settings/",
]


@pytest.fixture
def tested():
    """Two qualification pairs of grade 2, both to be right; Ada has failed."""
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
    return campaign, ada


def end(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(deadline=timezone.now() - timedelta(hours=1))


def test_after_the_deadline_every_page_says_so_and_none_forecasts_the_past():
    campaign = make_campaign(n_topics=2, n_documents=5, judgements_per_pair=3)
    ada = make_annotator(campaign)
    start = timezone.now() - timedelta(days=4)
    for hours in range(0, 80, 10):
        judge(ada, hours % 3, now=start + timedelta(hours=hours))
    end(campaign)
    client = manager_of(campaign)
    for tab in TABS:
        assert "Deadline passed" in text_of(
            client.get(f"/campaigns/{campaign.slug}/{tab}", follow=True)
        ), tab
    for page in ("/", "/campaigns/"):
        assert "Deadline passed" in text_of(client.get(page)), page
    shown = text_of(client.get(f"/campaigns/{campaign.slug}/"))
    assert "22 judgements are missing" in shown
    assert "Forecast" not in shown
    assert "forecast" not in shown
    live = text_of(client.get(f"/campaigns/{campaign.slug}/live"))
    assert "The deadline has passed with 26% judged." in live  # 8 of 30
    assert "22 judgements are missing" in live


def test_a_paused_campaign_says_both_and_a_closed_one_forecasts_nothing():
    campaign = make_campaign(state="paused")
    end(campaign)
    client = manager_of(campaign)
    assert "Paused (deadline passed)" in text_of(client.get(f"/campaigns/{campaign.slug}/"))
    lifecycle.close_campaign(Campaign.objects.get(pk=campaign.pk), actor=campaign.created_by)
    closed = text_of(client.get(f"/campaigns/{campaign.slug}/"))
    assert "30 judgements are missing" in closed
    assert "forecast" not in closed.lower()


@pytest.mark.parametrize("page", ["/", "/campaigns/{slug}/", "/campaigns/{slug}/people/"])
def test_who_failed_the_qualification_and_waits_is_shown_with_both_ways_out(tested, page):
    campaign, ada = tested
    client = manager_of(campaign)
    shown = client.get(page.format(slug=campaign.slug))
    assert "1 annotator failed the qualification" in text_of(shown)
    html = shown.content.decode()
    assert f'action="/campaigns/{campaign.slug}/people/{ada.pseudonym}/act"' in html
    assert 'value="let-in"' in html
    assert 'value="try-again"' in html
    assert "failed the qualification" not in text_of(manager_of(make_campaign()).get("/"))


@pytest.mark.parametrize(
    ("action", "state"), [("let-in", "judging"), ("try-again", "qualification")]
)
def test_either_way_out_ends_the_waiting(tested, action, state):
    campaign, ada = tested
    client = manager_of(campaign)
    assert "Resume" not in text_of(
        client.get(f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/")
    )
    client.post(f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/act", {"action": action})
    assert (
        assignment.refill_leases(
            Membership.objects.select_related("campaign").get(pk=ada.pk), want=1
        ).situation.state
        == state
    )
    assert "failed the qualification" not in text_of(client.get("/"))


def test_somebody_who_has_answered_only_the_qualification_has_been_seen(tested):
    campaign, _ = tested
    page = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/people/"))
    assert "never" not in page
    make_annotator(campaign)
    kept._snapshots.clear()
    assert "never" in text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/people/"))


def test_too_fast_judgements_of_a_speeder_are_on_the_overview_until_the_speeder_is_excluded():
    campaign = make_campaign(n_topics=2, n_documents=6, judgements_per_pair=3, min_active_seconds=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(10):
        judge(ada, 1, active_ms=200)
        judge(bob, 1)
    for row in Judgement.objects.filter(membership=ada):
        assert row.status == "too fast"
    client = manager_of(campaign)
    page = text_of(client.get(f"/campaigns/{campaign.slug}/"))
    assert f"{ada.pseudonym}: 10 of 10 judgements too fast" in page
    assert f"{bob.pseudonym}:" not in page
    Membership.objects.filter(pk=ada.pk).update(status="excluded")
    kept._snapshots.clear()
    assert "10 of 10 judgements" not in text_of(client.get(f"/campaigns/{campaign.slug}/"))


def test_an_exclusion_leaves_the_evidence_for_it_to_be_seen():
    campaign = make_campaign(n_topics=3, n_documents=8, judgements_per_pair=3)
    ada, bob, eve = (make_annotator(campaign) for _ in range(3))
    for i in range(24):
        judge(ada, i % 4, active_ms=None)
        judge(bob, i % 4, active_ms=None)
        judge(eve, 3 - i % 4, active_ms=None)
    before = {person.membership.pk: person for person in list_annotators(campaign)}
    exclusion.exclude_annotator(
        eve, reason="read the scale the wrong way round", actor=campaign.created_by
    )
    kept._snapshots.clear()
    after = {person.membership.pk: person for person in list_annotators(campaign)}
    was, now = before[eve.pk], after[eve.pk]
    assert (was.n, now.n, now.n_kept, now.n_extra) == (24, 0, 24, 0)
    assert now.kappa == pytest.approx(was.kappa)
    assert now.kappa < 0
    assert now.agreement.confusion.tolist() == was.agreement.confusion.tolist()
    assert (now.shares, now.median) == (was.shares, was.median)
    assert after[ada.pk].kappa == pytest.approx(1.0)  # of Ada and Bob alone, who agree
    client = manager_of(campaign)
    page = text_of(client.get(f"/campaigns/{campaign.slug}/people/{eve.pseudonym}/"))
    assert "These figures describe the 24 judgements made before the exclusion." in page
    listed = client.get(f"/campaigns/{campaign.slug}/people/").context["people"]
    assert listed[-1].membership == eve, "those who are excluded come last"


def test_a_pair_that_waits_for_a_judgement_is_not_disputed_until_nobody_judges_any_more():
    campaign = judged_campaign(
        {("t1", "d1"): (0, 3, 1), ("t1", "d2"): (0, 3)},
        names=("ada", "bob", "eve"),
        judgements_per_pair=3,
    )
    first, second = campaign.pairs.order_by("position")

    def disputed() -> list[int]:
        kept._snapshots.clear()
        found = Campaign.objects.get(pk=campaign.pk)
        return disagreements.list_disputed_pairs(found, kept.get_snapshot(found))

    assert disputed() == [first.pk]
    end(campaign)
    assert set(disputed()) == {first.pk, second.pk}


def test_a_gold_question_is_not_disputed_because_its_grade_is_known():
    campaign = judged_campaign({("t1", "d1"): (0, 3), ("t1", "d2"): (0, 3)})
    first, second = campaign.pairs.order_by("position")
    set_pair_kind(first, Pair.Kind.GOLD, gold_grade=3)
    kept._snapshots.clear()
    assert disagreements.list_disputed_pairs(campaign, kept.get_snapshot(campaign)) == [second.pk]


def test_the_page_of_a_disputed_pair_leads_to_the_next_and_back():
    campaign = judged_campaign(
        {("t1", "d1"): (0, 3), ("t1", "d2"): (0, 2), ("t1", "d3"): (0, 0)}
    )  # spreads 3, 2, none
    first, second, third = campaign.pairs.order_by("position")
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/pairs/{{}}/"

    def turns(pair: Pair) -> list[tuple[str, str]]:
        page = client.get(address.format(pair.pk)).content.decode()
        return re.findall(
            r'rel="(next|prev)" data-key="."\s+href="([^"?]*)',
            page,
        )

    assert turns(first) == [("next", address.format(second.pk))]
    assert turns(second) == [
        ("prev", address.format(first.pk)),
        ("next", address.format(first.pk)),  # after the last one again from the start
    ]
    assert turns(third) == []


def test_heat_map_topics_are_in_natural_order():
    campaign = make_campaign(n_topics=11, n_documents=2, judgements_per_pair=1)
    judge(make_annotator(campaign), 1)
    names, _, _, left_out = progress.progress_heat_map(campaign, kept.get_snapshot(campaign))
    assert names == [f"t{i}" for i in range(1, 12)]
    assert left_out == 0
    names, _, _, left_out = progress.progress_heat_map(
        campaign, kept.get_snapshot(campaign), most=10
    )
    assert names == [f"t{i}" for i in range(2, 12)]  # t1 has a judgement: it is nearest to its end
    assert left_out == 1
