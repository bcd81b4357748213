"""What new pairs are to pools that are more than a list of pairs: hooks by kind of pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from assay.pools.depth import PooledPairs
from pooling.models import Pool, PoolEntry


class GrownPool(Protocol):
    """How pairs that come to a pool enter it. pairs: all in their order. n_asked: of the new ones,
    those that are to be judged."""

    @property
    def pairs(self) -> PooledPairs: ...

    @property
    def n_asked(self) -> int: ...

    def mark(self, entries: Sequence[PoolEntry]) -> None:
        """Say of the new entries, not stored yet, how they entered."""

    def write(self) -> None:
        """What else is stored, inside the transaction."""


grow_hooks: dict[str, Callable[[Pool, PooledPairs, Mapping[tuple[str, str], int]], GrownPool]] = {}
"""By kind of pool: what new pairs are to it. In others they are pairs like all."""

shrink_hooks: dict[str, Callable[[Pool, Mapping[str, Any]], None]] = {}
"""By kind of pool: what is undone with an extension that is taken back, inside the transaction;
given what was before."""
