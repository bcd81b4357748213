"""Do two halves of the topics lead to the same conclusions? (Craswell et al. 2021, Table 4)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, ReportKind
from analysis.systems.options import (
    READ,
    fields_of,
    given_of,
)
from assay.analyses.split_half import Options, pictures, tables
from assay.comparison.split_half import SplitHalfTally

FIELDS = (*fields_of(Options, "measures", "splits", "alpha", *READ),)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"qrels": files.qrels[0][1], "runs": files.runs, **given_of(FIELDS, options)}


KIND = ReportKind(
    name="split_half",
    place=70,
    title="Two halves of the topics",
    sentence="How often tests on two halves of the topics agree about pairs of runs.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    piece=SplitHalfTally,
)
