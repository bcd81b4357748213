"""Find annotators without whom the others agree clearly better.

A fixed threshold of kappa does not work: honest annotators differ, and in campaigns with low
agreement many of their confidence intervals contain 0. The test therefore asks whether the pairs of
one annotator are more disputed than other pairs of the same topics, with a correction for the
number of annotators compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.agreement.alpha import krippendorff_alpha
from assay.labels.agreement.annotators import AnnotatorKappa, compute_annotator_kappas
from assay.labels.agreement.raters import count_against_others_by_topic
from assay.labels.labels import LabelTable

MIN_SHARED = 20
"""Minimum number of judgements of pairs that others have judged, too."""
ALPHA = 0.01


@dataclass(frozen=True)
class Outlier:
    """An annotator whose agreement may be chance. alpha, alpha_without: ordinal alpha of the
    judgements with and without theirs. p: corrected for the number of annotators."""

    name: str
    alpha: float
    alpha_without: float
    p: float


def find_outliers(table: LabelTable, people: Sequence[AnnotatorKappa]) -> list[Outlier]:
    """Return annotators whose kappa may be 0 or less, and who disagree with the others more than
    chance explains (Assay-specific, a permutation test with the normal approximation and
    Bonferroni's correction at a family-wise error rate of 1%).

    people: agreement of the annotators of the table. The annotator with the greatest excess of
    disagreement is tested first. If it is significant, the test is repeated without these
    judgements, because honest annotators who shared pairs with them disagree with them as well.
    """
    outliers: list[Outlier] = []
    while (worst := _find_worst(table, people)) is not None:
        outliers.append(worst)
        table = table.exclude_annotators({worst.name})
        people = compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))
    return outliers


def _find_worst(table: LabelTable, people: Sequence[AnnotatorKappa]) -> Outlier | None:
    """Return the annotator with the greatest excess of disagreement among those whose interval of
    kappa contains 0, or None if it is not significant."""
    suspects = [
        table.annotators.index(person.name)
        for person in people
        if person.n >= MIN_SHARED and not person.over_pairs.reason and person.over_pairs.low <= 0
    ]
    if not suspects:
        return None
    excess = compute_excess_disagreement(table)
    worst = max(suspects, key=lambda i: float(excess[i]))
    p = min(1.0, float(scipy.special.ndtr(-excess[worst])) * int(np.isfinite(excess).sum()))
    without = table.counts.copy()
    own = table.annotator == worst
    np.subtract.at(without, (table.pair[own], table.grade[own]), 1)
    alpha, alpha_without = (
        krippendorff_alpha(counts, level="ordinal") for counts in (table.counts, without)
    )
    if not (p <= ALPHA and alpha_without > alpha):
        return None
    return Outlier(table.annotators[worst], alpha, alpha_without, p)


def compute_excess_disagreement(table: LabelTable) -> NDArray[np.float64]:
    """Return (n_annotators), the sum of each annotator's distances from the other judgements of the
    same pairs, standardised by its exact mean and variance if judgements are exchanged at random.

    Distances are those of ordinal alpha. Whole pairs are exchanged within a topic among pairs with
    as many judgements, and judgements within a pair. -inf for annotators with fewer than MIN_SHARED
    compared judgements or without variance.
    """
    rows = table.judgements_per_pair[table.pair] > 1
    pair, annotator, grade = table.pair[rows], table.annotator[rows], table.grade[rows]
    n = table.judgements_per_pair[pair]
    marginals = table.counts[table.judgements_per_pair > 1].sum(axis=0)
    middles = marginals.cumsum() - marginals / 2
    distance = (middles[:, None] - middles[None, :]) ** 2
    own = (table.counts[pair] @ distance)[np.arange(len(pair)), grade] / (n - 1)
    topic = table.pair_topic[pair].astype(np.int64)
    stratum = np.unique(topic * (int(n.max(initial=0)) + 1) + n, return_inverse=True)[1]
    size = np.bincount(stratum)
    own = own - (np.bincount(stratum, own) / size)[stratum]
    of_pair = (
        np.bincount(pair, own, minlength=table.n_pairs) / np.maximum(table.judgements_per_pair, 1)
    )[pair]
    variance, between = np.bincount(stratum, own**2) / size, np.bincount(stratum, of_pair**2) / size
    n_pairs = np.bincount(stratum, 1 / n)
    # judgements of each annotator in each stratum: k draws from distinct pairs
    cells, k = np.unique(annotator.astype(np.int64) * len(size) + stratum, return_counts=True)
    who, s = cells // max(len(size), 1), cells % max(len(size), 1)
    drawn = k * variance[s] - k * (k - 1) * between[s] / np.maximum(n_pairs[s] - 1, 1)
    total = np.bincount(annotator, own, minlength=table.n_annotators)
    spread = np.sqrt(np.maximum(np.bincount(who, drawn, minlength=table.n_annotators), 0))
    known = (np.bincount(annotator, minlength=table.n_annotators) >= MIN_SHARED) & (
        spread > 1e-9 * np.abs(total).max(initial=1)
    )
    return np.where(known, total / np.where(known, spread, 1), -np.inf)
