"""Query collections for pages and API, with a number of queries that does not grow with their
content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Substr
from django.urls import reverse
from django.utils.translation import gettext as _

from assay.number_words import format_count
from pooling.models import Collection, Document, DocumentFile, Job, Pool, Qrels, Run, Topic, Upload
from pooling.permissions import visible_collections
from pooling.platform.jobs import figure_kinds
from pooling.selectors import jobs
from pooling.services.uploads import get_refused_jobs


def _count_related(model: Any, **filters: Any) -> Coalesce:
    counted = (
        model.objects.filter(collection=OuterRef("pk"), **filters)
        .order_by()
        .values("collection")
        .annotate(n=Count("pk"))
        .values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def list_collections(user: Any) -> QuerySet[Collection]:
    """Return the user's collections with n_kept and n_topics (kept, and all), n_runs, n_qrels,
    n_pools and n_in_files."""
    files = (
        DocumentFile.objects.filter(collection=OuterRef("pk"))
        .order_by()
        .values("collection")
        .annotate(n=Sum("n_documents"))
        .values("n")
    )
    return visible_collections(user).annotate(
        n_kept=_count_related(Topic, removed_reason=""),
        n_topics=_count_related(Topic),
        n_runs=_count_related(Run),
        n_qrels=_count_related(Qrels),
        n_pools=_count_related(Pool),
        n_in_files=Coalesce(Subquery(files, output_field=IntegerField()), 0),
    )


@dataclass(frozen=True)
class CollectionStep:
    """A step on the way from files to a pool."""

    key: str
    title: str
    url: str
    done: bool
    current: bool
    says: str
    optional: bool = False


def collection_steps(collection: Collection) -> list[CollectionStep]:
    """Return the steps topics, topic check, runs, documents, qrels and pool, each with its state
    and next action."""
    topics = collection.topics.aggregate(
        n=Count("pk"),
        removed=Count("pk", filter=~Q(removed_reason="")),
        undecided=Count("pk", filter=~Q(proposal="") & Q(decided_at=None)),
    )
    files = collection.document_files.aggregate(
        n=Count("pk"), documents=Coalesce(Sum("n_documents"), 0)
    )
    n_runs, n_qrels = collection.runs.count(), collection.qrels.count()
    n_pools = collection.pools.exclude(built_at=None).count()
    in_files = format_count(files["documents"], "document")
    rows = [
        (
            *("topics", _("Topics"), "collection-topics", topics["n"] > 0),
            *(
                _describe_topics(topics["n"], topics["removed"]) if topics["n"] else _("queries"),
                False,
            ),
        ),
        (
            "check",
            _("Topic check"),
            "collection-check",
            topics["n"] > 0 and not topics["undecided"],
            f"{topics['undecided']:,} to decide"
            if topics["undecided"]
            else f"{topics['removed']:,} removed"
            if topics["n"]
            else _("after importing topics"),
            False,
        ),
        (
            "runs",
            _("Runs"),
            "collection-runs",
            n_runs > 0,
            format_count(n_runs, "run") if n_runs else _("one file per system"),
            n_pools > 0,
        ),
        (
            "documents",
            _("Documents"),
            "collection-documents",
            files["n"] > 0,
            in_files if files["n"] else _("texts to judge"),
            False,
        ),
        (
            "qrels",
            "Qrels",
            "collection-qrels",
            n_qrels > 0,
            f"{n_qrels:,} qrels" if n_qrels else _("earlier judgements or clicks"),
            True,
        ),
        (
            "pools",
            _("Pool"),
            "collection-pools",
            n_pools > 0,
            format_count(n_pools, "pool") if n_pools else _("pairs to judge"),
            False,
        ),
    ]
    following = next(
        (key for key, _, _, done, _, optional in rows if not done and not optional), None
    )
    return [
        CollectionStep(
            key, title, reverse(url, args=[collection.slug]), done, key == following, says, optional
        )
        for key, title, url, done, says, optional in rows
    ]


def get_unpooled_run_ids(collection: Collection, steps: list[CollectionStep]) -> list[int]:
    """Return the IDs of the runs if the collection has topics and runs but no pool yet, for the
    next step."""
    done = {step.key for step in steps if step.done}
    return (
        list(collection.runs.order_by("tag").values_list("pk", flat=True))
        if {"topics", "runs"} <= done and "pools" not in done
        else []
    )


def _describe_topics(n: int, removed: int) -> str:
    return (
        f"{n - removed:,} kept of {format_count(n, 'topic')}"
        if removed
        else format_count(n, "topic")
    )


@dataclass(frozen=True)
class CollectionActivity:
    """Current activity in a collection: running and recently finished jobs, files that wait for a
    decision, and refused files.

    doubtful: some waiting files may be of another kind, or contain no known topics, so they should
    not all be imported at once.
    """

    active: list[jobs.JobView]
    recent: list[jobs.JobView]
    waiting: list[Upload]
    refused: list[jobs.JobView]
    doubtful: bool


MAX_REFUSED = 50


def get_activity(collection: Collection, *, n_recent: int = 5) -> CollectionActivity:
    """Return the collection's current activity. Jobs that pages start automatically are included
    only if they failed."""
    shown = collection.jobs.exclude(~Q(state=Job.State.FAILED), kind__in=figure_kinds())
    latest_jobs = list(shown.select_related("created_by")[: 50 + n_recent])
    active = [jobs.make_job_view(job) for job in latest_jobs if job.state in Job.ACTIVE]
    ended = [job for job in latest_jobs if job.state not in Job.ACTIVE][:n_recent]
    reading = {job.parameters.get("upload") for job in latest_jobs if job.state in Job.ACTIVE}
    last: dict[Any, Job] = {}
    for job in latest_jobs:
        last.setdefault(job.parameters.get("upload"), job)
    uploads = list(collection.uploads.all())
    ids, waiting = {upload.pk for upload in uploads}, []
    for upload in uploads:
        if upload.pk not in reading:
            upload.last_job = (  # type: ignore[attr-defined]
                jobs.make_job_view(last[upload.pk], waiting=ids) if upload.pk in last else None
            )
            waiting.append(upload)
    turned_down = [
        jobs.make_job_view(job)
        for job in get_refused_jobs(collection).select_related("created_by")[:MAX_REFUSED]
    ]
    doubtful = any(
        _needs_decision(upload.last_job.job.report)  # type: ignore[attr-defined]
        for upload in waiting
        if upload.last_job  # type: ignore[attr-defined]
    )
    return CollectionActivity(
        active,
        [jobs.make_job_view(job, waiting=ids) for job in ended],
        waiting,
        turned_down,
        doubtful,
    )


def _needs_decision(report: dict[str, Any]) -> bool:
    facts = report.get("facts", {})
    return "brought_as" in report or (
        facts.get("unknown topics", 0) > 0 and facts.get("unknown topics") == facts.get("topics")
    )


def get_pools(collection: Collection) -> QuerySet[Pool]:
    """Return the collection's pools with their number of runs (n_runs)."""
    return collection.pools.select_related("created_by").annotate(n_runs=Count("runs"))


def get_runs(collection: Collection) -> QuerySet[Run]:
    """Return the collection's runs with the number of pools built from each (n_pools)."""
    return collection.runs.annotate(n_pools=Count("pools")).order_by("tag")


def get_documents(collection: Collection) -> QuerySet[Document]:
    """Return stored documents by ID, with the start of their text as `begin` but without the text."""
    return (
        collection.documents.defer("text", "fields")
        .annotate(begin=Substr("text", 1, 160))
        .order_by("docno")
    )
