"""Many topics at once: chosen, found, undone."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from tests.pooling.conftest import bring_in


@pytest.fixture
def listed(client, collection, manager):
    client.force_login(manager)
    rows = [{"_id": str(n), "title": f"asthma {n}" if n % 2 else f"flu {n}"} for n in range(120)]
    bring_in(collection, "topics", "".join(json.dumps(row) + "\n" for row in rows), user=manager)
    return client


def removed(collection) -> int:
    return collection.topics.exclude(removed_reason="").count()


def test_all_that_a_search_finds_are_removed_at_once_and_the_last_step_is_undone(
    listed, collection
):
    url = reverse("collection-topics-change", args=[collection.slug])
    page = listed.get(
        reverse("collection-topics", args=[collection.slug]), {"q": "asthma"}
    ).content.decode()
    assert "Remove all 60 matches" in page
    assert "Undo last change" not in page
    answer = listed.post(f"{url}?q=asthma&page=2", {"action": "remove-found"}, follow=True)
    assert (
        answer.redirect_chain[-1][0]
        == reverse("collection-topics", args=[collection.slug]) + "?q=asthma&page=2"
    )
    answer = answer.content.decode()
    assert "Removed 60 topics." in answer
    assert removed(collection) == 60
    assert (
        "60 kept of 120 topics"
        in listed.get(reverse("collection", args=[collection.slug])).content.decode()
    )
    assert "Undo last change" in answer
    assert (
        "Decisions undone: 60 topics."
        in listed.post(url, {"action": "undo"}, follow=True).content.decode()
    )
    assert removed(collection) == 0
    assert not collection.topics.exclude(decided_at=None).exists()
    listed.post(url, {"action": "undo"})
    assert removed(collection) == 0


def test_one_topic_is_one_topic(listed, collection):
    url = reverse("collection-topics-change", args=[collection.slug])
    answer = listed.post(
        url, {"action": "remove", "topic": [collection.topics.first().pk, 999_999]}, follow=True
    )
    assert "Removed 1 topic." in answer.content.decode()


def test_all_found_is_not_all_where_nothing_was_looked_for(listed, collection):
    url = reverse("collection-topics-change", args=[collection.slug])
    assert (
        "found"
        not in listed.get(reverse("collection-topics", args=[collection.slug])).content.decode()
    )
    listed.post(f"{url}?page=2&sort=id", {"action": "remove-found"})
    assert removed(collection) == 0
    listed.post(f"{url}?show=kept&q=flu", {"action": "remove-found"})
    assert removed(collection) == 60


def test_topics_are_found_by_state_and_sorted_with_2_before_10(listed, collection):
    url = reverse("collection-topics", args=[collection.slug])
    collection.topics.filter(topic_id__in=["3", "5"]).update(removed_reason="removed")
    page = listed.get(url, {"show": "removed"})
    assert [topic.topic_id for topic in page.context["topics"]] == ["3", "5"]
    assert "kept (118)" in page.content.decode()
    ids = [
        topic.topic_id for topic in listed.get(url, {"sort": "-id", "q": "flu"}).context["topics"]
    ]
    assert ids[:3] == ["118", "116", "114"]
    assert len(ids) == 25


def test_the_last_decision_of_the_check_is_undone_and_proposals_are_found_by_reason(
    client, full, manager
):
    client.force_login(manager)
    url = reverse("collection-check", args=[full.slug])
    page = client.get(url)
    assert "Undo last decision" not in page.content.decode()
    assert [
        topic.topic_id for topic in client.get(url, {"reason": "no text"}).context["proposals"]
    ] == ["8"]
    answer = client.post(url + "?show=open", {"all": "remove"}, follow=True)
    assert answer.redirect_chain[-1][0] == url + "?show=open"
    assert "Decisions saved: 2 topics." in answer.content.decode()
    assert [
        topic.topic_id for topic in client.get(url, {"show": "removed"}).context["proposals"]
    ] == ["7", "8"]
    assert not client.get(url, {"show": "open"}).context["proposals"].count
    answer = client.post(
        reverse("collection-topics-change", args=[full.slug]),
        {"action": "undo", "from_check": "yes"},
        follow=True,
    )
    assert answer.redirect_chain[-1][0] == url
    assert "Decisions undone: 2 topics." in answer.content.decode()
    assert full.topics.filter(removed_reason="", decided_at=None).count() == 3
