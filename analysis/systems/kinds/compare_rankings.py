"""Do two kinds of judgements rank systems alike?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, ReportKind, named_file
from analysis.systems.options import READ, fields_of, given_of
from assay.analyses.compare_rankings import Options, pictures, tables

FIELDS = fields_of(Options, "measures", "bootstrap", *READ)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    qrels = [named_file(pair) for pair in files.qrels]
    return {"runs": files.runs, "qrels": qrels, **given_of(FIELDS, options)}


KIND = ReportKind(
    name="compare_rankings",
    place=10,
    title="Rankings under several qrels",
    sentence="Do two kinds of judgements rank systems alike? Kendall's tau with its interval, swapped and tied pairs.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels=(2, 0),
    least_runs=2,
)
