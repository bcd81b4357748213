"""Do two kinds of judgements rank systems alike? Correlations, swaps and ties of the rankings under each pair of qrels."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from analysis.campaign_sources import OfCampaign, add_campaign_options
from analysis.commandline import add_measure_options, evaluate_files, named_qrels
from analysis.core.comparison import Rankings, compare
from analysis.management.commands.evaluate import means_of, notes, side_by_side, topic_counts
from pooling.commandline import BadInput, positive, text_table


class Command(OfCampaign):
    help = "Rankings of systems under two or more qrels: Kendall's tau, AP correlation, swapped and tied pairs, bootstrap interval."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+")
        add_campaign_options(parser, grades="binary")
        parser.add_argument("--qrels", metavar="NAME=FILE", action="append", default=[], help="twice or more; once or more with --campaign")
        parser.add_argument("--bootstrap", type=samples, default=1000, metavar="N", help="samples of topics (default 1000; 0: no interval)")
        add_measure_options(parser)

    def prepared(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["campaign"] is None:
            return options
        further = options["qrels"]
        found = super().prepared({**options, "qrels": None})
        return {**found, "qrels": [f"{found['qrels']}={found['qrels']}", *further]}

    def compute(self, *, runs: list[str], qrels: list[str], bootstrap: int, seed: int, **options: Any) -> dict[str, Any]:
        if len(qrels) < 2:
            raise BadInput("rankings are compared under two or more qrels: give --qrels NAME=FILE at least twice")
        evaluations = evaluate_files(self, runs, named_qrels(self, qrels), options)
        rankings = {name: Rankings.of(found) for name, found in evaluations.items()}
        result: dict[str, Any] = compare(rankings, rng=np.random.default_rng(seed), n_samples=bootstrap)
        result["qrels"] = {name: {e.tag: means_of(e) for e in found} for name, found in evaluations.items()}
        result["evaluated"] = {name: topic_counts(found) for name, found in evaluations.items()}
        result["settings"] = {"bootstrap": bootstrap} | {key: options[key] for key in ("level", "topics", "scores")}
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        names = list(result["qrels"])
        n_systems = len(next(iter(result["qrels"].values())))
        rows = []
        for measure in result["tau"]:
            for a, b in combinations(names, 2):
                low, high = result["interval"][measure][a][b]
                swaps = len(result["swaps"][measure][a][b])
                ties = f"{result['tied'][measure][a]} / {result['tied'][measure][b]}"
                tau_b, tau_a, tau_ap = (result[key][measure][a][b] for key in ("tau", "tau_a", "tau_ap"))
                rows.append([measure, f"{a} - {b}", tau_b, low, high, tau_a, tau_ap, swaps, ties])
        header = ["measure", "qrels", "tau-b", "2.5 %", "97.5 %", "tau-a", "tau-ap", "swaps", "ties"]
        shared = "; ".join(f"{a} - {b}: {result['topics'][a][b]}" for a, b in combinations(names, 2))
        legend = (
            f"{n_systems} systems. tau-ap: the first of the two is the reference, tied systems ordered by tag. Above 0.9 two qrels are"
            f" read as equivalent (Voorhees). Interval: percentile bootstrap over the topics that both share ({shared})."
        )
        return "\n\n".join([side_by_side(result["qrels"]), text_table(header, rows), legend, notes(result["evaluated"])])


def samples(text: str) -> int:
    return 0 if text == "0" else positive(text)
