"""Whole sets come in as one or not at all. Expected values are counted from the sets by hand or
taken from the real files' README."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError

from assay.formats.exports import BookPair, write_quepid_book
from pooling.models import Collection, Job
from pooling.selectors.collections import collection_steps
from pooling.services import sets
from pooling.services.qrels import load_grades
from tests.commands import call_command
from tests.pooling.conftest import run

CORPUS = (
    '{"_id": "d1", "title": "One", "text": "first text"}\n{"_id": "d2", "title": "", "text": '
    '"second text"}\n{"_id": "d3", "text": "third"}\n'
)
QUERIES = '{"_id": "q7", "text": "seven"}\n{"_id": "q8", "text": "eight"}\n'
TEST = "query-id\tcorpus-id\tscore\nq7\td1\t2\nq7\td2\t0\nq8\td3\t1\n"
DEV = "query-id\tcorpus-id\tscore\nq8\td1\t1\nq8\td2\t0\n"
BEIR = {
    "small/corpus.jsonl": CORPUS,
    "small/queries.jsonl": QUERIES,
    "small/qrels/test.tsv": TEST,
    "small/qrels/dev.tsv": DEV,
}
PAIRS = "query_id\tdoc_id\tpriority\n1\ta\t1\n2\tb\tall\n1\tb\t5\n2\ta\t1\n"
CONFIG = (
    "annotation_target_per_user\tannotation_target_per_judgement_pair\tjudgement_mode\trotate_document_text\tannotation_target_to_require_feedback\n"
    "30\t10\tSCORING_AND_SELECT_SPANS\ttrue\t5\n"
)
FIRA = {
    "documents.tsv": 'doc_id\tdoc_text\na\ta text with "a quote\nb\tanother\n',
    "queries.tsv": "query_id\tquery_text\n1\tone\n2\t  two\n",
    "judgement-pairs.tsv": PAIRS,
    "config.tsv": CONFIG,
    "users.tsv": "user_id\nann\n",
}
BOOK = {
    "name": "Shoes",
    "scale": [0, 1, 2, 3],
    "query_doc_pairs": [
        {
            "query_text": "red shoes",
            "doc_id": "s1",
            "position": 2,
            "information_need": "shoes that are red",
            "document_fields": {
                "title": "Red shoe",
                "overview": "A shoe, red.",
                "thumb": "http://x/y.png",
            },
            "judgements": [
                {"rating": 3, "user_email": "a@x"},
                {"rating": 1.0, "user_email": "b@x"},
            ],
        },
        {
            "query_text": "red shoes",
            "doc_id": "s2",
            "position": 1,
            "document_fields": {"title": "Blue shoe", "text": "Blue."},
            "judgements": [
                {"rating": 0, "user_email": "a@x"},
                {"rating": 2, "user_email": "b@x"},
                {"rating": 2, "user_email": "c@x"},
            ],
        },
        {
            "query_text": "hats",
            "doc_id": "s1",
            "position": None,
            "judgements": [{"unrateable": True, "rating": None, "user_email": "a@x"}],
        },
    ],
}


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, str | bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def empty(collection: Collection, storage: Path) -> bool:
    """Nothing of a set is left: no row and no file."""
    rows = [
        getattr(collection, name).count()
        for name in ("topics", "document_files", "qrels", "pools", "uploads")
    ]
    return rows == [0] * 5 and not [path for path in storage.rglob("*") if path.is_file()]


def fetch(collection: Collection) -> None:
    for job in collection.jobs.filter(kind="fetch documents", state=Job.State.QUEUED):
        assert run(job).state == "done"


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_beir_folder_comes_in_whole(pack, collection, bring):
    job = bring("set", pack(BEIR), name="small.zip")
    assert job.state == "done", job.message
    assert job.report["facts"]["form"] == "BEIR folder"
    assert list(collection.topics.values_list("topic_id", "text")) == [
        ("q7", "seven"),
        ("q8", "eight"),
    ]
    assert [(file.name, file.n_documents) for file in collection.document_files.all()] == [
        ("corpus.jsonl", 3)
    ]
    assert list(collection.qrels.values_list("name", "n_rows", "grades")) == [
        ("dev", 2, {"0": 1, "1": 1}),
        ("test", 3, {"0": 1, "1": 1, "2": 1}),
    ]
    assert load_grades(collection.qrels.get(name="test")).grades.tolist() == [2, 0, 1]
    assert not collection.pools.exists()
    assert not [
        name
        for path in Path(collection.document_files.get().file.path).parents[3].rglob("*")
        if ".parts" in (name := path.name)
    ]


def test_an_inspection_reports_the_whole_set_and_keeps_nothing_but_the_upload(collection, bring):
    job = bring("set", zipped(BEIR | {"small/README.md": "x"}), name="small.zip", mode="inspect")
    facts = job.report["facts"]
    assert (facts["topics"], facts["documents"], facts["qrels test"], facts["qrels dev"]) == (
        2,
        3,
        3,
        2,
    )
    assert job.report["stored"] is False
    assert any("README.md" in warning for warning in job.report["warnings"])
    assert not collection.topics.exists()
    assert not collection.document_files.exists()
    assert not collection.qrels.exists()
    assert collection.uploads.count() == 1


def test_one_bad_line_of_one_file_refuses_the_whole_set(
    collection, bring, own_storage, django_capture_on_commit_callbacks
):
    bad = BEIR | {"small/qrels/test.tsv": TEST + "q8\td1\tgood\n"}
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("set", zipped(bad))
    assert job.state == "failed"
    assert job.report["file"] == "qrels/test.tsv"
    assert [(p["line"], p["text"]) for p in job.report["problems"]] == [(5, "q8\td1\tgood")]
    assert empty(collection, own_storage)


def test_what_fails_while_it_is_stored_leaves_nothing(
    collection, bring, own_storage, monkeypatch, django_capture_on_commit_callbacks
):
    def broken(*args):
        raise sets.Refused("no more")

    monkeypatch.setattr(sets.documents, "queue_text_fetching", broken)
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("set", zipped(BEIR))
    assert job.message == "no more"
    assert empty(collection, own_storage)


def test_a_set_is_completed_by_its_next_version_and_refused_when_nothing_is_new(collection, bring):
    bring("set", zipped({name: text for name, text in BEIR.items() if "dev" not in name}))
    job = bring("set", zipped(BEIR))
    assert job.state == "done", job.message
    assert sorted(collection.qrels.values_list("name", flat=True)) == ["dev", "test"]
    assert collection.topics.count() == 2
    assert collection.document_files.count() == 1
    assert "has already been imported" in bring("set", tarred(BEIR)).message


def test_a_topic_that_has_another_text_here_is_refused_with_its_line(collection, bring):
    bring("topics", "q8\tother\n")
    job = bring("set", zipped(BEIR))
    assert (job.report["file"], job.report["problems"][0]["line"]) == ("queries.jsonl", 2)
    assert not collection.document_files.exists()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"corpus.jsonl": CORPUS}, "without queries.jsonl"),
        ({"queries.tsv": "1\tone\n"}, "without judgement-pairs.tsv"),
        ({"a.txt": "x"}, "these files do not form one set: a.txt"),
        (BEIR | {"queries.tsv": "1\tone\n"}, "do not form one set"),
        (BEIR | {"other/corpus.jsonl": CORPUS}, "duplicate corpus.jsonl"),
    ],
)
def test_archives_that_are_not_one_set_are_refused(
    files, says, collection, bring, own_storage, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("set", zipped(files))
    assert job.state == "failed"
    assert says in job.report["problems"][0]["problem"]
    assert empty(collection, own_storage)


def test_paths_of_an_archive_are_never_used(collection, bring, own_storage, tmp_path):
    job = bring(
        "set",
        tarred(
            {
                "../../../../" + str(tmp_path) + "/corpus.jsonl": CORPUS,
                "/etc/queries.jsonl": QUERIES,
                "..\\qrels\\test.tsv": TEST,
            }
        ),
    )
    assert job.state == "done", job.message
    assert not [
        path
        for path in tmp_path.rglob("*")
        if path.name in ("corpus.jsonl", "queries.jsonl")
        or (path.is_file() and own_storage not in path.parents)
    ]


def test_links_and_encrypted_and_cut_off_archives_are_refused(collection, bring):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("corpus.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert "do not form one set" in bring("set", out.getvalue()).report["problems"][0]["problem"]
    assert "damaged" in bring("set", zipped(BEIR)[:-60]).report["problems"][0]["problem"]
    assert "cut off" in bring("set", tarred(BEIR)[:-60]).report["problems"][0]["problem"]
    assert "cut off" in bring("set", tarred(BEIR, "w")[:600]).report["problems"][0]["problem"]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_bombs_are_refused_before_the_disk_is_full(
    pack, collection, bring, settings, own_storage, django_capture_on_commit_callbacks
):
    settings.MAX_UNPACKED_BYTES = 3_000_000
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("set", pack(BEIR | {"small/corpus.jsonl": "\n" * 20_000_000}))
    assert job.state == "failed"
    assert "more than 3000000 bytes" in job.report["problems"][0]["problem"]
    nested = gzip.compress(("x" * 20_000_000).encode())
    with django_capture_on_commit_callbacks(execute=True):
        job = bring("set", pack({"queries.jsonl": QUERIES, "corpus.jsonl.gz": nested}))
    assert "more than 3000000 bytes" in job.report["problems"][0]["problem"]
    assert empty(collection, own_storage)


def test_firas_files_become_topics_documents_and_a_pool_with_priorities(collection, bring):
    job = bring("set", zipped(FIRA), name="trip.zip")
    assert job.state == "done", job.message
    facts = job.report["facts"]
    assert (
        facts["pairs"],
        facts["calibration pairs"],
        facts["documents of pairs without text"],
    ) == (4, 1, 0)
    assert (
        facts["settings for a campaign"]
        == "target per annotator 30, judgements per pair 10, spans required, rotate text on"
    )
    assert any(
        "annotation_target_to_require_feedback" in warning for warning in job.report["warnings"]
    )
    pool = collection.pools.get()
    assert (pool.name, pool.source, pool.n_pairs) == (
        "Pairs of trip",
        "trip.zip: judgement-pairs.tsv",
        4,
    )
    assert pool.suggested == {
        "target_per_annotator": 30,
        "judgements_per_pair": 10,
        "spans": "required",
        "rotate_text": True,
    }
    rows = pool.entries.order_by("position").values_list(
        "topic__topic_id", "docno", "priority", "everyone"
    )
    assert list(rows) == [
        ("2", "b", 0, True),
        ("1", "b", 5, False),
        ("1", "a", 1, False),
        ("2", "a", 1, False),
    ]
    fetch(collection)
    pool.refresh_from_db()
    assert pool.missing_documents == 0
    assert pool.entries.get(position=1).document.text == "another"


def test_pairs_of_unknown_topics_are_refused_with_their_lines(collection, bring):
    job = bring("set", zipped(FIRA | {"judgement-pairs.tsv": PAIRS + "3\ta\t1\n"}))
    problem = job.report["problems"][0]
    assert (job.report["file"], problem["line"]) == ("judgement-pairs.tsv", 6)
    assert problem["problem"] == "topic 3 is not in queries.tsv or the collection"
    assert not collection.topics.exists()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (CONFIG.replace("30\t", "0\t"), "annotation_target_per_user '0'"),
        (CONFIG.replace("true", "perhaps"), "rotate_document_text 'perhaps'"),
        (CONFIG.replace("SCORING_AND_SELECT_SPANS", "GUESSING"), "judgement_mode 'GUESSING'"),
        (CONFIG + "1\t1\t1\t1\t1\n", "2 rows"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config, says, collection, bring):
    job = bring("set", zipped(FIRA | {"config.tsv": config}))
    assert job.report["file"] == "config.tsv"
    assert says in job.report["problems"][0]["problem"]


def test_a_quepid_book_becomes_topics_documents_a_pool_and_qrels(collection, bring):
    bring("topics", "h\thats\n")
    job = bring("set", json.dumps(BOOK), name="book.json")
    assert job.state == "done", job.message
    assert list(collection.topics.values_list("topic_id", "text", "description")) == [
        ("h", "hats", ""),
        ("q1", "red shoes", "shoes that are red"),
    ]
    rows = (
        collection.pools.get()
        .entries.order_by("position")
        .values_list("topic__topic_id", "docno", "best_rank")
    )
    assert list(rows) == [("q1", "s2", 1), ("q1", "s1", 2), ("h", "s1", 0)]
    grades = load_grades(collection.qrels.get())
    assert (collection.qrels.get().name, grades.topics, grades.documents.tolist()) == (
        "Shoes",
        ["q1"],
        [b"s1", b"s2"],
    )
    assert grades.grades.tolist() == [
        1,
        2,
    ]  # 3 and 1: the lowest of equals; 0, 2, 2: the most frequent
    fetch(collection)
    text = collection.documents.get(docno="s1")
    assert (text.title, text.text) == ("Red shoe", "overview: A shoe, red.")
    assert "has already been imported" in bring("set", json.dumps(BOOK), name="book.json").message


def test_a_book_that_is_none_is_refused(collection, bring):
    assert "JSON in an unknown format" in bring("set", '{"a": 1}').report["problems"][0]["problem"]
    asked = bring("set", "1 Q0 d 1 2 x\n")  # a run among the sets is asked about, not refused
    assert ("problems" in asked.report, collection.runs.exists(), collection.topics.exists()) == (
        False,
        False,
        False,
    )
    twice = {
        "query_doc_pairs": [{"query_text": "a", "doc_id": "d"}, {"query_text": "a", "doc_id": "d"}]
    }
    assert "duplicate" in bring("set", json.dumps(twice)).report["problems"][0]["problem"]
    assert (
        "grade"
        in bring(
            "set",
            json.dumps(
                {
                    "query_doc_pairs": [
                        {"query_text": "a", "doc_id": "d", "judgements": [{"rating": 1.5}]}
                    ]
                }
            ),
        ).report["problems"][0]["problem"]
    )


def test_umbrelas_two_shapes_are_read(collection, bring):
    candidates = [
        {"doc": {"segment": "ten days"}, "docid": "m1"},
        {"doc": {"segment": "x"}, "docid": "m2"},
    ]
    with_ids = {"query": {"text": "how long", "qid": "51"}, "candidates": candidates}
    direct = {
        "query": "how far",
        "candidates": ["two miles", {"doc": "three miles", "judgment": 2}],
    }
    job = bring(
        "set", json.dumps(with_ids) + "\n" + json.dumps(direct) + "\n", name="umbrela.jsonl"
    )
    assert job.state == "done", job.message
    assert list(collection.topics.values_list("topic_id", "text")) == [
        ("51", "how long"),
        ("q1", "how far"),
    ]
    fetch(collection)
    rows = (
        collection.pools.get()
        .entries.order_by("topic__topic_id", "best_rank")
        .values_list("topic__topic_id", "best_rank", "document__text")
    )
    assert list(rows) == [
        ("51", 1, "ten days"),
        ("51", 2, "x"),
        ("q1", 1, "two miles"),
        ("q1", 2, "three miles"),
    ]
    assert load_grades(collection.qrels.get()).grades.tolist() == [2]


def test_umbrelas_results_are_graded_pairs(collection, bring):
    lines = [
        {"query": "how far", "passage": text, "judgment": grade, "reasoning": "x"}
        for text, grade in (("two miles", 3), ("the moon", 0))
    ]
    job = bring("set", "".join(json.dumps(line) + "\n" for line in lines), name="judged.jsonl")
    assert job.state == "done", job.message
    fetch(collection)
    rows = (
        collection.pools.get()
        .entries.order_by("best_rank")
        .values_list("topic__text", "document__text", "best_rank")
    )
    assert list(rows) == [("how far", "two miles", 1), ("how far", "the moon", 2)]
    assert sorted(load_grades(collection.qrels.get()).grades.tolist()) == [0, 3]


def test_a_book_that_we_export_comes_in_again(collection, bring):
    judged = [
        BookPair(
            "hats",
            "d1",
            1,
            {"title": "A hat"},
            "hats to wear",
            "",
            [("a@x", 2, ""), ("b@x", 2, "")],
        ),
        BookPair("hats", "d2", None),
    ]
    out = io.StringIO()
    write_quepid_book("Hats", judged, out, grades=["no", "some", "yes"])
    assert bring("set", out.getvalue(), name="book.json").state == "done"
    assert collection.topics.values_list("topic_id", "text", "description").get() == (
        "q1",
        "hats",
        "hats to wear",
    )
    grades = load_grades(collection.qrels.get(name="Hats"))
    assert (grades.documents.tolist(), grades.grades.tolist()) == ([b"d1"], [2])


def test_the_command_takes_a_folder_into_a_new_collection(manager, own_storage, tmp_path, capsys):
    for name, text in BEIR.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.chmod(tmp_path / "small", stat.S_IRWXU)
    call_command("import_set", str(tmp_path / "small"), new="My BEIR", user="manager")
    out = capsys.readouterr().out
    assert "qrels test 3" in out
    assert out.endswith("my-beir\n")
    made = Collection.objects.get(slug="my-beir")
    assert made.topics.count() == 2
    assert made.managers.get() == manager
    (tmp_path / "small" / "queries.jsonl").write_text("{")
    with pytest.raises(CommandError, match=r"queries.jsonl:1: invalid JSON"):
        call_command("import_set", str(tmp_path / "small"), new="Broken")
    assert not Collection.objects.filter(name="Broken").exists()
    with pytest.raises(CommandError, match="not a set, expected"):
        call_command("import_set", str(own_storage), collection="my-beir")


def test_the_command_takes_firas_files_with_their_texts(collection, tmp_path):
    (tmp_path / "fira").mkdir()
    for name, text in FIRA.items():
        (tmp_path / "fira" / name).write_text(text)
    call_command("import_set", str(tmp_path / "fira"), collection=collection.slug, name="Trip")
    pool = collection.pools.get()
    assert (pool.name, pool.missing_documents) == ("Trip", 0)


def test_page_and_api_take_a_set(collection, manager, client):
    client.force_login(manager)
    file = SimpleUploadedFile("small.zip", zipped(BEIR))
    answer = client.post(
        f"/collections/{collection.slug}/uploads",
        {"kind": "set", "file": file, "mode": "inspect"},
        headers={"Accept": "application/json"},
    )
    assert answer.status_code == 201
    inspected = run(Job.objects.get(kind="import set"))
    assert inspected.report["facts"]["qrels test"] == 3
    page = client.get(answer.json()["jobs"][0]["url"]).content.decode()
    assert "BEIR folder" in page
    assert ">Import<" in " ".join(page.split()).replace("> ", ">").replace(" <", "<")
    body = {"kind": "set", "file": SimpleUploadedFile("trip.zip", zipped(FIRA)), "name": "Trip"}
    answer = client.post(f"/api/v1/collections/{collection.slug}/uploads/", body)
    assert answer.status_code == 202
    assert run(Job.objects.get(pk=answer.json()["id"])).state == "done"
    assert collection.pools.get().name == "Trip"
    assert [
        step.key for step in collection_steps(collection) if step.current
    ] == []  # a pool of pairs needs no run


def test_the_real_sample_of_firas_export(collection, bring, data_folder):
    files = {
        path.name.removeprefix("fira-export-"): path.read_bytes()
        for path in (data_folder / "format-samples").glob("fira-export-*.tsv")
    }
    job = bring("set", tarred(files), name="fira.tar.gz")
    assert job.state == "done", (job.message, job.report)
    pool = collection.pools.get()
    assert pool.n_pairs == files["judgement-pairs.tsv"].count(
        b"\n"
    )  # a header, and no line end after the last pair
    assert pool.entries.filter(everyone=True).count() == files["judgement-pairs.tsv"].count(
        b"\tall"
    )
    assert pool.suggested["judgements_per_pair"] == 10


def test_nfcorpus_as_a_real_beir_folder(manager, own_storage, data_folder):
    call_command(
        "import_set", str(data_folder / "nfcorpus" / "beir"), new="NFCorpus", user="manager"
    )
    made = Collection.objects.get()
    assert made.document_files.get().n_documents == 3395  # lines of corpus.jsonl.gz
    assert (made.topics.count(), made.qrels.get().name, made.qrels.get().n_rows) == (
        325,
        "test",
        15820,
    )


def test_a_list_of_pairs_becomes_a_pool_in_its_order(collection, bring):
    """As `unjudged --top-up` writes it for a campaign over what nobody has judged of a late run."""
    bring("set", zipped(FIRA))
    listed = b"topic\tdocument\tbest_rank\tpriority\truns\n2\tb\t3\t2\t\n1\tb\t1\t1\t\n"
    job = bring("set", listed, name="top-up.tsv")
    assert job.state == "done", job.message
    assert job.report["stored"], job.report
    pool = collection.pools.get(source="top-up.tsv")
    assert list(
        pool.entries.order_by("position").values_list("topic__topic_id", "docno", "priority")
    ) == [("2", "b", 2), ("1", "b", 1)]
    refused = bring("set", listed.replace(b"2\tb", b"9\tb"), name="other.tsv")
    assert refused.state == "failed"
    assert refused.report["problems"][0]["line"] == 2
