"""Data about LLM judges: their pairs, counts, costs and labels. For managers' pages and files
only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import CharField, Count, Exists, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, Concat, Length

from annotation.core.llm_prompts import (
    MAX_TEXT,
    Grade,
    PromptInput,
    PromptTemplate,
    aggregate_grades,
    estimate_tokens,
)
from annotation.llm.asking import EXPECTED_ANSWER, CostEstimate, PairToJudge
from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, LlmJudge, LlmLabel
from assay.pools.pool_kinds import PoolKind
from pooling.models import Document, Job, PoolEntry

LLM_JUDGE_JOB = "judge with LLM"
LabelsByPair = dict[tuple[str, str], int]


def has_llm_judges(campaign: Campaign) -> bool:
    """Return whether the campaign has an LLM judge, or the installation an endpoint for one."""
    return bool(settings.LLM_ENDPOINTS) or campaign.llm_judges.exists()


"""Grades by (topic ID, document ID)."""


@dataclass(frozen=True)
class AnswerCounts:
    """Counts of an LLM judge.

    pairs: pairs of the pool in kept topics. without_text: pairs that cannot be labelled. labelled:
    pairs with a label. outcomes: number of answers by type. waiting: calls without an answer yet.
    calls: all calls made. troubles: failed calls by error. cost: sum for the counted tokens.
    """

    pairs: int
    without_text: int
    labelled: int
    answers: int
    outcomes: Mapping[str, int]
    waiting: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    troubles: Mapping[str, int]

    @property
    def missing(self) -> int:
        return self.pairs - self.labelled


def get_judges(campaign: Campaign) -> list[LlmJudge]:
    return list(campaign.llm_judges.select_related("campaign__pool", "campaign__collection"))


def get_frozen_judges(campaign: Campaign) -> list[LlmJudge]:
    """Return the judges whose labels are included in releases."""
    return [judge for judge in get_judges(campaign) if judge.frozen_at is not None]


def get_last_job(judge: LlmJudge, *, active: bool = False) -> Job | None:
    """Return the last labelling job of an LLM judge."""
    runs = Job.objects.filter(
        kind=LLM_JUDGE_JOB, campaign_id=judge.campaign_id, parameters__llm_judge=judge.pk
    ).order_by("-created_at")
    return (
        (runs.filter(state__in=Job.ACTIVE) if active else runs)
        .select_related("collection", "created_by")
        .first()
    )


def get_pool_entries(campaign: Campaign) -> QuerySet[PoolEntry]:
    """Return every entry of the pool, sampled or not, except those of removed topics."""
    if campaign.pool_id is None:
        return PoolEntry.objects.none()
    return PoolEntry.objects.filter(pool=campaign.pool_id, topic__removed_reason="")


def get_pairs_to_judge(judge: LlmJudge) -> list[PairToJudge]:
    """Return the pairs to label in the pool's order, as the LLM judge sees them: no rank, run or
    label. Pairs without text are omitted."""
    columns = (
        "topic__topic_id",
        "docno",
        "topic__text",
        "topic__description",
        "topic__narrative",
        "document_id",
    )
    rows = list(
        get_pool_entries(judge.campaign)
        .exclude(document=None)
        .order_by("position")
        .values_list(*columns)
    )
    texts: dict[int, tuple[str, str]] = {}
    wanted = sorted({row[5] for row in rows})
    for start in range(0, len(wanted), 500):
        part = Document.objects.filter(pk__in=wanted[start : start + 500])
        texts.update(
            (pk, (title, text)) for pk, title, text in part.values_list("pk", "title", "text")
        )
    return [
        PairToJudge(topic, docno, PromptInput(query, narrative or description, *texts[document]))
        for topic, docno, query, description, narrative, document in rows
        if document in texts
    ]


def estimate_judge_cost(judge: LlmJudge) -> CostEstimate:
    """Estimate calls, tokens and cost of the missing answers, with four characters per token. Uses
    sums in the database and reads no texts."""
    entries = get_pool_entries(judge.campaign).exclude(document=None)
    sums = entries.annotate(own=Length("document__title") + Length("document__text") + 1).aggregate(
        n=Count("pk"),
        own=Sum("own"),
        query=Sum(Length("topic__text")),
        need=Sum(Coalesce(Length("topic__narrative"), 0) + Length("topic__description")),
    )
    n = sums["n"]
    scale = [
        Grade(grade["value"], grade["name"], grade.get("explanation", "")) for grade in judge.scale
    ]
    template = PromptTemplate(
        judge.prompt_name, judge.prompt_version, judge.prompt_text or "$query$scale$document"
    )
    frame = estimate_tokens(template.messages(PromptInput("", "", "", ""), scale, judge.guidelines))
    answered = judge.labels.exclude(state=LlmLabel.State.ASKED).count()
    calls = max(n * judge.samples - answered, 0)
    varying = min((sums["own"] or 0), n * MAX_TEXT) + (sums["query"] or 0) + (sums["need"] or 0)
    sent = round(calls * (frame + (varying / n / 4 if n else 0)))
    received = calls * EXPECTED_ANSWER.get(judge.prompt_name, EXPECTED_ANSWER["reasons"])
    return CostEstimate(calls, sent, received, compute_price(judge, sent, received))


def compute_price(judge: LlmJudge, tokens_in: int, tokens_out: int) -> float:
    return (
        tokens_in * judge.limits.get("price_in", 0.0)
        + tokens_out * judge.limits.get("price_out", 0.0)
    ) / 1e6


def count_answers(judge: LlmJudge) -> AnswerCounts:
    return count_answers_by_judge(judge.campaign, [judge])[judge.pk]


def count_answers_by_judge(
    campaign: Campaign, judges: Sequence[LlmJudge]
) -> dict[int, AnswerCounts]:
    """Return the counts by row id of the judge, with one query for the pool and one for all
    answers."""
    size = get_pool_entries(campaign).aggregate(
        pairs=Count("pk"), without_text=Count("pk", filter=Q(document=None))
    )
    in_pool = Exists(
        get_pool_entries(campaign)
        .order_by()
        .filter(topic=OuterRef("topic"), docno=OuterRef("docno"))
    )
    pair = Concat(Cast("topic_id", CharField()), Value(" "), "docno")
    states = {state: Count("pk", filter=Q(state=state)) for state in LlmLabel.State.values}
    sums = {
        "made": Coalesce(Sum("calls"), 0),
        "sent": Coalesce(Sum("tokens_in"), 0),
        "received": Coalesce(Sum("tokens_out"), 0),
    }
    labelled = Count(pair, distinct=True, filter=Q(state=LlmLabel.State.GRADED) & in_pool)
    rows = (
        LlmLabel.objects.filter(judge__in=judges)
        .values("judge_id")
        .annotate(**states, **sums, labelled=labelled)
    )
    row_of = {row["judge_id"]: row for row in rows}
    return {judge.pk: _make_counts(judge, size, row_of.get(judge.pk, {})) for judge in judges}


def _make_counts(judge: LlmJudge, size: Mapping[str, int], row: Mapping[str, int]) -> AnswerCounts:
    """Create the counts of an LLM judge. row: its sums from the database, empty if there were no
    calls."""
    outcomes = {state: row.get(state, 0) for state in ("graded", "refused", "malformed")}
    sent, received = row.get("sent", 0), row.get("received", 0)
    return AnswerCounts(
        pairs=size["pairs"],
        without_text=size["without_text"],
        labelled=row.get("labelled", 0),
        answers=sum(outcomes.values()),
        outcomes=outcomes,
        waiting=row.get(LlmLabel.State.ASKED, 0),
        calls=row.get("made", 0),
        tokens_in=sent,
        tokens_out=received,
        cost=compute_price(judge, sent, received),
        troubles=judge.troubles,
    )


def get_labels(judge: LlmJudge) -> LabelsByPair:
    """Return an LLM judge's labels: the most frequent grade of each pair's samples, the lowest of
    ties, without pairs that have no grade. Ordered by topic and document as bytes."""
    graded = judge.labels.filter(state=LlmLabel.State.GRADED)
    grades: dict[tuple[str, str], list[int]] = {}
    for topic, docno, grade in graded.values_list("topic__topic_id", "docno", "grade"):
        if grade is not None:
            grades.setdefault((topic, docno), []).append(grade)
    label_of_pair = {pair: aggregate_grades(samples) for pair, samples in sorted(grades.items())}
    return {pair: grade for pair, grade in label_of_pair.items() if grade is not None}


def compute_labels_digest(labels: LabelsByPair) -> str:
    """Return the SHA-256 digest of the lines of `format_label_lines`, equal to the digest by `llm
    judge`."""
    return hashlib.sha256("".join(format_label_lines(labels)).encode("utf-8")).hexdigest()


def format_label_lines(labels: LabelsByPair) -> Iterator[str]:
    for (topic, document), grade in sorted(labels.items()):
        yield f"{topic} 0 {document} {grade}\n"


def describe_judge(judge: LlmJudge) -> dict[str, Any]:
    """Return the provenance that accompanies exported labels. It contains no key and no names of
    people."""
    return {
        "name": judge.name,
        "source": judge.source,
        "model": judge.model,
        "related": judge.related,
        "file": judge.file_name,
        "prompt": {
            "name": judge.prompt_name,
            "version": judge.prompt_version,
            "text": judge.prompt_text,
        }
        if judge.prompt_text
        else None,
        "scale": judge.scale,
        "guidelines": judge.guidelines,
        "parameters": judge.parameters,
        "samples": judge.samples,
        "frozen_at": _format_moment(judge.frozen_at),
        "drawn_at": _get_draw_time(judge.campaign),
        "digest": judge.digest,
    }


def _format_moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _get_draw_time(campaign: Campaign) -> str | None:
    """Return when the campaign's sample was drawn, None if its pool is not sampled. Later stages
    continue the same shuffle."""
    return (
        _format_moment(campaign.pool.built_at)
        if campaign.pool is not None and campaign.pool.kind == PoolKind.SAMPLED
        else None
    )


def label_file_header(judge: LlmJudge) -> str:
    """Return the header of a label file, which names the judge."""
    prompt = (
        f"prompt {judge.prompt_name} {judge.prompt_version}"
        if judge.prompt_text
        else f"from the file {judge.file_name}"
    )
    frozen = (
        f"frozen {judge.frozen_at:%Y-%m-%d}, sha256 {judge.digest}"
        if judge.frozen_at
        else "NOT FROZEN: it may still change"
    )
    return (
        f"# LLM labels, not human labels: {' '.join(judge.name.split())}, "
        f"{' '.join(judge.model.split())}, {prompt}, {frozen}\n"
    )


class PoolPairFinder:
    """Lookup of the pool pair to which a label from a file refers, by IDs or texts."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.entries = {
            (topic, docno): row
            for topic, docno, row in get_pool_entries(campaign).values_list(
                "topic__topic_id", "docno", "topic_id"
            )
        }
        self.texts: dict[tuple[str, str], tuple[int, str]] | None = None

    def find_position(self, label: FileLabel) -> tuple[int, str] | None:
        """Return the label's pair as (primary key of Topic, document ID), or None if it is not in
        the pool."""
        if not label.by_text:
            row = self.entries.get((label.topic, label.document))
            return None if row is None else (row, label.document)
        if self.texts is None:
            rows = (
                get_pool_entries(self.campaign)
                .exclude(document=None)
                .values_list("topic__text", "document__text", "topic_id", "docno")
            )
            self.texts = {
                (" ".join(query.split()), " ".join(text.split())): (topic, docno)
                for query, text, topic, docno in rows.iterator()
            }
        return self.texts.get((label.topic, label.document))
