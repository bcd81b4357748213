"""Overlap between annotators as a designed quantity: what was planned, what is there, what it
costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.judgements.live import Live
from annotation.models import Campaign, Membership, Pair
from annotation.selectors.pairs import special_pairs
from assay.labels.agreement.raters import pairs_of_annotators

DEFAULT_COMMON, DEFAULT_PARTNERS = 10, 3


@dataclass(frozen=True)
class OverlapPlan:
    """common, partners: the rule (or a usual one, where `planned` is false). partners_of: annotator
    -> others with enough in common.

    everyone: pairs that every annotator judges; everyone_cost: judgements that they take beyond the
    usual number per pair."""

    planned: bool
    common: int
    partners: int
    partners_of: list[tuple[str, int]]
    everyone: int
    everyone_cost: int

    @property
    def n_met(self) -> int:
        return sum(n >= self.partners for _, n in self.partners_of)


def overlap_plan(campaign: Campaign, live: Live) -> OverlapPlan:
    planned = bool(campaign.min_common and campaign.min_partners)
    common = campaign.min_common if planned else DEFAULT_COMMON
    table = live.table(campaign.grades.size)
    pairs = live.derived(
        f"annotators with {common} in common", lambda: pairs_of_annotators(table, min_common=common)
    )
    partners = np.bincount(pairs.first, minlength=table.n_annotators) + np.bincount(
        pairs.second, minlength=table.n_annotators
    )
    everyone = special_pairs(campaign, Pair.Kind.EVERYONE).count()
    n_annotators = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).count()
    return OverlapPlan(
        planned=planned,
        common=common,
        partners=campaign.min_partners if planned else DEFAULT_PARTNERS,
        partners_of=sorted(
            zip(table.annotators, partners.tolist(), strict=True), key=lambda row: (row[1], row[0])
        ),
        everyone=everyone,
        everyone_cost=everyone * max(0, n_annotators - campaign.judgements_per_pair),
    )
