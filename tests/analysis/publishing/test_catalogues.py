"""Files of a release for catalogues of data sets: croissant.json, the dataset card, and the loader
of ir_datasets."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import mlcroissant
import pytest
import yaml

from analysis.publishing.release import prove
from analysis.publishing.release.parts import LOAD, ReleasePlan
from analysis.publishing.release.tables import RELEASE_TABLES
from annotation.services.campaigns import lifecycle
from tests.analysis.publishing.exported import examples_campaign, with_everything
from tests.analysis.publishing.test_releases import PUBLICATION, built, parts

pytestmark = pytest.mark.django_db
LICENSE = "https://spdx.org/licenses/{}.html"


def installed(name: str) -> ModuleType:
    return pytest.importorskip(name, reason=f"{name} is not installed: the release is not loaded")


@pytest.fixture
def campaign():
    campaign = with_everything(examples_campaign())
    campaign.collection.topics.update(narrative="Why")
    campaign.collection.topics.create(
        topic_id="t9", text="Removed", removed_reason="too broad", position=9
    )
    return lifecycle.update_campaign(campaign, actor=None, publication=PUBLICATION)


@pytest.fixture
def folder(campaign, tmp_path) -> Path:
    """An unpacked release with document texts."""
    target = tmp_path / "release"
    for name, data in parts(built(campaign, ReleasePlan(documents=True))).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    return target


def read_rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as file:
        quoting = csv.QUOTE_MINIMAL if path.name == "judgements.tsv" else csv.QUOTE_NONE
        names = ["id", "text"] if path.name == "topics.tsv" else None
        return list(csv.DictReader(file, names, delimiter="\t", quoting=quoting))


@pytest.mark.parametrize("table", RELEASE_TABLES, ids=lambda table: table.name)
def test_the_described_tables_have_the_columns_of_their_files(folder, table):
    rows = read_rows(folder / table.part)
    assert rows
    if table.is_delimited:
        assert tuple(rows[0]) == tuple(table.columns)
    else:
        assert all(row.keys() - {"fields"} == table.columns.keys() for row in rows)
    keys = [tuple(row[name] for name in table.key) for row in rows]
    assert len(set(keys)) == len(keys)


def test_croissant_is_valid_and_has_the_digests_and_the_metadata(folder):
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    data_set = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not data_set.metadata.ctx.issues.errors
    assert data_set.metadata.version == "1.0"
    assert data_set.metadata.license == [LICENSE.format("CC-BY-4.0"), LICENSE.format("CC0-1.0")]
    assert [person.name for person in data_set.metadata.creators] == ["Lovelace, Ada", "Grace"]
    assert data_set.metadata.data_limitations == ["Few topics."]
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {part["@id"] for part in described["distribution"]} == files - {
        "croissant.json",
        "SHA256SUMS",
    }
    for part in described["distribution"]:
        assert part["sha256"] == hashlib.sha256((folder / part["@id"]).read_bytes()).hexdigest()
        assert part["description"]


@pytest.mark.parametrize(
    "table", [table for table in RELEASE_TABLES if table.has_header], ids=lambda table: table.name
)
def test_mlcroissant_reads_every_row_of_each_table(folder, table):
    data_set = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    records = list(data_set.records(table.name))
    rows = read_rows(folder / table.part)
    for name in table.key:
        read = [record[f"{table.name}/{name}"] for record in records]
        read = [value.decode() if isinstance(value, bytes) else str(value) for value in read]
        assert read == [str(row[name]) for row in rows]


def test_a_release_without_metadata_and_documents_has_a_valid_description(campaign, tmp_path):
    lifecycle.update_campaign(campaign, actor=None, publication={})
    described = json.loads(parts(built(campaign))["croissant.json"])
    (tmp_path / "croissant.json").write_text(json.dumps(described), encoding="utf-8")
    data_set = mlcroissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert not data_set.metadata.ctx.issues.errors
    assert [table.uuid for table in data_set.metadata.record_sets] == [
        "labels",
        "judgements",
        "all-topics",
    ]


def card(folder: Path) -> dict[str, Any]:
    _, head, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head)


def test_the_dataset_card_names_a_file_of_the_release_for_each_table(folder):
    configs = card(folder)["configs"]
    assert [config["data_files"] for config in configs] == [
        "labels.tsv",
        "judgements.tsv",
        "topics.tsv",
    ]
    assert configs[2]["column_names"] == ["id", "text"]
    assert configs[0] == {
        "config_name": "labels",
        "data_files": "labels.tsv",
        "sep": "\t",
        "quoting": 3,
        "keep_default_na": False,
        "na_values": [""],
    }
    [labels, judgements, _topics] = card(folder)["dataset_info"]
    types = {feature["name"]: feature["dtype"] for feature in labels["features"]}
    assert (types["topic"], types["grade"]) == ("string", "int64")
    assert judgements["config_name"] == "judgements"


def test_the_package_datasets_loads_each_table(folder, tmp_path):
    datasets = installed("datasets")
    for table in [table for table in RELEASE_TABLES if table.is_delimited]:
        loaded = datasets.load_dataset(
            str(folder), table.name, cache_dir=str(tmp_path / "cache"), split="train"
        )
        rows = read_rows(folder / table.part)
        for name in table.columns.keys() & {"topic", "qid", "id", "document", "text"}:
            assert list(loaded[name]) == [row[name] for row in rows]
        if "grade" in table.columns:
            assert loaded["grade"] == [
                float(row["grade"]) if row["grade"] else None for row in rows
            ]


def test_ir_datasets_loads_topics_documents_and_qrels(folder, tmp_path, monkeypatch):
    ir_datasets = installed("ir_datasets")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    spec = importlib.util.spec_from_file_location("load_ir_datasets", folder / LOAD)
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    loader.load(name="assay-test-release")
    data_set = ir_datasets.load("assay-test-release")
    kept = [row for row in read_rows(folder / "topics.jsonl") if not row["removed_reason"]]
    assert len(kept) < len(read_rows(folder / "topics.jsonl"))
    assert [(topic.query_id, topic.text, topic.narrative) for topic in data_set.queries_iter()] == [
        (row["id"], row["text"], "Why") for row in kept
    ]
    documents = read_rows(folder / "documents.jsonl")
    assert [(one.doc_id, one.text) for one in data_set.docs_iter()] == [
        (row["_id"], row["text"]) for row in documents
    ]
    assert data_set.docs_store().get(documents[0]["_id"]).title == documents[0]["title"]
    assert data_set.queries.lang == data_set.docs.lang == "en"
    for binary, name in ((False, "qrels.txt"), (True, "qrels-binary.txt")):
        read = loader.load(folder, binary=binary)
        lines = [line.split() for line in (folder / name).read_text().splitlines()]
        assert [[q.query_id, q.doc_id, str(q.relevance)] for q in read.qrels_iter()] == [
            [topic, document, grade] for topic, _, document, grade in lines
        ]
        assert {q.relevance for q in read.qrels_iter()} <= read.qrels_defs().keys()
    cached = folder / "__pycache__" / "load_ir_datasets.cpython-311.pyc"
    assert cached.exists()
    assert not any(prove.find_problems(folder).values()), "documents are cached elsewhere"
