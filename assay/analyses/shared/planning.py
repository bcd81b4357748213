"""Effects of label noise and of other pool depths, which `plan study` computes in addition to
sample sizes.

compute_label_noise(noisy, counting, ...)            by measure
compute_depths(qrels, runs, measures, depths, ...)   by measure and depth
read_label_table(command, options)                   judgements of a file or a campaign
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.judged_files import DEFAULT_SCALE
from assay.cli.base import BadInput, FileCommand, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.rankings import tau_b
from assay.comparison.system_comparison import detectable_difference
from assay.formats.judgements import read_judgements
from assay.labels.label_noise import (
    NoisyLabels,
    adjust_for_label_noise,
    difference_deviations,
    difference_errors,
)
from assay.labels.labels import LabelTable, select_counted
from assay.measures.measures import Measure
from assay.measures.pool_depths import evaluate_cut_pools

Floats = NDArray[np.float64]
JUDGEMENTS_PER_PAIR = (1, 2, 3, 5, 10)
"""Numbers of judgements per pair for which label noise is estimated."""
DEFAULT_DEPTHS = "1,2,3,5,10,20,50,100"
Topics = Callable[[float], float | None]
"""(standard deviation of a difference over topics) -> number of topics needed."""


def parse_depths(text: str) -> tuple[int, ...]:
    """Parse comma-separated whole numbers of at least 1, for argparse."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ArgumentTypeError(f"{text!r} is not a list of depths such as 1,5,10")
    return tuple(sorted(set(map(int, words))))


def read_label_table(command: FileCommand, options: Mapping[str, Any]) -> LabelTable | None:
    """Return the judgements of --judgements or of the campaign used as qrels. None with neither,
    and for a campaign whose labels are not by majority."""
    path = options["judgements"]
    if path is not None:
        scale = options["grades"] or DEFAULT_SCALE
        judgements = read_judgements(path, scale=scale)
        for warning in judgements.warnings:
            command.warn(warning)
        return select_counted(judgements, n_grades=scale)[0]
    if options["campaign"] is None or options["method"] != "majority":
        return None
    behind: LabelTable = command.stored_campaigns().read_label_judgements(options)
    return behind


def make_noisy_labels(
    table: LabelTable,
    judged: QrelsColumns,
    runs: Sequence[RunColumns],
    measures: Sequence[Measure],
    *,
    min_relevant: int,
    source: str,
    warn: Warn,
) -> NoisyLabels:
    """Score the runs under labels that can be resampled from the judgements.

    source: how messages name the judgements. Warns if the labels are not those of the qrels. Raises
    BadInput if no pair has two judgements."""
    noisy = NoisyLabels(table, runs, measures, min_relevant=min_relevant)
    if not len(noisy.qrels.grades):
        raise BadInput(f"{source}: no pair has two judgements, so label noise cannot be estimated")
    grades = dict(list_graded_pairs(judged))
    others = sum(grades.get(pair) != grade for pair, grade in list_graded_pairs(noisy.qrels))
    if others:
        warn(
            f"{others} of {len(noisy.qrels.grades)} pairs have a different grade in the qrels "
            "than the majority of their judgements; label noise is estimated for labels by "
            "majority"
        )
    return noisy


def list_graded_pairs(qrels: QrelsColumns) -> list[tuple[tuple[str, bytes], int]]:
    topics = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets)).tolist()
    names = [qrels.topics[topic] for topic in topics]
    return list(
        zip(zip(names, qrels.documents.tolist(), strict=True), qrels.grades.tolist(), strict=True)
    )


def compute_label_noise(
    noisy: NoisyLabels, counting: Collection[str], *, trials: int, seed: int, topics: Topics
) -> dict[str, dict[str, Any]]:
    """Estimate label noise by measure, over the topics of `counting` with labels. Empty if there
    are none.

    Standard errors of the difference of two systems (median pair of systems): `topics`, due to
    topics, `as_judged`, due to the current labels, and `per_pair`, due to labels with other numbers
    of judgements per pair. `topics_needed`: number of topics needed with these numbers. `tau`: mean
    tau between rankings under resampled and original labels. `pairs`: number of labelled pairs of
    these topics.
    """
    rng = np.random.default_rng(seed)
    counted = np.array([topic in counting for topic in noisy.qrels.topics])
    n_topics = int(counted.sum())
    if not n_topics:
        return {}
    drawn = {
        n: noisy.run_trials(trials, rng, counted, per_pair=n) for n in (None, *JUDGEMENTS_PER_PAIR)
    }
    observed = noisy.compute_scores()[:, counted]
    answer = {}
    for column, measure in enumerate(noisy.measures):
        values = observed[:, :, column]
        errors = {n: difference_errors(means[:, :, column]) for n, means in drawn.items()}
        spread = difference_deviations(values) if n_topics > 1 else None
        needed: dict[str, float | None] = {}
        for n in JUDGEMENTS_PER_PAIR:
            if spread is not None:
                needed[str(n)] = topics(
                    float(
                        np.median(adjust_for_label_noise(spread, errors[None], errors[n], n_topics))
                    )
                )
        answer[str(measure)] = {
            "topics": math.nan
            if spread is None
            else float(np.median(spread) / math.sqrt(n_topics)),
            "as_judged": float(np.median(errors[None])),
            "per_pair": {str(n): float(np.median(errors[n])) for n in JUDGEMENTS_PER_PAIR},
            "topics_needed": needed,
            "tau": float(
                np.nanmean(
                    [tau_b(values.mean(axis=1), means) for means in drawn[None][:, :, column]]
                )
            ),
            "pairs": int(np.diff(noisy.qrels.offsets)[counted].sum()),
        }
    return answer


def compute_depths(
    judged: QrelsColumns,
    runs: Sequence[RunColumns],
    measures: Sequence[Measure],
    depths: Sequence[int],
    counts: NDArray[np.bool_],
    means: Floats,
    *,
    min_relevant: int,
    topics: Topics,
    power: float,
    alpha: float,
) -> dict[str, dict[str, Any]]:
    """Estimate by measure and depth how well the pool cut to that depth distinguishes systems.
    Depths that no run reaches are left out.

    counts: bool (n_topics), topics of the qrels that count. means: (n_runs, n_measures), under the
    original qrels.
    """
    deepest = max((int(np.diff(run.offsets).max(initial=0)) for run in runs), default=0)
    kept = [depth for depth in depths if depth <= deepest]
    answer: dict[str, dict[str, Any]] = {str(measure): {} for measure in measures}
    for cut in (
        evaluate_cut_pools(judged, runs, measures, kept, min_relevant=min_relevant) if kept else ()
    ):
        pairs, n_judged = int(cut.pairs[counts].sum()), int(cut.judged[counts].sum())
        for column, measure in enumerate(measures):
            values = cut.values[:, counts, column]
            sd = float(np.median(difference_deviations(values)))
            needed, per_topic = topics(sd), pairs / values.shape[1]
            answer[str(measure)][str(cut.depth)] = {
                "pairs": per_topic,
                "judged": n_judged / pairs if pairs else math.nan,
                "variance": sd**2,
                "topics_needed": needed,
                "pairs_needed": None
                if needed is None
                else needed
                if needed != needed
                else math.ceil(needed * per_topic),
                "smallest_difference": detectable_difference(
                    sd, values.shape[1], target_power=power, alpha=alpha
                ),
                "tau": tau_b(values.mean(axis=1), means[:, column]),
            }
    return answer
