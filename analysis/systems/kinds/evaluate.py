"""Measures of runs under one or several qrels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.inputs import PREL_SUFFIX
from analysis.systems.kind import AnalysisFiles, ReportKind, format_named_file, refuse_rank_model
from analysis.systems.options import (
    changed_options,
    report_fields,
    sampled_options,
)
from assay.analyses.evaluate import Options
from assay.analyses.shared.evaluate_tables import result_charts, result_tables

FIELDS = report_fields(
    Options,
    "measures",
    "level",
    "topics",
    "only_with_relevant",
    "scores",
    "per_topic",
    "rank_model",
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        "judged": format_named_file(files.qrels[0]),
        "runs": files.runs,
        "qrels": [format_named_file(pair) for pair in files.qrels[1:]],
    }
    if any(path.endswith(PREL_SUFFIX) for _, path in files.qrels):
        return {
            **given,
            "sampled": True,
            **changed_options(FIELDS, sampled_options(options, FIELDS[0])),
        }
    refuse_rank_model(options)
    return {**given, "intervals": True, **changed_options(FIELDS, options)}


KIND = ReportKind(
    name="evaluate",
    place=30,
    title="Scores of runs",
    sentence="Measures of runs under one or more qrels, means and each topic.",
    fields=FIELDS,
    given=call_arguments,
    tables=result_tables,
    pictures=result_charts,
    qrels=(1, 0),
    seeded=False,
    estimates=True,
)
