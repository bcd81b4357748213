"""Near-duplicates of the current document among documents of the topic that the same annotator has
graded. Judgements of others, and documents not yet judged, are never considered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Substr

from annotation.core import document_display
from annotation.core.text_similarity import (
    NEAR_DUPLICATE_THRESHOLD,
    Shingles,
    compute_resemblance,
    make_shingles,
)
from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors.judging import get_pair_text, render_judgement, render_pair

MAX_COMPARED = 200  # documents, most recently judged first
MAX_CHARACTERS = 6000  # characters of each document, about a thousand words
MAX_SHOWN = 3


def get_assigned_pair(annotator: Membership, pair_id: int) -> Pair | None:
    """Return the pair if it was assigned to this annotator or judged by them, otherwise None."""
    own = {"pair": OuterRef("pk"), "membership": annotator}
    given = Exists(Lease.objects.filter(**own)) | Exists(Judgement.objects.filter(**own))
    return (
        Pair.objects.filter(given, pk=pair_id, campaign=annotator.campaign)
        .select_related("entry__topic", "entry__document")
        .first()
    )


def find_near_duplicates(annotator: Membership, pair: Pair) -> list[dict[str, Any]]:
    """Return up to three near-duplicates as {resemblance, document, judgement}, most similar first,
    and the last judged first among ties. Empty for qualification pairs.

    Compares the latest 200 documents by their first 6,000 characters, or by the shown part if it is
    shorter.
    """
    if pair.kind == Pair.Kind.QUALIFICATION or pair.entry.document is None:
        return []
    campaign = annotator.campaign
    here = _cached_shingles(pair.entry.document.text[:MAX_CHARACTERS], campaign)
    compared = (
        (compute_resemblance(here, _cached_shingles(beginning, campaign)), pair_id)
        for pair_id, beginning in _graded_documents(annotator, pair)
    )
    near = sorted(
        (one for one in compared if one[0] >= NEAR_DUPLICATE_THRESHOLD), key=lambda one: -one[0]
    )[:MAX_SHOWN]
    return _render_near_duplicates(annotator, near)


def find_near_duplicates_among(
    campaign: Campaign, pairs: Sequence[Pair]
) -> dict[int, list[dict[str, Any]]]:
    """Return the near-duplicates among these pairs by pair, as {pair, resemblance}, for a trial of
    the judging page. None for qualification pairs."""
    texts = {
        pair.pk: pair.entry.document.text
        for pair in pairs
        if pair.kind != Pair.Kind.QUALIFICATION and pair.entry.document is not None
    }
    sets = {pk: _cached_shingles(text[:MAX_CHARACTERS], campaign) for pk, text in texts.items()}
    topics = {pair.pk: pair.topic_row for pair in pairs}
    near: dict[int, list[dict[str, Any]]] = {pair.pk: [] for pair in pairs}
    for one, other in permutations(sets, 2):
        if (
            topics[one] == topics[other]
            and (alike := compute_resemblance(sets[one], sets[other])) >= NEAR_DUPLICATE_THRESHOLD
        ):
            near[one].append({"pair": other, "resemblance": alike})
    return near


def _graded_documents(annotator: Membership, pair: Pair) -> list[tuple[int, str]]:
    """Return (pair, beginning of its document) of documents in the topic that the annotator has
    graded, latest first. Excludes too fast and qualification judgements."""
    own = Judgement.objects.filter(
        membership=annotator,
        current=True,
        grade__isnull=False,
        pair__topic_row=pair.topic_row,
        pair__entry__document__isnull=False,
    )
    own = (
        own.exclude(pair=pair)
        .exclude(status=Judgement.Status.TOO_FAST)
        .exclude(pair__kind=Pair.Kind.QUALIFICATION)
    )
    beginning = Substr("pair__entry__document__text", 1, MAX_CHARACTERS)
    return list(own.order_by("-judged_at", "-pk").values_list("pair_id", beginning)[:MAX_COMPARED])


def _cached_shingles(beginning: str, campaign: Campaign) -> Shingles:
    return make_shingles(
        beginning[: document_display.shown_end(beginning, campaign.truncate_words)]
    )


def _render_near_duplicates(
    annotator: Membership, near: list[tuple[float, int]]
) -> list[dict[str, Any]]:
    rows = Judgement.objects.filter(membership=annotator, pair__in=[pair_id for _, pair_id in near])
    revisions: dict[int, list[Judgement]] = {}
    for row in rows.select_related("pair__entry__topic", "pair__entry__document").order_by(
        "revision"
    ):
        revisions.setdefault(row.pair_id, []).append(row)
    return [
        {
            "resemblance": alike,
            "document": render_pair(get_pair_text(revisions[pair_id][-1].pair), annotator)[
                "document"
            ],
            "judgement": render_judgement(revisions[pair_id]),
        }
        for alike, pair_id in near
    ]
