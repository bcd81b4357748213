"""The job that fills the demo's example campaign: simulated judgements of five days, a question,
feedback, additional judgements, adjudications and results. The campaign is then closed."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from analysis.dashboard import agreement_metrics
from analysis.dashboard.disagreements import list_disputed_pairs
from analysis.judgements.live import get_snapshot
from analysis.systems import answers
from analysis.systems.reports import request_click_reports
from annotation.demo import example
from annotation.models import Campaign, Feedback, Lease, Pair, Question
from annotation.selectors.pairs import get_ruled_pairs
from annotation.services.campaigns.lifecycle import close_campaign
from annotation.services.judging.additional_judgements import request_additional_judgement
from annotation.services.judging.questions import ask_question
from annotation.services.judging.submission import adjudicate_pair
from annotation.services.people.participation import save_feedback
from annotation.services.simulation.annotators import KnownGrades, SimulatedAnnotator
from annotation.services.simulation.simulated_time import run_directly
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

RELIABILITY, SECONDS = 0.88, 20.0
"""Probability that a reliable annotator gives the true grade, and median seconds per judgement."""
N_DAYS, PACE = 5, 1.15
"""Number of days, and judgements per day in multiples of an equal share of the judgements needed
(third judgements not counted)."""
N_DISPUTED = 3
"""Number of disputed pairs that are left open for adjudication."""
QUESTION = (
    "The entry only mentions another function that does it. Is that “Partly answers”, because "
    "it points to what helps?"
)
FEEDBACK = (
    (Feedback.Score.GOOD, "The keys are quick once you know them."),
    (
        Feedback.Score.DECENT,
        "“Related” and “Partly answers” are hard to tell apart for long entries.",
    ),
    (Feedback.Score.VERY_GOOD, ""),
    (Feedback.Score.GOOD, "More examples in the guidelines would help."),
    (Feedback.Score.GOOD, ""),
)
"""Closing feedback of the first annotators: score and comment."""


@jobs.register_job_kind(example.FILL_JOB, unit="judgements", resumes=True)
def fill_example(work: ClaimedJob) -> dict[str, Any]:
    """Fill the demo's example campaign. If it was interrupted, the next attempt continues."""
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    if campaign.state == Campaign.State.OPEN:
        judge(campaign, work)
        adjudicate(campaign, work)
        close_campaign(campaign, actor=work.job.created_by)
    request_results(campaign, work)
    return {"judgements": sum(campaign.memberships.values_list("n_judged", flat=True))}


def judge(campaign: Campaign, work: ClaimedJob) -> None:
    """Simulate N_DAYS days of judging. Each evening, the manager requests a third judgement of
    pairs on which two annotators disagree. Those of the last evening are made on an additional
    day."""
    annotators, truth = example.recruit(campaign), example.read_true_grades(campaign)
    needed = campaign.n_pairs * campaign.judgements_per_pair
    work.progress(total=needed, now=True)
    today = timezone.now().replace(hour=9, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=N_DAYS + 1)
    for day in range(N_DAYS + 1):
        most = round(PACE * needed / N_DAYS) if day < N_DAYS - 1 else None
        run_day(campaign, annotators, truth, first + timedelta(days=day), work, most)
        request_third_judgements(campaign, work)
    ask(campaign, annotators[0])
    for annotator, (score, text) in zip(annotators, FEEDBACK, strict=False):
        save_feedback(annotator.membership, score=score, text=text)


def request_third_judgements(campaign: Campaign, work: ClaimedJob) -> None:
    campaign.refresh_from_db()
    disputed = list_disputed_pairs(campaign, get_snapshot(campaign, fresh=0.0))
    pairs = Pair.objects.filter(pk__in=disputed, asked_more=0).values_list("pk", flat=True)
    if pairs:
        request_additional_judgement(campaign, list(pairs), actor=work.job.created_by)


def run_day(
    campaign: Campaign,
    annotators: list[SimulatedAnnotator],
    truth: KnownGrades,
    start: datetime,
    work: ClaimedJob,
    most: int | None,
) -> None:
    """Simulate one day of judging that begins at `start`, with at most `most` judgements."""
    before = sum(annotator.n_judged for annotator in annotators)
    run_directly(
        campaign,
        annotators,
        truth,
        reliability=RELIABILITY,
        seconds=SECONDS,
        start=start,
        most=most,
        on_progress=lambda n: work.progress(before + n),
    )


def ask(campaign: Campaign, annotator: SimulatedAnnotator) -> None:
    """Let an annotator ask the open question about a pair that they have judged."""
    pair = Lease.objects.filter(membership=annotator.membership).order_by("pk").first()
    if pair is not None and not Question.objects.filter(membership__campaign=campaign).exists():
        ask_question(annotator.membership, pair_id=pair.pair_id, key=uuid.uuid4(), text=QUESTION)


def adjudicate(campaign: Campaign, work: ClaimedJob) -> None:
    """Adjudicate the disputed pairs of the example, leaving N_DISPUTED of them open."""
    truth = example.read_true_grades(campaign)
    ruled = set(get_ruled_pairs(campaign).values_list("pk", flat=True))
    disputed = [
        pk for pk in list_disputed_pairs(campaign, get_snapshot(campaign)) if pk not in ruled
    ]
    pairs = Pair.objects.select_related("campaign", "entry__topic").in_bulk(disputed)
    for pk in disputed[N_DISPUTED:]:
        pair = pairs[pk]
        grade = truth.get_grade(pair.entry.topic.topic_id, pair.entry.docno)
        adjudicate_pair(pair, grade, reason="", actor=work.job.created_by)
        work.progress()


def request_results(campaign: Campaign, work: ClaimedJob) -> None:
    """Request the jobs that compute the Quality and Results pages, and the ranking by clicks."""
    live = get_snapshot(campaign)
    measure = answers.get_measure(campaign, answers.default_measure(campaign))
    answers.get_newest_answer(campaign, live, measure)
    agreement_metrics.refresh_alpha_if_due(campaign, live)
    request_click_reports(campaign, user=work.job.created_by)
