"""Top-up campaigns: one click on a report whose answer names pairs that nobody has judged, and the
report that closes it afterwards (SAMPLING 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.models import Report
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import ordered_result
from annotation.core.scale import DEFAULT_NAMES, MOST_GRADES
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs, get_unfinished_pairs
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from assay.formats.pool import make_pool
from pooling.models import Job
from pooling.platform.jobs import Refused
from pooling.services import pools
from pooling.services.listed_pools import link_stored_texts, store_listed_pool

COPIED_SETTINGS = (
    "scale",
    "threshold",
    "judgements_per_pair",
    "min_active_seconds",
    "idle_seconds",
    "expected_seconds",
    "truncate_words",
    "spans",
    "spans_from",
    "rotate_text",
    "show_near_duplicates",
    "gold_rule",
)
"""Settings of the campaign whose labels the report reads, so that its top-up judges alike."""


def create_top_up(report: Report, n: int | None, *, user: Any) -> Campaign:
    """A draft campaign on exactly the first n pairs of the report's order (as many as the report
    speaks of, unless given), strictly in that order.

    The report's own campaign lends scale, rules and guidelines. Refused where nothing is open, and
    where there is such a campaign already."""
    result = ordered_result(report)
    if not KINDS[report.kind].topped_up or result is None:
        raise Refused(_("the report has no pairs to judge"))
    order = result["order"][: n or result["settles"]["n"]]
    if not order:
        raise Refused(_("no pairs are left to judge for this report"))
    with transaction.atomic():
        locked = Report.objects.select_for_update().get(pk=report.pk)
        earlier = get_top_up(locked)
        if earlier is not None:
            raise Refused(
                _("the top-up campaign %(campaign)s already exists") % {"campaign": earlier.name}
            )
        kept = set(
            report.collection.topics.filter(removed_reason="").values_list("topic_id", flat=True)
        )
        if gone := sorted({topic for topic, _, _ in order} - kept):
            says = ngettext(
                "%(n)s topic of these pairs, such as %(first)s, is no longer in the collection; compute the report again",
                "%(n)s topics of these pairs, such as %(first)s, are no longer in the collection; compute the report again",
                len(gone),
            )
            raise Refused(says % {"n": f"{len(gone):,}", "first": gone[0]})
        campaign = _create_campaign(report, result, order, user=user)
        locked.parameters = {**locked.parameters, "top_up": campaign.pk}
        locked.save(update_fields=["parameters"])
    report.parameters = locked.parameters
    return campaign


def _create_campaign(
    report: Report, result: Mapping[str, Any], order: Sequence[tuple[str, str, float]], *, user: Any
) -> Campaign:
    name = f"Top-up of {result['run']}"
    n = len(order)
    pairs = make_pool(
        [(topic, document) for topic, document, _ in order],
        [0] * n,
        [n - k for k in range(n)],
        [False] * n,
    )
    pool = store_listed_pool(
        report.collection, pairs, name=name, source=f"report {report.pk}, {report.title}", user=user
    )
    if link_stored_texts(pool):
        pools.request_documents(pool, user=user)
    try:
        campaign = lifecycle.create_campaign(
            name=name, collection=report.collection, actor=user, **_top_up_settings(report, result)
        )
        lifecycle.set_pool(campaign, pool, actor=user)
        guideline = (
            report.campaign.guidelines.order_by("number").last() if report.campaign else None
        )
        if guideline is not None:
            lifecycle.save_guideline(campaign, guideline.text, actor=user)
    except CampaignError as error:
        raise Refused(str(error).rstrip(".")) from None
    return campaign


def _top_up_settings(report: Report, result: Mapping[str, Any]) -> dict[str, Any]:
    """Strictly by priority; what else the report's campaign says, or a scale with as many grades as
    the qrels of the report."""
    strict: dict[str, Any] = {
        "band": 1,
        "description": f"The most informative pairs of {result['run']}, in this order: {report.title}.",
    }
    own = report.campaign
    if own is not None:
        return strict | {name: getattr(own, name) for name in COPIED_SETTINGS}
    size = result["highest"] + 1
    if size > MOST_GRADES:
        return strict
    names = DEFAULT_NAMES.get(size, tuple(f"Grade {value}" for value in range(size)))
    level = int(report.parameters.get("options", {}).get("min_relevant") or 1)
    return strict | {
        "scale": [{"value": value, "name": names[value]} for value in range(size)],
        "threshold": min(level, size - 1),
        "spans_from": size - 1,
    }


def get_top_up(report: Report) -> Campaign | None:
    """The campaign made from the report, if it is still there."""
    made = report.parameters.get("top_up")
    return Campaign.objects.filter(pk=made).first() if made else None


def get_follow_up_report(report: Report) -> Report | None:
    """The last report that was computed with what the top-up judged."""
    return (
        Report.objects.filter(kind=report.kind, parameters__follows=report.pk)
        .order_by("-pk")
        .first()
    )


def count_finished_pairs(campaign: Campaign) -> tuple[int, int]:
    """-> ordinary pairs that nobody needs to wait for any more, all of them."""
    n = get_kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL).count()
    return n - get_unfinished_pairs(campaign).count(), n


def request_follow_up_reports() -> list[Job]:
    """Ask for the report that follows on each whose top-up has been judged, or was closed: once. ->
    the jobs"""
    asked = []
    kinds = [name for name, kind in KINDS.items() if kind.topped_up]
    waiting = Report.objects.filter(
        kind__in=kinds, parameters__top_up__isnull=False, parameters__followed__isnull=True
    )
    for pk in list(waiting.order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic():
            report = (
                Report.objects.select_for_update(of=("self",))
                .select_related("collection", "campaign")
                .get(pk=pk)
            )
            campaign = get_top_up(report)
            if "followed" in report.parameters or campaign is None or not _is_judged(campaign):
                continue
            try:
                job = reports.rerun_report(report, user=report.created_by).job
            except Refused:
                continue  # a run or the qrels have been deleted: whoever computes again is told so
            Report.objects.filter(pk=pk).update(parameters={**report.parameters, "followed": True})
            asked += [job] if job is not None else []
    return asked


def _is_judged(campaign: Campaign) -> bool:
    """Whether no more judgements of the campaign are to be expected."""
    if campaign.state == Campaign.State.DRAFT:
        return False
    if Job.objects.filter(
        collection=campaign.collection_id, parameters__pool=campaign.pool_id, state__in=Job.ACTIVE
    ).exists():
        return False  # texts of its pairs are still being looked for
    n_done, n = count_finished_pairs(campaign)
    return n_done == n or campaign.state == Campaign.State.CLOSED
