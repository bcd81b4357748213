"""Do two recipes rank the systems alike? Asked for by the page that compares them, computed by a
job, kept as its report."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.judgements.labels import Labels, labels
from analysis.judgements.live import Live
from analysis.judgements.rows import read_rows
from analysis.judgements.system_rankings import compared, mark_of_runs, means_under, why_no_rankings
from analysis.models import Recipe
from analysis.publishing.recipes import plan_of
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import Refused, Work
from pooling.platform.snapshot import snapshot

COMPARE = "compare recipes"
AGAIN = timedelta(seconds=60)
"""After this a comparison that failed is tried again, and one of older judgements made anew, when
somebody looks."""
SCALES = ("all grades", "two grades")


def marks_of(campaign: Campaign, live: Live) -> list[int]:
    """What labels and rankings depend on: judgements, audited changes of them, managers' own
    labels, and the runs."""
    rulings = campaign.audit.filter(
        action__in=(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION)
    ).count()
    return [live.newest, live.audit, rulings, *mark_of_runs(campaign.collection)]


def newest_comparison(
    campaign: Campaign, first: Recipe, second: Recipe, live: Live
) -> tuple[Job | None, Job | None]:
    """-> (the newest comparison of the two, in whatever state, or None; a new one to be sent where
    that is out of date or failed)"""
    mine = Job.objects.filter(
        campaign_id=campaign.pk,
        kind=COMPARE,
        parameters__first=first.pk,
        parameters__second=second.pk,
    )
    newest = mine.order_by("-created_at").first()
    marks = marks_of(campaign, live)
    if newest is not None:
        current = newest.state == Job.State.DONE and newest.parameters.get("marks") == marks
        recent = newest.finished_at is None or timezone.now() - newest.finished_at < AGAIN
        if current or recent:
            return newest, None
    label = f"Rankings of the systems under the recipes {first.name} and {second.name} of {campaign.name}"
    parameters = {"first": first.pk, "second": second.pk, "marks": marks}
    job = jobs.enqueue(
        COMPARE,
        parameters,
        label=label,
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )
    return job, job


@jobs.kind(COMPARE, unit="runs", figures=True)
def compare(work: Work) -> dict[str, Any]:
    """-> report: judgements (that count), systems, rankings (per scale and measure what `compared`
    says), and where there are none the reason"""
    campaign = Campaign.objects.select_related("collection").get(pk=work.campaign_id)
    recipe_of_row = {recipe.pk: recipe for recipe in campaign.recipes.all()}
    recipes = [recipe_of_row.get(work.parameters[key]) for key in ("first", "second")]
    if None in recipes:
        raise Refused(_("one of the recipes was deleted"))
    names = tuple(recipe.name for recipe in recipes if recipe is not None)
    with snapshot():
        rows = read_rows(campaign)
        made = [
            labels(campaign, plan_of(recipe).choices, rows=rows)
            for recipe in recipes
            if recipe is not None
        ]
    runs = list(campaign.collection.runs.order_by("tag"))
    report: dict[str, Any] = {
        "judgements": int(rows.counts.sum()),
        "systems": len(runs),
        "rankings": [],
        "reason": why_none(campaign, len(runs), made, names),
    }
    if report["reason"]:
        return report
    qrels = [one.qrels(scale) for scale in ("graded", "binary") for one in made]
    means = means_under(work, runs, qrels, levels=[*(one.threshold for one in made), 1, 1])
    tags = [run.tag for run in runs]
    for number, scale in enumerate(SCALES):
        a, b = means[2 * number : 2 * number + 2]
        report["rankings"] += [
            {"scale": scale, **row} for row in compared(a, b, tags, names=(names[0], names[1]))
        ]
    return report


def why_none(campaign: Campaign, n_runs: int, made: list[Labels], names: tuple[str, ...]) -> str:
    """Why there is nothing to compare; `` if there is."""
    if reason := why_no_rankings(campaign, n_runs):
        return reason
    without = [name for name, one in zip(names, made, strict=True) if not one.rows]
    return f"no pair has a label under {' and '.join(without)}" if without else ""
