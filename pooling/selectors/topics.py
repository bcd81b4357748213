"""A collection's topics as pages show them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from pooling.models import Collection, Topic


def get_topics(collection: Collection) -> QuerySet[Topic]:
    """Topics in their order."""
    return collection.topics.select_related("decided_by").order_by("position")


def filter_by_state(topics: QuerySet[Topic], state: str) -> QuerySet[Topic]:
    """state: kept, removed, or open (proposed for removal and not decided)."""
    if state == "open":
        return topics.exclude(proposal="").filter(decided_at=None)
    return (
        topics.filter(removed_reason="") if state == "kept" else topics.exclude(removed_reason="")
    )


def filter_by_decision(proposals: QuerySet[Topic], decision: str) -> QuerySet[Topic]:
    """decision: open, removed or kept (with a proposal)."""
    if decision == "open":
        return proposals.filter(decided_at=None)
    return (
        proposals.filter(decided_at__isnull=False, removed_reason="")
        if decision == "kept"
        else proposals.exclude(removed_reason="")
    )


def count_topics(collection: Collection) -> dict[str, int]:
    """all, kept, removed, open (proposed and not decided)."""
    return collection.topics.aggregate(
        all=Count("pk"),
        kept=Count("pk", filter=Q(removed_reason="")),
        removed=Count("pk", filter=~Q(removed_reason="")),
        open=Count("pk", filter=~Q(proposal="") & Q(decided_at=None)),
    )


def get_proposals(collection: Collection) -> QuerySet[Topic]:
    """Topics that the check proposes to remove or that a manager has removed; undecided ones
    first."""
    proposed = collection.topics.select_related("decided_by").filter(
        ~Q(proposal="") | ~Q(removed_reason="")
    )
    return proposed.annotate(
        is_decided=ExpressionWrapper(Q(decided_at__isnull=False), output_field=BooleanField())
    ).order_by("is_decided", "position")


def add_originals(collection: Collection, shown: Iterable[Topic]) -> None:
    """Give each duplicate the topic that it repeats, as `original`; `differs`: their information
    needs do."""
    shown = list(shown)
    topic_of = {
        t.topic_id: t
        for t in collection.topics.filter(
            topic_id__in=[topic.same_as for topic in shown if topic.same_as]
        )
    }
    for topic in shown:
        original = topic_of.get(topic.same_as)
        topic.original = original  # type: ignore[attr-defined]
        topic.differs = original is not None and topic.need != original.need  # type: ignore[attr-defined]


def count_open_reasons(collection: Collection) -> list[tuple[str, int]]:
    """(reason, topics) of proposals that nobody has decided."""
    n_by_reason = (
        collection.topics.filter(Q(decided_at=None) & ~Q(proposal=""))
        .order_by()
        .values_list("proposal")
        .annotate(n=Count("pk"))
    )
    return sorted(n_by_reason)


def get_last_level(collection: Collection) -> str:
    """The level of the last check; `exact` is what every import does."""
    last = collection.jobs.filter(kind="check topics").order_by("-created_at").first()
    return last.parameters.get("level", "exact") if last else "exact"


def iterate_topic_lines(collection: Collection) -> Iterator[str]:
    """Each topic, kept or removed, as a line of JSON that `assay.formats.topics` reads again."""
    for topic in collection.topics.order_by("position"):
        # The names that the reader prefers, so that a further field cannot be taken for one of
        # them.
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
