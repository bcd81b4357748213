"""Contents of releases other than labels: every revision of every judgement, the pool with its
provenance, and the texts of its pairs.

Rows are ordered by ID, independent of the database, so that equal data produce equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.judgements.labels import LabelChoices
from annotation.core.timing import is_too_fast
from annotation.models import Campaign, Feedback, Judgement, Pair
from annotation.selectors.pairs import get_kept_pairs
from assay.formats.exports import RawJudgement
from assay.formats.pool import HEADER_LINE
from assay.labels.annotator_types import TYPE_LABELS, AnnotatorType
from pooling.selectors.pools import iterate_table as pool_table

PAIR_BATCH_SIZE = 400
OPINION, REMARK = "How was judging here?", "Anything to tell us?"
"""Questions of the closing page (static/js/judge/thanks.js)."""
FEEDBACK_COLUMNS = ("annotator", "question", "answer")

RAW_FIELDS = (
    *(
        "pair_id",
        "revision",
        "current",
        "grade",
        "cannot_reason",
        "answers",
        "note",
        "spans",
        "status",
        "late",
        "after_deadline",
    ),
    *(
        "active_ms",
        "idle_ms",
        "hidden_ms",
        "wall_ms",
        "server_ms",
        "guideline_version",
        "device",
        "served_at",
        "judged_at",
    ),
    *(
        "lease__token",
        "membership__pseudonym",
        "membership__status_reason",
        "membership__annotator_type",
    ),
)


def iterate_raw_judgements(
    campaign: Campaign,
    choices: LabelChoices | None = None,
    *,
    notes: bool = True,
    counted: bool = False,
) -> Iterator[RawJudgement]:
    """Yield every revision of every judgement, by topic ID, document ID, pseudonym and revision.
    Revisions that do not enter labels are marked as `excluded`, with the reason.

    notes: include annotators' notes. counted: only yield revisions that enter labels.
    """
    choices = choices or LabelChoices()
    names = {grade["value"]: str(grade["name"]) for grade in campaign.scale}
    columns = get_kept_pairs(campaign).values_list(
        "entry__topic__topic_id", "entry__docno", "pk", "kind", "gold_grade"
    )
    pairs = sorted(columns, key=lambda row: row[:2])
    for start in range(0, len(pairs), PAIR_BATCH_SIZE):
        part = {row[2]: row for row in pairs[start : start + PAIR_BATCH_SIZE]}
        judged = [
            dict(zip(RAW_FIELDS, row, strict=True))
            for row in Judgement.objects.filter(pair_id__in=list(part)).values_list(*RAW_FIELDS)
        ]
        judged.sort(
            key=lambda j: (*part[j["pair_id"]][:2], j["membership__pseudonym"], j["revision"])
        )
        for j in judged:
            topic, document, _, kind, gold = part[j["pair_id"]]
            reason = exclusion_reason(
                j, kind=kind, gold=gold is not None, choices=choices, campaign=campaign
            )
            if counted and reason:
                continue
            yield RawJudgement(
                campaign=campaign.slug,
                qid=topic,
                docid=document,
                annotator=j["membership__pseudonym"],
                grade=j["grade"],
                label=names.get(j["grade"], ""),
                cannot_judge_reason=j["cannot_reason"],
                spans=[(int(begin), int(end)) for begin, end in j["spans"]],
                active_ms=j["active_ms"],
                idle_ms=j["idle_ms"],
                hidden_ms=j["hidden_ms"],
                total_ms=j["wall_ms"],
                served_at=j["served_at"],
                judged_at=j["judged_at"],
                guideline_version=str(j["guideline_version"] or ""),
                lease_id=str(j["lease__token"] or ""),
                device=j["device"],
                revision=j["revision"],
                excluded=bool(reason),
                exclusion_reason=reason,
                status=j["status"],
                kind=kind,
                gold=gold is not None,
                late=j["late"],
                after_deadline=j["after_deadline"],
                server_ms=j["server_ms"],
                note=j["note"] if notes else "",
                answers=j["answers"],
            )


def exclusion_reason(
    judgement: Mapping[str, Any],
    *,
    kind: str,
    gold: bool,
    choices: LabelChoices,
    campaign: Campaign,
) -> str:
    """Return why a revision of a judgement does not enter labels, or an empty string if it does."""
    reasons = {
        Judgement.Status.TOO_FAST: f"faster than the campaign's {campaign.min_active_seconds:g} s",
        Judgement.Status.EXTRA: "extra: the pair already had the judgements it needs",
        Judgement.Status.CANNOT: f"cannot judge: {judgement['cannot_reason'] or 'no reason given'}",
        Judgement.Status.EXCLUDED: f"annotator excluded: {judgement['membership__status_reason'] or 'no reason given'}",
    }
    if not judgement["current"]:
        return "superseded by a later revision"
    if kind == Pair.Kind.QUALIFICATION:
        return "qualification pair"
    is_included = judgement["status"] == Judgement.Status.EXCLUDED and choices.includes_excluded(
        judgement["membership__pseudonym"]
    )
    if is_included and is_too_fast(
        judgement["active_ms"], min_active_seconds=campaign.min_active_seconds
    ):
        return reasons[Judgement.Status.TOO_FAST]
    if judgement["status"] in reasons and not is_included:
        return reasons[judgement["status"]]
    if judgement["grade"] is None:
        return reasons[Judgement.Status.CANNOT]
    if judgement["membership__annotator_type"] not in choices.judges:
        return f"judged by {TYPE_LABELS[AnnotatorType(judgement['membership__annotator_type'])]}, left out by choice"
    if gold and not choices.with_gold:
        return "gold pair, left out by choice"
    if judgement["membership__pseudonym"] in choices.exclude:
        return "annotator left out by choice"
    if judgement["active_ms"] is not None and judgement["active_ms"] / 1000 < choices.min_seconds:
        return f"faster than {choices.min_seconds:g} s, left out by choice"
    return ""


def iterate_pool_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the lines of the pool's file in judging order. Each pair's runs are sorted by rank and
    tag. Without a pool, only the header is yielded."""
    return pool_table(campaign.pool) if campaign.pool is not None else iter([HEADER_LINE])


def iterate_pair_texts(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield the pairs to be judged with query, title and best rank, by topic and document ID."""
    wanted = (
        "entry__topic__topic_id",
        "entry__docno",
        "entry__topic__text",
        "entry__topic__description",
        "entry__document__title",
        "entry__best_rank",
    )
    names = ("topic", "document", "text", "description", "title", "best_rank")
    rows = get_kept_pairs(campaign).exclude(kind=Pair.Kind.QUALIFICATION).values_list(*wanted)
    for row in sorted(rows, key=lambda row: row[:2]):
        yield dict(zip(names, row, strict=True))


def iterate_feedback(campaign: Campaign, *, words: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yield answers to the closing feedback as (pseudonym, question, answer), by pseudonym. words:
    include free-text answers."""
    given = Feedback.objects.filter(membership__campaign=campaign).select_related("membership")
    for one in sorted(given, key=lambda feedback: feedback.membership.pseudonym):
        yield one.membership.pseudonym, OPINION, one.get_score_display()
        if words and one.text.strip():
            yield one.membership.pseudonym, REMARK, " ".join(one.text.split())
