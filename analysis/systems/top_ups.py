"""Top-up campaigns, which judge the unjudged pairs listed by a report, and the follow-up
reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.judgements.labels import is_own_labels
from analysis.models import Report
from analysis.systems import reports
from analysis.systems.inputs import InputFile
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import ordered_result
from analysis.systems.topped_up import read_top_up_qrels
from annotation.core.presets import DEFAULT_NAMES
from annotation.core.scale import MOST_GRADES
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs, get_unfinished_pairs
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from assay.column_types import QrelsColumns
from assay.comparison.unjudged_documents import add_later_judgements, iterate_grades
from assay.formats.pool import make_pool
from pooling.models import Job
from pooling.platform.jobs import Refused
from pooling.services import pools
from pooling.services.listed_pools import link_stored_texts, store_listed_pool

COPIED_SETTINGS = (
    "scale",
    "min_relevant",
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
"""Settings copied from the campaign whose labels the report uses, so that the top-up campaign is
judged in the same way."""


def create_top_up(report: Report, n: int | None, *, user: Any) -> Campaign:
    """Create a draft campaign on the first n pairs of the report's order, judged strictly in that
    order.

    n: by default all pairs that the report suggests. Scale, rules and guidelines are copied from
    the report's campaign. Raises Refused if nothing is unjudged, or if the report already has a
    top-up campaign.
    """
    result = ordered_result(report)
    if not KINDS[report.kind].topped_up or result is None:
        raise Refused(_("The report has no pairs to judge."))
    order = result["order"][: n or result["settles"]["n"]]
    if not order:
        raise Refused(_("No pairs are left to judge for this report."))
    with transaction.atomic():
        locked = Report.objects.select_for_update().get(pk=report.pk)
        earlier = get_top_up(locked)
        if earlier is not None:
            raise Refused(
                _("The top-up campaign %(campaign)s already exists.") % {"campaign": earlier.name}
            )
        kept = set(
            report.collection.topics.filter(removed_reason="").values_list("topic_id", flat=True)
        )
        if gone := sorted({topic for topic, _, _ in order} - kept):
            says = ngettext(
                "Topic %(first)s of these pairs is no longer in the collection. Compute the report again.",
                "%(n)s topics of these pairs are no longer in the collection, for example %(first)s. "
                "Compute the report again.",
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
        raise Refused(str(error)) from None
    return campaign


def _top_up_settings(report: Report, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a top-up campaign: strict priority order, and otherwise those of the
    report's campaign. Without such a campaign, the scale has as many grades as the qrels."""
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
        "min_relevant": min(level, size - 1),
        "spans_from": size - 1,
    }


def get_top_up(report: Report) -> Campaign | None:
    """Return the top-up campaign created from the report, if it still exists."""
    made = report.parameters.get("top_up")
    return Campaign.objects.filter(pk=made).first() if made else None


def get_follow_up_report(report: Report) -> Report | None:
    """Return the newest finished report that uses the judgements of the top-up campaign."""
    return (
        Report.objects.filter(kind=report.kind, parameters__follows=report.pk)
        .order_by("-pk")
        .first()
    )


def count_finished_pairs(campaign: Campaign) -> tuple[int, int]:
    """Return how many ordinary pairs of a campaign need no more judgements, and how many ordinary
    pairs it has."""
    n = get_kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL).count()
    return n - get_unfinished_pairs(campaign).count(), n


def get_report_of_top_up(campaign: Campaign) -> Report | None:
    """Return the report from which the top-up campaign was created."""
    return (
        Report.objects.select_related("collection", "campaign")
        .filter(parameters__top_up=campaign.pk)
        .first()
    )


class MergedLabels(NamedTuple):
    """A report's labels, before and after adding those of its top-up campaigns. origins: the source
    of each pair's label, by (topic, document): the name of the report's qrels, or the slug of a
    campaign."""

    before: QrelsColumns
    after: QrelsColumns
    origins: dict[tuple[str, str], str]


def merge_labels(report: Report) -> MergedLabels:
    """Add the labels of the report's top-up campaigns to those that the report used. A pair that
    already has a label keeps it. If two top-up campaigns label a pair, the first counts."""
    (source,) = (one for one in map(InputFile.from_json, report.inputs) if one.kind == "qrels")
    before = reports.load_qrels(report, source)
    parameters = reports.add_top_up_labels(report)
    slugs = dict(
        Campaign.objects.filter(pk__in=parameters.get("top_ups", [])).values_list("pk", "slug")
    )
    own = report.campaign is not None and is_own_labels(source.origin)
    named = [(report.campaign.slug if own and report.campaign else source.name, before)]
    for pk in parameters.get("top_ups", []):
        if pk in slugs:
            labels = read_top_up_qrels({**parameters, "top_ups": [pk]}, report.campaign)
            named.append((slugs[pk], labels))
    after = add_later_judgements(before, [labels for _, labels in named[1:]])
    origins: dict[tuple[str, str], str] = {}
    for name, labels in named:
        for topic, document, grade in iterate_grades(labels):
            if grade >= 0:
                origins.setdefault((topic, document), name)
    return MergedLabels(before, after, origins)


def request_follow_up_reports() -> list[Job]:
    """Request a follow-up, once per report, for each report whose top-up campaign is finished or
    closed. Returns the jobs."""
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
                # A run or the qrels were deleted, which is reported when a user reruns the report.
                continue
            Report.objects.filter(pk=pk).update(parameters={**report.parameters, "followed": True})
            asked += [job] if job is not None else []
    return asked


def _is_judged(campaign: Campaign) -> bool:
    """Return whether no more judgements of the campaign are expected."""
    if campaign.state == Campaign.State.DRAFT:
        return False
    if Job.objects.filter(
        collection=campaign.collection_id, parameters__pool=campaign.pool_id, state__in=Job.ACTIVE
    ).exists():
        return False  # texts of its pairs are still being fetched
    n_done, n = count_finished_pairs(campaign)
    return n_done == n or campaign.state == Campaign.State.CLOSED
