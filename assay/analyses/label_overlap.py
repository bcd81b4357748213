"""Judged pairs against click labels: how many are unlabelled, agree, contradict."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import named_qrels, one_qrels
from assay.analyses.shared.only_topics import add_only_topics, only_topics, qrels_of
from assay.cli.base import BadInput, text_table
from assay.formats.pool import read_pool
from assay.labels.overlap import contradictions, label_overlap
from assay.measures.packing import TopicDocumentPairs
from assay.options import Checked, add_options, option


@dataclass(frozen=True)
class Options(Checked):
    top: int = option(
        4,
        "Best rank in the pool up to",
        help="best rank in the pool up to N",
        hint="Empty: all judged pairs, whatever the pool.",
        least=1,
    )
    threshold: int = option(
        1, "Lowest relevant judged grade", least=1, kind="grade", more={"judged_only": True}
    )


class Command(OfCampaign):
    counts_labels_only = True
    help = (
        "Labels of judged pairs in click-based qrels: shares unlabelled and by grade, for "
        "relevant and irrelevant judgements."
    )
    takes_seed = False
    qrels_place = "judged"
    run_places = ()

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--judged", metavar="FILE", required=True, help="qrels of the judgements"
        )
        add_campaign_options(parser, grades="binary")
        parser.add_argument(
            "--clicks",
            metavar="NAME=FILE",
            nargs="+",
            action="extend",
            required=True,
            help="click-based qrels",
        )
        parser.add_argument(
            "--pool",
            metavar="pool.tsv",
            help="consider only pairs at the top of this pool (default the campaign's)",
        )
        add_options(parser, Options)
        add_only_topics(parser)
        parser.add_argument(
            "--list-pairs",
            action="store_true",
            help="each contradicting pair in the JSON; with --campaign they always are there",
        )

    def compute(
        self,
        *,
        judged: str,
        clicks: list[str],
        pool: str | None,
        top: int,
        threshold: int,
        list_pairs: bool,
        **options: Any,
    ) -> dict[str, Any]:
        judgements = one_qrels(self, judged)
        wanted = only_topics(self, options, judgements.topics, "the judgements")
        judgements = qrels_of(judgements, wanted)
        within = None if pool is None else top_of_pool(pool, top)
        if options["campaign"] is not None:
            source = self.stored_campaigns()
            if within is None:
                within = source.top_of_campaign(options["campaign"], top)
        result = {}
        for name, labels in (
            (name, qrels_of(all_labels, wanted))
            for name, all_labels in named_qrels(self, clicks).items()
        ):
            result[name] = label_overlap(
                judgements, labels, threshold=threshold, within=within
            ).shares()
            if not result[name]["pairs"]:
                result[name]["undefined"] = (
                    "no judged pair is among those considered, so there are no shares"
                )
            if options["campaign"] is not None or list_pairs:
                contradicting = contradictions(
                    judgements, labels, threshold=threshold, within=within
                )
                texts = (
                    source.with_texts(options["campaign"], contradicting)
                    if options["campaign"] is not None
                    else [pair._asdict() for pair in contradicting]
                )
                result[name]["contradicting_pairs"] = texts
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for name, overlap_of in result.items():
            labels = list(overlap_of["relevant"])
            rows = [[kind, *overlap_of[kind].values()] for kind in ("relevant", "irrelevant")]
            agreement = (
                "undefined"
                if overlap_of["pairs"] == 0
                else f"{overlap_of['agree']:.4f} agree, {overlap_of['disagree']:.4f} disagree"
            )
            overlap = ", ".join(
                f"{key.replace('_', ' ')} {overlap_of[key]}"
                for key in ("both", "judged_only", "clicked_only", "contradicting")
            )
            head = f"{name}: shares of {overlap_of['pairs']} judged pairs"
            parts.append(
                "\n".join(
                    [head, text_table(["judged", *labels], rows), agreement, f"pairs: {overlap}"]
                )
            )
        return "\n\n".join(parts)


def top_of_pool(path: str, top: int) -> TopicDocumentPairs:
    """Pairs of the pool with a best rank of at most `top`. Raises BadInput if the file gives no
    ranks."""
    pool = read_pool(path)
    if (pool.best_rank == 0).any():
        raise BadInput(
            f"{path}: pairs without a best rank, so the top {top} of the pool is not known; a "
            f"pool of build_pool has them"
        )
    chosen = np.flatnonzero(pool.best_rank <= top)
    return TopicDocumentPairs(pool.topics, pool.topic[chosen], pool.documents[chosen])
