"""The overview of a campaign that waits for its first judgement, is a draft, or is closed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Invitation
from annotation.selectors.people import get_shared_invitation
from annotation.services.people import accounts
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


def primary_buttons(response) -> list[str]:
    """Of the page, not of its dialogs."""
    page = re.sub(r"<dialog.*?</dialog>", "", response.content.decode(), flags=re.DOTALL)
    found = re.findall(r'class="[^"]*\bprimary\b[^"]*"[^>]*>(.*?)</(?:a|button)>', page, re.DOTALL)
    return [" ".join(words.split()) for words in found]


class TestBeforeTheFirstJudgement:
    def test_the_page_shows_how_annotators_join_and_no_charts(self):
        """Ten pairs, three judgements each, 30 seconds a judgement: a quarter of an hour."""
        campaign = make_campaign(expected_seconds=30)
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/"
        page = client.get(address)
        text = text_of(page)
        assert "Open, and waiting for annotators." in text
        assert "30 judgements needed, about 0.3 hours of work." in text
        assert "<figure" not in page.content.decode()
        assert primary_buttons(page) == ["Create link"]
        made = client.post(
            f"/campaigns/{campaign.slug}/settings/people/",
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
        assert "Paused: 0% judged, no pairs are assigned." in text
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
