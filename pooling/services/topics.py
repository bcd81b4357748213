"""Import, check, keep, remove and list topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from assay.formats.errors import MAX_SHOWN, FileProblem, FormatError
from assay.formats.topics import TopicRecord, read_topics
from assay.number_words import format_part
from assay.pools import topic_checks
from pooling import hooks
from pooling.models import Collection, Job, Topic
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, MalformedRequest, Refused
from pooling.services import uploads
from pooling.services.matching import format_examples
from pooling.services.rows import insert_rows, prepare_insert
from pooling.services.runs import load_rankings

MAX_TOPICS = 200_000
"""Maximum number of topics in a collection. They are imported in one transaction."""
MAX_ID_LENGTH = 200
LEVELS = ("exact", "punctuation", "suspect")
MANUAL_REASON = "by hand"
MAX_REASON_LENGTH = 200


@jobs.register_job_kind("import topics", unit="topics")
@uploads.import_job
def import_topics(work: ClaimedJob) -> dict[str, Any]:
    """Inspect or import uploaded topics. Imported topics are checked at level `exact`. Returns the
    report: facts, warnings, stored."""
    upload = uploads.get_upload(work)
    collection = upload.collection
    with uploads.open_upload(upload, work, counts_rows=False) as feed:
        topics_read = read_topics(feed, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES)
        check_new_topics(collection, topics_read, upload.name)
    rows, facts = make_topic_rows(collection, topics_read)
    for name, values in (
        ("description", [t.description for t in topics_read]),
        ("narrative", [t.narrative for t in topics_read]),
    ):
        if n := sum(bool(value) for value in values):
            facts[f"with {name}"] = n
    further = sorted({key for topic in topics_read for key in topic.fields})
    if further:
        facts["other fields"] = ", ".join(further[:20])
    warnings = runs_without_topics_warning(collection, topics_read)
    report: dict[str, Any] = {"file": upload.name, "facts": facts, "warnings": warnings}
    if not uploads.can_proceed(work, report, hold=warnings):
        return report
    ready = prepare_insert(rows)
    try:
        with work.completion_transaction() as final:
            insert_rows(ready)
            uploads.delete_upload(upload, keep_file=False)
            final.update(report)
    except IntegrityError:
        raise Refused(
            _(
                "Another user has just imported topics with the same IDs as those in "
                "%(upload)s. Reload the page to see what is still missing."
            )
            % {"upload": upload.name}
        ) from None
    return final


def make_topic_rows(
    collection: Collection, topics_read: Sequence[TopicRecord]
) -> tuple[list[Topic], dict[str, Any]]:
    """Return (unsaved rows of new topics, facts). The topics are checked at level `exact` against
    each other and the existing ones."""
    topics = list(
        collection.topics.values_list("topic_id", "text", "position", "description", "narrative")
    )
    texts = [(topic_id, text) for topic_id, text, *_ in topics] + [
        (topic.topic, topic.text) for topic in topics_read
    ]
    needs = {
        topic_id: topic_checks.join_information_need(said, told)
        for topic_id, _, _, said, told in topics
    }
    needs |= {
        topic.topic: topic_checks.join_information_need(topic.description, topic.narrative)
        for topic in topics_read
    }
    proposals = propose_removals(texts, "exact", needs)
    own = {topic.topic for topic in topics_read}
    reasons = Counter(reason for topic_id, (reason, _) in proposals.items() if topic_id in own)
    begin = max((position for _, _, position, *_ in topics), default=-1) + 1
    rows = [
        Topic(
            collection=collection,
            topic_id=topic.topic,
            text=_clean_text(topic.text),
            description=_clean_text(topic.description),
            narrative=_clean_text(topic.narrative),
            fields={_clean_text(key): _clean_text(value) for key, value in topic.fields.items()},
            position=begin + i,
            proposal=proposals.get(topic.topic, ("", ""))[0],
            same_as=proposals.get(topic.topic, ("", ""))[1],
        )
        for i, topic in enumerate(topics_read)
    ]
    return rows, {
        "topics": len(topics_read),
        **{f"proposed for removal: {reason}": n for reason, n in sorted(reasons.items())},
    }


def check_new_topics(collection: Collection, topics_read: Sequence[TopicRecord], name: str) -> None:
    """Raise FormatError or Refused if topics cannot be added: taken or too long IDs, or too many
    topics."""
    known = dict(collection.topics.values_list("topic_id", "text"))
    if known and all(known.get(topic.topic) == topic.text for topic in topics_read):
        raise Refused(_("All topics in %(name)s have already been imported.") % {"name": name})
    if len(known) + len(topics_read) > MAX_TOPICS:
        says = _(
            "A collection can have at most %(most)s topics. With this file, it would have %(n)s."
        )
        raise Refused(says % {"most": f"{MAX_TOPICS:,}", "n": f"{len(known) + len(topics_read):,}"})
    problems = [
        FileProblem(
            topic.line,
            f"topic {topic.topic} is already in the collection",
            "new IDs; to replace topics, delete them first",
            topic.text,
        )
        for topic in topics_read
        if topic.topic in known
    ]
    problems += [
        FileProblem(
            topic.line,
            f"topic ID of {len(topic.topic):,} characters",
            f"at most {MAX_ID_LENGTH}",
            topic.text,
        )
        for topic in topics_read
        if len(topic.topic) > MAX_ID_LENGTH
    ]
    if problems:
        raise FormatError(
            name, sorted(problems, key=lambda problem: problem.line or 0)[:MAX_SHOWN], len(problems)
        )


def runs_without_topics_warning(
    collection: Collection, topics_read: Sequence[TopicRecord]
) -> list[str]:
    """Return warnings about new topics that the collection's runs do not contain."""
    named: set[str] = set()
    for run in collection.runs.all():
        named.update(load_rankings(run).topics)
    absent = [topic.topic for topic in topics_read if topic.topic not in named]
    if named and absent:
        return [
            (
                f"{format_part(len(absent), len(topics_read), 'topic', 'is', 'are')} not in any run "
                f"of the collection{format_examples(absent)}"
            )
        ]
    return []


def _clean_text(text: str) -> str:
    return text.replace("\0", "")


def propose_removals(
    topics: Sequence[tuple[str, str]], level: str, needs: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Propose topics to remove at a level of the topic check
    (docs/reference/methods/topics-and-pools.md).

    topics: (ID, text) in order. needs: ID -> description and narrative. Returns {ID: (reason, ID of
    the topic that it repeats)}.
    """
    return {
        removal.topic: (removal.reason, removal.same_as)
        for removal in topic_checks.check_topics(topics, match=level, needs=needs)
    }


def request_check(collection: Collection, *, level: str, user: Any) -> Job:
    if level not in LEVELS:
        raise MalformedRequest(
            _("Unknown check level %(level)s. Choose one of %(levels)s.")
            % {"level": repr(level), "levels": ", ".join(LEVELS)}
        )
    if not collection.topics.exists():
        raise Refused(_("The collection has no topics to check."))
    return jobs.enqueue(
        "check topics",
        {"level": level},
        label=f"Check topics at level {level}",
        user=user,
        collection=collection,
    )


@jobs.register_job_kind("check topics", unit="topics")
def check_topics(work: ClaimedJob) -> dict[str, Any]:
    """Check the collection's topics at a level and propose removals. Decisions of managers are
    kept, undecided proposals are replaced. Returns the report: facts, warnings."""
    collection = work.job.collection
    assert collection is not None  # set by `request_check`
    # a removed topic cannot make another one a duplicate
    kept = collection.topics.filter(removed_reason="")
    rows = list(
        kept.order_by("position").values_list(
            "pk", "topic_id", "text", "proposal", "same_as", "decided_at"
        )
    )
    needs = {
        t: topic_checks.join_information_need(said, told)
        for t, said, told in kept.values_list("topic_id", "description", "narrative")
    }
    work.progress(0, total=len(rows), now=True)
    proposals = propose_removals(
        [(topic_id, text) for _, topic_id, text, *_ in rows], work.parameters["level"], needs
    )
    changed = []
    for pk, topic_id, _text, proposal, same_as, decided_at in rows:
        new = proposals.get(topic_id, ("", ""))
        if decided_at is None and new != (proposal, same_as):
            changed.append(Topic(pk=pk, proposal=new[0], same_as=new[1]))
    work.progress(len(rows), now=True)
    reasons = Counter(reason for reason, _ in proposals.values())
    work.write_in_batches(
        changed, lambda some: Topic.objects.bulk_update(some, ["proposal", "same_as"])
    )
    return {
        "facts": {
            "topics": len(rows),
            **{f"proposed for removal: {reason}": n for reason, n in sorted(reasons.items())},
        },
        "warnings": [],
    }


@transaction.atomic
def decide_topics(
    collection: Collection,
    decisions: Mapping[int, str],
    *,
    user: Any,
    reasons: Mapping[int, str] | None = None,
) -> int:
    """Apply a manager's decisions on topics: topic's row ID -> `keep`, `remove` or `open`
    (undecided). Returns the number of topics changed.

    A removed topic gets its reason from `reasons`, or keeps its own, its proposal or BY_HAND.
    Existing pools keep its pairs. Campaigns leave them out, with their judgements, until the topic
    is kept again (`on_decided`). Raises Refused for a reason that is too long.
    """
    reasons = {pk: " ".join(reason.split()) for pk, reason in (reasons or {}).items()}
    if any(len(reason) > MAX_REASON_LENGTH for reason in reasons.values()):
        raise MalformedRequest(
            _("The reason must have at most %(most)s characters.") % {"most": MAX_REASON_LENGTH}
        )
    changed = 0
    now = timezone.now()
    removed = set(collection.topics.exclude(removed_reason="").values_list("pk", flat=True))
    for decision in ("keep", "remove", "open"):
        rows = collection.topics.filter(
            pk__in=[pk for pk, given in decisions.items() if given == decision]
        )
        if decision == "keep":
            changed += rows.update(removed_reason="", decided_by=user, decided_at=now)
        elif decision == "remove":
            wanted: dict[str, list[int]] = {}
            for pk, present, proposal in rows.values_list("pk", "removed_reason", "proposal"):
                wanted.setdefault(
                    reasons.get(pk) or present or proposal or MANUAL_REASON, []
                ).append(pk)
            for reason, some in wanted.items():
                changed += rows.filter(pk__in=some).update(
                    removed_reason=reason, decided_by=user, decided_at=now
                )
        else:
            changed += rows.update(removed_reason="", decided_by=None, decided_at=None)
    if removed != set(collection.topics.exclude(removed_reason="").values_list("pk", flat=True)):
        for follow in hooks.on_decided:
            follow(collection, user)
    return changed


def get_decisions(
    collection: Collection, chosen: Sequence[int]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return managers' current decisions on these topics and the reasons of removal, as
    `decide_topics` accepts them."""
    rows = list(
        collection.topics.filter(pk__in=chosen).values_list("pk", "removed_reason", "decided_at")
    )
    decisions = {
        pk: "remove" if removed else "keep" if decided_at else "open"
        for pk, removed, decided_at in rows
    }
    return decisions, {pk: removed for pk, removed, _ in rows if removed}


def make_decisions_for_all(
    collection: Collection, *, decision: str, reason: str = ""
) -> dict[int, str]:
    """Return one decision for all undecided proposals, or those with one reason, as `decide_topics`
    accepts them."""
    if decision not in ("keep", "remove"):
        raise MalformedRequest(
            _("Unknown decision %(decision)s. Choose keep or remove.")
            % {"decision": repr(decision)}
        )
    rows = collection.topics.filter(Q(decided_at=None) & ~Q(proposal=""))
    if reason:
        rows = rows.filter(proposal=reason)
    return dict.fromkeys(rows.values_list("pk", flat=True), decision)


def decide_all_topics(collection: Collection, *, decision: str, reason: str = "", user: Any) -> int:
    """Decide all undecided proposals. Returns the number of topics changed."""
    return decide_topics(
        collection, make_decisions_for_all(collection, decision=decision, reason=reason), user=user
    )


def delete_topics(collection: Collection) -> int:
    """Delete all topics of the collection. Raises Refused if a pool contains any of them.
    Returns the number deleted."""
    try:
        with transaction.atomic():
            n = collection.topics.count()
            collection.topics.all().delete()
            return n
    except ProtectedError:
        raise Refused(_("Pools use these topics. Delete the pools first.")) from None


def format_kept_topics(collection: Collection) -> str:
    """Format the kept topics as `id<TAB>text`, in order."""
    rows = (
        collection.topics.filter(removed_reason="")
        .order_by("position")
        .values_list("topic_id", "text")
    )
    return "".join(f"{topic_id}\t{_flatten(text)}\n" for topic_id, text in rows)


def format_removed_topics(collection: Collection) -> str:
    """Format removed topics with a header: topic, text, reason, same_as."""
    rows = (
        collection.topics.exclude(removed_reason="")
        .order_by("position")
        .values_list("topic_id", "text", "removed_reason", "same_as")
    )
    return "topic\ttext\treason\tsame_as\n" + "".join(
        f"{t}\t{_flatten(text)}\t{_flatten(reason)}\t{same}\n" for t, text, reason, same in rows
    )


def _flatten(text: str) -> str:
    return " ".join(text.split())
