"""Agreement on a prioritised pool, separately for randomly sampled and for prioritised pairs.

Most prioritised pairs are relevant, and annotators adjust to what they see, so agreement on these
pairs does not describe the whole pool. The audit pairs are a random sample of the pairs that were
waiting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.models import Campaign
from assay.labels.agreement.alpha import SubsetAlpha, alpha_by_group
from assay.labels.labels import LabelTable
from assay.number_words import format_count
from assay.pools.pool_kinds import PoolKind, SelectionMethod

MIN_PAIRS = 10
ENTRY_NAMES = {
    SelectionMethod.CHANCE: "drawn by chance (audit pairs)",
    SelectionMethod.CHOICE: "chosen by priority",
}


def compute_agreement_by_entry(campaign: Campaign, table: LabelTable) -> list[dict[str, Any]]:
    """Compute ordinal alpha of randomly sampled and of prioritised pairs. Empty unless the pool is
    prioritised.

    Each row has name, entered, alpha, low, high (None if undefined), pairs (judged at least twice)
    and reason.
    """
    pool = campaign.pool
    if pool is None or pool.kind != PoolKind.ORDERED:
        return []
    rows = pool.entries.exclude(entered="").values_list("topic__topic_id", "docno", "entered")
    entered = {(topic, document): how for topic, document, how in rows}
    kinds = list(SelectionMethod)
    group = np.array(
        [_kind_index(entered.get(table.pair_ids(pair)), kinds) for pair in range(table.n_pairs)],
        np.int64,
    )
    group[table.judgements_per_pair < 2] = -1
    alphas = alpha_by_group(table, group, level="ordinal") if len(group) else {}
    return [_alpha_row(kind, alphas.get(place)) for place, kind in enumerate(kinds)]


def _kind_index(entry_marks: str | None, kinds: list[SelectionMethod]) -> int:
    return kinds.index(SelectionMethod(entry_marks)) if entry_marks else -1


def _alpha_row(kind: SelectionMethod, subset: SubsetAlpha | None) -> dict[str, Any]:
    n = subset.n_pairs if subset is not None else 0
    row: dict[str, Any] = {
        "name": ENTRY_NAMES[kind],
        "entered": kind.value,
        "alpha": None,
        "low": None,
        "high": None,
        "pairs": n,
    }
    if subset is None or n < MIN_PAIRS:
        return row | {
            "reason": f"{format_count(n, 'pair')} judged twice; at least {MIN_PAIRS} required"
        }
    if np.isnan(subset.alpha):
        return row | {"reason": "all judgements have the same grade"}
    low, high = (
        None if end is None or np.isnan(end) else float(end)
        for end in (subset.interval.low, subset.interval.high)
    )
    return row | {
        "alpha": float(subset.alpha),
        "low": low,
        "high": high,
        "reason": subset.interval.reason or "",
    }


def describe_agreement_by_entry(rows: list[dict[str, Any]]) -> str:
    """Format the rows of `compute_agreement_by_entry` as one line, or an empty string if there are
    none."""

    def describe_row(row: dict[str, Any]) -> str:
        if row["alpha"] is None:
            return f"{row['name']}: none, {row['reason']}"
        ends = (
            f", {row['low']:.2f} to {row['high']:.2f}"
            if row["low"] is not None and row["high"] is not None
            else ""
        )
        return f"{row['name']}: {row['alpha']:.2f} ({row['pairs']:,} pairs{ends})"

    return "; ".join(map(describe_row, rows))
