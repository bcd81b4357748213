"""What several studies share: names of files, keys, tables from answers of commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.studies.bench import Bench
from analysis.studies.study import Figure, SettingKey, keys_of_options
from assay.analyses.shared.reading import Reading
from assay.charts.svg import Picture
from assay.tabular import Table

READING = keys_of_options(Reading, "level", "topics", "scores", "lenient")
READ = tuple(key.name for key in READING)
RUNS = SettingKey("runs", "files", "Runs, as paths or patterns.")
QRELS = SettingKey("qrels", "file", "Qrels, TREC or BEIR.")


def slug(text: str) -> str:
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "x"


def prefixed(tables: Sequence[Table], before: str, *, title: str = "") -> list[Table]:
    """The same tables with names of their own in a study."""
    return [
        replace(table, key=f"{before}-{table.key}", title=f"{table.title}{title}")
        for table in tables
    ]


def pictured(pictures: Sequence[Picture], key: str) -> list[Figure]:
    """Pictures of a kind of report as figures, numbered where there are several."""
    names = [key] if len(pictures) == 1 else [f"{key}-{n}" for n in range(1, len(pictures) + 1)]
    return [
        Figure(name, picture.caption, picture)
        for name, picture in zip(names, pictures, strict=True)
    ]


def runs_under(bench: Bench) -> dict[str, Any]:
    """`qrels` and `runs`, as most commands take them. Raises PartLeftOut."""
    bench.need("qrels", "runs")
    return {"qrels": bench.file("qrels") or "", "runs": bench.files("runs")}
