"""How much of people's work a machine's labels would save, told from pairs that both have labelled (SAMPLING 5.2, 9).

    found = usefulness(people, machine, topic, level, rng)

With correlation ρ between both labels, an estimate from n pairs judged by people and corrected by the machine is as certain as one from
n / (1 - ρ²) pairs judged by people alone, where pairs are drawn at random and the machine has labelled them all. A machine's labels alone are
fit for no verdict, however high ρ is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLES = 1000
FEWEST_TOPICS = 10


class Usefulness(NamedTuple):
    """gain: worth of people's labels, 1 / (1 - ρ²), of grades and of relevant or not; low, high: 95 % of the latter over bootstrapped topics, NaN
    below ten topics. sensitivity, specificity: of people's relevant pairs and others, the share that the machine calls so too. share: that the
    machine calls relevant, people_share: that people do. topic_bias: standard deviation over topics of the difference of both shares."""

    pairs: int
    gain_graded: float
    gain: float
    low: float
    high: float
    sensitivity: float
    specificity: float
    share: float
    people_share: float
    topic_bias: float


def usefulness(people: Ints, machine: Ints, topic: Ints, *, level: int, rng: np.random.Generator) -> Usefulness:
    """people, machine, topic: int64 (n_pairs), grades and the pair's topic from 0."""
    relevant, called = (people >= level).astype(np.float64), (machine >= level).astype(np.float64)
    moments = _moments(relevant, called, topic)
    gains = _gain(moments.sum(axis=0)[None])
    low = high = math.nan
    if len(moments) >= FEWEST_TOPICS:
        drawn = rng.multinomial(len(moments), np.full(len(moments), 1 / len(moments)), size=SAMPLES).astype(np.float64)
        low, high = (float(value) for value in np.nanquantile(_gain(drawn @ moments), [0.025, 0.975]))
    n = np.maximum(moments[:, 0], 1)
    graded = _gain(_moments(people.astype(np.float64), machine.astype(np.float64), topic).sum(axis=0)[None])
    return Usefulness(
        len(people), float(graded[0]), float(gains[0]), low, high, _share(called[relevant > 0]), 1 - _share(called[relevant == 0]), _share(called),
        _share(relevant), float(((moments[:, 2] - moments[:, 1]) / n).std()),
    )  # fmt: skip


def _share(flags: Floats) -> float:
    return float(flags.mean()) if len(flags) else math.nan


def _moments(x: Floats, y: Floats, topic: Ints) -> Floats:
    """float64 (n_topics, 6): n, Σx, Σy, Σx², Σy², Σxy of each topic that has pairs."""
    columns = [np.ones(len(x)), x, y, x * x, y * y, x * y]
    sums = np.column_stack([np.bincount(topic, weights=column) for column in columns])
    return np.asarray(sums[sums[:, 0] > 0], np.float64)


def _gain(moments: Floats) -> Floats:
    """1 / (1 - ρ²); 1 where one of both does not vary."""
    n, x, y, xx, yy, xy = moments.T
    spread = (xx - x * x / n) * (yy - y * y / n)
    product = xy - x * y / n
    square = np.divide(product**2, spread, out=np.zeros(len(n)), where=spread > 1e-12)
    return 1 / np.maximum(1 - square, 1e-12)
