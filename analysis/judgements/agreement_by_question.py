"""Agreement on each further question of a campaign, and how its labels correlate with the grades."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.labels import LabelChoices, make_labels
from annotation.models import Campaign
from assay.labels.agreement.alpha import alpha_interval, krippendorff_alpha
from assay.measures.understandability import correlate_facets


def compute_agreement_by_question(campaign: Campaign) -> list[dict[str, Any]]:
    """Compute ordinal alpha of each further question, and the correlation of its labels with those
    of the grade, under default choices. Empty for campaigns with one question.

    Each row has key, name (the title), judgements (answers that are no "cannot judge"), pairs
    (judged at least twice), alpha with low, high and reason, and spearman with labelled (pairs with
    both labels). NaN where undefined.
    """
    questions = campaign.questions_after_grade
    if not questions:
        return []
    grades = {
        (row.topic, row.document): row.grade for row in make_labels(campaign, LabelChoices()).rows
    }
    rows = []
    for question in questions:
        made = make_labels(campaign, LabelChoices(question=question.key))
        counts = made.table.counts
        alpha = krippendorff_alpha(counts, level="ordinal")
        interval = alpha_interval(counts, level="ordinal", topic=made.table.pair_topic)
        labels = {(row.topic, row.document): row.grade for row in made.rows}
        correlation = correlate_facets(*_align_labels(grades, labels))
        rows.append(
            {
                "key": question.key,
                "name": question.title,
                "judgements": len(made.table),
                "pairs": int((made.table.judgements_per_pair > 1).sum()),
                "alpha": alpha,
                "low": interval.low,
                "high": interval.high,
                "reason": interval.reason,
                "spearman": correlation.spearman,
                "labelled": correlation.pairs,
            }
        )
    return rows


def _align_labels(
    grades: dict[tuple[str, str], int], labels: dict[tuple[str, str], int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return two aligned arrays, shape (n,), with the labels of the pairs that are labelled on both
    questions."""
    pairs = sorted(grades.keys() & labels.keys())
    return (
        np.array([grades[pair] for pair in pairs], dtype=np.int32),
        np.array([labels[pair] for pair in pairs], dtype=np.int32),
    )
