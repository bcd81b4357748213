from __future__ import annotations

import gzip
import os

import numpy as np
import pytest

from assay.column_types import RunColumns
from pooling.models import Job, Run, Topic, Upload
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.services import runs, uploads
from tests.pooling.conftest import run as done

RUN = "7 Q0 d2 1 9.5 bm25\n7 Q0 d10 2 9.5 bm25\n7 Q0 d1 3 2 bm25\n051 Q0 d1 1 1 bm25\n"
"""Topic 7: d2 and d10 are tied, and d2 is the larger string."""


def files(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_run_is_stored_as_columns_with_its_digest_and_the_upload_is_gone(
    collection, bring, own_storage, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("run", RUN, name="bm25.run")
    assert job.state == "done"
    assert job.report["stored"] is True
    run = collection.runs.get()
    assert (run.tag, run.source_name, run.n_rows, run.n_topics, run.max_depth) == (
        "bm25",
        "bm25.run",
        4,
        2,
        3,
    )
    rankings: RunColumns = runs.load_rankings(run)
    assert rankings.topics == ["7", "051"]
    assert rankings.documents.tolist() == [b"d2", b"d10", b"d1", b"d1"]
    np.testing.assert_array_equal(rankings.scores, [9.5, 9.5, 2, 1])
    assert len(run.digest) == 64
    assert not Upload.objects.exists()
    assert files(own_storage) == [run.columns.name]


def test_an_inspection_reports_and_stores_nothing(collection, bring, own_storage):
    job = bring("run", RUN, mode="inspect")
    assert job.state == "done"
    assert job.report["stored"] is False
    assert job.report["facts"] == {
        "tag": "bm25",
        "rows": 4,
        "topics": 2,
        "deepest": 3,
        "median depth": 2.0,
    }
    assert job.report["upload"] == Upload.objects.get().pk
    assert not collection.runs.exists()


def test_an_ir_metadata_head_describes_an_imported_run_unless_the_form_does(collection, bring):
    head = "# ir_metadata.start\n# method:\n#   automatic: true\n# ir_metadata.end\n"
    bring("run", head + RUN)
    assert collection.runs.get().description == "method:\n  automatic: true"
    bring("run", head + "7 Q0 d2 1 9.5 t\n", description="typed")
    assert collection.runs.get(tag="t").description == "typed"


def test_a_careful_import_stops_at_a_warning_and_goes_on_when_told_to(collection, bring, manager):
    Topic.objects.create(collection=collection, topic_id="7", text="seven", position=0)
    Topic.objects.create(collection=collection, topic_id="8", text="eight", position=1)
    job = bring("run", RUN, mode="careful")
    assert job.report["stored"] is False
    assert job.report["facts"]["unknown topics"] == 1
    assert job.report["facts"]["topics without rows"] == 1
    assert job.report["warnings"] == ["1 of its 2 topics is not in the collection, such as 051"]
    again = uploads.request_import(Upload.objects.get(), mode="import", options={}, user=manager)
    jobs.run_job(again.pk)
    assert collection.runs.get().warnings == job.report["warnings"]


def test_comments_and_ties_of_a_run_are_notes_of_its_report_and_nothing_to_decide(
    collection, bring
):
    job = bring(
        "run",
        "# mine\n" + RUN.replace("d2 1 9.5", "d2 2 9.5").replace("d10 2 9.5", "d10 1 9.5"),
        mode="careful",
    )
    assert (job.report["stored"], job.report["warnings"]) == (True, [])
    assert [note.partition(" ")[0] for note in job.report["notes"]] == ["1", "ties"]
    assert collection.runs.get().warnings == []


def test_a_careful_import_without_a_warning_stores_at_once(collection, bring):
    assert bring("run", RUN, mode="careful").report["stored"] is True
    assert collection.runs.exists()


def test_a_wrong_line_refuses_the_whole_file_with_place_text_and_what_was_expected(
    collection, bring, own_storage, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("run", RUN + "7 Q0 d9 4 high bm25\n7 Q0 d9 5\n", name="bm25.run")
    assert job.state == "failed"
    assert job.message == "2 problems in bm25.run. Nothing was saved."
    assert [problem["line"] for problem in job.report["problems"]] == [5, 6]
    assert job.report["problems"][0]["text"] == "7 Q0 d9 4 high bm25"
    assert "6 columns" in job.report["problems"][1]["expected"]
    assert not collection.runs.exists()
    assert not Upload.objects.exists()
    assert files(own_storage) == []


def test_a_tag_that_is_taken_waits_for_another_beside_all_other_warnings(
    collection, bring, manager
):
    bring("topics", "8\tanother topic\n")
    bring("run", RUN, name="first.run")
    job = bring(
        "run", RUN.replace(" 9.5", " 8.5"), name="second.run"
    )  # said to import, and yet nobody can
    assert (job.state, job.report["stored"], job.report["tag_taken"], job.report["free_tag"]) == (
        "done",
        False,
        "bm25",
        "bm25-2",
    )
    assert (
        job.report["hold"][0]
        == "a run with the tag bm25 already exists (from first.run); choose another tag, or delete the existing run"
    )
    assert any("topics are not in the collection" in warning for warning in job.report["hold"])
    assert list(collection.runs.values_list("tag", flat=True)) == ["bm25"]
    again = done(
        uploads.import_decided_upload(collection.uploads.get(), tag="bm25-2", user=manager)
    )
    assert not again.report["stored"]  # of the other warnings a person has not been asked yet
    assert done(uploads.import_decided_upload(collection.uploads.get(), user=manager)).report[
        "stored"
    ]
    assert list(collection.runs.values_list("tag", flat=True)) == ["bm25", "bm25-2"]


def test_the_same_run_under_another_tag_is_refused(collection, bring):
    bring("run", RUN, name="first.run")
    job = bring("run", RUN, name="second.run", tag="other")
    assert (job.state, job.message) == ("failed", "This run has already been imported as bm25.")
    assert (
        bring("run", RUN.replace(" 9.5", " 8.5"), tag="other", group="us", baseline=True).state
        == "done"
    )
    assert list(collection.runs.values_list("tag", "group", "baseline")) == [
        ("bm25", "", False),
        ("other", "us", True),
    ]


def test_ordering_by_the_rank_column_is_an_option(collection, bring):
    bring("run", "1 Q0 a 2 9 t\n1 Q0 b 1 5 t\n", order="rank")
    assert runs.load_rankings(collection.runs.get()).documents.tolist() == [b"b", b"a"]


def test_a_job_that_is_cancelled_leaves_neither_run_nor_columns(
    collection, bring, own_storage, monkeypatch, manager
):
    def cancel_and_read(feed, **options):
        jobs.request_cancel(Job.objects.get())
        feed.work._written_at = 0
        return runs_read(feed, **options)

    runs_read = runs.read_run
    monkeypatch.setattr(runs, "read_run", cancel_and_read)
    assert bring("run", RUN).state == "cancelled"
    assert not Run.objects.exists()
    assert [name.split("/")[0] for name in files(own_storage)] == ["uploads"]


def test_a_gzip_bomb_is_refused_without_unpacking_it(collection, bring, settings):
    settings.MAX_UNPACKED_BYTES = 10_000_000
    job = bring("run", gzip.compress(b"\n" * 50_000_000), name="bomb.run.gz")
    assert job.state == "failed"
    assert (
        "10000000 bytes"
        in job.report["problems"][0]["problem"] + job.report["problems"][0]["expected"]
    )


def test_a_line_without_end_a_nul_byte_a_cut_archive_and_wrong_encoding_are_refused(
    collection, bring
):
    problems = {
        "line": bring("run", b"7 Q0 d1 1 1 " + b"x" * 3_000_000),
        "NUL": bring("run", b"7 Q0 d1 1 1 t\n7 Q0 d\0 2 1 t\n"),
        "cut off": bring("run", gzip.compress(RUN.encode() * 50)[:-20], name="run.gz"),
        "UTF-8": bring("run", "7 Q0 größe 1 1 t\n".encode("latin-1")),
    }
    for word, job in problems.items():
        assert job.state == "failed", word
        assert word in job.report["problems"][0]["problem"] + job.report["problems"][0]["expected"]
    assert problems["NUL"].report["problems"][0]["line"] == 2
    assert not collection.runs.exists()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\runs\\bm25.run", "bm25.run"),
        ("a\x00b\n\u202egnp.run", "abgnp.run"),
        ("..", "file"),
        ("x" * 300 + ".run.gz", "x" * 180 + "x" * 13 + ".run.gz"),
        ("<script>.run", "<script>.run"),
    ],
)
def test_a_file_name_loses_its_path_and_tricks(given, shown):
    assert uploads.safe_name(given) == shown


def test_the_stored_file_never_has_the_name_that_the_upload_claims(
    collection, manager, own_storage
):
    from django.core.files.base import ContentFile

    upload = uploads.store_upload(
        collection, kind="run", file=ContentFile(b"x"), name="../../../evil.py", user=manager
    )
    stored = os.path.realpath(upload.file.path)
    assert stored.startswith(os.path.realpath(own_storage) + os.sep)
    assert "evil" not in stored
    assert upload.name == "evil.py"


def test_too_large_and_empty_files_are_refused_when_they_arrive(collection, manager, settings):
    from django.core.files.base import ContentFile

    settings.MAX_UPLOAD_BYTES = 10
    with pytest.raises(Refused, match="at most 10"):
        uploads.store_upload(
            collection, kind="run", file=ContentFile(b"x" * 11), name="a", user=manager
        )
    with pytest.raises(Refused, match="a is empty"):
        uploads.store_upload(collection, kind="run", file=ContentFile(b""), name="a", user=manager)
    with pytest.raises(Refused, match="Unknown file type"):
        uploads.store_upload(
            collection, kind="virus", file=ContentFile(b"x"), name="a", user=manager
        )


def test_a_file_is_not_read_twice_at_once_and_a_discarded_one_not_at_all(collection, manager):
    from django.core.files.base import ContentFile

    upload = uploads.store_upload(
        collection, kind="run", file=ContentFile(RUN.encode()), name="a.run", user=manager
    )
    job = uploads.request_import(upload, mode="import", options={}, user=manager)
    with pytest.raises(Refused, match="already being read"):
        uploads.request_import(upload, mode="import", options={}, user=manager)
    uploads.discard_upload(upload)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == (
        "failed",
        "The file has already been imported or discarded.",
    )


def test_progress_counts_rows_and_the_bytes_of_the_file_as_it_came(collection, bring):
    packed = gzip.compress(RUN.encode())
    job = bring("run", packed, name="bm25.run.gz")
    assert (job.progress, job.n_bytes, job.unit) == (4, len(packed), "rows")


def test_a_run_of_a_pool_cannot_be_deleted(collection, bring):
    bring("run", RUN)
    run = collection.runs.get()
    pool = collection.pools.create(name="p", depth=10)
    pool.runs.add(run)
    with pytest.raises(Refused, match="The pool p uses bm25"):
        runs.delete_run(run)
    pool.delete()
    runs.delete_run(run)
    assert not collection.runs.exists()
