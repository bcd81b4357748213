"""`manage.py campaign_stats JUDGEMENTS`: the statistics of a campaign (TripJudge's Table 1)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from assay.analyses.shared.as_json import statistics_json
from assay.analyses.shared.judged_files import add_judgement_options, dropped_rows, read_judged
from assay.campaigns.statistics import campaign_statistics
from assay.cli.base import BadInput, FileCommand, positive, text_table
from assay.formats.pool import read_pool
from assay.labels.labels import scale_warnings

COUNTS = {
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


class Command(FileCommand):
    help = (
        "Statistics of an annotation campaign: counts, grades with their times, judgements over "
        "time, completeness of the pool."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser)
        parser.add_argument(
            "--pool",
            metavar="POOL",
            help="the pool file of build_pool, for the depth to which it is complete",
        )
        parser.add_argument(
            "--documents", type=positive, metavar="N", help="number of documents in the collection"
        )

    def compute(
        self, *, min_judgements: int, pool: str | None, documents: int | None, **options: Any
    ) -> dict[str, Any]:
        table, dropped, threshold, campaign, only = read_judged(self, options)
        pairs = None if pool is None else ranks_of_file(pool)
        if campaign is not None:
            source = self.stored_campaigns()
            pairs = pairs or source.pool_ranks(campaign)
            documents = documents or source.count_documents(campaign.collection)
        if pairs is not None and only is not None:
            pairs = [pair for pair in pairs if pair[0] in only]
        statistics = campaign_statistics(
            table,
            threshold=threshold,
            min_judgements=min_judgements,
            documents=documents,
            pool=pairs,
        )
        for warning in statistics.warnings:
            if warning not in scale_warnings(table):  # the reader has said that one
                self.warn(warning)
        return {
            **statistics_json(statistics),
            "dropped": dropped_rows(dropped),
            "threshold": threshold,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        counts = text_table(
            ["", ""],
            [
                [text, f"{result[name]:.4g}" if isinstance(result[name], float) else result[name]]
                for name, text in COUNTS.items()
            ],
        )
        grades = text_table(
            ["grade", "judgements", "share", "mean seconds", "median seconds"],
            [
                [str(grade), row["n"], row["share"], row["mean_seconds"], row["median_seconds"]]
                for grade, row in result["grades"].items()
            ],
        )
        return f"{counts.lstrip()}\n\n{grades}"


def ranks_of_file(path: str) -> list[tuple[str, str, int]]:
    """(topic, document, best rank) of each pair of a pool file. BadInput if it gives no ranks."""
    pairs = [(pair.topic, pair.document, pair.best_rank) for pair in read_pool(path)]
    if any(rank < 1 for _, _, rank in pairs):
        raise BadInput(
            f"{path}: pairs without a best rank, expected a pool file with the column best_rank"
        )
    return pairs
