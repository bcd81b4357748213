"""A small imitation of Prolific: studies that open a link with IDs, and signed events about
submissions.

The signature is computed here without the code under test: base64 of HMAC-SHA256 over timestamp and
body, as Prolific's documentation of webhooks describes it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.http import HttpResponse
from django.test import Client

from annotation.models import GuestPanel


@dataclass
class PanelParticipant:
    """A participant of the panel in their own browser, with one submission at a time."""

    panel: GuestPanel
    pid: str = field(default_factory=lambda: secrets.token_hex(12))
    submission: str = field(default_factory=lambda: secrets.token_hex(12))
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))

    @property
    def parameters(self) -> dict[str, str]:
        return {"PROLIFIC_PID": self.pid, "STUDY_ID": "6f0c", "SESSION_ID": self.submission}

    def open(self) -> HttpResponse:
        return self.client.get(f"/join/{self.panel.token}", self.parameters)

    def press(self, action: str, *, page: HttpResponse | None = None) -> HttpResponse:
        """Press a button of a form on the page (by default, the page of the link) and send the
        form's own fields."""
        shown = (page or self.open()).content.decode()
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown))
        return self.client.post(f"/join/{self.panel.token}", {**fields, "action": action})

    def agree(self) -> HttpResponse:
        return self.press("agree")

    def ask(self, name: str, **body: Any) -> dict[str, Any]:
        """Send a POST request to the judging API and return its answer."""
        answer = self.client.post(
            f"/api/v1/judging/{self.panel.campaign.slug}/{name}",
            json.dumps(body),
            content_type="application/json",
            headers={"X-CSRFToken": self.client.cookies["csrftoken"].value},
        )
        assert answer.status_code == 200, answer.content
        read: dict[str, Any] = answer.json()
        return read

    def judge(self, grade: int, *, active_ms: int = 6000) -> dict[str, Any]:
        """Judge the participant's next pair and return the answer of the API."""
        (pair,) = self.ask("leases", want=1)["pairs"]
        return self.ask(
            "judgements",
            lease=pair["lease"],
            key=str(uuid.uuid4()),
            grade=grade,
            active_ms=active_ms,
            want=0,
        )


@dataclass
class PanelService:
    """A sender of events that are signed with the panel's secret. sent: (body, headers) of each
    event."""

    panel: GuestPanel
    sent: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)

    def send(
        self,
        participant: PanelParticipant,
        status: str,
        *,
        secret: str = "",
        age: int = 0,
        event_id: str = "",
        **changed: Any,
    ) -> HttpResponse:
        event = {
            "event_type": "submission.status.change",
            "resource_id": participant.submission,
            "participant_id": participant.pid,
            "status": status,
            **changed,
        }
        return self.post(json.dumps(event).encode(), secret=secret, age=age, event_id=event_id)

    def post(
        self, body: bytes, *, secret: str = "", age: int = 0, event_id: str = ""
    ) -> HttpResponse:
        timestamp = str(int(time.time()) - age)
        signed = hmac.new(
            (secret or self.panel.secret).encode(), timestamp.encode() + body, hashlib.sha256
        )
        headers = {
            "X-Prolific-Request-Signature": base64.b64encode(signed.digest()).decode(),
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Event-ID": event_id or secrets.token_hex(8),
        }
        self.sent.append((body, headers))
        return self.repeat()

    def repeat(self) -> HttpResponse:
        """Send the last event again, unchanged."""
        body, headers = self.sent[-1]
        return Client(enforce_csrf_checks=True).post(
            f"/join/{self.panel.token}/events",
            body,
            content_type="application/json",
            headers=headers,
        )


def read_completion_code(url: str) -> str:
    """Return the completion code in an address such as Prolific's."""
    return dict(parse_qsl(urlsplit(url).query))["cc"]
