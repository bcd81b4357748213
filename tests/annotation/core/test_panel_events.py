"""Signatures and contents of a panel's events."""

from __future__ import annotations

import json

import pytest

from annotation.core.panel_events import SubmissionEvent, is_signed, parse_event

BODY = b'{"event_type":"submission.status.change"}'
SIGNATURE = "l6z2ui32kw8DHMBi/Ayk1s7FyjlfvlCqYYzF8ODv/yg="
"""printf %s '1700000000{"event_type":"submission.status.change"}' |
openssl dgst -sha256 -hmac secret -binary | base64"""


def signed(**changed: object) -> bool:
    given = {
        "body": BODY,
        "signature": SIGNATURE,
        "timestamp": "1700000000",
        "secret": "secret",
        "now": 1_700_000_000.0,
        **changed,
    }
    return is_signed(given.pop("body"), **given)  # type: ignore[arg-type]


def test_a_signature_of_another_implementation_is_accepted() -> None:
    assert signed()


@pytest.mark.parametrize("now", [1_700_000_000 - 301, 1_700_000_000 + 301])
def test_a_signature_is_valid_for_five_minutes(now: int) -> None:
    assert signed(now=now - 1 if now > 1_700_000_000 else now + 1)
    assert not signed(now=now)


@pytest.mark.parametrize(
    "changed",
    [
        {"body": BODY + b" "},
        {"secret": "Secret"},
        {"secret": ""},
        {"signature": ""},
        {"signature": "é"},
        {"signature": SIGNATURE[:-2] + "A="},
        {"timestamp": "1700000001"},
        {"timestamp": ""},
        {"timestamp": "-1700000000"},
        {"timestamp": "1" * 5000},
        {"timestamp": "١٧٠٠٠٠٠٠٠٠"},
    ],
)
def test_nothing_else_is_signed(changed: dict[str, object]) -> None:
    assert not signed(**changed)


@pytest.mark.parametrize(
    ("status", "has_ended"),
    [("RETURNED", True), ("TIMED-OUT", True), ("ACTIVE", False), ("AWAITING REVIEW", False)],
)
def test_returned_and_timed_out_submissions_have_ended(status: str, has_ended: bool) -> None:
    body = {
        "event_type": "submission.status.change",
        "resource_id": "s1",
        "participant_id": "p1",
        "status": status,
    }
    assert parse_event(json.dumps(body).encode()) == SubmissionEvent("s1", "p1", has_ended)


def test_events_about_studies_are_ignored() -> None:
    assert parse_event(b'{"event_type": "study.status.change", "resource_id": "s"}') is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b"7",
        b'{"event_type": "submission.status.change", "resource_id": 7}',
        b'{"event_type": "submission.status.change", "status": null}',
    ],
)
def test_malformed_events_raise(body: bytes) -> None:
    with pytest.raises(ValueError):
        parse_event(body)
