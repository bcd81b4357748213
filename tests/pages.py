"""The list of all pages, and an installation with content for each of them: the demo campaign with
judgements of simulated annotators, a draft, gold pairs, feedback, a message, and an exclusion to
decide."""

from __future__ import annotations

import json
import random
import uuid
from datetime import timedelta

WHO = {
    "anonymous": "",
    "annotator": "annotator",
    "manager": "manager",
    "superuser": "administrator",
}
"""Role -> name of the account."""

CAMPAIGN, DRAFT, COLLECTION = (
    "/campaigns/try-judging/",
    "/campaigns/a-second-look/",
    "/collections/python-documentation/",
)
STEPS = ("files", "pool", "rules", "scale", "guidelines", "people", "open")
REPORTS = {
    "evaluate": 3,
    "compare_runs": 2,
    "compare_rankings": 3,
    "bootstrap": 3,
    "label_overlap": 0,
}
"""Kinds of reports of which one exists -> number of runs that each takes."""
MOVED = (
    "installation-doors-moved",
    "campaigns-studies-moved",
    "collections-studies-moved",
    "campaigns-levers-moved",
    "campaigns-machines-moved",
    "campaigns-time-moved",
    "campaigns-labels-moved",
    "campaigns-labels-list-moved",
)
"""Old addresses that lead to the pages that replaced theirs."""
PAGES: dict[str, tuple[str, str, int]] = {
    "sign-in": ("anonymous", "/sign-in", 200),
    "sign-in-link": ("anonymous", "/sign-in/link", 200),
    "sign-in-link-use": ("anonymous", "/sign-in/link/{sign_in}", 200),
    "sign-in-link-use bad": ("anonymous", "/sign-in/link/MQ/none", 410),
    "join-code": ("anonymous", "/join", 200),
    "join": ("anonymous", "/join/{token}", 200),
    "join guest": ("anonymous", "/join/{panel}?PROLIFIC_PID=5f0a", 200),
    "join guest bad": ("anonymous", "/join/{panel}", 400),
    "join bad": ("anonymous", "/join/no-such-invitation", 410),
    "home annotator": ("annotator", "/", 200),
    "home manager": ("manager", "/", 200),
    "account": ("annotator", "/account", 200),
    "accounts": ("superuser", "/accounts", 200),
    "installation": ("superuser", "/installation", 200),
    "installation-sessions": ("superuser", "/installation/sessions?name=manager", 200),
    "judge": ("annotator", "/judge/try-judging/", 200),
    "judge-try": ("manager", "/judge/try-judging/try", 200),
    "judge-history": ("annotator", "/judge/try-judging/history", 200),
    "campaigns": ("manager", "/campaigns/", 200),
    "search": ("manager", "/search?q=csv", 200),
    "campaign-new": ("manager", "/campaigns/new", 200),
    **{f"campaign-step {key} draft": ("manager", f"{DRAFT}settings/{key}/", 200) for key in STEPS},
    **{
        f"campaign-step {key}": ("manager", f"{CAMPAIGN}settings/{key}/", 200)
        for key in STEPS[2:]
        if key != "people"
    },
    "campaign-step publication": ("manager", CAMPAIGN + "settings/publication/", 200),
    "campaign-guideline": ("manager", CAMPAIGN + "guidelines/1", 200),
    "campaign": ("manager", CAMPAIGN, 200),
    "campaign draft": ("manager", DRAFT, 200),
    "campaign waiting": ("manager", "/campaigns/waiting/", 200),
    "campaign closed": ("manager", "/campaigns/finished/", 200),
    "campaign-planning": ("manager", CAMPAIGN + "planning", 200),
    "campaign-feedback": ("manager", CAMPAIGN + "feedback/", 200),
    "campaign-audit": ("manager", CAMPAIGN + "audit/", 200),
    "campaign-people": ("manager", CAMPAIGN + "people/", 200),
    "campaign-people panel": ("manager", CAMPAIGN + "people/?annotator={pseudonym}", 200),
    "campaign-invite": ("manager", CAMPAIGN + "invitations/", 200),
    "campaign-person": ("manager", CAMPAIGN + "people/{pseudonym}/", 200),
    "campaign-exclude": ("manager", CAMPAIGN + "people/{pseudonym}/exclude/{exclusion}", 200),
    "campaign-people-exclude": ("manager", CAMPAIGN + "people/exclude/{exclusion}", 200),
    "campaign-agreement": ("manager", CAMPAIGN + "agreement/", 200),
    "campaign-pair": ("manager", CAMPAIGN + "pairs/{pair}/", 200),
    "campaign-gold": ("manager", CAMPAIGN + "gold/", 200),
    "campaign-remind": ("manager", CAMPAIGN + "remind", 200),
    "campaign-readers": ("manager", CAMPAIGN + "readers/", 200),
    "campaign-webhooks": ("manager", CAMPAIGN + "webhooks/", 200),
    "campaign-panel": ("manager", CAMPAIGN + "panel/", 200),
    "campaign-results": ("manager", CAMPAIGN + "results/", 200),
    **{
        f"campaign-results-part {part}": ("manager", f"{CAMPAIGN}results/{part}/", 200)
        for part in ("agreement", "labels", "systems")
    },
    "campaign-results-report": ("manager", CAMPAIGN + "results/reports/{report evaluate}/", 200),
    "results-link": ("anonymous", "/results/{results}/", 200),
    "results-link-part": ("anonymous", "/results/{results}/systems/", 200),
    "results-link-report": ("anonymous", "/results/{results}/reports/{report evaluate}/", 200),
    "campaign-questions": ("manager", CAMPAIGN + "questions/", 200),
    "campaign-judgements": ("manager", CAMPAIGN + "judgements/", 200),
    "campaign-llm-judges": ("manager", CAMPAIGN + "llm-judges/", 200),
    "campaign-llm-judge": ("manager", CAMPAIGN + "llm-judges/{llm_judge}/", 200),
    "campaign-export": ("manager", CAMPAIGN + "export/", 200),
    "campaign-import": ("manager", "/import-campaign/", 200),
    "campaign-recipe": ("manager", CAMPAIGN + "export/recipes/{recipe}/", 200),
    "campaign-recipe-difference": (
        "manager",
        CAMPAIGN + "export/difference?first={recipe}&second={recipe2}",
        200,
    ),
    "campaign-systems": ("manager", CAMPAIGN + "systems/", 200),
    **{
        f"campaign-report-new {kind}": ("manager", f"{CAMPAIGN}systems/new/{kind}/", 200)
        for kind in ("evaluate", "compare_runs", "stability")
    },
    "campaign-study-new": ("manager", CAMPAIGN + "studies/new/tripjudge/", 200),
    "collection-study-new": ("manager", COLLECTION + "studies/new/leaderboard/", 200),
    "study": ("manager", "/studies/{study}/", 200),
    "collection-analyses": ("manager", COLLECTION + "analyses/", 200),
    "collection-report-new": ("manager", COLLECTION + "analyses/new/bootstrap/", 200),
    "analyses": ("manager", "/analyses/", 200),
    **{f"report {kind}": ("manager", f"/analyses/{{report {kind}}}/", 200) for kind in REPORTS},
    "collections": ("manager", "/collections/", 200),
    "collection-new": ("manager", "/collections/new", 200),
    "collection": ("manager", COLLECTION, 200),
    "collection empty": ("manager", "/collections/empty/", 200),
    "collection-edit": ("manager", COLLECTION + "settings", 200),
    "collection-removal": ("manager", COLLECTION + "remove?kind=pool&pk={pool}", 200),
    "collection-topics": ("manager", COLLECTION + "topics/", 200),
    "collection-check": ("manager", COLLECTION + "topics/check", 200),
    "collection-runs": ("manager", COLLECTION + "runs/", 200),
    "run": ("manager", COLLECTION + "runs/{run}/", 200),
    "collection-qrels": ("manager", COLLECTION + "qrels/", 200),
    "collection-documents": ("manager", COLLECTION + "documents/", 200),
    "document": ("manager", COLLECTION + "documents/{document}/", 200),
    "collection-pools": ("manager", COLLECTION + "pools/", 200),
    "collection-pool-new": ("manager", COLLECTION + "pools/new", 200),
    "pool-preview": ("manager", COLLECTION + "pools/previews/{preview}", 200),
    "pool-extension": ("manager", COLLECTION + "pools/{pool}/extensions/{extension}", 200),
    "pool": ("manager", COLLECTION + "pools/{pool}/", 200),
    "jobs": ("manager", "/jobs/", 200),
    "job": ("manager", "/jobs/{job}/", 200),
    "job failed": ("manager", "/jobs/{failed}/", 200),
    "error 404": ("manager", "/no/such/page", 404),
    "error 403": ("annotator", CAMPAIGN, 403),
}
NO_PAGES = {
    # files, parts of pages, and addresses that redirect to another page
    *(
        "campaign-settings",
        *MOVED,
        "campaign-battles",
        "campaign-battles-file",
        "campaign-invitations",
        "campaign-live",
        "campaign-export-file",
        "campaign-payment",
        "judge-build",
        "topics-kept",
        "topics-removed",
    ),
    *(
        "campaign-recipe-difference-file",
        "campaign-release",
        "report-table",
        "report-figure",
        "report-result",
        "report-files",
        "study-zip",
        "study-file",
    ),
    "campaign-llm-judge-labels",
    *("pool-table", "job-fragment", "job-problems"),
    *("health", "readiness", "metrics"),  # text for machines
    *(
        "sign-in-institution",
        "sign-in-oidc",
        "sign-in-oidc-back",
    ),  # redirect to another site if an institution signs people in
    "api-docs",  # Swagger UI, which is not part of Assay
}


POSTED_TOO = {"campaign-recipe"}
"""Pages for which the table of addresses lists the POST."""


def named_pages() -> list[str]:
    """Return the URL names that answer a GET request with a page of Assay, by the table of
    addresses and roles."""
    from tests.test_urls_by_role import TABLE

    return sorted(
        name
        for name, (method, _) in TABLE.items()
        if (method == "get" or name in POSTED_TOO)
        and not (name.startswith("api-") or name in NO_PAGES)
    )


def prepare(n_judgements: int = 260) -> None:
    """Fill an installation that has the demo campaign, and print the values for the pages'
    addresses as one JSON object. Pages only link to printed charts, so these are stand-ins."""
    from django.contrib.auth.models import User
    from django.core.files.base import ContentFile
    from django.test import Client
    from django.utils import timezone

    from analysis.dashboard import agreement_metrics, exclusions
    from analysis.judgements.labels import LabelChoices
    from analysis.publishing import recipes
    from analysis.publishing.release.parts import ReleasePlan
    from analysis.studies import stored_studies
    from analysis.studies.inputs import StudyInputs
    from analysis.studies.papers import get_study
    from analysis.systems import reports
    from analysis.systems.kinds import KINDS
    from annotation.llm.label_files import FileLabel
    from annotation.models import Campaign, Feedback, Judgement, Message, Pair, Question
    from annotation.services.campaigns import campaign_creation, lifecycle
    from annotation.services.campaigns.pairs import set_pair_kind
    from annotation.services.llm_judges import judges
    from annotation.services.people import accounts, guests, results_links
    from pooling.models import Job
    from pooling.platform import jobs
    from pooling.services import pool_extension, pool_preview, uploads
    from pooling.services.collections import create_collection

    campaign = Campaign.objects.get(slug="try-judging")
    manager, annotator = (
        User.objects.get(username="manager"),
        User.objects.get(username="annotator"),
    )
    collection = campaign.collection

    def do(job: Job | None) -> Job:
        assert job is not None
        jobs.run_job(job.pk)
        job.refresh_from_db()
        return job

    for number, pair in enumerate(Pair.objects.filter(campaign=campaign).order_by("position")[:3]):
        set_pair_kind(
            pair,
            "gold",
            gold_grade=number,
            explanation="The entry is what the need asks for.",
            actor=manager,
        )
    campaign.refresh_from_db()
    members = simulate(campaign, n_judgements)
    Feedback.objects.create(
        membership=members[0],
        score=Feedback.Score.VERY_GOOD,
        text="Quick to use. The keys saved me hours.",
    )
    Feedback.objects.create(
        membership=members[1], score=Feedback.Score.DECENT, text="Some entries are very long."
    )
    Message.objects.create(
        membership=members[2], text="Please read the guidelines on Partly answers once more."
    )
    do(agreement_metrics.request_agreement_job(campaign, user=manager))
    exclusion = do(
        exclusions.request_exclusion_preview(campaign, [members[-1].pseudonym], user=manager)
    )
    preview = do(
        pool_preview.request_preview(
            collection, runs=list(collection.runs.all()), depth=5, user=manager
        )
    )
    extension = do(
        pool_extension.request_extension_preview(
            collection.pools.order_by("pk")[0], depth=20, user=manager
        )
    )
    create_collection(name="Empty", user=manager)
    bad = ContentFile(b"1 Q0 a 1 high A\n1 Q0 b\n", name="broken.run")
    upload = uploads.store_upload(collection, kind="run", file=bad, name="broken.run", user=manager)
    failed = do(uploads.request_import(upload, mode="import", options={}, user=manager))
    lifecycle.create_campaign(name="A second look", collection=collection, actor=manager)
    waiting, finished = (
        campaign_creation.duplicate_campaign(campaign, name=name, actor=manager, with_people=False)
        for name in ("Waiting", "Finished")
    )
    for one in (waiting, finished):
        lifecycle.open_campaign(one, actor=manager)
    accounts.create_invitation(campaign=waiting, actor=manager)
    lifecycle.close_campaign(finished, actor=manager)
    own, imported = "campaign:graded:majority", f"imported:{collection.qrels.get().pk}"
    reported = {}
    for kind, n_runs in REPORTS.items():
        asked = reports.request_report(
            KINDS[kind],
            collection=collection,
            campaign=campaign,
            parameters={
                "runs": list(collection.runs.values_list("pk", flat=True)[:n_runs]),
                "qrels": [own, imported]
                if kind in ("compare_rankings", "label_overlap")
                else [own],
                "options": {},
            },
            seed=1,
            user=manager,
        )
        do(asked.job)
        reported[f"report {kind}"] = asked.pk
    given_to_study = StudyInputs({"measures": "nDCG@10", "permutations": 1000})
    study = stored_studies.request_study(
        get_study("comparison"),
        collection=collection,
        campaign=campaign,
        given=given_to_study,
        user=manager,
    )
    do(study.job)
    labels = (
        FileLabel(e.topic.topic_id, e.docno, e.pk % 3, "", None, False)
        for e in campaign.pool.entries.select_related("topic")
    )
    llm_judge = judges.create_judge_from_file(
        campaign,
        name="A model",
        model="model-7",
        labels=labels,
        file_name="labels.txt",
        actor=manager,
    )
    plans = (
        ReleasePlan(name="public"),
        ReleasePlan(name="median", choices=LabelChoices(method="median")),
    )
    saved = [recipes.save_recipe(campaign, plan, user=manager) for plan in plans]
    do(recipes.request_release(saved[0], user=manager, anyway=True))
    disputed = (
        Pair.objects.filter(
            campaign=campaign, judgements__in=Judgement.objects.filter(status="counted")
        )
        .order_by("pk")
        .first()
    )
    run, pool, document = (
        collection.runs.first(),
        collection.pools.first(),
        collection.documents.first(),
    )
    assert disputed
    assert run
    assert pool
    assert document
    Question.objects.create(
        membership=members[0],
        pair=disputed,
        text="Does a list of causes answer a query about symptoms?",
    )
    answered = {
        "answer": "Yes, if it says how long.",
        "answered_by": manager,
        "answered_at": timezone.now(),
    }
    Question.objects.create(
        membership=members[1], pair=disputed, text="Is a table enough?", **answered
    )
    given = {
        "sign_in": accounts.sign_in_path(User.objects.create_user("forgetful")),
        "results": results_links.create_results_link(
            campaign, name="Steering group", days=30, actor=manager
        ),
        "token": accounts.create_invitation(campaign=campaign, actor=manager).token,
        "panel": guests.save_panel(
            campaign,
            {"places": 20, "judgements": 25, "reward": 3, "min_hourly_pay": 9},
            actor=manager,
        ).token,
        "pseudonym": members[-1].pseudonym,
        "exclusion": exclusion.pk,
        "pair": disputed.pk,
        "llm_judge": llm_judge.pk,
        "run": run.pk,
        "document": document.pk,
        "preview": preview.pk,
        "extension": extension.pk,
        "pool": pool.pk,
        "job": Job.objects.filter(kind__startswith="import", state="done").order_by("pk").last().pk,  # type: ignore[union-attr]
        "failed": failed.pk,
        "recipe": saved[0].pk,
        "study": study.pk,
        "recipe2": saved[1].pk,
        **reported,
    }
    administrator = User.objects.create_superuser("administrator")
    for user in (manager, annotator, administrator):
        client = Client()
        client.force_login(user)
        given[f"session of {user.username}"] = client.cookies["sessionid"].value
    print(json.dumps({name: str(value) for name, value in given.items()}))


def true_grade(pair) -> int:
    """Return the simulated true grade of a pair, drawn once per pair. It is higher at better
    ranks."""
    weights = (1, 1, 2, 3) if pair.entry.best_rank == 1 else (3, 3, 2, 1)
    return random.Random(pair.pk).choices(range(4), weights=weights)[0]


def simulate(campaign, n_judgements: int, *, n_annotators: int = 6, seed: int = 1):
    """Create judgements of simulated annotators over the last two days, through the services, and
    return their memberships.

    For each pair, most annotators give its true grade three times out of four. One is fast and
    careless.
    """
    from django.contrib.auth.models import User
    from django.utils import timezone

    from annotation.models import Membership
    from annotation.services.judging import scheduling, submission
    from annotation.services.people import accounts

    draw = random.Random(seed)
    members = []
    for number in range(n_annotators):
        user = User.objects.create_user(f"simulated{number + 1}")
        made = accounts.add_member(
            campaign=campaign, user=user, role="annotator", annotator_type="simulated"
        )
        Membership.objects.filter(pk=made.pk).update(guideline_read=1)
        members.append(Membership.objects.select_related("campaign", "user").get(pk=made.pk))
    end = timezone.now()
    step = timedelta(hours=46) / n_judgements
    moment = end - timedelta(hours=47)
    for _ in range(n_judgements):
        moment += step * draw.uniform(0.6, 1.4)
        member = draw.choice(members)
        lease = scheduling.claim_pair(member, now=moment)
        if lease is None:
            continue
        truth = true_grade(lease.pair)
        careful = draw.random() < (0.2 if member is members[-1] else 0.75)
        grade = truth if careful else draw.randrange(4)
        active = (
            int(draw.lognormvariate(9.6 + 0.1 * grade, 0.5))
            if member is not members[-1]
            else draw.randint(700, 3000)
        )
        device = draw.choice(["keyboard", "keyboard", "touch"])
        answer = submission.Answer(
            grade=grade,
            active_ms=active,
            wall_ms=active + 800,
            idle_ms=0,
            hidden_ms=0,
            guideline_version=1,
            device=device,
        )
        submission.submit_judgement(
            member,
            lease=lease.token,
            key=uuid.uuid4(),
            answer=answer,
            now=moment + timedelta(milliseconds=active + 1200),
        )
    annotator = (
        Membership.objects.filter(campaign=campaign, user__username="annotator")
        .select_related("campaign", "user")
        .get()
    )
    Membership.objects.filter(pk=annotator.pk).update(guideline_read=1)
    annotator.refresh_from_db()
    for number in range(23):  # the demo's own annotator, shortly before now
        moment = end - timedelta(minutes=20) + timedelta(seconds=45 * number)
        lease = scheduling.claim_pair(annotator, now=moment)
        if lease is not None:
            answer = submission.Answer(
                grade=true_grade(lease.pair),
                active_ms=21_000,
                wall_ms=24_000,
                idle_ms=0,
                hidden_ms=0,
                guideline_version=1,
                device="keyboard",
            )
            submission.submit_judgement(
                annotator,
                lease=lease.token,
                key=uuid.uuid4(),
                answer=answer,
                now=moment + timedelta(seconds=25),
            )
    return members


SMALL_CAMPAIGN = """
from tests import pages, pictures
with pictures.sketched_pictures():
    pages.prepare()
"""
