"""What several studies share: names of files, keys, tables from answers of commands."""

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
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "x"


def prefix_tables(tables: Sequence[Table], before: str, *, title: str = "") -> list[Table]:
    """The same tables with names of their own in a study."""
    return [
        replace(table, key=f"{before}-{table.key}", title=f"{table.title}{title}")
        for table in tables
    ]


def make_figures(pictures: Sequence[Picture], key: str) -> list[Figure]:
    """Pictures of a kind of report as figures, numbered where there are several."""
    names = [key] if len(pictures) == 1 else [f"{key}-{n}" for n in range(1, len(pictures) + 1)]
    return [
        Figure(name, picture.caption, picture)
        for name, picture in zip(names, pictures, strict=True)
    ]


def qrels_and_runs_arguments(bench: StudyContext) -> dict[str, Any]:
    """`qrels` and `runs`, as most commands take them. Raises PartLeftOut."""
    bench.need("qrels", "runs")
    return {"qrels": bench.file("qrels") or "", "runs": bench.files("runs")}
