"""Import runs as columns in the project's storage, describe and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from assay.column_types import RunColumns
from assay.formats.quepid import detect_query_form, read_snapshot
from assay.formats.runs import load_run, read_run, save_run
from assay.formats.streams import PeekableStream
from pooling.models import Collection, Run, Upload
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import uploads
from pooling.services.matching import check_ids, list_top_documents, map_query_texts
from pooling.services.stored_columns import store_columns_for_row

MAX_TAG_LENGTH = 200
MATCHED_DEPTH = 10
"""Number of top ranks whose documents are searched in the document files."""


@jobs.register_job_kind("import run")
@uploads.import_job
def import_run(work: ClaimedJob) -> dict[str, Any]:
    """Inspect or import an uploaded run.

    Options: tag (instead of the file's), order (score or rank), lenient, group, description,
    submitted_on, baseline. Returns the report: facts, warnings, notes, stored.
    """
    upload = uploads.get_upload(work)
    options = work.parameters["options"]
    collection = upload.collection
    rankings, facts, left_out = _read_rankings(upload, work, options)
    tag = (options.get("tag") or rankings.tag).strip()
    if len(tag) > MAX_TAG_LENGTH:
        says = _("The tag has %(n)s characters, but the maximum is %(most)s. Choose a shorter tag.")
        raise Refused(says % {"n": f"{len(tag):,}", "most": MAX_TAG_LENGTH})
    depths = np.diff(rankings.offsets)
    unmatched, warnings = check_ids(
        rankings,
        collection,
        documents=list_top_documents(rankings, MATCHED_DEPTH),
        what=f"documents in its top {MATCHED_DEPTH}",
    )
    shape = {
        "tag": tag,
        "rows": len(rankings),
        "topics": len(rankings.topics),
        "deepest": int(depths.max()),
        "median depth": float(np.median(depths)),
    }
    report: dict[str, Any] = {
        "file": upload.name,
        "facts": shape | facts | unmatched,
        "warnings": rankings.warnings + left_out + warnings,
        "notes": rankings.notes,
    }
    taken = _tag_conflict(collection, tag)
    if taken:
        report.update(
            tag_taken=tag,
            free_tag=find_free_tag(collection, tag),
            warnings=taken + report["warnings"],
        )
    several_tags = [warning for warning in rankings.warnings if "tags" in warning]
    if not uploads.can_proceed(
        work, report, hold=taken + several_tags + left_out + warnings, settled=not taken
    ):
        return report
    work.progress(len(rankings), message="storing", now=True)
    taken_since = f"Another user has just imported a run with the tag {tag}."
    with store_columns_for_row(
        "runs", lambda path: save_run(rankings, path), taken=taken_since
    ) as (
        name,
        digest,
    ):
        same = collection.runs.filter(digest=digest).first()
        if same is not None:
            raise Refused(_("This run has already been imported as %(tag)s.") % {"tag": same.tag})
        with work.completion_transaction() as final:
            row = Run.objects.create(
                collection=collection,
                tag=tag,
                group=options.get("group", ""),
                description=options.get("description") or rankings.description,
                submitted_on=date.fromisoformat(options["submitted_on"])
                if options.get("submitted_on")
                else None,
                baseline=bool(options.get("baseline")),
                source_name=upload.name,
                columns=name,
                digest=digest,
                n_rows=len(rankings),
                n_topics=len(rankings.topics),
                max_depth=int(depths.max()),
                warnings=report["warnings"],
            )
            uploads.delete_upload(upload, keep_file=False)
            final.update(report, run=row.pk, digest=digest)
    return final


def _read_rankings(
    upload: Upload, work: ClaimedJob, options: dict[str, Any]
) -> tuple[RunColumns, dict[str, int], list[str]]:
    """Read the rankings with the collection's topic IDs.

    Returns (rankings, facts, warnings about rows left out, since a snapshot names query texts).
    """
    by_text = (
        detect_query_form(PeekableStream(upload.file.path, name=upload.name).head) == "snapshot"
    )
    with uploads.open_upload(upload, work) as feed:
        if not by_text:
            lenient = bool(options.get("lenient"))
            return (
                read_run(
                    feed, name=upload.name, lenient=lenient, order=options.get("order") or "score"
                ),
                {},
                [],
            )
        rankings = read_snapshot(feed, name=upload.name)
    return map_query_texts(rankings, upload.collection)


def _tag_conflict(collection: Collection, tag: str) -> list[str]:
    """Return an error message if a run of the collection already has the tag."""
    other = collection.runs.filter(tag=tag).first()
    if other is None:
        return []
    return [
        (
            f"a run with the tag {tag} already exists (from {other.source_name}); choose another "
            f"tag, or delete the existing run"
        )
    ]


def find_free_tag(collection: Collection, tag: str) -> str:
    """Return the tag with the first number that makes it unique in the collection."""
    taken = set(collection.runs.filter(tag__startswith=f"{tag}-").values_list("tag", flat=True))
    return next(
        name for number in range(2, len(taken) + 3) if (name := f"{tag}-{number}") not in taken
    )


def get_runs_by_tag(collection: Collection, tags: Sequence[str]) -> list[Run]:
    """Return the runs with these tags, each once. Raises Refused for an unknown tag."""
    run_of = {run.tag: run for run in collection.runs.filter(tag__in=tags)}
    if absent := [tag for tag in tags if tag not in run_of]:
        raise Refused(_("No run has the tag %(tags)s.") % {"tags": ", ".join(absent[:5])})
    return [run_of[tag] for tag in dict.fromkeys(tags)]


def load_rankings(run: Run) -> RunColumns:
    """Load a run's rankings. Their tag is that of the collection, which may differ from the file's."""
    return replace(load_run(run.columns.path), tag=run.tag, name=run.source_name)


def describe_run(
    run: Run, *, group: str, description: str, submitted_on: date | None, baseline: bool
) -> Run:
    run.group, run.description, run.submitted_on, run.baseline = (
        group.strip(),
        description.strip(),
        submitted_on,
        baseline,
    )
    run.save(update_fields=["group", "description", "submitted_on", "baseline"])
    return run


def delete_run(run: Run) -> None:
    """Delete a run. Raises Refused while a pool was built from it, because a pool must stay
    reproducible."""
    with transaction.atomic():
        pool = run.pools.first()
        if pool is not None:
            raise Refused(
                _("The pool %(pool)s uses %(tag)s. Delete the pool first.")
                % {"pool": pool.name, "tag": run.tag}
            )
        name = run.columns.name
        run.delete()
        transaction.on_commit(lambda: default_storage.delete(name))
