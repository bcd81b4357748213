"""What is said before something is deleted is what then happens."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from pooling.platform.deletion import count_dependent_rows, preview_removal
from pooling.services.pools import delete_pool
from pooling.services.runs import delete_run
from tests.builders import make_annotator, make_campaign
from tests.pooling.conftest import bring_in


def test_a_run_stays_while_a_pool_is_made_from_it(full) -> None:
    run, pool = full.runs.first(), full.pools.get()
    preview = preview_removal(full, "run", run.pk)
    assert preview.refused == ["1 pool was created from it. Delete it first."]
    before = preview_removal(full, "pool", pool.pk)
    # by hand: 051 has a, b and d, 7 has x
    assert (before.goes, before.refused) == (["4 pairs"], [])
    delete_pool(pool)
    assert preview_removal(full, "run", run.pk).refused == []
    delete_run(run)
    assert preview_removal(full, "run", run.pk) is None


def test_topics_and_document_files_stay_while_there_are_pools(full) -> None:
    file = full.document_files.get()
    assert preview_removal(full, "topics", None).refused == [
        "1 pool would lose its pairs. Delete the pool first."
    ]
    assert "use texts from" in preview_removal(full, "documents", file.pk).refused[0]
    delete_pool(full.pools.get())
    assert preview_removal(full, "topics", None).title == "all 3 topics"
    assert (
        preview_removal(full, "topics", None).refused
        == preview_removal(full, "documents", file.pk).refused
        == []
    )


def test_the_page_leads_to_the_address_that_deletes(client, full, manager) -> None:
    client.force_login(manager)
    qrels = full.qrels.get()
    address = reverse("collection-removal", args=[full.slug])
    page = client.get(address, {"kind": "qrels", "pk": qrels.pk})
    assert "Delete the qrels qrels?" in page.content.decode()
    client.post(page.context["address"], {"action": "delete"})
    assert not full.qrels.exists()
    assert client.get(address, {"kind": "qrels", "pk": qrels.pk}).status_code == 404
    assert client.get(address, {"kind": "virus", "pk": "1"}).status_code == 404
    assert client.get(address, {"kind": "run", "pk": "9" * 30}).status_code == 404


def test_of_a_collection_all_is_counted_by_kind(client, full, manager) -> None:
    bring_in(full, "run", "051 Q0 z 1 9 C\n", user=manager)
    goes = preview_removal(full, "collection", None).goes
    assert {"3 topics", "3 runs", "1 qrels", "1 pool", "1 document file"} <= set(goes)
    client.force_login(manager)
    assert (
        "to confirm" in client.get(reverse("collection-removal", args=[full.slug])).content.decode()
    )


@pytest.mark.django_db
def test_what_goes_with_a_campaign_is_counted_by_kind() -> None:
    campaign = make_campaign(n_topics=2, n_documents=3, state="draft")
    make_annotator(campaign)
    goes = count_dependent_rows(campaign)
    assert "6 pairs" in goes
    assert "2 memberships" in goes  # a manager and an annotator
    client = Client()
    client.force_login(campaign.memberships.get(role="manager").user)
    page = client.get(reverse("campaign-step", args=[campaign.slug, "open"])).content.decode()
    assert "<li>6 pairs</li>" in page
