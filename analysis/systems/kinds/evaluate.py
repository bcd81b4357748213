"""Measures of runs under one or several qrels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, ReportKind, named_file, refuse_rank_model
from analysis.systems.options import (
    arguments_of,
    fields_of,
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


def arguments(files: Files, options: Mapping[str, Any]) -> list[str]:
    further = [f"--qrels={named_file(pair)}" for pair in files.qrels[1:]]
    if any(path.endswith(PREL) for _, path in files.qrels):
        given = ["--sampled", *arguments_of(FIELDS, sampled_options(options, FIELDS[0]))]
    else:
        refuse_rank_model(options)
        given = ["--intervals", *arguments_of(FIELDS, options)]
    return [named_file(files.qrels[0]), *files.runs, *further, *given]


KIND = ReportKind(
    name="evaluate",
    place=30,
    title="Scores of runs",
    sentence="Measures of runs under one or more qrels, means and each topic.",
    fields=FIELDS,
    arguments=arguments,
    tables=tables,
    pictures=pictures,
    qrels=(1, 0),
    seeded=False,
    estimates=True,
)
