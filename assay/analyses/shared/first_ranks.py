"""How the commands after Lin et al. read runs: the rank of the first relevant document of every
topic."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.measures import evaluate_files, one_qrels
from assay.analyses.shared.reading import alpha_option
from assay.cli.base import BadInput, FileCommand
from assay.column_types import QrelsColumns
from assay.comparison.outcomes import Ranks, ranks_from_rr
from assay.comparison.significance import Floats
from assay.comparison.verdicts import ALPHA
from assay.counts import part_of
from assay.measures.measures import Measure
from assay.measures.score_table import score_table
from assay.options import Checked, add_options, option

MANY = "several relevant documents: the framework is defined for one, so the first one that a run retrieves counts"


@dataclass(frozen=True, eq=False)
class FirstRanks:
    """ranks: int64 (n_runs, n_topics), 0 unanswered; mrr: (n_runs); n_several: topics with more
    than one relevant document."""

    tags: list[str]
    ranks: Ranks
    mrr: Floats
    n_several: int


@dataclass(frozen=True)
class VerdictOptions(Checked):
    cutoff: int = option(
        100,
        "Answered up to rank",
        help="a topic is answered by a relevant document up to this rank",
        hint="A topic is answered by a relevant document up to this rank.",
        least=1,
        metavar="K",
    )
    alpha: float = alpha_option(ALPHA)
    decide: str = option(
        "wsr",
        "Test where both runs answer",
        choices=(("wsr", "signed-rank test"), ("t", "t-test")),
    )
    family: int | None = option(
        None,
        "Comparisons in all",
        help="with a correction: how many comparisons are made in all",
        hint="For a correction: how many comparisons are made in all.",
        least=1,
    )


def add_verdict_options(parser: ArgumentParser, corrections: Sequence[str]) -> None:
    """--cutoff, --alpha, --decide, --correction, and how measures and runs are read except
    --scores."""
    add_options(parser, VerdictOptions)
    parser.add_argument(
        "--correction",
        choices=corrections,
        default="none",
        help="of the p-values that verdicts use (default none)",
    )


def first_ranks(
    command: FileCommand, qrels: str, runs: Sequence[str], options: Mapping[str, Any]
) -> FirstRanks:
    """Reads the files and finds, per topic and run, the rank of the first relevant document within
    --cutoff."""
    judged = one_qrels(command, qrels)
    n_several = topics_with_several(judged, options["level"])
    if n_several:
        command.warn(
            f"{qrels}: {part_of(n_several, len(judged.topics), 'topic', 'has', 'have')} {MANY}"
        )
    measures = [Measure("RR", options["cutoff"])]
    table = score_table(
        evaluate_files(command, runs, {"": judged}, {**options, "measures": measures})[""]
    )
    if not table.topics:
        raise BadInput("no topic of the qrels is in all runs")
    return FirstRanks(table.tags, ranks_from_rr(table.scores), table.scores.mean(axis=1), n_several)


def topics_with_several(qrels: QrelsColumns, level: int) -> int:
    relevant = (
        np.add.reduceat(np.append(qrels.grades >= level, False), qrels.offsets[:-1])
        if len(qrels.topics)
        else np.empty(0)
    )
    return int((relevant > 1).sum())
