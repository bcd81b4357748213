"""Bodies and addresses that nobody sends in good faith are refused in the API's shape, before they
cost anything."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from django.test import Client

from annotation.services.people import tokens
from tests import error_shape
from tests.builders import make_user

pytestmark = pytest.mark.django_db
PLACES = (
    "/api/v1/campaigns/",
    "/api/v1/collections/",
    "/api/v1/jobs/1/cancel",
    "/api/v1/judging/none/leases/release",
)


@pytest.fixture
def ask():
    """-> of a request with this body to each place, its answers"""
    token = tokens.create_api_token(user=make_user("boss", may_create=True), name="script")

    def ask_all(body: bytes, kind: str = "application/json"):
        client = Client(raise_request_exception=False)
        return {
            place: client.post(
                place, body, content_type=kind, headers={"Authorization": f"Token {token}"}
            )
            for place in PLACES
        }

    return ask_all


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"name":' * 100_000, b"[" * 100_000 + b"]" * 100_000]
)
def test_json_that_is_nested_too_deeply_is_malformed(ask, body):
    for place, answer in ask(body).items():
        assert answer.status_code in (400, 404), (place, answer.status_code)
    made = ask(body)["/api/v1/campaigns/"]
    assert (made.status_code, made.headers["Content-Type"]) == (400, error_shape.CONTENT_TYPE)
    assert "nested too deeply" in made.json()["detail"]


def test_a_row_of_a_campaigns_document_that_is_no_table_is_refused(ask):
    answer = ask(b'{"campaign": {"slug": "c", "gold": [1, []]}}')["/api/v1/campaigns/"]
    assert answer.status_code == 400
    assert answer.json()["errors"]["campaign.gold[0]"] == [
        "0 is not a table, expected key = value"
    ], answer.json()


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        (
            {"name": "a", "colour": "red"},
            {
                "colour": [
                    "Unknown key. Known keys: slug, name, description, n_documents, text_format."
                ]
            },
        ),
        ({"name": 0}, {"name": ["Not a valid string."]}),
        (
            {"name": "a", "slug": 7},
            {
                "slug": [
                    'Enter a valid "slug" consisting of letters, numbers, underscores or hyphens.'
                ]
            },
        ),
        ({"name": "a", "description": 0.5}, {"description": ["Not a valid string."]}),
    ],
)
def test_an_unknown_key_and_a_number_for_a_text_are_refused_by_name(ask, body, errors):
    answer = ask(json.dumps(body).encode())["/api/v1/collections/"]
    assert (answer.status_code, answer.json()["errors"]) == (400, errors)


@pytest.mark.parametrize(
    "kind",
    ["application/json", "application/toml", "application/x-www-form-urlencoded", "text/plain"],
)
def test_a_body_that_is_no_file_is_refused_from_five_megabytes_on_unread(ask, settings, kind):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000
    for place, answer in ask(b" " * 2_001, kind).items():
        assert (answer.status_code, answer.headers["Content-Type"]) == (
            413,
            error_shape.CONTENT_TYPE,
        ), place
        assert (
            "The body has 2001 bytes, but the limit (except for files) is 2,000."
            in answer.json()["detail"]
        )
    assert {answer.status_code for answer in ask(b" " * 2_000, kind).values()}.isdisjoint(
        {413, 500}
    )


@pytest.mark.parametrize(
    "path", ["/join/a%00b", "/results/a%00b/", "/api/v1/jobs/%00", "/sign-in/link/%00/%00", "/%00"]
)
def test_nothing_is_at_an_address_with_a_nul(path):
    """PostgreSQL takes none in a text, and said that the mistake was ours."""
    answer = Client().get(path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith(
        error_shape.CONTENT_TYPE if path.startswith("/api/") else "text/html"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/sign-in?next=%00",
        "/?q=a%00",
        "/?%00=",
        "/nowhere?a=b%00c",
        "/api/v1/collections/?name=%00",
        "/api/v1/jobs/?x=%00",
    ],
)
def test_a_query_with_a_nul_cannot_be_read(path):
    answer = Client().get(path)
    assert answer.status_code == 400
    if path.startswith("/api/"):
        assert answer.headers["Content-Type"].startswith(error_shape.CONTENT_TYPE)
    else:
        assert '<link rel="stylesheet"' in (page := answer.content.decode())
        assert "<h1>The request could not be read</h1>" in page


def test_a_percent_sign_that_is_written_as_one_is_no_nul():
    assert Client().get("/sign-in?next=%2500").status_code == 200


def test_a_session_with_a_nul_cannot_be_read():
    """A cookie's value in quotes has octal numbers."""
    assert Client().get("/", headers={"Cookie": r'sessionid="abcdefgh\000"'}).status_code == 400


@pytest.mark.parametrize("is_multipart", [True, False])
@pytest.mark.parametrize(
    ("fields", "is_read"), [({}, True), ({"username": "a\0"}, False), ({"a\0": "b"}, False)]
)
def test_a_form_with_a_nul_is_refused_whatever_field_has_it(is_multipart, fields, is_read):
    page = Client(enforce_csrf_checks=True)
    token = page.get("/sign-in").cookies["csrftoken"].value
    sent = {"csrfmiddlewaretoken": token, "username": "nobody", "password": "wrong", **fields}
    answer = (
        page.post("/sign-in", sent)
        if is_multipart
        else page.post(
            "/sign-in", urlencode(sent), content_type="application/x-www-form-urlencoded"
        )
    )
    assert (answer.status_code, b"csrfmiddlewaretoken" in answer.content) == (400, is_read)
