"""Pairs of a pool that can become the first examples of a campaign's guidelines."""

from __future__ import annotations

from dataclasses import dataclass

from pooling.models import Pool, PoolEntry

MAX_READ = 200
"""Number of entries, in judging order, from which the examples are chosen."""
SNIPPET_LENGTH = 240


@dataclass(frozen=True)
class ExamplePair:
    """A pair that can become an example, with its texts. entry: row ID of the pool entry."""

    entry: int
    query: str
    title: str
    snippet: str


def choose_example_pairs(pool: Pool, n: int = 2) -> list[ExamplePair]:
    """Return n pairs of different topics on which the runs disagree: few runs returned the
    document, and they ranked it high. Pairs without a text are ignored."""
    first = list(
        pool.entries.filter(document__isnull=False)
        .only("pk", "topic_id", "best_rank", "position", "contributions")
        .order_by("position")[:MAX_READ]
    )
    chosen: dict[int, PoolEntry] = {}
    for entry in sorted(first, key=lambda e: (len(e.contributions), e.best_rank, e.position)):
        if len(chosen) < n:
            chosen.setdefault(entry.topic_id, entry)
    rows = PoolEntry.objects.filter(pk__in=[entry.pk for entry in chosen.values()])
    return [
        ExamplePair(
            entry=row.pk,
            query=" ".join(row.topic.text.split()),
            title=(row.document.title if row.document else "") or row.docno,
            snippet=_shorten(row.document.text if row.document else ""),
        )
        for row in rows.select_related("topic", "document").order_by("position")
    ]


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= SNIPPET_LENGTH:
        return flat
    return flat[:SNIPPET_LENGTH].rsplit(" ", 1)[0] + " …"
