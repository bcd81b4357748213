"""Which system leads by a measure, how surely, and what the unjudged documents leave open (METHODS 13, 14): the answer of the page Systems.

    standing = standing_of(values, tags)              systems best first, tests of all pairs, intervals
    words = leader_words(standing, "nDCG@10")         one sentence; `open_words` one on the unjudged

Tests are paired t-tests of every pair of systems (Student 1908; Smucker, Allan and Carterette 2007), corrected by Holm (1979); where all
differences are the same, permutation tests (Fisher 1935). A test supports a direction only if the signed ranks do not point to the other one (ours).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.intervals import Interval
from analysis.core.mean_intervals import mean_interval
from analysis.core.significance import adjusted, p_equals, rank_balance, rounded_differences, verdict_p, why_no_verdict
from analysis.core.system_comparison import all_pairs

Floats = NDArray[np.float64]
ALPHA = 0.05
NAMED = 3
"""So many runs are named in the sentence; of more the number is told."""
DECIMALS = 10
"""Means that differ only beyond these decimals are tied, as in rankings of systems."""


def standing_of(
    values: Floats, tags: Sequence[str], *, interval: Callable[[Floats], Interval] = mean_interval, untested: str = ""
) -> dict[str, Any]:
    """values: float64 (n_topics, n_systems), a row with NaN is left out. untested: why there is no test, else empty.

    -> topics: that count; systems: best first, ties by tag, each with tag, mean, low, high (NaN where there is no interval) and reason;
    p, holm: of each system (but the last) the p-values against those below it, raw and corrected over all pairs, NaN without a test;
    opposed: the same, whether the signed ranks point to the other side than the mean; untested: why there are no tests, else empty.
    """
    values = values[~np.isnan(values).any(axis=1)]
    n_topics, n = values.shape
    means = np.array([math.fsum(column) / n_topics for column in values.T.tolist()] if n_topics else [math.nan] * n)
    order = sorted(range(n), key=lambda i: (-round(float(means[i]), DECIMALS) if n_topics else 0.0, tags[i]))
    values, means = values[:, order], means[order]
    systems = []
    for k, i in enumerate(order):
        one = interval(values[:, k])
        systems.append({"tag": tags[i], "mean": float(means[k]), "low": one.low, "high": one.high, "reason": one.reason})
    pairs = all_pairs(n)
    p, opposed = np.full(len(pairs), math.nan), np.zeros(len(pairs), bool)
    untested = untested or why_no_verdict(n_topics)
    if not untested and pairs:
        first, second = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
        ahead = rounded_differences(values[:, second].T, values[:, first].T)
        p, opposed = verdict_p(ahead), rank_balance(ahead) < 0
    held = adjusted(p, "holm")
    rows = [[k for k, (a, _) in enumerate(pairs) if a == i] for i in range(n - 1)]
    return {
        "topics": n_topics,
        "systems": systems,
        "p": [p[row].tolist() for row in rows],
        "holm": [held[row].tolist() for row in rows],
        "opposed": [opposed[row].tolist() for row in rows],
        "untested": untested,
    }


def leader_words(standing: Mapping[str, Any], measure: str, *, estimated: bool = False) -> str:
    """Who leads, and from whom the leader cannot be told apart, in one sentence; a second one where mean and signed ranks disagree."""
    systems = standing["systems"]
    if not systems or not standing["topics"]:
        return "No system leads yet: no topic has a label."
    best = round(systems[0]["mean"], DECIMALS)
    leaders = [one["tag"] for one in systems if round(one["mean"], DECIMALS) == best]
    alone, together = ("is estimated to lead", "are estimated to lead together") if estimated else ("leads", "lead together")
    if few := why_no_verdict(standing["topics"]):
        has = f"{'has' if len(leaders) == 1 else 'have'} the highest {'estimated ' if estimated else ''}mean {measure}"
        return f"{_listed(leaders)} {has} ({systems[0]['mean']:.3f}). No verdict: {few}."
    words = f"{_listed(leaders)} {alone if len(leaders) == 1 else together} by {measure} ({systems[0]['mean']:.3f})"
    if len(systems) == len(leaders):
        return f"{words}." if len(systems) > 1 else f"{words}: it is the only run."
    if standing["untested"]:
        return f"{words}; how sure that is cannot be said: {standing['untested']}."
    return words + _against_the_rest(standing, len(leaders))


def _against_the_rest(standing: Mapping[str, Any], n_leaders: int) -> str:
    """Of the first leader; runs tied with it by the mean are no rivals here."""
    tags = [one["tag"] for one in standing["systems"]][n_leaders:]
    held, opposed = standing["holm"][0][n_leaders - 1 :], standing["opposed"][0][n_leaders - 1 :]
    open_ones = [(tag, p) for tag, p in zip(tags, held, strict=True) if not p < ALPHA]
    contrary = [tag for tag, p, other in zip(tags, held, opposed, strict=True) if p < ALPHA and other]
    whose = ", " if n_leaders == 1 else f"; {standing['systems'][0]['tag']} is "
    decided = [(tag, p) for tag, p in zip(tags, held, strict=True) if p < ALPHA and tag not in contrary]
    if not open_ones and not decided:
        words = "."
    elif not open_ones:
        rest = decided[0][0] if len(decided) == 1 else f"{'the' if contrary else 'all'} {len(decided)} others"
        words = f"{whose}separable from {rest} ({'largest ' if len(decided) > 1 else ''}{p_equals(max(p for _, p in decided))}, Holm)."
    elif len(open_ones) == 1:
        words = f"{whose}not separable from {open_ones[0][0]} ({p_equals(open_ones[0][1])}, Holm)."
    else:
        named = [f"{tag} ({p_equals(p)})" for tag, p in open_ones[:NAMED]]
        named += [f"{len(open_ones) - NAMED} more"] if len(open_ones) > NAMED else []
        whose = "it" if n_leaders == 1 else standing["systems"][0]["tag"]
        words = f"; after Holm's correction {whose} is not separable from {_listed(named)}."
    if contrary:
        words += f" No verdict against {_listed(contrary)}: the mean and the signed ranks point to different sides."
    return words


def open_words(systems: Sequence[Mapping[str, Any]]) -> str:
    """What the unjudged documents of the tops leave open, from each system's least and most (None where that is not known).

    Both are taken over the unjudged of all tops, else grades that lower the leader's recall base alone would be forgotten; they need not be
    reached by the same grades, so that what the ranges allow is not said to be possible.
    """
    leader, rest = systems[0], systems[1:]
    if leader.get("least") is None or not rest:
        return ""
    if all(one["most"] - one["least"] < 1e-12 for one in systems):
        return "Every document that these scores look at is judged."
    could = [one["tag"] for one in rest if one["most"] > leader["least"] + 1e-12]
    if not could:
        is_alone = all(one["most"] < leader["least"] - 1e-12 for one in rest)
        stays = f"{leader['tag']} leads" if is_alone else f"no run is ahead of {leader['tag']}"
        return f"Whatever grades the unjudged documents in the runs' tops have, {stays}."
    shown = _listed([*could[:NAMED], *([f"{len(could) - NAMED} more"] if len(could) > NAMED else [])])
    return f"The ranges that other grades of the unjudged documents give do not rule out that {shown} lead{'s' if len(could) == 1 else ''}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
