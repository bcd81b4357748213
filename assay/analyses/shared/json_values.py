"""Campaign statistics and inter-annotator agreement as JSON objects, with the keys of the commands
(docs/reference/commands.md)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from assay.campaigns.statistics import CampaignStatistics
from assay.labels.agreement.report import AnnotatorAgreement, ScaleAgreement


def format_instant(seconds: float) -> str:
    """Format a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def statistics_json(statistics: CampaignStatistics) -> dict[str, Any]:
    """Return the statistics with the documented keys, plus coverage of the pool by best rank,
    relevant share by topic, and warnings."""
    s = statistics
    return {
        "topics": s.topics,
        "documents": s.documents,
        "pairs": s.pairs,
        "labelled_pairs": s.labelled_pairs,
        "judgements": s.judgements,
        "per_pair": s.per_pair,
        "per_labelled_pair": s.per_labelled_pair,
        "grades": {grade: row._asdict() for grade, row in s.grades.items()},
        "annotators": s.annotators,
        "per_annotator": s.per_annotator,
        "per_12h": None
        if s.per_12h is None
        else [[format_instant(start), n] for start, n in s.per_12h],
        "daily_seconds": None
        if s.daily_seconds is None
        else [[format_instant(start)[:10], means] for start, means in s.daily_seconds],
        "topic_seconds": {topic: row._asdict() for topic, row in s.topic_seconds.items()},
        "complete_depth": s.complete_depth,
        "coverage": None
        if s.coverage is None
        else {rank: row._asdict() for rank, row in s.coverage.items()},
        "relevant_share": s.relevant_share,
        "relevant_share_per_topic": s.relevant_share_per_topic,
        "warnings": s.warnings,
    }


def scale_json(scale: ScaleAgreement) -> dict[str, Any]:
    return {
        "mean_kappa": scale.mean_kappa,
        "kappa_quartiles": list(scale.kappa_quartiles),
        "chance_floor": scale.chance_floor,
        "chance_floor_error": scale.chance_floor_error,
        "mean_kappa_others": scale.mean_kappa_others,
        "mean_pairwise_kappa": scale.mean_pairwise_kappa,
        "mean_pairwise_kappa_weighted": scale.mean_pairwise_kappa_weighted,
        "pairs_of_annotators": scale.pairs_of_annotators,
        "alpha": scale.alpha,
        "alpha_nominal": scale.alpha_nominal,
        "alpha_ci": scale.alpha_interval.bounds,
        "alpha_ci_unit": scale.alpha_interval.unit,
        "alpha_ci_reason": scale.alpha_interval.reason,
        "fleiss": scale.fleiss,
        "percent": scale.percent,
        "alphas": scale.alphas,
        "ac1": scale.ac1,
        "quadratic": scale.quadratic,
        "undefined": scale.undefined,
        "reasons": scale.reasons,
    }


def annotator_json(person: AnnotatorAgreement) -> dict[str, Any]:
    return {name: value for name, value in vars(person).items() if name != "name"}
