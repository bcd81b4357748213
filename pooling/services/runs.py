"""Runs: imported as columns in the project's storage, described, renamed and deleted."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from pooling import jobs
from pooling.core.columns import Run as Rankings
from pooling.formats.opening import Peeked
from pooling.formats.quepid import names_queries, read_snapshot
from pooling.formats.runs import load_run, read_run, save_run
from pooling.jobs import Refused, Work
from pooling.models import Run
from pooling.services import uploads
from pooling.services.matching import by_query_text, match, top_documents

LONGEST_TAG = 200
MATCHED_DEPTH = 10
"""Ranks down to which a run's documents are looked for in the document files."""


@jobs.kind("import run")
@uploads.importing
def import_run(work: Work) -> dict[str, Any]:
    """Inspect or import an uploaded run. Options: tag (in place of the file's), order (score or rank), lenient, group,
    description, submitted_on, baseline. -> report: facts, warnings, stored"""
    upload = uploads.upload_of(work)
    options = work.parameters["options"]
    collection = upload.collection
    by_text = names_queries(Peeked(upload.file.path, name=upload.name).head) == "snapshot"
    with uploads.reading(upload, work) as feed:
        if by_text:
            rankings = read_snapshot(feed, name=upload.name)
        else:
            rankings = read_run(feed, name=upload.name, lenient=bool(options.get("lenient")), order=options.get("order") or "score")
    found: dict[str, int] = {}
    left_out: list[str] = []
    if by_text:
        rankings, found, left_out = by_query_text(rankings, collection)
    tag = (options.get("tag") or rankings.tag).strip()
    depths = np.diff(rankings.offsets)
    matched, warnings = match(rankings, collection, documents=top_documents(rankings, MATCHED_DEPTH), what=f"documents of its top {MATCHED_DEPTH}")
    matched, warnings = found | matched, left_out + warnings
    facts = {"tag": tag, "rows": len(rankings), "topics": len(rankings.topics), "deepest": int(depths.max()), "median depth": float(np.median(depths))}
    report: dict[str, Any] = {"file": upload.name, "facts": facts | matched, "warnings": rankings.warnings + warnings}
    if len(tag) > LONGEST_TAG:
        raise Refused(f"the tag has {len(tag):,} characters, at most {LONGEST_TAG} are possible; give the run another tag")
    there = collection.runs.filter(tag=tag).first()
    if there is not None:
        raise Refused(f"a run with the tag {tag} is there already, from {there.source_name}; give this one another tag or delete that one")
    several = [warning for warning in rankings.warnings if "tags" in warning]
    if not uploads.decide(work, report, hold=several + warnings):
        return report
    work.progress(len(rankings), message="storing", now=True)
    name, digest = store_columns("runs", lambda path: save_run(rankings, path))
    try:
        same = collection.runs.filter(digest=digest).first()
        if same is not None:
            raise Refused(f"exactly this run is there already, as {same.tag}")
        with work.finishing() as final:
            row = Run.objects.create(
                collection=collection,
                tag=tag,
                group=options.get("group", ""),
                description=options.get("description", ""),
                submitted_on=date.fromisoformat(options["submitted_on"]) if options.get("submitted_on") else None,
                baseline=bool(options.get("baseline")),
                source_name=upload.name,
                columns=name,
                digest=digest,
                n_rows=len(rankings),
                n_topics=len(rankings.topics),
                max_depth=int(depths.max()),
                warnings=report["warnings"],
            )
            uploads.forget(upload, keep_file=False)
            final.update(report, run=row.pk, digest=digest)
    except IntegrityError:
        default_storage.delete(name)
        raise Refused(f"a run with the tag {tag} has just been imported by somebody else") from None
    except BaseException:
        default_storage.delete(name)
        raise
    return final


def store_columns(folder: str, write: Callable[[Path], str]) -> tuple[str, str]:
    """Write a columnar file under a fresh name. -> (name in the storage, digest)"""
    name = default_storage.generate_filename(timezone.now().strftime(f"{folder}/%Y/%m/{uuid.uuid4().hex}.npz"))
    path = Path(default_storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return name, write(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def rankings_of(run: Run) -> Rankings:
    """The run's columns, named by its tag in the collection (which a manager may have changed on import)."""
    stored = load_run(run.columns.path)
    return Rankings(
        tag=run.tag,
        topics=stored.topics,
        offsets=stored.offsets,
        documents=stored.documents,
        scores=stored.scores,
        ranks=stored.ranks,
        warnings=stored.warnings,
        name=run.source_name,
    )


def describe_run(run: Run, *, group: str, description: str, submitted_on: date | None, baseline: bool) -> Run:
    run.group, run.description, run.submitted_on, run.baseline = group.strip(), description.strip(), submitted_on, baseline
    run.save(update_fields=["group", "description", "submitted_on", "baseline"])
    return run


def delete_run(run: Run) -> None:
    """Refused while a pool was built from it: a pool stays reproducible from its runs."""
    with transaction.atomic():
        pool = run.pools.first()
        if pool is not None:
            raise Refused(f"the pool {pool.name} was built from {run.tag}; delete that pool first")
        name = run.columns.name
        run.delete()
        transaction.on_commit(lambda: default_storage.delete(name))
