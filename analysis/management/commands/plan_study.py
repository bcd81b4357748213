"""`manage.py plan_study QRELS RUN...`: how many topics the next study needs, from the variances of this one."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.commandline.campaign_sources import OfCampaign, add_campaign_options
from analysis.commandline.judged_files import DEFAULT_SCALE, at_least_two
from analysis.commandline.measures import add_measure_options, all_runs, evaluate_files, one_qrels
from analysis.core.label_noise import NoisyLabels, error_of_differences
from analysis.core.labels import counted
from analysis.core.rankings import tau_b
from analysis.core.system_comparison import all_pairs, smallest_difference, topics_for_power, topics_for_width
from pooling.commandline import BadInput, fraction, positive, text_table
from pooling.core.counts import counted as number_of
from pooling.formats.judgements import read_judgements

MEASURES = "nDCG@10 AP"
PER_PAIR = (1, 2, 3, 5, 10)
"""Judgements a pair whose noise is told."""
LABELS = (
    "\n\nNoise of a difference, median pair of systems: its standard error over topics, and that of the labels, judgements drawn anew within pairs, as they "
    "were judged and with other numbers of them. A pair whose judgements agree never changes, so with two or three of them the noise is understated. "
    "tau: mean correlation of the ranking with that under labels drawn anew.\n\n"
)
DIFFERENCE = 0.05


class Command(OfCampaign):
    help = "Topics that a study needs to see a difference, or to give an interval of a width, from the variances of runs at hand."
    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument("--power", type=fraction, default=0.8, metavar="P", help="chance of finding the difference (default 0.8)")
        parser.add_argument("--alpha", type=fraction, default=0.05, metavar="P", help="level of the paired t-test and the interval (default 0.05)")
        parser.add_argument("--difference", type=fraction, metavar="X", help=f"true mean difference that is to be found (default {DIFFERENCE})")
        parser.add_argument("--width", type=fraction, metavar="X", help="in its place: the interval of the difference is to be at most so wide")
        parser.add_argument(
            "--judgements", metavar="FILE", help="the single judgements (topic, document, annotator, grade): how much of the differences is noise of "
            "labels, and what more judgements a pair would buy",
        )  # fmt: skip
        parser.add_argument("--scale", type=at_least_two, default=DEFAULT_SCALE, metavar="N", help=f"grades of these judgements (default {DEFAULT_SCALE})")
        parser.add_argument("--label-trials", type=positive, default=200, metavar="N", help="labellings drawn from them (default 200)")
        add_measure_options(parser, measures=MEASURES)

    def compute(
        self, *, qrels: str, runs: list[str], power: float, alpha: float, difference: float | None, width: float | None, seed: int, **options: Any
    ) -> dict[str, Any]:
        if difference is not None and width is not None:
            raise BadInput("--difference and --width are two questions, expected one of them")
        for name, value in (("--power", power), ("--alpha", alpha), ("--difference", difference), ("--width", width)):
            if value is not None and not 0 < value < 1:
                raise BadInput(f"{name} {value:g}, expected a number between 0 and 1")
        if power <= alpha:
            raise BadInput(f"--power {power:g} is not above --alpha {alpha:g}: no topics are needed for that")
        if len(runs) < 2:
            raise BadInput("the variance of a difference needs two runs or more")
        wanted = DIFFERENCE if difference is None and width is None else difference
        judged = one_qrels(self, qrels)
        evaluations = evaluate_files(self, runs, {judged.name: judged}, options)[judged.name]
        result: dict[str, Any] = {}
        undefined: dict[str, str] = {}
        for column, measure in enumerate(options["measures"]):
            values = np.column_stack([evaluation.values[:, column] for evaluation in evaluations])
            values = values[~np.isnan(values).any(axis=1)]
            if len(values) < 2:
                undefined[str(measure)] = f"{number_of(len(values), 'topic', 'counts', 'count')} for all runs, but a variance needs two"
                result[str(measure)] = {"variance": None, "topics_needed": None, "smallest_difference": None, "labels": None}
                continue
            variances = np.array([np.var(values[:, b] - values[:, a], ddof=1) for a, b in all_pairs(values.shape[1])])
            result[str(measure)] = planned(variances, len(values), power, alpha, wanted, width)
        result["settings"] = {"power": power, "alpha": alpha, "difference": wanted, "width": width}
        if options["judgements"] is None:
            undefined["labels"] = "what more judgements per pair would buy needs the single judgements (--judgements FILE), which qrels do not have"
        else:
            for measure, labels in noise_of_labels(self, runs, options, seed).items():
                result[measure]["labels"] = labels
        if undefined:
            result["undefined"] = undefined
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        settings, rows = result["settings"], []
        for measure in map(str, options["measures"]):
            of_measure = result[measure]
            if of_measure["variance"] is None:
                rows.append([measure, "-", "-", "-", "-", "-"])
                continue
            variance, smallest = of_measure["variance"], of_measure["smallest_difference"]
            needed = [("more than a million" if n is None else f"{n:,}") for n in (of_measure["topics_needed"], of_measure["topics_needed_highest"])]
            rows.append([measure, of_measure["topics"], variance["median"], variance["highest"], *needed, smallest])
        goal = (
            f"a difference of {settings['difference']:g} with a chance of {settings['power']:g} at level {settings['alpha']:g}"
            if settings["width"] is None
            else f"intervals of the difference at most {settings['width']:g} wide"
        )
        header = ["measure", "topics here", "variance, median pair", "highest", "topics needed", "for the highest", "seen here"]
        noise = [
            [measure, labels["topics"], labels["as_judged"], *labels["per_pair"].values(), labels["tau"]]
            for measure in map(str, options["measures"])
            if (labels := result[measure]["labels"])
        ]
        told = "" if not noise else LABELS + text_table(["measure", "by topics", "by labels", *(f"{n} a pair" for n in PER_PAIR), "tau"], noise)
        return (
            f"For {goal}, by the paired t-test on topics.\n\n{text_table(header, rows)}\n\n"
            f"seen here: the smallest true difference that the topics at hand show with a chance of {settings['power']:g}, median pair. The variances "
            f"are estimates themselves; other systems or topics have others.{told}"
        )


def noise_of_labels(command: OfCampaign, runs: list[str], options: Mapping[str, Any], seed: int) -> dict[str, dict[str, Any]]:
    """By measure: standard errors of a difference of two systems (median pair) by topics, by labels as they were judged and with other
    numbers of judgements a pair; tau: of the ranking under labels drawn anew with that under the labels, mean."""
    judgements = read_judgements(options["judgements"], scale=options["scale"])
    for warning in judgements.warnings:
        command.warn(warning)
    table, _ = counted(judgements, n_grades=options["scale"])
    measures = options["measures"]
    noisy = NoisyLabels(table, all_runs(command, runs, options), measures, level=options["level"])
    if not len(noisy.qrels.grades):
        raise BadInput(f"{options['judgements']}: no pair has two judgements, so there are no labels whose noise could be told")
    rng = np.random.default_rng(seed)
    drawn = {n: noisy.trials(options["label_trials"], rng, per_pair=n) for n in (None, *PER_PAIR)}
    observed, by_topics = noisy.means(noisy.qrels.grades), noisy.errors_by_topics()
    return {
        str(measure): {
            "topics": by_topics[column],
            "as_judged": float(np.median(error_of_differences(drawn[None][:, :, column]))),
            "per_pair": {str(n): float(np.median(error_of_differences(drawn[n][:, :, column]))) for n in PER_PAIR},
            "tau": float(np.nanmean([tau_b(observed[:, column], means) for means in drawn[None][:, :, column]])),
            "pairs": len(noisy.qrels.grades),
        }
        for column, measure in enumerate(measures)
    }


def planned(
    variances: np.ndarray, n: int, power: float, alpha: float, difference: float | None, width: float | None
) -> Mapping[str, Any]:
    """variances: float64 (n_pairs), of the differences over topics."""
    middle, highest = float(np.median(variances)), float(variances.max())

    def topics(variance: float) -> int | None:
        sd = math.sqrt(variance)
        if width is not None:
            return topics_for_width(width, sd, alpha=alpha)
        return topics_for_power(difference or DIFFERENCE, sd, wanted=power, alpha=alpha)

    return {
        "variance": {"median": middle, "lowest": float(variances.min()), "highest": highest, "pairs": len(variances)},
        "topics": n,
        "topics_needed": topics(middle),
        "topics_needed_highest": topics(highest),
        "smallest_difference": smallest_difference(math.sqrt(middle), n, wanted=power, alpha=alpha),
        "labels": None,
    }
