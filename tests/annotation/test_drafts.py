"""A draft whose settings contradict each other does not open and says why; what follows of itself
does so; what it costs."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.core.cost_estimate import (
    estimate_workload,
    max_calendar_days,
    max_judgements_in_time,
)
from annotation.core.presets import PRESETS
from annotation.models import AuditEvent, Campaign
from annotation.selectors.drafts import capacity_warning, find_contradictions
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from tests.annotation.test_campaign_pages import manager_of, rules_data, scale_data
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def post_scale(campaign: Campaign, *names: str) -> Client:
    client = manager_of(campaign)
    assert (
        client.post(f"/campaigns/{campaign.slug}/settings/scale/", scale_data(*names)).status_code
        == 302
    )
    campaign.refresh_from_db()
    return client


def prefilled(campaign: Campaign) -> str:
    return (
        manager_of(campaign)
        .get(f"/campaigns/{campaign.slug}/settings/guidelines/")
        .context["form"]["text"]
        .value()
    )


class TestTimes:
    """Least, idle limit and expected in seconds, lease in minutes; each is the only one that does
    not fit."""

    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            (
                {"min_active_seconds": 60, "idle_seconds": 60, "expected_seconds": 90},
                "who only reads could never reach the minimum",
            ),
            (
                {"min_active_seconds": 50, "expected_seconds": 48},
                "expected to take 48 s, but judgements under 50 s do not count",
            ),
            (
                {"lease_minutes": 1, "idle_seconds": 61},
                "reserved for 1 minute and then assigned to others before the inactivity timeout of 61 s ends",
            ),
            ({"pause_after_fast": 5, "min_active_seconds": 0}, "there is no minimum active time"),
        ],
    )
    def test_those_that_contradict_each_other_keep_a_draft_from_opening_and_are_told(
        self, settings, says
    ):
        campaign = make_campaign(state="draft", **settings)
        [one] = find_contradictions(campaign)
        assert one.step == "rules"
        assert says in one.says
        with pytest.raises(CampaignError, match=re.escape(one.says)):
            lifecycle.open_campaign(campaign)
        for page in ("settings/rules/", ""):
            assert says in html.unescape(
                manager_of(campaign).get(f"/campaigns/{campaign.slug}/{page}").content.decode()
            )

    def test_a_running_campaign_is_warned_and_goes_on(self):
        campaign = make_campaign()
        assert (
            "contradict each other"
            not in manager_of(campaign)
            .get(f"/campaigns/{campaign.slug}/settings/rules/")
            .content.decode()
        )
        lifecycle.update_campaign(campaign, actor=None, min_active_seconds=50)
        assert (
            "contradict each other"
            in manager_of(campaign)
            .get(f"/campaigns/{campaign.slug}/settings/rules/")
            .content.decode()
        )

    @pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.key)
    def test_no_preset_contradicts_itself(self, preset):
        campaign = make_campaign(state="draft")
        lifecycle.update_campaign(campaign, actor=None, **preset.settings)
        assert find_contradictions(campaign) == []


class TestContradictions:
    def test_the_prefilled_guidelines_explain_the_grades_that_there_are(self):
        campaign = make_campaign(state="draft")
        post_scale(campaign, "No", "Yes")
        text = prefilled(campaign)
        assert "- **No**: " in text
        assert "- **Yes**: " in text
        assert "Fully answers" not in text
        lifecycle.save_guideline(campaign, text)
        assert find_contradictions(campaign) == []

    def test_a_campaign_cannot_open_if_its_guidelines_explain_removed_grades(self):
        campaign = make_campaign(state="draft")
        lifecycle.save_guideline(campaign, prefilled(campaign))
        assert find_contradictions(campaign) == []
        client = post_scale(campaign, "Not relevant", "Related", "Some", "Fully answers")
        client.post(f"/campaigns/{campaign.slug}/state", {"action": "open"})
        campaign.refresh_from_db()
        assert campaign.state == "draft"
        page = client.get(f"/campaigns/{campaign.slug}/").content.decode()
        assert (
            "The guidelines explain “Partly answers”, but the scale has only these grades: Not relevant, Related, Some, Fully answers."
            in page
        )
        lifecycle.save_guideline(
            campaign, prefilled(campaign).replace("**Partly answers**", "**Some**")
        )
        assert lifecycle.open_campaign(campaign).state == "open"

    def test_grades_that_were_renamed_twice_are_known_from_the_audit(self):
        campaign = make_campaign(state="draft")
        post_scale(campaign, "Bad", "Good")
        lifecycle.save_guideline(campaign, "- **Bad**: no\n- **Good**: yes")
        post_scale(campaign, "No", "Yes")
        assert [one.step for one in find_contradictions(campaign)] == ["guidelines"]

    def test_a_bar_without_qualification_pairs_and_pairs_without_a_bar(self):
        campaign = make_campaign(state="draft")
        lifecycle.update_campaign(campaign, actor=None, qualification_pass=0.7)
        with pytest.raises(
            CampaignError,
            match="The qualification pass mark is 70%, but there are no qualification questions",
        ):
            lifecycle.open_campaign(campaign)
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/").content.decode()
        assert f'href="/campaigns/{campaign.slug}/gold' in page
        lifecycle.set_pair_kind(campaign.pairs.first(), "qualification", gold_grade=1)
        assert find_contradictions(campaign) == []
        lifecycle.update_campaign(campaign, actor=None, qualification_pass=0)
        assert "no pass mark" in find_contradictions(campaign)[0].says

    def test_known_grades_that_left_the_scale(self):
        campaign = make_campaign(state="draft")
        lifecycle.set_pair_kind(campaign.pairs.first(), "gold", gold_grade=3)
        post_scale(campaign, "No", "Yes")
        assert (
            find_contradictions(campaign)[0].says
            == "These known grades are not on the scale: 3. Change these grades or the scale."
        )

    def test_gold_that_one_key_passes_is_a_warning(self):
        campaign = make_campaign(state="draft")
        for pair in campaign.pairs.all()[:2]:
            lifecycle.set_pair_kind(pair, "gold", gold_grade=3)
        assert find_contradictions(campaign) == []
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/").content.decode()
        assert "correct grade for all 2 gold questions" in page

    def test_a_campaign_that_was_open_opens_again(self):
        campaign = make_campaign(state="closed")
        Campaign.objects.filter(pk=campaign.pk).update(qualification_pass=0.7)
        campaign.refresh_from_db()
        assert lifecycle.open_campaign(campaign).state == "open"


class TestDailyLimits:
    """Ten pairs, three judgements each: 30. Three days to the deadline touch four days of the
    calendar at most."""

    def draft(self, **settings) -> Campaign:
        campaign = make_campaign(state="draft", n_topics=2, n_documents=5)
        lifecycle.update_campaign(
            campaign, actor=None, deadline=timezone.now() + timedelta(days=3), **settings
        )
        return campaign

    @pytest.mark.parametrize(
        ("target", "limit", "opens"),
        [
            (10, 2, False),  # 4 x 2 = 8 of 10
            (8, 2, True),
            (10, 3, True),  # 4 x 3 = 12
            (300, 3, True),  # there are only ten pairs
            (300, 2, False),
            (0, 1, True),  # no target
            (10, None, True),
        ],
    )
    def test_a_target_that_nobody_can_reach_by_the_deadline_keeps_it_from_opening(
        self, target, limit, opens
    ):
        campaign = self.draft(target_per_annotator=target, daily_limit=limit)
        if opens:
            assert find_contradictions(campaign) == []
            assert lifecycle.open_campaign(campaign).state == "open"
            return
        says = "asked for 10 judgements but may make only 2 per day, at most 8 in the 4 days until the deadline"
        with pytest.raises(CampaignError, match=says):
            lifecycle.open_campaign(campaign)
        assert says in manager_of(campaign).get(f"/campaigns/{campaign.slug}/").content.decode()

    def test_without_a_deadline_any_limit_is_enough(self):
        campaign = make_campaign(state="draft", target_per_annotator=10, daily_limit=1)
        assert find_contradictions(campaign) == []
        make_annotator(campaign)
        assert capacity_warning(campaign, 30) == ""

    def test_too_few_annotators_for_their_limits_are_a_warning_and_it_opens(self):
        campaign = self.draft(target_per_annotator=0, daily_limit=2)
        assert capacity_warning(campaign, 30) == ""  # nobody is there yet
        make_annotator(campaign)
        assert "1 annotator can make at most 8 of 30 judgements" in capacity_warning(campaign, 30)
        make_annotator(campaign, daily_limit=1)
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/"
        assert (
            "2 annotators can make at most 12 of 30 judgements by the deadline"
            in client.get(address).content.decode()
        )  # 8 + 4
        make_annotator(campaign, daily_limit=100)  # no more than the ten pairs: 22
        assert "at most 22 of 30" in capacity_warning(campaign, 30)
        make_annotator(campaign)
        assert "by the deadline." not in client.get(address).content.decode()  # 30
        assert lifecycle.open_campaign(campaign).state == "open"

    def test_whoever_may_not_go_on_after_the_target_makes_no_more(self):
        campaign = self.draft(target_per_annotator=5, daily_limit=3, continue_after_target=False)
        make_annotator(campaign)
        assert "at most 5 of 30" in capacity_warning(campaign, 30)
        lifecycle.update_campaign(campaign, actor=None, continue_after_target=True)
        assert "at most 10 of 30" in capacity_warning(campaign, 30)  # 12, of ten pairs


@pytest.mark.parametrize(("hours", "days"), [(1, 2), (24, 2), (25, 3), (72, 4)])
def test_the_days_of_the_calendar_that_a_time_touches_at_most(hours, days):
    # by hand: 25 hours from 23:30 on end at 0:30 of the third day
    assert max_calendar_days(timedelta(hours=hours)) == days


@pytest.mark.parametrize(
    ("annotators", "most"),
    [
        ([], 0),
        ([(None, 5)], 20),
        ([(15, 5)], 15),
        ([(300, None)], 100),
        ([(None, None), (30, 2), (0, 1)], 100 + 8 + 4),
    ],
)
def test_the_judgements_that_annotators_can_make_in_four_days_of_a_hundred_pairs(annotators, most):
    assert max_judgements_in_time(annotators, n_days=4, n_pairs=100) == most


class TestScale:
    def test_the_threshold_of_a_draft_follows_a_shorter_scale_and_this_is_said(self):
        campaign = make_campaign(state="draft")
        client = post_scale(campaign, "Not relevant", "Relevant")
        assert (len(campaign.scale), campaign.min_relevant, campaign.spans_from) == (2, 1, 1)
        said = client.get(f"/campaigns/{campaign.slug}/settings/guidelines/").content.decode()
        assert "The minimum relevant grade is now Relevant, because grade 2" in said

    def test_an_open_campaign_is_not_changed_behind_its_back(self):
        campaign = make_campaign()
        response = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/settings/scale/", scale_data("No", "Yes")
        )
        assert response.status_code == 400
        assert "minimum relevant grade" in response.content.decode()


def test_the_gold_page_is_linked_and_works_while_drafting():
    campaign = make_campaign(state="draft")
    client = manager_of(campaign)
    address = f"/campaigns/{campaign.slug}/gold/"
    assert address in client.get(f"/campaigns/{campaign.slug}/settings/rules/").content.decode()
    assert client.get(address).status_code == 200


def test_fewer_judgements_a_pair_tell_their_effect():
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=3, expected_seconds=60)
    judge(make_annotator(campaign), 1)
    data = rules_data(campaign, judgements_per_pair="2")
    answer = (
        manager_of(campaign)
        .post(f"/campaigns/{campaign.slug}/settings/rules/", data, follow=True)
        .content.decode()
    )
    # by hand: 6 pairs: 18 - 1 were missing, 12 - 1 are; six judgements of a minute
    assert (
        "Judgements per pair: 2 (previously 3). Missing judgements: 11 (previously 17). This saves about 0.1 hours at 60 seconds per judgement."
        in answer
    )


def test_closing_asks_first():
    campaign = make_campaign(n_topics=2, n_documents=3)
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/open/").content.decode()
    page = " ".join(page.split())  # as app.js asks it
    assert (
        'data-confirm="Close the campaign? Annotators will no longer be able to judge. 6 pairs still need '
        'judgements. You can reopen it later."'
    ) in page


def test_the_audit_names_a_pair_by_its_ids():
    campaign = make_campaign(state="draft")
    pair = campaign.pairs.select_related("entry__topic").first()
    lifecycle.set_pair_kind(pair, "gold", gold_grade=1)
    event = AuditEvent.objects.get(campaign=campaign, action="made a pair a gold question")
    assert event.subject == f"{pair.entry.topic.topic_id} {pair.entry.docno}"


@pytest.mark.parametrize(
    ("given", "judgements", "annotators"),
    [
        # by hand: 1,000 pairs x 3 = 3,000 judgements; at 300 each ten annotators
        ({"n_pairs": 1000, "per_pair": 3, "target": 300}, 3000, 10),
        # one in 20 is gold: 15 of 300, so 285 ordinary ones each: 3,000 / 285 = 10.5, eleven
        # annotators, 11 x 15 gold judgements
        ({"n_pairs": 1000, "per_pair": 3, "target": 300, "n_special": 40}, 3165, 11),
        # only four gold pairs: 296 each: 10.1, eleven annotators
        ({"n_pairs": 1000, "per_pair": 3, "target": 300, "n_special": 4}, 3044, 11),
        ({"n_pairs": 10, "per_pair": 3, "n_special": 2}, 36, None),
        ({"n_pairs": 0, "per_pair": 3, "target": 300}, 0, 0),
        # nobody judges a pair twice: three judgements of each of 79 pairs are three people's,
        # whatever their target
        ({"n_pairs": 79, "per_pair": 3, "target": 300}, 237, 3),
        ({"n_pairs": 79, "per_pair": 2, "target": 300, "n_special": 2}, 162, 2),
        ({"n_pairs": 5, "per_pair": 1, "target": 1, "n_special": 2, "gold_every": 1}, 5, 5),
    ],
)
def test_the_workload(given, judgements, annotators):
    assert estimate_workload(**given) == (judgements, annotators)
