"""The API's own document, /api/schema, as one reads who has a client made from it."""

from __future__ import annotations

import io
import re

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema
from rest_framework import exceptions

from annotation.services.people.tokens import create_api_token
from config.problem_codes import CODES
from tests import openapi
from tests.builders import make_campaign, make_user
from tests.commands import call_command
from tests.installation import ROOT

LISTS = {
    "campaigns_list",
    "campaigns_webhook_messages_list",
    "campaigns_webhooks_list",
    "collections_list",
    "collections_documents_list",
    "collections_pools_list",
    "collections_pools_entries_list",
    "collections_qrels_list",
    "collections_runs_list",
    "collections_topics_list",
    "collections_uploads_list",
    "jobs_list",
    "reports_list",
    "studies_list",
}


def operations():
    """(path, method, operation) of all."""
    for path, methods in openapi.document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def answered(operation, status):
    [content] = operation["responses"][status]["content"].values()
    return content["schema"]


@pytest.mark.long
def test_it_is_made_without_warnings_and_is_valid_openapi():
    GENERATOR_STATS.reset()
    call_command("spectacular", "--fail-on-warn", stdout=io.StringIO())
    validate_schema(openapi.document())


def test_every_operation_says_what_it_does():
    """Without a text of its own, an operation shows that of a base class, or nothing."""
    texts = {
        (path, method): operation.get("summary") or operation.get("description", "")
        for path, method, operation in operations()
    }
    assert [key for key, text in texts.items() if not text or text.startswith("A view")] == []


def test_every_operation_has_a_name_of_its_own_that_a_program_can_use():
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(names) == len(set(names)) > 50
    assert [
        name for name in names if not re.fullmatch(r"[a-z][a-z_]*", name) or name.startswith("v1_")
    ] == []


def test_lists_are_declared_in_pages():
    components = openapi.document()["components"]["schemas"]
    lists = {
        operation["operationId"]: operation
        for _, _, operation in operations()
        if "limit" in {one["name"] for one in operation.get("parameters", ())}
    }
    assert set(lists) - {"judging_history"} == LISTS
    for name in LISTS:
        page = components[answered(lists[name], "200")["$ref"].rpartition("/")[2]]
        assert page["required"] == ["count", "next", "previous", "results"]
        assert page["properties"]["results"]["type"] == "array"
    for name in ("campaigns_exports_list", "campaigns_recipes_list"):  # whole, not in pages
        [whole] = [
            operation for _, _, operation in operations() if operation["operationId"] == name
        ]
        assert answered(whole, "200")["type"] == "array"


@pytest.mark.parametrize("name", ["campaigns_releases_file", "studies_folder"])
def test_a_zip_file_is_also_declared_as_bytes_for_generated_clients(name):
    [operation] = [one for _, _, one in operations() if one["operationId"] == name]
    content = operation["responses"]["200"]["content"]
    assert set(content) == {"application/zip", "application/octet-stream"}
    assert all(one["schema"] == {"type": "string", "format": "binary"} for one in content.values())


def test_releases_and_results_of_studies_have_types():
    shapes = openapi.document()["components"]["schemas"]
    releases = shapes["Recipe"]["properties"]["releases"]
    assert releases["items"] == {"$ref": "#/components/schemas/Release"}
    assert set(shapes["Release"]["properties"]) == {"id", "sha256", "content_sha256", "built_at"}
    result = {"oneOf": [{"$ref": "#/components/schemas/StudyResult"}, {"type": "null"}]}
    assert result.items() <= shapes["Study"]["properties"]["result"].items()
    parts = shapes["StudyResult"]["properties"]["parts"]["additionalProperties"]
    assert parts == {"$ref": "#/components/schemas/StudyPart"}


@pytest.mark.parametrize("name", ["collections_create", "campaigns_recipes_create"])
def test_what_makes_a_thing_answers_201(name):
    [operation] = [one for _, _, one in operations() if one["operationId"] == name]
    assert [status for status in operation["responses"] if status < "300"] == ["201"]


def test_every_operation_declares_its_errors_in_one_shape():
    shapes = openapi.document()["components"]["schemas"]
    assert {"type", "title", "status", "detail", "code"} <= set(shapes["Problem"]["required"])
    for path, method, operation in operations():
        errors = {status for status in operation["responses"] if status >= "400"}
        assert errors >= {"401", "503"}, path
        assert ("404" in errors) or "{" not in path, path
        assert ("409" in errors) == (method != "get"), path
        assert ({"400", "415"} <= errors) or "requestBody" not in operation, path
        for status in errors:
            assert operation["responses"][status]["content"] == {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            }


def test_every_code_of_an_error_is_explained_and_no_other():
    """As the program names them, and those of the framework that its views can raise."""
    named = (
        r'(?:AnswerRefused|_?problem\w*|as_text|\w*_problem)\(\s*(?:\d+,\s*)?"([a-z_]+)"|default_code = (?:\d+, '
        r')?"([a-z_]+)"|"(busy|not_signed_in)"'
    )
    folders = ("pooling", "annotation", "analysis", "config")
    written = {
        word
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for found in re.findall(named, path.read_text(encoding="utf-8"))
        for word in found
        if word
    }
    framework = {
        kind.default_code
        for kind in (
            exceptions.AuthenticationFailed,
            exceptions.NotAuthenticated,
            exceptions.PermissionDenied,
            exceptions.MethodNotAllowed,
            exceptions.NotAcceptable,
            exceptions.UnsupportedMediaType,
            exceptions.ParseError,
        )
    }
    assert written | framework | {"forbidden"} == set(CODES)


@pytest.mark.long
@pytest.mark.django_db
def test_the_type_of_an_error_leads_to_what_its_code_means(client):
    told = client.get("/api/v1/collections/").json()
    path, _, anchor = told["type"].partition("#")
    page = client.get(path).content.decode()
    assert (anchor, told["code"], f'id="{anchor}"' in page, CODES[anchor] in page) == (
        "not_authenticated",
        "not_authenticated",
        True,
        True,
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "collections/{slug}/runs/99/",
        "collections/{slug}/documents/99/",
        "campaigns/{campaign}/llm-judges/99/",
    ],
)
def test_what_is_not_there_is_said_in_our_words(admin_client, path):
    campaign = make_campaign()
    ask = admin_client.delete if "documents" in path else admin_client.get
    told = ask(
        "/api/v1/" + path.format(slug=campaign.collection.slug, campaign=campaign.slug)
    ).json()
    assert re.fullmatch(r"(Run|Document file|.* judge) not found\.", told["detail"])


@pytest.mark.django_db
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token"])
def test_a_token_is_taken_under_either_scheme(client, scheme):
    token = create_api_token(user=make_user("boss"), name="script")
    assert (
        client.get(
            "/api/v1/collections/", headers={"Authorization": f"{scheme} {token}"}
        ).status_code
        == 200
    )
    assert (
        client.get("/api/v1/collections/", headers={"Authorization": f"{scheme} wrong"}).json()[
            "code"
        ]
        == "authentication_failed"
    )


@pytest.mark.django_db
def test_who_is_not_signed_in_is_told_so_with_401_and_how_to_sign_in(client):
    for path, method, operation in operations():
        answer = getattr(client, method)(
            re.sub(r"\{\w+\}", "1", path), content_type="application/json"
        )
        assert (path, answer.status_code, answer.headers["WWW-Authenticate"]) == (
            path,
            401,
            "Bearer",
        )
        assert openapi.faults(method.upper(), re.sub(r"\{\w+\}", "1", path), answer) == [], (
            operation["operationId"]
        )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "asked", ["limit=0", "limit=x", "limit=1001", "offset=-1", "offset=99999999999", "limit="]
)
def test_a_page_that_cannot_be_given_is_refused_not_exchanged_for_another(admin_client, asked):
    answer = admin_client.get(f"/api/v1/collections/?{asked}")
    assert (answer.status_code, answer.json()["code"], list(answer.json()["errors"])) == (
        400,
        "malformed",
        [asked.partition("=")[0]],
    )


def test_options_of_reports_and_studies_have_types():
    schemas = openapi.document()["components"]["schemas"]
    of_report = schemas["AskRequest"]["properties"]["options"]["properties"]
    assert of_report["permutations"]["type"] == "integer"
    assert of_report["correction"]["enum"] == ["none", "bonferroni", "holm", "max"]
    assert (
        of_report["correction"]["description"] == "for compare_runs, compare_systems, leaderboard"
    )
    assert "docids" not in of_report, "a list, which has a key of its own"
    of_study = schemas["AskStudyRequest"]["properties"]["options"]["properties"]
    assert of_study["min_tau"]["type"] == "number"
    assert of_study["pooled"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "for comparison, leaderboard, sota, stability, tripjudge",
    }
    assert "runs" not in of_study, "files are uploaded or come from the collection"
    assert schemas["Report"]["properties"]["inputs"]["items"] == {
        "$ref": "#/components/schemas/InputFile"
    }
    assert "StudyParameters" in str(schemas["Study"]["properties"]["parameters"])
