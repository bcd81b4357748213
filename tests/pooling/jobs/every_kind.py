"""An installation in which every kind of job can be requested, and a worker that is killed in the
middle of a job.

    world = World()                                # in an empty database
    job = ASKS["build pool"](world)
    stopped(job.pk, at="end")                      # a process of its own begins the job and kills
    itself with 9

A new kind of job needs a line in ASKS, or in ELSEWHERE the test that kills it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import signal
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

from django.apps import apps
from django.core.files.base import ContentFile
from django.db import connections

from analysis.dashboard import (
    agreement_metrics,
    exclusions,
    home_summary,
    method_effect,
    ranking_effects,
    to_do_mail,
    webhook_checks,
)
from analysis.judgements import interim_checks
from analysis.judgements.labels import LabelChoices
from analysis.models import Report
from analysis.publishing import engines, import_job, recipe_rankings, recipes
from analysis.publishing.release.parts import ReleasePlan
from analysis.studies import stored_studies
from analysis.studies.inputs import StudyInputs
from analysis.studies.papers import get_study
from analysis.systems import answers, reports
from analysis.systems.kinds import KINDS as REPORT_KINDS
from annotation.models import AuditEvent
from annotation.services import webhooks
from annotation.services.people import account_mails, messages
from pooling.models import Collection, Job, Pool
from pooling.platform import jobs
from pooling.services import (
    ordering,
    pool_extension,
    pool_preview,
    pools,
    sampling,
    topics,
    uploads,
)
from pooling.services.collections import create_collection
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.databases import undone

TOPICS = "".join(f"{t}\tquery {t}\n" for t in (1, 2, 3))
N_RANKED = 12
SET = {
    "small/corpus.jsonl": (
        '{"_id": "d1", "title": "One", "text": "first text"}\n{"_id": "d2", "title": "", "text": '
        '"second text"}\n'
    ),
    "small/queries.jsonl": '{"_id": "q7", "text": "seven"}\n',
    "small/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq7\td1\t2\nq7\td2\t0\n",
}
POINTS = ("begin", "end")
_numbers = itertools.count(1)


def run_text(tag: str, first: int) -> str:
    return "".join(
        f"{t} Q0 d{t}-{first + rank} {rank + 1} {100 - rank} {tag}\n"
        for t in (1, 2, 3)
        for rank in range(N_RANKED)
    )


def document_text(numbers: Iterable[int]) -> str:
    return "".join(
        json.dumps(
            {"_id": f"d{t}-{i}", "title": f"Title {i}", "text": f"It speaks of topic {t}. " * 9}
        )
        + "\n"
        for t in (1, 2, 3)
        for i in numbers
    )


class World:
    """A collection with topics, runs, some of the documents and a pool of each kind, and a campaign
    with judgements, recipes and a release."""

    def __init__(self) -> None:
        self.manager = make_user("manager", superuser=True)
        self.collection = create_collection(name="Every kind", user=self.manager)
        self.bring("topics", TOPICS)
        for tag, first in (("A", 0), ("B", 4)):
            self.bring("run", run_text(tag, first))
        self.bring("documents", document_text([*range(8), *range(10, 20)]))
        self.bring("qrels", "1 0 d1-0 1\n1 0 d1-1 0\n2 0 d2-0 2\n3 0 d3-1 1\n")
        self.qrels = self.collection.qrels.get()
        self.pool, self.grown = self.built("pool"), self.built("grown")
        self.sampled = self.built(
            "sampled", making=sampling.make_sampled_parameters("rank", (0.2, 0.4))
        )
        self.ordered = self.built(
            "ordered", making=ordering.make_ordered_parameters(batch=5, audit=0.2)
        )
        self.do_what_waits()
        self.done(pools.request_documents(self.pool, user=self.manager))
        self.pool.refresh_from_db()
        self.bring("run", run_text("C", 6))
        self.done(pools.request_extension(self.grown, runs=self.runs("C"), user=self.manager))
        self.campaign = make_campaign(
            collection=self.collection,
            pool=self.pool,
            manager=self.manager,
            judgements_per_pair=2,
            name="Judged",
        )
        for number in range(2):
            member = make_annotator(self.campaign, f"annotator{number}")
            for i in range(12):
                judge(member, (i + number) % 4)
        self.recipes = [
            recipes.save_recipe(
                self.campaign,
                ReleasePlan(name="one", choices=LabelChoices(min_judgements=1)),
                user=self.manager,
            ),
            recipes.save_recipe(
                self.campaign,
                ReleasePlan(name="two", choices=LabelChoices(method="median", min_judgements=1)),
                user=self.manager,
            ),
        ]
        self.done(recipes.request_release(self.recipes[1], user=self.manager, anyway=True))
        with self.recipes[1].releases.get().file.open("rb") as file:
            self.release = file.read()

    def runs(self, *tags: str) -> list[Any]:
        return list(self.collection.runs.filter(tag__in=tags).order_by("tag"))

    def done(self, job: Job) -> Job:
        jobs.run_job(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.DONE or job.report.get("stored") is False:
            raise AssertionError(f"{job.label}: {job.state} {job.message} {job.report}")
        return job

    def do_what_waits(self) -> None:
        """Run the jobs that other jobs have requested."""
        for pk, _ in jobs.list_waiting_jobs():
            jobs.run_job(pk)

    def undisturbed(self, kind: str) -> dict[str, int]:
        """Return `row_counts` after an undisturbed job of this kind. Its changes are rolled
        back."""
        with undone():
            self.done(ASKS[kind](self))
            rows = row_counts()
        return rows

    def upload(
        self, kind: str, content: str | bytes, *, collection: Collection | None = None
    ) -> Job:
        data = content.encode() if isinstance(content, str) else content
        name = f"{kind}{next(_numbers)}" + (
            ".zip" if kind == "set" else ".jsonl" if kind == "documents" else ".txt"
        )
        kept = uploads.store_upload(
            collection or self.collection,
            kind=kind,
            file=ContentFile(data, name=name),
            name=name,
            user=self.manager,
        )
        return uploads.request_import(kept, mode="import", options={}, user=self.manager)

    def bring(self, kind: str, content: str) -> None:
        self.done(self.upload(kind, content))

    def new_pool(self, name: str, **more: Any) -> Job:
        return pools.request_pool(
            self.collection,
            runs=self.runs("A", "B"),
            depth=6,
            seed=3,
            name=name,
            user=self.manager,
            **more,
        )

    def built(self, name: str, **more: Any) -> Pool:
        return Pool.objects.get(pk=self.done(self.new_pool(name, **more)).parameters["pool"])

    def figures(self, kind: str, parameters: dict[str, Any]) -> Job:
        return jobs.enqueue(
            kind,
            parameters,
            label=kind,
            user=self.manager,
            collection=self.collection,
            campaign_id=self.campaign.pk,
        )

    def imported_set(self) -> Job:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in SET.items():
                archive.writestr(name, text)
        return self.upload(
            "set",
            packed.getvalue(),
            collection=create_collection(name="Of a set", user=self.manager),
        )

    def report(self) -> Job:
        parameters = {
            "runs": [run.pk for run in self.runs("A", "B")],
            "qrels": [f"imported:{self.qrels.pk}"],
            "options": {},
        }
        kind = REPORT_KINDS["evaluate"]
        return job_of(
            reports.request_report(
                kind,
                collection=self.collection,
                campaign=None,
                parameters=parameters,
                seed=1,
                user=self.manager,
            )
        )

    def study(self) -> Job:
        given = StudyInputs({"measures": "nDCG@10", "permutations": 100})
        study = get_study("comparison")
        return job_of(
            stored_studies.request_study(
                study,
                collection=self.collection,
                campaign=self.campaign,
                given=given,
                user=self.manager,
            )
        )

    def reminders(self) -> Job:
        """Request a reminder for an annotator without an email address, so that nothing is sent."""
        [member, *_] = self.campaign.memberships.filter(role="annotator").order_by("pk")
        return self.figures(
            messages.REMINDERS,
            {
                "members": [member.pk],
                "text": "Please go on.",
                "address": "",
                "actor": self.manager.pk,
            },
        )


def job_of(report: Report) -> Job:
    assert report.job is not None
    return report.job


ELSEWHERE = {
    "judge with LLM": "tests/annotation/llm/test_worker_killed.py",
    "create demo": "tests/analysis/results/test_example.py",
    "fill example": "tests/analysis/results/test_example.py",
    webhooks.MESSAGES_JOB: "tests/annotation/services/test_webhooks.py",
    engines.SEND_JOB: "tests/analysis/publishing/test_engines.py",
    **dict.fromkeys(
        (account_mails.SIGN_IN_LINK, account_mails.ADDRESS_CHANGED),
        "tests/annotation/test_people_pages.py",
    ),
}
"""Or what it leaves: of a mail about an account, and of labels sent to a search engine, nothing."""
ASKS: dict[str, Callable[[World], Job]] = {
    home_summary.STATISTICS_JOB: lambda world: world.figures(home_summary.STATISTICS_JOB, {}),
    answers.ANSWER_JOB: lambda world: world.figures(
        answers.ANSWER_JOB, {"marks": [], "measure": "nDCG@10"}
    ),
    to_do_mail.TO_DO_MAIL_JOB: lambda world: jobs.enqueue(
        to_do_mail.TO_DO_MAIL_JOB, {}, label="To-do lists", user=None
    ),
    messages.REMINDERS: World.reminders,
    "import topics": lambda world: world.upload("topics", "9\tnew topic\n10\tanother\n"),
    "import run": lambda world: world.upload("run", run_text("D", 3)),
    "import qrels": lambda world: world.upload("qrels", "1 0 d1-0 0\n2 0 d2-3 1\n"),
    "import set": World.imported_set,
    "import campaign": lambda world: import_job.queue_import(
        ContentFile(world.release, name="a.zip"), user=world.manager
    ),
    "check topics": lambda world: topics.request_check(
        world.collection, level=topics.LEVELS[-1], user=world.manager
    ),
    "preview pool": lambda world: pool_preview.request_preview(
        world.collection, runs=world.runs("A", "B"), depth=4, user=world.manager
    ),
    "build pool": lambda world: world.new_pool(f"another {next(_numbers)}"),
    "preview extension": lambda world: pool_extension.request_extension_preview(
        world.pool, depth=9, user=world.manager
    ),
    "extend pool": lambda world: pools.request_extension(world.pool, depth=9, user=world.manager),
    "undo extension": lambda world: pool_extension.request_undo_extension(
        world.grown, user=world.manager
    ),
    "fetch documents": lambda world: pools.request_documents(
        Pool.objects.get(pk=world.pool.pk), user=world.manager
    ),
    "draw stage": lambda world: sampling.request_stage(world.sampled, 0.6, user=world.manager),
    "plan batch": lambda world: ordering.request_batch(world.ordered, user=world.manager),
    reports.REPORT_JOB: World.report,
    stored_studies.STUDY_JOB: World.study,
    recipes.BUILD_JOB: lambda world: recipes.request_release(
        world.recipes[0], user=world.manager, anyway=True
    ),
    recipe_rankings.COMPARE_JOB: lambda world: world.figures(
        recipe_rankings.COMPARE_JOB,
        {"first": world.recipes[0].pk, "second": world.recipes[1].pk, "marks": []},
    ),
    exclusions.EXCLUSION: lambda world: world.figures(
        exclusions.EXCLUSION, {"annotators": ["A001"]}
    ),
    ranking_effects.RANKING_EFFECT_JOB: lambda world: world.figures(
        ranking_effects.RANKING_EFFECT_JOB, {"marks": []}
    ),
    method_effect.METHOD_EFFECT_JOB: lambda world: world.figures(
        method_effect.METHOD_EFFECT_JOB, {"marks": []}
    ),
    agreement_metrics.AGREEMENT_JOB: lambda world: world.figures(
        agreement_metrics.AGREEMENT_JOB, {"marks": []}
    ),
    webhook_checks.CHECKS_JOB: lambda world: jobs.enqueue(
        webhook_checks.CHECKS_JOB, {}, label="Check campaigns for webhooks", user=None
    ),
    interim_checks.STOPPING_JOB: lambda world: world.figures(interim_checks.STOPPING_JOB, {}),
    "import documents": lambda world: world.upload(
        "documents", document_text(range(8, 10))
    ),  # the last: no text is missing then
}


def registered() -> set[str]:
    """Return the program's kinds of jobs, without those of tests."""
    return {
        kind.name
        for kind in jobs.KINDS.values()
        if not kind.function.__module__.startswith("tests.")
    }


def stopped(job_id: int, *, at: str) -> int:
    """Start the job in a separate process, which is killed with signal 9 at its first write
    ('begin'), or after its last write before the commit ('end'). Returns the signal that ended it,
    0 if the process finished."""
    connections.close_all()  # open connections would be shared with the child
    pid = os.fork()
    if not pid:
        try:
            _run_and_die(job_id, at)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _run_and_die(job_id: int, at: str) -> None:
    def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # If a browser's event loop ran in this thread, Django kept its connections elsewhere, and the
    # child, without that loop, would see others.
    with contextlib.suppress(AttributeError):
        del connections["default"]
    setattr(jobs.ClaimedJob, "_update_if_held" if at == "begin" else "_close", die)
    jobs.run_job(job_id)


def row_counts() -> dict[str, int]:
    """Count the rows of every table, except jobs and the audit log, which records a step as often
    as it was attempted."""
    return {
        model._meta.label: model._default_manager.count()
        for model in apps.get_models()
        if model not in (Job, AuditEvent)
    }
