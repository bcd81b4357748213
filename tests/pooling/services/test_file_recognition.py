"""Files of any kind in one drop zone: what each is recognised as, and what a person is asked."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from pooling.models import Job, Upload
from tests.pooling.conftest import run

TOPICS = "".join(f"{n}\twhat helps against pain number {n}\n" for n in range(1, 7))
DOCUMENTS = "".join(f'{{"_id": "d{n}", "title": "Title {n}", "text": "text"}}\n' for n in range(6))
RUN = "".join(f"{n} Q0 d{n - 1} 1 9.5 A\n" for n in range(1, 6))
QRELS = "".join(f"{n} 0 d{n - 1} {n % 2}\n" for n in range(1, 6))
CLICKS = "session\ttopic\tdocument\trank\tclicked\n" + "".join(
    f"s{n}\t1\td1\t1\t{n % 2}\n" for n in range(30)
)
PAIRS = "topic_id\tdoc_id\tbest_rank\tpriority\n1\td1\t1\t9\n"


def packed(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), text)
    return made.getvalue()


@pytest.fixture
def send(client, collection, manager):
    client.force_login(manager)

    def send(*files: tuple[str, str | bytes], json: bool = False, **given):
        kept = [
            SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)
            for name, text in files
        ]
        headers = {"accept": "application/json"} if json else {}
        return client.post(
            reverse("collection-upload", args=[collection.slug]),
            {"kind": "recognise", "file": kept, **given},
            headers=headers,
        )

    return send


@pytest.mark.parametrize(
    ("name", "content", "kind", "way"),
    [
        ("a.txt", TOPICS, "topics", "careful"),
        ("a.gz", gzip.compress(DOCUMENTS.encode(), mtime=0), "documents", "careful"),
        ("b.txt", RUN, "run", "careful"),
        ("c.txt", QRELS, "qrels", "careful"),
        ("log.tsv", CLICKS, "qrels", "careful"),
        ("pairs.tsv", PAIRS, "set", "careful"),
        (
            "beir.zip",
            packed(
                corpus_jsonl=DOCUMENTS,
                queries_jsonl='{"_id": "1", "text": "a"}\n',
                qrels__test_tsv="x",
            ),
            "set",
            "careful",
        ),
        ("few.txt", "1\tone query\n", "topics", "inspect"),  # may be documents, too
    ],
)
def test_a_file_is_recognised_by_its_content(send, collection, name, content, kind, way) -> None:
    assert send((name, content), json=True).status_code == 201
    assert collection.uploads.get().kind == kind
    assert Job.objects.get().parameters["mode"] == way


def test_what_refers_to_other_files_is_read_behind_them(send, collection) -> None:
    send(("x", QRELS), ("y", RUN), ("z", DOCUMENTS), ("t", TOPICS))
    jobs = Job.objects.order_by("pk")
    assert [job.kind for job in jobs] == [
        "import topics",
        "import documents",
        "import run",
        "import qrels",
    ]
    reports = [run(job).report for job in jobs]
    assert [report["stored"] for report in reports] == [True] * 4, reports
    assert (collection.topics.count(), collection.runs.get().tag, collection.qrels.count()) == (
        6,
        "A",
        1,
    )


@pytest.mark.parametrize(
    ("content", "kind", "lines"),
    [
        ("1 Q0 a 1 9.5 A\n1 Q0 b two 8\n2 Q0 c 1\n2 Q0 d 2 7 A\n", "run", [2, 3]),
        ("1 Q0 a 1\n1 Q0 b 2 8 A\n2 Q0 c\n2 Q0 d 2 7 A\n", "run", [1, 3]),
        ("1 0 a 1\n1 0 b high\n2 0 c\n2 0 d 0\n", "qrels", [2, 3]),
    ],
)
def test_half_of_the_lines_are_enough_to_tell_the_mistakes_of_the_others(
    send, collection, content, kind, lines
) -> None:
    assert send(("few.txt", content), json=True).status_code == 201
    job = run(Job.objects.get())
    assert (job.kind, job.state) == (f"import {kind}", "failed")
    assert [problem["line"] for problem in job.report["problems"]] == lines


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"%PDF-1.4 x", "a.x is a PDF. Upload text"),
        (
            b"\x89PNG\x00\x00\x00",
            "Assay could not recognise the type of a.x. Choose topics, documents, run, qrels, clicks or set under",
        ),
        (
            b"topic,document,annotator,grade\n1,d1,ada,2\n",
            "Judgement files can be used in reports and on the command line",
        ),
        (
            b"1 Q0 a 3 1 me\n1 Q0 b 0 1 me\n1 Q0 c 0 0.5 me\n",
            "looks like LLM labels. Import LLM labels on a campaign's LLM judges page.",
        ),
        (
            b'{"qid": "1", "query": "how long", "nuggets": [{"text": "ten days"}]}\n',
            "looks like a file of nuggets. Assay can't import this type of file yet.",
        ),
    ],
)
def test_what_is_of_no_kind_is_refused_with_the_way_out(send, collection, content, says) -> None:
    answer = send(("a.x", content), json=True)
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert not Upload.objects.exists()


def test_a_refused_file_does_not_keep_the_others_out(send, client, collection) -> None:
    page = client.get(send(("a.pdf", b"%PDF-1.4 x"), ("b.run", RUN)).url).content.decode()
    assert "a.pdf is a PDF" in page
    assert Job.objects.get().kind == "import run"


def test_the_page_shows_what_a_file_was_recognised_as_and_takes_a_correction(
    send, client, collection
) -> None:
    send(("few.txt", "1\tone query\n"))
    run(Job.objects.get())
    page = " ".join(
        client.get(reverse("collection", args=[collection.slug])).content.decode().split()
    )
    assert '<option value="topics" selected>' in page
    assert "Could also be documents." in page
    waiting = collection.uploads.get()
    client.post(reverse("upload-decide", args=[collection.slug, waiting.pk]), {"kind": "documents"})
    assert run(Job.objects.first()).report["stored"]
    assert (collection.document_files.get().n_documents, collection.topics.count()) == (1, 0)


def test_options_belong_to_the_kind_that_a_file_turns_out_to_be(send, collection) -> None:
    send(("b.txt", RUN), ("c.txt", QRELS), tag="mine", qrels_kind="clicks")
    assert [job.parameters["options"] for job in Job.objects.order_by("pk")] == [
        {"tag": "mine"},
        {"kind": "clicks"},
    ]
