"""Plan the sample size of a study from the variances of an existing one (Sakai 2018)."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.comparison_tables import (
    noise_chart,
    noise_table,
    planning_chart,
    planning_table,
)
from assay.analyses.shared.judged_files import scale_option
from assay.analyses.shared.measures import parse_measure_list, read_one_qrels, read_runs
from assay.analyses.shared.planning import (
    DEFAULT_DEPTHS,
    Topics,
    compute_depths,
    compute_label_noise,
    make_noisy_labels,
    parse_depths,
    read_label_table,
)
from assay.analyses.shared.planning_tables import depths_chart, depths_table, labels_table
from assay.analyses.shared.reading import EvaluationOptions, alpha_option, measures_option
from assay.charts.svg import Picture
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.system_comparison import (
    detectable_difference,
    topics_for_power,
    topics_for_width,
)
from assay.labels.label_noise import difference_deviations
from assay.labels.labels import LabelTable
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import Measure
from assay.number_words import format_count as number_of
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Table

MEASURES = "nDCG@10 AP"
DIFFERENCE = 0.05
NO_JUDGEMENTS = "the individual judgements (--judgements FILE), which qrels do not contain"


@dataclass(frozen=True)
class Options(EvaluationOptions):
    measures: list[Measure] = measures_option(MEASURES, parse_measure_list)
    difference: float | None = option(
        None,
        "Difference to detect",
        help=f"true mean difference to detect (default: {DIFFERENCE})",
        hint=f"True difference of two means. Leave empty for {DIFFERENCE}.",
        least=0,
        most=1,
        strict=True,
        metavar="X",
    )
    width: float | None = option(
        None,
        "Maximum width of the confidence interval",
        help="maximum width of the confidence interval, instead of --difference",
        hint="Alternative to the difference, which must then be empty.",
        least=0,
        most=1,
        strict=True,
        metavar="X",
    )
    power: float = option(
        0.8,
        "Power",
        help="power, the probability of detecting the difference",
        least=0,
        most=1,
        strict=True,
        metavar="P",
    )
    alpha: float = alpha_option()
    grades: int = scale_option(
        "Grades of these judgements", help="number of grades of --judgements"
    )
    label_trials: int = option(
        200,
        "Simulated labellings",
        help="number of sets of labels resampled from the judgements",
        least=1,
        most_in_form=100_000,
    )
    depths: tuple[int, ...] = option(
        DEFAULT_DEPTHS,
        "Pool depths",
        help="comma-separated depths of pools of these runs",
        hint="Comma-separated. Shows what a shallower or deeper pool would change.",
        read=parse_depths,
        metavar="K,K",
        kind="text",
    )


def compute(
    qrels: QrelsColumns,
    runs: Sequence[RunColumns],
    options: Options,
    *,
    judgements: LabelTable | None = None,
    source: str = "the judgements",
    no_judgements: str = NO_JUDGEMENTS,
    seed: int = 0,
    warn: Warn,
) -> Values:
    """Estimate the number of topics that the paired t-test needs, for each measure.

    judgements: the judgements behind the qrels, to estimate label noise. source: name of the
    judgements in messages. no_judgements: what is missing without them. seed: for the resampled
    labels. The number of topics is None above a million, and NaN if the differences do not vary. A
    measure without variance has the reason in `undefined`. Raises BadInput for contradicting
    options and for fewer than two runs. Source: Sakai (2018).
    """
    refuse_contradictions(options, len(runs))
    wanted = (
        DIFFERENCE if options.difference is None and options.width is None else options.difference
    )
    evaluator = Evaluator(
        qrels,
        options.measures,
        min_relevant=options.min_relevant,
        missing_topics=options.missing_topics,
        only_with_relevant=options.only_with_relevant,
    )
    evaluations = [evaluator.evaluate(run) for run in runs]
    counts = np.asarray(
        ~np.isnan([evaluation.values for evaluation in evaluations]).any(axis=(0, 2))
    )
    needed = make_topics_solver(options.power, options.alpha, wanted, options.width)
    result: Values = {}
    undefined: dict[str, str] = {}
    for column, measure in enumerate(map(str, options.measures)):
        values = np.column_stack([evaluation.values[counts, column] for evaluation in evaluations])
        planned = _plan_measure(values, options, needed)
        if isinstance(planned, str):
            undefined[measure], planned = planned, NOT_PLANNED
        result[measure] = dict(planned)
    result["settings"] = {
        "power": options.power,
        "alpha": options.alpha,
        "difference": wanted,
        "width": options.width,
    }
    if judgements is None:
        undefined["labels"] = f"the value of additional judgements per pair needs {no_judgements}"
    else:
        noisy = make_noisy_labels(
            judgements,
            qrels,
            runs,
            options.measures,
            min_relevant=options.min_relevant,
            source=source,
            warn=warn,
        )
        counting = {qrels.topics[number] for number in np.flatnonzero(counts)}
        noise = compute_label_noise(
            noisy, counting, trials=options.label_trials, seed=seed, topics=needed
        )
        if not noise:
            undefined["labels"] = "no topic that counts has a pair with two judgements"
        for name, labels in noise.items():
            result[name]["labels"] = labels
    _add_depths(result, undefined, qrels, runs, evaluations, counts, needed, options)
    return result | ({"undefined": undefined} if undefined else {})


def refuse_contradictions(options: Options, n_runs: int) -> None:
    if options.difference is not None and options.width is not None:
        raise BadInput("--difference and --width cannot be used together; give one of them")
    if options.power <= options.alpha:
        raise BadInput(f"--power {options.power:g} must be greater than --alpha {options.alpha:g}")
    if n_runs < 2:
        raise BadInput("the variance of a difference needs at least two runs")


def _add_depths(
    result: Values,
    undefined: dict[str, str],
    qrels: QrelsColumns,
    runs: Sequence[RunColumns],
    evaluations: Sequence[Evaluation],
    counts: NDArray[np.bool_],
    needed: Topics,
    options: Options,
) -> None:
    """Add the results for pools of other depths by measure, or the reason why there are none."""
    undefined |= {
        f"{measure} by depth": "it counts unjudged documents as not drawn"
        for measure in options.measures
        if measure.family == "infAP"
    }
    asked = [
        k
        for k, measure in enumerate(options.measures)
        if result[str(measure)]["variance"] and measure.family != "infAP"
    ]
    if not asked:
        return
    means = np.column_stack(
        [[np.mean(evaluation.values[counts, k]) for evaluation in evaluations] for k in asked]
    )
    by_depth = compute_depths(
        qrels,
        runs,
        [options.measures[k] for k in asked],
        options.depths,
        counts,
        means,
        min_relevant=options.min_relevant,
        topics=needed,
        power=options.power,
        alpha=options.alpha,
    )
    for measure, depths in by_depth.items():
        result[measure]["depths"] = depths


NOT_PLANNED: Mapping[str, Any] = dict.fromkeys(
    ("variance", "topics_needed", "smallest_difference", "labels", "depths")
)


def _plan_measure(
    values: NDArray[np.float64], options: Options, needed: Topics
) -> Mapping[str, Any] | str:
    """Return the plan for one measure, or the reason why there is none.

    values: float64 (n_topics, n_runs), without NaN.
    """
    n = len(values)
    if n < 2:
        return f"{number_of(n, 'topic', 'counts', 'count')} for all runs; a variance needs at least two"
    variances = difference_deviations(values.T) ** 2
    if not variances.any():
        return f"the differences of no pair of runs vary over {number_of(n, 'topic')}"
    middle, highest = float(np.median(variances)), float(variances.max())
    return {
        "variance": {
            "median": middle,
            "lowest": float(variances.min()),
            "highest": highest,
            "pairs": len(variances),
        },
        "topics": n,
        "topics_needed": needed(math.sqrt(middle)),
        "topics_needed_highest": needed(math.sqrt(highest)),
        "smallest_difference": detectable_difference(
            math.sqrt(middle), n, target_power=options.power, alpha=options.alpha
        ),
        "labels": None,
        "depths": None,
    }


def make_topics_solver(
    power: float, alpha: float, difference: float | None, width: float | None
) -> Topics:
    """Return a function from the standard deviation over topics to the number of topics needed for
    the interval's width, if given, or else for the difference."""

    def topics(sd: float) -> float | None:
        if width is not None:
            return topics_for_width(width, sd, alpha=alpha)
        return topics_for_power(difference or DIFFERENCE, sd, target_power=power, alpha=alpha)

    return topics


def result_tables(result: Values) -> list[Table]:
    further = (
        noise_table("noise", result),
        labels_table("judgements", result),
        depths_table("depths", result),
    )
    return [planning_table("planning", result), *(table for table in further if table is not None)]


def result_charts(result: Values) -> list[Picture]:
    return [*planning_chart(result), *noise_chart(result), *depths_chart(result)]


class Command(TopicGroupCommand, CampaignCommand):
    help = (
        "Plan the sample size of a study from the variances of existing runs (power analysis). "
        "Report the number of topics for detecting a difference, or for a confidence interval of "
        "a given width."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        add_options(parser, Options)
        parser.add_argument(
            "--judgements",
            metavar="FILE",
            help=(
                "file of individual judgements (topic, document, annotator, grade), for "
                "estimating label noise and the value of additional judgements per pair (not "
                "needed with --campaign)"
            ),
        )

    def compute(self, *, qrels: str, runs: list[str], seed: int, **option_values: Any) -> Values:
        options = Options.from_mapping(option_values)
        refuse_contradictions(options, len(runs))  # fail before files are read
        judged = read_one_qrels(self, qrels)
        columns = read_runs(self, runs, option_values)
        return compute(
            judged,
            columns,
            options,
            judgements=read_label_table(self, option_values),
            source=option_values["judgements"] or "the campaign",
            no_judgements="a majority of individual judgements"
            if option_values["campaign"]
            else NO_JUDGEMENTS,
            seed=seed,
            warn=self.warn,
        )
