"""Effect of the aggregation method on the labels and on the system ranking."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.rows import read_counted_table
from analysis.judgements.system_rankings import (
    campaign_measures,
    compute_means,
    compute_taus,
    no_rankings_reason,
    runs_marker,
    undefined_tau_reason,
)
from annotation.models import Campaign
from assay.labels.aggregation import METHODS
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

METHOD_EFFECT_JOB = "method effect"
STALE_AFTER = timedelta(seconds=120)


def is_running(campaign: Campaign) -> bool:
    return Job.objects.filter(
        campaign_id=campaign.pk, kind=METHOD_EFFECT_JOB, state__in=Job.ACTIVE
    ).exists()


def newest_effect(
    campaign: Campaign, live: CampaignSnapshot
) -> tuple[dict[str, Any] | None, Job | None]:
    """Return the newest comparison of aggregation methods and, if it is out of date, a new job to
    send.

    The comparison is None if none was computed. Otherwise it includes `finished_at` and `current`,
    whether it is based on all judgements.
    """
    mine = Job.objects.filter(campaign_id=campaign.pk, kind=METHOD_EFFECT_JOB)
    newest = mine.filter(state=Job.State.DONE).order_by("-finished_at").first()
    marks = [live.newest, live.audit, *runs_marker(campaign.collection)]
    known = newest.parameters.get("marks", []) if newest else []
    result = (
        {**newest.report, "finished_at": newest.finished_at, "current": known[:2] == marks[:2]}
        if newest
        else None
    )
    if (
        newest
        and newest.finished_at
        and (known == marks or timezone.now() - newest.finished_at < STALE_AFTER)
    ):
        return result, None
    if not live.rows.counts.any() or is_running(campaign):
        return result, None
    label = f"Effect of the aggregation method in {campaign.name}"
    return result, jobs.enqueue(
        METHOD_EFFECT_JOB,
        {"marks": marks},
        label=label,
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


def first_undefined_reason(under: dict[str, NDArray[np.float64]], measures: Sequence[str]) -> str:
    """Return the first reason why some Kendall's tau is undefined, or an empty string. under: mean
    scores by method, of shape (n_runs, n_measures)."""
    base = under["majority"]
    for m, measure in enumerate(measures):
        for name, means in under.items():
            if compute_taus(base[:, [m]], means[:, [m]]) == [None]:
                return f"{measure}: {undefined_tau_reason(base[:, m], means[:, m], ('majority', name))}"
    return ""


@jobs.register_job_kind(METHOD_EFFECT_JOB, unit="runs", figures=True)
def compute_method_effect(work: ClaimedJob) -> dict[str, Any]:
    """Compare the aggregation methods of a campaign.

    The report has judgements, measures, systems, and methods as a list of {name, labels, different,
    tau}, with one tau per measure.
    """
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    table = read_counted_table(campaign)
    labels = {name: method(table) for name, method in METHODS.items()}
    runs = list(campaign.collection.runs.all())
    base = labels["majority"]
    reason = no_rankings_reason(campaign, len(runs)) or (
        "" if base.n_labelled else "no pair has enough judgements for a label"
    )
    measures = campaign_measures(campaign)
    taus: dict[str, list[float | None]] = {name: [None] * len(measures) for name in labels}
    if not reason:
        means = compute_means(
            work,
            runs,
            [labelled.qrels(name) for name, labelled in labels.items()],
            levels=[campaign.min_relevant] * len(labels),
            measures=measures,
        )
        under = dict(zip(labels, means, strict=True))
        taus = {name: compute_taus(under["majority"], under[name]) for name in labels}
        reason = first_undefined_reason(under, measures)
    rows = []
    for name, labelled in labels.items():
        both = base.is_labelled & labelled.is_labelled
        rows.append(
            {
                "name": name,
                "labels": labelled.n_labelled,
                "different": int((base.label[both] != labelled.label[both]).sum()),
                "tau": taus[name],
            }
        )
    return {
        "judgements": len(table),
        "measures": list(measures),
        "systems": len(runs),
        "methods": rows,
        "reason": reason,
    }
