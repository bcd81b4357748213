"""Estimate how much human work an LLM judge's labels would save, from pairs that both have
labelled.

    use = compute_usefulness(people, llm, topic, min_relevant=min_relevant)

If both labels have correlation ρ, an estimate from n pairs judged by people and corrected by the
LLM judge is as precise as one from n / (1 - ρ²) pairs judged by people alone, provided that pairs
are sampled at random and the LLM judge has labelled all of them. An LLM judge's labels alone
support no verdict, however high ρ is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.labels.intervals import Interval, agreement_interval, no_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LlmJudgeUsefulness(NamedTuple):
    """The usefulness of an LLM judge.

    gain: effective sample-size gain, 1 / (1 - ρ²), of grades and of binary relevance. NaN if people
    give only one label, infinite if both always agree. interval: confidence interval of the latter,
    over topics. sensitivity, specificity: the share of people's relevant and non-relevant pairs on
    which the LLM judge agrees. share: share of pairs that the LLM judge calls relevant.
    people_share: share of pairs that people call relevant. topic_bias: standard deviation over
    topics of the difference between both shares.
    """

    pairs: int
    gain_graded: float
    gain: float
    interval: Interval
    sensitivity: float
    specificity: float
    share: float
    people_share: float
    topic_bias: float


def compute_usefulness(
    people: Ints, llm: Ints, topic: Ints, *, min_relevant: int
) -> LlmJudgeUsefulness:
    """Compute how useful an LLM judge's labels are in addition to human ones. people, llm, topic:
    int64 (n_pairs), grades, and the pair's topic from 0."""
    relevant, called = people >= min_relevant, llm >= min_relevant
    joint = np.zeros((int(topic.max(initial=-1)) + 1, 2, 2))
    np.add.at(joint, (topic, relevant.astype(np.int64), called.astype(np.int64)), 1.0)
    joint = joint[joint.sum(axis=(1, 2)) > 0]
    shares = joint / joint.sum(axis=(1, 2), keepdims=True)
    graded, gain = (
        _sample_size_gain(x.astype(np.float64), y.astype(np.float64))
        for x, y in ((people, llm), (relevant, called))
    )
    return LlmJudgeUsefulness(
        len(people),
        graded,
        gain,
        compute_gain_interval(joint),
        _share_or_nan(called[relevant]),
        1 - _share_or_nan(called[~relevant]),
        _share_or_nan(called),
        _share_or_nan(relevant),
        float((shares[:, 0, 1] - shares[:, 1, 0]).std()),
    )


def compute_gain_interval(joint: Floats) -> Interval:
    """Return the 95% confidence interval of the gain.

    It follows from that of ρ by the jackknife over topics, with the same conditions as for
    agreement, because ρ is at most 1 as kappa is. joint: (n_topics, 2, 2), pairs by people's label
    and the LLM judge's. Bootstrap percentiles over topics cover less with few topics, down to .80
    if few pairs are relevant: docs/evidence/calibration.md.
    """
    interval = (
        agreement_interval(joint, np.ones(len(joint), np.int64), binary_correlation, unit="topics")
        if len(joint)
        else no_interval("no pairs")
    )
    if interval.reason:
        return interval
    ends = sorted(_gain_from_square(end**2) for end in interval.bounds)
    return Interval(
        1.0 if interval.low <= 0 <= interval.high else ends[0], ends[1], "", interval.unit
    )


def binary_correlation(joint: Floats) -> Floats:
    """Return (n), the correlation of joint counts (n, 2, 2), NaN if one side gives only one
    label."""
    rows, columns = joint.sum(axis=2), joint.sum(axis=1)
    spread = rows.prod(axis=1) * columns.prod(axis=1)
    product = joint[:, 0, 0] * joint[:, 1, 1] - joint[:, 0, 1] * joint[:, 1, 0]
    return np.divide(product, np.sqrt(spread), out=np.full(len(joint), np.nan), where=spread > 0)


def _share_or_nan(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else math.nan


def _sample_size_gain(x: Floats, y: Floats) -> float:
    """Return 1 / (1 - ρ²) of people's labels x and the LLM judge's y, or 1 if the LLM judge gives
    only one label."""
    if not len(x) or (x == x[0]).all():
        return math.nan
    if (y == y[0]).all():
        return 1.0
    own, llm = x - x.mean(), y - y.mean()
    return _gain_from_square(float((own @ llm) ** 2 / (own @ own) / (llm @ llm)))


def _gain_from_square(square: float) -> float:
    """Return the effective sample-size gain 1 / (1 - ρ²) for ρ²."""
    return 1 / (1 - square) if square < 1 - 1e-12 else math.inf
