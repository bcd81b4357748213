"""Deleting a campaign: everything in it goes, nothing else does."""

from __future__ import annotations

import logging

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.models import Recipe, Release, Report
from annotation.models import (
    Campaign,
    Feedback,
    Guest,
    GuestPanel,
    Judgement,
    LlmJudge,
    LlmLabel,
    Message,
    Pair,
    PanelEvent,
    Question,
    Skip,
    Webhook,
    WebhookMessage,
)
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle, removal
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling
from annotation.services.people import accounts as people
from annotation.services.people.results_links import create_results_link
from pooling.models import Job, PoolEntry
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def counts():
    models = [
        *apps.get_app_config("annotation").get_models(),
        *apps.get_app_config("analysis").get_models(),
    ]
    of_people = {
        "annotation.Profile",
        "annotation.ApiTokenRow",
        "annotation.Attempts",
        "annotation.OpenSession",
        "annotation.InstitutionAccount",
    }
    return {
        model._meta.label: model.objects.count()
        for model in models
        if model._meta.label not in of_people
    }


def busy_campaign(**fields):
    """With a row in every table that a campaign has rows in, and files."""
    campaign = make_campaign(judgements_per_pair=2, **fields)
    manager = campaign.created_by
    people.create_invitation(campaign=campaign, actor=manager)
    lifecycle.save_guideline(campaign, "Read.", actor=manager)
    ada = make_annotator(campaign)
    judge(ada, 2)
    Skip.objects.create(pair=campaign.pairs.last(), membership=ada)
    Message.objects.create(membership=ada, text="Thank you.")
    Feedback.objects.create(membership=ada, score="GOOD")
    scheduling.claim_pair(ada)
    Question.objects.create(membership=ada, pair=campaign.pairs.last(), text="Both?")
    llm_judge = LlmJudge.objects.create(campaign=campaign, name="llm_judge", model="model")
    LlmLabel.objects.create(
        judge=llm_judge,
        topic=campaign.collection.topics.all()[0],
        docno="d1",
        state="graded",
        grade=1,
    )
    webhook = Webhook.objects.create(campaign=campaign, name="chat", url="https://chat.example/")
    WebhookMessage.objects.create(webhook=webhook, key="test", body="{}", due_at=timezone.now())
    panel = GuestPanel.objects.create(campaign=campaign, places=2, judgements=1)
    Guest.objects.create(panel=panel, membership=make_annotator(campaign), participant="0" * 64)
    PanelEvent.objects.create(panel=panel, event_id="one", received_at=timezone.now())
    create_results_link(campaign, name="for a reader", days=7, actor=campaign.created_by)
    recipe = Recipe.objects.create(campaign=campaign, name="main")
    Release.objects.create(
        recipe=recipe, file=ContentFile(b"zip", name="release.zip"), digest="0" * 64
    )
    name = default_storage.save("reports/result.json", ContentFile(b"{}"))
    report = Report.objects.create(
        collection=campaign.collection,
        campaign=campaign,
        kind="evaluate",
        title="r",
        files={"result": name},
    )
    report.chunks.create(number=0)
    for state in ("queued", "running", "done"):
        Job.objects.create(
            kind="agreement",
            label=state,
            state=state,
            collection=campaign.collection,
            campaign_id=campaign.pk,
        )
    return campaign


@pytest.fixture
def data(settings, tmp_path):
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path / "data"
    return tmp_path


def files(data):
    return sorted(path.name for path in data.rglob("*") if path.is_file())


def test_everything_of_a_campaign_goes_and_nothing_else(
    data, caplog, django_capture_on_commit_callbacks
):
    other = busy_campaign()
    before, entries, accounts, kept = (
        counts(),
        PoolEntry.objects.count(),
        User.objects.count(),
        files(data),
    )
    campaign = busy_campaign()
    assert [
        name for name, now in counts().items() if now == before[name]
    ] == []  # each table has rows of it
    lifecycle.close_campaign(campaign)
    manager, pk, pool = campaign.created_by, campaign.pk, campaign.pool
    with caplog.at_level(logging.WARNING), django_capture_on_commit_callbacks(execute=True):
        assert removal.delete_campaign(campaign, actor=manager) == 1
    assert counts() == before
    assert files(data) == kept
    assert (PoolEntry.objects.count(), User.objects.count()) == (2 * entries, accounts + 2)
    assert pool.entries.exists()
    [job] = Job.objects.filter(campaign_id=pk)
    assert (job.state, job.cancel_requested) == ("running", True)
    assert Job.objects.filter(campaign_id=other.pk, cancel_requested=False).count() == 3
    assert f"{manager} deleted the campaign" in caplog.text
    assert check_invariants(other) == []


@pytest.mark.parametrize("state", ["open", "paused"])
def test_a_campaign_that_somebody_may_be_judging_in_stays(state, data):
    campaign = busy_campaign(state="open")
    if state == "paused":
        lifecycle.pause_campaign(campaign)
    before, kept = counts(), files(data)
    with pytest.raises(
        CampaignError, match=f"The campaign is {state}. Close it before you delete it"
    ):
        removal.delete_campaign(campaign, actor=None)
    assert (counts(), files(data), Job.objects.filter(cancel_requested=True).count()) == (
        before,
        kept,
        0,
    )


def test_the_number_of_queries_does_not_depend_on_the_judgements(data):
    def queries(n_documents):
        campaign = make_campaign(n_topics=1, n_documents=n_documents)
        ada = make_annotator(campaign)
        for _ in range(n_documents):
            judge(ada, 1)
        lifecycle.close_campaign(campaign)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            removal.delete_campaign(campaign, actor=None)
        return len(captured)

    assert queries(2) == queries(20)
    assert not Judgement.objects.exists()
    assert not Pair.objects.exists()


def test_the_page_asks_for_the_name_and_says_what_is_lost(client, data):
    campaign = busy_campaign()
    client.force_login(campaign.created_by)
    address, page = (
        reverse("campaign-delete", args=[campaign.slug]),
        reverse("campaign-step", args=[campaign.slug, "open"]),
    )
    assert "Delete campaign" not in client.get(page).content.decode()
    answer = client.post(address, {"confirm": campaign.slug}, follow=True)
    assert "The campaign is open. Close it before you delete it" in answer.content.decode()
    lifecycle.close_campaign(campaign)
    shown = client.get(page).content.decode()
    assert "<strong>1 judgement</strong>" in shown
    answer = client.post(address, {"confirm": "something"}, follow=True)
    assert f"Type {campaign.slug} to delete the campaign." in answer.content.decode()
    assert Campaign.objects.filter(pk=campaign.pk).exists()
    answer = client.post(address, {"confirm": campaign.slug}, follow=True)
    assert f"Deleted {campaign.name} and 1 judgement." in answer.content.decode()
    assert not Campaign.objects.filter(pk=campaign.pk).exists()


def test_a_collection_can_be_deleted_after_its_campaign(client, data):
    campaign = make_campaign(state="draft")
    collection = campaign.collection
    collection.managers.add(campaign.created_by)
    client.force_login(campaign.created_by)
    client.post(reverse("campaign-delete", args=[campaign.slug]), {"confirm": campaign.slug})
    client.post(reverse("collection-delete", args=[collection.slug]), {"confirm": collection.slug})
    assert not type(collection).objects.filter(pk=collection.pk).exists()
