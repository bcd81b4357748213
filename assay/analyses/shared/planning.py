"""What `plan_study` plans with: noise of the labels, and the pools of other depths.

noise_of_labels(noisy, measures, trials=..., seed=..., plan=...)      by measure; more judgements a
pair in topics
depths_of(qrels, runs, measures, depths, ...)                         by measure and depth
judged_table(command, options)                                        the single judgements of a
file or a campaign
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.judged_files import DEFAULT_SCALE
from assay.cli.base import BadInput, FileCommand, Warn, text_table
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.bootstrap_words import CAVEAT
from assay.comparison.rankings import tau_b
from assay.comparison.system_comparison import smallest_difference
from assay.formats.judgements import read_judgements
from assay.labels.label_noise import (
    NoisyLabels,
    error_of_differences,
    spread_of_differences,
    without_noise_of_labels,
)
from assay.labels.labels import LabelTable, counted
from assay.measures.measures import Measure
from assay.measures.pool_depths import cut_pools

Floats = NDArray[np.float64]
PER_PAIR = (1, 2, 3, 5, 10)
"""Judgements a pair whose noise is told."""
DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
LABELS = (
    "Noise of a difference, median pair of systems: its standard error over topics, and that of "
    "the labels, judgements drawn anew within pairs, as they "
    f"were judged and with other numbers of them. {CAVEAT} tau: mean correlation of the ranking "
    f"with that under labels drawn anew."
)
NEEDED = (
    "Topics needed with so many judgements a pair: the variance over topics holds the noise of "
    "their labels, which is taken out and put in anew."
)
DEEPER = (
    "Pools of these runs, median pair of systems. pairs: a topic's documents in the pool; judged: "
    "the share of them with a grade, the others count as not "
    "relevant; where it is far below 1 this tells nothing of a deeper pool. in all: topics needed "
    "times pairs; topics that do not count come on top. "
    "tau: with the ranking under all of the qrels."
)
Topics = Callable[[float], float | None]
"""(standard deviation of a difference over topics) -> topics needed."""


def depth_list(text: str) -> tuple[int, ...]:
    """For argparse: whole numbers from 1 on with commas between."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ArgumentTypeError(f"{text!r} is no list of depths, as in 1,5,10")
    return tuple(sorted(set(map(int, words))))


def judged_table(command: FileCommand, options: Mapping[str, Any]) -> LabelTable | None:
    """Of --judgements, else of the campaign in whose place the qrels stand; None with neither.
    BadInput for labels that are no majority."""
    path = options["judgements"]
    if path is not None:
        scale = options["scale"] or DEFAULT_SCALE
        judgements = read_judgements(path, scale=scale)
        for warning in judgements.warnings:
            command.warn(warning)
        return counted(judgements, n_grades=scale)[0]
    if options["campaign"] is None or options["method"] != "majority":
        return None
    behind: LabelTable = command.stored_campaigns().judgements_behind(options)
    return behind


def noisy_labels(
    table: LabelTable,
    judged: QrelsColumns,
    runs: Sequence[RunColumns],
    measures: Sequence[Measure],
    *,
    level: int,
    source: str,
    warn: Warn,
) -> NoisyLabels:
    """Score the runs under labels that can be resampled from the judgements.

    source: how messages name the judgements. Warns if the labels are not those of the qrels. Raises
    BadInput if no pair has two judgements."""
    noisy = NoisyLabels(table, runs, measures, level=level)
    if not len(noisy.qrels.grades):
        raise BadInput(
            f"{source}: no pair has two judgements, so there are "
            f"no labels whose noise could be told"
        )
    grades = dict(pairs_of(judged))
    others = sum(grades.get(pair) != grade for pair, grade in pairs_of(noisy.qrels))
    if others:
        warn(
            f"{others} of {len(noisy.qrels.grades)} pairs have another grade in the qrels than "
            f"the majority of their judgements: the noise is that of "
            "labels by majority"
        )
    return noisy


def pairs_of(qrels: QrelsColumns) -> list[tuple[tuple[str, bytes], int]]:
    topics = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets)).tolist()
    names = [qrels.topics[topic] for topic in topics]
    return list(
        zip(zip(names, qrels.documents.tolist(), strict=True), qrels.grades.tolist(), strict=True)
    )


def noise_of_labels(
    noisy: NoisyLabels, counting: Collection[str], *, trials: int, seed: int, topics: Topics
) -> dict[str, dict[str, Any]]:
    """By measure, over the topics of `counting` that have labels; empty where none has. Standard
    errors of a difference of two systems (median pair) by topics, by labels as they were judged and
    with other numbers of judgements a pair; tau: of the ranking under labels drawn anew with that
    under the labels, mean; topics_needed: with so many judgements a pair; pairs: labelled ones of
    these topics."""
    rng = np.random.default_rng(seed)
    counted = np.array([topic in counting for topic in noisy.qrels.topics])
    n_topics = int(counted.sum())
    if not n_topics:
        return {}
    drawn = {n: noisy.trials(trials, rng, counted, per_pair=n) for n in (None, *PER_PAIR)}
    observed = noisy.values()[:, counted]
    answer = {}
    for column, measure in enumerate(noisy.measures):
        values = observed[:, :, column]
        errors = {n: error_of_differences(means[:, :, column]) for n, means in drawn.items()}
        spread = spread_of_differences(values) if n_topics > 1 else None
        needed: dict[str, float | None] = {}
        for n in PER_PAIR:
            if spread is not None:
                needed[str(n)] = topics(
                    float(
                        np.median(
                            without_noise_of_labels(spread, errors[None], errors[n], n_topics)
                        )
                    )
                )
        answer[str(measure)] = {
            "topics": math.nan
            if spread is None
            else float(np.median(spread) / math.sqrt(n_topics)),
            "as_judged": float(np.median(errors[None])),
            "per_pair": {str(n): float(np.median(errors[n])) for n in PER_PAIR},
            "topics_needed": needed,
            "tau": float(
                np.nanmean(
                    [tau_b(values.mean(axis=1), means) for means in drawn[None][:, :, column]]
                )
            ),
            "pairs": int(np.diff(noisy.qrels.offsets)[counted].sum()),
        }
    return answer


def depths_of(
    judged: QrelsColumns,
    runs: Sequence[RunColumns],
    measures: Sequence[Measure],
    depths: Sequence[int],
    counts: NDArray[np.bool_],
    means: Floats,
    *,
    level: int,
    topics: Topics,
    power: float,
    alpha: float,
) -> dict[str, dict[str, Any]]:
    """By measure and depth. counts: bool (n_topics), the topics of the qrels that count. means:
    (n_runs, n_measures) under the qrels as they are. Depths that no run reaches are left out."""
    deepest = max((int(np.diff(run.offsets).max(initial=0)) for run in runs), default=0)
    kept = [depth for depth in depths if depth <= deepest]
    answer: dict[str, dict[str, Any]] = {str(measure): {} for measure in measures}
    for cut in cut_pools(judged, runs, measures, kept, level=level) if kept else ():
        pairs, n_judged = int(cut.pairs[counts].sum()), int(cut.judged[counts].sum())
        for column, measure in enumerate(measures):
            values = cut.values[:, counts, column]
            sd = float(np.median(spread_of_differences(values)))
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
                "smallest_difference": smallest_difference(
                    sd, values.shape[1], wanted=power, alpha=alpha
                ),
                "tau": tau_b(values.mean(axis=1), means[:, column]),
            }
    return answer


def labels_text(result: Mapping[str, Any], measures: Sequence[str]) -> str:
    """Empty where the noise of labels was not asked for."""
    noise = {measure: labels for measure in measures if (labels := result[measure]["labels"])}
    if not noise:
        return ""
    rows = [
        [measure, one["topics"], one["as_judged"], *one["per_pair"].values(), one["tau"]]
        for measure, one in noise.items()
    ]
    needed = [
        [measure, *(many(n) for n in one["topics_needed"].values())]
        for measure, one in noise.items()
        if one["topics_needed"]
    ]
    columns = [f"{n} a pair" for n in PER_PAIR]
    parts = [LABELS, text_table(["measure", "by topics", "by labels", *columns, "tau"], rows)]
    return "\n\n".join(
        parts + ([NEEDED, text_table(["measure", *columns], needed)] if needed else [])
    )


def depths_text(result: Mapping[str, Any], measures: Sequence[str]) -> str:
    """Empty where no depth was computed."""
    rows = [
        [
            measure,
            depth,
            one["pairs"],
            one["judged"],
            one["variance"],
            many(one["topics_needed"]),
            many(one["pairs_needed"]),
            one["tau"],
        ]
        for measure in measures
        for depth, one in (result[measure]["depths"] or {}).items()
    ]
    header = ["measure", "depth", "pairs", "judged", "variance", "topics needed", "in all", "tau"]
    return f"{DEEPER}\n\n{text_table(header, rows)}" if rows else ""


def many(n: float | None) -> str:
    return "more than a million" if n is None else "-" if n != n else f"{n:,}"
