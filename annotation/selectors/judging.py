"""What the judging page asks: the annotator's situation and progress, the pairs in hand, the history; and an audit of the counters."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q
from django.utils import timezone

from annotation.core import display, scheduling
from annotation.markup import markdown
from annotation.models import Campaign, GuidelineVersion, Judgement, Lease, Membership, Pair, Profile, Skip
from annotation.selectors import qualification
from annotation.selectors.pairs import held_back

RETRY_AFTER_S = 30
MAY_RETURN_COUNTED = 1000


@dataclass(frozen=True)
class Progress:
    """judged: pairs with an own judgement that is not too fast (qualification apart). today: since midnight of the annotator's clock."""

    judged: int
    target: int | None
    today: int
    daily_limit: int | None
    topic_position: int
    topics: int


@dataclass(frozen=True)
class Situation:
    """state: one of the words of the judging API. may_claim: whether pairs may be served now."""

    state: str
    message: str
    progress: Progress
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def may_claim(self) -> bool:
        return self.state in ("judging", "qualification")


def zone_of(membership: Membership) -> zoneinfo.ZoneInfo:
    """The annotator's time zone, from the profile; else the installation's."""
    name = getattr(getattr(membership.user, "profile", None), "time_zone", "")
    try:
        return zoneinfo.ZoneInfo(name) if name else zoneinfo.ZoneInfo(timezone.get_default_timezone_name())
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


def choices_of(membership: Membership) -> dict[str, Any]:
    """The person's own settings of the judging page; what was never chosen is not among them."""
    return Profile.objects.filter(user=membership.user_id).values_list("choices", flat=True).first() or {}


def progress(membership: Membership, *, now: datetime) -> Progress:
    own = Judgement.objects.filter(membership=membership, current=True)
    since = scheduling.day_start(now, zone_of(membership))
    today = (
        own.filter(judged_at__gte=since).exclude(standing=Judgement.Standing.TOO_FAST).exclude(pair__kind=Pair.Kind.QUALIFICATION).count()
    )
    seen = Lease.objects.filter(membership=membership).aggregate(n=Count("pair__topic_row", distinct=True))["n"]
    topics = len(membership.topic_ids) or membership.campaign.n_topics
    return Progress(membership.n_counted, membership.goal, today, membership.day_limit, min(seen, topics), topics)


def newest_guideline(campaign: Campaign) -> GuidelineVersion | None:
    return GuidelineVersion.objects.filter(campaign=campaign).order_by("-number").first()


def guideline(version: GuidelineVersion) -> dict[str, Any]:
    return {"number": version.number, "html": markdown(version.text), "note": version.note}


def farewell(campaign: Campaign) -> dict[str, Any]:
    """What an annotator gets at the end."""
    thanks = markdown(campaign.thanks_text) if campaign.thanks_text else ""
    return {"completion_code": campaign.completion_code, "completion_url": campaign.completion_url, "thanks_html": thanks}


def situation(membership: Membership, *, now: datetime, continue_after_target: bool = False) -> Situation:
    """Whether the annotator may judge now, and if not, why. The first reason that holds is given, the most final first."""
    campaign, own = membership.campaign, progress(membership, now=now)

    def say(state: str, message: str, **details: Any) -> Situation:
        return Situation(state, message, own, details)

    if campaign.state == Campaign.State.DRAFT:
        return say("draft", "This campaign has not been opened yet.")
    if campaign.state == Campaign.State.CLOSED:
        return say("closed", "This campaign is closed. Thank you for your work.")
    if membership.standing == Membership.Standing.EXCLUDED:
        return say("excluded", "You no longer take part in this campaign. Ask its manager if you think that is wrong.")
    if campaign.deadline is not None and campaign.deadline <= now:
        return say("deadline_passed", "The deadline has passed. Thank you for your work.", deadline=campaign.deadline)
    if membership.standing == Membership.Standing.PAUSED:
        return say("paused", "Your judging is paused.", reason=membership.standing_reason, who="person")
    if campaign.state == Campaign.State.PAUSED:
        return say("paused", "The campaign is paused.", reason=campaign.paused_reason, who="campaign")
    if campaign.consent_text and membership.consented_at is None:
        return say("consent_needed", "Please read and accept the terms first.", consent_html=markdown(campaign.consent_text))
    version = newest_guideline(campaign)
    if version is not None and membership.guideline_read < version.number:
        message = (
            "The guidelines have changed; please read them before you go on."
            if membership.guideline_read
            else "Please read the guidelines first."
        )
        return say("guideline_changed", message, guideline=guideline(version))
    if qualification.asked_of(membership):
        result = qualification.score(membership)
        return say(
            "qualification", "A short test first, explained as you go.", judged=result.judged, right=result.right, total=result.total
        )
    may_continue = campaign.continue_after_target
    if own.target is not None and own.judged >= own.target and not (continue_after_target and may_continue):
        return say("target_reached", f"You reached {own.target} judgements. Thank you.", may_continue=may_continue, **farewell(campaign))
    if own.daily_limit is not None and own.today >= own.daily_limit:
        return say("daily_limit", f"That is {own.today} for today, the daily limit. Come back tomorrow.")
    return say("judging", "")


def when_nothing_is_free(membership: Membership, now: datetime) -> tuple[str, str, dict[str, Any]]:
    """(state, message, details) for an annotator for whom there is no pair: nothing now, or done.

    Pairs that others hold may come back when their leases end, and those without a text when it is imported: somebody who has
    judged nothing yet waits for them, everybody else is done.
    """
    pairs = Pair.objects.filter(campaign=membership.campaign_id, kind=Pair.Kind.NORMAL, counted__lt=F("needed"), held__gt=0)
    if membership.topic_ids:
        pairs = pairs.filter(topic_row__in=membership.topic_ids)
    judged = Judgement.objects.filter(membership=membership, current=True).values("pair_id")
    held = (
        Lease.objects.filter(state=Lease.State.LIVE, takes_slot=True, pair__in=pairs)
        .exclude(pair__in=judged)
        .exclude(membership=membership)
    )
    figures = held.aggregate(n=Count("pair", distinct=True), soonest=Min("expires_at"))
    if not figures["n"]:
        waiting = held_back(membership.campaign, membership.topic_ids)
        if waiting and not membership.n_counted:
            message = f"The documents of this campaign are not there yet; its manager has to import them. We look again every {RETRY_AFTER_S} seconds."
            return "nothing_now", message, {"retry_after_s": RETRY_AFTER_S, "may_return": 0, "next_return_at": None, "without_documents": waiting}
        later = f" {waiting} pairs wait for their documents." if waiting > 1 else " One pair waits for its document." if waiting else ""
        return "done", f"There is nothing left for you to judge in this campaign.{later} Thank you.", farewell(membership.campaign)
    minutes = max(1, round((figures["soonest"] - now) / timedelta(minutes=1)))
    message = (
        f"All remaining pairs are with others; we look again every {RETRY_AFTER_S} seconds "
        f"({figures['n']} may come back, the first within {minutes} min)."
    )
    return "nothing_now", message, {"retry_after_s": RETRY_AFTER_S, "may_return": figures["n"], "next_return_at": figures["soonest"]}


def live_leases(membership: Membership) -> list[Lease]:
    """The annotator's live leases, oldest first, with everything the page shows."""
    live = Lease.objects.filter(membership=membership, state=Lease.State.LIVE)
    return list(live.select_related("pair__entry__topic", "pair__entry__document").order_by("served_at", "pk"))


def pair_shown(pair: Pair, membership: Membership, *, skipped: bool = False) -> dict[str, Any]:
    """A pair as the annotator sees it: never rank, score, run, the known grade or anybody else's label."""
    campaign, entry = membership.campaign, pair.entry
    topic, document = entry.topic, entry.document
    text, n_words = (document.text, document.n_words) if document else ("", 0)
    shown = display.shown_words(n_words, campaign.truncate_words)
    return {
        "pair": pair.pk,
        "topic": {"id": topic.topic_id, "text": topic.text, "description": topic.description, "narrative": topic.narrative},
        "document": {
            "id": entry.docno,
            "title": document.title if document else "",
            "text": text,
            "fields": document.fields if document else {},
            "missing": document is None,
            "n_words": n_words,
            "shown_words": shown,
            "idle_limit_s": display.idle_limit_s(campaign.idle_seconds, n_words),
            "rotation": display.rotation(text, membership.seed ^ pair.pk, words=shown) if campaign.rotate_text and text else 0,
            "dir": "auto",
        },
        "skipped_before": skipped,
        "previous": None,
    }


def leases_shown(leases: list[Lease], membership: Membership) -> list[dict[str, Any]]:
    skipped = set(
        Skip.objects.filter(membership=membership, pair__in=[lease.pair_id for lease in leases]).values_list("pair_id", flat=True)
    )
    return [
        {
            "lease": str(lease.token),
            "served_at": lease.served_at,
            "expires_at": lease.expires_at,
            **pair_shown(lease.pair, membership, skipped=lease.pair_id in skipped),
        }
        for lease in leases
    ]


def with_texts(lease_ids: list[int]) -> list[Lease]:
    return list(
        Lease.objects.filter(pk__in=lease_ids).select_related("pair__entry__topic", "pair__entry__document").order_by("served_at", "pk")
    )


def history(membership: Membership, *, limit: int, before: int | None) -> list[dict[str, Any]]:
    """The annotator's own judgements, the latest judged pair first; a revision does not move its pair.

    before: any judgement id of the pair after which to go on.
    """
    firsts = Judgement.objects.filter(membership=membership, revision=1)
    if before is not None:
        pair_of = Judgement.objects.filter(pk=before, membership=membership).values_list("pair_id", flat=True).first()
        firsts = firsts.filter(pk__lt=firsts.filter(pair=pair_of).values("pk")[:1])
    pair_ids = list(firsts.order_by("-pk").values_list("pair_id", flat=True)[:limit])
    rows = Judgement.objects.filter(membership=membership, pair__in=pair_ids).select_related("pair__entry__topic", "pair__entry__document")
    revisions: dict[int, list[Judgement]] = {}
    for row in rows.order_by("revision"):
        revisions.setdefault(row.pair_id, []).append(row)
    return [judgement_shown(revisions[pair_id]) for pair_id in pair_ids]


def judgement_shown(revisions: list[Judgement]) -> dict[str, Any]:
    """One line of the history: the current judgement and all its revisions, oldest first."""
    current = revisions[-1]
    entry = current.pair.entry
    return {
        "judgement": current.pk,
        "pair": current.pair_id,
        "topic": {"id": entry.topic.topic_id, "text": entry.topic.text},
        "document": {"id": entry.docno, "title": entry.document.title if entry.document else ""},
        "grade": current.grade,
        "cannot_reason": current.cannot_reason,
        "note": current.note,
        "spans": current.spans,
        "judged_at": current.judged_at,
        "standing": current.standing,
        "may_revise": current.pair.kind != Pair.Kind.QUALIFICATION,
        "revisions": [{"grade": row.grade, "cannot_reason": row.cannot_reason, "judged_at": row.judged_at} for row in revisions],
    }


def revisions_of(membership: Membership, judgement_id: int) -> list[Judgement]:
    """All revisions of the pair to which an own judgement belongs, oldest first; empty when it is not one's own."""
    pair_of = Judgement.objects.filter(pk=judgement_id, membership=membership).values("pair_id")[:1]
    rows = Judgement.objects.filter(membership=membership, pair=pair_of).select_related("pair__entry__topic", "pair__entry__document")
    return list(rows.order_by("revision"))


def audit_invariants(campaign: Campaign) -> list[str]:
    """Recompute every counter of a campaign from its judgements and leases; sentences about what does not agree, empty if all is well.

    Holds at any moment between two transactions, also while annotators judge.
    """
    found: list[str] = []
    live, counted = Lease.State.LIVE, Judgement.Standing.COUNTED
    judged = dict(
        Judgement.objects.filter(pair__campaign=campaign, current=True, standing=counted)
        .values_list("pair")
        .annotate(n=Count("pk"))
        .order_by()
    )
    held = dict(
        Lease.objects.filter(pair__campaign=campaign, state=live, takes_slot=True).values_list("pair").annotate(n=Count("pk")).order_by()
    )
    n = campaign.judgements_per_pair
    for pair in Pair.objects.filter(campaign=campaign).iterator():
        if pair.counted != judged.get(pair.pk, 0):
            found.append(f"{pair}: {pair.counted} counted, but {judged.get(pair.pk, 0)} judgements count")
        if pair.held != held.get(pair.pk, 0):
            found.append(f"{pair}: {pair.held} held, but {held.get(pair.pk, 0)} live leases")
        if pair.kind != Pair.Kind.NORMAL:
            continue
        if pair.counted > pair.needed:
            found.append(f"{pair}: {pair.counted} counted of {pair.needed} needed")
        if not pair.unjudgeable and pair.needed != max(n, pair.counted):
            found.append(f"{pair}: needs {pair.needed}, the campaign says {n}")
        if pair.started != (pair.counted + pair.held > 0):
            found.append(f"{pair}: started is {pair.started} with {pair.counted} counted and {pair.held} held")
    current = Judgement.objects.filter(pair__campaign=campaign).values("pair", "membership").order_by()
    broken = current.annotate(rows=Count("pk"), newest=Max("revision"), n_current=Count("pk", filter=Q(current=True))).filter(
        ~Q(rows=F("newest")) | ~Q(n_current=1)
    )
    found += [f"pair {row['pair']}, annotator {row['membership']}: revisions {row['rows']}, current {row['n_current']}" for row in broken]
    newest = dict(Judgement.objects.filter(pair__campaign=campaign, current=True).values_list("pk", "revision"))
    highest = Judgement.objects.filter(pair__campaign=campaign).values("pair", "membership").annotate(n=Max("revision")).order_by()
    if sorted(newest.values()) != sorted(row["n"] for row in highest):
        found.append("a current judgement is not the newest revision")
    for grade in Judgement.objects.filter(pair__campaign=campaign, current=True, standing=counted, grade=None):
        found.append(f"judgement {grade.pk} counts without a grade")
    excluded = Judgement.objects.filter(pair__campaign=campaign, current=True, membership__standing="excluded", standing=counted).count()
    if excluded:
        found.append(f"{excluded} judgements of excluded annotators count")
    own = dict(
        Judgement.objects.filter(pair__campaign=campaign, current=True)
        .exclude(standing=Judgement.Standing.TOO_FAST)
        .exclude(pair__kind=Pair.Kind.QUALIFICATION)
        .values_list("membership")
        .annotate(n=Count("pk"))
        .order_by()
    )
    for member in campaign.memberships.all():
        if member.n_counted != own.get(member.pk, 0):
            found.append(f"{member}: {member.n_counted} judged by the counter, {own.get(member.pk, 0)} by the rows")
    return found
