"""Restoring a closed campaign with its annotators, pairs and judgements from a release.

    with transaction.atomic():
        campaign = restore_campaign(...)
        members = restore_annotators(campaign, rows, n_judged=answers.n_judged)
        pairs = make_unsaved_pairs(campaign, rows, topics=..., answers=...)
        store_pairs(campaign, pairs)
        n = restore_judgements(campaign, rows, members=members, pairs=pairs)

Rows are inserted with their final values if possible, because updates would lock the database for
longer.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from annotation.core.campaign_questions import find_answer_problem
from annotation.models import (
    Campaign,
    Feedback,
    GuidelineVersion,
    Judgement,
    Lease,
    Membership,
    Pair,
)
from annotation.services.campaigns.lifecycle import create_campaign
from annotation.services.campaigns.pairs import count_pairs
from annotation.services.judging.slots import (
    PAIR_REASONS,
    balance_slots,
    is_beyond_depth,
    is_unjudgeable,
)
from pooling.models import Collection, Pool, Topic
from pooling.services.restoring import AT_ONCE, NotRestorable, find_free_slug

PairKey = tuple[str, str]
"""(topic ID, document ID)"""
RevisionKey = tuple[str, str, str, int]
"""(topic ID, document ID, pseudonym, revision)"""


class JudgementRow(NamedTuple):
    """One validated revision of a judgement to restore or import. line: its line in the file."""

    line: int
    topic: str
    document: str
    annotator: str
    revision: int
    grade: int | None
    cannot_reason: str
    note: str
    spans: list[list[int]]
    status: str
    late: bool
    after_deadline: bool
    active_ms: int | None
    idle_ms: int | None
    hidden_ms: int | None
    wall_ms: int | None
    server_ms: int | None
    guideline_version: int
    device: str
    served_at: datetime | None
    judged_at: datetime
    lease: uuid.UUID | None


class PairRow(NamedTuple):
    topic: str
    document: str
    kind: str
    asked_more: int = 0


class AnnotatorRow(NamedTuple):
    pseudonym: str
    status: str
    reason: str
    annotator_type: str


class FeedbackRow(NamedTuple):
    """An annotator's answer to a feedback question in a release: the choice (`score`, as shown to
    annotators) or the text."""

    line: int
    annotator: str
    score: str = ""
    text: str = ""


class RulingRow(NamedTuple):
    """A decision of a manager or, if decided_at is None, the known grade of a gold pair."""

    topic: str
    document: str
    grade: int
    decided_at: datetime | None
    reason: str


@dataclass
class AnswerSummary:
    """Totals of the newest revisions by pair and annotator, computed before rows are created.

    filled: filled slots by pair. cannot: by pair, annotators who answered that it cannot be judged.
    n_judged: judged pairs towards each annotator's target. last: time of the last judgement.
    """

    filled: Counter[PairKey] = field(default_factory=Counter)
    cannot: Counter[PairKey] = field(default_factory=Counter)
    n_judged: Counter[str] = field(default_factory=Counter)
    last: datetime | None = None


def summarise_answers(
    rows: Iterable[JudgementRow],
    pairs: Iterable[PairRow],
    *,
    llm_judges: Set[str] = frozenset(),
    excluded: Set[str] = frozenset(),
) -> AnswerSummary:
    """Summarise the judgements to restore by pair and annotator. llm_judges: pseudonyms of LLM
    judges, which fill no slots.
    excluded: pseudonyms of excluded annotators, whose "cannot judge" answers are ignored."""
    qualification = {
        (row.topic, row.document) for row in pairs if row.kind == Pair.Kind.QUALIFICATION
    }
    newest: dict[tuple[str, str, str], tuple[str, str]] = {}
    answers = AnswerSummary()
    for row in rows:
        newest[row.topic, row.document, row.annotator] = row.status, row.cannot_reason
        answers.last = max(answers.last or row.judged_at, row.judged_at)
    for (topic, document, annotator), (status, reason) in newest.items():
        if (
            status == Judgement.Status.CANNOT
            and reason in PAIR_REASONS
            and annotator not in llm_judges | excluded
        ):
            answers.cannot[topic, document] += 1
        if status == Judgement.Status.COUNTED and annotator not in llm_judges:
            answers.filled[topic, document] += 1
        if (topic, document) not in qualification and status != Judgement.Status.TOO_FAST:
            answers.n_judged[annotator] += 1
    return answers


def restore_campaign(
    collection: Collection,
    pool: Pool,
    *,
    slug: str,
    settings: Mapping[str, Any],
    annotator_type: str,
    seed: int,
    opened_at: datetime | None,
    closed_at: datetime | None,
    user: Any,
    least_priority: int | None = None,
) -> Campaign:
    """Create the closed campaign. settings: JSON values. user: becomes its manager. Raises
    CampaignError or ValidationError."""
    trial = Campaign(collection=collection, slug="x", **settings)
    # converts dates from text
    trial.clean_fields(exclude=["collection", "pool", "created_by", "slug"])
    campaign = create_campaign(
        collection=collection,
        actor=user,
        slug=find_free_slug(slug, Campaign),
        annotator_type=annotator_type,
        seed=seed,
        **{name: getattr(trial, name) for name in settings},
    )
    campaign.pool, campaign.state = pool, Campaign.State.CLOSED
    campaign.opened_at, campaign.closed_at, campaign.least_priority = (
        opened_at,
        closed_at,
        least_priority,
    )
    campaign.save()
    return campaign


def restore_guideline(
    campaign: Campaign, number: int, text: str, *, note: str, written_at: datetime | None
) -> None:
    version = GuidelineVersion.objects.create(
        campaign=campaign, number=number, text=text, note=note[:300]
    )
    if written_at is not None:
        GuidelineVersion.objects.filter(pk=version.pk).update(created_at=written_at)
    if number > campaign.newest_guideline:
        campaign.newest_guideline = number
        campaign.save(update_fields=["newest_guideline"])


def restore_annotators(
    campaign: Campaign, rows: Sequence[AnnotatorRow], *, n_judged: Mapping[str, int]
) -> dict[str, Membership]:
    """Create the members under their pseudonyms, with accounts that cannot sign in, and return them
    by pseudonym. Raises NotRestorable."""
    theirs = {row.pseudonym for row in rows}
    if len(theirs) < len(rows):
        raise NotRestorable("duplicate pseudonym", "each annotator once")
    nobody = make_password(None)
    names = [f"imported-{campaign.pk}-{number}" for number in range(1, len(rows) + 1)]
    users = User.objects.bulk_create(
        User(username=name, password=nobody, is_active=False) for name in names
    )
    members = [
        Membership(
            campaign=campaign,
            user=user,
            role=Membership.Role.ANNOTATOR,
            pseudonym=row.pseudonym,
            status=row.status,
            status_reason=row.reason,
            annotator_type=row.annotator_type,
            n_judged=n_judged.get(row.pseudonym, 0),
        )
        for user, row in zip(users, rows, strict=True)
    ]
    importer = next(
        name for number in range(1, len(rows) + 2) if (name := f"importer {number}") not in theirs
    )
    campaign.memberships.filter(pseudonym__in=theirs).update(pseudonym=importer)
    return {
        member.pseudonym: member
        for member in Membership.objects.bulk_create(members, batch_size=AT_ONCE)
    }


def restore_feedback(rows: Sequence[FeedbackRow], *, members: Mapping[str, Membership]) -> None:
    """Create the feedback answers. Raises NotRestorable with the line."""
    given: dict[str, Feedback] = {}
    value = {label: value for value, label in Feedback.Score.choices}
    for row in rows:
        member, one = members.get(row.annotator), given.get(row.annotator)
        if member is None:
            raise NotRestorable(
                f"unknown annotator {row.annotator[:50]!r}", "one of annotators.tsv", row.line
            )
        if row.score and one is None:
            given[row.annotator] = Feedback(membership=member, score=value[row.score])
        elif row.text and one is not None and not one.text:
            one.text = row.text
        else:
            raise NotRestorable(
                "empty or duplicate answer, or text before the score",
                "a score, then optional text, for each annotator",
                row.line,
            )
    Feedback.objects.bulk_create(given.values(), batch_size=AT_ONCE)


class RestoredPairs(dict[PairKey, Pair]):
    """The restored pairs by topic ID and document ID."""

    def find_pair(self, row: JudgementRow | RulingRow, *, line: int | None = None) -> Pair:
        pair = self.get((row.topic, row.document))
        if pair is None:
            raise NotRestorable(
                f"{row.topic[:50]} {row.document[:50]} is not in the campaign",
                "a pair of pairs.tsv",
                line,
            )
        return pair


def make_unsaved_pairs(
    campaign: Campaign,
    rows: Iterable[PairRow],
    *,
    topics: Mapping[str, Topic],
    answers: AnswerSummary,
) -> RestoredPairs:
    """Return unsaved pairs with their slots, without known grades and decisions, for `store_pairs`.
    Raises NotRestorable."""
    assert campaign.pool is not None
    entries = {(entry.topic_id, entry.docno): entry for entry in campaign.pool.entries.all()}
    pairs = RestoredPairs()
    for row in rows:
        key = (row.topic, row.document)
        topic = topics.get(row.topic)
        entry = entries.get((topic.pk, row.document)) if topic else None
        if entry is None or key in pairs:
            raise NotRestorable(
                f"{row.topic[:50]} {row.document[:50]} is a duplicate or not in the pool",
                "pairs of pool.tsv, each once",
            )
        pairs[key] = Pair(
            campaign=campaign,
            entry=entry,
            topic_row=entry.topic_id,
            kind=row.kind,
            priority=entry.priority,
            position=entry.position,
            counted=answers.filled[key],
            asked_more=row.asked_more,
            beyond_depth=is_beyond_depth(entry.priority, campaign.least_priority),
            without_text=entry.document_id is None,
        )
        pairs[key].unjudgeable = is_unjudgeable(
            pairs[key], campaign.judgements_per_pair, answers.cannot[key]
        )
        balance_slots(pairs[key], campaign.judgements_per_pair)
    return pairs


def set_gold(pairs: RestoredPairs, gold_rows: Iterable[RulingRow]) -> None:
    for ruling in gold_rows:
        pair = pairs.find_pair(ruling)
        pair.gold_grade, pair.gold_explanation = ruling.grade, ruling.reason


def set_rulings(pairs: RestoredPairs, rulings: Iterable[RulingRow]) -> None:
    for ruling in rulings:
        pair = pairs.find_pair(ruling)
        pair.adjudicated_grade, pair.adjudicated_at, pair.adjudicated_reason = (
            ruling.grade,
            ruling.decided_at,
            ruling.reason,
        )


def store_pairs(campaign: Campaign, pairs: RestoredPairs) -> None:
    Pair.objects.bulk_create(pairs.values(), batch_size=AT_ONCE)
    count_pairs(campaign)


def restore_judgements(
    campaign: Campaign,
    rows: Iterable[JudgementRow],
    *,
    members: Mapping[str, Membership],
    pairs: RestoredPairs,
    step: Callable[[int], object],
) -> int:
    """Create the judgements and return their number. Raises NotRestorable with the line.

    rows: the revisions of an annotator and pair are together, in ascending order, and the last is
    current. step: called with the number of stored rows.
    """
    n = 0
    batch: list[list[JudgementRow]] = []
    for revisions in _group_revisions(rows):
        batch.append(revisions)
        if len(batch) >= AT_ONCE:
            n += _store_judgements(campaign, batch, members=members, pairs=pairs)
            batch = []
            step(n)
    return n + _store_judgements(campaign, batch, members=members, pairs=pairs)


def _group_revisions(rows: Iterable[JudgementRow]) -> Iterable[list[JudgementRow]]:
    revisions: list[JudgementRow] = []
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        key = (row.topic, row.document, row.annotator)
        if revisions and key == (
            revisions[-1].topic,
            revisions[-1].document,
            revisions[-1].annotator,
        ):
            if row.revision <= revisions[-1].revision:
                raise NotRestorable(
                    "revision numbers do not ascend", "each revision once, in order", row.line
                )
            revisions.append(row)
            continue
        if key in seen:
            raise NotRestorable(
                "revisions of a pair are not consecutive",
                "all revisions of an annotator and pair together",
                row.line,
            )
        seen.add(key)
        if revisions:
            yield revisions
        revisions = [row]
    if revisions:
        yield revisions


def _store_judgements(
    campaign: Campaign,
    batch: Sequence[list[JudgementRow]],
    *,
    members: Mapping[str, Membership],
    pairs: RestoredPairs,
) -> int:
    leases = _make_leases(batch, members=members, pairs=pairs)
    judgements = []
    for revisions in batch:
        first, last = revisions[0], revisions[-1]
        pair = pairs.find_pair(first, line=first.line)
        member = members.get(first.annotator)
        if member is None:
            raise NotRestorable(
                f"unknown annotator {first.annotator[:50]!r}", "one of annotators.tsv", first.line
            )
        judgements += [
            Judgement(
                key=_judgement_key(campaign, row),
                pair=pair,
                membership=member,
                lease=leases.get(str(row.lease)),
                revision=row.revision,
                current=row is last,
                grade=row.grade,
                cannot_reason=row.cannot_reason,
                note=row.note,
                spans=row.spans,
                status=row.status,
                late=row.late,
                after_deadline=row.after_deadline,
                active_ms=row.active_ms,
                idle_ms=row.idle_ms,
                hidden_ms=row.hidden_ms,
                wall_ms=row.wall_ms,
                server_ms=row.server_ms,
                guideline_version=row.guideline_version,
                device=row.device,
                served_at=row.served_at,
                judged_at=row.judged_at,
            )
            for row in revisions
        ]
    Judgement.objects.bulk_create(judgements, batch_size=AT_ONCE)
    return len(judgements)


def restore_answers(
    campaign: Campaign, answers: Mapping[RevisionKey, dict[str, int | None]]
) -> None:
    """Store the answers to further questions with their judgements. Raises NotRestorable if a
    judgement is missing or its answers do not fit the questions."""
    if not campaign.further_questions and not answers:
        return
    left, questions = dict(answers), campaign.questions_after_grade
    changed = []
    for judgement in Judgement.objects.filter(pair__campaign=campaign).select_related(
        "pair__entry__topic", "membership"
    ):
        entry = judgement.pair.entry
        key = (
            entry.topic.topic_id,
            entry.docno,
            judgement.membership.pseudonym,
            judgement.revision,
        )
        judgement.answers = left.pop(key, {})
        problem = find_answer_problem(questions, judgement.grade, judgement.answers)
        if problem is not None and problem.code != "answer_missing":  # imported ones may lack some
            raise NotRestorable(
                f"{problem.code.replace('_', ' ')} ({problem.question}) in the judgement of "
                f"{' '.join(key[:3])}"[:300],
                "answers to the questions that are asked after the grade",
            )
        changed.append(judgement)
    if left:
        raise NotRestorable(
            f"answers without their judgement: {' '.join(next(iter(left))[:3])[:200]}",
            "revisions of judgements.tsv",
        )
    Judgement.objects.bulk_update(changed, ["answers"], batch_size=AT_ONCE)


def _make_leases(
    batch: Sequence[list[JudgementRow]],
    *,
    members: Mapping[str, Membership],
    pairs: Mapping[PairKey, Pair],
) -> dict[str, Lease]:
    """Create the leases of a batch of restored judgements, and return them by token. Tokens that
    already exist in this installation are skipped."""
    wanted = {
        str(row.lease): row
        for revisions in batch
        for row in reversed(revisions)
        if row.lease is not None
    }
    known = {
        str(token)
        for token in Lease.objects.filter(token__in=list(wanted)).values_list("token", flat=True)
    }
    leases = []
    for token, row in wanted.items():
        pair, member = pairs.get((row.topic, row.document)), members.get(row.annotator)
        if token in known or pair is None or member is None:
            continue
        served = row.served_at or row.judged_at
        leases.append(
            Lease(
                token=token,
                pair=pair,
                membership=member,
                state=Lease.State.SUBMITTED,
                served_at=served,
                expires_at=served,
                ended_at=row.judged_at,
                takes_slot=pair.kind == Pair.Kind.NORMAL,
            )
        )
    return {
        str(lease.token): lease for lease in Lease.objects.bulk_create(leases, batch_size=AT_ONCE)
    }


def _judgement_key(campaign: Campaign, row: JudgementRow) -> uuid.UUID:
    return uuid.uuid5(
        uuid.NAMESPACE_OID,
        f"{campaign.pk} {row.topic} {row.document} {row.annotator} {row.revision}",
    )
