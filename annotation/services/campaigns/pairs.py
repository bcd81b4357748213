"""The pairs of a campaign: creation from the pool, updates when the pool grows, and their kinds."""

from __future__ import annotations

import time
from functools import partial

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F, Max, Min, Q
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import count_pairs_by_kind
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.judging import slots
from assay.pools.pool_kinds import PoolKind
from pooling.models import Pool, PoolEntry, Topic

MISSING_PAIRS = """INSERT INTO annotation_pair
  (campaign_id, entry_id, topic_row, kind, priority, position, needed, counted, held, open_slots, started, unjudgeable,
   without_text, gold_explanation, adjudicated_reason, beyond_depth)
  SELECT %(campaign)s, e.id, e.topic_id, CASE WHEN e.everyone THEN 'everyone' ELSE 'normal' END, e.priority, e.position,
   CASE WHEN e.priority < %(least)s AND NOT e.everyone THEN 0 ELSE %(n)s END, 0, 0,
   CASE WHEN e.priority < %(least)s AND NOT e.everyone THEN 0 ELSE %(n)s END, %(no)s, %(no)s,
   e.document_id IS NULL OR (e.other_docno <> '' AND e.other_document_id IS NULL), '', '', e.priority < %(least)s
  FROM pooling_poolentry e JOIN pooling_topic t ON t.id = e.topic_id
  WHERE e.pool_id = %(pool)s AND e.id BETWEEN %(first)s AND %(last)s AND t.removed_reason = ''
    AND (e.stage IS NOT NULL OR NOT %(staged)s)
    AND NOT EXISTS (SELECT 1 FROM annotation_pair p WHERE p.campaign_id = %(campaign)s AND p.entry_id = e.id)"""


NO_DEPTH_LIMIT = -(2**31)
"""A value below every priority."""


def iterate_id_ranges(ids: tuple[int | None, int | None]) -> list[tuple[int, int]]:
    """Return ranges of row ids as (first, last), each small enough for a short transaction, because
    annotators wait for it."""
    first, last = ids
    if first is None or last is None:
        return []
    return [
        (start, min(start + slots.BATCH - 1, last)) for start in range(first, last + 1, slots.BATCH)
    ]


def yield_to_writers(batch: int) -> None:
    """Pause between two batches, so that others can use SQLite's single writer."""
    if connection.vendor == "sqlite" and batch and not connection.in_atomic_block:
        time.sleep(0.03)


def set_pool(campaign: Campaign, pool: Pool, *, actor: User | None = None) -> int:
    """Make the pool's entries the campaign's pairs and return the number of pairs.

    Entries of removed topics, and entries of a staged pool that are not drawn yet, are left out.
    Entries marked for everyone become calibration pairs. Repeating the call completes an
    interrupted one, also after the pool has grown. The pool of a campaign with judgements cannot be
    replaced.
    """
    if pool.collection_id != campaign.collection_id:
        raise CampaignError(
            _("The pool belongs to another collection. Choose a pool of this collection.")
        )
    if campaign.is_preferences != (pool.kind == PoolKind.BATTLES):
        raise CampaignError(
            _("A preference campaign needs a pool of battles. Choose another pool.")
            if campaign.is_preferences
            else _("A pool of battles needs a preference campaign. Choose another pool.")
        )
    other = (
        Campaign.objects.filter(pool=pool).exclude(pk=campaign.pk).first()
        if pool.kind == PoolKind.ORDERED
        else None
    )
    if other is not None:
        raise CampaignError(
            _(
                "The judgements of %(other)s determine the order of this pool. Create "
                "another pool for this campaign."
            )
            % {"other": other.name}
        )
    if campaign.pool_id not in (None, pool.pk):
        if Pair.objects.filter(campaign=campaign, leases__isnull=False).exists():
            raise CampaignError(
                _(
                    "Annotators have already been assigned pairs of this pool. Create a new "
                    "campaign for another pool."
                )
            )
        Pair.objects.filter(campaign=campaign).delete()
    campaign.pool = pool
    campaign.save(update_fields=["pool"])
    made = _add_missing_pairs(campaign)
    _update_order(campaign)
    release_pairs_with_text(campaign)
    record_event(
        campaign, actor, AuditAction.CHOSE_THE_POOL, pool.name, pairs=campaign.n_pairs, new=made
    )
    return campaign.n_pairs


def add_new_pairs(campaign: Campaign, *, actor: User | None = None) -> int:
    """Add the pool's new pairs, and update ranks and order of the existing ones. Judgements and
    leases are unchanged.

    Returns the number of pairs added. It is safe while annotators judge.
    """
    if campaign.pool_id is None:
        raise CampaignError(_("The campaign has no pool yet."))
    made = _add_missing_pairs(campaign)
    moved = _update_order(campaign)
    release_pairs_with_text(campaign)
    record_event(
        campaign,
        actor,
        AuditAction.EXTENDED_THE_POOL,
        campaign.pool.name if campaign.pool else "",
        added=made,
        moved=moved,
        pairs=campaign.n_pairs,
    )
    return made


def release_pairs_with_text(campaign: Campaign) -> int:
    """Release pairs that were held back because their text was missing and is now available.
    Returns their number. It is safe while annotators judge."""
    served = 0
    waiting = (
        Pair.objects.filter(campaign=campaign, without_text=True, entry__document__isnull=False)
        .exclude(~Q(entry__other_docno=""), entry__other_document=None)
        .order_by("pk")
    )
    while ids := list(waiting.values_list("pk", flat=True)[: slots.BATCH]):
        yield_to_writers(served)

        def serve(ids: list[int] = ids) -> int:
            slots.lock_pairs(ids)
            return Pair.objects.filter(pk__in=ids).update(without_text=False)

        served += slots.run_with_retries(serve)
    return served


def apply_topic_decisions(campaign: Campaign, *, actor: User | None = None) -> None:
    """Remove the pairs of removed topics from the campaign, and restore those of restored topics
    with their judgements.

    It is safe while annotators judge: answers in progress are accepted, and count if the topic is
    restored.
    """
    gone = (
        Topic.objects.filter(collection=campaign.collection_id)
        .exclude(removed_reason="")
        .values("pk")
    )
    pairs = Pair.objects.filter(campaign=campaign)
    for removed, changed in (
        (True, pairs.filter(removed=False, topic_row__in=gone)),
        (False, pairs.filter(removed=True).exclude(topic_row__in=gone)),
    ):
        ids = list(changed.order_by("pk").values_list("pk", flat=True))
        if not ids:
            continue
        rows = Topic.objects.filter(pk__in=changed.values("topic_row")).order_by("position")
        topics = dict(rows.values_list("topic_id", "removed_reason"))
        set_pair_field(campaign, ids, "removed", removed)
        named = ", ".join(topics)
        record_event(
            campaign,
            actor,
            AuditAction.REMOVED_TOPICS if removed else AuditAction.RESTORED_TOPICS,
            named,
            topics=topics,
            pairs=len(ids),
        )
    if campaign.pool_id is not None:
        _add_missing_pairs(campaign)


def set_pair_field(campaign: Campaign, ids: list[int], name: str, value: bool) -> None:
    """Set a field of pairs on which their assignment depends, and update their slots. Works in
    batches, because annotators wait for each transaction."""
    for start in range(0, len(ids), slots.BATCH):
        yield_to_writers(start)
        slots.run_with_retries(
            partial(_set_pair_field, campaign, ids[start : start + slots.BATCH], name, value)
        )


def _set_pair_field(campaign: Campaign, ids: list[int], name: str, value: bool) -> None:
    rows = slots.lock_pairs(ids).values()
    for pair in rows:
        setattr(pair, name, value)
    Pair.objects.bulk_update(rows, [name], batch_size=slots.BATCH)
    slots.save_pairs(rows, campaign.pk)


def _add_missing_pairs(campaign: Campaign) -> int:
    made = 0
    staged = campaign.pool is not None and campaign.pool.is_staged
    ids = PoolEntry.objects.filter(pool=campaign.pool_id).aggregate(first=Min("pk"), last=Max("pk"))
    for number, (first, last) in enumerate(iterate_id_ranges((ids["first"], ids["last"]))):
        yield_to_writers(number)
        with transaction.atomic(), connection.cursor() as cursor:
            n = slots.get_judgements_per_pair(campaign.pk)
            values = {
                "campaign": campaign.pk,
                "pool": campaign.pool_id,
                "n": n,
                "no": False,
                "staged": staged,
                "first": first,
                "last": last,
            }
            values["least"] = (
                NO_DEPTH_LIMIT if (least := slots.get_min_priority(campaign.pk)) is None else least
            )
            cursor.execute(MISSING_PAIRS, values)
            made += cursor.rowcount
    count_pairs(campaign)
    return made


def _update_order(campaign: Campaign) -> int:
    """Copy changed priorities and positions from the pool's entries to the pairs, in batches."""
    moved = 0
    ids = Pair.objects.filter(campaign=campaign).aggregate(first=Min("pk"), last=Max("pk"))
    for number, (first, last) in enumerate(iterate_id_ranges((ids["first"], ids["last"]))):
        yield_to_writers(number)

        def follow(first: int = first, last: int = last) -> int:
            rows = (
                Pair.objects.select_for_update(of=("self",))
                .select_related("entry")
                .filter(campaign=campaign, pk__range=(first, last))
            )
            changed, crossed, least = [], [], slots.get_min_priority(campaign.pk)
            for pair in rows.order_by("pk"):
                entry = pair.entry
                if (pair.priority, pair.position) != (entry.priority, entry.position):
                    pair.priority, pair.position = entry.priority, entry.position
                    changed.append(pair)
                    if pair.beyond_depth != slots.is_beyond_depth(pair.priority, least):
                        pair.beyond_depth = not pair.beyond_depth
                        crossed.append(pair)
            Pair.objects.bulk_update(
                changed, ["priority", "position", "beyond_depth"], batch_size=slots.BATCH
            )
            slots.save_pairs(crossed, campaign.pk)
            return len(changed)

        moved += slots.run_with_retries(follow)
    if moved:
        count_pairs(campaign)
    return moved


def update_needed_judgements(campaign: Campaign) -> None:
    """Adjust each pair's number of slots to new judgements per pair while annotators are judging.
    Also update which pairs count as impossible to judge, because that depends on this number."""
    ids = Pair.objects.filter(campaign=campaign).aggregate(first=Min("pk"), last=Max("pk"))
    for number, (first, last) in enumerate(iterate_id_ranges((ids["first"], ids["last"]))):
        yield_to_writers(number)

        def renew(first: int = first, last: int = last) -> None:
            rows = Pair.objects.filter(campaign=campaign, pk__range=(first, last))
            # locks rows in the same order as all other transactions
            list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
            n = slots.get_judgements_per_pair(campaign.pk)
            said = slots.CANNOT_JUDGE_JUDGEMENTS.filter(pair__in=rows)
            slots.save_pairs(
                slots.update_unjudgeable(
                    rows.filter(Q(unjudgeable=True) | Q(pk__in=said.values("pair"))), n
                ),
                campaign.pk,
            )
            # not below the counted judgements, which remain counted
            needed = Greatest(F("counted"), F("asked_more") + n)
            rows.filter(kind=Pair.Kind.NORMAL, unjudgeable=False, removed=False).exclude(
                beyond_depth=True, counted=0
            ).update(needed=needed, open_slots=needed - F("counted") - F("held"))
            rows.filter(kind__in=[Pair.Kind.GOLD, Pair.Kind.EVERYONE]).update(
                needed=n, open_slots=n - F("counted") - F("held")
            )

        slots.run_with_retries(renew)


def count_pairs(campaign: Campaign) -> None:
    """Store the campaign's number of kept pairs of each kind, its number of topics, and its highest
    priority."""
    counts = count_pairs_by_kind(campaign)
    for name, value in counts.items():
        setattr(campaign, name, value)
    campaign.save(update_fields=list(counts))


def set_pair_kind(
    pair: Pair,
    kind: str,
    *,
    gold_grade: int | None = None,
    explanation: str = "",
    actor: User | None = None,
) -> Pair:
    """Make a pair ordinary, gold, calibration or qualification. Gold and qualification pairs
    require a known grade.

    A judged pair cannot become a qualification pair, because its judgements would be removed from
    the labels.
    """
    campaign = pair.campaign
    if kind not in Pair.Kind.values:
        raise CampaignError(
            _("Unknown pair type “%(kind)s”. Choose one of: %(values)s.")
            % {"values": ", ".join(Pair.Kind.values), "kind": kind[:20]}
        )
    known = kind in (Pair.Kind.GOLD, Pair.Kind.QUALIFICATION)
    if known and campaign.is_preferences:
        raise CampaignError(_("Battles have no known answer, so they can't be control pairs."))
    if known and gold_grade not in campaign.grades.values:
        raise CampaignError(_("The known grade must be on the scale."))

    def change() -> Pair:
        row = slots.lock_pairs([pair.pk])[pair.pk]
        if (
            Pair.Kind.QUALIFICATION in (kind, row.kind)
            and kind != row.kind
            and row.judgements.exists()
        ):
            raise CampaignError(
                _(
                    "The pair has judgements, so you can't change whether it is a "
                    "qualification question."
                )
            )
        row.kind, row.gold_grade, row.gold_explanation = (
            kind,
            gold_grade if known else None,
            explanation if known else "",
        )
        row.save(update_fields=["kind", "gold_grade", "gold_explanation"])
        n = slots.get_judgements_per_pair(campaign.pk)
        slots.update_unjudgeable([row], n)
        slots.save_pair(row, n)
        record_event(
            campaign,
            actor,
            AuditAction[f"MADE_A_PAIR_{kind.upper()}"],
            str(row.entry),
            gold_grade=row.gold_grade,
        )
        return row

    changed = slots.run_with_retries(change)
    count_pairs(campaign)
    return changed
