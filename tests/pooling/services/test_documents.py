from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from pooling.models import Document, DocumentFile, Job
from pooling.platform.jobs import Refused
from pooling.services import documents
from pooling.services.matching import count_documents

DOCUMENTS = [
    {"_id": "d1", "title": "One", "text": "first text"},
    {"_id": "d2", "title": "", "text": ""},
    {"_id": "d3", "title": "Three", "text": "word " * 600},
]


def jsonl(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_document_file_is_kept_as_it_came_and_no_document_is_stored_yet(
    collection, bring, own_storage, django_capture_on_commit_callbacks
):
    packed = gzip.compress(jsonl(DOCUMENTS).encode())
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("documents", packed, name="corpus.jsonl.gz")
    assert job.state == "done", job.message
    file = collection.document_files.get()
    assert (file.n_documents, file.n_empty, file.n_long, file.n_words, file.n_bytes) == (
        3,
        1,
        1,
        602,
        len(packed),
    )
    assert file.file.read() == packed
    assert not Document.objects.exists()
    assert job.report["facts"]["longer than 512 words"] == "1 (33.3%)"
    assert job.report["warnings"] == ["1 document has neither title nor text, such as d2"]


def test_documents_of_the_runs_that_no_file_has_are_named(collection, bring):
    bring("run", "1 Q0 d1 1 9 t\n1 Q0 d77 2 8 t\n1 Q0 d3 3 7 t\n")
    job = bring("documents", jsonl(DOCUMENTS), mode="inspect")
    assert job.report["facts"]["documents in the runs' top 10"] == 3
    assert job.report["facts"]["still without text"] == 1
    assert (
        "1 of 3 documents in the runs' top 10 is not in any document file, such as d77"
        in job.report["warnings"]
    )


def test_a_run_is_matched_with_the_document_files_that_are_there(collection, bring):
    bring("documents", jsonl(DOCUMENTS))
    job = bring("run", "1 Q0 d1 1 9 t\n1 Q0 d77 2 8 t\n", mode="careful")
    assert job.report["stored"] is False
    assert job.report["warnings"] == [
        "1 of 2 documents in its top 10 is not in any document file, such as d77"
    ]


def test_an_id_twice_a_line_that_is_no_json_and_the_same_file_again_are_refused(collection, bring):
    twice = bring("documents", jsonl([*DOCUMENTS, DOCUMENTS[0]]))
    assert twice.state == "failed"
    assert "duplicate" in twice.report["problems"][0]["problem"]
    assert twice.report["problems"][0]["line"] == 4
    broken = bring("documents", jsonl(DOCUMENTS) + "{not json}\n")
    assert broken.report["problems"][0]["line"] == 4
    assert not DocumentFile.objects.exists()
    bring("documents", jsonl(DOCUMENTS), name="a.jsonl")
    assert (
        bring("documents", jsonl(DOCUMENTS), name="b.jsonl").message
        == "This file has already been imported as a.jsonl."
    )


def test_a_zip_of_pages_is_taken_by_the_names_inside_without_their_paths(collection, bring):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../etc/passwd.txt", "plain text")
        archive.writestr(
            "folder/page.html",
            "<html><title>Page</title><body><script>alert(1)</script><p>Seen</p></body></html>",
        )
    job = bring("documents", packed.getvalue(), name="pages.zip")
    assert job.state == "done", job.message
    assert collection.document_files.get().n_documents == 2


def test_script_in_a_document_stays_text_and_nul_is_left_out(collection, bring):
    bring("documents", jsonl([{"id": "x", "text": "<script>alert(1)</script> a\0b", "k\0": "v\0"}]))
    bring("run", "1 Q0 x 1 9 t\n")
    bring("topics", "1\tquery\n")
    build(collection)
    stored = Document.objects.get()
    assert stored.text == "<script>alert(1)</script> ab"
    assert stored.fields == {"k": "v"}


def build(collection, depth=10, **options):
    from pooling.platform import jobs
    from pooling.services import pools

    job = pools.request_pool(
        collection, runs=list(collection.runs.all()), depth=depth, user=None, **options
    )
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.message
    return collection.pools.get(pk=job.parameters["pool"])


def test_documents_that_come_after_the_pool_reach_it_by_a_job(collection, bring):
    from pooling.platform import jobs

    bring("run", "1 Q0 d1 1 9 t\n1 Q0 d3 2 8 t\n1 Q0 gone 3 8 t\n")
    bring("topics", "1\tquery\n")
    pool = build(collection)
    assert pool.missing_documents == 3
    bring("documents", jsonl(DOCUMENTS))
    waiting = Job.objects.get(kind="fetch documents")
    jobs.run_job(waiting.pk)
    pool.refresh_from_db()
    assert pool.missing_documents == 1
    assert dict(pool.entries.values_list("docno", "document__title")) == {
        "d1": "One",
        "d3": "Three",
        "gone": None,
    }
    assert Document.objects.count() == 2
    with pytest.raises(Refused, match="Delete the pools first"):
        documents.delete_document_file(collection.document_files.get())


def test_an_earlier_file_wins_where_two_have_a_document(collection, bring):
    bring("documents", jsonl(DOCUMENTS), name="a")
    job = bring(
        "documents",
        jsonl([{"_id": "d1", "text": "later"}, {"_id": "d9", "text": "nine"}]),
        name="b",
    )
    assert (
        "1 of its documents are already in an earlier file; the earlier text is used"
        in job.report["warnings"]
    )
    bring("run", "1 Q0 d1 1 9 t\n1 Q0 d9 2 8 t\n")
    bring("topics", "1\tquery\n")
    build(collection)
    assert dict(Document.objects.values_list("docno", "text")) == {"d1": "first text", "d9": "nine"}


def test_the_documents_of_a_collection_are_counted_unless_their_number_is_given(collection, bring):
    assert count_documents(collection) is None
    bring("documents", jsonl(DOCUMENTS), name="a")
    assert count_documents(collection) == 3
    bring(
        "documents",
        jsonl([{"_id": "d1", "text": "later"}, {"_id": "d9", "text": "nine"}]),
        name="b",
    )
    assert count_documents(collection) == 4  # d1, d2, d3, d9
    collection.n_documents = 1000
    assert count_documents(collection) == 1000
