"""The pages and the API of LLM judges, as a manager uses them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, LlmJudge
from pooling.models import Job
from pooling.platform import jobs
from tests.annotation.llm.endpoint_server import Replay, serving
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    made = make_campaign(n_topics=1, n_documents=3, guideline="Judge the text.")
    made.collection.topics.update(text="topic 1")
    for document in made.collection.documents.all():
        document.text = f"document {document.docno[1:]}"
        document.save()
    return made


@pytest.fixture
def manager(campaign: Campaign) -> Client:
    client = Client()
    assert campaign.created_by is not None
    client.force_login(campaign.created_by)
    return client


ASKED = {
    "action": "endpoint",
    "ask-name": "first",
    "ask-model": "replay",
    "ask-prompt": "grade",
    "ask-samples": "2",
    "ask-temperature": "0",
    "ask-most_tokens": "10",
    "ask-price_in": "1000",
    "ask-price_out": "1000",
    "ask-related": "runA",
}


def test_from_the_form_to_a_frozen_file(campaign: Campaign, manager: Client, settings: Any) -> None:
    """3 pairs, 2 answers each, 100 tokens sent and 4 received a call at 1,000 a million: a cost of
    .62."""
    address = reverse("campaign-llm-judges", args=[campaign.slug])
    assert "ASSAY_LLM_ENDPOINTS" in manager.get(address).content.decode()
    with serving(Replay({("1", str(d)): d % 3 for d in (1, 2, 3)})) as url:
        settings.LLM_ENDPOINTS = {url: ""}
        assert manager.post(address, ASKED | {"ask-endpoint": "http://other/v1"}).status_code == 400
        page = manager.post(address, ASKED | {"ask-endpoint": url}, follow=True)
        said = " ".join(page.content.decode().split())
        assert "about 6 calls" in said
        judge = LlmJudge.objects.get()
        act = reverse("campaign-llm-judge-act", args=[campaign.slug, judge.pk])
        manager.post(act, {"action": "run"})
        jobs.run_job(Job.objects.get(kind="judge with LLM").pk)
    said = " ".join(manager.get(page.request["PATH_INFO"]).content.decode().split())
    assert "This permanently deletes the judge's labels (3) and answers (6)." in said
    for part in (
        "3 of 3",
        "6 (600 input tokens, 24 output tokens)",
        "0.62",
        "runA (not evaluated with this judge)",
    ):
        assert part in said, part
    manager.post(act, {"action": "freeze"})
    judge.refresh_from_db()
    answer = manager.get(reverse("campaign-llm-judge-labels", args=[campaign.slug, judge.pk]))
    first, *rest = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert first.startswith(
        "# LLM labels, not human labels: first, replay, prompt grade 1, frozen "
    )
    assert rest == ["t1 0 d1 1", "t1 0 d2 2", "t1 0 d3 0"]
    assert "is frozen" in manager.post(act, {"action": "delete"}, follow=True).content.decode()
    assert LlmJudge.objects.filter(pk=judge.pk).exists()


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("t1 0 d1 2\nt1 0 d9 1\n", 200, "1 of 3"),
        ("t1 0 d1 two\n", 400, "two"),
        ("t1 0 d1 9\n", 400, "grade 9"),
    ],
)
def test_labels_from_a_file(
    campaign: Campaign, manager: Client, text: str, status: int, said: str
) -> None:
    given = {
        "action": "file",
        "file-name": "m",
        "file-model": "some",
        "file-file": SimpleUploadedFile("labels.txt", text.encode()),
    }
    answer = manager.post(reverse("campaign-llm-judges", args=[campaign.slug]), given, follow=True)
    assert answer.status_code == status
    assert said in " ".join(answer.content.decode().split())
    assert LlmJudge.objects.count() == (status == 200)


def test_the_api_makes_asks_and_freezes(campaign: Campaign, manager: Client, settings: Any) -> None:
    with serving(Replay({("1", str(d)): 1 for d in (1, 2, 3)})) as url:
        settings.LLM_ENDPOINTS = {url: ""}
        body = {
            "name": "m",
            "model": "replay",
            "endpoint": url,
            "prompt": "$query $scale $document",
        }
        made = manager.post(
            reverse("api-llm-judges", args=[campaign.slug]), body, content_type="application/json"
        )
        assert (made.status_code, made.json()["prompt"], made.json()["estimate"]["calls"]) == (
            201,
            "own",
            3,
        )
        place = [campaign.slug, made.json()["id"]]
        job = manager.post(reverse("api-llm-judge-run", args=place))
        assert job.status_code == 202
        jobs.run_job(job.json()["id"])
    frozen = manager.post(reverse("api-llm-judge-freeze", args=place)).json()
    assert (frozen["labelled"], frozen["outcomes"]["graded"], len(frozen["digest"])) == (3, 3, 64)
    again = manager.post(reverse("api-llm-judge-freeze", args=place))
    assert (again.status_code, "frozen" in again.content.decode()) == (409, True)
