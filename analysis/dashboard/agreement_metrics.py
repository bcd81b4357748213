"""Agreement statistics that take too long to compute while a page loads. A job computes and stores
them, and pages show them with their age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from analysis.judgements.agreement_by_entry import (
    compute_agreement_by_entry,
    describe_agreement_by_entry,
)
from analysis.judgements.agreement_by_question import compute_agreement_by_question
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Membership, Pair
from annotation.selectors.pairs import get_special_pairs
from assay.analyses.shared.json_values import scale_json
from assay.cli.base import to_json_types
from assay.labels.agreement.alpha import SubsetAlpha, alpha_by_group, krippendorff_alpha
from assay.labels.agreement.interpretation import interpretation_label
from assay.labels.agreement.raters import find_annotator_pairs
from assay.labels.agreement.report import make_agreement_report
from assay.labels.labels import LabelTable
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

AGREEMENT_JOB = "agreement statistics"
STALE_AFTER = timedelta(seconds=60)
"""Minimum age in seconds before agreement statistics are computed again. They are only computed
while a page shows them."""
ALPHA_MAX_AGE = timedelta(minutes=10)
"""Maximum age of the alpha on the overview while the Quality page is not open."""
MIN_PAIRS = 10
MAX_GROUPS = 15
MAX_ANNOTATORS = 100
"""Maximum number of annotators for whom alpha without them is computed."""
LENGTH_RANGES = [(0, 100), (100, 200), (200, 400), (400, 800), (800, None)]
"""Ranges of document length in words, each with its lower limit (inclusive) and upper limit
(exclusive)."""


def latest_agreement_job(campaign: Campaign) -> Job | None:
    return (
        Job.objects.filter(campaign_id=campaign.pk, kind=AGREEMENT_JOB, state=Job.State.DONE)
        .order_by("-finished_at")
        .first()
    )


def is_running(campaign: Campaign) -> bool:
    return Job.objects.filter(
        campaign_id=campaign.pk, kind=AGREEMENT_JOB, state__in=Job.ACTIVE
    ).exists()


def agreement_with_refresh(
    campaign: Campaign, live: CampaignSnapshot
) -> tuple[dict[str, Any] | None, Job | None]:
    """Return the newest stored agreement statistics and, if they are out of date, a new job to
    send."""
    newest = newest_agreement(campaign, live)
    if newest is not None and (newest["current"] or newest["age"] < STALE_AFTER.total_seconds()):
        return newest, None
    if not live.rows.counts.any():
        return newest, None
    return newest, request_agreement_job(campaign, marks=[live.newest, live.audit])


def newest_agreement(campaign: Campaign, live: CampaignSnapshot) -> dict[str, Any] | None:
    """Return the newest stored agreement statistics, None if there are none. Added keys: `age` in
    seconds, `finished_at`, and `current`, whether they cover all judgements."""
    newest = latest_agreement_job(campaign)
    if newest is None or newest.finished_at is None:
        return None
    return {
        **newest.report,
        "age": (timezone.now() - newest.finished_at).total_seconds(),
        "finished_at": newest.finished_at,
        "current": _is_current(newest, live),
    }


def latest_alpha(campaign: Campaign, live: CampaignSnapshot) -> dict[str, Any]:
    """Return the newest stored ordinal alpha as a dictionary.

    value, low, high: alpha and its confidence interval, None if undefined. label: its conventional
    interpretation. reason: why alpha is undefined. at: time of computation, None if never computed.
    judgements: number of judgements it is based on. current: whether these are all judgements.
    outdated: whether judgements have been excluded or otherwise changed since. by_entry: for
    prioritised pools, one line with alpha of the randomly sampled pairs and of the other pairs.
    """
    newest = latest_agreement_job(campaign)
    if newest is None:
        never: dict[str, Any] = dict.fromkeys(("value", "low", "high", "at", "judgements"))
        shared = live.table(campaign.grades.size).judgements_per_pair > 1
        return {
            **never,
            "current": False,
            "outdated": False,
            "label": None,
            "reason": _("Being calculated.")
            if shared.any()
            else _("Available once two annotators have judged the same pair."),
            "by_entry": "",
        }
    graded = newest.report["graded"]
    low, high = graded["alpha_ci"]
    reason = graded.get("reasons", {}).get("alpha") or graded.get("alpha_ci_reason") or "undefined"
    apart = describe_agreement_by_entry(newest.report.get("by_entry", []))
    return {
        "value": graded["alpha"],
        "label": interpretation_label(graded["alpha"]),
        "low": low,
        "high": high,
        "at": newest.finished_at,
        "reason": reason,
        "judgements": newest.report.get("n_judgements"),
        "current": _is_current(newest, live),
        "outdated": _is_outdated(newest, live),
        "by_entry": apart,
    }


def _is_current(job: Job, live: CampaignSnapshot) -> bool:
    """Return whether the job's statistics cover all judgements and exclusions."""
    return bool(job.parameters.get("marks") == [live.newest, live.audit])


def _is_outdated(job: Job, live: CampaignSnapshot) -> bool:
    """Return whether a manager has changed judgements, for example by an exclusion, since the job
    ran."""
    marks = job.parameters.get("marks")
    return bool(marks and marks[1] != live.audit)


def refresh_alpha_if_due(campaign: Campaign, live: CampaignSnapshot) -> Job | None:
    """Return a new job to send if the stored alpha lacks judgements and is older than
    ALPHA_MAX_AGE. After an exclusion or another audited change, its age does not matter."""
    newest = latest_agreement_job(campaign)
    if not live.rows.counts.any():
        return None
    if (
        newest is not None
        and newest.finished_at is not None
        and (
            _is_current(newest, live)
            or (
                timezone.now() - newest.finished_at < ALPHA_MAX_AGE
                and not _is_outdated(newest, live)
            )
        )
    ):
        return None
    return request_agreement_job(campaign, marks=[live.newest, live.audit])


def request_agreement_job(
    campaign: Campaign, *, marks: list[int] | None = None, user: User | None = None
) -> Job | None:
    """Create a job that computes agreement, unless one is queued or running."""
    if is_running(campaign):
        return None
    label = f"Agreement statistics of {campaign.name}"
    return jobs.enqueue(
        AGREEMENT_JOB,
        {"marks": marks or []},
        label=label,
        user=user,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


def compared_days(table: LabelTable) -> NDArray[np.int64]:
    """Return the day on which each pair got its second judgement, in days since 1970 (UTC), -1 for
    pairs with fewer than two.

    The day of the last judgement is not used: pairs on which two annotators disagree may get a
    third judgement later, so earlier days would contain only pairs with agreement.
    """
    order = np.lexsort((np.nan_to_num(table.judged_at), table.pair))
    starts = np.searchsorted(table.pair[order], np.arange(table.n_pairs))
    days = np.full(table.n_pairs, -1)
    twice = table.judgements_per_pair > 1
    second = np.nan_to_num(table.judged_at[order[starts[twice] + 1]])
    days[twice] = np.floor(second / 86400).astype(np.int64)
    return days


@jobs.register_job_kind(AGREEMENT_JOB, unit="steps", figures=True)
def compute_agreement(work: ClaimedJob) -> dict[str, Any]:
    """Compute the agreement report of a campaign.

    Keys: graded and binary (with the keys of the command `agreement`), over_time, by_topic,
    by_length, by_guideline, by_entry, by_question, and alpha_without, which maps each pseudonym to
    the ordinal alpha of all other annotators.
    """
    campaign = Campaign.objects.get(pk=work.campaign_id)
    live = get_snapshot(campaign, fresh=0.0)
    table = live.table(campaign.grades.size)
    rng = np.random.default_rng(campaign.seed)
    work.progress(0, total=5, message="kappa and alpha", now=True)
    report = make_agreement_report(table, min_relevant=campaign.min_relevant, rng=rng)
    work.progress(1, total=5, message="alpha over time")
    over_time = [
        {"day": datetime.fromtimestamp(day * 86400, UTC).strftime("%d %b"), **_alpha_values(subset)}
        for day, subset in sorted(_alpha_by_group(table, compared_days(table)).items())
    ]
    work.progress(2, total=5, message="alpha by topic")
    lowest = _lowest_topics(table)
    by_topic = _name_groups(
        _alpha_by_group(table, lowest, fewest=MIN_PAIRS), lambda t: table.topics[t]
    )
    by_topic.sort(key=lambda row: _alpha_sort_key(row["alpha"]))
    work.progress(3, total=5, message="alpha by length")
    lengths = _length_groups(live)
    by_length = _name_groups(
        _alpha_by_group(table, lengths, fewest=MIN_PAIRS), _format_length_group
    )
    work.progress(4, total=5, message="alpha by guidelines")
    versions = _guideline_groups(live)
    by_guideline = _name_groups(
        _alpha_by_group(table, versions, fewest=MIN_PAIRS),
        lambda v: f"version {v}" if v else "none",
    )
    return to_json_types(
        {
            "graded": scale_json(report.graded),
            "binary": scale_json(report.binary),
            "n_pairs": report.n_pairs,
            "n_labelled": report.n_labelled,
            "n_judgements": report.n_judgements,
            "over_time": over_time,
            "by_topic": by_topic,
            "by_length": by_length,
            "by_guideline": by_guideline,
            "by_entry": compute_agreement_by_entry(campaign, table),
            "by_question": compute_agreement_by_question(campaign),
            "alpha_without": _alpha_without_annotators(table, report.graded.kappa_others),
            "seed": campaign.seed,
        }
    )


def _alpha_without_annotators(
    table: LabelTable, kappa_others: NDArray[np.float64]
) -> dict[str, float]:
    """Return ordinal alpha with each annotator left out in turn. Covers the MAX_ANNOTATORS with the
    lowest kappa with the others, among those who share at least MIN_PAIRS pairs with them."""
    shared = table.judgements_per_pair[table.pair] > 1
    n_shared = np.bincount(table.annotator[shared], minlength=table.n_annotators)
    lowest = [i for i in np.argsort(kappa_others).tolist() if n_shared[i] >= MIN_PAIRS]
    alphas = {}
    for annotator in lowest[:MAX_ANNOTATORS]:
        own = table.annotator == annotator
        counts = table.counts.copy()
        np.subtract.at(counts, (table.pair[own], table.grade[own]), 1)
        alphas[table.annotators[annotator]] = krippendorff_alpha(counts, level="ordinal")
    return alphas


def _alpha_by_group(table: LabelTable, group: Any, *, fewest: int = 2) -> dict[int, SubsetAlpha]:
    """Return ordinal alpha for each group of pairs in which at least `fewest` pairs are judged
    twice."""
    twice = table.judgements_per_pair > 1
    group = np.where(twice, group, -1)
    values, n = np.unique(group[group >= 0], return_counts=True)
    group = np.where(np.isin(group, values[n >= fewest]), group, -1)
    return alpha_by_group(table, group, level="ordinal")


def _alpha_values(subset: SubsetAlpha) -> dict[str, Any]:
    reason = (
        "all judgements have the same grade" if np.isnan(subset.alpha) else subset.interval.reason
    )
    return {
        "alpha": subset.alpha,
        "low": subset.interval.low,
        "high": subset.interval.high,
        "pairs": subset.n_pairs,
        "reason": reason,
    }


def _name_groups(alphas: dict[int, SubsetAlpha], name: Any) -> list[dict[str, Any]]:
    return [
        {"name": name(group), **_alpha_values(alpha)} for group, alpha in sorted(alphas.items())
    ]


def _lowest_topics(table: LabelTable) -> NDArray[np.int64]:
    """Return the topic of each pair if it is one of the MAX_GROUPS topics with the lowest alpha,
    else -1. Shape (n_pairs,). Other topics are not shown, so their confidence intervals are not
    computed."""
    alphas = _alpha_by_group(table, table.pair_topic, fewest=MIN_PAIRS)
    shown = sorted(alphas, key=lambda t: (*_alpha_sort_key(alphas[t].alpha), t))[:MAX_GROUPS]
    return np.where(np.isin(table.pair_topic, shown), table.pair_topic, -1)


def _alpha_sort_key(alpha: float) -> tuple[bool, float]:
    """Return a sort key that puts undefined alphas last."""
    return bool(np.isnan(alpha)), 0.0 if np.isnan(alpha) else alpha


def _length_groups(live: CampaignSnapshot) -> Any:
    return np.digitize(live.pairs.words[live.table_pairs], [low for low, _ in LENGTH_RANGES[1:]])


def _format_length_group(group: int) -> str:
    low, high = LENGTH_RANGES[group]
    return f"{low} to {high - 1} words" if high else f"{low} or more words"


def _guideline_groups(live: CampaignSnapshot) -> Any:
    """Return the version of the guidelines under which each pair was judged, -1 if there were
    several."""
    counts, size = live.rows.counts, len(live.pairs)
    lowest, highest = np.full(size, np.iinfo(np.int32).max), np.full(size, -1)
    np.minimum.at(lowest, live.pair[counts], live.rows.guideline[counts])
    np.maximum.at(highest, live.pair[counts], live.rows.guideline[counts])
    return np.where(lowest == highest, lowest, -1)[live.table_pairs]


DEFAULT_COMMON, DEFAULT_PARTNERS = 10, 3


@dataclass(frozen=True)
class OverlapPlan:
    """The planned annotation overlap of a campaign, and the overlap reached so far.

    common, partners: each annotator should share at least `common` pairs with `partners` others;
    the default rule if `planned` is false. partners_of: (annotator, number of others with whom they
    share at least `common` pairs). everyone: number of calibration pairs. everyone_cost: judgements
    that calibration pairs need beyond the usual number per pair.
    """

    planned: bool
    common: int
    partners: int
    partners_of: list[tuple[str, int]]
    everyone: int
    everyone_cost: int

    @property
    def n_met(self) -> int:
        return sum(n >= self.partners for _, n in self.partners_of)


def overlap_plan(campaign: Campaign, live: CampaignSnapshot) -> OverlapPlan:
    planned = bool(campaign.min_common and campaign.min_partners)
    common = campaign.min_common if planned else DEFAULT_COMMON
    table = live.table(campaign.grades.size)
    pairs = live.derived(
        f"annotators with {common} in common",
        lambda: find_annotator_pairs(table, min_common=common),
    )
    partners = np.bincount(pairs.first, minlength=table.n_annotators) + np.bincount(
        pairs.second, minlength=table.n_annotators
    )
    everyone = get_special_pairs(campaign, Pair.Kind.EVERYONE).count()
    n_annotators = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).count()
    return OverlapPlan(
        planned=planned,
        common=common,
        partners=campaign.min_partners if planned else DEFAULT_PARTNERS,
        partners_of=sorted(
            zip(table.annotators, partners.tolist(), strict=True), key=lambda row: (row[1], row[0])
        ),
        everyone=everyone,
        everyone_cost=everyone * max(0, n_annotators - campaign.judgements_per_pair),
    )
