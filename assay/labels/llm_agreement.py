"""Measure the agreement between an LLM judge and people, compared with the agreement among people,
and how reliably both rank systems.

    joint = joint_between_people(counts, topic, n_topics)     two people on the same pairs
    joint = joint_with_llm(counts, llm, topic, n_topics)  a person and the LLM judge
    kappas = compute_kappas(joint, min_relevant)                     with intervals over topics
    taus = compare_halves(people, llm, rng)               rankings by halves of the topics

Each pair has the same weight, however many people judged it. Every two of its judgements (or every
judgement and the LLM judge's label) are compared with equal weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.rankings import tau_b
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.intervals import Interval, agreement_interval, no_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_SPLITS = 200
N_BEST = 5
MIN_NAME_LENGTH = 4
"""Minimum number of letters and digits of a model's name for a run tag that contains it to count as
the tag of a system built with the model."""


def joint_between_people(
    counts: Floats, topic: Ints, n_topics: int, weight: Floats | None = None
) -> Floats:
    """Return float64 (n_topics, n_grades, n_grades), the joint shares of two judgements of one pair
    by different people.

    counts: (n_pairs, n_grades), judgements by grade. Pairs with fewer than two are ignored. weight:
    (n_pairs), 1 by default.
    """
    n = counts.sum(axis=1)
    share = np.where(n >= 2, (1.0 if weight is None else weight) / np.maximum(n * (n - 1), 1), 0.0)
    both = counts[:, :, None] * counts[:, None, :]
    grades = np.arange(counts.shape[1])
    both[:, grades, grades] -= counts
    return _sum_by_topic(both * share[:, None, None], topic, n_topics)


def joint_with_llm(
    counts: Floats, llm: Ints, topic: Ints, n_topics: int, weight: Floats | None = None
) -> Floats:
    """Return joint shares as `joint_between_people` does, for a human judgement (rows) and the LLM
    judge's grade (columns) of pairs with a human judgement. llm: int64 (n_pairs)."""
    n = counts.sum(axis=1)
    share = np.where(n > 0, (1.0 if weight is None else weight) / np.maximum(n, 1), 0.0)
    given = (np.arange(counts.shape[1]) == llm[:, None]).astype(np.float64)
    return _sum_by_topic(
        counts[:, :, None] * given[:, None, :] * share[:, None, None], topic, n_topics
    )


def _sum_by_topic(values: Floats, topic: Ints, n_topics: int) -> Floats:
    sums = np.zeros((n_topics, *values.shape[1:]))
    np.add.at(sums, topic, values)
    return sums


def binarise_joint(joint: Floats, min_relevant: int) -> Floats:
    """Sum joint counts by grade, (..., n_grades, n_grades), to joint counts of not relevant and
    relevant, (..., 2, 2)."""
    low, high = slice(0, min_relevant), slice(min_relevant, None)
    parts = [[joint[..., a, b].sum(axis=(-2, -1)) for b in (low, high)] for a in (low, high)]
    return np.stack([np.stack(row, axis=-1) for row in parts], axis=-2)


class KappaEstimate(NamedTuple):
    value: float
    interval: Interval

    @property
    def to_list(self) -> list[float]:
        """Return [value, low, high]."""
        return [self.value, *self.interval.bounds]


def compute_kappas(joint: Floats, min_relevant: int) -> dict[str, KappaEstimate]:
    """Compute kappa, weighted_kappa (linear) and binary_kappa with 95% confidence intervals.

    The intervals are over topics with pairs, by the jackknife on Fisher's z, or have a reason why
    there is none (`intervals.agreement_interval`). joint: float64 (n_topics, n_grades, n_grades).
    """
    joint = joint[joint.sum(axis=(1, 2)) > 0]
    tables = {
        "kappa": (joint, False),
        "weighted_kappa": (joint, True),
        "binary_kappa": (binarise_joint(joint, min_relevant), False),
    }
    kappa_by_name = {}
    for name, (table, weighted) in tables.items():
        value = float(cohen_kappa(table.sum(axis=0), weighted=weighted)) if len(table) else math.nan
        one = partial(cohen_kappa, weighted=weighted)
        interval = (
            agreement_interval(table, np.ones(len(table), np.int64), one, unit="topics")
            if len(table)
            else no_interval("no pairs")
        )
        kappa_by_name[name] = KappaEstimate(value, interval)
    return kappa_by_name


class SplitHalfTaus(NamedTuple):
    """Mean Kendall's tau over random splits of the topics, between the ranking by people's labels
    on the second half and the ranking on the first half by people or by the LLM judge. best_*:
    among the five systems that are best by people on all topics. NaN if undefined."""

    people: float
    llm: float
    best_people: float
    best_llm: float


def compare_halves(
    people: Floats, llm: Floats, rng: np.random.Generator, *, splits: int = N_SPLITS
) -> SplitHalfTaus:
    """Compute how well an LLM judge's ranking predicts people's ranking on other topics. People's
    own ranking on the same topics gives the upper limit (noise ceiling).

    people, llm: (n_topics, n_systems), scores.
    """
    n_topics, n_systems = people.shape
    if n_topics < 4 or n_systems < 2:
        return SplitHalfTaus(math.nan, math.nan, math.nan, math.nan)
    top = np.argsort(-people.sum(axis=0), kind="stable")[:N_BEST]
    taus = np.full((splits, 4), math.nan)
    for number in range(splits):
        order = rng.permutation(n_topics)
        first, second = order[: n_topics // 2], order[n_topics // 2 :]
        other = people[second].sum(axis=0)
        for column, half in enumerate((people[first].sum(axis=0), llm[first].sum(axis=0))):
            taus[number, column] = tau_b(half, other)
            taus[number, 2 + column] = tau_b(half[top], other[top])
    defined = ~np.isnan(taus)
    sums = np.where(defined, taus, 0.0).sum(axis=0)
    return SplitHalfTaus(
        *(
            float(total / n) if n else math.nan
            for total, n in zip(sums, defined.sum(axis=0), strict=True)
        )
    )


def find_related_systems(
    tags: Iterable[str], names: Iterable[str], given: Iterable[str]
) -> dict[str, str]:
    """Return {tag: reason} of the systems that an LLM judge should not judge, because they were
    declared as related or their tag contains the judge's name.

    names: names of the LLM judge and its model. given: declared tags.
    """
    named = {one.casefold() for one in given if one}
    plain = [letters for name in names if len(letters := _normalise_name(name)) >= MIN_NAME_LENGTH]
    reasons: dict[str, str] = {}
    for tag in tags:
        if tag.casefold() in named:
            reasons[tag] = "named as built with it"
        elif held := next((letters for letters in plain if letters in _normalise_name(tag)), None):
            reasons[tag] = f"its tag contains {held}"
    return reasons


def _normalise_name(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def rank_positions(values: Floats) -> Ints:
    """Return int64 (n_systems), the position of each system from 1 (best). Ties keep their
    order."""
    place = np.empty(len(values), np.int64)
    place[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return place


def parse_related(about: Mapping[str, object]) -> list[str]:
    """Return the tags or groups in `related`, which is a comma-separated text or a list."""
    related = about.get("related") or []
    parts = (
        related.split(",")
        if isinstance(related, str)
        else list(related)
        if isinstance(related, (list, tuple))
        else []
    )
    return [str(one).strip() for one in parts if str(one).strip()]
