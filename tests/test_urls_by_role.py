"""Every address x role. The table names all of them: an address that it does not know fails the
test.

Statuses stand in the order anonymous, stranger, annotator, manager, superuser; a viewer's follow
from them (`status_of`). The manager has made the collection and the campaign, the annotator judges
in it, the stranger is signed in and has nothing to do with either. 302 for the anonymous leads to
the sign-in."""

from __future__ import annotations

import copy
import functools
import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from analysis.dashboard import exclusions
from analysis.publishing import recipes
from analysis.publishing.release.parts import ReleasePlan
from analysis.studies import stored_studies
from analysis.studies.inputs import StudyInputs
from analysis.studies.papers import get_study
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import ordered_result
from annotation.core.webhook_messages import MessageForm, WebhookEvent
from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, Judgement, Lease, Membership, Message
from annotation.services import webhooks
from annotation.services.campaigns import lifecycle
from annotation.services.judging import questions, scheduling
from annotation.services.llm_judges import judges
from annotation.services.people import accounts as people
from annotation.services.people import guests, results_links, tokens
from pooling.models import Collection, Job
from pooling.services import pool_extension, pool_preview, pools
from pooling.services.collections import create_collection
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.databases import undone
from tests.pages import MOVED
from tests.pooling.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS, bring_in, run

pytestmark = pytest.mark.django_db
SECRET = "Zweitmeinung-7"
"""Stands in everything that the world's LLM judge is and says."""
ROLES = ("anonymous", "stranger", "annotator", "manager", "superuser")
"""In the order of the statuses; a viewer's are told by `status_of`."""

OPEN = "200 200 200 200 200"
SIGNED_IN = "302 200 200 200 200"
COLLECTION = "302 404 404 200 200"
COLLECTION_POST = "302 404 404 302 302"
CAMPAIGN = "302 404 403 200 200"
CAMPAIGN_POST = "302 404 403 302 302"
JUDGING = "302 404 200 403 404"
REPORT = "302 404 404 200 200"
REPORT_POST = "302 404 404 302 302"
API = "401 200 200 200 200"
API_COLLECTION = "401 404 404 200 200"
API_CAMPAIGN = "401 404 403 200 200"
API_JUDGING = "401 404 200 403 404"

TABLE: dict[str, tuple[str, str]] = {
    # people
    "home": ("get", SIGNED_IN),
    "sign-in": ("get", "200 302 302 302 302"),
    "sign-in-link": ("get", OPEN),
    **dict.fromkeys(
        ("sign-in-institution", "sign-in-oidc", "sign-in-oidc-back"), ("get", "404 404 404 404 404")
    ),  # not configured
    "sign-in-link-use": ("get", OPEN),
    "sign-out": ("post", "302 302 302 302 302"),
    "language": ("post", "302 302 302 302 302"),
    "join-code": ("get", OPEN),
    "join": ("get", "200 200 302 302 200"),
    "panel-events": ("post", "403 403 403 403 403"),  # without a signature
    "account": ("get", SIGNED_IN),
    "accounts": ("get", "302 403 403 403 200"),
    "installation": ("get", "302 403 403 403 200"),
    "installation-sessions": ("get", "302 403 403 403 200"),
    # addresses of earlier versions
    **dict.fromkeys(MOVED, ("get", "301 301 301 301 301")),
    # judging
    "judge": ("get", "302 404 200 302 404"),  # managers: to the trial
    "judge-try": ("get", CAMPAIGN),
    "judge-history": ("get", JUDGING),
    "judge-build": ("get", OPEN),
    "api-judging-setup": ("get", API_JUDGING),
    "api-campaign-trial": ("get", API_CAMPAIGN),
    "api-judging-leases": ("post", API_JUDGING),
    "api-judging-renew": ("post", API_JUDGING),
    "api-judging-release": ("post", API_JUDGING),
    "api-judging-judgements": ("post", API_JUDGING),
    "api-judging-revise": ("post", API_JUDGING),
    "api-judging-skip": ("post", API_JUDGING),
    "api-judging-skipped": ("get", API_JUDGING),
    "api-judging-resume": ("post", API_JUDGING),
    "api-judging-history": ("get", API_JUDGING),
    "api-judging-history-item": ("get", API_JUDGING),
    "api-judging-acknowledge": ("post", API_JUDGING),
    "api-judging-consent": ("post", API_JUDGING),
    "api-judging-profile": ("put", API_JUDGING),
    "api-judging-message-read": ("post", API_JUDGING),
    "api-judging-near-duplicates": ("get", API_JUDGING),
    "api-judging-questions": ("get", API_JUDGING),
    "api-judging-withdraw": (
        "post",
        "401 404 409 403 404",
    ),  # the question of this world is answered
    "api-judging-answer-read": ("post", API_JUDGING),
    "api-questions": ("get", API_CAMPAIGN),
    "api-question-answer": ("post", API_CAMPAIGN),
    "api-exports": ("get", API_CAMPAIGN),
    "api-export-file": ("get", API_CAMPAIGN),
    "api-payment": ("get", API_CAMPAIGN),
    "api-judging-feedback": ("post", API_JUDGING),
    # campaigns
    "campaigns": ("get", SIGNED_IN),
    "search": ("get", SIGNED_IN),
    "campaign-new": ("get", "302 403 403 200 200"),
    "campaign-settings": ("get", CAMPAIGN_POST),
    "campaign-step": ("get", CAMPAIGN),
    "campaign-delete": ("post", CAMPAIGN_POST),
    "campaign-duplicate": ("post", CAMPAIGN_POST),
    "campaign-known-pairs": ("post", CAMPAIGN_POST),
    "campaign-state": ("post", CAMPAIGN_POST),
    "campaign-guideline": ("get", CAMPAIGN),
    "campaign-invitations": ("get", CAMPAIGN),
    "campaign-remind": ("get", CAMPAIGN),
    "campaign-questions": ("get", CAMPAIGN),
    "campaign-readers": ("get", CAMPAIGN),
    "campaign-webhooks": ("get", CAMPAIGN),
    "api-webhooks": ("get", API_CAMPAIGN),
    "api-webhook": ("get", API_CAMPAIGN),
    "api-webhook-test": ("post", "401 404 403 202 202"),
    "api-webhook-secret": ("post", API_CAMPAIGN),
    "api-webhook-messages": ("get", API_CAMPAIGN),
    "api-webhook-message": ("get", API_CAMPAIGN),
    "campaign-panel": ("get", CAMPAIGN),
    "campaign-export-send": ("post", CAMPAIGN_POST),
    "campaign-results": ("get", CAMPAIGN),
    "campaign-results-part": ("get", CAMPAIGN),
    "campaign-results-report": ("get", CAMPAIGN),
    "results-link": ("get", OPEN),
    "results-link-part": ("get", OPEN),
    "results-link-report": ("get", OPEN),
    "campaign-llm-judges": ("get", CAMPAIGN),
    "campaign-llm-judge": ("get", CAMPAIGN),
    "campaign-llm-judge-act": ("post", CAMPAIGN_POST),
    "campaign-llm-judge-labels": ("get", CAMPAIGN),
    "api-llm-judges": ("get", API_CAMPAIGN),
    "api-llm-judge": ("get", API_CAMPAIGN),
    "api-llm-judge-run": ("post", "401 404 403 409 409"),
    "api-llm-judge-freeze": ("post", API_CAMPAIGN),
    "api-llm-judge-labels": ("get", API_CAMPAIGN),
    "campaign": ("get", CAMPAIGN),
    "campaign-battles": ("get", CAMPAIGN_POST),  # only for preferences
    "campaign-battles-file": ("get", CAMPAIGN_POST),
    "campaign-live": ("get", CAMPAIGN),
    "campaign-planning": ("get", CAMPAIGN),
    "campaign-feedback": ("get", CAMPAIGN),
    "campaign-audit": ("get", CAMPAIGN),
    "campaign-people": ("get", CAMPAIGN),
    "campaign-invite": ("get", CAMPAIGN),
    "campaign-person": ("get", CAMPAIGN),
    "campaign-person-act": ("post", CAMPAIGN_POST),
    "campaign-exclude": ("get", CAMPAIGN),
    "campaign-people-chosen": ("post", CAMPAIGN_POST),
    "campaign-people-exclude": ("get", CAMPAIGN),
    "campaign-agreement": ("get", CAMPAIGN),
    "campaign-agreement-refresh": ("post", CAMPAIGN_POST),
    "campaign-stopping": ("post", CAMPAIGN_POST),
    "campaign-pair": ("get", CAMPAIGN),
    "campaign-gold": ("get", CAMPAIGN),
    "campaign-judgements": ("get", CAMPAIGN),
    "campaign-additional-judgements": ("post", CAMPAIGN_POST),
    "campaign-export": ("get", CAMPAIGN),
    "campaign-export-file": ("get", CAMPAIGN),
    "campaign-payment": ("get", CAMPAIGN),
    "campaign-import": ("get", "302 403 403 200 200"),
    "campaign-recipe-new": ("post", "302 404 403 400 400"),
    "campaign-recipe": ("post", CAMPAIGN_POST),
    "campaign-release": ("get", CAMPAIGN),
    "campaign-recipe-difference-file": ("get", CAMPAIGN_POST),
    "campaign-recipe-difference": ("get", CAMPAIGN_POST),
    "campaign-systems": ("get", CAMPAIGN),
    "campaign-against-clicks": ("post", CAMPAIGN_POST),
    "campaign-report-new": ("get", CAMPAIGN),
    "api-to-do": ("get", API),
    "api-campaigns": ("get", API),
    "api-campaign": ("get", API_CAMPAIGN),
    "api-campaign-document": ("get", API_CAMPAIGN),
    "api-campaign-progress": ("get", API_CAMPAIGN),
    "api-campaign-agreement": ("get", API_CAMPAIGN),
    "api-campaign-systems": ("get", API_CAMPAIGN),
    "api-additional-judgements": ("get", API_CAMPAIGN),
    "api-recipes": ("get", API_CAMPAIGN),
    "api-recipe": ("get", API_CAMPAIGN),
    "api-recipe-build": ("post", "401 404 403 409 409"),
    "api-recipe-missing": ("get", API_CAMPAIGN),
    "api-release": ("get", API_CAMPAIGN),
    # reports
    "analyses": ("get", SIGNED_IN),
    "report": ("get", REPORT),
    "report-table": ("get", REPORT),
    "report-figure": ("get", REPORT),
    "report-result": ("get", REPORT),
    "report-files": ("get", REPORT),
    "report-again": ("post", REPORT_POST),
    "report-delete": ("post", REPORT_POST),
    "report-top-up": ("post", REPORT_POST),
    "api-reports": ("get", API),
    "api-report": ("get", "401 404 404 200 200"),
    "api-report-top-up": ("post", "401 404 404 409 409"),  # the report of this world names no pairs
    # studies
    "campaign-study-new": ("get", CAMPAIGN),
    "collection-study-new": ("get", COLLECTION),
    "study": ("get", REPORT),
    "study-zip": ("get", REPORT),
    "study-file": ("get", REPORT),
    "study-again": ("post", REPORT_POST),
    "study-delete": ("post", REPORT_POST),
    "api-studies": ("get", API),
    "api-study": ("get", "401 404 404 200 200"),
    "api-study-zip": ("get", "401 404 404 200 200"),
    # collections
    "collection-analyses": ("get", COLLECTION),
    "collection-report-new": ("get", COLLECTION),
    "collections": ("get", SIGNED_IN),
    "collection-new": ("get", "302 403 403 200 200"),
    "collection": ("get", COLLECTION),
    "collection-edit": ("get", COLLECTION),
    "collection-removal": ("get", COLLECTION),
    "collection-delete": ("post", COLLECTION_POST),
    "collection-upload": ("post", COLLECTION_POST),
    "upload-decide-all": ("post", COLLECTION_POST),
    "upload-dismiss": ("post", COLLECTION_POST),
    "upload-decide": ("post", COLLECTION_POST),
    "collection-topics": ("get", COLLECTION),
    "collection-topics-change": ("post", COLLECTION_POST),
    "collection-check": ("get", COLLECTION),
    "topics-kept": ("get", COLLECTION),
    "topics-removed": ("get", COLLECTION),
    "collection-runs": ("get", COLLECTION),
    "run": ("get", COLLECTION),
    "collection-qrels": ("get", COLLECTION),
    "qrels-delete": ("post", COLLECTION_POST),
    "collection-documents": ("get", COLLECTION),
    "document": ("get", COLLECTION),
    "document-file-delete": ("post", COLLECTION_POST),
    "collection-pools": ("get", COLLECTION),
    "collection-pool-new": ("get", COLLECTION),
    "pool-preview": ("get", COLLECTION),
    "pool-extension": ("get", COLLECTION),
    "pool": ("get", COLLECTION),
    "pool-change": ("post", COLLECTION_POST),
    "pool-table": ("get", COLLECTION),
    "jobs": ("get", SIGNED_IN),
    "job": ("get", COLLECTION),
    "job-fragment": ("get", COLLECTION),
    "job-cancel": ("post", COLLECTION_POST),
    "job-problems": ("get", COLLECTION),
    "api-collections": ("get", API),
    "api-collection": ("get", API_COLLECTION),
    "api-uploads": ("get", API_COLLECTION),
    "api-upload": ("delete", "401 404 404 204 204"),
    "api-topics": ("get", API_COLLECTION),
    "api-topics-check": ("post", "401 404 404 202 202"),
    "api-topics-decisions": ("post", "401 404 404 200 200"),
    "api-document-files": ("get", API_COLLECTION),
    "api-document-file": ("delete", "401 404 404 409 409"),
    "api-runs": ("get", API_COLLECTION),
    "api-run": ("get", API_COLLECTION),
    "api-qrels-list": ("get", API_COLLECTION),
    "api-qrels": ("get", API_COLLECTION),
    "api-pools": ("get", API_COLLECTION),
    "api-pool-preview": ("post", "401 404 404 202 202"),
    "api-pool": ("get", API_COLLECTION),
    "api-pool-extend": ("post", "401 404 404 409 409"),
    "api-pool-batches": ("post", "401 404 404 409 409"),
    "api-pool-stages": ("post", "401 404 404 409 409"),
    "api-pool-entries": ("get", API_COLLECTION),
    "api-pool-table": ("get", API_COLLECTION),
    "api-jobs": ("get", API),
    "api-job": ("get", API_COLLECTION),
    "api-job-cancel": ("post", API_COLLECTION),
    # machines that watch
    "health": ("get", OPEN),
    "readiness": ("get", OPEN),
    "metrics": ("get", "404 404 404 404 404"),
    # the API's own description
    "api-schema": ("get", OPEN),
    "api-docs": ("get", OPEN),
    "api-problems": ("get", OPEN),
}


RESULTS = ("campaign-results", "campaign-results-part", "campaign-results-report")
"""What a viewer of the campaign may ask for of it, and no other member but managers."""


def status_of(name: str, role: str) -> int:
    """A viewer is an annotator who may not judge, and who sees the results."""
    statuses = TABLE[name][1]
    if role != "viewer":
        return int(statuses.split()[ROLES.index(role)])
    if name in RESULTS:
        return 200
    if name == "judge":
        return 302  # to the results
    return (
        403
        if name.startswith("api-judging-") or statuses == JUDGING
        else int(statuses.split()[ROLES.index("annotator")])
    )


def every_pattern(resolver: URLResolver | None = None, before: str = "") -> dict[str, str]:
    """name -> route of every address outside the administration."""
    found: dict[str, str] = {}
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLPattern):
            assert pattern.name, f"{before}{pattern.pattern} has no name"
            assert pattern.name not in found, f"two addresses are called {pattern.name}"
            found[pattern.name] = before + str(pattern.pattern)
        elif pattern.namespace != "admin":
            found |= every_pattern(pattern, before + str(pattern.pattern))
    return found


@dataclass
class World:
    collection: Collection
    campaign: Campaign
    people: dict[str, User | None]
    numbers: dict[str, dict[str, Any]]
    bodies: dict[str, dict[str, Any]]
    sessions: dict[str, str] = field(default_factory=dict)
    """By role: a sign-in takes longer than most answers."""

    def sign_in(self, role: str, person: User | None) -> None:
        self.people[role] = person
        if person is not None:
            client = Client()
            client.force_login(person)
            self.sessions[role] = client.session.session_key

    def address(self, name: str, route: str) -> str:
        given: dict[str, Any] = {}
        if "<slug:slug>" in route:
            given["slug"] = self.collection.slug if "collections/" in route else self.campaign.slug
        return reverse(name, kwargs=given | self.numbers.get(name, {}))

    def ask(
        self, role: str, name: str, route: str, *, token: str = "", method: str = ""
    ) -> HttpResponse:
        """One request, of which nothing stays: in a session, or with a token."""
        client = Client(
            raise_request_exception=True,
            headers={"Authorization": f"Token {token}"} if token else {},
        )
        if role in self.sessions and not token:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[role]
        method = method or TABLE[name][0]
        data = self.bodies.get(name, {})
        with undone():
            options = (
                {"content_type": "application/json"}
                if route.startswith("api/") and method != "get"
                else {}
            )
            answer = getattr(client, method)(self.address(name, route), data, **options)
        return answer


@dataclass(frozen=True)
class Brought:
    """What people and files bring into the world. say: a text as it is written, by what it says in
    short. call: a file of that name."""

    say: Callable[[str], str] = str
    call: Callable[[str], str] = str
    topics: str = TOPICS
    runs: tuple[str, str, str] = (RUN_A, RUN_B, RUN_A.replace("A\n", "W\n"))
    documents: str = DOCUMENTS
    qrels: str = "051 0 a 1\n051 0 b 0\n"
    pair: tuple[str, str] = ("051", "a")


@dataclass(frozen=True)
class Answer:
    """What one address answered, and the statements that were sent to the database for it."""

    status: int
    kept: str
    led_to: str
    content: bytes
    statements: list[str]


@pytest.fixture(scope="module")
def answers_to(
    module_world: tuple[World, Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, Answer]]:
    """answers_to(role): of every address, asked once for all tests."""
    world, files = module_world
    routes = every_pattern()

    @functools.cache
    def ask_all(role: str) -> dict[str, Answer]:
        answers = {}
        own = copy.deepcopy(world)
        folder = shutil.copytree(files, tmp_path_factory.mktemp(role) / "files")
        with override_settings(MEDIA_ROOT=folder):
            for name in TABLE:
                with statements_sent() as statements:
                    answer = own.ask(role, name, routes[name])
                answers[name] = Answer(
                    answer.status_code,
                    answer.headers["Cache-Control"],
                    answer.headers.get("Location", ""),
                    b"".join(answer.streaming_content) if answer.streaming else answer.content,  # type: ignore[attr-defined]
                    statements,
                )
        return answers

    return ask_all


def import_files(collection: Collection, brought: Brought, manager: User) -> None:
    call = brought.call
    for kind, content, name in (
        ("topics", brought.topics, call("topics.tsv")),
        ("run", brought.runs[0], call("a.run")),
        ("run", brought.runs[1], call("b.run")),
        ("documents", brought.documents, call("docs.jsonl")),
        ("qrels", brought.qrels, call("qrels.txt")),
    ):
        job = bring_in(collection, kind, content, name=name, user=manager)
        assert job.state == "done", (job.message, job.report)


def make_world(brought: Brought | None = None) -> World:
    brought = brought or Brought()
    say, call = brought.say, brought.call
    manager = make_user("manager", may_create=True)
    collection = create_collection(name=say("Small"), user=manager)
    import_files(collection, brought, manager)
    runs = list(collection.runs.all())
    assert (
        run(
            pools.request_pool(collection, runs=runs, depth=2, name=say("pool"), user=manager)
        ).state
        == "done"
    )
    assert (
        run(pool_preview.request_preview(collection, runs=runs, depth=2, user=manager)).state
        == "done"
    )
    bring_in(
        collection, "run", brought.runs[2], name=call("waits.run"), mode="inspect", user=manager
    )
    campaign = lifecycle.create_campaign(
        name=say("Spring"),
        collection=collection,
        actor=manager,
        target_per_annotator=0,
        min_active_seconds=0,
        show_near_duplicates=True,
    )
    lifecycle.set_pool(campaign, collection.pools.get(), actor=manager)
    lifecycle.save_guideline(campaign, say("Read."), actor=manager)
    lifecycle.open_campaign(campaign, actor=manager)
    invitation = people.create_invitation(campaign=campaign, actor=manager)
    ada = make_annotator(campaign, "annotator")
    judgement = judge(ada, 2)
    lease = scheduling.claim_pair(ada)
    assert lease is not None
    message = Message.objects.create(
        membership=Membership.objects.get(pk=ada.pk), text=say("Well done.")
    )
    question = questions.answer_question(
        questions.ask_question(ada, pair_id=judgement.pair_id, key=uuid.uuid4(), text=say("Why?")),
        say("So."),
        actor=manager,
    )
    exclusion = exclusions.request_exclusion_preview(campaign, [ada.pseudonym], user=manager)
    run(exclusion)
    report = reports.request_report(
        KINDS["evaluate"],
        collection=collection,
        campaign=campaign,
        parameters={
            "runs": [row.pk for row in runs],
            "qrels": [f"imported:{collection.qrels.get().pk}"],
            "options": {},
        },
        seed=0,
        user=manager,
    )
    assert report.job is not None
    assert run(report.job).state == "done"
    report.refresh_from_db()
    given = StudyInputs(
        {"measures": "RR", "permutations": 50}, qrels=[f"imported:{collection.qrels.get().pk}"]
    )
    study = stored_studies.request_study(
        get_study("comparison"),
        collection=collection,
        campaign=campaign,
        given=given,
        user=manager,
    )
    assert study.job is not None
    assert run(study.job).state == "done"
    recipe = recipes.save_recipe(campaign, ReleasePlan(name=say("public")), user=manager)
    assert run(recipes.request_release(recipe, user=manager, anyway=True)).state == "done"
    tables = KINDS[report.kind].tables(ordered_result(report) or {})
    picture = next(name for name in report.files if name.endswith(".svg"))
    panel = guests.save_panel(
        campaign, {"name": say("Panel"), "places": 5, "judgements": 5}, actor=manager
    )
    webhook = webhooks.create_webhook(
        campaign,
        webhooks.NewWebhook(
            name=say("Chat"),
            url="https://hooks.example.org/in",
            form=MessageForm.TEXT,
            events=[WebhookEvent.QUESTION_ASKED],
            site="https://assay.example.org",
        ),
        actor=manager,
    )
    results = results_links.create_results_link(
        campaign, name=say("steering group"), days=7, actor=manager
    )
    pool, collection_job = (
        collection.pools.get(),
        Job.objects.filter(collection=collection).order_by("pk").first(),
    )
    assert collection_job is not None
    extension = pool_extension.request_extension_preview(pool, runs=runs, depth=3, user=manager)
    assert run(extension).state == "done"
    person = {"pseudonym": ada.pseudonym}
    answer = {"key": str(uuid.uuid4()), "grade": 2, "guideline_version": 1}
    llm_judge = judges.create_judge_from_file(
        campaign,
        name=say(SECRET),
        model=say(SECRET),
        labels=[FileLabel(*brought.pair, 2, say(SECRET), 1, False)],
        file_name=call(f"{SECRET}.txt"),
        actor=manager,
    )
    pk = {
        **dict.fromkeys(
            (
                "campaign-llm-judge",
                "campaign-llm-judge-act",
                "campaign-llm-judge-labels",
            ),
            llm_judge.pk,
        ),
        "api-question-answer": question.pk,
        **dict.fromkeys(("api-webhook", "api-webhook-test", "api-webhook-secret"), webhook.pk),
        "api-webhook-message": webhooks.queue_test(webhook).pk,
        **dict.fromkeys(
            ("api-llm-judge", "api-llm-judge-run", "api-llm-judge-freeze", "api-llm-judge-labels"),
            llm_judge.pk,
        ),
        "upload-decide": collection.uploads.get().pk,
        "api-upload": collection.uploads.get().pk,
        "document": collection.documents.order_by("pk")[0].pk,
        "pool-preview": collection.jobs.get(kind="preview pool").pk,
        **dict.fromkeys(("report", "report-table", "report-figure", "report-result"), report.pk),
        **dict.fromkeys(
            (
                "report-files",
                "report-again",
                "report-delete",
                "report-top-up",
                "api-report",
                "api-report-top-up",
            ),
            report.pk,
        ),
        **dict.fromkeys(
            ("study", "study-zip", "study-again", "study-delete", "api-study", "api-study-zip"),
            study.pk,
        ),
        **dict.fromkeys(
            ("campaign-recipe", "api-recipe", "api-recipe-build", "api-recipe-missing"), recipe.pk
        ),
        **dict.fromkeys(("campaign-release", "api-release"), recipe.releases.get().pk),
        **dict.fromkeys(("run", "api-run"), runs[0].pk),
        **dict.fromkeys(("qrels-delete", "api-qrels"), collection.qrels.get().pk),
        **dict.fromkeys(
            ("document-file-delete", "api-document-file"), collection.document_files.get().pk
        ),
        **dict.fromkeys(("pool", "pool-change", "pool-table"), pool.pk),
        **dict.fromkeys(
            (
                "api-pool",
                "api-pool-extend",
                "api-pool-batches",
                "api-pool-stages",
                "api-pool-entries",
                "api-pool-table",
            ),
            pool.pk,
        ),
        **dict.fromkeys(
            ("job", "job-fragment", "job-cancel", "job-problems", "api-job", "api-job-cancel"),
            collection_job.pk,
        ),
    }
    viewer = people.add_member(campaign=campaign, user=make_user("viewer"), role="viewer")
    world = World(
        collection=collection,
        campaign=campaign,
        people={},
        numbers={name: {"pk": number} for name, number in pk.items()}
        | {
            "report-table": {"pk": report.pk, "key": tables[0].key, "extension": "csv"},
            "report-figure": {"pk": report.pk, "name": picture},
            "study-file": {"pk": study.pk, "name": "report.html"},
            "campaign-study-new": {"name": "tripjudge"},
            "collection-study-new": {"name": "leaderboard"},
            "campaign-report-new": {"kind": "evaluate"},
            "collection-report-new": {"kind": "evaluate"},
            "sign-in-link-use": dict(
                zip(
                    ("identifier", "token"),
                    people.sign_in_path(make_user("forgetful")).split("/"),
                    strict=True,
                )
            ),
            "join": {"token": invitation.token},
            "panel-events": {"token": panel.token},
            "campaign-step": {"key": "rules"},
            "campaign-results-part": {"part": "agreement"},
            "campaign-results-report": {"pk": report.pk},
            "results-link": {"token": results},
            "results-link-part": {"token": results, "part": "systems"},
            "results-link-report": {"token": results, "pk": report.pk},
            "campaign-guideline": {"number": 1},
            "campaign-person": person,
            "campaign-person-act": person,
            "campaign-exclude": person | {"job_id": exclusion.pk},
            "campaign-people-exclude": {"job_id": exclusion.pk},
            "campaign-pair": {"pair_id": judgement.pair_id},
            "campaign-export-file": {"name": "qrels"},
            "campaign-export-send": {"name": "opensearch"},
            "api-export-file": {"name": "qrels"},
            "api-judging-revise": {"judgement_id": judgement.pk},
            "api-judging-history-item": {"judgement_id": judgement.pk},
            "api-judging-message-read": {"message_id": message.pk},
            "api-judging-withdraw": {"question_id": question.pk},
            "api-judging-answer-read": {"question_id": question.pk},
            "api-judging-resume": {"pair_id": lease.pair_id},
            "api-judging-near-duplicates": {"pair_id": lease.pair_id},
            "pool-extension": {"pk": pool.pk, "job_pk": extension.pk},
        },
        bodies={
            "campaign-state": {"action": "pause", "reason": "lunch"},
            "campaign-person-act": {"action": "message", "text": "Thank you."},
            "campaign-people-chosen": {
                "action": "message",
                "text": "Thank you.",
                "annotator": ada.pseudonym,
            },
            "api-judging-leases": {"want": 1, "held": []},
            "api-judging-renew": {"leases": [str(lease.token)]},
            "api-judging-release": {"leases": []},
            "api-judging-judgements": {**answer, "lease": str(lease.token)},
            "api-judging-revise": answer,
            "api-judging-skip": {"lease": str(lease.token), "key": str(uuid.uuid4())},
            "api-judging-acknowledge": {"number": 1},
            "api-judging-profile": {"settings": {}},
            "api-judging-feedback": {"score": "GOOD", "text": ""},
            "api-question-answer": {"answer": "So it is."},
            "api-pool-preview": {"depth": 2},
            "api-pool-stages": {"share": 0.5},
            "api-topics-check": {"level": "exact"},
        },
    )
    for role, its_person in (
        ("anonymous", None),
        ("stranger", make_user("stranger")),
        ("annotator", ada.user),
        ("viewer", viewer.user),
        ("manager", manager),
        ("superuser", make_user("root", superuser=True)),
    ):
        world.sign_in(role, its_person)
    return world


def test_the_table_names_every_address_and_no_other() -> None:
    assert sorted(every_pattern()) == sorted(TABLE)


@pytest.mark.parametrize("role", [*ROLES, "viewer"])
def test_every_address_answers_each_role_as_the_table_says(
    answers_to: Callable[[str], dict[str, Answer]], role: str
) -> None:
    answers = answers_to(role)
    wrong = {name: answer.status for name, answer in answers.items()}
    assert {name: one for name, one in wrong.items() if one != status_of(name, role)} == {}
    for_all = {
        name: answer.kept
        for name, answer in answers.items()
        if "private" not in answer.kept and "no-store" not in answer.kept
    }
    assert for_all == {}, "a cache that several people share would keep these"
    if role == "anonymous":
        led_to = {name: answer.led_to for name, answer in answers.items() if answer.status == 302}
        assert {
            name: url for name, url in led_to.items() if not url.startswith(reverse("sign-in"))
        } == {}


SCOPES_THAT_OPEN = {
    ("judging", "get"): {"read", "judge", "manage"},
    ("judging", "post"): {"judge"},
    ("judging", "put"): {"judge"},
    ("other", "get"): {"read", "manage"},
    ("other", "post"): {"manage"},
    ("other", "delete"): {"manage"},
}


@pytest.mark.parametrize("role", ["annotator", "manager", "viewer"])
@pytest.mark.parametrize("scope", ["read", "judge", "manage"])
def test_a_token_opens_of_what_its_owner_may_do_what_its_scope_says(
    world: World, role: str, scope: str
) -> None:
    person = world.people[role]
    assert person is not None
    token = tokens.create_api_token(user=person, name="script", scopes=[scope])
    wrong = {}
    for name, route in every_pattern().items():
        if not route.startswith("api/v1/"):
            continue
        method = TABLE[name][0]
        opened = (
            scope
            in SCOPES_THAT_OPEN[
                "judging" if route.startswith("api/v1/judging/") else "other", method
            ]
        )
        expected = status_of(name, role) if opened else 403
        answer = world.ask(role, name, route, token=token)
        if answer.status_code != expected:
            wrong[name] = answer.status_code
        elif not opened:
            assert (answer["Content-Type"], answer.json()["code"]) == (
                "application/problem+json",
                "out_of_scope",
            )
    assert wrong == {}


@pytest.mark.long
@pytest.mark.parametrize("scope", ["read", "judge"])
def test_a_token_without_manage_changes_nothing_by_whatever_method(
    world: World, scope: str
) -> None:
    """Also by the methods that the table does not name, as manager and superuser."""
    for role in ("manager", "superuser"):
        person = world.people[role]
        assert person is not None
        token = tokens.create_api_token(user=person, name="script", scopes=[scope])
        for name, route in every_pattern().items():
            if route.startswith("api/v1/") and not route.startswith("api/v1/judging/"):
                statuses = {
                    method: world.ask(role, name, route, token=token, method=method).status_code
                    for method in ("post", "put", "patch", "delete")
                }
                assert set(statuses.values()) == {403}, (name, statuses)


def test_no_answer_to_an_annotator_holds_or_reads_an_llm_judges_label(
    answers_to: Callable[[str], dict[str, Answer]],
) -> None:
    """Every page and every answer of the API, by its content and by what is read for it; a
    manager's have them."""
    for role in ("annotator", "stranger", "viewer"):
        for name, answer in answers_to(role).items():
            assert SECRET.encode() not in answer.content, name
            assert not reads_of_llm_judges(answer.statements), name
    for name in ("campaign-llm-judges", "campaign-llm-judge", "api-llm-judges", "api-llm-judge"):
        answer = answers_to("manager")[name]
        assert SECRET.encode() in answer.content, name
        assert reads_of_llm_judges(answer.statements), name


OWN_AFFAIRS = {
    "sign-in",
    "sign-in-link",
    "sign-in-link-use",
    "sign-out",
    "join",
    "join-code",
    "account",
    "language",
}
"""What everybody who is signed in may change: the own account, and where the person is a member."""


@pytest.mark.long
def test_a_viewer_changes_nothing_by_whatever_method_and_address(world: World) -> None:
    routes = every_pattern()
    wrong = {}
    for name in sorted(set(TABLE) - OWN_AFFAIRS):
        for method in ("post", "put", "patch", "delete"):
            with statements_sent() as statements:
                answer = world.ask("viewer", name, routes[name], method=method)
            refused = (
                (403, 404, 405) if writes(statements) else (400, 403, 404, 405)
            )  # an empty body that is not looked at further
            if answer.status_code not in refused:
                wrong[name, method] = answer.status_code
    assert wrong == {}


@contextmanager
def statements_sent() -> Iterator[list[str]]:
    """In a list of our own: Django's keeps 9,000, and shows nothing new once it is full."""
    statements: list[str] = []
    with connection.execute_wrapper(
        lambda run, sql, *more: (statements.append(sql), run(sql, *more))[1]
    ):
        yield statements


def writes(statements: list[str]) -> list[str]:
    """Those that change a row, but for what a sign-in or the use of a token writes."""
    changing = [sql for sql in statements if sql.startswith(("INSERT", "UPDATE", "DELETE"))]
    return [
        sql
        for sql in changing
        if not any(
            name in sql
            for name in ("django_session", "annotation_opensession", "last_login", "last_used_at")
        )
    ]


def reads_of_llm_judges(statements: list[str]) -> list[str]:
    return [
        sql for sql in statements if "annotation_llmlabel" in sql or "annotation_llmjudge" in sql
    ]


@pytest.mark.parametrize("role", ROLES)
def test_the_administration_is_for_superusers(world: World, role: str) -> None:
    client = Client()
    if (person := world.people[role]) is not None:
        client.force_login(person)
    addresses = [
        reverse(f"admin:{name}") for name in ("index", "auth_user_changelist", "auth_group_add")
    ]
    addresses.append(reverse("admin:auth_user_change", args=[world.people["manager"].pk]))
    assert {client.get(address).status_code for address in addresses} == (
        {200} if role == "superuser" else {302}
    )


@pytest.mark.long
def test_a_manager_of_another_campaign_is_a_stranger_to_this_one(world: World) -> None:
    other = make_user("neighbour", may_create=True)
    lifecycle.create_campaign(
        name="Autumn", collection=create_collection(name="Other", user=other), actor=other
    )
    world.sign_in("neighbour", other)
    routes = every_pattern()
    ours = [
        name
        for name, (_, statuses) in TABLE.items()
        if name in routes and statuses.split()[1] == "404"
    ]
    assert len(ours) > 60
    assert {
        name: status
        for name in ours
        if (status := world.ask("neighbour", name, routes[name]).status_code) != 404
    } == {}


MEAN_THE_SAME_EVERYWHERE = {
    *(
        "campaign-step",
        "campaign-guideline",
        "campaign-export-file",
        "campaign-export-send",
        "api-export-file",
        "campaign-results-part",
    ),
    *("campaign-study-new", "collection-study-new", "campaign-report-new", "collection-report-new"),
}
"""Addresses whose second part names no row of its own: a step, a version, a kind of file or
report."""


@pytest.mark.long
def test_another_managers_things_are_not_found_under_ones_own_address(world: World) -> None:
    """Every address that names a campaign or collection and a thing in it, with the first one's own
    and the second another's, by every method: as manager and annotator of the own, as superuser,
    and with their tokens."""
    manager = make_user("neighbour", may_create=True)
    own = make_campaign(manager=manager, name="Autumn", show_near_duplicates=True)
    eve = make_annotator(own, "eve", pseudonym="Z999")
    judge(eve, 1)
    assert scheduling.claim_pair(eve) is not None
    wrong, n_asked = {}, 0
    for name, route in every_pattern().items():
        if "<slug:slug>" not in route or route.count("<") == 1 or name in MEAN_THE_SAME_EVERYWHERE:
            continue
        slug = own.collection.slug if "collections/" in route else own.slug
        address = reverse(name, kwargs={"slug": slug} | world.numbers[name])
        for person in (eve.user,) if "judging/" in route else (manager, world.people["superuser"]):
            assert person is not None
            session, scripted = (
                Client(),
                Client(
                    headers={
                        "Authorization": f"Token {tokens.create_api_token(user=person, name='script')}"
                    }
                ),
            )
            session.force_login(person)
            asked = [(session, method) for method in ("get", "post", "put", "patch", "delete")]
            asked += [(scripted, TABLE[name][0])] * route.startswith("api/")
            for client, method in asked:
                options = (
                    {"content_type": "application/json"}
                    if route.startswith("api/") and method != "get"
                    else {}
                )
                with undone(), statements_sent() as statements:
                    answer = getattr(client, method)(address, world.bodies.get(name, {}), **options)
                n_asked += 1
                if name == "api-judging-withdraw" and method == "post":
                    assert (answer.status_code, answer.json()["items"]) == (200, []), (
                        "what is not one's own is as if taken back already"
                    )
                    continue
                expected = (404,) if method == TABLE[name][0] else (404, 405)
                if answer.status_code not in expected or writes(statements):
                    wrong[name, method, person.username, client is scripted] = (
                        answer.status_code,
                        writes(statements),
                    )
    assert wrong == {}
    assert n_asked > 300


def test_a_lease_of_another_is_neither_judged_renewed_given_back_nor_skipped(world: World) -> None:
    """By an annotator of another campaign under the own address, and by one of the same
    campaign."""
    others = make_campaign(name="Autumn", min_active_seconds=0)
    annotators = {
        others.slug: make_annotator(others, "eve"),
        world.campaign.slug: make_annotator(world.campaign, "eric"),
    }
    token = world.bodies["api-judging-renew"]["leases"][0]
    lease, n_judged = Lease.objects.values().get(token=token), Judgement.objects.count()
    for slug, member in annotators.items():
        client = Client()
        client.force_login(member.user)
        base = f"/api/v1/judging/{slug}/"
        answers = {
            path: client.post(base + path, body, content_type="application/json")
            for path, body in (
                ("judgements", world.bodies["api-judging-judgements"] | {"key": str(uuid.uuid4())}),
                ("skip", world.bodies["api-judging-skip"]),
                ("leases/renew", {"leases": [token]}),
                ("leases/release", {"leases": [token]}),
                ("leases", {"want": 1, "held": [token]}),
            )
        }
        assert (answers["judgements"].status_code, answers["judgements"].json()["code"]) == (
            404,
            "lease_unknown",
        )
        assert (answers["skip"].status_code, answers["skip"].json()["code"]) == (
            404,
            "lease_unknown",
        )
        assert not [path for path, answer in answers.items() if answer.status_code >= 500]
        for path in ("leases/renew", "leases"):
            given = [
                pair
                for name in ("pairs", "leases", "renewed")
                for pair in answers[path].json().get(name, [])
            ]
            assert token not in json.dumps(given), path
    assert (Lease.objects.values().get(token=token), Judgement.objects.count()) == (lease, n_judged)


def test_a_link_to_results_opens_no_report_of_another_campaign(world: World) -> None:
    manager = make_user("neighbour", may_create=True)
    own = make_campaign(manager=manager, name="Autumn")
    link = results_links.create_results_link(own, name="friends", days=7, actor=manager)
    report = world.numbers["results-link-report"]["pk"]
    assert Client().get(reverse("results-link", kwargs={"token": link})).status_code == 200
    assert (
        Client()
        .get(reverse("results-link-report", kwargs={"token": link, "pk": report}))
        .status_code
        == 404
    )
    assert (
        Client()
        .get(reverse("results-link-report", kwargs=world.numbers["results-link-report"]))
        .status_code
        == 200
    )
