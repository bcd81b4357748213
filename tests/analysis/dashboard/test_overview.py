"""The overview of a campaign that is a draft, waits for its first judgement, or is closed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from analysis.dashboard.checklists import ChecklistStep, list_finish_steps
from analysis.dashboard.home_summary import get_home_figures
from analysis.dashboard.progress import compute_progress
from analysis.dashboard.to_do_list import ToDoAction, ToDoItem, ToDoKind
from analysis.dashboard.views.progress import _forecast_line
from annotation.core.audit_actions import AuditAction
from annotation.core.presets import guidelines_text
from annotation.models import Campaign, Invitation
from annotation.selectors.people import get_shared_invitation
from annotation.services.audit import record_event
from annotation.services.campaigns import lifecycle
from annotation.services.people import accounts
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign, make_collection, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


def primary_buttons(response) -> list[str]:
    """Of the page, not of its dialogs."""
    page = re.sub(r"<dialog.*?</dialog>", "", response.content.decode(), flags=re.DOTALL)
    found = re.findall(r'class="[^"]*\bprimary\b[^"]*"[^>]*>(.*?)</(?:a|button)>', page, re.DOTALL)
    return [" ".join(words.split()) for words in found]


class TestDraft:
    def test_the_checklist_says_what_comes_next_and_ends_with_opening(self):
        """Files, pool, rules and scale are there; guidelines, gold questions, people and the trial
        are not."""
        campaign = make_campaign(state="draft")
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/"
        page = client.get(address)
        assert "4 of 8 steps done. Next: Guidelines." in text_of(page)
        assert primary_buttons(page) == ["Write"]
        lifecycle.save_guideline(campaign, "# Read it whole")
        page = client.get(address)
        assert "Ready to open." in text_of(page)
        assert primary_buttons(page) == ["Open campaign"]
        assert client.post(f"{address}state", {"action": "open"}).url == address
        assert "Open and waiting for annotators." in text_of(client.get(address))

    def test_initial_guidelines_are_to_be_replaced(self):
        campaign = make_campaign(state="draft")
        lifecycle.save_guideline(campaign, guidelines_text(campaign.scale))
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
        assert "Still the initial text." in text_of(page)
        assert "Next: Guidelines." in text_of(page)

    def test_contradictions_come_first_and_it_cannot_be_opened(self):
        campaign = make_campaign(state="draft")
        lifecycle.update_campaign(campaign, actor=None, qualification_pass=0.7)
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
        assert "its settings contradict each other" in text_of(page)
        assert re.search(r'value="open" disabled', page.content.decode())

    def test_without_a_pool_the_pool_comes_first(self):
        manager = make_user(may_create=True)
        collection = make_collection(n_topics=1, n_documents=1, manager=manager)
        campaign = lifecycle.create_campaign(name="New", collection=collection, actor=manager)
        client = Client()
        client.force_login(manager)
        page = client.get(f"/campaigns/{campaign.slug}/")
        assert "No pool chosen." in text_of(page)
        assert "Workload" not in text_of(page)


class TestBeforeTheFirstJudgement:
    def test_the_page_shows_how_annotators_join_and_no_charts(self):
        """Ten pairs, three judgements each, 30 seconds a judgement: a quarter of an hour."""
        campaign = make_campaign(expected_seconds=30)
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/"
        page = client.get(address)
        text = text_of(page)
        assert "Open and waiting for annotators." in text
        assert "30 judgements needed, about 0.3 hours of work." in text
        assert "<figure" not in page.content.decode()
        assert primary_buttons(page) == ["Create link"]
        made = client.post(
            f"/campaigns/{campaign.slug}/invitations/",
            {"action": "link", "role": "annotator", "back": "campaign"},
        )
        assert made.url == address
        invitation = Invitation.objects.get(campaign=campaign)
        answer = client.get(address)
        page = answer.content.decode()
        assert f'data-copy-text="http://testserver/join/{invitation.token}"' in page
        assert f'data-copy-text="{invitation.code}"' in page
        assert primary_buttons(answer) == ["Copy link"]

    def test_those_who_have_joined_are_counted_and_the_first_judgement_ends_it(self):
        campaign = make_campaign()
        client, ada = manager_of(campaign), make_annotator(campaign)
        address = f"/campaigns/{campaign.slug}/"
        assert "1 annotator has joined. No judgements yet." in text_of(client.get(address))
        judge(ada, 1)
        assert "Invite annotators" not in text_of(client.get(address))
        assert "1 of 30" in text_of(client.get(address))

    def test_a_paused_campaign_says_that_it_is_paused(self):
        campaign = make_campaign(state="paused")
        text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/"))
        assert "Paused: 0% judged. No pairs are assigned." in text
        assert "waiting for annotators" not in text

    def test_the_invitation_shown_is_one_that_anyone_can_use(self):
        campaign = make_campaign()

        def invite(**settings: object) -> Invitation:
            return accounts.create_invitation(campaign=campaign, actor=None, **settings)

        invite(name="Ada")
        invite(role="manager")
        accounts.revoke_invitation(invitation=invite(), actor=None)
        Invitation.objects.filter(pk=invite(max_uses=2).pk).update(n_uses=2)
        invite(expires_at=timezone.now() - timedelta(minutes=1))
        assert get_shared_invitation(campaign) is None
        shared = invite(max_uses=2)
        assert get_shared_invitation(campaign) == shared


class TestClosed:
    @pytest.fixture
    def campaign(self) -> Campaign:
        """Of two pairs with two judgements each, one is disputed: grades 0 and 3."""
        made = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2)
        ada, bob = make_annotator(made), make_annotator(made)
        for grade in (0, 2):
            judge(ada, grade)
            judge(bob, 3 if grade == 0 else 2)
        lifecycle.close_campaign(made, actor=None)
        return Campaign.objects.get(pk=made.pk)

    def test_the_checklist_shows_what_remains_and_one_primary_button(self, campaign):
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
        text = text_of(page)
        assert "Closed and complete: 4 of 4 judgements." in text
        assert "Next: Adjudicate disputed pairs." in text
        assert "2 of 6 done" in text  # closed, and no annotator's judgements look random
        assert primary_buttons(page) == ["Adjudicate"]
        assert 'hx-trigger="every' not in page.content.decode()
        assert "Invite" not in text

    def test_what_was_done_after_closing_is_ticked(self, campaign):
        actions = (AuditAction.EXPORTED, AuditAction.BUILT_A_RELEASE, AuditAction.SENT_A_MESSAGE)
        for n, action in enumerate(actions, start=3):
            record_event(campaign, None, action, digest="0" * 64, same_as_before=False)
            page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
            assert f"{n} of 6 done" in text_of(page)

    def test_a_flagged_annotator_is_excluded_or_kept_with_a_note(self, campaign):
        ada = campaign.memberships.filter(role="annotator").order_by("pk").first()
        now = compute_progress(campaign)
        known, _ = get_home_figures([campaign])
        flag = ToDoItem(
            ToDoKind.RANDOM_LIKE_FLAGS,
            campaign,
            f"{ada.pseudonym} may agree with others only by chance",
            2,
            [ToDoAction("Review", "/", about=ada.pseudonym)],
        )

        def review() -> ChecklistStep:
            return list_finish_steps(campaign, now, known[campaign.pk], [flag])[1]

        assert not review().is_done
        assert review().note.endswith("Exclude them, or keep them with a note.")
        accounts.write_note(ada, "Strict, but consistent.", actor=None)
        assert (review().is_done, review().note) == (True, "1 annotator kept with a note.")

    def test_what_is_missing_is_said(self):
        made = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2)
        judge(make_annotator(made), 1)
        lifecycle.close_campaign(made, actor=None)
        text = text_of(manager_of(made).get(f"/campaigns/{made.slug}/"))
        assert "Closed with 25% judged. The first rank is not complete." in text
        assert "3 judgements are missing." in text


def test_the_forecast_of_the_chart_shows_its_whole_interval_up_to_the_deadline():
    """From 100 of 200 at hour 0, to be complete at hour 10, at the earliest at 5, at the latest at
    40, with the deadline at hour 20: at hour 20, half of the missing are made at the slowest pace."""
    hour = 3600.0
    now = SimpleNamespace(moment=datetime.fromtimestamp(0, UTC), needed=200, counted=100)
    line = _forecast_line(now, 10 * hour, 5 * hour, 40 * hour, until=20 * hour)
    at = {
        x / hour: (y, low, high)
        for (x, y), low, high in zip(line.points, line.low, line.high, strict=True)
    }
    assert at[0.0] == (100, 100, 100)
    assert at[10.0] == pytest.approx((200, 125, 200))
    assert at[20.0] == pytest.approx((200, 150, 200))
