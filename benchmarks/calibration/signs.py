"""How often honest annotators, and one who answers at random, are flagged as agreeing no better
than chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from assay.campaigns.outlier_annotators import find_outliers
from assay.labels.agreement.annotators import compute_annotator_kappas
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.agreement.raters import AnnotatorTopicCounts

NOISE = {0.2: 0.66, 0.5: 0.28, 0.8: 0.055}
"""Kappa (linear, four grades) with the label by the others -> share of the variance of a judgement
that is the annotator's own."""


class SignRates(NamedTuple):
    """Shares of honest annotators with the flag, of the same by the former rule, and of random
    annotators with it. kappa: mean of the honest annotators."""

    honest: float
    before: float
    at_random: float
    kappa: float


TOPIC_EFFECT, OWN_SHIFT = 0.6, 0.5
"""With topics: share of a pair's relevance that is common to the topic, and standard deviation of
an annotator's shift on all pairs of a topic."""


def measure_sign_rates(
    base: float,
    *,
    annotators: int,
    pairs: int,
    campaigns: int,
    rng: np.random.Generator,
    random_too: bool,
    topics: int = 0,
) -> SignRates:
    """Simulate campaigns of honest annotators of different care, with `pairs` pairs each, and
    optionally one who answers at random.

    topics: number of topics with equal shares of the pairs, or 0 for pairs without topics.
    """
    honest, before, at_random, kappas = [], [], [], []
    borders = stats.norm.ppf([0.25, 0.5, 0.75])
    for _ in range(campaigns):
        joint = np.zeros((annotators, 4, 4), dtype=np.int64)
        for k in range(annotators):
            noise = NOISE[base] * rng.uniform(0.8, 1.2)
            truth, shift = rng.standard_normal(pairs), np.zeros(pairs)
            if topics:
                place = np.arange(pairs) % topics
                truth = (
                    np.sqrt(1 - TOPIC_EFFECT) * truth
                    + np.sqrt(TOPIC_EFFECT) * rng.standard_normal(topics)[place]
                )
                shift = OWN_SHIFT * rng.standard_normal(topics)[place]
            truth *= np.sqrt(1 - noise)
            own = truth + shift + np.sqrt(noise) * rng.standard_normal(pairs)
            if random_too and k == 0:
                own = rng.standard_normal(pairs)
            label = truth + np.sqrt(noise) * rng.standard_normal(pairs)
            joint[k] = np.bincount(
                np.searchsorted(borders, own) * 4 + np.searchsorted(borders, label), minlength=16
            ).reshape(4, 4)
        people = compute_annotator_kappas(
            [f"a{k}" for k in range(annotators)], AnnotatorTopicCounts(np.arange(annotators), joint)
        )
        below = find_outliers(people)
        for k, person in enumerate(people):
            sign = below[person.name] and person.interval.low <= 0
            if random_too and k == 0:
                at_random.append(sign)
                continue
            honest.append(sign)
            before.append(person.interval.low < 0.1 and person.interval.high < 0.35)
            kappas.append(float(cohen_kappa(person.confusion, weighted=True)))
    share = float(np.mean(at_random)) if at_random else float("nan")
    return SignRates(
        float(np.mean(honest)), float(np.mean(before)), share, float(np.nanmean(kappas))
    )
