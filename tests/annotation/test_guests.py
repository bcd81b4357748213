"""Participants of a panel such as Prolific: joining, judging, completion codes, events of the
panel, and where their IDs do not appear."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.models import (
    AuditEvent,
    Campaign,
    Guest,
    GuestPanel,
    Judgement,
    Lease,
    Membership,
    Pair,
    PanelEvent,
)
from annotation.selectors.judging import check_invariants
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION, SUBMISSION_ENDED
from annotation.services.campaigns import lifecycle, removal
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.people import accounts, attempts, exclusion, guests
from tests.annotation.panel_service import PanelParticipant, PanelService, read_completion_code
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_remembered_attempts() -> None:
    cache.clear()


def make_panel(campaign: Campaign | None = None, **values: Any) -> GuestPanel:
    campaign = campaign or make_campaign(min_active_seconds=0)
    given = {
        "places": 10,
        "judgements": 2,
        "done_code": "DONE1",
        "failed_code": "FAILED1",
        "declined_code": "DECLINED1",
        "full_code": "FULL1",
        "secret": "shared secret",
        **values,
    }
    return guests.save_panel(campaign, given, actor=campaign.created_by)


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def code_on(response: Any) -> str:
    """The code on the page, which is also that of the link back."""
    page = response.content.decode()
    (code,) = re.findall(r"<code>(\w+)</code>", page)
    (url,) = re.findall(r'href="(https://app\.prolific\.com[^"]+)"', page)
    assert read_completion_code(url) == code
    return str(code)


def member_of(participant: PanelParticipant) -> Membership:
    user = User.objects.get(pk=participant.client.session["_auth_user_id"])
    return Membership.objects.select_related("campaign", "guest").get(user=user)


class TestJoining:
    def test_one_click_leads_to_judging_without_an_account_form(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        page = ada.open()
        assert page.status_code == 200
        assert "password" not in page.content.decode()
        answer = ada.agree()
        assert (answer.status_code, answer.url) == (302, f"/judge/{panel.campaign.slug}/")  # type: ignore[attr-defined]
        assert ada.client.get(f"/judge/{panel.campaign.slug}/").status_code == 200
        member = member_of(ada)
        assert member.role == Membership.Role.ANNOTATOR
        assert member.target == 2
        assert member.consented_at is not None
        assert not member.user.has_usable_password()
        assert member.user.email == ""

    def test_opening_the_link_creates_nothing(self) -> None:
        ada = PanelParticipant(make_panel())
        ada.open()
        assert not Guest.objects.exists()
        assert "_auth_user_id" not in ada.client.session

    def test_a_form_of_another_site_is_refused(self) -> None:
        ada = PanelParticipant(make_panel())
        answer = ada.client.post(f"/join/{ada.panel.token}", {**ada.parameters, "action": "agree"})
        assert answer.status_code == 403
        assert not Guest.objects.exists()

    def test_the_consent_text_and_what_is_stored_are_shown(self) -> None:
        panel = make_panel(make_campaign(consent_text="You are **paid** 3 pounds."))
        page = text_of(PanelParticipant(panel).open())
        assert "You are <strong>paid</strong> 3 pounds." in page
        assert "Your Prolific ID is not stored" in page

    def test_who_does_not_agree_gets_the_code_and_nothing_is_stored(self) -> None:
        ada = PanelParticipant(make_panel())
        answer = ada.press("decline")
        assert code_on(answer) == "DECLINED1"
        assert not Guest.objects.exists()
        assert not User.objects.filter(username__startswith="guest-").exists()

    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"PROLIFIC_PID": ""},
            {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"},
            {"PROLIFIC_PID": "a" * 65},
            {"PROLIFIC_PID": "<script>"},
            {"PROLIFIC_PID": "abc", "SESSION_ID": "a b"},
            {"participant": "abc"},
        ],
    )
    def test_missing_or_malformed_ids_are_refused(
        self, client: Client, parameters: dict[str, str]
    ) -> None:
        panel = make_panel()
        for answer in (
            client.get(f"/join/{panel.token}", parameters),
            client.post(f"/join/{panel.token}", {**parameters, "action": "agree"}),
        ):
            assert answer.status_code == 400
            assert "Prolific" in answer.content.decode()
        assert not Guest.objects.exists()

    def test_a_draft_admits_nobody(self) -> None:
        answer = PanelParticipant(make_panel(make_campaign(state="draft"))).open()
        assert answer.status_code == 409
        assert "FULL1" not in answer.content.decode()

    def test_an_address_may_open_the_link_300_times_in_five_minutes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(attempts, "MOST_LOOKS", 2)
        ada = PanelParticipant(make_panel())
        assert [ada.open().status_code for _ in range(3)] == [200, 200, 429]

    def test_another_panel_names_its_own_parameters(self, client: Client) -> None:
        panel = make_panel(
            name="SONA",
            participant_parameter="survey_code",
            submission_parameter="",
            return_address="",
        )
        assert client.get(f"/join/{panel.token}", {"survey_code": "77"}).status_code == 200
        page = text_of(
            client.post(f"/join/{panel.token}", {"survey_code": "77", "action": "decline"})
        )
        assert "DECLINED1" in page
        assert "Enter this code on SONA." in page

    def test_guests_have_no_account_settings(self) -> None:
        ada = PanelParticipant(make_panel())
        ada.agree()
        assert ada.client.get("/account").status_code == 403
        assert 'href="/account"' not in ada.client.get("/").content.decode()


class TestReturning:
    def test_the_link_continues_in_another_browser_and_nothing_else_does(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{panel.campaign.slug}/")
        ada.judge(1)
        first = member_of(ada)
        elsewhere = PanelParticipant(panel, pid=ada.pid, submission=ada.submission)
        assert elsewhere.client.get(f"/judge/{panel.campaign.slug}/").status_code == 302  # sign-in
        assert "Welcome back" in elsewhere.open().content.decode()
        assert elsewhere.press("").status_code == 302
        assert member_of(elsewhere) == first
        assert Guest.objects.count() == 1

    def test_the_same_browser_returns_at_once(self) -> None:
        ada = PanelParticipant(make_panel())
        ada.agree()
        answer = ada.open()
        assert (answer.status_code, answer.url) == (302, f"/judge/{ada.panel.campaign.slug}/")  # type: ignore[attr-defined]

    def test_another_participant_in_the_same_browser_is_another_guest(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        first = member_of(ada)
        bob = PanelParticipant(panel, client=ada.client)
        assert "you are signed out of this account" in text_of(bob.open())
        bob.agree()
        assert member_of(bob) != first

    def test_who_has_finished_gets_the_code_again(self) -> None:
        campaign = make_campaign(min_active_seconds=0, thanks_text="You helped **a lot**.")
        ada = finished_guest(make_panel(campaign))
        assert code_on(ada.open()) == "DONE1"
        assert "You helped <strong>a lot</strong>." in ada.open().content.decode()
        elsewhere = PanelParticipant(ada.panel, pid=ada.pid, submission=ada.submission)
        assert code_on(elsewhere.open()) == "DONE1"
        assert "_auth_user_id" not in elsewhere.client.session

    def test_participants_of_two_campaigns_cannot_be_linked(self) -> None:
        one, two = make_panel(), make_panel()
        ada = PanelParticipant(one)
        ada.agree()
        PanelParticipant(two, pid=ada.pid, submission=ada.submission).agree()
        assert len(set(Guest.objects.values_list("participant", flat=True))) == 2


def finished_guest(panel: GuestPanel) -> PanelParticipant:
    guest = PanelParticipant(panel)
    guest.agree()
    guest.client.get(f"/judge/{panel.campaign.slug}/")
    for _ in range(panel.judgements):
        guest.judge(1)
    return guest


class TestEnds:
    def test_a_guest_who_reaches_the_target_gets_the_code_and_cannot_go_on(self) -> None:
        ada = finished_guest(make_panel())
        end = ada.ask("leases", want=1)
        assert end["state"] == "target_reached"
        assert (end["panel"], end["outcome"], end["completion_code"]) == (
            "Prolific",
            "done",
            "DONE1",
        )
        assert read_completion_code(end["completion_url"]) == "DONE1"
        assert end["may_continue"] is False
        assert end["pairs"] == []

    def test_others_see_the_codes_of_the_campaign(self) -> None:
        campaign = make_campaign(target_per_annotator=1, completion_code="OTHERS")
        make_panel(campaign)
        member = make_annotator(campaign, n_judged=1)
        client = Client()
        client.force_login(member.user)
        end = client.get(f"/api/v1/judging/{campaign.slug}/setup").json()
        assert end["state"] == "target_reached"
        assert end["completion_code"] == "OTHERS"
        assert end["may_continue"] is True
        assert "panel" not in end

    def test_who_fails_the_qualification_test_gets_its_code_and_frees_the_place(self) -> None:
        campaign = make_campaign(qualification_pass=1.0)
        set_pair_kind(
            campaign.pairs.first(),  # type: ignore[arg-type]
            Pair.Kind.QUALIFICATION,
            gold_grade=3,
            actor=campaign.created_by,
        )
        panel = make_panel(campaign, places=1)
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{campaign.slug}/")
        ada.judge(0)
        end = ada.ask("leases", want=1)
        assert (end["state"], end["outcome"], end["completion_code"]) == (
            "paused",
            "failed",
            "FAILED1",
        )
        assert "manager" not in end["message"]
        assert code_on(ada.open()) == "FAILED1"
        assert member_of(ada).status_reason == FAILED_QUALIFICATION
        assert PanelParticipant(panel).agree().status_code == 302

    def test_the_last_place_is_given_once(self) -> None:
        panel = make_panel(places=1)
        ada, bob = PanelParticipant(panel), PanelParticipant(panel)
        read = bob.open()
        ada.agree()
        assert code_on(bob.press("agree", page=read)) == "FULL1"
        assert code_on(bob.open()) == "FULL1"
        assert Guest.objects.count() == 1

    @pytest.mark.parametrize("why", ["not open", "closed", "deadline", "judged"])
    def test_a_full_campaign_says_so_with_its_code(self, why: str) -> None:
        campaign = make_campaign(
            n_topics=1, n_documents=1, judgements_per_pair=1, min_active_seconds=0
        )
        panel = make_panel(campaign, is_open=why != "not open")
        if why == "closed":
            lifecycle.close_campaign(campaign, actor=None)
        elif why == "deadline":
            Campaign.objects.update(deadline=timezone.now() - timedelta(hours=1))
        elif why == "judged":
            first = PanelParticipant(panel)
            first.agree()
            first.client.get(f"/judge/{campaign.slug}/")
            end = first.judge(2)
            assert end["state"] in ("judging", "done")
            assert first.ask("leases", want=1)["outcome"] == "done"
        assert code_on(PanelParticipant(panel).open()) == "FULL1"

    def test_guests_of_a_campaign_that_closes_early_get_the_code_for_full(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{panel.campaign.slug}/")
        ada.judge(1)
        lifecycle.close_campaign(panel.campaign, actor=None)
        assert ada.ask("leases", want=1)["completion_code"] == "FULL1"
        assert code_on(ada.open()) == "FULL1"

    def test_excluded_guests_get_no_code_and_free_their_place(self) -> None:
        panel = make_panel(places=1)
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{panel.campaign.slug}/")
        exclusion.exclude_annotator(member_of(ada), reason="random", actor=None)
        assert "completion_code" not in ada.ask("leases", want=1)
        assert PanelParticipant(panel).agree().status_code == 302


class TestEvents:
    def test_pairs_of_a_returned_submission_are_free_at_once_and_judgements_stay(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{panel.campaign.slug}/")
        ada.judge(1)
        ada.ask("leases", want=3)
        assert Lease.objects.filter(state=Lease.State.LIVE).exists()
        assert PanelService(panel).send(ada, "RETURNED").status_code == 204
        assert not Lease.objects.filter(state=Lease.State.LIVE).exists()
        assert Judgement.objects.filter(status=Judgement.Status.COUNTED).count() == 1
        assert check_invariants(panel.campaign) == []
        end = ada.ask("leases", want=1)
        assert (end["state"], end["pairs"]) == ("paused", [])
        assert "you returned it or ran out of time" in end["reason"]

    def test_a_timeout_frees_the_place(self) -> None:
        panel = make_panel(places=1)
        ada = PanelParticipant(panel)
        ada.agree()
        assert code_on(PanelParticipant(panel).open()) == "FULL1"
        PanelService(panel).send(ada, "TIMED-OUT")
        assert PanelParticipant(panel).agree().status_code == 302

    def test_a_new_submission_of_the_same_participant_continues(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        ada.client.get(f"/judge/{panel.campaign.slug}/")
        ada.judge(1)
        service = PanelService(panel)
        service.send(ada, "RETURNED")
        first, ada.submission = member_of(ada), "f" * 24
        assert ada.agree().status_code == 302
        assert member_of(ada) == first
        assert member_of(ada).status == Membership.Status.ACTIVE
        service.repeat()  # about the submission that has ended
        assert member_of(ada).status == Membership.Status.ACTIVE
        assert ada.judge(1)["progress"]["judged"] == 2

    def test_a_repeated_event_is_applied_once(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        service = PanelService(panel)
        service.send(ada, "RETURNED", event_id="e1")
        exclusion.resume_annotator(member_of(ada), actor=None)
        assert service.repeat().status_code == 204
        assert service.send(ada, "RETURNED", event_id="e1").status_code == 204
        assert member_of(ada).status == Membership.Status.ACTIVE
        assert service.send(ada, "RETURNED", event_id="e2").status_code == 204
        assert member_of(ada).status_reason == SUBMISSION_ENDED

    @pytest.mark.parametrize("status", ["ACTIVE", "AWAITING REVIEW", "APPROVED", "REJECTED"])
    def test_other_changes_have_no_effect(self, status: str) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        assert PanelService(panel).send(ada, status).status_code == 204
        assert member_of(ada).status == Membership.Status.ACTIVE

    def test_unknown_participants_are_answered_like_known_ones(self) -> None:
        panel = make_panel()
        answer = PanelService(panel).send(PanelParticipant(panel), "RETURNED")
        assert (answer.status_code, answer.content) == (204, b"")

    def test_a_finished_guest_keeps_the_code_after_a_timeout(self) -> None:
        ada = finished_guest(make_panel(places=1))
        PanelService(ada.panel).send(ada, "TIMED-OUT")
        assert code_on(ada.open()) == "DONE1"
        assert code_on(PanelParticipant(ada.panel).open()) == "FULL1"

    def test_an_excluded_guest_stays_excluded(self) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        exclusion.exclude_annotator(member_of(ada), reason="random", actor=None)
        assert PanelService(panel).send(ada, "RETURNED").status_code == 204
        assert member_of(ada).status == Membership.Status.EXCLUDED

    @pytest.mark.parametrize(
        "wrong", [{"secret": "another"}, {"age": 600}, {"age": -600}], ids=["key", "old", "early"]
    )
    def test_a_wrong_signature_changes_nothing(self, wrong: dict[str, Any]) -> None:
        panel = make_panel()
        ada = PanelParticipant(panel)
        ada.agree()
        assert PanelService(panel).send(ada, "RETURNED", **wrong).status_code == 403
        assert member_of(ada).status == Membership.Status.ACTIVE
        assert not PanelEvent.objects.exists()

    def test_a_panel_without_a_secret_takes_no_events(self) -> None:
        panel = make_panel(secret="")
        ada = PanelParticipant(panel)
        ada.agree()
        assert PanelService(panel).send(ada, "RETURNED").status_code == 403

    def test_the_secret_of_another_campaign_does_not_fit(self) -> None:
        panel, other = make_panel(), make_panel(secret="its own")
        ada = PanelParticipant(panel)
        ada.agree()
        assert PanelService(panel).send(ada, "RETURNED", secret=other.secret).status_code == 403

    def test_malformed_and_large_events_are_refused(self) -> None:
        service = PanelService(make_panel())
        assert service.post(b"{").status_code == 400
        assert service.post(b"{}", event_id="e" * 101).status_code == 400
        assert service.post(b" " * (64 * 1024 + 1)).status_code == 413
        assert not PanelEvent.objects.exists()

    def test_old_events_are_forgotten(self) -> None:
        panel = make_panel()
        service, ada = PanelService(panel), PanelParticipant(panel)
        service.send(ada, "ACTIVE", event_id="e1")
        PanelEvent.objects.update(received_at=timezone.now() - timedelta(days=2))
        service.send(ada, "ACTIVE", event_id="e2")
        assert list(PanelEvent.objects.values_list("event_id", flat=True)) == ["e2"]

    def test_without_a_submission_in_the_link_the_participant_is_found(self) -> None:
        panel = make_panel(submission_parameter="")
        ada = PanelParticipant(panel)
        ada.agree()
        PanelService(panel).send(ada, "RETURNED", resource_id="unknown")
        assert member_of(ada).status_reason == SUBMISSION_ENDED


FORM = {
    "name": "Prolific",
    "is_open": "on",
    "places": "20",
    "judgements": "30",
    "reward": "3.50",
    "min_hourly_pay": "9",
    "done_code": "C1",
    "failed_code": "C2",
    "declined_code": "C3",
    "full_code": "C4",
    "secret": "",
    "participant_parameter": "PROLIFIC_PID",
    "submission_parameter": "SESSION_ID",
    "return_address": "https://app.prolific.com/submissions/complete?cc=CODE",
    "consent_text": "I agree.",
}


class TestSettings:
    @pytest.fixture
    def campaign(self, client: Client) -> Campaign:
        campaign = make_campaign()
        client.force_login(campaign.created_by)  # type: ignore[arg-type]
        return campaign

    def test_a_panel_is_created_with_its_link(self, client: Client, campaign: Campaign) -> None:
        address = f"/campaigns/{campaign.slug}/panel/"
        assert "Study link" not in client.get(address).content.decode()
        assert client.post(address, {**FORM, "secret": "hush hush"}).status_code == 302
        panel = GuestPanel.objects.get(campaign=campaign)
        page = client.get(address).content.decode()
        assert (
            f"/join/{panel.token}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;SESSION_ID={{{{%SESSION_ID%}}}}"
            in page
        )
        assert f"/join/{panel.token}/events" in page
        assert "hush hush" not in page
        assert Campaign.objects.get(pk=campaign.pk).consent_text == "I agree."
        event = AuditEvent.objects.get(campaign=campaign, action="changed the panel")
        assert "hush" not in f"{event.subject} {event.details}"

    def test_an_empty_secret_keeps_the_saved_one(self, client: Client, campaign: Campaign) -> None:
        address = f"/campaigns/{campaign.slug}/panel/"
        client.post(address, {**FORM, "secret": "hush"})
        client.post(address, {**FORM, "places": "21"})
        panel = GuestPanel.objects.get(campaign=campaign)
        assert (panel.secret, panel.places) == ("hush", 21)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("places", "0"),
            ("judgements", ""),
            ("done_code", "a b"),
            ("full_code", ""),
            ("return_address", "https://example.org/"),
            ("return_address", "javascript:CODE"),
            ("participant_parameter", "a&b"),
            ("submission_parameter", "PROLIFIC_PID"),
            ("reward", "-1"),
        ],
    )
    def test_wrong_values_are_refused_and_nothing_is_saved(
        self, client: Client, campaign: Campaign, field: str, value: str
    ) -> None:
        answer = client.post(f"/campaigns/{campaign.slug}/panel/", {**FORM, field: value})
        assert answer.status_code == 400
        assert f'id="id_{field}_error"' in answer.content.decode()
        assert not GuestPanel.objects.exists()
        assert Campaign.objects.get(pk=campaign.pk).consent_text == ""

    def test_managers_find_a_guest_by_the_id_of_the_panel(
        self, client: Client, campaign: Campaign
    ) -> None:
        panel = make_panel(campaign)
        ada = PanelParticipant(panel)
        ada.agree()
        address, found = f"/campaigns/{campaign.slug}/panel/", {"action": "find"}
        answer = client.post(address, {**found, "participant": f" {ada.pid} "})
        pseudonym = member_of(ada).pseudonym
        assert answer.url == f"/campaigns/{campaign.slug}/people/{pseudonym}/"  # type: ignore[attr-defined]
        for unknown in ("", "5f", "<>"):
            answer = client.post(address, {**found, "participant": unknown}, follow=True)
            assert "No guest has this ID." in answer.content.decode()


class TestDeletion:
    def test_deleting_the_campaign_deletes_the_accounts_of_its_guests(self) -> None:
        panel = make_panel()
        PanelParticipant(panel).agree()
        lifecycle.close_campaign(panel.campaign, actor=None)
        others = User.objects.exclude(username__startswith="guest-").count()
        removal.delete_campaign(panel.campaign, actor=None)
        assert User.objects.count() == others

    def test_removing_a_guest_deletes_the_account(self) -> None:
        ada = PanelParticipant(make_panel())
        ada.agree()
        accounts.remove_member(member_of(ada), actor=None)
        assert not User.objects.filter(username__startswith="guest-").exists()
        assert not Guest.objects.exists()
