"""Aggregation methods, one per module. A method takes a LabelTable and returns an Aggregation.

METHODS["majority"](table, min_judgements=2) -> Aggregation
"""

from __future__ import annotations

from collections.abc import Callable

from assay.labels.aggregation.dawid_skene import dawid_skene
from assay.labels.aggregation.labelling import (
    ADJUDICATED,
    DECISIONS,
    LOWEST_GRADE,
    MAJORITY,
    NONE,
    UNANIMOUS,
    Aggregation,
)
from assay.labels.aggregation.mace import mace
from assay.labels.aggregation.majority import majority
from assay.labels.aggregation.median import median

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
