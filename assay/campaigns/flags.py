"""Flags for managers: signs that an annotator's work should be checked, each with another possible
cause. A flag has no effect by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.campaigns.outlier_annotators import Outlier


@dataclass(frozen=True)
class AnnotatorFlag:
    name: str
    evidence: str
    caveat: str


@dataclass(frozen=True, eq=False)
class AnnotatorProfile:
    """Statistics of one annotator, compared with the others.

    confusion: (n_grades, n_grades), own grade x label of the others. cohort_confusion: the same,
    summed over the other annotators. kappa, low, high: linearly weighted, against the others, with
    its 95% confidence interval over pairs, NaN if undefined. outlier: alpha with and without the
    annotator if their agreement may be chance (`outlier_annotators.find_outliers`). gold_right,
    gold_exact: gold answers that are correct by the campaign's rule, and that are exactly the known
    grade, of gold_judged. gold_chance, gold_others: share of gold pairs that random grades and the
    other annotators get right, NaN if unknown.
    """

    n: int
    n_fast: int
    n_cannot: int
    median_seconds: float
    cohort_median_seconds: float
    kappa: float
    low: float
    high: float
    n_shared: int
    shares: NDArray[np.float64]
    cohort_shares: NDArray[np.float64]
    confusion: NDArray[np.int64]
    cohort_confusion: NDArray[np.int64]
    outlier: Outlier | None = None
    gold_right: int = 0
    gold_exact: int = 0
    gold_judged: int = 0
    gold_chance: float = np.nan
    gold_others: float = np.nan


AGAINST_OTHERS, AT_CHANCE, GOLD_AT_CHANCE = (
    "against the others",
    "agreement may be chance",
    "gold no better than chance",
)
RANDOM_LIKE_FLAGS = (AGAINST_OTHERS, AT_CHANCE, GOLD_AT_CHANCE)
"""Flags of judgements that may be unrelated to the documents. Results based on them are in doubt.
"""
FLAG_ORDER = (
    *(*RANDOM_LIKE_FLAGS, "misses gold", "many too fast", "fast"),
    *("confuses", "often cannot judge", "grades unlike the others'"),
)
"""Names of flags, or prefixes of names, in order of their importance for the labels."""
MIN_PAIRS = 20
"""Minimum number of judgements for flags other than those on too-fast ones and on "cannot judge".
"""


UNLIKELY_P = 0.01
"""Significance level of the test whether an annotator gets fewer gold pairs right than the others.
"""


def binomial_tail(at_most: int, n: int, profile: float) -> float:
    """Return the probability of at most `at_most` successes in n trials with probability p, or NaN
    if p is NaN."""
    return math.fsum(
        math.comb(n, k) * profile**k * (1 - profile) ** (n - k) for k in range(at_most + 1)
    )


def has_many_too_fast(n_fast: int, submitted: int) -> bool:
    """Return whether the share of too-fast judgements among those submitted should be checked."""
    return n_fast >= 3 and n_fast / max(submitted, 1) > 0.05


def flag_rank(flag: AnnotatorFlag) -> int:
    """Return the position of the flag in FLAG_ORDER."""
    return next(i for i, begin in enumerate(FLAG_ORDER) if flag.name.startswith(begin))


def sort_flags(signs: Sequence[AnnotatorFlag]) -> list[AnnotatorFlag]:
    """Sort flags by FLAG_ORDER."""
    return sorted(signs, key=flag_rank)


def find_flags(profile: AnnotatorProfile, names: list[str]) -> list[AnnotatorFlag]:
    """Return the flags of an annotator. names: names of the grades, lowest first."""
    signs = []
    submitted = profile.n + profile.n_fast + profile.n_cannot
    if has_many_too_fast(profile.n_fast, submitted):
        evidence = f"{profile.n_fast} of {submitted} below the minimum time"
        signs.append(
            AnnotatorFlag(
                "many too fast",
                evidence,
                "Some pairs are obvious at a glance, and keys are sometimes pressed twice. These judgements do not count.",
            )
        )
    if profile.n_cannot >= 5 and profile.n_cannot / max(submitted, 1) > 0.2:
        evidence = f"{profile.n_cannot} of {submitted} not judged"
        signs.append(
            AnnotatorFlag(
                "often cannot judge",
                evidence,
                "The annotator may have been assigned unclear topics, or may not know a language. Read the reasons given.",
            )
        )
    if profile.n < MIN_PAIRS:
        return signs
    signs += (
        _speed_flags(profile)
        + _agreement_flags(profile)
        + _confusion_flags(profile, names)
        + _distribution_flags(profile, names)
        + _gold_flags(profile)
    )
    return signs


def _speed_flags(profile: AnnotatorProfile) -> list[AnnotatorFlag]:
    if not profile.median_seconds < profile.cohort_median_seconds / 3:
        return []
    evidence = (
        f"median {profile.median_seconds:.1f} s, the others' {profile.cohort_median_seconds:.1f} s"
    )
    return [
        AnnotatorFlag(
            "fast",
            evidence,
            (
                "Speed alone is not carelessness: experienced annotators and short documents "
                "are fast. Check the agreement too."
            ),
        )
    ]


def _agreement_flags(profile: AnnotatorProfile) -> list[AnnotatorFlag]:
    if profile.n_shared < MIN_PAIRS or np.isnan(profile.high) or profile.outlier is None:
        return []
    evidence = (
        f"kappa {profile.kappa:.2f} with the others on {profile.n_shared} pairs (over pairs, 95% CI "
        f"{profile.low:.2f} to {profile.high:.2f}). Alpha {profile.outlier.alpha:.2f}, "
        f"{profile.outlier.alpha_without:.2f} without them"
    )
    if profile.high < 0:
        return [
            AnnotatorFlag(
                AGAINST_OTHERS,
                evidence,
                (
                    "The annotator may have read the scale in reverse, or the others may share an error. Ask before excluding."
                ),
            )
        ]
    if profile.low <= 0:
        return [
            AnnotatorFlag(
                AT_CHANCE,
                evidence,
                "The annotator may have been assigned the hardest topics, or may judge well among careless annotators. Read some disagreements.",
            )
        ]
    return []


def _confusion_flags(profile: AnnotatorProfile, names: list[str]) -> list[AnnotatorFlag]:
    """Flag neighbouring grades that the annotator confuses much more often than the others do,
    among pairs with these grades."""
    signs = []
    for a in range(len(names) - 1):
        own = profile.confusion[a : a + 2, a : a + 2]
        others = profile.cohort_confusion[a : a + 2, a : a + 2]
        if own.sum() < MIN_PAIRS or others.sum() < MIN_PAIRS:
            continue
        wrong, usual = 1 - np.trace(own) / own.sum(), 1 - np.trace(others) / others.sum()
        if wrong > 0.4 and wrong > usual + 0.15:
            evidence = f"{100 * wrong:.0f}% of {int(own.sum())} pairs on the other side; usual {100 * usual:.0f}%"
            name = f"confuses {names[a]} and {names[a + 1]}"
            signs.append(
                AnnotatorFlag(
                    name,
                    evidence,
                    "The guidelines may be unclear on this distinction. A message with an example often helps.",
                )
            )
    return signs


def _distribution_flags(profile: AnnotatorProfile, names: list[str]) -> list[AnnotatorFlag]:
    distance = float(np.abs(profile.shares - profile.cohort_shares).sum() / 2)
    if not distance > 0.35:
        return []
    most = int(np.argmax(profile.shares - profile.cohort_shares))
    evidence = f"{names[most]} {100 * profile.shares[most]:.0f}%, the others {100 * profile.cohort_shares[most]:.0f}%"
    return [
        AnnotatorFlag(
            "grades unlike the others'",
            evidence,
            "Annotators get different pairs: early ones see the top ranks, which have higher grades. Compare on shared pairs.",
        )
    ]


def _gold_flags(profile: AnnotatorProfile) -> list[AnnotatorFlag]:
    if profile.gold_judged < 5 or profile.gold_right / profile.gold_judged >= 0.6:
        return []
    evidence = (
        f"{profile.gold_right} of {profile.gold_judged} gold questions correct, "
        f"{profile.gold_exact} with the exact grade"
    )
    at_chance = profile.gold_right <= profile.gold_chance * profile.gold_judged
    if (
        at_chance
        and binomial_tail(profile.gold_right, profile.gold_judged, profile.gold_others) < UNLIKELY_P
    ):
        evidence += f"; random answers get {100 * profile.gold_chance:.0f}% correct, the others {100 * profile.gold_others:.0f}%"
        return [
            AnnotatorFlag(
                GOLD_AT_CHANCE,
                evidence,
                "The annotator may have read the scale in reverse. Check the answers before you act.",
            )
        ]
    return [
        AnnotatorFlag(
            "misses gold",
            evidence,
            "Gold answers can be wrong, too. Check the pairs that many annotators miss.",
        )
    ]
