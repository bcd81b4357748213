"""The IDs of a panel's participants are stored nowhere and appear in no release, export, page or
log."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import models
from django.test import Client
from django.urls import reverse

from analysis.publishing.exports import available_exports
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import AuditEvent, Campaign, Guest, Membership
from annotation.services.campaigns import lifecycle
from annotation.services.people import guests
from config import logs
from tests.annotation.panel_service import PanelParticipant, PanelService
from tests.annotation.test_guests import finished_guest, make_panel
from tests.annotation.test_private_settings import parts_of, told, unpacked
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db
PAGES = (
    *("campaign", "campaign-people", "campaign-invite", "campaign-panel", "campaign-audit"),
    *("campaign-judgements", "campaign-export", "campaign-payment", "campaign-invitations"),
    *("api-campaign", "api-campaign-document", "api-payment"),
)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that is logged, at the lowest level and with one line per request."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logs.JsonFormatter())
    handler.addFilter(logs.RedactSecretsFilter())
    loggers = [logging.getLogger(name) for name in ("", "assay.access", "django.request")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.DEBUG)
    loggers[0].addHandler(handler)
    yield text
    loggers[0].removeHandler(handler)
    for one, level in zip(loggers, levels, strict=True):
        one.setLevel(level)


def live_through_it(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> list[PanelParticipant]:
    """Guests who finish, return, time out, decline, find the campaign full, are refused, and meet
    an error of the server."""
    panel = make_panel(campaign, places=3)
    service = PanelService(panel)
    done = finished_guest(panel)
    done.open()
    returned, late = PanelParticipant(panel), PanelParticipant(panel)
    for guest in (returned, late):
        guest.agree()
        guest.client.get(f"/judge/{campaign.slug}/")
        guest.judge(2)
    service.send(late, "TIMED-OUT", secret="wrong")
    service.send(late, "TIMED-OUT")
    service.send(returned, "RETURNED")
    service.repeat()
    declined = PanelParticipant(panel)
    declined.press("decline")
    service.send(declined, "RETURNED")
    refused = PanelParticipant(panel, submission="no id!")
    refused.open()
    failing = PanelParticipant(panel, client=Client(raise_request_exception=False))
    with monkeypatch.context() as patch:
        patch.setattr(guests, "admit_guest", lambda *_: 1 / 0)
        assert failing.agree().status_code == 500
    failing.client.get(f"/nowhere/{failing.pid}", failing.parameters)
    for _ in range(2):
        PanelParticipant(panel).agree()
    late_comer = PanelParticipant(panel)
    late_comer.open()
    return [done, returned, late, declined, refused, failing, late_comer]


def rows() -> Iterator[str]:
    """Every row of the database, and what its sessions hold."""
    for model in apps.get_models(include_auto_created=True):
        names = [f.attname for f in model._meta.concrete_fields if isinstance(f, models.Field)]
        for row in model._default_manager.values_list(*names):
            yield f"{model.__name__}: {row}"
    for session in Session.objects.all():
        yield str(session.get_decoded())


def test_ids_of_participants_appear_nowhere(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    campaign = make_campaign(min_active_seconds=0, consent_text="Terms")
    everybody = live_through_it(campaign, monkeypatch)
    lifecycle.close_campaign(campaign, actor=campaign.created_by)
    ids = [value for one in everybody for value in (one.pid, one.submission)]
    digests = [
        digest for guest in Guest.objects.all() for digest in (guest.participant, guest.submission)
    ]
    assert len(digests) == 10
    pseudonym = Guest.objects.get(membership__n_judged=2).membership.pseudonym

    stored = list(rows())
    assert any(digests[0] in row for row in stored)  # every row is read
    assert [row for row in stored for value in ids if value in row] == []
    logged = log.getvalue()
    assert "ZeroDivisionError" in logged
    assert "/join/<str:token>" in logged
    assert [value for value in [*ids, *digests] if value in logged] == []

    release = io.BytesIO()
    write_release(Campaign.objects.get(pk=campaign.pk), ReleasePlan(), release)
    parts = list(unpacked(release.getvalue()))
    assert told(parts, pseudonym)
    assert [value for value in [*ids, *digests] if told(parts, value)] == []

    manager = Client()
    manager.force_login(campaign.created_by)  # type: ignore[arg-type]
    addresses = [reverse(name, args=[campaign.slug]) for name in PAGES]
    addresses += [
        reverse("campaign-person", args=[campaign.slug, member.pseudonym])
        for member in Membership.objects.filter(campaign=campaign, role="annotator")
    ]
    addresses += [
        reverse("campaign-export-file", args=[campaign.slug, name])
        for name in available_exports(campaign)
    ]
    for address in addresses:
        answer = manager.get(address)
        assert answer.status_code == 200, address
        told_here = parts_of(answer)
        assert [value for value in [*ids, *digests] if told(told_here, value)] == [], address
    assert AuditEvent.objects.filter(campaign=campaign, action="joined").count() >= 5
