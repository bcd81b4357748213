"""The figures of /metrics by value: so many things are done, and exactly so much do they rise."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Lease
from annotation.services.campaigns import lifecycle, removal
from annotation.services.judging import scheduling
from pooling.models import Job
from tests.builders import judge, make_annotator, make_campaign, submit
from tests.installation import Installation

TOKEN = {"Authorization": "Bearer a token"}


def figures_in(text: str) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in (
            line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")
        )
    }


@pytest.fixture
def risen(settings) -> Callable[[], dict[str, float]]:
    """How much each figure has risen or fallen since the fixture was made, where it has."""
    settings.METRICS_TOKEN = "a token"

    def figures() -> dict[str, float]:
        return figures_in(Client().get("/metrics", headers=TOKEN).content.decode())

    before = figures()
    return lambda: {
        name: value - before[name] for name, value in figures().items() if value != before[name]
    }


@pytest.mark.django_db
def test_judgements_claims_and_leases_rise_by_what_was_done(risen):
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for grade in (0, 1, 2):
        judge(ada, grade)
    held = [scheduling.claim_pair(bob), scheduling.claim_pair(bob)]
    assert risen() == {"assay_judgements_total": 3, "assay_claims_total": 5, "assay_leases_live": 2}
    submit(bob, held[0], 1)
    assert risen() == {"assay_judgements_total": 4, "assay_claims_total": 5, "assay_leases_live": 1}
    Lease.objects.filter(pk=held[1].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert risen() == {"assay_judgements_total": 4, "assay_claims_total": 5}, (
        "it has ended, though nobody has taken it back yet"
    )


@pytest.mark.django_db
def test_totals_do_not_fall_when_a_campaign_is_deleted(risen):
    """Prometheus takes a counter that falls for one that began anew, and would tell of a burst of
    judgements."""
    campaign = make_campaign(judgements_per_pair=1)
    judge(make_annotator(campaign), 1)
    lifecycle.close_campaign(campaign, actor=None)
    removal.delete_campaign(campaign, actor=None)
    assert risen() == {"assay_judgements_total": 1, "assay_claims_total": 1}


@pytest.mark.django_db
def test_jobs_are_those_that_wait_and_run_and_the_wait_is_that_of_the_oldest(risen):
    now = timezone.now()
    for state, minutes in (
        ("queued", 1),
        ("queued", 5),
        ("running", 9),
        ("done", 20),
        ("failed", 30),
        ("cancelled", 40),
    ):
        job = Job.objects.create(kind="nothing", label="nothing", state=state)
        Job.objects.filter(pk=job.pk).update(created_at=now - timedelta(minutes=minutes))
    more = risen()
    assert 300 <= more.pop("assay_job_wait_seconds") < 300 + 60
    assert more == {'assay_jobs{state="queued"}': 2, 'assay_jobs{state="running"}': 1}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_web_processes_tell_the_same_of_both(tmp_path):
    """Six connections to each process, of which each asks once: what one process was asked is told
    by the other."""
    with Installation(
        tmp_path / "two", prepared=True, WEB_WORKERS="2", METRICS_TOKEN="a token"
    ) as assay:
        made = assay.run(
            "campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=1, name='C')\n"
            "from annotation.services.people import tokens\n"
            "ada = make_annotator(campaign, 'ada')\n"
            "print(campaign.slug, tokens.create_api_token(user=ada.user, name='t'))"
        )
        slug, token = made.split()
        held = six_to_each_of_two(assay.port)

        def figures(connection: http.client.HTTPConnection) -> dict[str, float]:
            text = asked(connection, "/metrics", TOKEN)[1]
            return {
                name: value
                for name, value in figures_in(text).items()
                if 'kind="other"' not in name and "seconds" not in name and "wal" not in name
            }

        before = figures(held[0])
        own = {"Authorization": f"Token {token}"}
        asks = (
            [("/sign-in", {}, 200)] * 4
            + [("/nowhere", {}, 404)] * 3
            + [(f"/api/v1/judging/{slug}/setup", own, 200)] * 5
        )
        mixed = [asks[place] for place in (0, 4, 7, 1, 5, 8, 2, 6, 9, 3, 10, 11)]
        with ThreadPoolExecutor(12) as pool:
            statuses = list(
                pool.map(
                    lambda pair: asked(pair[0], *pair[1][:2])[0], zip(held, mixed, strict=True)
                )
            )
        assert statuses == [status for *_, status in mixed]
        for one in held:
            assert {
                name: value - before[name]
                for name, value in figures(one).items()
                if value != before[name]
            } == {
                'assay_requests_total{kind="page",status="2xx"}': 4,
                'assay_requests_total{kind="page",status="4xx"}': 3,
                'assay_requests_total{kind="api",status="2xx"}': 5,
            }


def asked(
    connection: http.client.HTTPConnection, path: str, headers: dict[str, str]
) -> tuple[int, str]:
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def six_to_each_of_two(port: int) -> list[http.client.HTTPConnection]:
    """Connections of which the first six are held by one process of the web server, the others by
    the other one."""
    of_process: dict[int, list[http.client.HTTPConnection]] = {}
    end = time.monotonic() + 60
    while len(of_process) < 2 or min(map(len, of_process.values())) < 6:
        assert time.monotonic() < end, {
            process: len(connections) for process, connections in of_process.items()
        }
        one = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        asked(one, "/healthz", {})
        connections = of_process.setdefault(process_with(port, one), [])
        if len(connections) < 6:
            connections.append(one)
        else:  # the other process has not begun yet
            one.close()
            time.sleep(0.1)
    first, second = of_process.values()
    return first + second


def process_with(port: int, connection: http.client.HTTPConnection) -> int:
    """That which has the other end."""
    ours = connection.sock.getsockname()[1]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    [inode] = [
        row[9] for row in rows if [int(row[at].split(":")[1], 16) for at in (1, 2)] == [port, ours]
    ]
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if str(link.readlink()) == f"socket:[{inode}]":
                return int(link.parts[2])
    raise AssertionError("nobody has it")
