"""Scores of one generated answer: support of its citations, nuggets, and rubric criteria.

TREC RAG 2024 and 2025 (arXiv 2504.15205 and 2603.09891) define support and nuggets. As there, a
share without anything to average over is 0; a rubric without a positive weight is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

SUPPORT_VALUES = {"full": 1.0, "partial": 0.5, "none": 0.0}
NUGGET_VALUES = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
VERDICT_VALUES = {"met": 1.0, "partly": 0.5, "not": 0.0}
SUPPORT_MEASURES = tuple(
    f"{grading}_{share}_{which}"
    for which in ("first", "all")
    for grading in ("weighted", "hard")
    for share in ("precision", "recall")
)
NUGGET_MEASURES = ("strict_vital", "strict_all", "vital", "all")
RUBRIC_MEASURES = ("binary", "ternary")


def _share_or_zero(total: float, count: int) -> float:
    return total / count if count else 0.0


def score_support(sentences: Sequence[Sequence[str | None]]) -> dict[str, float]:
    """Return citation precision and recall of an answer by the names in SUPPORT_MEASURES.

    sentences: for each sentence the labels of its citations in order (`full`, `partial`, `none`),
    None for a citation that was not judged. A sentence without citation is not in precision and
    counts 0 in recall. A sentence that cites, but without a judged citation (first: whose first
    citation is not judged), is in neither. weighted: partial support counts 1/2; hard: 0. all: a
    sentence counts as the mean of its judged citations.
    """
    scores = {}
    for grading in ("weighted", "hard"):

        def value(label: str, grading: str = grading) -> float:
            return SUPPORT_VALUES[label] if grading == "weighted" else float(label == "full")

        for which in ("first", "all"):
            judged = [
                [
                    value(label)
                    for label in (of[:1] if which == "first" else of)
                    if label is not None
                ]
                for of in sentences
            ]
            total = math.fsum(math.fsum(of) / len(of) for of in judged if of)
            n_judged = sum(1 for of in judged if of)
            n_unjudged = sum(
                1 for of, labels in zip(judged, sentences, strict=True) if labels and not of
            )
            scores[f"{grading}_precision_{which}"] = _share_or_zero(total, n_judged)
            scores[f"{grading}_recall_{which}"] = _share_or_zero(total, len(sentences) - n_unjudged)
    return scores


def score_nuggets(vital: Sequence[bool], assignments: Sequence[str | None]) -> dict[str, float]:
    """Return the shares of a topic's nuggets in an answer by the names in NUGGET_MEASURES.

    vital: whether each nugget is vital. assignments: `support`, `partial_support` or `not_support`
    of each nugget, None if not judged, which counts 0. strict: partial support counts 0 instead of
    1/2.
    """
    scores = {}
    for strict in (True, False):
        for only_vital in (True, False):
            values = [
                float(one == "support") if strict else NUGGET_VALUES.get(one or "", 0.0)
                for one, is_vital in zip(assignments, vital, strict=True)
                if is_vital or not only_vital
            ]
            name = f"{'strict_' if strict else ''}{'vital' if only_vital else 'all'}"
            scores[name] = _share_or_zero(math.fsum(values), len(values))
    return scores


def score_rubric(weights: Sequence[float], verdicts: Sequence[str | None]) -> dict[str, float]:
    """Return the weighted shares of a rubric's criteria that an answer meets, by the names in
    RUBRIC_MEASURES.

    verdicts: `met`, `partly` or `not` of each criterion, None if not judged, which counts 0. The
    denominator is the sum of the positive weights. A criterion with a negative weight describes a
    fault, so a score may be below 0. ternary: partly counts 1/2 instead of 0. NaN without a
    positive weight.
    """
    whole = math.fsum(weight for weight in weights if weight > 0)
    if not whole > 0:
        return dict.fromkeys(RUBRIC_MEASURES, math.nan)
    pairs = list(zip(weights, verdicts, strict=True))
    met = math.fsum(weight for weight, verdict in pairs if verdict == "met")
    partly = math.fsum(weight for weight, verdict in pairs if verdict == "partly")
    return {"binary": met / whole, "ternary": (met + partly / 2) / whole}


def count_labels(labels: Iterable[str | None], values: Mapping[str, float]) -> dict[str, int]:
    """Return how often each label occurs, with `unjudged` for None."""
    counts = dict.fromkeys([*values, "unjudged"], 0)
    for label in labels:
        counts["unjudged" if label is None else label] += 1
    return counts
