"""Lists of a collection's pages: what is searched, sorted and turned over is asked of the database,
whatever its number."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from pooling.models import Collection, Document, DocumentFile, Pool, PoolEntry, Qrels, Topic

MANY = 4_000
"""More than one statement takes of rows by their numbers (SQLite: 999), and forty pages: what is
asked one by one, or whole, is seen."""


@pytest.fixture
def signed_in(client, manager):
    client.force_login(manager)
    return client


def grow(collection: Collection, n: int) -> Pool:
    """n documents d0, d1, … in one pool: the last has the shortest text, the first the highest
    priority."""
    topics = [
        Topic.objects.create(
            collection=collection, topic_id=str(i), text=f"words of {i}", position=i
        )
        for i in (10, 2)
    ]
    rows = Document.objects.bulk_create(
        (
            Document(
                collection=collection,
                docno=f"d{i}",
                title=f"Title {i % 7}",
                text=f"text {i}",
                n_words=n - i,
            )
            for i in range(n)
        ),
        batch_size=5000,
    )
    pool = Pool.objects.create(
        collection=collection, name="large", depth=n, n_pairs=n, built_at="2026-01-01T00:00Z"
    )
    PoolEntry.objects.bulk_create(
        (
            PoolEntry(
                pool=pool,
                topic=topics[i % 2],
                docno=f"d{i}",
                document=row if i else None,
                best_rank=i + 1,
                priority=n - i,
                position=i,
            )
            for i, row in enumerate(rows)
        ),
        batch_size=5000,
    )
    return pool


def statements(client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return [one["sql"] for one in captured]


ASKED = {
    "collection-documents": ("", "?page=3", "?sort=-title", "?sort=words", "?q=d4", "?q=title+3"),
    "pool": (
        "",
        "?page=3",
        "?sort=topic",
        "?sort=-document",
        "?sort=priority",
        "?q=d4",
        "?q=words",
        "?show=missing",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_thousands_of_rows_take_the_statements_that_a_hundred_take(signed_in, collection, name):
    pool = grow(collection, 160)
    address = reverse(
        name, args=[collection.slug] if name != "pool" else [collection.slug, pool.pk]
    )
    few = {query: len(statements(signed_in, address + query)) for query in ASKED[name]}
    for rows in (pool.entries, collection.pools, collection.documents, collection.topics):
        rows.all().delete()
    pool = grow(collection, MANY)
    address = reverse(
        name, args=[collection.slug] if name != "pool" else [collection.slug, pool.pk]
    )
    table = "pooling_document" if name != "pool" else "pooling_poolentry"
    for query in ASKED[name]:
        asked = statements(signed_in, address + query)
        assert len(asked) == few[query], query
        read = [sql for sql in asked if f'FROM "{table}"' in sql and "COUNT(" not in sql]
        assert read, query
        assert all(" LIMIT " in sql or " IN (" in sql for sql in read), query


def shown(client, address: str, name: str, field: str = "docno") -> list[str]:
    return [getattr(row, field) for row in client.get(address).context[name]]


def test_texts_of_pools_are_found_sorted_and_turned_over(signed_in, collection):
    grow(collection, 120)
    address = reverse("collection-documents", args=[collection.slug])
    assert shown(signed_in, address, "texts")[:3] == ["d0", "d1", "d10"]
    assert shown(signed_in, address + "?sort=words", "texts")[:3] == ["d119", "d118", "d117"]
    assert len(shown(signed_in, address + "?page=3", "texts")) == 20
    assert shown(signed_in, address + "?q=title+6+d11", "texts") == [
        "d111",
        "d116",
        "d118",
    ]  # 6 as a word of the title or the id
    page = signed_in.get(address + "?q=no+such").content.decode()
    assert "No matches." in page
    assert 'action="#texts"' in page
    assert 'href="?sort=-title#texts"' in signed_in.get(address + "?sort=title").content.decode()


def test_pairs_of_a_pool_are_found_by_topic_or_document_and_sorted(signed_in, collection):
    pool = grow(collection, 60)
    address = reverse("pool", args=[collection.slug, pool.pk])
    page = signed_in.get(address)
    assert "Pairs, best first" in page.content.decode()
    assert [row.docno for row in page.context["pairs"]] == [f"d{i}" for i in range(10)]
    assert shown(signed_in, address + "?sort=priority", "pairs")[0] == "d59"
    for page, topic in ((3, "2"), (4, "10")):
        by_topic = signed_in.get(f"{address}?sort=topic&page={page}").context["pairs"]
        assert [row.topic.topic_id for row in by_topic] == [topic] * 10
    assert shown(signed_in, address + "?show=missing", "pairs") == ["d0"]
    assert {
        row.topic.topic_id for row in signed_in.get(address + "?q=2+words").context["pairs"]
    } == {"2", "10"}  # 2 is also in d2, d12, ...
    assert shown(signed_in, address + "?q=10+d10", "pairs") == ["d10"]


def test_files_and_qrels_and_pools_are_lists(signed_in, collection):
    for i in range(7):
        DocumentFile.objects.create(
            collection=collection,
            name=f"part-{i}.jsonl",
            format="jsonl",
            digest=str(i),
            n_bytes=10 - i,
            n_documents=i,
        )
        Qrels.objects.create(
            collection=collection,
            name=f"qrels {i}",
            kind="clicks" if i == 3 else "judged",
            source_name="a.txt",
            digest="",
            n_rows=i,
            n_topics=1,
        )
        Pool.objects.create(collection=collection, name=f"pool {i}", depth=10 - i, n_pairs=i)
    documents, qrels = (
        reverse("collection-documents", args=[collection.slug]),
        reverse("collection-qrels", args=[collection.slug]),
    )
    assert shown(signed_in, documents + "?file-sort=size", "files", "name")[0] == "part-6.jsonl"
    assert shown(signed_in, documents + "?file-q=5.json", "files", "name") == ["part-5.jsonl"]
    assert shown(signed_in, qrels + "?from=clicks", "qrels", "name") == ["qrels 3"]
    assert shown(signed_in, qrels + "?sort=-pairs", "qrels", "name")[0] == "qrels 6"
    for name in ("collection-pools", "collection"):
        address = reverse(name, args=[collection.slug])
        assert shown(signed_in, address, "pools", "name")[0] == "pool 6"  # the newest first
        assert shown(signed_in, address + "?sort=how", "pools", "depth") == [4, 5, 6, 7, 8, 9, 10]
        assert shown(signed_in, address + "?q=pool+2", "pools", "name") == ["pool 2"]
