"""Ranks of the first relevant document of every topic, on which runs are compared (Lin et al.
2021)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.measures import evaluate_runs
from assay.analyses.shared.reading import EvaluationOptions, alpha_option
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.outcomes import Ranks, ranks_from_rr
from assay.comparison.significance import Floats
from assay.comparison.verdicts import ALPHA
from assay.measures.measures import Measure
from assay.measures.score_table import make_score_table
from assay.number_words import format_part
from assay.options import option

SEVERAL_RELEVANT_WARNING = "several relevant documents: the framework is defined for one, so only the first that a run retrieves counts"


@dataclass(frozen=True, eq=False)
class FirstRanks:
    """Ranks of the first relevant document of each topic in each run.

    ranks: int64 (n_runs, n_topics), 0 if the run has none. mrr: (n_runs). n_several: number of
    topics with more than one relevant document.
    """

    tags: list[str]
    ranks: Ranks
    mrr: Floats
    n_several: int


@dataclass(frozen=True)
class VerdictOptions(EvaluationOptions):
    cutoff: int = option(
        100,
        "Rank cutoff",
        help="rank cutoff; a run answers a topic if it has a relevant document up to this rank",
        hint="A topic is answered by a relevant document up to this rank.",
        least=1,
        metavar="K",
    )
    alpha: float = alpha_option(ALPHA)
    decide: str = option(
        "wsr",
        "Test of topics that both runs answer",
        choices=(("wsr", "signed-rank test"), ("t", "t-test")),
    )
    family_size: int | None = option(
        None,
        "Comparisons in the family",
        help="number of comparisons to correct for",
        hint="For a correction. Count all comparisons of your study.",
        least=1,
    )


def correction_option(default: str, *corrections: str) -> Any:
    names = {"none": "no correction", "bonferroni": "Bonferroni", "holm": "Holm"}
    return option(
        default,
        "Correction",
        help="correction of the p-values for verdicts",
        choices=tuple((name, names[name]) for name in corrections),
    )


def read_first_ranks(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: VerdictOptions,
    *,
    warn: Warn,
    part: bool = False,
) -> FirstRanks:
    """Find the rank of the first relevant document within the cutoff, per run and topic.

    part: the qrels are limited to a group of topics. Raises BadInput if no topic is in all runs."""
    n_several = count_topics_with_several(qrels, options.min_relevant)
    if n_several:
        warn(
            f"{qrels.name}: {format_part(n_several, len(qrels.topics), 'topic', 'has', 'have')} {SEVERAL_RELEVANT_WARNING}"
        )
    measures = [Measure("RR", options.cutoff)]
    table = make_score_table(
        evaluate_runs(runs, {"": qrels}, measures, options, warn=warn, part=part)[""]
    )
    if not table.topics:
        raise BadInput("no topic of the qrels is in all runs")
    return FirstRanks(table.tags, ranks_from_rr(table.scores), table.scores.mean(axis=1), n_several)


def count_topics_with_several(qrels: QrelsColumns, min_relevant: int) -> int:
    relevant = (
        np.add.reduceat(np.append(qrels.grades >= min_relevant, False), qrels.offsets[:-1])
        if len(qrels.topics)
        else np.empty(0)
    )
    return int((relevant > 1).sum())
