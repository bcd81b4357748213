"""What an annotator put aside with "judge later"."""

from __future__ import annotations

from typing import Any

from annotation.models import Judgement, Membership, Skip


def put_aside(annotator: Membership) -> list[dict[str, Any]]:
    """What the annotator put aside and has not judged since, the latest first."""
    judged = Judgement.objects.filter(membership=annotator, current=True).values("pair_id")
    rows = (
        Skip.objects.filter(membership=annotator, pair__removed=False)
        .exclude(pair__in=judged)
        .select_related("pair__entry__topic", "pair__entry__document")
    )
    return [
        {
            "pair": row.pair_id,
            "topic": {"id": row.pair.entry.topic.topic_id, "text": row.pair.entry.topic.text},
            "document": {
                "id": row.pair.entry.docno,
                "title": row.pair.entry.document.title if row.pair.entry.document else "",
            },
            "at": row.created_at,
        }
        for row in rows.order_by("-created_at", "-pk")
    ]
