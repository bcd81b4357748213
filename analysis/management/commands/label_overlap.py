"""Judged pairs against click labels: how many are unlabelled, agree, contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from analysis.campaign_files import campaign_named
from analysis.campaign_sources import OfCampaign, add_campaign_options
from analysis.commandline import named_qrels, one_qrels
from analysis.core.overlap import label_overlap
from analysis.core.packing import Pairs
from analysis.selectors.judgements import pool_ranks
from pooling.commandline import BadInput, positive, text_table
from pooling.formats.pool import read_pool


class Command(OfCampaign):
    help = "Labels of judged pairs in click-based qrels: shares unlabelled and by grade, for relevant and irrelevant judgements."
    takes_seed = False
    qrels_place = "judged"
    run_places = ()

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--judged", metavar="FILE", required=True, help="qrels of the judgements")
        add_campaign_options(parser, grades="binary")
        parser.add_argument("--clicks", metavar="NAME=FILE", nargs="+", action="extend", required=True, help="click-based qrels")
        parser.add_argument("--pool", metavar="pool.tsv", help="consider only pairs at the top of this pool (default the campaign's)")
        parser.add_argument("--top", type=positive, default=4, metavar="N", help="best rank in the pool up to N (default 4)")
        parser.add_argument("--threshold", type=positive, default=1, metavar="N", help="lowest relevant judged grade (default 1)")

    def compute(self, *, judged: str, clicks: list[str], pool: str | None, top: int, threshold: int, **options: Any) -> dict[str, Any]:
        judgements = one_qrels(self, judged)
        within = None if pool is None else top_of_pool(pool, top)
        if pool is None and options["campaign"] is not None:
            within = top_of_campaign(options["campaign"], top)
        result = {}
        for name, labels in named_qrels(self, clicks).items():
            result[name] = label_overlap(judgements, labels, threshold=threshold, within=within).shares()
            if not result[name]["pairs"]:
                result[name]["undefined"] = "no judged pair is among those considered, so there are no shares"
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for name, found in result.items():
            labels = list(found["relevant"])
            rows = [[kind, *found[kind].values()] for kind in ("relevant", "irrelevant")]
            agreement = "undefined" if found["pairs"] == 0 else f"{found['agree']:.4f} agree, {found['disagree']:.4f} disagree"
            overlap = ", ".join(f"{key.replace('_', ' ')} {found[key]}" for key in ("both", "judged_only", "clicked_only", "contradicting"))
            head = f"{name}: shares of {found['pairs']} judged pairs"
            parts.append("\n".join([head, text_table(["judged", *labels], rows), agreement, f"pairs: {overlap}"]))
        return "\n\n".join(parts)


def top_of_pool(path: str, top: int) -> Pairs:
    """Pairs of the pool with a best rank of at most `top`. Raises BadInput if the file gives no ranks."""
    pool = read_pool(path)
    if (pool.best_rank == 0).any():
        raise BadInput(f"{path}: pairs without a best rank, so the top {top} of the pool is not known; a pool of build_pool has them")
    chosen = np.flatnonzero(pool.best_rank <= top)
    return Pairs(pool.topics, pool.topic[chosen], pool.documents[chosen])


def top_of_campaign(slug: str, top: int) -> Pairs | None:
    """The same of the campaign's pool; None where it has none."""
    campaign = campaign_named(slug)
    if campaign.pool is None:
        return None
    pairs = [(topic, document) for topic, document, rank in pool_ranks(campaign) if rank <= top]
    topics = sorted({topic for topic, _ in pairs})
    place = {topic: i for i, topic in enumerate(topics)}
    documents = np.array([document.encode() for _, document in pairs], dtype="S" if pairs else "S1")
    return Pairs(topics, np.array([place[topic] for topic, _ in pairs], np.int64), documents)
