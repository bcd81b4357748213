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
from pooling.models import Collection
from pooling.services.collections import create_collection
from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings
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


class Query(NamedTuple):
    query_id: str
    title: str
    description: str
    domain: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class DataSet:
    def __init__(self, documents: list[Any], fails_after: int | None = None, **parts: Any) -> None:
        self.documents, self.fails_after, self.parts = documents, fails_after, parts

    def __getattr__(self, name: str) -> Any:
        """`has_queries`, `queries_iter` and those of the other parts."""
        if name.startswith("has_"):
            return lambda: name[4:] in self.parts
        return lambda: iter(self.parts[name.removesuffix("_iter")])

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
        "whole/test": DataSet(
            [Abstract("a1", "first"), Abstract("a2", "second")],
            queries=[
                Query("q1", "red  shoes", "Shoes that are red.", "shop"),
                Query("q2", "x", "", ""),
            ],
            qrels=[Qrel("q1", "a1", 2), Qrel("q2", "a2", 0), Qrel("q1", "a2", 1)],
            scoreddocs=[Scored("q1", "a1", 1.25), Scored("q1", "a2", 2.5)],
        ),
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
        "irds:abstracts",
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
            "irds:broken",
            collection=collection.slug,
            stdout=out,
            stderr=StringIO(),
        )
    assert collection.document_files.count() == 1


@pytest.mark.django_db
def test_one_data_set_is_a_whole_collection(catalogue, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    out = StringIO()
    call_command("import_set", "irds:whole/test", new="Whole", stdout=out, stderr=StringIO())
    collection = Collection.objects.get(name="Whole")
    assert out.getvalue().splitlines()[-1] == collection.slug
    topics = {topic.topic_id: topic for topic in collection.topics.all()}
    assert [topics["q1"].text, topics["q1"].description] == ["red shoes", "Shoes that are red."]
    assert (topics["q1"].fields, topics["q2"].text) == ({"domain": "shop"}, "x")
    assert collection.document_files.get().n_documents == 2
    qrels = load_grades(collection.qrels.get())
    assert list(qrels.topics) == ["q1", "q2"]
    assert qrels.grades.tolist() == [2, 1, 0]
    call_command(
        "import_run", "irds:whole/test", collection=collection.slug, stdout=out, stderr=StringIO()
    )
    assert load_rankings(collection.runs.get()).scores.tolist() == [2.5, 1.25]
    call_command("make_pool", collection=collection.slug, stdout=out, stderr=StringIO())
    assert collection.pools.get().n_pairs == 2


@pytest.mark.django_db
def test_topics_and_qrels_of_a_data_set_are_imported_one_by_one(catalogue, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    collection = create_collection(name="Parts", user=None)
    for command in ("import_topics", "import_qrels"):
        call_command(
            command,
            "irds:whole/test",
            collection=collection.slug,
            stdout=StringIO(),
            stderr=StringIO(),
        )
    assert collection.topics.count() == 2
    assert collection.qrels.get().n_rows == 3
    for command, identifier, says in (
        ("import_topics", "abstracts", "irds:abstracts: the dataset 'abstracts' .* has no topics"),
        ("import_run", "nothing", "irds:nothing: ir_datasets has no dataset named 'nothing'"),
        ("import_set", "abstracts", "has no topics"),
    ):
        with pytest.raises(CommandError, match=says):
            call_command(
                command, f"irds:{identifier}", collection=collection.slug, stdout=StringIO()
            )
    assert collection.topics.count() == 2
