"""Compute the statistics of an annotation campaign (TripJudge, Althammer et al. 2022, table 1)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.counted_judgements import CountedJudgements
from assay.analyses.shared.json_values import statistics_json
from assay.analyses.shared.judged_files import (
    JudgementOptions,
    add_judgement_options,
    count_dropped_rows,
    read_judged,
)
from assay.campaigns.statistics import compute_campaign_statistics
from assay.cli.base import BadInput, FileCommand, Warn
from assay.formats.pool import read_pool
from assay.labels.labels import find_scale_warnings
from assay.options import option
from assay.results import Values
from assay.tabular import Cell, Table

COUNT_LABELS = {
    "topics": "topics",
    "documents": "documents in the collection",
    "pairs": "judged pairs",
    "labelled_pairs": "labelled pairs",
    "judgements": "judgements",
    "per_pair": "judgements per judged pair",
    "per_labelled_pair": "judgements per labelled pair",
    "annotators": "annotators",
    "per_annotator": "judgements per annotator",
    "complete_depth": "deepest rank to which the pool is complete",
    "relevant_share": "relevant share of labels (2 grades)",
}
PairRanks = Iterable[tuple[str, str, int]]
"""(topic, document, best rank) of each pair of a pool."""


@dataclass(frozen=True)
class Options(JudgementOptions):
    n_documents: int | None = option(
        None, "Documents", help="number of documents in the collection", least=1
    )


def compute(
    judged: CountedJudgements,
    options: Options,
    *,
    n_documents: int | None = None,
    pool: PairRanks | None = None,
    warn: Warn,
) -> Values:
    """Count judgements and grades, with their times in seconds, and the coverage of the pool.

    n_documents: number of documents in the collection, unless the options give it. pool: if None,
    there is no coverage. Undefined means are NaN.
    """
    if pool is not None and judged.only is not None:
        pool = [pair for pair in pool if pair[0] in judged.only]
    statistics = compute_campaign_statistics(
        judged.table,
        min_relevant=judged.min_relevant,
        min_judgements=options.min_judgements,
        documents=options.n_documents or n_documents,
        pool=pool,
    )
    for warning in statistics.warnings:
        if warning not in find_scale_warnings(judged.table):
            # the reader has already reported this one
            warn(warning)
    return {
        **statistics_json(statistics),
        "mean_seconds": statistics.mean_seconds,
        "dropped": count_dropped_rows(judged.dropped),
        "min_relevant": judged.min_relevant,
    }


def result_tables(result: Values) -> list[Table]:
    counts: list[list[Cell]] = [[text, result[name]] for name, text in COUNT_LABELS.items()]
    grades: list[list[Cell]] = [
        [str(grade), row["n"], row["share"], row["mean_seconds"], row["median_seconds"]]
        for grade, row in result["grades"].items()
    ]
    header = ["grade", "judgements", "share", "mean seconds", "median seconds"]
    return [
        Table("counts", "Campaign statistics", ["statistic", "value"], counts),
        Table("grades", "Judgements by grade", header, grades),
    ]


class Command(FileCommand):
    help = (
        "Report statistics of an annotation campaign: counts, grades with their times, "
        "judgements over time, and completeness of the pool."
    )
    takes_seed = False
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser, Options)
        parser.add_argument(
            "--pool",
            metavar="POOL",
            help=(
                "file written by `assay pool build`, for reporting the depth to which the pool "
                "is completely judged"
            ),
        )

    def compute(self, *, pool: str | None, **option_values: Any) -> Values:
        judged = read_judged(self, option_values)
        pairs: PairRanks | None = None if pool is None else read_pool_ranks(pool)
        documents = None
        if judged.campaign is not None:
            source = self.stored_campaigns()
            pairs = pairs or source.read_pool_ranks(judged.campaign)
            documents = source.count_documents(judged.campaign.collection)
        return compute(
            judged,
            Options.from_mapping(option_values),
            n_documents=documents,
            pool=pairs,
            warn=self.warn,
        )


def read_pool_ranks(path: str) -> list[tuple[str, str, int]]:
    """Read (topic, document, best rank) of each pair of a pool file. Raises BadInput for pairs
    without a rank."""
    pairs = [(pair.topic, pair.document, pair.best_rank) for pair in read_pool(path)]
    if any(rank < 1 for _, _, rank in pairs):
        raise BadInput(
            f"{path}: some pairs have no best rank, expected a pool file with the column best_rank"
        )
    return pairs
