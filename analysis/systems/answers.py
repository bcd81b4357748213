"""The answer on a campaign's Results page: which system leads by a measure and with what certainty,
based on the current judgements. A job computes it and stores it with what it depends on. The page
shows its age.

    get_newest_answer(campaign, live, measure)   the newest answer or None, and a new job to send
    get_last_answer(campaign, live, measure)     the same without starting a job
    list_answered_measures(campaign)             measures with an answer
    no_answer_reason(campaign)                   why systems cannot be scored now, or ""
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from analysis.judgements.campaign_sample import (
    NotEstimable,
    describe_prioritised_progress,
    describe_stages,
    is_sampled,
    read_campaign_sample,
    read_stage_progress,
)
from analysis.judgements.interim_checks import min_judgements_per_pair
from analysis.judgements.labels import KNOWN_GRADE_COLUMN, LabelChoices, Labels, make_labels
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from analysis.judgements.system_rankings import runs_marker, tags_marker
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign
from assay.cli.base import to_json_types
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.leading_system import describe_leader, describe_score_bounds, rank_systems
from assay.comparison.significance import no_verdict_reason
from assay.comparison.unjudged_documents import TopicTop, merge_unjudged, read_topic_tops
from assay.labels.intervals import Interval, no_interval
from assay.measures.evaluation import Evaluator, RecallBase, measure_topics
from assay.measures.measures import (
    FAMILIES,
    Measure,
    UnknownMeasure,
    limit_cutoffs,
    parse_measure,
)
from assay.measures.packing import PackedRun, index_qrels, pack_run
from assay.measures.score_bounds import compute_bounds, no_bounds_reason
from assay.sampling import estimates
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob
from pooling.services.runs import load_rankings

ANSWER_JOB = "systems answer"
STALE_AFTER = timedelta(seconds=60)
"""Minimum age before an answer is computed again. Answers are only computed while a page shows
them."""
MAX_RUNNING_JOBS = 3
"""Maximum number of simultaneous jobs of a campaign, each for a different measure."""
OFFERED_MEASURES = ("nDCG@10", "AP", "RR@10", "P@10", "R@100", "Bpref")
OFFERED_SAMPLED_MEASURES = ("HT-nDCG@10", "HT-P@10", "HT-DCG@10", "xinfAP")
N_INTERIM_CHECKS = 10
MAX_COMBINATIONS = 3_000_000
"""Maximum number of combinations of grades of unjudged documents, over all runs, for the score
bounds of nDCG. More would take too long for a page."""


def default_measure(campaign: Campaign) -> str:
    return offered_measures(campaign)[0]


def offered_measures(campaign: Campaign) -> tuple[str, ...]:
    """Return the measures that the Results page offers, the default first. Cutoffs do not exceed
    the judging depth, because deeper ranks are mostly unjudged."""
    names = OFFERED_SAMPLED_MEASURES if is_sampled(campaign) else OFFERED_MEASURES
    return tuple(map(str, limit_cutoffs(map(parse_measure, names), campaign.judged_depth)))


def get_measure(campaign: Campaign, name: str) -> Measure:
    """Parse the name of a measure for a campaign. Raises UnknownMeasure if it is invalid or does
    not fit the campaign's kind of pool."""
    measure = parse_measure(name.strip())
    if FAMILIES[measure.family].sampled != is_sampled(campaign):
        if is_sampled(campaign):
            known = ", ".join(offered_measures(campaign))
            raise UnknownMeasure(
                f"{measure} would treat unsampled pairs as not relevant. For a "
                f"sampled pool, choose one of {known}"
            )
        raise UnknownMeasure(
            f"{measure} is estimated from a sampled pool, and this campaign's pool is not "
            f"sampled. Choose one of {', '.join(offered_measures(campaign))}"
        )
    if measure.family in ("Judged", "J"):
        raise UnknownMeasure(
            f"{measure} measures how much is judged, not which system is better. Choose one "
            f"of {', '.join(offered_measures(campaign))}"
        )
    return measure


def no_answer_reason(campaign: Campaign) -> str:
    """Return why no leading system can be named, as a sentence, or an empty string."""
    if campaign.collection.runs.count() < 2:
        return _("There are fewer than two runs to compare.")
    if unfinished := describe_prioritised_progress(campaign):
        says = _(
            "No verdict: the pool is judged most likely relevant first. %(unfinished)s "
            "Scores of an incomplete pool are not comparable."
        )
        return says % {"unfinished": unfinished}
    if is_sampled(campaign) and not read_stage_progress(campaign)[0]:
        return _("No verdict. %(stages)s") % {"stages": describe_stages(campaign)}
    return ""


def get_newest_answer(
    campaign: Campaign, live: CampaignSnapshot, measure: Measure
) -> tuple[dict[str, Any] | None, Job | None]:
    """Return the newest answer as `get_last_answer` does, and a new job to send if it is out of
    date."""
    marks = _answer_marks(campaign, live)
    answer = _find_last_answer(campaign, measure, marks)
    if answer is not None and (
        answer["current"] or timezone.now() - answer["finished_at"] < STALE_AFTER
    ):
        return answer, None
    newest = (
        _answer_jobs(campaign)
        .filter(parameters__measure=str(measure))
        .order_by("-created_at", "-pk")
        .first()
    )
    if (
        newest is not None
        and newest.state == Job.State.FAILED
        and newest.parameters.get("marks") == marks
    ):
        return answer, None  # a new job would fail again
    running = [
        job.parameters.get("measure") for job in _answer_jobs(campaign).filter(state__in=Job.ACTIVE)
    ]
    if (
        str(measure) in running
        or len(running) >= MAX_RUNNING_JOBS
        or no_answer_reason(campaign)
        or not live.rows.counts.any()
    ):
        return answer, None
    label = f"Leading system in {campaign.name}, by {measure}"
    parameters = {"marks": marks, "measure": str(measure)}
    return answer, jobs.enqueue(
        ANSWER_JOB,
        parameters,
        label=label,
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


def get_last_answer(
    campaign: Campaign, live: CampaignSnapshot, measure: Measure
) -> dict[str, Any] | None:
    """Return the newest stored answer, None if there is none. Added keys: `finished_at`, and
    `current`, whether the answer is based on all current data."""
    return _find_last_answer(campaign, measure, _answer_marks(campaign, live))


def _find_last_answer(
    campaign: Campaign, measure: Measure, marks: list[int]
) -> dict[str, Any] | None:
    done = (
        _answer_jobs(campaign)
        .filter(state=Job.State.DONE, parameters__measure=str(measure))
        .order_by("-finished_at")
        .first()
    )
    if done is None or done.finished_at is None:
        return None
    return {
        **done.report,
        "finished_at": done.finished_at,
        "current": done.parameters.get("marks") == marks,
    }


def list_answered_measures(campaign: Campaign) -> list[str]:
    """Return the measures for which an answer is stored: the offered ones in their order, then
    others."""
    known = set(
        _answer_jobs(campaign)
        .filter(state=Job.State.DONE)
        .order_by()
        .values_list("parameters__measure", flat=True)
        .distinct()
    )
    return [
        *(name for name in offered_measures(campaign) if name in known),
        *sorted(known.difference(offered_measures(campaign))),
    ]


def is_running(campaign: Campaign, measure: Measure) -> bool:
    return (
        _answer_jobs(campaign)
        .filter(state__in=Job.ACTIVE, parameters__measure=str(measure))
        .exists()
    )


def failure_message(campaign: Campaign, measure: Measure) -> str:
    """Return the error of the newest job for this measure if it failed, or an empty string."""
    newest = (
        _answer_jobs(campaign)
        .filter(parameters__measure=str(measure))
        .order_by("-created_at", "-pk")
        .first()
    )
    return newest.message if newest is not None and newest.state == Job.State.FAILED else ""


def _answer_jobs(campaign: Campaign) -> Any:
    return Job.objects.filter(campaign_id=campaign.pk, kind=ANSWER_JOB)


def _answer_marks(campaign: Campaign, live: CampaignSnapshot) -> list[int]:
    """Return values that change whenever an answer may change: judgements, audited changes,
    adjudicated labels, runs and their tags."""
    rulings = AuditEvent.objects.filter(
        campaign=campaign,
        action__in=(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION),
    )
    return [
        live.newest,
        live.audit,
        rulings.count(),
        *runs_marker(campaign.collection),
        tags_marker(campaign.collection),
    ]


@jobs.register_job_kind(ANSWER_JOB, unit="runs", figures=True)
def compute_answer(work: ClaimedJob) -> dict[str, Any]:
    """Compute the answer which system leads: the ranking with tests, the properties of the labels,
    and the history.

    Each system also has unjudged (share of unjudged documents among those the measure reads, None
    if it reads all), least and most (score bounds over the possible grades of unjudged documents in
    the top ranks of all runs, None if unknown). Further keys: measure, words, open, estimated,
    labels, pairs, judgements, min_relevant, without_relevant, why_no_bounds, interim_checks (at each tenth of the
    judgements).
    """
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    measure = get_measure(campaign, work.parameters["measure"])
    runs = [
        _read_run(work, number, run)
        for number, run in enumerate(campaign.collection.runs.order_by("tag"))
    ]
    choices = LabelChoices(min_judgements=min_judgements_per_pair(campaign))
    live = get_snapshot(campaign, fresh=0.0)
    made = make_labels(campaign, choices, rows=live.rows)
    if is_sampled(campaign):
        answer = _answer_from_sample(campaign, choices, made, runs, measure)
    else:
        answer = _answer_from_labels(campaign, live, choices, made, runs, measure)
    answer |= {
        "measure": str(measure),
        "min_judgements": choices.min_judgements,
        "judgements": int(live.rows.counts.sum()),
    }
    answer["words"] = describe_leader(answer, str(measure), estimated=answer["estimated"])
    whole: dict[str, Any] = to_json_types(answer)
    return whole


def _read_run(work: ClaimedJob, number: int, run: Any) -> RunColumns:
    work.progress(number, message=f"reading {run.tag}")
    return load_rankings(run)


def _answer_from_sample(
    campaign: Campaign,
    choices: LabelChoices,
    labels: Labels,
    runs: Sequence[RunColumns],
    measure: Measure,
) -> dict[str, Any]:
    """Compute the answer for a sampled pool: estimates with confidence intervals for the mean over
    new topics. Only the paired t-test is used, as in `compare systems --sampled`."""
    try:
        drawn = read_campaign_sample(campaign, choices, labels=labels)
    except NotEstimable as error:
        raise jobs.Refused(str(error)) from None
    prel = drawn.prel("graded")
    sample = estimates.make_sample(prel)
    index = index_qrels(prel.qrels)
    values = np.stack(
        [
            estimates.estimate_topics(
                pack_run(run, index), sample, [measure], min_relevant=campaign.min_relevant
            )[:, 0]
            for run in runs
        ],
        axis=1,
    )
    why = estimates.no_interval_reason(sample, measure) or ""

    def interval(column: NDArray[np.float64]) -> Interval:
        if why:
            return no_interval(why, "topics")
        low, high = estimates.clip_to_range(measure, *estimates.topic_interval(column))
        return Interval(low, high, estimates.OUTSIDE_REASON if math.isnan(low) else "", "topics")

    ranking = rank_systems(values, [run.tag for run in runs], interval=interval, untested=why)
    for one in ranking["systems"]:
        one |= {"unjudged": None, "least": None, "most": None}
    n_without = int(
        (sample.n_relevant(min_gaining_grade(measure, campaign.min_relevant)) == 0).sum()
    )
    return ranking | {
        "estimated": True,
        "labels": int(sample.n_judged.sum()),
        "pairs": len(sample.grades),
        "without_relevant": n_without,
        "open": "",
        "why_no_bounds": "the pool is sampled, and pairs that were not drawn are estimated",
        "interim_checks": [],
        "min_relevant": campaign.min_relevant,
    }


def _answer_from_labels(
    campaign: Campaign,
    live: CampaignSnapshot,
    choices: LabelChoices,
    labels: Labels,
    runs: Sequence[RunColumns],
    measure: Measure,
) -> dict[str, Any]:
    qrels = labels.qrels("graded")
    evaluator = Evaluator(qrels, [measure], min_relevant=campaign.min_relevant)
    packed = [evaluator.pack(run) for run in runs]
    values = (
        np.stack([evaluator.evaluate_packed(one).values[:, 0] for one in packed], axis=1)
        if len(qrels)
        else np.empty((0, len(runs)))
    )
    ranking = rank_systems(values, [run.tag for run in runs])
    why = add_score_bounds(
        ranking["systems"],
        {run.tag: run for run in runs},
        qrels,
        measure,
        level=campaign.min_relevant,
        highest=campaign.grades.size - 1,
    )
    topics = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    least = min_gaining_grade(measure, campaign.min_relevant)
    relevant = np.bincount(topics, weights=qrels.grades >= least, minlength=len(qrels.topics))
    return ranking | {
        "estimated": False,
        "labels": len(qrels),
        "pairs": len(live.pairs),
        "min_relevant": campaign.min_relevant,
        "without_relevant": int((relevant == 0).sum()),
        "open": describe_score_bounds(ranking["systems"])
        if ranking["systems"] and not why and not no_verdict_reason(ranking["topics"])
        else "",
        "why_no_bounds": why,
        "interim_checks": compute_interim_checks(
            campaign,
            live,
            choices,
            qrels,
            packed,
            measure,
            [one["tag"] for one in ranking["systems"]],
        )
        if len(qrels)
        else [],
    }


def min_gaining_grade(measure: Measure, level: int) -> int:
    """Return the lowest grade that can give a topic a score above 0 by the measure."""
    graded = measure.family.removeprefix("HT-") in (
        "nDCG",
        "nDCG-exp",
        "DCG",
        "NCG",
        "ERR",
        "infNDCG",
    )
    return 1 if graded else level if measure.min_relevant is None else measure.min_relevant


def add_score_bounds(
    systems: list[dict[str, Any]],
    runs: dict[str, RunColumns],
    qrels: QrelsColumns,
    measure: Measure,
    *,
    level: int,
    highest: int,
) -> str:
    """Add unjudged, least and most to each system of an answer. Returns why there are no score
    bounds, or an empty string."""
    for one in systems:
        one |= {"unjudged": None, "least": None, "most": None}
    if reason := no_bounds_reason(measure):
        return reason
    if measure.cutoff is None:
        return f"{measure} has no cutoff"
    tops = {one["tag"]: read_topic_tops(runs[one["tag"]], qrels, measure.cutoff) for one in systems}
    for one in systems:
        mine = tops[one["tag"]]
        read = sum(len(top.grades) for top in mine)
        one["unjudged"] = sum(len(top.unjudged) for top in mine) / read if read else None
    if (
        measure.family in ("nDCG", "nDCG-exp")
        and sum(_count_combinations(top, highest) for mine in tops.values() for top in mine)
        > MAX_COMBINATIONS
    ):
        return "too many documents are unjudged to compute them here; use the report Scores of runs"
    # an unjudged document that is relevant adds to the number of relevant documents of every run
    together = merge_unjudged(list(tops.values()), measure.cutoff)
    for one, mine in zip(systems, together, strict=True):
        bounds = compute_bounds(mine, measure, min_relevant=level, highest=highest)
        if len(bounds.low):
            one |= {
                "least": math.fsum(bounds.low) / len(bounds.low),
                "most": math.fsum(bounds.high) / len(bounds.high),
            }
    return ""


def _count_combinations(top: TopicTop, highest: int) -> int:
    return math.comb(len(top.unjudged) + highest, highest)


def compute_interim_checks(
    campaign: Campaign,
    live: CampaignSnapshot,
    choices: LabelChoices,
    qrels: QrelsColumns,
    packed: Sequence[PackedRun],
    measure: Measure,
    tags: Sequence[str],
) -> list[dict[str, Any]]:
    """Compute the scores of all runs after each tenth of the judgements that the pool needs, and
    now.

    Each entry has share, judgements, at, topics and the means of the runs in the order of `tags`.
    The newest revision of each judgement is used. A topic counts from its first label on. qrels:
    the current labels, on which `packed` is based.
    """
    ordinary = live.rows.counts & live.pairs.normal[live.pair]
    made_at = np.sort(live.rows.judged_at[ordinary])
    needed = max(int(live.pairs.normal.sum()) * campaign.judgements_per_pair, 1)
    ends = [
        end
        for k in range(1, N_INTERIM_CHECKS + 1)
        if (end := math.ceil(k * needed / N_INTERIM_CHECKS)) < len(made_at)
    ]
    row_of = {
        (topic, document): row
        for k, topic in enumerate(qrels.topics)
        for row, document in zip(
            range(*qrels.rows(k).indices(len(qrels))),
            qrels.documents[qrels.rows(k)].tolist(),
            strict=True,
        )
    }
    place = {one.tag: k for k, one in enumerate(packed)}
    checks = []
    for end in [*ends, len(made_at)]:
        now = end == len(made_at)
        until = math.inf if now else float(made_at[end - 1])
        made = make_labels(campaign, choices, rows=live.rows.where(live.rows.judged_at <= until))
        grades = np.full(len(qrels), -1, np.int32)
        for label in made.rows:
            row = row_of.get((label.topic, label.document.encode()))
            if row is not None and (
                label.judgements or label.decision == KNOWN_GRADE_COLUMN or now
            ):
                grades[row] = label.grade
        means, n_topics = _run_means(
            replace(qrels, grades=grades), packed, measure, level=campaign.min_relevant
        )
        moment = datetime.fromtimestamp(float(made_at[end - 1]), UTC).isoformat() if end else None
        checks.append(
            {
                "share": end / needed,
                "judgements": end,
                "at": moment,
                "topics": n_topics,
                "means": [means[place[tag]] for tag in tags],
            }
        )
    return checks


def _run_means(
    qrels: QrelsColumns, packed: Sequence[PackedRun], measure: Measure, *, level: int
) -> tuple[list[float], int]:
    """Return (mean of each run over the topics that have a label, NaN if there are none; number of
    these topics)."""
    base = RecallBase(qrels.offsets, qrels.grades)
    topics = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    judged = np.bincount(topics[qrels.grades >= 0], minlength=len(qrels.topics)) > 0
    n = int(judged.sum())
    return [
        math.fsum(measure_topics(one, base, [measure], min_relevant=level)[judged, 0]) / n
        if n
        else math.nan
        for one in packed
    ], n
