"""Search: what it finds, and for whom."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign, Membership, Pair
from annotation.selectors import search as selector
from annotation.services.people import accounts
from pooling.models import Run, Topic
from tests.analysis.dashboard.test_pages import client_of, text_of
from tests.builders import make_annotator, make_campaign, make_collection, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Topics t1 and t2 (“query number 1”), documents d1 to d5, a run and an annotator."""
    manager = make_user("nora", may_create=True)
    collection = make_collection(manager=manager, slug="council")
    Run.objects.create(
        collection=collection,
        tag="bm25-stemmed",
        source_name="a.run",
        columns="runs/a",
        digest="a",
        n_rows=1,
        n_topics=1,
    )
    made = make_campaign(collection=collection, manager=manager, name="Staff intranet")
    make_annotator(made, "grace.hopper")
    return made


def found(user, words: str) -> dict[str, list[str]]:
    """Kind -> addresses."""
    return {
        str(group.name): [hit.address for hit in group.hits]
        for group in selector.search(user, words)
    }


def test_each_kind_is_found_by_its_words(campaign):
    manager, slug = campaign.created_by, campaign.slug
    run, topic = Run.objects.get(), Topic.objects.get(topic_id="t2")
    assert found(manager, "  INTRANET ") == {"Campaigns": [f"/campaigns/{slug}/"]}
    assert found(manager, "counc") == {"Collections": ["/collections/council/"]}
    assert found(manager, "stemmed") == {"Runs": [f"/collections/council/runs/{run.pk}/"]}
    assert found(manager, "number 2") == {"Topics": ["/collections/council/topics/?q=t2"]}
    assert found(manager, topic.topic_id) == {"Topics": ["/collections/council/topics/?q=t2"]}
    person = Membership.objects.get(user__username="grace.hopper")
    address = f"/campaigns/{slug}/people/{person.pseudonym}/"
    assert found(manager, "hopper") == {"Annotators": [address]}
    assert found(manager, person.pseudonym.lower()) == {"Annotators": [address]}
    pair = Pair.objects.get(entry__docno="d3", entry__topic=topic)
    assert found(manager, "t2 d3") == {"Pairs": [f"/campaigns/{slug}/pairs/{pair.pk}/"]}
    assert len(found(manager, "d3")["Pairs"]) == 2, "one per topic"
    assert found(manager, "nothing of this") == {}
    assert found(manager, " ") == {}


def test_only_managers_and_superusers_find_anything(campaign):
    words = ("intranet", "council", "stemmed", "number 2", "hopper", "t2 d3")
    viewer = make_user("viewer")
    accounts.add_member(campaign=campaign, user=viewer, role=Membership.Role.VIEWER)
    annotator = Membership.objects.get(user__username="grace.hopper").user
    other = make_campaign(name="Elsewhere", n_topics=1, n_documents=1).created_by
    for user in (viewer, annotator, other, make_user("stranger")):
        assert [found(user, one) for one in words] == [{}] * len(words), user.username
    for user in (campaign.created_by, make_user("root", superuser=True)):
        assert all(found(user, one) for one in words), user.username


def test_a_manager_of_the_campaign_alone_finds_its_pairs_but_nothing_of_the_collection(campaign):
    guest = make_user("guest")
    accounts.add_member(campaign=campaign, user=guest, role=Membership.Role.MANAGER)
    assert list(found(guest, "t2 d3")) == ["Pairs"]
    assert list(found(guest, "hopper")) == ["Annotators"]
    assert found(guest, "stemmed") == found(guest, "number 2") == found(guest, "counc") == {}


def test_at_most_eight_of_a_kind_in_few_statements(campaign):
    for number in range(12):
        make_campaign(
            name=f"Series {number}", manager=campaign.created_by, collection=campaign.collection
        )
    with CaptureQueriesContext(connection) as seen:
        hits = found(campaign.created_by, "series")
    assert len(hits["Campaigns"]) == 8
    assert len(seen) <= 8


def test_above_a_number_of_topics_their_text_is_not_read(campaign, monkeypatch):
    monkeypatch.setattr(selector, "MAX_TOPICS_READ", 1)
    assert found(campaign.created_by, "number 2") == {}
    assert list(found(campaign.created_by, "t2")) == ["Topics"]


def test_the_page_lists_the_results_without_scripts(campaign):
    page = client_of(campaign.created_by).get("/search", {"q": "hopper"})
    assert "A001 · grace.hopper Staff intranet" in text_of(page)
    assert "No matches." in text_of(client_of(campaign.created_by).get("/search", {"q": "xyz"}))


def test_the_box_is_in_the_head_of_managers_pages_only(campaign):
    annotator = Membership.objects.get(user__username="grace.hopper").user
    assert 'id="search-dialog"' in client_of(campaign.created_by).get("/").content.decode()
    assert 'id="search-dialog"' not in client_of(annotator).get("/").content.decode()
    own_page = client_of(campaign.created_by).get("/search").content.decode()
    assert own_page.count('id="search-words"') == 1
