"""Compare the rankings of systems under two or more qrels, such as two kinds of judgements."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from assay.analyses.evaluate import count_topics, describe_settings, list_means
from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.evaluate_tables import topics_table
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    evaluate_runs,
    iterate_runs,
    parse_measure_list,
    read_named_qrels,
)
from assay.analyses.shared.only_topics import add_topics_option, filter_qrels, read_topic_filter
from assay.analyses.shared.reading import EvaluationOptions, measures_option
from assay.analyses.shared.score_tables import scores_table
from assay.charts.points import DrawnInterval, ScatterPoint, interval_chart, scatter_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.rankings import tau_b
from assay.comparison.rankings_of_qrels import QrelsRankings, compare_rankings
from assay.measures.measures import Measure
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Cell, Table

RANKING_MEASURES = "AP nDCG nDCG@10 RR@10 R@100"
"""Measures that rank systems, without Judged@10, which only shows how many of their documents are
judged."""


@dataclass(frozen=True)
class Options(EvaluationOptions):
    measures: list[Measure] = measures_option(
        DEFAULT_MEASURES, parse_measure_list, begins=RANKING_MEASURES
    )
    bootstrap: int = option(
        1000,
        "Bootstrap samples for the interval",
        help="number of bootstrap samples of topics, or 0 for no confidence interval (default: 1000)",
        least=0,
        most_in_form=100_000,
    )


def compute(
    qrels: Mapping[str, QrelsColumns],
    runs: Iterable[RunColumns],
    options: Options,
    *,
    seed: int = 0,
    warn: Warn,
    part: bool = False,
) -> Values:
    """Correlate the rankings of the runs under each pair of qrels.

    qrels: by name, two or more. runs: read one at a time. part: the qrels are limited to a group of
    topics. tau, tau-ap and RBO are undefined, with a reason, if all systems are tied. Raises
    BadInput for fewer than two qrels. Sources: Kendall (1945), Yilmaz, Aslam and Robertson (2008),
    and Webber, Moffat and Zobel (2010).
    """
    if len(qrels) < 2:
        raise BadInput(
            "a comparison of rankings needs at least two qrels; give --qrels NAME=FILE at least twice"
        )
    evaluations = evaluate_runs(runs, qrels, options.measures, options, warn=warn, part=part)
    rankings = {
        name: QrelsRankings.from_evaluations(of_qrels) for name, of_qrels in evaluations.items()
    }
    result: Values = compare_rankings(rankings, seed=seed, n_samples=options.bootstrap)
    result["qrels"] = {
        name: {e.tag: list_means(e) for e in of_qrels} for name, of_qrels in evaluations.items()
    }
    result["between_measures"] = {
        name: correlate_measures(by_run) for name, by_run in result["qrels"].items()
    }
    result["evaluated"] = {name: count_topics(of_qrels) for name, of_qrels in evaluations.items()}
    result["settings"] = {"bootstrap": options.bootstrap} | describe_settings(options)
    return result


def correlate_measures(by_run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return Kendall's tau-b between the rankings by every two measures under one qrels, NaN if
    undefined."""
    means = {
        measure: [values[measure] for values in by_run.values()]
        for measure in next(iter(by_run.values()))
    }
    return {
        one: {other: tau_b(means[one], means[other]) for other in means if other != one}
        for one in means
    }


def result_tables(result: Values) -> list[Table]:
    names = list(result["qrels"])
    rows: list[list[Cell]] = []
    swaps: list[list[Cell]] = []
    open_pairs: list[list[Cell]] = []
    for measure in result["tau"]:
        for a, b in combinations(names, 2):
            low, high = result["interval"][measure][a][b] or (None, None)
            swapped = result["swaps"][measure][a][b]
            tied = [result["tied"][measure][name] for name in (a, b)]
            taus = [result[key][measure][a][b] for key in ("tau", "tau_a", "tau_ap")]
            variant, rbo, why, undecided = (
                result[key][measure][a][b]
                for key in ("tau_ap_variant", "rbo", "interval_reason", "undecided")
            )
            open_pairs += [[measure, a, b, first, second] for first, second in undecided or []]
            rows.append(
                [
                    measure,
                    a,
                    b,
                    taus[0],
                    low,
                    high,
                    *taus[1:],
                    variant,
                    rbo,
                    len(swapped),
                    *tied,
                    result["topics"][a][b],
                    why or "",
                ]
            )
            swaps += [[measure, a, b, first, second] for first, second in swapped]
    header = [
        "measure",
        "qrels A",
        "qrels B",
        "tau-b",
        "2.5%",
        "97.5%",
        "tau-a",
        "tau-ap",
        "variant for ties",
        "RBO",
        "swapped pairs",
        "tied under A",
        "tied under B",
        "shared topics",
        "why no CI",
    ]
    note = (
        f"{format_count(len(next(iter(result['qrels'].values()))), 'system')}. A is the "
        "reference of tau-ap; its variants a and b treat ties differently. RBO(0.9) gives "
        "most weight to the top ranks. Two qrels with a tau above 0.9 are considered "
        "equivalent (Voorhees). 95% CI over the topics in both qrels. Without a CI, the "
        "undecided pairs are those whose order these topics leave open."
    )
    return [
        Table("correlations", "Correlation of rankings", header, rows, note),
        scores_table(result["qrels"]),
        between_measures_table(result),
        Table(
            "swaps",
            "Swapped pairs of runs",
            ["measure", "qrels A", "qrels B", "higher under A", "higher under B"],
            swaps,
        ),
        Table(
            "undecided",
            "Undecided pairs of runs",
            ["measure", "qrels A", "qrels B", "run", "run"],
            open_pairs,
        ),
        topics_table(result["evaluated"]),
    ]


def between_measures_table(result: Values) -> Table:
    """Return tau between the rankings by every two measures under the same qrels."""
    rows: list[list[Cell]] = [
        [name, one, other, taus[one][other]]
        for name, taus in result.get("between_measures", {}).items()  # not in older results
        for one, other in combinations(taus, 2)
    ]
    return Table(
        "between-measures",
        "Correlation of rankings by two measures",
        ["qrels", "measure A", "measure B", "tau-b"],
        rows,
    )


def result_charts(result: Values) -> list[Picture]:
    names = list(result["qrels"])
    drawn = []
    for a, b in list(combinations(names, 2))[:6]:
        rows = []
        for measure in result["tau"]:
            low, high = result["interval"][measure][a][b] or (None, None)
            rows.append(
                DrawnInterval(
                    measure, result["tau"][measure][a][b], low, high, "undefined: all runs are tied"
                )
            )
        drawn.append(
            interval_chart(
                rows,
                caption=(
                    f"Kendall's tau-b between the rankings under {a} and {b} (95% CI over topics)"
                ),
                x_label="tau-b",
                what="measure",
                high=1.0,
                reference=(0.9, "0.9"),
                reason="Tau is undefined: under one of the qrels all runs are tied.",
            )
        )
    a, b = names[0], names[1]
    measure = next(iter(result["tau"]))
    swapped = {tag for pair in result["swaps"][measure][a][b] for tag in pair}
    spots = [
        ScatterPoint(
            tag,
            result["qrels"][a][tag][measure],
            result["qrels"][b][tag][measure],
            int(tag in swapped),
        )
        for tag in result["qrels"][a]
        if result["qrels"][a][tag][measure] is not None
        and result["qrels"][b][tag][measure] is not None
    ]
    drawn.append(
        scatter_chart(
            spots,
            kinds=["run", "run in a swapped pair"],
            caption=f"{measure} of each run under {a} and {b}",
            x_label=a,
            y_label=b,
        )
    )
    return drawn


class Command(TopicGroupCommand, CampaignCommand):
    help = (
        "Compare the rankings of systems under two or more qrels: Kendall's tau, AP correlation, "
        "swapped and tied pairs, and confidence intervals."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+")
        add_campaign_options(parser, labels="binary")
        parser.add_argument(
            "--qrels",
            metavar="NAME=FILE",
            action="append",
            default=[],
            help=(
                "qrels file for ranking the runs; give two or more, or at least one with --campaign"
            ),
        )
        add_topics_option(parser)
        add_options(parser, Options)

    def prepare_options(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["campaign"] is None:
            return options
        further = options["qrels"]
        prepared = super().prepare_options({**options, "qrels": None})
        return {**prepared, "qrels": [f"{prepared['qrels']}={prepared['qrels']}", *further]}

    def compute(self, *, runs: list[str], qrels: list[str], seed: int, **options: Any) -> Values:
        named = read_named_qrels(self, qrels)
        all_topics = [topic for of_qrels in named.values() for topic in of_qrels.topics]
        wanted = read_topic_filter(self, options, all_topics, "the qrels")
        return compute(
            {name: filter_qrels(of_qrels, wanted) for name, of_qrels in named.items()},
            iterate_runs(self, runs, options),
            Options.from_mapping(options),
            seed=seed,
            warn=self.warn,
            part=self.only_these is not None,
        )
