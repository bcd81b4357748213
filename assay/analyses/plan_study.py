"""`manage.py plan_study QRELS RUN...`: how many topics the next study needs, from the variances of
this one."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.judged_files import DEFAULT_SCALE, at_least_two
from assay.analyses.shared.measures import (
    all_runs,
    measure_list,
    one_qrels,
)
from assay.analyses.shared.planning import (
    DEPTHS,
    Topics,
    depth_list,
    depths_of,
    depths_text,
    judged_table,
    labels_text,
    many,
    noise_of_labels,
    noisy_labels,
)
from assay.analyses.shared.reading import Reading, alpha_option, measures_option
from assay.cli.base import BadInput, text_table
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.system_comparison import (
    smallest_difference,
    topics_for_power,
    topics_for_width,
)
from assay.counts import counted as number_of
from assay.labels.label_noise import spread_of_differences
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import Measure
from assay.options import add_options, option

MEASURES = "nDCG@10 AP"
DIFFERENCE = 0.05


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(MEASURES, measure_list)
    difference: float | None = option(
        None,
        "Difference to be found",
        help=f"true mean difference that is to be found (default {DIFFERENCE})",
        hint=f"Of two means, in truth. Empty: {DIFFERENCE}.",
        least=0,
        most=1,
        metavar="X",
    )
    width: float | None = option(
        None,
        "Or: width of its interval",
        help="maximum width of the confidence interval, instead of --difference",
        hint="At most so wide; then no difference is given.",
        least=0,
        most=1,
        metavar="X",
    )
    power: float = option(
        0.8,
        "Chance of finding it",
        help="chance of finding the difference",
        least=0,
        most=1,
        metavar="P",
    )
    alpha: float = alpha_option()
    label_trials: int = option(
        200,
        "Labellings drawn",
        help="labellings drawn from them",
        least=1,
        most_in_form=100_000,
    )


class Command(ByTopicGroup, OfCampaign):
    help = (
        "Topics that a study needs to see a difference, or to give an interval of a width, from "
        "the variances of runs at hand."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        add_options(parser, Options)
        parser.add_argument(
            "--judgements",
            metavar="FILE",
            help="the single judgements (topic, document, annotator, grade): how much of the differences is noise of "
            "labels, and what more judgements a pair would buy (--campaign has its own)",
        )
        parser.add_argument(
            "--scale",
            type=at_least_two,
            metavar="N",
            help=f"grades of these judgements (default {DEFAULT_SCALE})",
        )
        parser.add_argument(
            "--depths",
            type=depth_list,
            default=DEPTHS,
            metavar="K,K",
            help="pools of these runs (default 1,2,3,5,10,20,50,100)",
        )

    def compute(
        self,
        *,
        qrels: str,
        runs: list[str],
        power: float,
        alpha: float,
        difference: float | None,
        width: float | None,
        seed: int,
        **options: Any,
    ) -> dict[str, Any]:
        if difference is not None and width is not None:
            raise BadInput("--difference and --width are two questions, expected one of them")
        for name, value in (
            ("--power", power),
            ("--alpha", alpha),
            ("--difference", difference),
            ("--width", width),
        ):
            if value is not None and not 0 < value < 1:
                raise BadInput(f"{name} {value:g}, expected a number between 0 and 1")
        if power <= alpha:
            raise BadInput(
                f"--power {power:g} is not above --alpha {alpha:g}: no topics are needed for that"
            )
        if len(runs) < 2:
            raise BadInput("the variance of a difference needs two runs or more")
        wanted = DIFFERENCE if difference is None and width is None else difference
        judged = one_qrels(self, qrels)
        columns = all_runs(self, runs, options)
        how = {name: options[name] for name in ("level", "topics", "only_with_relevant")}
        evaluator = Evaluator(judged, options["measures"], **how)
        evaluations = [evaluator.evaluate(run) for run in columns]
        counts = np.asarray(
            ~np.isnan([evaluation.values for evaluation in evaluations]).any(axis=(0, 2))
        )
        result: dict[str, Any] = {}
        undefined: dict[str, str] = {}
        for column, measure in enumerate(options["measures"]):
            values = np.column_stack(
                [evaluation.values[counts, column] for evaluation in evaluations]
            )
            if len(values) < 2:
                undefined[str(measure)] = (
                    f"{number_of(len(values), 'topic', 'counts', 'count')} for all runs, but a variance needs two"
                )
                result[str(measure)] = NOT_PLANNED
                continue
            variances = spread_of_differences(values.T) ** 2
            if not variances.any():
                undefined[str(measure)] = (
                    f"the differences of no pair of runs vary over {number_of(len(values), 'topic')}"
                )
                result[str(measure)] = NOT_PLANNED
                continue
            result[str(measure)] = planned(variances, len(values), power, alpha, wanted, width)
        result["settings"] = {"power": power, "alpha": alpha, "difference": wanted, "width": width}
        needed = topics_needed(power, alpha, wanted, width)
        self.add_labels(result, undefined, judged, columns, counts, needed, options, seed)
        self.add_depths(
            result, undefined, judged, columns, evaluations, counts, needed, options, power, alpha
        )
        if undefined:
            result["undefined"] = undefined
        return result

    def add_labels(
        self,
        result: dict[str, Any],
        undefined: dict[str, str],
        judged: QrelsColumns,
        runs: list[RunColumns],
        counts: NDArray[np.bool_],
        needed: Topics,
        options: Mapping[str, Any],
        seed: int,
    ) -> None:
        """The noise of labels by measure, or why not."""
        table = judged_table(self, options)
        if table is None:
            why = (
                "a majority of single judgements"
                if options["campaign"]
                else "the single judgements (--judgements FILE), which qrels do not have"
            )
            undefined["labels"] = f"what more judgements per pair would buy needs {why}"
            return
        noisy = noisy_labels(
            table,
            judged,
            runs,
            options["measures"],
            level=options["level"],
            source=options["judgements"] or "the campaign",
            warn=self.warn,
        )
        counting = {judged.topics[number] for number in np.flatnonzero(counts)}
        noise = noise_of_labels(
            noisy, counting, trials=options["label_trials"], seed=seed, topics=needed
        )
        if not noise:
            undefined["labels"] = "no topic that counts has a pair with two judgements"
        for measure, labels in noise.items():
            result[measure]["labels"] = labels

    def add_depths(
        self,
        result: dict[str, Any],
        undefined: dict[str, str],
        judged: QrelsColumns,
        runs: list[RunColumns],
        evaluations: list[Evaluation],
        counts: NDArray[np.bool_],
        needed: Topics,
        options: Mapping[str, Any],
        power: float,
        alpha: float,
    ) -> None:
        """The pools of other depths by measure, or why not."""
        asked = [
            k
            for k, measure in enumerate(options["measures"])
            if result[str(measure)]["variance"] and measure.family != "infAP"
        ]
        undefined |= {
            f"{m} by depth": "it takes what nobody judged as not drawn"
            for m in options["measures"]
            if m.family == "infAP"
        }
        if not asked:
            return
        measures = [options["measures"][k] for k in asked]
        means = np.column_stack(
            [[np.mean(evaluation.values[counts, k]) for evaluation in evaluations] for k in asked]
        )
        by_depth = depths_of(
            judged,
            runs,
            measures,
            options["depths"],
            counts,
            means,
            level=options["level"],
            topics=needed,
            power=power,
            alpha=alpha,
        )
        for measure, depths in by_depth.items():
            result[measure]["depths"] = depths

    def table(self, result: dict[str, Any], **options: Any) -> str:
        settings, rows = result["settings"], []
        for measure in map(str, options["measures"]):
            of_measure = result[measure]
            if of_measure["variance"] is None:
                rows.append([measure, *["-"] * 6])
                continue
            variance, smallest = of_measure["variance"], of_measure["smallest_difference"]
            needed = [
                many(n) for n in (of_measure["topics_needed"], of_measure["topics_needed_highest"])
            ]
            rows.append(
                [
                    measure,
                    of_measure["topics"],
                    variance["median"],
                    variance["highest"],
                    *needed,
                    smallest,
                ]
            )
        goal = (
            (
                f"a difference of {settings['difference']:g} with a chance of {settings['power']:g} "
                f"at level {settings['alpha']:g}"
            )
            if settings["width"] is None
            else f"intervals of the difference at most {settings['width']:g} wide"
        )
        header = [
            "measure",
            "topics here",
            "variance, median pair",
            "highest",
            "topics needed",
            "for the highest",
            "seen here",
        ]
        measures = [str(measure) for measure in options["measures"]]
        why = "".join(
            f"{chr(10)}{name}: {reason}."
            for name, reason in result.get("undefined", {}).items()
            if name in measures
        )
        told = [
            text for text in (labels_text(result, measures), depths_text(result, measures)) if text
        ]
        return (
            f"For {goal}, by the paired t-test on topics.\n\n{text_table(header, rows)}{why}\n\n"
            f"seen here: the smallest true difference that the topics at hand show with a chance "
            f"of {settings['power']:g}, median pair. The variances "
            f"are estimates themselves; other systems or topics have "
            f"others.{''.join(f'{chr(10)}{chr(10)}{text}' for text in told)}"
        )


NOT_PLANNED = {
    "variance": None,
    "topics_needed": None,
    "smallest_difference": None,
    "labels": None,
    "depths": None,
}


def planned(
    variances: np.ndarray,
    n: int,
    power: float,
    alpha: float,
    difference: float | None,
    width: float | None,
) -> Mapping[str, Any]:
    """variances: float64 (n_pairs), of the differences over topics."""
    middle, highest = float(np.median(variances)), float(variances.max())
    topics = topics_needed(power, alpha, difference, width)
    return {
        "variance": {
            "median": middle,
            "lowest": float(variances.min()),
            "highest": highest,
            "pairs": len(variances),
        },
        "topics": n,
        "topics_needed": topics(math.sqrt(middle)),
        "topics_needed_highest": topics(math.sqrt(highest)),
        "smallest_difference": smallest_difference(math.sqrt(middle), n, wanted=power, alpha=alpha),
        "labels": None,
        "depths": None,
    }


def topics_needed(
    power: float, alpha: float, difference: float | None, width: float | None
) -> Topics:
    """Of a standard deviation over topics: the topics for the width of the interval where one is
    asked for, else for the difference."""

    def topics(sd: float) -> float | None:
        if width is not None:
            return topics_for_width(width, sd, alpha=alpha)
        return topics_for_power(difference or DIFFERENCE, sd, wanted=power, alpha=alpha)

    return topics
