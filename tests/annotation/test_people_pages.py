"""Signing in, joining, the home and account pages: who may, who may not, and what people are
told."""

from __future__ import annotations

import re
import socket
import threading
from datetime import timedelta
from smtplib import SMTPRecipientsRefused

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import ApiTokenRow, Invitation, Membership, OpenSession, Pair
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.people import accounts, tokens
from annotation.services.people.attempts import hashing_slot
from annotation.services.people.messages import CONSOLE_BACKEND
from assay.formats.errors import FormatError
from config import environment
from pooling.models import Job
from tests.builders import (
    PASSWORD,
    do_urgent_jobs,
    judge_pair,
    make_annotator,
    make_campaign,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_remembered_attempts():
    cache.clear()


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_menu_marks_the_chosen_language_and_says_which_pages_follow_it():
    campaign = make_campaign()
    client = client_of(campaign.created_by)
    client.post("/language", {"language": "de", "next": "/"})
    managers = client.get(reverse("campaign-people", args=[campaign.slug])).content.decode()
    assert re.findall(r'value="(\w+)" lang="\w+" aria-pressed="true"', managers) == ["de"]
    assert (
        "Only annotators&#x27; pages are translated so far." in managers
        or "Only annotators' pages are translated so far." in managers
    )
    assert "übersetzt" not in client.get("/").content.decode()  # its pages follow the choice


class TestSigningIn:
    def test_the_right_password_leads_home(self, client):
        make_user("ada")
        response = client.post("/sign-in", {"username": "ada", "password": PASSWORD})
        assert (response.status_code, response.url) == (302, "/")

    def test_a_wrong_password_and_an_unknown_name_get_the_same_sentence(self, client):
        make_user("ada")
        answers = [
            client.post("/sign-in", {"username": name, "password": "wrong"})
            for name in ("ada", "nobody")
        ]
        assert [a.status_code for a in answers] == [400, 400]
        assert all("do not match" in a.content.decode() for a in answers)

    def test_after_ten_failures_even_the_right_password_has_to_wait(self, client):
        make_user("ada")
        for _ in range(10):
            client.post("/sign-in", {"username": "ada", "password": "wrong"})
        response = client.post("/sign-in", {"username": "ada", "password": PASSWORD})
        assert response.status_code == 400
        assert "Wait five minutes" in response.content.decode()

    def test_the_dialog_of_the_judging_page_gets_json(self, client):
        make_user("ada")
        bad = client.post(
            "/sign-in",
            {"username": "ada", "password": "wrong"},
            headers={"accept": "application/json"},
        )
        assert bad.status_code == 400
        assert bad.json()["code"] == "not_signed_in"
        good = client.post(
            "/sign-in",
            {"username": "ada", "password": PASSWORD},
            headers={"accept": "application/json"},
        )
        assert good.status_code == 204

    def test_a_third_sign_in_at_once_holds_no_thread_and_is_asked_to_come_again(self, client):
        make_user("ada")
        given = {"username": "ada", "password": PASSWORD, "next": "/campaigns/"}
        with hashing_slot(), hashing_slot():
            page = client.post("/sign-in", given)
            told = client.post("/sign-in", given, headers={"accept": "application/json"})
        assert (page.status_code, told.status_code, told.json()["code"]) == (503, 503, "busy")
        assert 3 <= int(page.headers["Retry-After"]) <= 8
        assert 3 <= int(told.headers["Retry-After"]) <= 8
        text = page.content.decode()
        assert "Many people are signing in right now. Try again in a few seconds." in text, (
            "what browsers without scripts show"
        )
        assert (
            'value="ada"' in text,
            'name="next" value="/campaigns/"' in text,
            PASSWORD in text,
        ) == (True, True, False)
        assert client.post("/sign-in", given).url == "/campaigns/"

    def test_turns_are_given_back_after_failures_and_mistakes(self, client, monkeypatch):
        make_user("ada")
        for _ in range(5):
            assert (
                client.post("/sign-in", {"username": "ada", "password": "wrong"}).status_code == 400
            )
        monkeypatch.setattr("annotation.views.people.authenticate", lambda *_, **__: 1 / 0)
        client.raise_request_exception = False
        for _ in range(5):
            assert (
                client.post("/sign-in", {"username": "ada", "password": PASSWORD}).status_code
                == 500
            )
        monkeypatch.undo()
        assert client.post("/sign-in", {"username": "ada", "password": PASSWORD}).status_code == 302

    def test_the_page_after_signing_in_is_never_on_another_host(self, client):
        make_user("ada")
        response = client.post(
            "/sign-in", {"username": "ada", "password": PASSWORD, "next": "https://evil.example/x"}
        )
        assert response.url == "/"

    def test_signing_out_needs_a_post(self):
        client = client_of(make_user())
        assert client.get("/sign-out").status_code == 405
        assert client.post("/sign-out").status_code == 302
        assert client.get("/account").status_code == 302


class TestSignInLinks:
    def ask(self, client, email="ada@example.org") -> str:
        client.post("/sign-in/link", {"email": email})
        do_urgent_jobs()
        return mail.outbox[0].body.split("http://testserver")[1].split()[0] if mail.outbox else ""

    def test_a_link_signs_in_once(self, client):
        user = make_user("ada")
        user.email = "ada@example.org"
        user.save()
        path = self.ask(client)
        assert client.get(path).status_code == 200
        assert (
            "_auth_user_id" not in client.session
        )  # looking at the link signs nobody in: mail scanners do that
        assert client.post(path).status_code == 302
        assert client.session["_auth_user_id"] == str(user.pk)
        assert Client().get(path).status_code == 410

    def test_a_link_is_no_longer_good_after_half_an_hour(self, monkeypatch):
        user = make_user("ada")
        path = accounts.sign_in_path(user).split("/")
        assert accounts.get_sign_in_link_user(*path) == user
        later = accounts.sign_in_links._now() + timedelta(minutes=31)
        monkeypatch.setattr(accounts.sign_in_links, "_now", lambda: later)
        assert accounts.get_sign_in_link_user(*path) is None

    def test_an_unknown_address_gets_the_same_page_and_no_mail(self, client):
        response = client.post("/sign-in/link", {"email": "nobody@example.org"})
        assert response.status_code == 200
        do_urgent_jobs()
        assert mail.outbox == []

    def test_a_request_does_the_same_whether_the_address_has_an_account_or_not(self, monkeypatch):
        """The same statements, one look at the mail server, and no mail: the job sends it, and
        leaves nobody's address behind."""
        make_user(email="ada@example.org")
        looks = []
        monkeypatch.setattr(
            "django.core.mail.backends.locmem.EmailBackend.open", lambda _: looks.append(1)
        )
        asked = []
        for address in ("eve@example.org", "ada@example.org", "bob@example.org"):
            with CaptureQueriesContext(connection) as statements:
                Client().post("/sign-in/link", {"email": address})
            asked.append(
                (
                    [re.sub(r"'[^']*'|[0-9]+", "?", one["sql"]) for one in statements],
                    len(looks),
                    len(mail.outbox),
                )
            )
            looks.clear()
        assert asked[1] == asked[2]
        assert asked[1][1:] == (1, 0)
        do_urgent_jobs()
        assert ([one.to for one in mail.outbox], Job.objects.count()) == ([["ada@example.org"]], 0)

    def test_where_no_worker_sends_mails_none_is_promised(self, client):
        client.post("/sign-in/link", {"email": "ada@example.org"})
        assert client.post("/sign-in/link", {"email": "bob@example.org"}).status_code == 200
        Job.objects.update(created_at=timezone.now() - timedelta(seconds=61))
        answer = client.post("/sign-in/link", {"email": "eve@example.org"})
        assert (answer.status_code, Job.objects.count()) == (503, 2)
        assert "Email can&#x27;t be sent right now." in answer.content.decode()

    def test_where_the_mail_server_has_gone_before_the_mail_the_job_fails_and_keeps_no_address(
        self, client, monkeypatch
    ):
        make_user(email="ada@example.org")
        client.post("/sign-in/link", {"email": "ada@example.org"})

        def away(_):
            raise ConnectionRefusedError(111, "refused")

        monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.open", away)
        do_urgent_jobs()
        job = Job.objects.get()
        assert (job.state, job.message, job.parameters) == (
            "failed",
            "The mail server rejected the email. An administrator can find the details in the "
            "server log.",
            {},
        )

    def test_where_the_mail_server_is_away_nobody_learns_who_has_an_account(self, client, settings):
        make_user(email="ada@example.org")
        settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
            "django.core.mail.backends.smtp.EmailBackend",
            "127.0.0.1",
            1,
        )
        for address in ("ada@example.org", "nobody@example.org"):
            answer = client.post("/sign-in/link", {"email": address})
            assert answer.status_code == 503
            assert "Email can&#x27;t be sent right now." in answer.content.decode()

    def test_where_the_mail_server_refuses_a_mail_nobody_learns_who_has_an_account(
        self, client, monkeypatch
    ):
        make_user(email="ada@example.org")

        def refused(*_):
            raise SMTPRecipientsRefused({"ada@example.org": (550, b"no such mailbox")})

        monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refused)
        known, unknown = (
            client.post("/sign-in/link", {"email": address})
            for address in ("ada@example.org", "bob@example.org")
        )
        do_urgent_jobs()
        assert (known.status_code, unknown.status_code) == (200, 200)
        assert all("a link is on its way" in answer.content.decode() for answer in (known, unknown))

    def test_where_no_mail_server_is_set_no_mail_is_promised(self, client, settings):
        user = make_user("ada")
        user.email = "ada@example.org"
        user.save()
        person = client_of(make_user("maker", may_create=True))
        promised = ("email you a sign-in link", "a link is on its way", "at most one email per day")
        printed = (
            "The link is printed only to the server",
            "The link is printed only to the server",
            "the list is only printed to the",
        )
        for said, unsaid, backend in (
            (promised, printed, settings.EMAIL_BACKEND),
            (printed, promised, CONSOLE_BACKEND),
        ):
            settings.EMAIL_BACKEND = backend
            answers = (
                client.get("/sign-in/link"),
                client.post("/sign-in/link", {"email": user.email}),
                person.get("/account"),
            )
            for answer, yes, no in zip(answers, said, unsaid, strict=True):
                assert answer.status_code == 200
                assert yes in answer.content.decode()
                assert no not in answer.content.decode()

    @pytest.mark.parametrize(
        "path", ["/sign-in/link/x/y", "/sign-in/link/MQ/abc-def", "/sign-in/link/!!/-"]
    )
    def test_a_made_up_link_is_refused(self, client, path):
        make_user()
        assert client.get(path).status_code == 410


class TestJoining:
    def test_a_stranger_makes_an_account_and_judges(self, client):
        campaign = make_campaign()
        invitation = accounts.create_invitation(campaign=campaign, actor=None)
        page = client.get(f"/join/{invitation.token}")
        assert campaign.name in page.content.decode()
        response = client.post(
            f"/join/{invitation.token}", {"username": "grace", "password": "a long enough one"}
        )
        assert (response.status_code, response.url) == (302, f"/judge/{campaign.slug}/")
        membership = Membership.objects.get(user__username="grace")
        assert (membership.role, membership.pseudonym) == ("annotator", "A001")

    def test_who_registers_while_many_sign_in_is_asked_to_come_again(self, client):
        invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
        given = {"username": "grace", "password": "a long enough one"}
        with hashing_slot(), hashing_slot():
            busy = client.post(f"/join/{invitation.token}", given)
        assert (
            busy.status_code,
            "Retry-After" in busy.headers,
            User.objects.filter(username="grace").exists(),
        ) == (503, True, False)
        assert client.post(f"/join/{invitation.token}", given).status_code == 302

    def test_a_taken_name_and_a_weak_password_are_said(self, client):
        make_user("ada")
        invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
        response = client.post(
            f"/join/{invitation.token}", {"username": "Ada", "password": "short"}
        )
        text = response.content.decode()
        assert response.status_code == 400
        assert "taken" in text
        assert "too short" in text
        assert re.findall(r"<input[^>]*autofocus[^>]*>", text) == re.findall(
            r'<input[^>]*name="username"[^>]*>', text
        )
        weak = client.post(
            f"/join/{invitation.token}", {"username": "grace", "password": "short"}
        ).content.decode()
        assert re.findall(r"<input[^>]*autofocus[^>]*>", weak) == re.findall(
            r'<input[^>]*name="password"[^>]*>', weak
        )  # not below the fold

    def test_a_code_may_be_typed_in_small_letters_with_spaces(self, client):
        invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
        code = invitation.code.lower()
        response = client.post("/join", {"code": f"{code[:4]} {code[4:]}"})
        assert (response.status_code, response.url) == (302, f"/join/{invitation.token}")

    def test_joining_twice_changes_nothing(self):
        campaign, user = make_campaign(), make_user()
        invitation = accounts.create_invitation(campaign=campaign, actor=None)
        first = accounts.join_campaign(invitation=invitation, user=user)
        assert accounts.join_campaign(invitation=invitation, user=user) == first
        invitation.refresh_from_db()
        assert invitation.n_uses == 1

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"revoked_at": timezone.now()}, "withdrawn"),
            ({"expires_at": timezone.now() - timedelta(minutes=1)}, "expired"),
            ({"max_uses": 1, "n_uses": 1}, "already been used"),
        ],
    )
    def test_an_invitation_that_is_no_longer_good_says_why(self, client, change, word):
        invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
        for name, value in change.items():
            setattr(invitation, name, value)
        invitation.save()
        response = client.get(f"/join/{invitation.token}")
        assert response.status_code == 410
        assert word in response.content.decode()

    def test_a_personal_invitation_lets_one_in(self):
        invitation = accounts.create_invitation(campaign=make_campaign(), actor=None, max_uses=1)
        accounts.join_campaign(invitation=invitation, user=make_user())
        with pytest.raises(accounts.PeopleError, match="already been used"):
            accounts.join_campaign(invitation=invitation, user=make_user())

    def test_used_and_expired_invitations_are_not_open(self):
        campaign = make_campaign()
        for name, change in (
            ("Ada", {}),
            ("Ben", {"n_uses": 1}),
            ("Cara", {"expires_at": timezone.now() - timedelta(minutes=1)}),
            ("Dan", {"max_uses": None, "n_uses": 9}),
        ):
            invitation = accounts.create_invitation(
                campaign=campaign, actor=None, name=name, max_uses=1
            )
            Invitation.objects.filter(pk=invitation.pk).update(**change)
        page = client_of(campaign.created_by).get(reverse("campaign-invite", args=[campaign.slug]))
        assert [one.name for one in page.context["invitations"]] == ["Dan", "Ada"]

    def test_pseudonyms_go_on_counting(self):
        campaign = make_campaign()
        assert [make_annotator(campaign).pseudonym for _ in range(3)] == ["A001", "A002", "A003"]


@pytest.mark.django_db(transaction=True)
def test_two_people_with_a_link_for_one_at_the_same_moment_are_one_member():
    invitation = accounts.create_invitation(campaign=make_campaign(), actor=None, max_uses=1)
    users = [make_user(), make_user()]
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def try_to_join(user) -> None:
        start.wait()
        try:
            accounts.join_campaign(invitation=invitation, user=user)
            outcomes.append("in")
        except accounts.PeopleError:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=try_to_join, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["in", "refused"]
    assert Membership.objects.filter(campaign=invitation.campaign, role="annotator").count() == 1


class TestNames:
    def test_a_plain_column_and_a_header_with_addresses(self):
        assert accounts.read_names("Ada\nGrace\n") == [("Ada", ""), ("Grace", "")]
        assert accounts.read_names("email,name\nada@example.org,Ada\n") == [
            ("Ada", "ada@example.org")
        ]
        assert accounts.read_names("name\temail\nAda\tada@example.org\n") == [
            ("Ada", "ada@example.org")
        ]
        assert accounts.read_names("name;email\nAda, Countess;ada@example.org\n") == [
            ("Ada, Countess", "ada@example.org")
        ]

    def test_every_mistake_is_named_with_its_line(self):
        with pytest.raises(FormatError) as caught:
            accounts.read_names(
                "name,email\nAda,ada@example\nGrace,g@example.org\nG,g@example.org\n"
            )
        assert [(p.line, p.problem.split()[-1]) for p in caught.value.problems] == [
            (2, "address"),
            (4, "twice"),
        ]

    def test_an_empty_file_is_refused(self):
        with pytest.raises(FormatError, match="no names"):
            accounts.read_names("\n\n")


class TestHome:
    def test_an_annotator_sees_progress_and_one_button(self):
        campaign = make_campaign(
            target_per_annotator=8, deadline=timezone.now() + timedelta(days=2)
        )
        member = make_annotator(campaign)
        text = client_of(member.user).get("/").content.decode()
        assert "Start judging" in text
        assert "0 of 8" in text
        assert "All campaigns" not in text

    def test_the_card_and_the_judging_page_count_the_same_judgements_to_the_same_goal(self):
        """Three judged: practice, too fast and counted ones; of the three numbers only the last is
        progress. A target of 0 is no target."""
        campaign = make_campaign(target_per_annotator=8, min_active_seconds=1)
        ada, grace = make_annotator(campaign), make_annotator(campaign)
        Membership.objects.filter(pk=grace.pk).update(target=0)
        now = timezone.now() - timedelta(hours=1)
        practice, *rest = Pair.objects.filter(campaign=campaign).order_by("position")
        set_pair_kind(practice, Pair.Kind.QUALIFICATION, gold_grade=1, actor=None)
        for member in (ada, grace):
            judge_pair(member, practice, 1, now=now)
            judge_pair(member, rest[0], 1, now=now, active_ms=200)
            judge_pair(member, rest[1], 2, now=now)
        for member, card in ((ada, "1 of 8"), (grace, "1 judged")):
            client = client_of(member.user)
            assert card in client.get("/").content.decode()
            progress = client.get(f"/api/v1/judging/{campaign.slug}/setup").json()["progress"]
            assert (progress["judged"], progress["target"]) == (1, 8 if member == ada else None)

    def test_the_deadline_is_shown_in_ones_own_time_zone(self):
        deadline = timezone.now().replace(year=2030, month=1, day=15, hour=12, minute=0)
        member = make_annotator(make_campaign(deadline=deadline))
        client = client_of(member.user)
        session = client.session
        session["time_zone"] = "Asia/Tokyo"
        session.save()
        assert "15 Jan 2030, 21:00" in client.get("/").content.decode()
        # in the menu of the judging page too: the top line of a phone has no room for it
        assert (
            "Due Tue 15 Jan, 21:00 JST"
            in client.get(f"/judge/{member.campaign.slug}/").content.decode()
        )

    def test_a_draft_is_not_shown_to_its_annotators(self):
        campaign = make_campaign(state="draft")
        assert (
            campaign.name not in client_of(make_annotator(campaign).user).get("/").content.decode()
        )

    def test_queries_do_not_grow_with_the_campaigns(self, django_assert_max_num_queries):
        user = make_user()
        for _ in range(6):
            accounts.add_member(campaign=make_campaign(), user=user, role="annotator")
        client = client_of(user)
        client.get("/")
        with django_assert_max_num_queries(8):
            client.get("/")

    def test_an_empty_installation_says_how_to_begin(self, client, settings):
        settings.BEFORE_COMMANDS, settings.DATABASE_GIVEN = "", False
        page = client.get("/").content.decode()
        for command in ("createsuperuser", "demo"):
            assert f"<code>.venv/bin/python manage.py {command}</code>" in page

    def test_its_command_names_the_data_folder_of_this_server(self, client, settings, monkeypatch):
        monkeypatch.setenv("ASSAY_DATA_DIR", "/srv/my data")
        settings.BEFORE_COMMANDS, settings.DATABASE_GIVEN = (
            environment.format_shell_variables("DATA_DIR"),
            False,
        )
        page = client.get("/").content.decode()
        assert (
            "ASSAY_DATA_DIR=&#x27;/srv/my data&#x27; .venv/bin/python manage.py createsuperuser"
            in page
        )
        assert "ASSAY_DATABASE_URL" not in page

    def test_strangers_are_sent_to_sign_in(self, client):
        make_user()
        assert client.get("/").url == "/sign-in"


class TestAccount:
    def test_a_token_is_shown_once_stored_as_digest_and_opens_the_api(self):
        member = make_annotator(make_campaign())
        client = client_of(member.user)
        form = {"action": "token", "name": "script", "scopes": ["judge"], "days": "30"}
        text = client.post("/account", form).content.decode()
        token = next(
            word
            for word in text.replace("<", " ").replace(">", " ").split()
            if word.startswith("assay_")
        )
        assert token not in client.get("/account").content.decode()
        assert not ApiTokenRow.objects.filter(digest=token).exists()
        address = f"/api/v1/judging/{member.campaign.slug}/setup"
        assert Client().get(address, headers={"authorization": f"Token {token}"}).status_code == 200
        assert (
            Client().get(address, headers={"authorization": "Token assay_wrong"}).status_code == 401
        )

    def test_a_token_ends_by_its_date_and_by_one_press(self, monkeypatch):
        user = make_user()
        client, script = client_of(user), Client()
        client.post(
            "/account", {"action": "token", "name": "short", "scopes": ["read"], "days": "7"}
        )
        row = ApiTokenRow.objects.get()
        assert timedelta(days=6.9) < row.expires_at - timezone.now() < timedelta(days=7.1)
        token = tokens.create_api_token(user=user, name="long", scopes=["read"], days=30)
        headers = {"authorization": f"Token {token}"}
        assert script.get("/api/v1/jobs/", headers=headers).status_code == 200
        kept = ApiTokenRow.objects.get(name="long")
        assert kept.last_used_at is not None
        ApiTokenRow.objects.filter(pk=kept.pk).update(
            expires_at=timezone.now() - timedelta(seconds=1)
        )
        answer = script.get("/api/v1/jobs/", headers=headers)
        assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
        assert "This token expired on" in answer.json()["detail"]
        ApiTokenRow.objects.filter(pk=kept.pk).update(
            expires_at=None
        )  # as one made before tokens ended
        assert script.get("/api/v1/jobs/", headers=headers).status_code == 200
        client.post("/account", {"action": "drop-token", "token": kept.pk})
        assert script.get("/api/v1/jobs/", headers=headers).status_code == 401

    def test_a_token_needs_a_scope_and_an_end_and_there_are_not_thousands(self):
        user = make_user()
        client = client_of(user)
        for wrong in (
            {"days": "7"},
            {"scopes": ["all"], "days": "7"},
            {"scopes": ["read"]},
            {"scopes": ["read"], "days": "9999"},
        ):
            assert (
                client.post("/account", {"action": "token", "name": "x", **wrong}).status_code
                == 400
            )
        assert not ApiTokenRow.objects.exists()
        for _ in range(50):
            tokens.create_api_token(user=user, name="one of many")
        answer = client.post(
            "/account", {"action": "token", "name": "x", "scopes": ["read"], "days": "7"}
        )
        assert (answer.status_code, ApiTokenRow.objects.count()) == (400, 50)
        assert "You have the maximum of 50 tokens" in answer.content.decode()

    def test_nobody_drops_the_token_of_another(self):
        ada, grace = make_user(), make_user()
        tokens.create_api_token(user=ada, name="hers")
        client_of(grace).post(
            "/account", {"action": "drop-token", "token": ApiTokenRow.objects.get().pk}
        )
        assert ApiTokenRow.objects.count() == 1

    def test_the_password_changes_only_with_the_current_one(self):
        user = make_user()
        client = client_of(user)
        assert (
            client.post(
                "/account", {"action": "password", "current": "wrong", "new": "another good one"}
            ).status_code
            == 400
        )
        assert (
            client.post(
                "/account", {"action": "password", "current": PASSWORD, "new": "another good one"}
            ).status_code
            == 302
        )
        user.refresh_from_db()
        assert user.check_password("another good one")

    @pytest.mark.parametrize(
        ("password", "status", "told"),
        [("", 400, []), ("wrong", 400, []), (PASSWORD, 302, ["old@example.org"])],
    )
    def test_the_mail_address_changes_only_with_the_password_and_the_old_one_is_told(
        self, password, status, told
    ):
        user = make_user(email="old@example.org")
        answer = client_of(user).post(
            "/account",
            {
                "action": "details",
                "email": "new@example.org",
                "password": password,
                "time_zone": "",
            },
        )
        user.refresh_from_db()
        assert (answer.status_code, user.email) == (
            status,
            "new@example.org" if status == 302 else "old@example.org",
        )
        assert mail.outbox == []
        do_urgent_jobs()
        assert [address for one in mail.outbox for address in one.to] == told

    def test_passwords_are_not_guessed_by_way_of_the_mail_address(self):
        user = make_user(email="old@example.org")
        client, asked = (
            client_of(user),
            {"action": "details", "email": "new@example.org", "time_zone": ""},
        )
        for _ in range(10):
            client.post("/account", {**asked, "password": "wrong"})
        assert (
            "Too many failed attempts"
            in client.post("/account", {**asked, "password": PASSWORD}).content.decode()
        )
        assert (
            client.post(
                "/account", {"action": "password", "current": PASSWORD, "new": "another good one"}
            ).status_code
            == 400
        )

    def test_who_changes_the_time_zone_needs_no_password(self):
        user = make_user(email="old@example.org")
        assert (
            client_of(user)
            .post(
                "/account",
                {"action": "details", "email": "old@example.org", "time_zone": "Europe/Vienna"},
            )
            .status_code
            == 302
        )
        assert mail.outbox == []

    def test_an_account_without_a_password_changes_address_and_password_only_just_after_a_sign_in(
        self,
    ):
        user = make_user(email="old@example.org")
        user.set_unusable_password()
        user.save()
        client, minute = client_of(user), timedelta(minutes=1)
        address, password = (
            {"action": "details", "email": "new@example.org", "time_zone": ""},
            {"action": "password", "new": "another good one"},
        )
        OpenSession.objects.update(began_at=timezone.now() - 11 * minute)
        assert [client.post("/account", one).status_code for one in (address, password)] == [
            400,
            400,
        ]
        user.refresh_from_db()
        assert (user.email, user.has_usable_password()) == ("old@example.org", False)
        OpenSession.objects.update(began_at=timezone.now() - 9 * minute)
        assert [client.post("/account", one).status_code for one in (address, password)] == [
            302,
            302,
        ]
        user.refresh_from_db()
        assert (user.email, user.check_password("another good one")) == ("new@example.org", True)

    def test_where_the_mail_server_is_away_the_address_changes_all_the_same(self, settings):
        settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
            "django.core.mail.backends.smtp.EmailBackend",
            "127.0.0.1",
            1,
        )
        user = make_user(email="old@example.org")
        asked = {
            "action": "details",
            "email": "new@example.org",
            "password": PASSWORD,
            "time_zone": "",
        }
        assert client_of(user).post("/account", asked).status_code == 302

    def test_a_mail_server_that_says_nothing_is_given_up(self, settings):
        settings.EMAIL_TIMEOUT /= 50
        user = make_user(email="old@example.org")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            settings.EMAIL_BACKEND, settings.EMAIL_PORT = (
                "django.core.mail.backends.smtp.EmailBackend",
                silent.getsockname()[1],
            )
            settings.EMAIL_HOST = "127.0.0.1"
            asked = {
                "action": "details",
                "email": "new@example.org",
                "password": PASSWORD,
                "time_zone": "",
            }
            assert client_of(user).post("/account", asked).status_code == 302

    def test_the_time_zone_is_kept_for_the_next_sign_in(self, client):
        user = make_user("ada")
        client_of(user).post(
            "/account", {"action": "details", "email": "", "time_zone": "Europe/Vienna"}
        )
        client.post("/sign-in", {"username": "ada", "password": PASSWORD})
        assert client.session["time_zone"] == "Europe/Vienna"


def test_an_annotator_is_not_led_to_pages_of_managers_and_a_manager_is():
    campaign = make_campaign()
    managers_pages = ["/campaigns/", "/collections/", "/analyses/", "/jobs/"]
    by_person = {
        "annotator": make_annotator(campaign).user,
        "nobody": make_user(),
        "manager": campaign.memberships.get(role="manager").user,
        "maker": make_user(may_create=True),
        "superuser": make_user(superuser=True),
    }
    for name, user in by_person.items():
        client = Client()
        client.force_login(user)
        nav = client.get("/").content.decode().partition("<main")[0]
        led = [address for address in managers_pages if f'href="{address}"' in nav]
        assert led == ([] if name in ("annotator", "nobody") else managers_pages), name
