"""Rows inserted by one statement run for each: the same rows as the ORM would write."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from pooling.models import Collection, Pool, PoolEntry, Topic
from pooling.services.rows import insert_rows, prepare_insert

pytestmark = pytest.mark.django_db


def test_rows_are_those_that_the_orm_writes():
    collection = Collection.objects.create(slug="c", name="C")
    fields = {"text": "100 % \"quoted\" 'text' 🦄", "fields": {"é": ["1", None]}, "position": 1}
    Topic(collection=collection, topic_id="orm", **fields).save()
    insert_rows(prepare_insert([Topic(collection=collection, topic_id="plain", **fields)]))
    one, two = (Topic.objects.filter(topic_id=name).values().get() for name in ("orm", "plain"))
    assert {**one, "id": 0, "topic_id": ""} == {**two, "id": 0, "topic_id": ""}
    pool, topic = (
        Pool.objects.create(collection=collection, name="p", depth=1),
        Topic.objects.first(),
    )
    entry = {
        "pool": pool,
        "topic": topic,
        "best_rank": 1,
        "priority": 0,
        "position": 0,
        "contributions": {"run": 1},
    }
    PoolEntry(docno="orm", **entry).save()
    insert_rows(prepare_insert([PoolEntry(docno="plain", **entry)]))
    one, two = (PoolEntry.objects.filter(docno=name).values().get() for name in ("orm", "plain"))
    assert {**one, "id": 0, "docno": ""} == {**two, "id": 0, "docno": ""}


def test_a_row_that_is_there_already_is_an_integrity_error_and_nothing_is_inserted():
    collection = Collection.objects.create(slug="c", name="C")
    rows = prepare_insert(
        [Topic(collection=collection, topic_id=name, position=0) for name in ("a", "b", "a")]
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(rows)
    assert not Topic.objects.exists()
    insert_rows(prepare_insert([]))
