"""Interim checks whether a campaign can stop judging. A manager requests a check, and a job
computes and stores its report.

The number of checks is limited, because frequent checks lead to stopping too early. The result is
advice and changes nothing.

    get_stopping_advice(campaign)              the last check and whether another is possible, or None
    request_interim_check(campaign, user=...)  the job of a check, or Refused with the reason
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext as _

from analysis.judgements.campaign_sample import (
    NotEstimable,
    read_campaign_sample,
    read_stage_progress,
)
from analysis.judgements.labels import LabelChoices, Labels, make_labels
from annotation.models import Campaign
from annotation.selectors.pairs import get_kept_pairs, get_unfinished_pairs
from assay.cli.base import to_json_types
from assay.measures.packing import index_qrels, pack_run
from assay.pools.depth import select_topics
from assay.pools.pool_kinds import PoolKind, SelectionMethod
from assay.precision import rescore_by_order
from assay.sampling import estimates
from assay.sampling.stopping import (
    N_INTERIM_CHECKS,
    RemainingRelevant,
    estimate_remaining_relevant,
    never_useful_reason,
    no_check_reason,
)
from assay.sampling.stopping_advice import (
    advise_ordered_pool,
    advise_sampled_pool,
    summarise_audit,
)
from pooling.models import Job, Pool
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.platform.snapshot import snapshot
from pooling.services.pool_pairs import load_stored_pairs
from pooling.services.runs import load_rankings

STOPPING_JOB = "stopping advice"
CUTOFF = 10
RECALL = 0.9
"""Share of the relevant pairs that a campaign should find before it stops."""
ADVISABLE_POOL_KINDS = (PoolKind.DEPTH, PoolKind.ORDERED, PoolKind.SAMPLED)


@dataclass(frozen=True)
class StoppingAdvice:
    """The state of a campaign's interim checks.

    result: result of the last check, None before the first. at: time of the last check. n_checks:
    number of checks so far. running: a check is queued or running. why_not: why no check is
    possible now, empty if one is. problem: error of a failed check.
    """

    result: dict[str, Any] | None
    at: datetime | None
    n_checks: int
    running: bool
    why_not: str
    problem: str
    most: int = N_INTERIM_CHECKS


class PoolSize(NamedTuple):
    """Numbers of pairs and topics of a pool. Removed topics are left out."""

    pairs: int
    topics: int


def get_stopping_advice(campaign: Campaign) -> StoppingAdvice | None:
    if campaign.pool is None or campaign.pool.kind not in ADVISABLE_POOL_KINDS:
        return None
    size = _pool_size(campaign.pool)
    if never_useful_reason(*size) is not None:
        return None
    jobs_of = Job.objects.filter(campaign_id=campaign.pk, kind=STOPPING_JOB).order_by(
        "-created_at", "-pk"
    )
    newest, done = jobs_of.first(), list_interim_checks(campaign)
    if not done and campaign.state == Campaign.State.CLOSED:
        return None  # judging has stopped
    last = done[-1] if done else None
    why_not = (
        f"all {N_INTERIM_CHECKS} interim checks have been made; checking more often would stop judging too early"
        if len(done) >= N_INTERIM_CHECKS
        else _refusal_reason(campaign, last, size)
    )
    running = newest is not None and newest.state in Job.ACTIVE
    problem = newest.message if newest is not None and newest.state == Job.State.FAILED else ""
    return StoppingAdvice(
        last.report if last else None,
        last.finished_at if last else None,
        len(done),
        running,
        why_not,
        problem,
    )


def list_interim_checks(campaign: Campaign) -> list[Job]:
    """Return the interim checks that have a result, oldest first."""
    jobs = Job.objects.filter(
        campaign_id=campaign.pk, kind=STOPPING_JOB, state=Job.State.DONE
    ).order_by("created_at", "pk")
    return [job for job in jobs if "undefined" not in job.report]


def _pool_size(pool: Pool) -> PoolSize:
    of_kept = pool.entries.filter(topic__removed_reason="")
    return PoolSize(of_kept.count(), of_kept.values("topic").distinct().count())


def _refusal_reason(campaign: Campaign, last: Job | None, size: PoolSize) -> str:
    """Return why no interim check is possible now, using only counts that are fast to query."""
    pool = campaign.pool
    assert pool is not None
    if pool.runs.count() < 2:
        return (
            "fewer than two runs contributed to the pool, so there is no order of systems to decide"
        )
    complete = read_stage_progress(campaign)[0] if pool.kind == PoolKind.SAMPLED else None
    if complete == 0:
        return "the first stage is not complete"
    pairs = get_kept_pairs(campaign).filter(
        Q(counted__gte=min_judgements_per_pair(campaign)) | Q(adjudicated_grade__isnull=False)
    )
    n_judged = (pairs if complete is None else pairs.filter(entry__stage__lte=complete)).count()
    before = None if last is None else int(last.report["judged"])
    if before is not None and n_judged <= before:
        return f"no pairs have been judged since the last interim check ({before:,} pairs)"
    return no_check_reason(n_judged, *size, last=before) or ""


def min_judgements_per_pair(campaign: Campaign) -> int:
    """Return how many judgements a pair needs to count as judged in an interim check: two, or the
    campaign's number per pair if that is lower."""
    return min(LabelChoices().min_judgements, campaign.judgements_per_pair)


def request_interim_check(campaign: Campaign, *, user: Any) -> Job:
    """Create the job of an interim check. Raises Refused if no check is possible now."""
    pool = campaign.pool
    if pool is None or pool.kind not in ADVISABLE_POOL_KINDS:
        raise Refused(
            _(
                "Pools imported from a file have no stopping rule because the number of unjudged "
                "relevant documents is unknown."
            )
        )
    now = get_stopping_advice(campaign)
    if now is None:
        raise Refused(never_useful_reason(*_pool_size(pool)) or "")
    if now.running:
        raise Refused(_("An interim check is already running."))
    if now.why_not:
        raise Refused(now.why_not)
    label = f"Stopping advice for {campaign.name}"
    return jobs.enqueue(
        STOPPING_JOB,
        {},
        label=label,
        user=user,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(STOPPING_JOB, unit="steps", figures=True)
def run_interim_check(work: ClaimedJob) -> dict[str, Any]:
    """Compute the report of an interim check: the result of `plan stopping` with its seed, and for
    a prioritised pool `left` or `why_not_left`."""
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    before = list_interim_checks(campaign)
    last = int(before[-1].report["judged"]) if before else None
    work.progress(0, total=2, message="labels", now=True)
    with snapshot():
        answer = _compute_advice(work, campaign, last)
    report: dict[str, Any] = to_json_types(
        answer | {"seed": campaign.seed, "look": len(before) + 1}
    )
    return report


def _compute_advice(work: ClaimedJob, campaign: Campaign, last: int | None) -> dict[str, Any]:
    choices = LabelChoices(min_judgements=min_judgements_per_pair(campaign))
    made = make_labels(campaign, choices)
    work.progress(1, total=2, message="advice", now=True)
    if campaign.pool is not None and campaign.pool.kind == PoolKind.SAMPLED:
        return _advise_sampled(campaign, choices, made, last)
    return _advise_ordered(campaign, made, last)


def _advise_sampled(
    campaign: Campaign, choices: LabelChoices, labels: Labels, last: int | None
) -> dict[str, Any]:
    assert campaign.pool is not None
    try:
        prel = read_campaign_sample(campaign, choices, labels=labels).prel("graded")
    except NotEstimable as error:
        raise Refused(str(error)) from None
    index = index_qrels(prel.qrels)
    packed = [
        pack_run(rescore_by_order(load_rankings(run)), index)
        for run in campaign.pool.runs.order_by("tag")
    ]
    return advise_sampled_pool(
        estimates.make_sample(prel), packed, cutoff=CUTOFF, seed=campaign.seed, last=last
    )


def _advise_ordered(campaign: Campaign, labels: Labels, last: int | None) -> dict[str, Any]:
    pool = campaign.pool
    assert pool is not None
    whole, _ = load_stored_pairs(pool)
    kept = set(pool.collection.topics.filter(removed_reason="").values_list("topic_id", flat=True))
    pairs, _ = select_topics(whole, kept)
    grade = {(row.topic, row.document): row.grade for row in labels.rows}
    grades = np.array([grade.get((pair.topic, pair.document), -1) for pair in pairs], np.int64)
    answer = advise_ordered_pool(
        pairs,
        grades,
        min_relevant=campaign.min_relevant,
        cutoff=min(CUTOFF, pairs.depth),
        seed=campaign.seed,
        last=last,
    )
    if pool.kind == PoolKind.ORDERED:
        try:
            by_audit = estimate_audit(campaign, labels)
        except NoAudit as error:
            return answer | {"why_not_left": str(error)}
        answer["left"] = summarise_audit(
            by_audit.left, by_audit.n_relevant, by_audit.n, recall=RECALL, n_checks=N_INTERIM_CHECKS
        ) | {"batch": by_audit.batch}
    return answer


class NoAudit(ValueError):
    """The number of remaining relevant pairs cannot be estimated. The message is the reason."""


class AuditEstimate(NamedTuple):
    """An estimate of the remaining relevant pairs from audit pairs.

    batch: the batch of the audit pairs. n: number of audit pairs judged. left: estimate of the
    remaining relevant pairs, with 95% simultaneous confidence over N_INTERIM_CHECKS checks.
    n_relevant: relevant pairs found so far.
    """

    batch: int
    n: int
    left: RemainingRelevant
    n_relevant: int


class _Entry(NamedTuple):
    row: int
    topic: str
    document: str
    batch: int | None
    entered: str
    text: int | None


def estimate_audit(campaign: Campaign, labels: Labels) -> AuditEstimate:
    """Estimate the number of remaining relevant pairs from the audit pairs. Removed topics and
    pairs without a text are left out. An audit pair that cannot be judged is treated as missing at
    random. Raises NoAudit."""
    assert campaign.pool is not None
    columns = ("pk", "topic__topic_id", "docno", "stage", "entered", "document")
    entries = [
        _Entry(*row)
        for row in campaign.pool.entries.filter(topic__removed_reason="").values_list(*columns)
    ]
    waiting = get_unfinished_pairs(campaign)
    waits = set(waiting.values_list("entry", flat=True))
    relevant = {
        (row.topic, row.document): row.grade >= campaign.min_relevant for row in labels.rows
    }
    sizes = dict(campaign.pool.strata.values_list("number", "size"))
    for batch in sorted(sizes, reverse=True):
        drawn = [
            one for one in entries if one.batch == batch and one.entered == SelectionMethod.CHANCE
        ]
        known = [
            relevant[one.topic, one.document]
            for one in drawn
            if (one.topic, one.document) in relevant
        ]
        if not known or any(one.row in waits for one in drawn):
            continue
        since = [
            one
            for one in entries
            if one.text is not None and (one.batch is None or one.batch >= batch)
        ]
        if len(since) > sizes[batch]:
            raise NoAudit(
                f"pairs were added to the pool after batch {batch} was planned; the audit "
                "pairs of the next batch will cover them"
            )
        found_since = sum(relevant.get((one.topic, one.document), False) for one in since)
        left = estimate_remaining_relevant(
            len(since),
            sum(known),
            len(known),
            found_since=found_since,
            confidence=1 - 0.05 / N_INTERIM_CHECKS,
        )
        return AuditEstimate(batch, len(known), left, sum(relevant.values()))
    raise NoAudit("every batch still has audit pairs without a judgement")
