"""Whether everything that an installation keeps agrees with itself: counters with rows, files with
rows, contents with digests.

    for fault in faults(mend=False): print(fault.sentence)

Nothing is changed unless told to; then counters are counted anew from the rows, and files that
nothing names are put aside, not deleted."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db.models import FileField, Model

from analysis.models import Release, Report
from annotation.models import Campaign
from annotation.selectors import kept_figures
from annotation.selectors.judging import audit_invariants
from annotation.services.judging.recounting import recount
from assay.formats.errors import FormatError
from assay.formats.storage import digest, load_columns
from pooling.models import DocumentFile, Job, Qrels, Run
from pooling.platform.kept_files import kept_files
from pooling.platform.snapshot import snapshot
from pooling.services.recounting import (
    WrongFigure,
    is_worked_on,
    wrong_figures,
    wrong_figures_of_file,
)

COLUMNS = {
    Run: ("run", ("offsets", "documents", "scores", "ranks")),
    Qrels: ("qrels", ("offsets", "documents", "grades")),
}
YOUNG_SECONDS = 86_400
"""A file that is no older may belong to a job at work, or to a row that is about to be written."""
ASIDE = "put-aside"
MOMENT_S = 1.0


class Fault(NamedTuple):
    """mended: it was put right."""

    sentence: str
    mended: bool = False


def faults(*, mend: bool) -> Iterator[Fault]:
    """What does not agree, one by one; with mend what can be put right without loss is."""
    yield from counter_faults(mend=mend)
    yield from figure_faults(wrong_figures(), mend=mend)
    yield from file_faults(mend=mend)
    yield from nameless_files(mend=mend)


def counter_faults(*, mend: bool) -> Iterator[Fault]:
    """Slots, leases, revisions, counters and figures of every campaign, each as it is at one
    moment."""
    for campaign in Campaign.objects.order_by("slug"):
        sentences = looked_at_twice(campaign)
        if sentences and mend:
            recount(campaign)
            left = set(looked_at_twice(campaign))
            yield from (
                Fault(f"{campaign.slug}: {sentence}", sentence not in left)
                for sentence in sentences
            )
        else:
            yield from (Fault(f"{campaign.slug}: {sentence}") for sentence in sentences)


def looked_at_twice(campaign: Campaign) -> list[str]:
    """What follows a manager's deed in a transaction of its own is wrong only if it has not
    followed a moment later."""
    sentences, late = at_one_moment(campaign)
    if late and is_worked_on(campaign.pool):
        late = []
    elif late:
        time.sleep(MOMENT_S)
        late = [sentence for sentence in at_one_moment(campaign)[1] if sentence in late]
    return [*sentences, *late]


def at_one_moment(campaign: Campaign) -> tuple[list[str], list[str]]:
    """-> what has to agree at any moment, and what may lag for one"""
    with snapshot():
        now = Campaign.objects.get(pk=campaign.pk)
        return [*audit_invariants(now), *kept_figures.own_faults(now)], kept_figures.late_faults(
            now
        )


def figure_faults(figures: Iterable[WrongFigure], *, mend: bool) -> Iterator[Fault]:
    for wrong in figures:
        yield Fault(wrong.sentence, mend and wrong.mend())


def file_faults(*, mend: bool) -> Iterator[Fault]:
    """Files that rows name: whether they are there, and hold what they held, and what the rows keep
    of them."""
    for model, fields in file_fields().items():
        for row in model._default_manager.order_by("pk").iterator():
            for field in fields:
                name = getattr(row, field).name
                if name and not kept_files.exists(name):
                    yield Fault(
                        f"{model._meta.verbose_name} {row.pk} ({row}): its file {name} is missing"
                    )
                elif (
                    name
                    and (expected := getattr(row, "digest", ""))
                    and (digest := content_digest(row, field))
                    and digest != expected
                ):
                    yield Fault(
                        f"{model._meta.verbose_name} {row.pk} ({row}): the content of {name} is not what was stored"
                    )
                elif name:
                    yield from own_file_faults(row, field, mend=mend)
    for report in Report.objects.exclude(files={}).order_by("pk").only("title", "files").iterator():
        for name in report.files.values():
            if not kept_files.exists(name):
                yield Fault(f"report {report.pk} ({report}): its file {name} is missing")


def own_file_faults(row: Any, field: str, *, mend: bool) -> Iterator[Fault]:
    """What the row keeps of a file that is there."""
    try:
        wrong = wrong_figures_of_file(row, field)
    except (FormatError, ValueError, EOFError, OSError) as error:
        yield Fault(
            f"{row._meta.verbose_name} {row.pk} ({row}): {getattr(row, field).name} cannot be read: {error}"
        )
    else:
        yield from figure_faults(wrong, mend=mend)


def file_fields() -> dict[type[Model], list[str]]:
    fields_of_model = {
        model: [field.name for field in model._meta.get_fields() if isinstance(field, FileField)]
        for model in apps.get_models()
    }
    return {model: fields for model, fields in fields_of_model.items() if fields}


def content_digest(row: Any, field: str) -> str:
    """As the row's digest was made; empty where the row has none of this file."""
    path = getattr(row, field).path
    if type(row) in COLUMNS:
        kind, names = COLUMNS[type(row)]
        try:
            return digest(kind, *load_columns(path, kind=kind, names=names))
        except (FormatError, OSError):
            return "unreadable"
    if (isinstance(row, DocumentFile) and field == "file") or isinstance(row, Release):
        with Path(path).open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    return ""


def nameless_files(*, mend: bool) -> Iterator[Fault]:
    """Files that no row names, left by a process that was killed between writing a file and its
    row."""
    named = names_of_files()
    for name, n_bytes, changed_at in list(kept_files.each()):
        if (
            name in named
            or any(name.startswith(f"{one}/") for one in named)
            or time.time() - changed_at < YOUNG_SECONDS
        ):
            continue
        if mend:
            target = Path(settings.DATA_DIR) / ASIDE / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(kept_files.path(name), target)
            kept_files.delete(name)
        yield Fault(f"{name} ({n_bytes:,} bytes) belongs to nothing", mend)


def names_of_files() -> set[str]:
    """Names in the storage that some row speaks of: in a field for files, or within what jobs and
    reports keep as JSON."""
    names = {
        name
        for model, fields in file_fields().items()
        for field in fields
        for name in model._default_manager.values_list(field, flat=True)
        if name
    }
    for kept in (
        *Report.objects.values_list("files", "inputs", "parameters"),
        *Job.objects.values_list("parameters", "report"),
    ):
        for value in kept:
            names |= strings_in(value)
    return names


def strings_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return {text for one in value.values() for text in strings_in(one)}
    if isinstance(value, list):
        return {text for one in value for text in strings_in(one)}
    return set()
