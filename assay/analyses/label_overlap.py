"""Compare judged pairs with click labels: how many have no click label, agree or contradict."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import read_named_qrels, read_one_qrels
from assay.analyses.shared.only_topics import add_topics_option, filter_qrels, read_topic_filter
from assay.charts.bars import stacked_bar_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput
from assay.column_types import QrelsColumns
from assay.formats.pool import read_pool
from assay.labels.overlap import UNLABELLED, find_contradictions
from assay.labels.overlap import count_label_overlap as overlap_with
from assay.measures.packing import TopicDocumentPairs
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table


@dataclass(frozen=True)
class Options(CheckedOptions):
    top: int = option(
        4,
        "Depth in the pool",
        help="rank cutoff; only pairs with a best rank of at most N in the pool count",
        hint="Leave empty to count all judged pairs, whatever their rank.",
        least=1,
    )
    min_relevant: int = option(
        1, "Minimum relevant grade", least=1, kind="grade", more={"judged_only": True}
    )
    list_pairs: bool = option(
        False,
        "List contradicting pairs",
        help="include contradicting pairs in the JSON (always with --campaign)",
    )


def compute(
    judged: QrelsColumns,
    clicks: Mapping[str, QrelsColumns],
    options: Options,
    *,
    within: TopicDocumentPairs | None = None,
    describe: Callable[[Sequence[Any]], list[Values]] | None = None,
) -> Values:
    """Compare the judgements with every click-based qrels.

    clicks: by name. within: the pairs that count, or None for all judged pairs. describe: function
    that creates an entry for a contradicting pair. If given, these pairs are always listed. Shares
    of the pairs that count are undefined, with a reason, if there are none. Source: Althammer et
    al. (2022), figure 3.
    """
    result: Values = {}
    for name, labels in clicks.items():
        how: Any = {"min_relevant": options.min_relevant, "within": within}
        result[name] = overlap_with(judged, labels, **how).shares()
        if not result[name]["pairs"]:
            result[name]["undefined"] = (
                "none of the pairs considered is judged, so there are no shares"
            )
        if options.list_pairs or describe:
            pairs = find_contradictions(judged, labels, **how)
            result[name]["contradicting_pairs"] = (
                describe(pairs) if describe else [pair._asdict() for pair in pairs]
            )
    return result


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = []
    counts: list[list[Cell]] = []
    labels: list[str] = []
    for overlap in result.values():
        labels += [label for label in overlap["relevant"] if label not in labels]
    for name, overlap in result.items():
        rows += [
            [name, kind, *(overlap[kind].get(label) for label in labels)]
            for kind in ("relevant", "irrelevant")
        ]
        keys = (
            "pairs",
            "agree",
            "disagree",
            "both",
            "judged_only",
            "clicked_only",
            "contradicting",
        )
        counts.append([name, *(overlap[key] for key in keys)])
    words = [label if label == "unlabelled" else f"click label {label}" for label in labels]
    return [
        Table(
            "shares",
            "Click labels of judged pairs",
            ["click qrels", "judged", *words],
            rows,
            "Shares of all pairs that count.",
        ),
        Table(
            "counts",
            "Agreement",
            [
                "click qrels",
                "pairs",
                "agree",
                "disagree",
                "in both",
                "judged only",
                "clicked only",
                "contradicting",
            ],
            counts,
        ),
    ]


def result_charts(result: Values) -> list[Picture]:
    return [agreement_chart(result)]


def agreement_chart(result: Values, *, by_row: bool = False) -> Picture:
    """Draw one bar for relevant and one for irrelevant judgements under each click qrels
    (TripJudge, Althammer et al. 2022, figure 3).

    Agreeing, contradicting and missing click labels have different colours. by_row: shares of each
    bar instead of all judged pairs.
    """
    labels = sorted(
        {
            label
            for overlap in result.values()
            for label in overlap["relevant"]
            if label != UNLABELLED
        },
        key=int,
    )
    bars = [(name, kind) for name, overlap in result.items() for kind in ("relevant", "irrelevant")]

    def pairs(name: str, kind: str, label: str) -> float:
        overlap = result[name]
        return float(round((overlap[kind].get(label) or 0) * overlap["pairs"]))

    series, classes = (
        [("no click label", [pairs(name, kind, UNLABELLED) for name, kind in bars])],
        ["apart"],
    )
    for word, agreeing in (("agree", True), ("disagree", False)):
        for label in labels:
            values = [
                pairs(name, kind, label)
                if ((kind == "relevant") == (int(label) >= 1)) == agreeing
                else 0.0
                for name, kind in bars
            ]
            if any(values):
                series.append((f"{word}, label {label}", values))
                classes.append(f"{word}{min(int(label), 3)}")
    return stacked_bar_chart(
        [f"{name}: {kind}" for name, kind in bars],
        series,
        caption=("Click labels of judged pairs"),
        what="judged pairs",
        wholes=None if by_row else [float(result[name]["pairs"]) for name, _ in bars],
        classes=classes,
        written=True,
        reason="None of the pairs considered is judged.",
    )


class Command(CampaignCommand):
    counts_labels_only = True
    help = (
        "Compare judged pairs with click labels: pairs without a label, agreeing pairs, and "
        "contradicting pairs."
    )
    takes_seed = False
    qrels_place = "judged"
    run_places = ()
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--judged", metavar="FILE", required=True, help="qrels file of the judgements"
        )
        add_campaign_options(parser, labels="binary")
        parser.add_argument(
            "--clicks",
            metavar="NAME=FILE",
            nargs="+",
            action="extend",
            required=True,
            help="qrels files derived from clicks",
        )
        parser.add_argument(
            "--pool",
            metavar="POOL",
            help="pool file with the ranks for --top (default: the campaign's pool)",
        )
        add_options(parser, Options)
        add_topics_option(parser)

    def compute(
        self, *, judged: str, clicks: list[str], pool: str | None, **option_values: Any
    ) -> Values:
        options = Options.from_mapping(option_values)
        judgements = read_one_qrels(self, judged)
        wanted = read_topic_filter(self, option_values, judgements.topics, "the judgements")
        within = None if pool is None else read_pool_top(pool, options.top)
        slug, describe = option_values["campaign"], None
        if slug is not None:
            source = self.stored_campaigns()
            within = within or source.read_pool_top(slug, options.top)

            def describe(pairs: Sequence[Any]) -> list[Values]:
                texts: list[Values] = source.add_document_texts(slug, pairs)
                return texts

        labels = {
            name: filter_qrels(of_qrels, wanted)
            for name, of_qrels in read_named_qrels(self, clicks).items()
        }
        return compute(
            filter_qrels(judgements, wanted), labels, options, within=within, describe=describe
        )


def read_pool_top(path: str, top: int) -> TopicDocumentPairs:
    """Return the pairs of the pool with a best rank of at most `top`.

    Raises BadInput if the file has no ranks.
    """
    pool = read_pool(path)
    if (pool.best_rank == 0).any():
        raise BadInput(
            f"{path}: some pairs have no best rank, so the top {top} of the pool is unknown; use a file written by `assay pool build`"
        )
    chosen = np.flatnonzero(pool.best_rank <= top)
    return TopicDocumentPairs(pool.topics, pool.topic[chosen], pool.documents[chosen])
