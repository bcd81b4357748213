"""Messages of webhooks: signatures, bodies and sentences."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from annotation.core.webhook_messages import (
    SECRET_BYTES,
    MessageForm,
    WebhookEvent,
    format_sentence,
    make_body,
    make_secret,
    sign,
)

AT = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)


def test_the_signature_is_that_of_openssl_for_the_message_of_the_reference_libraries():
    """Secret and message are those in the tests of Standard Webhooks' libraries. The signature was
    computed by `openssl dgst -sha256 -mac HMAC -binary | base64`."""
    signature = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        seconds=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def openssl_signature(secret: str, signed: bytes) -> str:
    """The signature by OpenSSL's own HMAC."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which computes the signature independently")
    key = base64.b64decode(secret.removeprefix("whsec_")).hex()
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key}", "-binary"]
    digest = subprocess.run(command, input=signed, capture_output=True, check=True).stdout
    return f"v1,{base64.b64encode(digest).decode()}"


def test_a_new_secret_has_32_random_bytes_and_signs_as_openssl_does():
    secret, other = make_secret(), make_secret()
    assert secret != other
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == SECRET_BYTES == 32
    body = '{"name": "Ærø"}'.encode()
    assert sign(secret, message_id="msg_1", seconds=7, body=body) == openssl_signature(
        secret, b"msg_1.7." + body
    )


def test_a_standard_body_has_type_time_and_data_and_a_chat_gets_one_sentence():
    data = {"url": "https://here/campaigns/spring/questions/", "annotator": "A07", "question": 3}
    made = {
        form: json.loads(
            make_body(form, WebhookEvent.QUESTION_ASKED, campaign="Spring", data=data, at=AT)
        )
        for form in MessageForm
    }
    assert made[MessageForm.STANDARD] == {
        "type": "question.asked",
        "timestamp": "2026-11-26T12:00:00+00:00",
        "data": data,
    }
    assert made[MessageForm.TEXT] == {
        "text": "Spring: A07 asked a question. https://here/campaigns/spring/questions/"
    }


@pytest.mark.parametrize(
    ("event", "data", "sentence"),
    [
        (WebhookEvent.CAMPAIGN_OPENED, {}, "The campaign was opened."),
        (WebhookEvent.CAMPAIGN_CLOSED, {}, "The campaign was closed."),
        (
            WebhookEvent.DEADLINE_AT_RISK,
            {
                "deadline": "2026-12-01T09:00:00+00:00",
                "expected_end": "2026-12-04T10:00:00+00:00",
                "is_over": False,
                "missing": 1200,
            },
            "Expected to finish on 2026-12-04, after the deadline of 2026-12-01: 1,200 judgements are missing.",
        ),
        (
            WebhookEvent.DEADLINE_AT_RISK,
            {
                "deadline": "2026-12-01T09:00:00+00:00",
                "expected_end": None,
                "is_over": True,
                "missing": 1,
            },
            "The deadline of 2026-12-01 has passed and 1 judgement is missing.",
        ),
        (
            WebhookEvent.DEPTH_COMPLETE,
            {"level": "rank", "depth": 10},
            "All pairs down to rank 10 are judged.",
        ),
        (WebhookEvent.ALL_JUDGED, {}, "All required judgements have been made."),
        (
            WebhookEvent.ANNOTATOR_FLAGGED,
            {"annotator": "A07", "reason": "many judgements are too fast"},
            "A07 was flagged: many judgements are too fast.",
        ),
        (WebhookEvent.RELEASE_BUILT, {"name": "v1"}, "The release “v1” was built."),
        (WebhookEvent.TEST, {}, "This is a test message."),
    ],
)
def test_each_event_is_a_sentence(event, data, sentence):
    assert format_sentence(event, data) == sentence
