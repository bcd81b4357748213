"""Queries of a collection's topics, for its pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from pooling.models import Collection, Topic


def get_topics(collection: Collection) -> QuerySet[Topic]:
    """Return the collection's topics in file order."""
    return collection.topics.select_related("decided_by").order_by("position")


def filter_by_state(topics: QuerySet[Topic], state: str) -> QuerySet[Topic]:
    """Filter topics by state. state: kept, removed, or open (proposed for removal and undecided)."""
    if state == "open":
        return topics.exclude(proposal="").filter(decided_at=None)
    return (
        topics.filter(removed_reason="") if state == "kept" else topics.exclude(removed_reason="")
    )


def filter_by_decision(proposals: QuerySet[Topic], decision: str) -> QuerySet[Topic]:
    """Filter proposed removals by the manager's decision. decision: open, removed or kept."""
    if decision == "open":
        return proposals.filter(decided_at=None)
    return (
        proposals.filter(decided_at__isnull=False, removed_reason="")
        if decision == "kept"
        else proposals.exclude(removed_reason="")
    )


def count_topics(collection: Collection) -> dict[str, int]:
    """Count the collection's topics by state: all, kept, removed, open (proposed and undecided)."""
    return collection.topics.aggregate(
        all=Count("pk"),
        kept=Count("pk", filter=Q(removed_reason="")),
        removed=Count("pk", filter=~Q(removed_reason="")),
        open=Count("pk", filter=~Q(proposal="") & Q(decided_at=None)),
    )


def get_proposals(collection: Collection) -> QuerySet[Topic]:
    """Return the topics that the check proposes to remove or a manager has removed, undecided ones
    first."""
    proposed = collection.topics.select_related("decided_by").filter(
        ~Q(proposal="") | ~Q(removed_reason="")
    )
    return proposed.annotate(
        is_decided=ExpressionWrapper(Q(decided_at__isnull=False), output_field=BooleanField())
    ).order_by("is_decided", "position")


def add_originals(collection: Collection, topics: Iterable[Topic]) -> None:
    """Set `original` of each duplicate to the topic that it repeats, and `differs` if their
    information needs differ."""
    topics = list(topics)
    topic_of = {
        t.topic_id: t
        for t in collection.topics.filter(
            topic_id__in=[topic.same_as for topic in topics if topic.same_as]
        )
    }
    for topic in topics:
        original = topic_of.get(topic.same_as)
        topic.original = original  # type: ignore[attr-defined]
        topic.differs = original is not None and topic.need != original.need  # type: ignore[attr-defined]


def count_open_reasons(collection: Collection) -> list[tuple[str, int]]:
    """Return (reason, number of topics) of undecided proposals."""
    n_by_reason = (
        collection.topics.filter(Q(decided_at=None) & ~Q(proposal=""))
        .order_by()
        .values_list("proposal")
        .annotate(n=Count("pk"))
    )
    return sorted(n_by_reason)


def get_last_level(collection: Collection) -> str:
    """Return the level of the collection's last topic check. Every import checks at level `exact`."""
    last = collection.jobs.filter(kind="check topics").order_by("-created_at").first()
    return last.parameters.get("level", "exact") if last else "exact"


def iterate_topic_lines(collection: Collection) -> Iterator[str]:
    """Yield every topic, kept or removed, as a line of JSON that `assay.formats.topics` can read."""
    for topic in collection.topics.order_by("position"):
        # the names that the reader prefers, so that no other field can be mistaken for one of them
        said = {
            "_id": topic.topic_id,
            "title": topic.text,
            "description": topic.description,
            "narrative": topic.narrative,
        }
        yield (
            json.dumps(
                topic.fields | {name: text for name, text in said.items() if text},
                ensure_ascii=False,
            )
            + "\n"
        )
