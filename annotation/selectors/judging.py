"""Data of the judging page: the annotator's state and progress, active leases and history. Also an
audit of the counters."""

from __future__ import annotations

import json
import uuid
import zoneinfo
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, F, Max, Min, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core import document_display, scheduling
from annotation.core.preferences import is_swapped, mirror_answer
from annotation.markup import markdown
from annotation.models import (
    Campaign,
    GuestOutcome,
    Judgement,
    Lease,
    Membership,
    Pair,
    Profile,
    Skip,
)
from annotation.selectors import qualification
from annotation.selectors.guests import get_panel
from annotation.selectors.guidelines import (
    get_newest_guideline,
    must_read_guidelines,
    render_guideline,
)
from annotation.selectors.pairs import count_pairs_without_text, get_kept_pairs
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION, format_status_reason
from annotation.services.judging.claim_sql import FREE_SQL, NOT_SKIPPED_SQL
from annotation.services.judging.slots import TAKES_SLOT, is_beyond_depth, needed_judgements
from annotation.services.judging.statements import fetch_rows, from_database_time

RETRY_AFTER_S = 30
HISTORY_ROWS = ("pair__entry__topic", "pair__entry__document", "pair__entry__other_document")


@dataclass(frozen=True)
class AnnotatorProgress:
    """An annotator's progress. judged: pairs with a judgement that is not too fast, without
    qualification pairs. today: since midnight in the annotator's time zone. unread_answers: answers
    to the annotator's questions."""

    judged: int
    target: int | None
    today: int
    daily_limit: int | None
    unread_answers: int = 0


@dataclass(frozen=True)
class Situation:
    """An annotator's state. state: a state of the judging API. may_claim: whether pairs may be
    assigned now."""

    state: str
    message: str
    progress: AnnotatorProgress
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def may_claim(self) -> bool:
        return self.state in ("judging", "qualification")


def get_time_zone(user: User | None) -> zoneinfo.ZoneInfo:
    """Return the user's time zone, or that of the installation."""
    name = getattr(getattr(user, "profile", None), "time_zone", "")
    try:
        return (
            zoneinfo.ZoneInfo(name)
            if name
            else zoneinfo.ZoneInfo(timezone.get_default_timezone_name())
        )
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


def get_display_settings(annotator: Membership) -> dict[str, Any]:
    """Return the user's settings of the judging page, without those never changed."""
    profile: Profile | None = getattr(annotator.user, "profile", None)
    return profile.choices if profile is not None else {}


def count_judged_today(annotator: Membership, now: datetime) -> tuple[datetime, int]:
    """Return (last midnight in the annotator's time zone, pairs judged since), from the stored
    counter or counted now."""
    since = scheduling.day_start(now, get_time_zone(annotator.user))
    if annotator.today_since == since:
        return since, annotator.n_today
    if not annotator.n_judged:  # counts the same pairs since the beginning
        return since, 0
    own = Judgement.objects.filter(membership=annotator, current=True, judged_at__gte=since)
    return since, own.exclude(status=Judgement.Status.TOO_FAST).exclude(
        pair__kind=Pair.Kind.QUALIFICATION
    ).count()


def get_progress(annotator: Membership, *, now: datetime) -> AnnotatorProgress:
    today = count_judged_today(annotator, now)[1]
    return AnnotatorProgress(
        annotator.n_judged, annotator.goal, today, annotator.day_limit, annotator.unread_answers
    )


def get_situation(
    annotator: Membership, *, now: datetime, continue_after_target: bool = False
) -> Situation:
    """Return whether the annotator may judge now and, if not, the reason. If several reasons apply,
    the most permanent one is returned."""
    campaign, own = annotator.campaign, get_progress(annotator, now=now)

    def say(state: str, message: str, **details: Any) -> Situation:
        return Situation(state, message, own, details)

    if campaign.state == Campaign.State.DRAFT:
        return say("draft", _("This campaign is not open yet."))
    if campaign.state == Campaign.State.CLOSED:
        return say(
            "closed",
            _("This campaign is closed. Thank you for your work."),
            **campaign_end_details(annotator),
        )
    if annotator.status == Membership.Status.EXCLUDED:
        return say(
            "excluded",
            _(
                "You no longer take part in this campaign. If you think this is a mistake, ask its manager."
            ),
        )
    if campaign.deadline is not None and campaign.deadline <= now:
        return say(
            "deadline_passed",
            _("The deadline has passed. Thank you for your work."),
            deadline=campaign.deadline,
            **campaign_end_details(annotator),
        )
    if annotator.status == Membership.Status.PAUSED:
        if annotator.status_reason == FAILED_QUALIFICATION:
            result = qualification.get_score(annotator)
            ending = guest_details(annotator, GuestOutcome.FAILED)
            message = (
                _("You got %(right)s of %(total)s test answers right. You need %(needed)s.")
                if ending
                else _(
                    "You got %(right)s of %(total)s test answers right. You need %(needed)s. Your manager has been informed and can let you try again."
                )
            ) % {
                "right": result.right,
                "total": result.total,
                "needed": qualification.required_correct(campaign, result.total),
            }
            return say("paused", message, reason=message, who="person", **ending)
        return say(
            "paused",
            _("Your judging is paused."),
            reason=format_status_reason(annotator.status_reason),
            who="person",
        )
    if campaign.state == Campaign.State.PAUSED:
        return say(
            "paused", _("The campaign is paused."), reason=campaign.paused_reason, who="campaign"
        )
    if campaign.consent_text and annotator.consented_at is None:
        return say(
            "consent_needed",
            _("Please read and accept the terms first."),
            consent_html=markdown(campaign.consent_text),
        )
    version = (
        get_newest_guideline(campaign)
        if annotator.guideline_read < campaign.newest_guideline
        else None
    )
    if version is not None and must_read_guidelines(annotator):
        message = (
            _("The guidelines have changed. Please read them before you continue.")
            if annotator.guideline_read
            else _("Please read the guidelines first.")
        )
        return say("guideline_changed", message, guideline=render_guideline(version))
    if qualification.needs_qualification(annotator):
        result = qualification.get_score(annotator)
        return say(
            "qualification",
            _("Start with a short qualification test. Each answer is explained."),
            judged=result.judged,
            right=result.right,
            total=result.total,
            needed=qualification.required_correct(campaign, result.total),
        )
    may_continue = campaign.continue_after_target
    if (
        own.target is not None
        and own.judged >= own.target
        and not (continue_after_target and may_continue)
    ):
        reached = ngettext(
            "You reached %(n)s judgement. Thank you.",
            "You reached %(n)s judgements. Thank you.",
            own.target,
        )
        ending = completion_details(annotator)
        return say(
            "target_reached",
            reached % {"n": f"{own.target:,}"},
            may_continue=may_continue and "panel" not in ending,
            **ending,
        )
    if own.daily_limit is not None and own.today >= own.daily_limit:
        return say(
            "daily_limit",
            _("You have reached the daily limit of %(n)s. Come back tomorrow.") % {"n": own.today},
        )
    return say("judging", "", **({"guideline": render_guideline(version)} if version else {}))


def state_without_pairs(annotator: Membership, now: datetime) -> tuple[str, str, dict[str, Any]]:
    """Return (state, message, details) for an annotator who has no pair to judge: waiting or
    finished.

    Pairs may become available when leases of others expire or texts are imported. Annotators
    without any judgement wait for them, and all others are finished.
    """
    pairs = get_kept_pairs(annotator.campaign).filter(
        kind=Pair.Kind.NORMAL, counted__lt=F("needed"), held__gt=0
    )
    if annotator.topic_rows:
        pairs = pairs.filter(topic_row__in=annotator.topic_rows)
    judged = Judgement.objects.filter(membership=annotator, current=True).values("pair_id")
    held = (
        Lease.objects.filter(state=Lease.State.LIVE, takes_slot=True, pair__in=pairs)
        .exclude(pair__in=judged)
        .exclude(membership=annotator)
    )
    figures = held.aggregate(n=Count("pair", distinct=True), soonest=Min("expires_at"))
    if not figures["n"]:
        waiting = count_pairs_without_text(annotator.campaign, annotator.topic_rows)
        if waiting and not annotator.n_judged:
            message = _(
                "The documents of this campaign are not available yet. Its manager has to import them. We check again every %(seconds)s seconds."
            ) % {"seconds": RETRY_AFTER_S}
            return (
                "nothing_now",
                message,
                {
                    "retry_after_s": RETRY_AFTER_S,
                    "may_return": 0,
                    "next_return_at": None,
                    "without_documents": waiting,
                },
            )
        nothing = _("You have nothing left to judge in this campaign.")
        later = (
            ngettext(
                "One document has no text yet.",
                "%(n)s documents have no text yet.",
                waiting,
            )
            % {"n": waiting}
            if waiting
            else ""
        )
        return (
            "done",
            " ".join(part for part in (nothing, later, _("Thank you.")) if part),
            completion_details(annotator),
        )
    minutes = max(1, round((figures["soonest"] - now) / timedelta(minutes=1)))
    message = _(
        "All remaining documents are assigned to others. %(n)s may come back, the first within %(minutes)s min. We check again every %(seconds)s seconds."
    ) % {"seconds": RETRY_AFTER_S, "n": figures["n"], "minutes": minutes}
    return (
        "nothing_now",
        message,
        {
            "retry_after_s": RETRY_AFTER_S,
            "may_return": figures["n"],
            "next_return_at": figures["soonest"],
        },
    )


def count_live_leases(annotator: Membership, now: datetime) -> int:
    """Return the number of the annotator's active leases."""
    return Lease.objects.filter(
        membership=annotator, state=Lease.State.LIVE, expires_at__gt=now
    ).count()


class PairText(NamedTuple):
    """The stored texts of a pair that annotators see. If the document has no stored text, text is
    None and docno is set. topic_row: primary key of the topic. other: of a battle, the same parts
    of the other document, else None or empty."""

    pair: int
    topic: str
    query: str
    description: str
    narrative: str
    docno: str
    title: str | None
    text: str | None
    fields: Any
    n_words: int | None
    topic_row: int = 0
    other_docno: str = ""
    other_title: str | None = None
    other_text: str | None = None
    other_fields: Any = None
    other_n_words: int | None = None


class ActiveLease(NamedTuple):
    """An active lease for the page.

    left_in_topic: expected number of further pairs of this topic in the annotator's block, until it
    is full or no pair of the topic is free in the rank window. skipped: whether the pair was
    skipped before.
    """

    order: int
    token: uuid.UUID
    served_at: datetime
    expires_at: datetime
    left_in_topic: int
    skipped: bool
    shown: PairText


TEXT_COLUMNS = "q.id, t.topic_id, t.text, t.description, t.narrative, e.docno, d.title, d.text, d.fields, d.n_words"
OTHER_COLUMNS = "t.id, e.other_docno, o.title, o.text, o.fields, o.n_words"
LOWEST_PRIORITY_SQL = "%(highest)s - ((%(highest)s - q.priority) / %(band)s + 1) * %(band)s + 1"
ACTIVE_LEASES_SQL = f"""SELECT l.id, l.token, l.served_at, l.expires_at, l.why, q.topic_row,
    EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = q.id AND s.membership_id = %(me)s),
    (SELECT COUNT(*) FROM (SELECT 1 FROM annotation_pair p WHERE {FREE_SQL} {NOT_SKIPPED_SQL} AND p.topic_row = q.topic_row
      AND p.priority BETWEEN {LOWEST_PRIORITY_SQL} AND {LOWEST_PRIORITY_SQL} + %(band)s - 1 LIMIT %(most)s) f), {TEXT_COLUMNS}, {OTHER_COLUMNS}
  FROM annotation_lease l JOIN annotation_pair q ON q.id = l.pair_id JOIN pooling_poolentry e ON e.id = q.entry_id
    JOIN pooling_topic t ON t.id = e.topic_id LEFT JOIN pooling_document d ON d.id = e.document_id
    LEFT JOIN pooling_document o ON o.id = e.other_document_id
  WHERE l.membership_id = %(me)s AND l.state = 'live' ORDER BY l.id"""


def get_active_leases(annotator: Membership) -> list[ActiveLease]:
    """Return the annotator's active leases in the order of claims, with everything that the page
    shows."""
    campaign = annotator.campaign
    values = {
        "me": annotator.pk,
        "campaign": campaign.pk,
        "highest": campaign.top_priority,
        "band": campaign.band,
        "most": campaign.block_length,
    }
    leases_in_hand: list[ActiveLease] = []
    later: Counter[int] = Counter()  # later leases of each topic
    # following pairs of each topic, from the nearest, which may be in a lower rank window
    follow: Counter[int] = Counter()
    for order, token, served_at, expires_at, why, topic, skipped, n_free, *shown in reversed(
        fetch_rows(ACTIVE_LEASES_SQL, values)
    ):
        place = (json.loads(why) if isinstance(why, str) else why).get("topic_in_a_row", 1)
        following = n_free if topic == annotator.current_topic_row else 0
        left = max(
            0, min(campaign.block_length - place, max(following + later[topic], follow[topic]))
        )
        later[topic] += 1
        follow[topic] = left + 1
        text = PairText(*shown)
        leases_in_hand.append(
            ActiveLease(
                order,
                uuid.UUID(str(token)),
                from_database_time(served_at),
                from_database_time(expires_at),
                left,
                bool(skipped),
                text,
            )
        )
    return leases_in_hand[::-1]


def get_pair_text(pair: Pair) -> PairText:
    entry, topic = pair.entry, pair.entry.topic
    parts: list[Any] = [*(pair.pk, topic.topic_id, topic.text), topic.description, topic.narrative]
    for docno, document in (
        (entry.docno, entry.document),
        (entry.other_docno, entry.other_document),
    ):
        names = ("title", "text", "fields", "n_words")
        stored = [getattr(document, name) if document else None for name in names]
        parts += [docno, *stored, topic.pk]
    return PairText(*parts[:-1])


def render_pair(pair: PairText, annotator: Membership, *, skipped: bool = False) -> dict[str, Any]:
    """Return a pair as annotators see it, without rank, score, run, known grade or labels of
    others. For a battle (two documents to compare), `document` is the left one and `other` the
    right one."""
    documents = [(pair.docno, pair.title, pair.text, pair.fields, pair.n_words)]
    if pair.other_docno:
        other = (
            *(pair.other_docno, pair.other_title, pair.other_text),
            *(pair.other_fields, pair.other_n_words),
        )
        documents.append(other)
        if is_swapped(seed=annotator.seed, topic=pair.topic_row):
            documents.reverse()
    rendered = [_render_document(pair.pair, annotator, *document) for document in documents]
    if len(rendered) > 1:  # the time for reading both
        n_words = sum(document["n_words"] for document in rendered)
        idle_seconds = annotator.campaign.idle_seconds
        rendered[0]["idle_limit_s"] = document_display.idle_limit_seconds(idle_seconds, n_words)
    return {
        "pair": pair.pair,
        "topic": {
            "id": pair.topic,
            "text": pair.query,
            "description": pair.description,
            "narrative": pair.narrative,
        },
        "document": rendered[0],
        **({"other": rendered[1]} if len(rendered) > 1 else {}),
        "skipped_before": skipped,
        "previous": None,
    }


def _render_document(
    pair: int,
    annotator: Membership,
    docno: str,
    title: str | None,
    stored_text: str | None,
    stored_fields: Any,
    stored_n_words: int | None,
) -> dict[str, Any]:
    campaign, text, n_words = annotator.campaign, stored_text or "", stored_n_words or 0
    shown = document_display.n_shown_words(n_words, campaign.truncate_words)
    fields = json.loads(stored_fields) if isinstance(stored_fields, str) else stored_fields
    return {
        "id": docno,
        "title": title or "",
        "text": text,
        "fields": fields or {},
        "missing": stored_text is None,
        "n_words": n_words,
        "shown_words": shown,
        "shown_end": document_display.shown_end(text, shown),
        "idle_limit_s": document_display.idle_limit_seconds(campaign.idle_seconds, n_words),
        "rotation": document_display.rotation_start(text, annotator.seed ^ pair, words=shown)
        if campaign.rotate_text and text
        else 0,
        "lang": document_display.get_language(fields or {}),
        "dir": document_display.get_direction(fields or {}),
    }


def render_pair_for_manager(pair: Pair) -> dict[str, Any]:
    """Return a pair as annotators see it, from the start of the text, for adjudication by a
    manager. pair: with campaign, entry, topic and document loaded."""
    shown = render_pair(get_pair_text(pair), Membership(campaign=pair.campaign))
    return {**shown, "document": {**shown["document"], "rotation": 0}}


def render_leases(leases: Sequence[ActiveLease], annotator: Membership) -> list[dict[str, Any]]:
    """Return the leases as the page needs them. `order` increases with the claims, so the page can
    sort pairs even if responses arrive out of order."""
    return [
        {
            "lease": str(lease.token),
            "order": lease.order,
            "served_at": lease.served_at,
            "expires_at": lease.expires_at,
            "left_in_topic": lease.left_in_topic,
            **render_pair(lease.shown, annotator, skipped=lease.skipped),
        }
        for lease in leases
    ]


def has_judgements(annotator: Membership) -> bool:
    """Return whether the annotator has a judgement that can be reopened. Those of the qualification
    test cannot."""
    own = Judgement.objects.filter(membership=annotator).exclude(pair__kind=Pair.Kind.QUALIFICATION)
    return annotator.n_judged > 0 or own.exists()


def get_history(
    annotator: Membership, *, limit: int, before: int | None, topic: str = ""
) -> list[dict[str, Any]]:
    """Return the annotator's judgements, the most recently judged pair first. A revision does not
    change the position.

    before: any judgement id of the pair after which to continue. topic: ID of the topic to include,
    empty for all.
    """
    firsts = Judgement.objects.filter(membership=annotator, revision=1)
    if topic:
        firsts = firsts.filter(pair__entry__topic__topic_id=topic)
    if before is not None:
        pair_of = (
            Judgement.objects.filter(pk=before, membership=annotator)
            .values_list("pair_id", flat=True)
            .first()
        )
        firsts = firsts.filter(pk__lt=firsts.filter(pair=pair_of).values("pk")[:1])
    pair_ids = list(firsts.order_by("-pk").values_list("pair_id", flat=True)[:limit])
    rows = Judgement.objects.filter(membership=annotator, pair__in=pair_ids).select_related(
        *HISTORY_ROWS
    )
    revisions: dict[int, list[Judgement]] = {}
    for row in rows.order_by("revision"):
        revisions.setdefault(row.pair_id, []).append(row)
    return [render_judgement(revisions[pair_id]) for pair_id in pair_ids]


def get_shown_grade(judgement: Judgement) -> int | None:
    """Return the grade as the annotator gave it. A preference is returned by the sides that the
    annotator saw."""
    swapped = judgement.presentation.get("left") == "b"
    return mirror_answer(judgement.grade) if swapped else judgement.grade


def render_judgement(revisions: list[Judgement]) -> dict[str, Any]:
    """Return one entry of the history: the current judgement and all its revisions, oldest
    first."""
    current = revisions[-1]
    entry = current.pair.entry
    sides = [
        {"id": docno, "title": document.title if document else ""}
        for docno, document in (
            (entry.docno, entry.document),
            (entry.other_docno, entry.other_document),
        )
        if docno
    ]
    if current.presentation.get("left") == "b":
        sides.reverse()
    return {
        "judgement": current.pk,
        "pair": current.pair_id,
        "topic": {"id": entry.topic.topic_id, "text": entry.topic.text},
        "document": sides[0],
        **({"other": sides[1]} if len(sides) > 1 else {}),
        "grade": get_shown_grade(current),
        "cannot_reason": current.cannot_reason,
        "answers": current.answers,
        "note": current.note,
        "spans": current.spans,
        "judged_at": current.judged_at,
        "status": current.status,
        "practice": current.pair.kind == Pair.Kind.QUALIFICATION,
        "may_revise": current.pair.kind != Pair.Kind.QUALIFICATION,
        "revisions": [
            {
                "grade": get_shown_grade(row),
                "cannot_reason": row.cannot_reason,
                "answers": row.answers,
                "judged_at": row.judged_at,
            }
            for row in revisions
        ],
    }


def get_revisions(annotator: Membership, judgement_id: int) -> list[Judgement]:
    """Return all revisions of the pair to which the annotator's judgement belongs, oldest first.
    Empty for judgements of others."""
    pair_of = Judgement.objects.filter(pk=judgement_id, membership=annotator).values("pair_id")[:1]
    rows = Judgement.objects.filter(membership=annotator, pair=pair_of).select_related(
        *HISTORY_ROWS
    )
    return list(rows.order_by("revision"))


def check_invariants(campaign: Campaign) -> list[str]:
    """Recompute every counter of a campaign from its judgements and leases, and return sentences
    about the differences.

    The counters agree between any two transactions, also while annotators judge.
    """
    faults: list[str] = []
    live, counted = Lease.State.LIVE, Judgement.Status.COUNTED
    judged = dict(
        Judgement.objects.filter(TAKES_SLOT, pair__campaign=campaign, current=True, status=counted)
        .values_list("pair")
        .annotate(n=Count("pk"))
        .order_by()
    )
    held = dict(
        Lease.objects.filter(pair__campaign=campaign, state=live, takes_slot=True)
        .values_list("pair")
        .annotate(n=Count("pk"))
        .order_by()
    )
    n = campaign.judgements_per_pair
    for pair in Pair.objects.filter(campaign=campaign).iterator():
        if pair.counted != judged.get(pair.pk, 0):
            faults.append(
                f"{pair}: {pair.counted} counted, but {judged.get(pair.pk, 0)} judgements count"
            )
        if pair.held != held.get(pair.pk, 0):
            faults.append(
                f"{pair}: assigned {pair.held} times, but {held.get(pair.pk, 0)} live leases"
            )
        if pair.kind != Pair.Kind.NORMAL:
            continue
        if pair.counted > pair.needed:
            faults.append(f"{pair}: {pair.counted} counted of {pair.needed} needed")
        if pair.beyond_depth != is_beyond_depth(pair.priority, campaign.least_priority):
            faults.append(
                f"{pair}: beyond_depth is {pair.beyond_depth} at priority {pair.priority}, the "
                f"campaign's least is {campaign.least_priority}"
            )
        if (
            not pair.unjudgeable
            and not pair.removed
            and not pair.is_excluded_by_depth
            and pair.needed != max(needed_judgements(pair, n), pair.counted)
        ):
            faults.append(
                f"{pair}: needs {pair.needed}, the campaign says {needed_judgements(pair, n)}"
            )
        if pair.started != (pair.counted + pair.held > 0):
            faults.append(
                f"{pair}: started is {pair.started} with {pair.counted} counted and {pair.held} held"
            )
    current = (
        Judgement.objects.filter(pair__campaign=campaign).values("pair", "membership").order_by()
    )
    broken = current.annotate(
        rows=Count("pk"), newest=Max("revision"), n_current=Count("pk", filter=Q(current=True))
    ).filter(~Q(rows=F("newest")) | ~Q(n_current=1))
    faults += [
        f"pair {row['pair']}, annotator {row['membership']}: revisions {row['rows']}, current {row['n_current']}"
        for row in broken
    ]
    newest = dict(
        Judgement.objects.filter(pair__campaign=campaign, current=True).values_list(
            "pk", "revision"
        )
    )
    highest = (
        Judgement.objects.filter(pair__campaign=campaign)
        .values("pair", "membership")
        .annotate(n=Max("revision"))
        .order_by()
    )
    if sorted(newest.values()) != sorted(row["n"] for row in highest):
        faults.append("a current judgement is not the newest revision")
    for grade in Judgement.objects.filter(
        pair__campaign=campaign, current=True, status=counted, grade=None
    ):
        faults.append(f"judgement {grade.pk} counts without a grade")
    excluded = Judgement.objects.filter(
        pair__campaign=campaign, current=True, membership__status="excluded", status=counted
    ).count()
    if excluded:
        faults.append(f"{excluded} judgements of excluded annotators count")
    own = dict(
        Judgement.objects.filter(pair__campaign=campaign, current=True)
        .exclude(status=Judgement.Status.TOO_FAST)
        .exclude(pair__kind=Pair.Kind.QUALIFICATION)
        .values_list("membership")
        .annotate(n=Count("pk"))
        .order_by()
    )
    for member in campaign.memberships.all():
        if member.n_judged != own.get(member.pk, 0):
            faults.append(
                f"{member}: {member.n_judged} judged by the counter, {own.get(member.pk, 0)} by the rows"
            )
    return faults


def completion_details(annotator: Membership) -> dict[str, Any]:
    """Return what annotators see at the end of the campaign. Guests for whom no pair was left see
    the completion code for a full campaign."""
    campaign = annotator.campaign
    thanks = {"thanks_html": markdown(campaign.thanks_text) if campaign.thanks_text else ""}
    outcome = GuestOutcome.DONE if annotator.n_judged else GuestOutcome.FULL
    return thanks | (
        guest_details(annotator, outcome)
        or {"completion_code": campaign.completion_code, "completion_url": campaign.completion_url}
    )


def guest_details(annotator: Membership, outcome: GuestOutcome) -> dict[str, Any]:
    """Return the panel's name and the completion code of this outcome for guests, empty for
    annotators with an account."""
    panel = get_panel(annotator)
    if panel is None:
        return {}
    return {
        "panel": panel.name,
        "outcome": outcome.value,
        "completion_code": panel.code(outcome),
        "completion_url": panel.return_url(outcome),
    }


def has_completed_target(annotator: Membership) -> bool:
    """Return whether the annotator has earned the completion code: has judged something, and has
    reached the target, had no target, or had no pairs left. The end of the campaign does not revoke
    it."""
    if not annotator.n_judged:
        return False
    goal = annotator.goal
    if goal is None or annotator.finished_at is not None or annotator.n_judged >= goal:
        return True
    pairs = Pair.objects.filter(
        campaign=annotator.campaign_id, kind=Pair.Kind.NORMAL, open_slots__gt=0
    )
    if annotator.topic_rows:
        pairs = pairs.filter(topic_row__in=annotator.topic_rows)
    return not pairs.exclude(judgements__membership=annotator).exists()


def campaign_end_details(annotator: Membership) -> dict[str, Any]:
    """Return the closing message of a campaign that has ended, with the completion code for
    annotators who have earned it. Other guests get the code for a full campaign."""
    words = completion_details(annotator)
    if has_completed_target(annotator):
        return words
    return {"thanks_html": words["thanks_html"], **guest_details(annotator, GuestOutcome.FULL)}


def get_skipped_pairs(annotator: Membership) -> list[dict[str, Any]]:
    """Return the pairs that the annotator skipped and has not judged since, latest first."""
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
                "id": row.pair.entry.label,
                "title": row.pair.entry.document.title if row.pair.entry.document else "",
            },
            "at": row.created_at,
        }
        for row in rows.order_by("-created_at", "-pk")
    ]
