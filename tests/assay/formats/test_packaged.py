"""Documents by way of the package ir_datasets, which the tests do not install: a stand-in with its
interface, and its absence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError

from assay.formats.documents import read_documents
from assay.formats.packaged import DatasetUnavailable, write_documents
from tests.builders import make_collection, make_user
from tests.commands import call_command


class WebPage(NamedTuple):
    doc_id: str
    url: str
    title: str
    body: str
    crawled: int

    def default_text(self) -> str:
        return f"{self.title} {self.body}"


class Abstract(NamedTuple):
    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


class DataSet:
    def __init__(self, documents: list[Any], fails_after: int | None = None) -> None:
        self.documents, self.fails_after = documents, fails_after

    def has_docs(self) -> bool:
        return bool(self.documents)

    def docs_iter(self) -> Iterator[Any]:
        for place, document in enumerate(self.documents):
            if place == self.fails_after:
                raise ConnectionError("no way\nout")
            yield document


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> dict[str, DataSet]:
    sets = {
        "web/small": DataSet(
            [
                WebPage("w1", "http://x/1", "Über <b>", "body\nof one", 7),
                WebPage("w2", "", "", "two", 8),
            ]
        ),
        "abstracts": DataSet([Abstract("a1", "first"), Abstract("a2", "second")]),
        "queries-only": DataSet([]),
        "broken": DataSet([Abstract("a1", "first"), Abstract("a2", "second")], fails_after=1),
    }
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=sets.__getitem__))
    return sets


def test_fields_title_and_text_arrive_as_the_reader_of_documents_knows_them(catalogue, tmp_path):
    assert write_documents("web/small", tmp_path / "web.jsonl.gz") == 2
    first, second = read_documents(tmp_path / "web.jsonl.gz")
    assert (first.document, first.title, first.text) == ("w1", "Über <b>", "Über <b> body\nof one")
    assert first.fields == {"url": "http://x/1", "body": "body\nof one"}
    assert (second.document, second.title, second.fields) == ("w2", "", {"body": "two"})
    assert write_documents("abstracts", tmp_path / "abstracts.jsonl.gz") == 2
    assert [
        (one.document, one.text) for one in read_documents(tmp_path / "abstracts.jsonl.gz")
    ] == [("a1", "first"), ("a2", "second")]


@pytest.mark.parametrize(
    ("identifier", "says"),
    [
        ("nothing", "has no dataset named 'nothing'"),
        ("queries-only", "has no documents"),
        ("broken", r"returned only 1 documents .*no way out.*or use a file"),
    ],
)
def test_what_is_not_to_be_had_is_said(catalogue, tmp_path, identifier, says):
    with pytest.raises(DatasetUnavailable, match=says):
        write_documents(identifier, tmp_path / "x.jsonl.gz")


def test_without_the_package_the_way_out_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(DatasetUnavailable, match="pip install ir_datasets"):
        write_documents("web/small", tmp_path / "x.jsonl.gz")


@pytest.mark.django_db
def test_the_command_imports_them_like_a_file(catalogue, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    collection = make_collection(manager=make_user(may_create=True))
    out = StringIO()
    call_command(
        "import_documents",
        "--ir-datasets",
        "abstracts",
        collection=collection.slug,
        stdout=out,
        stderr=StringIO(),
    )
    assert "abstracts.jsonl.gz" in out.getvalue()
    file = collection.document_files.get(name="abstracts.jsonl.gz")
    assert file.n_documents == 2
    with pytest.raises(CommandError, match="returned only 1"):
        call_command(
            "import_documents",
            "--ir-datasets",
            "broken",
            collection=collection.slug,
            stdout=out,
            stderr=StringIO(),
        )
    with pytest.raises(CommandError, match="a document file or --ir-datasets ID is required"):
        call_command("import_documents", collection=collection.slug, stdout=out, stderr=StringIO())
    assert collection.document_files.count() == 1
