"""From judgements to labels: one method a file. A method takes a LabelTable and gives an
Aggregation.

METHODS["majority"](table, min_judgements=2) -> Aggregation
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.core.aggregation.dawid_skene import dawid_skene
from analysis.core.aggregation.labelling import (
    ADJUDICATED,
    DECISIONS,
    LOWEST_GRADE,
    MAJORITY,
    NONE,
    UNANIMOUS,
    Aggregation,
)
from analysis.core.aggregation.mace import mace
from analysis.core.aggregation.majority import majority
from analysis.core.aggregation.median import median

METHODS: dict[str, Callable[..., Aggregation]] = {
    "majority": majority,
    "median": median,
    "dawid-skene": dawid_skene,
    "mace": mace,
}

__all__ = [
    "ADJUDICATED",
    "DECISIONS",
    "LOWEST_GRADE",
    "MAJORITY",
    "METHODS",
    "NONE",
    "UNANIMOUS",
    "Aggregation",
    "dawid_skene",
    "mace",
    "majority",
    "median",
]
