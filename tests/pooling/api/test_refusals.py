"""400 for a request that makes no sense whatever there is, 409 for one that cannot be carried out
as things stand."""

from __future__ import annotations

import pytest

from annotation.services.people import tokens
from tests.builders import make_campaign, make_collection, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        (
            "reports/",
            {"kind": "compare_runs", "collection": "c", "qrels": ["imported:1"]},
            400,
            "malformed",
        ),  # no run at all
        (
            "reports/",
            {"kind": "compare_runs", "collection": "c", "runs": [1, 2]},
            409,
            "refused",
        ),  # runs that are not there
        (
            "reports/",
            {"kind": "compare_runs", "collection": "c", "campaign": "spring"},
            400,
            "malformed",
        ),
        (
            "collections/c/pools/",
            {"kind": "sampled", "strata": "llm"},
            400,
            "malformed",
        ),  # and no LLM judge
        ("collections/c/pools/", {"runs": ["absent"]}, 409, "refused"),
        (
            "campaigns/spring/llm-judges/",
            {"name": "m", "model": "m", "endpoint": "http://absent/v1"},
            409,
            "refused",
        ),
        ("campaigns/spring/additional-judgements", {"pairs": []}, 400, "malformed"),
        (
            "campaigns/spring/additional-judgements",
            {"pairs": [{"topic": "absent", "document": "d"}]},
            409,
            "refused",
        ),
        ("campaigns/spring/recipes/", {"name": "r", "min_relevant": 0}, 400, "malformed"),
        ("campaigns/spring/recipes/", {"name": "r", "min_relevant": 99}, 409, "refused"),
    ],
)
def test_a_conflict_is_told_from_a_request_that_makes_no_sense(client, path, body, status, code):
    boss = make_user("boss", may_create=True)
    make_collection(manager=boss, slug="c")
    make_campaign(manager=boss, slug="spring")
    token = tokens.create_api_token(user=boss, name="script")
    answer = client.post(
        "/api/v1/" + path,
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.json()
    assert not answer.json()["detail"].startswith(("detail:", "non_field_errors"))
