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


def test_all_that_a_search_finds_are_removed_at_once_and_the_last_step_is_undone(listed, collection):
    url = reverse("collection-topics-change", args=[collection.slug])
    page = listed.get(reverse("collection-topics", args=[collection.slug]), {"q": "asthma"}).content.decode()
    assert "Remove all 60 found" in page
    assert "Undo the last" not in page
    answer = listed.post(f"{url}?matching=1", {"action": "remove", "q": "asthma", "show": "all"}, follow=True).content.decode()
    assert "60 topics are removed." in answer
    assert removed(collection) == 60
    assert "60 kept of 120 topics" in listed.get(reverse("collection", args=[collection.slug])).content.decode()
    assert "Undo the last" in answer
    assert "Undone for 60 topics." in listed.post(url, {"action": "undo"}, follow=True).content.decode()
    assert removed(collection) == 0
    assert not collection.topics.exclude(decided_at=None).exists()
    listed.post(url, {"action": "undo"})
    assert removed(collection) == 0


def test_one_topic_is_one_topic(listed, collection):
    url = reverse("collection-topics-change", args=[collection.slug])
    answer = listed.post(url, {"action": "remove", "topic": [collection.topics.first().pk, 999_999]}, follow=True)
    assert "1 topic is removed." in answer.content.decode()
