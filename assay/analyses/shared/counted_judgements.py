"""The judgements that count, read from a file (`judged_files`) or from a campaign
(`stored_campaigns`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from assay.cli.base import BadInput
from assay.labels.labels import DroppedCounts, LabelTable


class CountedJudgements(NamedTuple):
    table: LabelTable
    dropped: DroppedCounts
    min_relevant: int
    """Minimum relevant grade."""
    campaign: Any
    """The campaign's row, or None if the judgements come from a file."""
    only: frozenset[str] | None
    """Topics to use, or None for all."""


def check_min_relevant(min_relevant: int, n_grades: int) -> int:
    if min_relevant >= n_grades:
        raise BadInput(
            f"--min-relevant {min_relevant} is above the highest of {n_grades} grades, expected 1 to {n_grades - 1}"
        )
    return min_relevant
