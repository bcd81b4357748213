"""Pieces of a report: claimed once, free again when their worker dies, the same answer whoever
computes them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.models import Report, ReportChunk
from analysis.systems import pieces, reports, tasks
from analysis.systems.kinds import KINDS
from analysis.systems.running import decode_result, encode_result
from assay.analyses.shared.measures import PieceworkPlan
from assay.comparison.bootstrap import BootstrapTally
from pooling.models import Collection, Job
from pooling.platform import jobs
from tests.analysis.systems.builders import small_collection, work_off

pytestmark = pytest.mark.django_db


def make_world() -> Collection:
    return small_collection()


@pytest.fixture
def collection(world: Collection) -> Collection:
    return world


def ask(collection, kind: str = "stability", **options) -> Report:
    given = {
        "stability": {"element": "assessments", "overlaps": "20:100:20", "pairs": 3},
        "bootstrap": {"trials": 500},
    }.get(kind, {})
    parameters = {
        "runs": list(collection.runs.values_list("pk", flat=True)),
        "qrels": [f"imported:{collection.qrels.order_by('-name')[0].pk}"],
        "options": given | options,
    }
    return reports.request_report(
        KINDS[kind], collection=collection, campaign=None, parameters=parameters, seed=2, user=None
    )


@pytest.mark.parametrize("kind", ["stability", "bootstrap", "reusability", "split_half"])
def test_pieces_done_by_others_make_the_same_answer(collection, monkeypatch, kind) -> None:
    alone = ask(collection, kind)
    assert work_off(alone.job).state == "done"
    helped = ask(collection, kind)
    taken: list[int] = []

    def others(ids: list[int]) -> None:
        """Another worker takes every second piece before the job's own begins."""
        monkeypatch.setattr(pieces, "_cached_plan", None)
        for pk in ids[::2]:
            pieces.run_chunk(pk)
            taken.append(pk)
        assert ReportChunk.objects.filter(pk__in=taken, done_at=None).count() == 0

    monkeypatch.setattr(tasks, "send_chunk_hints", others)
    assert work_off(helped.job).state == "done"
    assert taken
    alone.refresh_from_db()
    helped.refresh_from_db()
    assert helped.result == alone.result
    assert not ReportChunk.objects.exists()


def test_a_piece_is_claimed_by_one_and_again_only_after_silence(collection) -> None:
    chunk = ReportChunk.objects.create(report=ask(collection), number=0)
    first = pieces._claim_chunk(chunk.pk)
    assert first is not None
    assert pieces._claim_chunk(chunk.pk) is None
    ReportChunk.objects.update(heartbeat=timezone.now() - timedelta(minutes=5))
    second = pieces._claim_chunk(chunk.pk)
    assert second is not None
    assert second[1] != first[1]
    ReportChunk.objects.update(heartbeat=timezone.now() - timedelta(minutes=5), attempt=3)
    assert pieces._claim_chunk(chunk.pk) is None


def test_pieces_of_a_report_that_nobody_works_on_are_left_alone(collection) -> None:
    report = ask(collection)
    chunk = ReportChunk.objects.create(report=report, number=0)
    pieces.run_chunk(chunk.pk)
    chunk.refresh_from_db()
    assert (chunk.done_at, chunk.attempt) == (None, 0)
    Job.objects.filter(pk=report.job.pk).update(state="running", cancel_requested=True)
    pieces.run_chunk(chunk.pk)
    chunk.refresh_from_db()
    assert chunk.attempt == 0
    pieces.run_chunk(10**9)


def test_cancelling_stops_between_pieces(collection, monkeypatch) -> None:
    report = ask(collection)
    done = []
    original = pieces._compute_chunk

    def fill(chunk, token, plan) -> None:
        original(chunk, token, plan)
        done.append(chunk.number)
        Job.objects.filter(pk=report.job.pk).update(cancel_requested=True)

    monkeypatch.setattr(pieces, "_compute_chunk", fill)
    assert work_off(report.job).state == "cancelled"
    assert len(done) == 1
    report.refresh_from_db()
    assert report.result is None
    assert not ReportChunk.objects.exists()


def test_a_job_taken_over_keeps_the_pieces_that_are_done(collection, monkeypatch) -> None:
    report = ask(collection)
    original, done = pieces._compute_chunk, []

    class Killed(BaseException):
        pass

    def fill(chunk, token, plan) -> None:
        if len(done) == 2:
            raise Killed
        original(chunk, token, plan)
        done.append(chunk.number)

    monkeypatch.setattr(pieces, "_compute_chunk", fill)
    with pytest.raises(Killed):
        jobs.run_job(report.job.pk)
    Job.objects.update(heartbeat=timezone.now() - timedelta(hours=1))
    ReportChunk.objects.filter(done_at=None).update(heartbeat=timezone.now() - timedelta(hours=1))
    again: list[int] = []
    monkeypatch.setattr(
        pieces,
        "_compute_chunk",
        lambda chunk, token, plan: (again.append(chunk.number), original(chunk, token, plan)),
    )
    assert work_off(report.job).state == "done"
    assert sorted(done + again) == [0, 1, 2, 3, 4]


def test_a_piece_that_fails_three_times_fails_the_report(collection, monkeypatch) -> None:
    report = ask(collection)
    monkeypatch.setattr(
        tasks,
        "send_chunk_hints",
        lambda ids: ReportChunk.objects.filter(pk=ids[0]).update(attempt=3),
    )
    job = work_off(report.job)
    assert job.state == "failed"
    assert "three times" in job.message


def test_a_process_keeps_the_plan_of_the_report_it_works_on(collection) -> None:
    report = ask(collection)
    plan = PieceworkPlan("", len, None, [], lambda results: {})
    pieces._cache_plan(report, plan)
    assert pieces._load_plan(report) is plan  # runs are not read again for the next piece
    pieces._clear_cached_plan()
    assert pieces._cached_plan is None


def test_results_travel_bit_by_bit() -> None:
    values = np.array([[0.1, np.nan, -0.0], [np.inf, 1e-310, 2**-1074]])
    assert decode_result(encode_result(values), None).tobytes() == values.tobytes()
    tally = BootstrapTally(3, values, np.arange(4), np.ones((2, 2), np.int64))
    back = decode_result(encode_result(tally), BootstrapTally)
    assert back.trials == 3
    assert back.places.tobytes() == values.tobytes()
    assert back.ranks.dtype == np.int64
