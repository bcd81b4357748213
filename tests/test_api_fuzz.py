"""The whole API asked by a program that knows only its document (schemathesis): right and wrong
requests, the same ones in every run.

Two right and two wrong ones of each address; ASSAY_TEST_REQUESTS=50 asks with so many."""

from __future__ import annotations

import copy
import os

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)

from analysis.judgements.labels import LabelChoices
from analysis.models import Report
from analysis.publishing import recipes
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import LlmLabel, Message, Webhook
from annotation.services import webhooks
from annotation.services.llm_judges import judges
from annotation.services.llm_judges.judges import JudgeOptions
from annotation.services.people import tokens
from pooling.platform import jobs
from pooling.services import pools
from tests import openapi
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.databases import undone
from tests.pooling.conftest import RUN_A, bring_in

pytestmark = pytest.mark.django_db
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
RIGHT_IS_TAKEN, WRONG_IS_REFUSED = (
    [*CHECKS, positive_data_acceptance],
    [*CHECKS, negative_data_rejection],
)
MAY_BE_REFUSED = {
    "POST /api/v1/campaigns/",
    "PUT /api/v1/campaigns/{slug}/document",  # whose keys and rows contradict each other
    "GET /api/v1/campaigns/{slug}/exports/{name}",
    "GET /api/v1/campaigns/{slug}/systems",  # grades, annotators and measures that are not there
    "POST /api/v1/judging/{slug}/judgements",
    "POST /api/v1/judging/{slug}/judgements/{judgement_id}/revise",  # grades of the campaign
    "POST /api/v1/campaigns/{slug}/webhooks/",  # an address to which nothing is sent
    "PATCH /api/v1/campaigns/{slug}/webhooks/{id}/",
    "POST /api/v1/reports/",
    "POST /api/v1/studies/",  # what each kind takes
    "POST /api/v1/collections/{slug}/uploads/",  # a file that is empty
}
"""Of these the document does not say all that a request must hold to; of the others whatever it
allows is taken, or conflicts with what is there."""
MAY_BE_TAKEN = {
    "POST /api/v1/judging/{slug}/leases/release",  # a page that closes sends a text
    "POST /api/v1/collections/{slug}/uploads/",  # an empty field of a form is no field
}
ALWAYS_THE_SAME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TIMES = int(os.environ.get("ASSAY_TEST_REQUESTS", "2"))
AREAS = ["campaigns", "collections", "jobs", "judging", "reports", "studies", "to-do"]


@pytest.fixture
def installation(settings, tmp_path, monkeypatch):
    """A campaign with judgements on a collection with a file of each kind.
    -> (tokens by role, ids by the start of a path, other path parameters, slugs by the start of a path)"""
    settings.MEDIA_ROOT = tmp_path / "files"
    monkeypatch.setattr(
        connection, "close", lambda: None
    )  # what a request closes at its end is the test's own
    manager = make_user("manager", may_create=True)
    campaign = make_campaign(
        manager=manager, n_topics=1, n_documents=3, judgements_per_pair=1, min_active_seconds=0
    )
    collection, member = campaign.collection, make_annotator(campaign, "annotator")
    judged = judge(member, 1)
    bring_in(collection, "run", RUN_A.replace("051", "t1").replace("7 Q0", "t1 Q0"), user=manager)
    bring_in(collection, "qrels", "t1 0 d1 1\n", user=manager)
    waiting = bring_in(collection, "run", "t1 Q0 d1 1 9 W\n", user=manager, mode="inspect")
    bring_in(collection, "documents", '{"_id": "d9", "text": "nine"}\n', user=manager)
    jobs.run_job(
        pools.request_pool(collection, runs=list(collection.runs.all()), depth=2, user=manager).pk
    )
    recipe = recipes.save_recipe(campaign, ReleasePlan("first", LabelChoices()), user=manager)
    settings.LLM_ENDPOINTS = {"http://127.0.0.1:1/v1": ""}
    llm_judge = judges.create_judge(
        campaign, JudgeOptions("llm_judge", "model", "http://127.0.0.1:1/v1"), actor=manager
    )
    LlmLabel.objects.create(
        judge=llm_judge, topic=collection.topics.all()[0], docno="d1", state="graded", grade=1
    )
    webhook = Webhook.objects.create(
        campaign=campaign,
        name="chat",
        url="https://hooks.example.org/",
        form="text",
        events=["question.asked"],
        site="https://assay.example.org",
    )
    report = Report.objects.create(
        collection=collection, kind="evaluate", title="of nothing yet", created_by=manager
    )
    study = Report.objects.create(
        collection=collection, kind="study-sota", title="not made yet", created_by=manager
    )
    message = Message.objects.create(membership=member, text="Well done")
    of_collection = "/api/v1/collections/{slug}/"
    ids = {
        of_collection + "runs": collection.runs.first().pk,
        of_collection + "qrels": collection.qrels.first().pk,
        of_collection + "pools": collection.pools.last().pk,
        of_collection + "uploads": collection.uploads.first().pk,
        of_collection + "documents": collection.document_files.first().pk,
        "/api/v1/jobs": waiting.pk,
        "/api/v1/reports": report.pk,
        "/api/v1/studies": study.pk,
        "/api/v1/campaigns/{slug}/recipes": recipe.pk,
        "/api/v1/campaigns/{slug}/llm-judges": llm_judge.pk,
        "/api/v1/campaigns/{slug}/webhooks": webhook.pk,
        "/api/v1/campaigns/{slug}/webhook-messages": webhooks.queue_test(webhook).pk,
    }
    named = {
        "judgement_id": judged.pk,
        "message_id": message.pk,
        "pair_id": campaign.pairs.last().pk,
        "name": "qrels",
    }
    slugs = {
        "/api/v1/collections": collection.slug,
        "/api/v1/campaigns": campaign.slug,
        "/api/v1/judging": campaign.slug,
    }
    token_of = {
        user.username: tokens.create_api_token(user=user, name="fuzz")
        for user in (manager, member.user)
    }
    return token_of, ids, named, slugs


def real(path, installation):
    """Path parameters under which something is there."""
    _, ids, named, slugs = installation
    found = dict(named)
    found |= {"id": next((pk for start, pk in ids.items() if path.startswith(start)), 1)}
    found |= {
        "slug": next((slug for start, slug in slugs.items() if path.startswith(start)), "none")
    }
    return {name: value for name, value in found.items() if f"{{{name}}}" in path}


def asked(operation, token, mode, parameters, *, times):
    """Ask with so many requests of this mode; every change is undone. -> (statuses, what was not as
    it should be)"""
    statuses, wrong = [], []
    if mode == GenerationMode.POSITIVE:
        checks = CHECKS if operation.label in MAY_BE_REFUSED else RIGHT_IS_TAKEN
    else:
        checks = CHECKS if operation.label in MAY_BE_TAKEN else WRONG_IS_REFUSED

    @settings(ALWAYS_THE_SAME, max_examples=times)
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=parameters))
    def ask(case):
        with undone():
            answer = case.call(headers={"Authorization": f"Token {token}"})
        statuses.append(answer.status_code)
        try:
            case.validate_response(answer, checks=checks)
        except (AssertionError, BaseExceptionGroup) as error:
            asked_for, why = (
                f"{case.path_parameters} {case.query} {case.body!r:.300}",
                getattr(error, "exceptions", error),
            )
            wrong.append(f"{operation.label} {answer.status_code}: {asked_for}: {why!s:.600}")

    ask()
    return statuses, wrong


def test_the_areas_are_the_whole_api():
    assert sorted({path.split("/")[3] for path in openapi.document()["paths"]}) == sorted(AREAS)


@pytest.mark.long
@pytest.mark.parametrize("area", AREAS)
def test_whatever_is_asked_the_answer_is_as_documented(area, installation):
    document = schemathesis.openapi.from_dict(copy.deepcopy(openapi.document()))
    document.app = get_wsgi_application()
    seen: dict[str, set[int]] = {}
    wrong: list[str] = []
    for result in document.get_all_operations():
        operation = result.ok()
        if operation.path.split("/")[3] != area:
            continue
        own = "annotator" if area == "judging" else "manager"
        mine, other = (
            installation[0][own],
            next(token for role, token in installation[0].items() if role != own),
        )
        asks = [
            (mine, GenerationMode.POSITIVE, TIMES),
            (other, GenerationMode.POSITIVE, (TIMES + 1) // 2),
        ]
        if (
            "requestBody" in operation.definition.raw or operation.query
        ):  # without them no request can be wrong
            asks.append((mine, GenerationMode.NEGATIVE, TIMES))
        for token, mode, times in asks:
            statuses, faults = asked(
                operation, token, mode, real(operation.path, installation), times=times
            )
            seen.setdefault(operation.definition.raw["operationId"], set()).update(statuses)
            wrong += faults
    assert not wrong, "\n\n".join(wrong)
    answered = {name for name, statuses in seen.items() if min(statuses) < 300}
    assert len(answered) >= len(seen) / 2, f"hardly anything was found: {seen}"
