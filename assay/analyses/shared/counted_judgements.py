"""The judgements that count, as commands get them from a file (`judged_files`) or from a campaign
(`stored_campaigns`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from assay.cli.base import BadInput
from assay.labels.labels import DroppedCounts, LabelTable


class CountedJudgements(NamedTuple):
    table: LabelTable
    dropped: DroppedCounts
    threshold: int
    """Lowest relevant grade."""
    campaign: Any
    """The row of the campaign, None where the judgements come from a file."""
    only: frozenset[str] | None
    """The only topics wanted; None: all."""


def check_threshold(threshold: int, n_grades: int) -> int:
    if threshold >= n_grades:
        raise BadInput(
            f"--min-relevant {threshold} is above every grade of a scale of {n_grades}, expected 1 to {n_grades - 1}"
        )
    return threshold
