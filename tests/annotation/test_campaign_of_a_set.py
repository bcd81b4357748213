"""A campaign over the pairs of an imported set: pairs for everyone, and the set's own settings."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling
from annotation.services.people import accounts
from pooling.models import Collection, Pool
from pooling.services import pools
from pooling.services.collections import create_collection
from tests.builders import make_user, submit
from tests.pooling.conftest import bring_in, run
from tests.pooling.services.test_sets import FIRA, fetch, zipped

PAIRS = "query_id\tdoc_id\tpriority\n" + "1\ta\tall\n2\tb\tall\n1\tb\t1\n2\ta\t3\n"


@pytest.fixture
def collection(db, settings, tmp_path) -> Collection:
    settings.MEDIA_ROOT = tmp_path / "files"
    made = create_collection(name="Trip", user=make_user("manager", may_create=True))
    job = bring_in(made, "set", zipped(FIRA | {"judgement-pairs.tsv": PAIRS}), name="trip.zip")
    assert job.state == "done", job.message
    fetch(made)
    return made


@pytest.fixture
def draft(collection) -> Campaign:
    return lifecycle.create_campaign(
        name="Trip", collection=collection, actor=collection.managers.get()
    )


def kinds(campaign: Campaign) -> dict[tuple[str, str], str]:
    return {
        (topic, docno): kind
        for topic, docno, kind in campaign.pairs.values_list(
            "entry__topic__topic_id", "entry__docno", "kind"
        )
    }


def test_pairs_with_the_priority_all_are_for_everyone(collection, draft):
    lifecycle.set_pool(draft, collection.pools.get())
    assert kinds(draft) == {
        ("1", "a"): "everyone",
        ("2", "b"): "everyone",
        ("1", "b"): "normal",
        ("2", "a"): "normal",
    }
    assert (draft.n_pairs, draft.n_everyone) == (4, 2)


def test_every_annotator_judges_them_and_only_them_beyond_the_pairs_own_number(collection, draft):
    lifecycle.update_campaign(draft, actor=None, judgements_per_pair=1, target_per_annotator=4)
    lifecycle.set_pool(draft, collection.pools.get())
    lifecycle.save_guideline(draft, "Judge.")
    lifecycle.open_campaign(draft)
    for name in ("ann", "bob", "cy"):
        seat = accounts.add_member(campaign=draft, user=make_user(name), role="annotator")
        while (lease := scheduling.claim_pair(seat)) is not None:
            submit(seat, lease, 1)
    counted = {
        (p.entry.topic.topic_id, p.entry.docno): p.counted
        for p in Pair.objects.select_related("entry__topic")
    }
    assert counted == {("1", "a"): 3, ("2", "b"): 3, ("1", "b"): 1, ("2", "a"): 1}


def test_the_page_offers_the_sets_settings_and_a_new_campaign_takes_them(collection, draft):
    client = Client()
    client.force_login(collection.managers.get())
    page = client.get(f"/campaigns/{draft.slug}/settings/pool/")
    assert (
        "target per annotator 30, judgements per pair 10, spans required, rotate text on"
        in page.content.decode()
    )
    pool = collection.pools.get()
    client.post(
        f"/campaigns/{draft.slug}/settings/pool/",
        {"pool": pool.pk, "settings": "on", "onward": "1"},
    )
    draft.refresh_from_db()
    assert (
        draft.target_per_annotator,
        draft.judgements_per_pair,
        draft.spans,
        draft.rotate_text,
    ) == (30, 10, "required", True)
    assert set(draft.pairs.values_list("needed", flat=True)) == {10}


def test_a_campaign_of_a_fira_set_has_the_grade_names_of_fira_unless_it_has_its_own(
    collection, draft
):
    draft = lifecycle.apply_pool_settings(draft, collection.pools.get(), actor=None)
    assert [grade["name"] for grade in draft.scale] == ["Wrong", "Topic", "Partial", "Perfect"]
    own = [{"value": value, "name": name} for value, name in enumerate(("A", "B", "C", "D"))]
    lifecycle.update_campaign(draft, actor=None, scale=own)
    draft = lifecycle.apply_pool_settings(draft, collection.pools.get(), actor=None)
    assert draft.scale == own


def test_without_the_tick_the_campaign_keeps_its_own(collection, draft):
    client = Client()
    client.force_login(collection.managers.get())
    client.post(
        f"/campaigns/{draft.slug}/settings/pool/",
        {"pool": collection.pools.get().pk, "onward": "1"},
    )
    draft.refresh_from_db()
    assert (draft.judgements_per_pair, draft.rotate_text, draft.n_pairs) == (3, False, 4)


def test_a_campaign_that_was_opened_takes_no_settings(collection, draft):
    lifecycle.set_pool(draft, collection.pools.get())
    lifecycle.save_guideline(draft, "Judge.")
    lifecycle.open_campaign(draft)
    with pytest.raises(CampaignError, match="only to new campaigns"):
        lifecycle.apply_pool_settings(draft, collection.pools.get(), actor=None)


def test_a_pool_of_pairs_is_extended_by_a_run_and_keeps_who_judges_what(collection, draft):
    pool = collection.pools.get()
    lifecycle.set_pool(draft, pool)
    assert bring_in(collection, "run", "1 Q0 b 1 9 R\n1 Q0 c 2 8 R\n").state == "done"
    job = run(
        pools.request_extension(pool, runs=list(collection.runs.all()), depth=pool.depth, user=None)
    )
    assert job.state == "done", job.message
    entries = (
        Pool.objects.get()
        .entries.order_by("topic__topic_id", "docno")
        .values_list("topic__topic_id", "docno", "best_rank", "everyone")
    )
    assert list(entries) == [
        ("1", "a", 0, True),
        ("1", "b", 1, False),
        ("1", "c", 2, False),
        ("2", "a", 0, False),
        ("2", "b", 0, True),
    ]
    assert kinds(draft)["1", "c"] == "normal"
    assert kinds(draft)["1", "a"] == "everyone"


def test_the_pages_of_such_a_pool_and_its_entries_in_the_api(collection):
    client = Client()
    client.force_login(collection.managers.get())
    pool = collection.pools.get()
    page = client.get(f"/collections/{collection.slug}/pools/{pool.pk}/").content.decode()
    assert "airs from trip.zip" in page
    assert page.count(">calibration<") == 2
    assert client.get(f"/collections/{collection.slug}/pools/").status_code == 200
    entries = client.get(f"/api/v1/collections/{collection.slug}/pools/{pool.pk}/entries").json()[
        "results"
    ]
    assert [entry["everyone"] for entry in entries] == [True, True, False, False]
    assert (
        client.get(f"/api/v1/collections/{collection.slug}/pools/{pool.pk}/").json()["suggested"][
            "judgements_per_pair"
        ]
        == 10
    )
