"""Functions that several studies share: file names, keys, and tables from results of commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.studies.study import Figure, setting, settings_from
from analysis.studies.study_context import StudyContext
from assay.analyses.shared.reading import EvaluationOptions
from assay.charts.svg import Picture
from assay.tabular import Table

EVALUATION_SETTING_KEYS = settings_from(
    EvaluationOptions, "min_relevant", "missing_topics", "precision", "lenient"
)
EVALUATION_KEYS = tuple(key.name for key in EVALUATION_SETTING_KEYS)
RUNS_KEY = setting("runs", "files", "Runs, as paths or patterns.")
QRELS_KEY = setting("qrels", "file", "Qrels, TREC or BEIR.")


def slugify_name(text: str) -> str:
    """Convert a text so that it can be part of a file name."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "x"


def prefix_tables(tables: Sequence[Table], prefix: str, *, title: str = "") -> list[Table]:
    """Return the tables with `prefix` in front of their keys, to make them unique in the study."""
    return [
        replace(table, key=f"{prefix}-{table.key}", title=f"{table.title}{title}")
        for table in tables
    ]


def make_figures(pictures: Sequence[Picture], key: str) -> list[Figure]:
    """Convert the charts of a report to figures of a study, numbered if there are several."""
    names = [key] if len(pictures) == 1 else [f"{key}-{n}" for n in range(1, len(pictures) + 1)]
    return [
        Figure(name, picture.caption, picture)
        for name, picture in zip(names, pictures, strict=True)
    ]


def qrels_and_runs_arguments(context: StudyContext) -> dict[str, Any]:
    """Return the arguments `qrels` and `runs`, which most commands take. Raises PartLeftOut if they
    are missing."""
    context.need("qrels", "runs")
    return {"qrels": context.file("qrels") or "", "runs": context.files("runs")}
