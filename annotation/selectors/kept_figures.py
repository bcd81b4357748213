"""Checks of stored counters of campaigns and memberships against the rows. Differences are returned
as sentences.

`check_invariants` in `annotation.selectors.judging` checks slots, leases and revisions.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet
from django.db.models.functions import Coalesce

from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign, Judgement, Membership, Pair, Question
from annotation.selectors import llm_judges
from annotation.selectors.pairs import count_pairs_by_kind
from annotation.services.judging.slots import (
    CANNOT_JUDGE_JUDGEMENTS,
    balance_slots,
    count_cannot_judge,
    is_unjudgeable,
    needed_judgements,
)
from assay.labels.annotator_types import AnnotatorType

DIFFERS_FROM_ENTRY = (
    ~Q(topic_row=F("entry__topic_id"))
    | ~Q(priority=F("entry__priority"))
    | ~Q(position=F("entry__position"))
    | Q(without_text=True, entry__document__isnull=False)
    | Q(without_text=False, entry__document__isnull=True)
    | Q(removed=True, entry__topic__removed_reason="")
    | (Q(removed=False) & ~Q(entry__topic__removed_reason=""))
)


def immediate_faults(campaign: Campaign) -> list[str]:
    """Return errors in counters that every transaction keeps correct, also while annotators judge:
    counters of members, slots of special pairs, frozen LLM judges, uses of invitations."""
    return [
        *_member_faults(campaign),
        *_special_pair_faults(campaign),
        *_llm_judge_faults(campaign),
        *_invitation_faults(campaign),
    ]


def deferred_faults(campaign: Campaign) -> list[str]:
    """Return errors in counters that a later, separate transaction updates. They can be outdated
    briefly after a manager's change and while a job extends the pool."""
    faults = [
        f"{name} is {getattr(campaign, name)}, but a recount gives {so}"
        for name, so in count_campaign_figures(campaign).items()
        if getattr(campaign, name) != so
    ]
    faults += _unjudgeable_pair_faults(campaign)
    rows = (
        Pair.objects.filter(DIFFERS_FROM_ENTRY, campaign=campaign)
        .select_related("entry__topic")
        .order_by("pk")
    )
    for pair in rows:
        kept, so = copied_entry_fields(pair), current_entry_fields(pair)
        faults.append(
            f"{pair}: "
            + ", ".join(
                f"{name} is {kept[name]}, but {value} in its pool entry"
                for name, value in so.items()
                if kept[name] != value
            )
        )
    return faults


def count_campaign_figures(campaign: Campaign) -> dict[str, int]:
    """Recompute the counts of pairs and guidelines that the campaign's row stores, without pairs of
    removed topics."""
    newest = campaign.guidelines.aggregate(n=Coalesce(Max("number"), 0))["n"]
    return count_pairs_by_kind(campaign) | {"newest_guideline": newest}


def copied_entry_fields(pair: Pair) -> dict[str, Any]:
    """Return the values that a pair has copied from its pool entry."""
    return {
        name: getattr(pair, name)
        for name in ("topic_row", "priority", "position", "without_text", "removed")
    }


def current_entry_fields(pair: Pair) -> dict[str, Any]:
    """Return the pool entry's current values of the fields that pairs copy."""
    entry = pair.entry
    return {
        "topic_row": entry.topic_id,
        "priority": entry.priority,
        "position": entry.position,
        "without_text": entry.document_id is None,
        "removed": entry.topic.removed_reason != "",
    }


def count_judged_today(members: QuerySet[Membership]) -> dict[int, int]:
    """Count the pairs judged by each member since the midnight from which the stored `n_today`
    counts."""
    rows = Judgement.objects.filter(
        membership__in=members, current=True, judged_at__gte=F("membership__today_since")
    )
    rows = rows.exclude(status=Judgement.Status.TOO_FAST).exclude(
        pair__kind=Pair.Kind.QUALIFICATION
    )
    return dict(rows.values_list("membership").annotate(n=Count("pk")).order_by())


def count_unread_answers(members: QuerySet[Membership]) -> dict[int, int]:
    rows = Question.objects.filter(membership__in=members, read_at=None).exclude(answered_at=None)
    return dict(rows.values_list("membership").annotate(n=Count("pk")).order_by())


def find_wrong_use_counts(campaign: Campaign) -> dict[int, int]:
    """Return the number of uses of each invitation according to the audit log, if the stored
    number differs.

    Earlier versions did not record the invitation in the audit log. Their invitations may
    therefore have more uses than recorded. After an upgrade, newer invitations may also have as
    many additional uses as there are joins without a recorded invitation.
    """
    trail = AuditEvent.objects.filter(
        campaign=campaign, action__in=(AuditAction.INVITED, AuditAction.JOINED)
    )
    trail = trail.exclude(
        subject__in=campaign.memberships.exclude(annotator_type=AnnotatorType.HUMAN).values(
            "pseudonym"
        )
    )
    made_at: dict[int, int] = {}
    told: Counter[int] = Counter()
    untold = []
    for event, action, invitation in trail.values_list("pk", "action", "details__invitation"):
        if action == AuditAction.INVITED and invitation is not None:
            made_at[invitation] = event
        elif action == AuditAction.JOINED and invitation is not None:
            told[invitation] += 1
        elif action == AuditAction.JOINED:
            untold.append(event)
    wrong = {}
    for pk, kept in campaign.invitations.values_list("pk", "n_uses"):
        so = told[pk]
        if kept < so or (
            pk in made_at and kept > so + sum(event > made_at[pk] for event in untold)
        ):
            wrong[pk] = so
    return wrong


def _invitation_faults(campaign: Campaign) -> list[str]:
    wrong = find_wrong_use_counts(campaign)
    rows = campaign.invitations.filter(pk__in=wrong).order_by("pk")
    return [
        f"invitation {row.pk} ({row}): {row.n_uses} uses by the counter, {wrong[row.pk]} by the audit log"
        for row in rows
    ]


def _member_faults(campaign: Campaign) -> list[str]:
    members = campaign.memberships.all()
    today, unread = count_judged_today(members), count_unread_answers(members)
    faults = []
    for member in members.order_by("pk"):
        if member.today_since is not None and member.n_today != today.get(member.pk, 0):
            faults.append(
                f"{member}: {member.n_today} judged today by the counter, {today.get(member.pk, 0)} by the rows"
            )
        if member.unread_answers != unread.get(member.pk, 0):
            faults.append(
                f"{member}: {member.unread_answers} unread answers by the counter, "
                f"{unread.get(member.pk, 0)} by the rows"
            )
    return faults


def _special_pair_faults(campaign: Campaign) -> list[str]:
    """Return errors in the slots of control pairs and of pairs that need no more judgements for
    another reason (cannot be judged, removed topic, beyond the judging depth). Their slots follow
    directly from the campaign's settings, and `check_invariants` skips them."""
    n = campaign.judgements_per_pair
    special = (
        ~Q(kind=Pair.Kind.NORMAL)
        | Q(unjudgeable=True)
        | Q(removed=True)
        | Q(beyond_depth=True, counted=0)
    )
    faults = []
    for pair in Pair.objects.filter(special, campaign=campaign).order_by("pk"):
        kept = pair.needed, pair.started
        balance_slots(pair, n)
        if kept != (pair.needed, pair.started):
            faults.append(
                f"{pair}: needs {kept[0]} and started is {kept[1]}, recomputed {pair.needed} and {pair.started}"
            )
    return faults


def _unjudgeable_pair_faults(campaign: Campaign) -> list[str]:
    n, rows = campaign.judgements_per_pair, CANNOT_JUDGE_JUDGEMENTS.filter(pair__campaign=campaign)
    said = count_cannot_judge(rows)
    faults = []
    for pair in Pair.objects.filter(
        Q(unjudgeable=True) | Q(pk__in=rows.values("pair")), campaign=campaign
    ).order_by("pk"):
        if pair.unjudgeable != is_unjudgeable(pair, n, said.get(pair.pk, 0)):
            marked = "is marked" if pair.unjudgeable else "is not marked"
            faults.append(
                f"{pair}: {marked} as one that cannot be judged, and {said.get(pair.pk, 0)} of "
                f"{needed_judgements(pair, n)} said so"
            )
    return faults


def _llm_judge_faults(campaign: Campaign) -> list[str]:
    frozen = campaign.llm_judges.exclude(frozen_at=None).order_by("pk")
    return [
        f"LLM judge {one}: its labels do not match its digest"
        for one in frozen
        if llm_judges.compute_labels_digest(llm_judges.get_labels(one)) != one.digest
    ]
