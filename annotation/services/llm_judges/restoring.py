"""Restoring frozen LLM judges from a release, with their settings and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotation.models import Campaign, LlmJudge, LlmLabel
from annotation.selectors import llm_judges as selectors
from assay.pools.pool_kinds import PoolKind
from pooling.models import Pool, Topic
from pooling.services.restoring import AT_ONCE, NotRestorable


class LlmLabelRow(NamedTuple):
    line: int
    llm_judge: str
    topic: str
    document: str
    grade: int


def restore_judges(
    campaign: Campaign,
    stored_values: Sequence[Mapping[str, Any]],
    rows: Iterable[LlmLabelRow],
    *,
    topics: Mapping[str, Topic],
) -> int:
    """Create frozen judges and return the number of labels stored.

    stored_values: descriptions as given by `selectors.llm_judges.describe_judge`. A pair has one label,
    regardless of the number of samples. Raises NotRestorable if the labels do not match the stated
    digest, and ValidationError for values that cannot be stored.
    """
    judges = {}
    for one in stored_values:
        judge = _make_judge(campaign, one)
        if judge.name in judges:
            raise NotRestorable(f"duplicate LLM judge {judge.name[:60]!r}", "each once")
        # these fields may be empty
        judge.full_clean(exclude=["campaign", "created_by", "limits", "troubles", "parameters"])
        judge.save(force_insert=True)
        judges[judge.name] = judge
    labels: dict[tuple[str, str, str], LlmLabel] = {}
    for row in rows:
        place = f"llm-labels.tsv, line {row.line}"
        judge_of_row, topic = judges.get(row.llm_judge), topics.get(row.topic)
        if judge_of_row is None:
            raise NotRestorable(
                f"{place}: unknown LLM judge {row.llm_judge[:40]!r}", "one listed in the release"
            )
        if topic is None:
            raise NotRestorable(f"{place}: unknown topic {row.topic[:40]!r}", "one in topics.jsonl")
        if (row.llm_judge, row.topic, row.document) in labels:
            raise NotRestorable(
                f"{place}: duplicate label by {row.llm_judge[:40]!r} for topic {row.topic[:40]!r}, "
                f"document {row.document[:40]!r}",
                "one label per pair",
            )
        label = LlmLabel(
            judge=judge_of_row,
            topic=topic,
            docno=row.document,
            state=LlmLabel.State.GRADED,
            grade=row.grade,
        )
        labels[row.llm_judge, row.topic, row.document] = label
    LlmLabel.objects.bulk_create(labels.values(), batch_size=AT_ONCE)
    for judge in judges.values():
        if selectors.compute_labels_digest(selectors.get_labels(judge)) != judge.digest:
            raise NotRestorable(
                f"the labels of {judge.name} do not match its digest",
                "the frozen labels",
            )
    if (
        stored_values
        and campaign.pool is not None
        and campaign.pool.kind == PoolKind.SAMPLED
        and (drawn := stored_values[0].get("drawn_at"))
    ):
        Pool.objects.filter(pk=campaign.pool.pk).update(built_at=_parse_moment(drawn))
    return len(labels)


def _make_judge(campaign: Campaign, stored_values: Mapping[str, Any]) -> LlmJudge:
    prompt = stored_values.get("prompt") or {}
    scale, parameters = stored_values.get("scale"), stored_values.get("parameters") or {}
    if (
        not isinstance(prompt, dict)
        or not isinstance(parameters, dict)
        or not isinstance(scale, list)
    ):
        raise NotRestorable(
            "an LLM judge without scale, or whose prompt or parameters are not an object",
            "the description of an LLM judge in a release",
        )
    frozen_at = _parse_moment(stored_values.get("frozen_at"))
    samples = stored_values.get("samples")
    if frozen_at is None or not isinstance(samples, int) or not 0 < samples <= 1000:
        raise NotRestorable(
            "an LLM judge that is not frozen, or without its number of answers per pair",
            "frozen_at, samples",
        )
    texts = {
        name: str(stored_values.get(name) or "")
        for name in ("name", "source", "model", "related", "guidelines", "digest")
    }
    version = prompt.get("version")
    return LlmJudge(
        campaign=campaign,
        **texts,
        file_name=str(stored_values.get("file") or ""),
        scale=scale,
        parameters=parameters,
        samples=samples,
        frozen_at=frozen_at,
        prompt_name=str(prompt.get("name") or ""),
        prompt_text=str(prompt.get("text") or ""),
        prompt_version=version if isinstance(version, int) else 1,
    )


def _parse_moment(stored_values: Any) -> datetime | None:
    if stored_values is None:
        return None
    try:
        at = datetime.fromisoformat(stored_values)
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None:
        raise NotRestorable(
            f"{str(stored_values)[:40]!r} is not a date and time", "ISO 8601 with a time zone"
        )
    return at
