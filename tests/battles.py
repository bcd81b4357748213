"""A campaign of preferences for tests, with two topics, three systems and chosen battles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from assay.pools.battles import DocumentBattle
from pooling.models import Pool
from pooling.services.battle_pools import create_battle_pool
from tests.builders import make_collection, make_user

BATTLES = (
    DocumentBattle("t1", "d1", "d2", 1, (("x", "y"),)),
    DocumentBattle("t1", "d2", "d3", 1, (("y", "z"),)),
    DocumentBattle("t2", "d2", "d1", 1, (("y", "x"), ("z", "x"))),
    DocumentBattle("t1", "d2", "d1", 1, (("y", "x"),)),  # the first with exchanged sides
)


def make_battle_pool(*, texts: Sequence[str] = (), **settings: Any) -> Pool:
    settings.setdefault("battles", BATTLES)
    settings.setdefault("source", "battles.tsv")
    collection = make_collection(n_documents=3, texts=texts)
    return create_battle_pool(collection, name="battles", **settings)


def make_battle_campaign(*, texts: Sequence[str] = (), **settings: Any) -> Campaign:
    """Create an open campaign with the pairs of BATTLES. texts: those of d1, d2 and d3."""
    pool = make_battle_pool(texts=texts)
    manager = make_user(may_create=True)
    settings = {"target_per_annotator": 0, "min_active_seconds": 0, **settings}
    campaign = lifecycle.create_campaign(
        name="Battles", collection=pool.collection, actor=manager, task="preferences", **settings
    )
    lifecycle.set_pool(campaign, pool, actor=manager)
    lifecycle.save_guideline(campaign, "Choose the better document.", actor=manager)
    return lifecycle.open_campaign(campaign, actor=manager)
