"""A collection's runs and click qrels in a release: the tables that list them, and their files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

from annotation.models import Campaign
from assay.file_paths import make_path
from assay.formats.qrels import write_qrels
from assay.formats.runs import write_run
from assay.precision import rescore_by_order
from pooling.models import Qrels, Run
from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings

RUNS, RUN_FOLDER = "runs.tsv", "runs/"
CLICKS, CLICK_FOLDER = "clicks.tsv", "clicks/"
RUN_COLUMNS = ("tag", "date", "group", "baseline", "description", "pooled", "file")
"""Columns of runs.tsv. The first five are those of the metadata file for `leaderboard
--metadata`."""
CLICK_COLUMNS = ("name", "file")
COLLECTION_FILE_PATTERN = re.compile(r"runs/[\w.+-]{1,250}\.run|clicks/[\w.+-]{1,250}\.qrels")
METADATA_PATTERN = re.compile(r"[A-Za-z][\w -]*:(\s|$)")
"""The beginning of a description in ir_metadata (YAML), to distinguish it from a description in
words."""


def list_runs(campaign: Campaign) -> list[tuple[Run, str]]:
    """Return the collection's runs by tag, each with its path in the release."""
    taken: set[str] = set()
    rows = sorted(campaign.collection.runs.all(), key=lambda row: row.tag)
    return [(row, make_path("runs", row.tag, ".run", taken)) for row in rows]


def list_clicks(campaign: Campaign) -> list[tuple[Qrels, str]]:
    """Return the collection's qrels from clicks by name, each with its path in the release."""
    taken: set[str] = set()
    rows = campaign.collection.qrels.filter(kind=Qrels.Kind.CLICKS)
    return [
        (row, make_path("clicks", row.name, ".qrels", taken))
        for row in sorted(rows, key=lambda row: row.name)
    ]


def iterate_run_rows(campaign: Campaign) -> Iterable[Sequence[Any]]:
    pooled = (
        set(campaign.pool.runs.values_list("pk", flat=True)) if campaign.pool is not None else set()
    )
    for row, path in list_runs(campaign):
        date = row.submitted_on.isoformat() if row.submitted_on else ""
        about = (row.tag, date, row.group, int(row.baseline), row.description)
        yield *about, int(row.pk in pooled), path


def iterate_click_rows(campaign: Campaign) -> Iterable[Sequence[Any]]:
    return ((row.name, path) for row, path in list_clicks(campaign))


def run_writers(campaign: Campaign) -> dict[str, Callable[[IO[str]], object]]:
    """Return for each run a function that writes its file, by path in the release. A description
    that is ir_metadata becomes the head of the file."""
    return {path: partial(_write_run, row) for row, path in list_runs(campaign)}


def _write_run(row: Run, out: IO[str]) -> None:
    rankings = rescore_by_order(load_rankings(row))
    write_run(
        replace(rankings, description=row.description),
        out,
        with_description=METADATA_PATTERN.match(row.description) is not None,
    )


def click_writers(campaign: Campaign) -> dict[str, Callable[[IO[str]], object]]:
    """Return for each of the click qrels a function that writes its file, by path in the
    release."""
    return {path: partial(_write_clicks, row) for row, path in list_clicks(campaign)}


def _write_clicks(row: Qrels, out: IO[str]) -> None:
    write_qrels(load_grades(row), out)
