from __future__ import annotations

import pytest
from django.urls import reverse

from pooling.models import Topic
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.services import topics

TOPICS = (
    "051\tType 2 diabetes\n7\ttype 2  DIABETES\n8\t#1 or #2\n9\te cigarette\n10\te "
    "cigarettes\n11\tasthma, children\n12\tasthma children\n"
)
"""7 repeats 051 apart from case and white space; 8 has no word; 12 repeats 11 apart from
punctuation; 10 is the plural of 9."""


def proposed(collection) -> dict[str, tuple[str, str]]:
    return {t.topic_id: (t.proposal, t.same_as) for t in collection.topics.exclude(proposal="")}


def check(collection, level, user):
    job = topics.request_check(collection, level=level, user=user)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.message
    return job


def test_topics_are_stored_in_order_with_the_exact_checks_proposals(collection, bring):
    job = bring("topics", TOPICS, name="topics.tsv", mode="careful")
    assert job.report["stored"] is True
    assert [t.topic_id for t in collection.topics.all()] == ["051", "7", "8", "9", "10", "11", "12"]
    assert proposed(collection) == {"7": ("duplicate", "051"), "8": ("no text", "")}
    assert not collection.topics.exclude(removed_reason="").exists()


def test_stricter_levels_propose_more_and_keep_what_was_decided(collection, bring, manager):
    bring("topics", TOPICS)
    topics.decide_topics(collection, {Topic.objects.get(topic_id="7").pk: "keep"}, user=manager)
    check(collection, "punctuation", manager)
    assert proposed(collection)["12"] == ("duplicate", "11")
    check(collection, "suspect", manager)
    assert proposed(collection)["10"] == ("suspect", "9")
    assert Topic.objects.get(topic_id="7").removed_reason == ""
    check(collection, "exact", manager)
    assert set(proposed(collection)) == {"7", "8"}


def test_one_title_with_two_needs_is_no_duplicate_and_the_page_shows_the_difference(
    collection, bring, manager, client
):
    bring(
        "topics",
        "id,title,description\n1,jaguar,the animal\n2,jaguar,the car\n3,Jaguar,the animal\n",
        name="topics.csv",
    )
    assert proposed(collection) == {"3": ("duplicate", "1")}
    check(collection, "suspect", manager)
    assert proposed(collection) == {"2": ("suspect", "1"), "3": ("duplicate", "1")}
    client.force_login(manager)
    page = client.get(reverse("collection-check", args=[collection.slug])).content.decode()
    assert "the animal" in page
    assert "the car" in page


def test_the_manager_decides_each_or_all_of_a_reason(collection, bring, manager):
    bring("topics", TOPICS)
    assert (
        topics.decide_all_topics(collection, decision="remove", reason="no text", user=manager) == 1
    )
    assert topics.decide_all_topics(collection, decision="keep", user=manager) == 1
    topics.decide_topics(collection, {Topic.objects.get(topic_id="9").pk: "remove"}, user=manager)
    removed = dict(
        collection.topics.exclude(removed_reason="").values_list("topic_id", "removed_reason")
    )
    assert removed == {"8": "no text", "9": "by hand"}
    assert Topic.objects.get(topic_id="8").decided_by == manager
    topics.decide_topics(collection, {Topic.objects.get(topic_id="8").pk: "open"}, user=manager)
    assert Topic.objects.get(topic_id="8").decided_at is None


def test_a_decision_never_reaches_another_collections_topics(collection, bring, manager):
    from pooling.services.collections import create_collection

    bring("topics", TOPICS)
    other = create_collection(name="Other", user=manager)
    assert (
        topics.decide_topics(other, {Topic.objects.get(topic_id="9").pk: "remove"}, user=manager)
        == 0
    )


def test_kept_and_removed_lists_hold_all_topics_once(collection, bring, manager):
    bring("topics", TOPICS)
    topics.decide_all_topics(collection, decision="remove", user=manager)
    assert (
        topics.format_kept_topics(collection)
        == "051\tType 2 diabetes\n9\te cigarette\n10\te cigarettes\n11\tasthma, children\n12\tasthma children\n"
    )
    assert topics.format_removed_topics(collection) == (
        "topic\ttext\treason\tsame_as\n7\ttype 2 DIABETES\tduplicate\t051\n8\t#1 or #2\tno text\t\n"
    )


def test_ids_that_are_there_refuse_the_whole_file_with_its_lines(collection, bring):
    bring("topics", TOPICS)
    job = bring("topics", "20\tnew\n9\tanother text\n", name="more.tsv")
    assert job.state == "failed"
    assert job.report["problems"] == [
        {
            "line": 2,
            "problem": "topic 9 is already in the collection",
            "expected": "new IDs; to replace topics, delete them first",
            "text": "another text",
        }
    ]
    assert collection.topics.count() == 7
    assert (
        bring("topics", TOPICS, name="again.tsv").message
        == "All topics in again.tsv have already been imported."
    )


def test_further_topics_come_after_the_first_and_may_repeat_them(collection, bring):
    bring("topics", TOPICS)
    assert bring("topics", "20\tASTHMA CHILDREN\n").state == "done"
    last = collection.topics.last()
    assert (last.position, last.proposal, last.same_as) == (7, "duplicate", "12")


def test_topics_that_no_run_has_are_warned_about(collection, bring):
    bring("run", "051 Q0 d 1 1 t\n")
    job = bring("topics", TOPICS, mode="careful")
    assert job.report["stored"] is False
    assert job.report["warnings"] == [
        "6 of 7 topics are not in any run of the collection, such as 7, 8, 9, 10, 11"
    ]


def test_markup_in_a_query_stays_text(collection, bring):
    bring("topics", "1\t<script>alert(1)</script> & more\n")
    assert collection.topics.get().text == "<script>alert(1)</script> & more"


def test_topics_with_pairs_cannot_be_deleted(collection, bring):
    bring("topics", TOPICS)
    pool = collection.pools.create(name="p", depth=1)
    pool.entries.create(
        topic=collection.topics.first(), docno="d", best_rank=1, priority=0, position=0
    )
    with pytest.raises(Refused, match="Delete the pools first"):
        topics.delete_topics(collection)
    pool.delete()
    assert topics.delete_topics(collection) == 7
