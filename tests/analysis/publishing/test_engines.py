"""Labels sent to search engines: the same bytes as the downloaded file, and the engine's answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from analysis.publishing import engines
from annotation.models import AuditEvent, Campaign
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judged_campaign
from tests.receivers import Receiver, receiver

pytestmark = pytest.mark.django_db


@pytest.fixture
def engine(settings, monkeypatch) -> Iterator[Receiver]:
    with receiver() as server:
        server.answer = b'{"judgment_id": "b8c1"}'
        settings.ENGINE_ENDPOINTS = {f"{server.url}/in": "ENGINE_KEY", f"{server.url}/open": ""}
        monkeypatch.setenv("ENGINE_KEY", "ApiKey c2VjcmV0")
        yield server


@pytest.fixture
def campaign() -> Campaign:
    return judged_campaign({("t1", "d1"): (0, 0), ("t1", "d2"): (3, 3)}, name="Spring")


def send(campaign: Campaign, name: str, address: str, query: str = "") -> Job:
    client = manager_of(campaign)
    answer = client.post(
        f"/campaigns/{campaign.slug}/export/files/{name}/send{query}", {"address": address}
    )
    job = Job.objects.filter(kind=engines.SEND_JOB).latest("pk")
    assert answer.url == f"/jobs/{job.pk}/"
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize(
    ("name", "method", "kind"),
    [
        ("opensearch", "PUT", "application/json; charset=utf-8"),
        ("rank-eval", "POST", "application/json; charset=utf-8"),
        ("ltr", "POST", "text/plain; charset=utf-8"),
        ("label-csv", "POST", "text/csv; charset=utf-8"),
    ],
)
def test_the_bytes_of_the_file_are_sent_and_the_answer_is_shown(
    campaign, engine, name, method, kind
):
    client = manager_of(campaign)
    query = "?min_judgements=1"
    response = client.get(f"/campaigns/{campaign.slug}/export/files/{name}{query}")
    file = b"".join(response.streaming_content)
    job = send(campaign, name, f"{engine.url}/in", query)
    assert job.state == Job.State.DONE, job.message
    [got] = engine.requests
    assert (got.method, got.path, got.headers["content-type"]) == (method, "/in", kind)
    assert got.headers["authorization"] == "ApiKey c2VjcmV0"
    assert got.body == file
    assert job.report["facts"] == {
        "status": 200,
        "bytes": len(file),
        "answer": '{"judgment_id": "b8c1"}',
    }
    assert '{"judgment_id": "b8c1"}' in text_of(client.get(f"/jobs/{job.pk}/"))
    entry = AuditEvent.objects.filter(action="exported", details__has_key="sent_to").get()
    assert entry.details["sent_to"] == f"{engine.url}/in"
    assert "c2VjcmV0" not in str(job.report) + str(job.parameters) + str(entry.details)


def test_what_opensearch_gets_is_its_judgement_list(campaign, engine):
    send(campaign, "opensearch", f"{engine.url}/open")
    [got] = engine.requests
    assert "authorization" not in got.headers
    content = json.loads(got.body)
    assert (content["name"], content["type"]) == ("Spring", "IMPORT_JUDGMENT")
    assert content["judgmentRatings"] == [
        {
            "query": "query number 1",
            "ratings": [{"docId": "d1", "rating": "0"}, {"docId": "d2", "rating": "3"}],
        }
    ]


def test_an_engine_that_refuses_or_is_down_fails_the_job_with_its_answer(campaign, engine):
    engine.status, engine.answer = 400, b'{"error": "unknown\n field"}'
    job = send(campaign, "opensearch", f"{engine.url}/in")
    assert (job.state, job.message) == (
        "failed",
        f'{engine.url}/in answered with status 400: {{"error": "unknown  field"}}',
    )
    assert not AuditEvent.objects.filter(action="exported").exists()


def test_a_redirect_is_not_followed(campaign, engine):
    engine.status, engine.headers = 301, {"Location": f"{engine.url}/elsewhere"}
    job = send(campaign, "opensearch", f"{engine.url}/in")
    assert (job.state, len(engine.requests)) == ("failed", 1)


def test_no_answer_is_an_error_with_its_reason(campaign, settings):
    settings.ENGINE_ENDPOINTS = {"http://127.0.0.1:1": ""}
    job = send(campaign, "opensearch", "http://127.0.0.1:1")
    assert job.state == "failed"
    assert "No answer from http://127.0.0.1:1: [Errno 111] Connection refused." in job.message


@pytest.mark.parametrize(
    ("name", "address", "says"),
    [
        ("opensearch", "http://169.254.169.254/", "Address not configured."),
        ("opensearch", "", "Address not configured."),
        (
            "judgements",
            "{url}/in",
            "This file can't be sent to a search engine. Choose a file listed under “For "
            "search engines”.",
        ),
        (
            "nothing",
            "{url}/in",
            "This file can't be sent to a search engine. Choose a file listed under “For "
            "search engines”.",
        ),
    ],
)
def test_only_files_for_engines_go_to_configured_addresses(campaign, engine, name, address, says):
    answer = manager_of(campaign).post(
        f"/campaigns/{campaign.slug}/export/files/{name}/send",
        {"address": address.format(url=engine.url)},
        follow=True,
    )
    assert says in text_of(answer)
    assert not Job.objects.filter(kind=engines.SEND_JOB).exists()
    assert engine.requests == []


def test_the_page_offers_to_send_only_where_an_address_is_configured(campaign, engine, settings):
    client, page = manager_of(campaign), f"/campaigns/{campaign.slug}/export/"
    shown = client.get(page).content.decode()
    assert shown.count('/send"') == len(engines.METHODS)
    settings.ENGINE_ENDPOINTS = {}
    assert '/send"' not in client.get(page).content.decode()


def test_the_command_sends_and_prints_the_answer(campaign, engine):
    address = f"{engine.url}/in"
    result = run(
        "send_labels", "--campaign", campaign.slug, "--to", f"{address}/", "--min-judgements", "1"
    )
    assert result["status"] == 200
    assert result["answer"] == '{"judgment_id": "b8c1"}'
    assert result["bytes"] == len(engine.requests[0].body)
    engine.status = 500
    status, *said = refused("send_labels", "--campaign", campaign.slug, "--to", address)
    assert status == 2
    assert "answered with status 500" in str(said)
    status, *said = refused(
        "send_labels", "--campaign", campaign.slug, "--to", "https://no.example"
    )
    assert status == 2
    assert "ASSAY_ENGINE_ENDPOINTS" in str(said)
