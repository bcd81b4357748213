"""Moments and jobs as people read them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from pooling.models import Job
from pooling.selectors.jobs import JobView, make_job_view
from pooling.templatetags.pooling import ago, ahead, job_line


@pytest.mark.parametrize(
    ("seconds", "past", "future"),
    [
        (0, "just now", "in less than a minute"),
        (50, "just now", "in less than a minute"),
        (61, "1\xa0minute ago", "in 1\xa0minute"),
        (3600 + 305, "1\xa0hour, 5\xa0minutes ago", "in 1\xa0hour, 5\xa0minutes"),
    ],
)
def test_no_moment_is_zero_minutes_away(monkeypatch, seconds, past, future):
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert ago(now - timedelta(seconds=seconds)) == past
    assert ahead(now + timedelta(seconds=seconds)) in (
        future,
        future.replace("5\xa0minutes", "4\xa0minutes"),
    )


def job(**columns: Any) -> JobView:
    """A job that began ten seconds ago, as pages show it."""
    now = timezone.now()
    columns = {
        "state": "done",
        "started_at": now - timedelta(seconds=10),
        "finished_at": now,
        **columns,
    }
    return make_job_view(Job(kind="x", label="Import", created_at=now, **columns))


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({}, "10 s"),
        ({"progress": 1200, "unit": "topics"}, "1,200 topics · 120 topics/s · 10 s"),
        ({"n_bytes": 2048}, "2.0\xa0KB · 10 s"),
        (
            {
                "state": "running",
                "finished_at": None,
                "progress": 1200,
                "total": 2400,
                "unit": "topics",
                "message": "reading",
            },
            "1,200 of 2,400 topics · 120 topics/s · 10 s · reading",
        ),
        (
            {
                "state": "running",
                "finished_at": None,
                "n_bytes": 1024,
                "parameters": {"size": 4096},
            },
            "1.0\xa0KB of 4.0\xa0KB · 10 s",
        ),
        (
            {
                "state": "queued",
                "started_at": None,
                "finished_at": None,
                "message": "waits for another",
            },
            "Waiting for the background worker · waits for another",
        ),
        (
            {"state": "queued", "started_at": None, "finished_at": None},
            "Waiting for the background worker",
        ),
    ],
)
def test_the_line_of_a_job_has_what_there_is_and_nothing_before_the_first(columns, line):
    assert job_line(job(**columns)) == line
