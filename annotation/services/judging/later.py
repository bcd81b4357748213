"""Taking up again what an annotator put aside ("judge later"), when the annotator says so and not
only when nothing else is left."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Judgement, Lease, Membership, Pair, Skip
from annotation.services.errors import AnswerRefused
from annotation.services.judging import slots
from annotation.services.judging.leases import expiry


def take_up(annotator: Membership, pair_id: int, *, now: datetime | None = None) -> Lease:
    """A lease for a pair that the annotator put aside; the annotator's live one if there is one.
    The pair is aside no longer.

    Raises Refused: 404 for a pair that was not put aside, 409 where it is judged, or where others
    judge it meanwhile."""
    now = now or timezone.now()

    def work() -> Lease:
        locked = (
            Membership.objects.select_for_update(of=("self",))
            .select_related("campaign")
            .get(pk=annotator.pk)
        )
        live = (
            Lease.objects.select_for_update()
            .filter(membership=locked, pair_id=pair_id, state=Lease.State.LIVE)
            .first()
        )
        if live is not None:
            return live
        if Judgement.objects.filter(membership=locked, pair_id=pair_id, current=True).exists():
            raise AnswerRefused(
                "already_judged",
                _("You have judged this document meanwhile; change it in your history."),
                409,
            )
        if not Skip.objects.filter(membership=locked, pair_id=pair_id).exists():
            raise AnswerRefused("not_aside", _("You have not put this document aside."), 404)
        pair = slots.locked([pair_id])[pair_id]
        takes_slot = pair.kind == Pair.Kind.NORMAL
        if pair.removed:
            raise AnswerRefused(
                "removed", _("The topic of this document has been removed from the campaign."), 409
            )
        n = slots.per_pair(pair.campaign_id)
        slots.balance_slots(pair, n)
        if takes_slot and (pair.open_slots <= 0 or pair.without_text):
            raise AnswerRefused(
                "taken",
                _("Others have this document now; it comes back to you if they do not judge it."),
                409,
            )
        lease = Lease.objects.create(
            pair=pair,
            membership=locked,
            takes_slot=takes_slot,
            served_at=now,
            expires_at=expiry(locked, now),
            why={
                "rule": "put aside earlier, and taken up again by the annotator",
                "priority": pair.priority,
                "position": pair.position,
            },
        )
        pair.held += takes_slot
        slots.save(pair, n)
        Skip.objects.filter(membership=locked, pair_id=pair_id).delete()
        return lease

    return slots.retrying(work)
