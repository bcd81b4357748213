"""Comparison of the system rankings under two recipes. A page requests it, and a job computes and
stores it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.judgements.labels import Labels, make_labels
from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.rows import read_rows
from analysis.judgements.system_rankings import (
    campaign_measures,
    compare_rankings,
    compute_means,
    no_rankings_reason,
    runs_marker,
)
from analysis.models import Recipe
from analysis.publishing.recipes import make_release_plan
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.platform.snapshot import snapshot

COMPARE_JOB = "compare recipes"
RECOMPUTE_AFTER = timedelta(seconds=60)
"""Minimum time before a failed or outdated comparison is computed again on request."""
SCALE_NAMES = ("all grades", "two grades")


def comparison_marks(campaign: Campaign, live: CampaignSnapshot) -> list[int]:
    """Return values that change whenever labels or rankings may change: judgements, audited
    changes, adjudicated labels and runs."""
    rulings = campaign.audit.filter(
        action__in=(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION)
    ).count()
    return [live.newest, live.audit, rulings, *runs_marker(campaign.collection)]


def get_newest_comparison(
    campaign: Campaign, first: Recipe, second: Recipe, live: CampaignSnapshot
) -> tuple[Job | None, Job | None]:
    """Return the newest comparison of two recipes, whatever its state, or None, and a new job to
    send if it is out of date or failed."""
    mine = Job.objects.filter(
        campaign_id=campaign.pk,
        kind=COMPARE_JOB,
        parameters__first=first.pk,
        parameters__second=second.pk,
    )
    newest = mine.order_by("-created_at").first()
    marks = comparison_marks(campaign, live)
    if newest is not None:
        current = newest.state == Job.State.DONE and newest.parameters.get("marks") == marks
        recent = newest.finished_at is None or timezone.now() - newest.finished_at < RECOMPUTE_AFTER
        if current or recent:
            return newest, None
    label = (
        f"Rankings of systems under the recipes {first.name} and {second.name} of {campaign.name}"
    )
    parameters = {"first": first.pk, "second": second.pk, "marks": marks}
    job = jobs.enqueue(
        COMPARE_JOB,
        parameters,
        label=label,
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )
    return job, job


@jobs.register_job_kind(COMPARE_JOB, unit="runs", figures=True)
def compute_recipe_comparison(work: ClaimedJob) -> dict[str, Any]:
    """Compare the system rankings under two recipes.

    The report has judgements (number counted), systems, and rankings (the result of
    `compare_rankings` per scale and measure), or the reason why there are none.
    """
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    recipe_of_row = {recipe.pk: recipe for recipe in campaign.recipes.all()}
    recipes = [recipe_of_row.get(work.parameters[key]) for key in ("first", "second")]
    if None in recipes:
        raise Refused(_("One of the recipes has been deleted. Compare two existing recipes."))
    names = tuple(recipe.name for recipe in recipes if recipe is not None)
    with snapshot():
        rows = read_rows(campaign)
        made = [
            make_labels(campaign, make_release_plan(recipe).choices, rows=rows)
            for recipe in recipes
            if recipe is not None
        ]
    runs = list(campaign.collection.runs.order_by("tag"))
    report: dict[str, Any] = {
        "judgements": int(rows.counts.sum()),
        "systems": len(runs),
        "rankings": [],
        "reason": no_comparison_reason(campaign, len(runs), made, names),
    }
    if report["reason"]:
        return report
    qrels = [one.qrels(scale) for scale in ("graded", "binary") for one in made]
    measures = campaign_measures(campaign)
    means = compute_means(
        work,
        runs,
        qrels,
        levels=[*(one.min_relevant for one in made), 1, 1],
        measures=measures,
    )
    tags = [run.tag for run in runs]
    for number, scale in enumerate(SCALE_NAMES):
        a, b = means[2 * number : 2 * number + 2]
        report["rankings"] += [
            {"scale": scale, **row}
            for row in compare_rankings(a, b, tags, names=(names[0], names[1]), measures=measures)
        ]
    return report


def no_comparison_reason(
    campaign: Campaign, n_runs: int, labels: list[Labels], names: tuple[str, ...]
) -> str:
    """Return why the system rankings under two recipes cannot be compared, or an empty string."""
    if reason := no_rankings_reason(campaign, n_runs):
        return reason
    without = [name for name, one in zip(names, labels, strict=True) if not one.rows]
    return f"no pair has a label under {' and '.join(without)}" if without else ""
