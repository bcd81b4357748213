"""Events that a panel such as Prolific sends about submissions: signature and content."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import NamedTuple

MAX_AGE_SECONDS = 300
"""Maximum difference between the time of a signature and the server's clock."""
ENDED_STATUSES = frozenset({"RETURNED", "TIMED-OUT"})
MAX_ID_LENGTH = 100
PANEL_DEFAULTS = {
    "name": "Prolific",
    "is_open": True,
    "return_address": "https://app.prolific.com/submissions/complete?cc=CODE",
    "participant_parameter": "PROLIFIC_PID",
    "submission_parameter": "SESSION_ID",
}
"""Settings of a new panel."""


class SubmissionEvent(NamedTuple):
    """A change of a submission's status. submission, participant: IDs at the panel. has_ended:
    whether the participant returned the submission or ran out of time."""

    submission: str
    participant: str
    has_ended: bool


def is_signed(body: bytes, *, signature: str, timestamp: str, secret: str, now: float) -> bool:
    """Return whether the signature is the base64 form of HMAC-SHA256(secret, timestamp + body) and
    recent.

    timestamp, now: seconds since 1970.
    """
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    is_recent = abs(now - int(timestamp)) <= MAX_AGE_SECONDS
    return hmac.compare_digest(base64.b64encode(digest), signature.encode()) and is_recent


def parse_event(body: bytes) -> SubmissionEvent | None:
    """Parse the body of an event, None for events that are not about a submission. Raises
    ValueError if it is malformed."""
    event = json.loads(body)
    if not isinstance(event, dict):
        raise ValueError("an event must be a JSON object")
    if event.get("event_type") != "submission.status.change":
        return None
    submission, participant, status = (
        event.get(name, "") for name in ("resource_id", "participant_id", "status")
    )
    if not all(isinstance(value, str) for value in (submission, participant, status)):
        raise ValueError("resource_id, participant_id and status must be strings")
    return SubmissionEvent(submission, participant, status.upper() in ENDED_STATUSES)
