"""Measures of runs under one or several qrels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, ReportKind, named_file, refuse_rank_model
from analysis.systems.options import (
    fields_of,
    given_of,
    sampled_options,
)
from assay.analyses.evaluate import Options
from assay.analyses.shared.evaluate_tables import pictures, tables

FIELDS = fields_of(
    Options,
    "measures",
    "level",
    "topics",
    "only_with_relevant",
    "scores",
    "per_topic",
    "rank_model",
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        "judged": named_file(files.qrels[0]),
        "runs": files.runs,
        "qrels": [named_file(pair) for pair in files.qrels[1:]],
    }
    if any(path.endswith(PREL) for _, path in files.qrels):
        return {**given, "sampled": True, **given_of(FIELDS, sampled_options(options, FIELDS[0]))}
    refuse_rank_model(options)
    return {**given, "intervals": True, **given_of(FIELDS, options)}


KIND = ReportKind(
    name="evaluate",
    place=30,
    title="Scores of runs",
    sentence="Measures of runs under one or more qrels, means and each topic.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels=(1, 0),
    seeded=False,
    estimates=True,
)
