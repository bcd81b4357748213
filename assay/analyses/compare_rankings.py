"""Do two kinds of judgements rank systems alike? Correlations, swaps and ties of the rankings under
each pair of qrels."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from assay.analyses.evaluate import means_of, notes, side_by_side, topic_counts
from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    evaluate_files,
    measure_list,
    named_qrels,
)
from assay.analyses.shared.only_topics import add_only_topics, only_topics, qrels_of
from assay.analyses.shared.reading import Reading, measures_option
from assay.cli.base import BadInput, text_table
from assay.comparison.rankings import tau_b
from assay.comparison.rankings_of_qrels import Rankings, compare
from assay.counts import counted
from assay.measures.measures import Measure
from assay.options import add_options, option


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(DEFAULT_MEASURES, measure_list)
    bootstrap: int = option(
        1000,
        "Bootstrap samples for the interval",
        help="samples of topics (default 1000; 0: no interval)",
        least=0,
        most_in_form=100_000,
    )


class Command(ByTopicGroup, OfCampaign):
    help = (
        "Rankings of systems under two or more qrels: Kendall's tau, AP correlation, swapped and "
        "tied pairs, bootstrap interval."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+")
        add_campaign_options(parser, grades="binary")
        parser.add_argument(
            "--qrels",
            metavar="NAME=FILE",
            action="append",
            default=[],
            help="twice or more; once or more with --campaign",
        )
        add_only_topics(parser)
        add_options(parser, Options)

    def prepared(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["campaign"] is None:
            return options
        further = options["qrels"]
        prepared = super().prepared({**options, "qrels": None})
        return {**prepared, "qrels": [f"{prepared['qrels']}={prepared['qrels']}", *further]}

    def compute(
        self, *, runs: list[str], qrels: list[str], bootstrap: int, seed: int, **options: Any
    ) -> dict[str, Any]:
        if len(qrels) < 2:
            raise BadInput(
                "rankings are compared under two or more qrels: give --qrels NAME=FILE at least twice"
            )
        named = named_qrels(self, qrels)
        wanted = only_topics(
            self,
            options,
            [topic for of_qrels in named.values() for topic in of_qrels.topics],
            "the qrels",
        )
        evaluations = evaluate_files(
            self,
            runs,
            {name: qrels_of(of_qrels, wanted) for name, of_qrels in named.items()},
            options,
        )
        rankings = {name: Rankings.of(of_qrels) for name, of_qrels in evaluations.items()}
        result: dict[str, Any] = compare(rankings, seed=seed, n_samples=bootstrap)
        result["qrels"] = {
            name: {e.tag: means_of(e) for e in of_qrels} for name, of_qrels in evaluations.items()
        }
        result["between_measures"] = {
            name: between_measures(by_run) for name, by_run in result["qrels"].items()
        }
        result["evaluated"] = {
            name: topic_counts(of_qrels) for name, of_qrels in evaluations.items()
        }
        result["settings"] = {"bootstrap": bootstrap} | {
            key: options[key] for key in ("level", "topics", "scores")
        }
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
                tau_b, tau_a, tau_ap, rbo = (
                    result[key][measure][a][b] for key in ("tau", "tau_a", "tau_ap", "rbo")
                )
                variant = (
                    result["tau_ap_variant"][measure][a][b].removeprefix("tau_ap").lstrip(",")
                    or "-"
                )
                rows.append(
                    [
                        measure,
                        f"{a} - {b}",
                        tau_b,
                        low,
                        high,
                        tau_a,
                        tau_ap,
                        variant,
                        rbo,
                        swaps,
                        ties,
                    ]
                )
        header = [
            "measure",
            "qrels",
            "tau-b",
            "2.5 %",
            "97.5 %",
            "tau-a",
            "tau-ap",
            "variant",
            "RBO",
            "swaps",
            "ties",
        ]
        shared = "; ".join(
            f"{a} - {b}: {result['topics'][a][b]}" for a, b in combinations(names, 2)
        )
        pairs = n_systems * (n_systems - 1) // 2
        reasons = [
            (
                f"{measure}, {a} - {b}: no interval: {why}; undecided: "
                f"{pairs_in_words(result['undecided'][measure][a][b])} of {counted(pairs, 'pair')} of "
                f"systems"
            )
            for measure in result["tau"]
            for a, b in combinations(names, 2)
            if (why := result["interval_reason"][measure][a][b])
        ]
        legend = (
            f"{n_systems} systems. tau-ap: the first of the two is the reference; a, b: for ties. "
            f"RBO(0.9) weighs the top most. Above 0.9 two qrels are"
            f" read as equivalent (Voorhees). Interval: over the topics that both share ({shared})."
        )
        return "\n\n".join(
            [
                side_by_side(result["qrels"]),
                text_table(header, rows),
                legend,
                *reasons,
                notes(result["evaluated"]),
            ]
        )


def between_measures(by_run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Measure -> other measure -> Kendall's tau-b of the two rankings of the systems under one
    qrels; NaN where it is undefined."""
    means = {
        measure: [values[measure] for values in by_run.values()]
        for measure in next(iter(by_run.values()))
    }
    return {
        one: {other: tau_b(means[one], means[other]) for other in means if other != one}
        for one in means
    }


def pairs_in_words(pairs: list[list[str]], most: int = 5) -> str:
    """How many pairs of systems, and the first of them by name."""
    if not pairs:
        return "0"
    named = ", ".join(" and ".join(pair) for pair in pairs[:most])
    return f"{len(pairs)} ({named}{', ...' if len(pairs) > most else ''})"
