"""Preview of excluding annotators: changed labels, pairs that lose their label, and changes in the
system ranking."""

from __future__ import annotations

import math
from typing import Any

from django.contrib.auth.models import User

from analysis.judgements.rows import read_counted_table
from analysis.judgements.system_rankings import (
    campaign_measures,
    compare_rankings,
    compute_means,
    no_rankings_reason,
)
from annotation.models import Campaign
from assay.labels.agreement.alpha import krippendorff_alpha
from assay.labels.agreement.annotators import compute_exclusion_effect
from assay.natural_order import natural_sort_key
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

EXCLUSION = "preview exclusion"
MAX_SHOWN = 100


def request_exclusion_preview(campaign: Campaign, annotators: list[str], *, user: User) -> Job:
    return jobs.enqueue(
        EXCLUSION,
        {"annotators": sorted(annotators)},
        label=f"Effect of excluding {', '.join(sorted(annotators))} in {campaign.name}",
        user=user,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(EXCLUSION, unit="runs")
def preview_exclusion(work: ClaimedJob) -> dict[str, Any]:
    """Compute what the exclusion of annotators would change.

    The report contains ordinal alpha before and after (None if undefined), the number of
    judgements, pairs that lose their label, the first 100 changed labels, topics that lose all
    labels, and the comparison of the system rankings. Systems are ranked over the topics that
    remain, both before and after.
    """
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    what = compute_exclusion_effect(read_counted_table(campaign), work.parameters["annotators"])
    tables = (what.before.table, what.after.table)
    shown = sorted(
        what.changes, key=lambda c: (natural_sort_key(c.topic), natural_sort_key(c.document))
    )[:MAX_SHOWN]
    report: dict[str, Any] = {
        "alpha": [
            none_if_nan(krippendorff_alpha(table.counts, level="ordinal")) for table in tables
        ],
        "annotators": what.annotators,
        "judgements": what.n_judgements,
        "labels_before": what.before.n_labelled,
        "labels_after": what.after.n_labelled,
        "without_label": len(what.without_label),
        "topics_lost": what.lost_topics,
        "n_changes": len(what.changes),
        "changes": [
            {"topic": c.topic, "document": c.document, "before": c.before, "after": c.after}
            for c in shown
        ],
        "rankings": [],
        "systems": 0,
    }
    runs = list(campaign.collection.runs.all())
    if reason := no_rankings_reason(campaign, len(runs)):
        report["no_rankings"] = reason
        return report
    if not what.after.n_labelled or not what.before.n_labelled:
        report["no_rankings"] = "no pair has enough judgements for a label"
        return report
    measures = campaign_measures(campaign)
    before, after = compute_means(
        work,
        runs,
        what.restrict_to_common_topics(),
        levels=[campaign.min_relevant] * 2,
        measures=measures,
    )
    rankings = compare_rankings(
        before,
        after,
        [run.tag for run in runs],
        names=("current labels", "labels without them"),
        measures=measures,
    )
    return report | {"rankings": rankings, "systems": len(runs)}


def none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
