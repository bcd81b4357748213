"""Load this release with the package ir_datasets (`pip install ir_datasets`).

In the folder of the unpacked release:

    from load_ir_datasets import load

    dataset = load()                 # topics, qrels, and documents if the release contains them
    dataset = load(binary=True)      # qrels on two grades
    load(name="health-queries")      # from then on, ir_datasets.load("health-queries")

Assay writes this file into each release. It needs only ir_datasets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
from ir_datasets.formats import BaseQueries, JsonlDocs, TrecQrels
from ir_datasets.util import LocalDownload, home_path


class ReleaseTopic(NamedTuple):
    query_id: str
    text: str
    description: str
    narrative: str

    def default_text(self) -> str:
        return self.text


class ReleaseDocument(NamedTuple):
    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        return f"{self.title} {self.text}".strip()


class ReleaseTopics(BaseQueries):  # type: ignore[misc]
    """The topics of topics.jsonl that were not removed."""

    def __init__(self, path: Path, language: str | None) -> None:
        self._path, self._language = path, language

    def queries_path(self) -> Path:
        return self._path

    def queries_iter(self) -> Iterator[ReleaseTopic]:
        with self._path.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                if not row["removed_reason"]:
                    yield ReleaseTopic(row["id"], row["text"], row["description"], row["narrative"])

    def queries_cls(self) -> type[ReleaseTopic]:
        return ReleaseTopic

    def queries_lang(self) -> str | None:
        return self._language


def load(folder: str | Path | None = None, *, binary: bool = False, name: str = "") -> Any:
    """Return the release as a dataset of ir_datasets.

    folder: folder of the unpacked release, by default that of this file. binary: return qrels on
    two grades instead of all. name: name under which the dataset is registered. Raises
    FileNotFoundError if the folder is not an unpacked release.
    """
    folder = Path(folder) if folder is not None else Path(__file__).parent
    about = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    settings = about["campaign"]["settings"]
    language = settings.get("publication", {}).get("language") or None
    qrels = folder / ("qrels-binary.txt" if binary else "qrels.txt")
    grades = (
        {0: "Not relevant", 1: "Relevant"}
        if binary
        else {grade["value"]: grade["name"] for grade in settings["scale"]}
    )
    parts = [
        ReleaseTopics(folder / "topics.jsonl", language),
        TrecQrels(LocalDownload(qrels, mkdir=False), grades),
    ]
    documents = folder / "documents.jsonl"
    if documents.exists():
        parts.append(
            JsonlDocs(
                LocalDownload(documents, mkdir=False),
                doc_cls=ReleaseDocument,
                mapping={"doc_id": "_id", "title": "title", "text": "text"},
                lang=language,
                # outside the release, which prove.py checks for further files
                docstore_path=home_path() / "assay" / f"{about['content_sha256']}.pklz4",
            )
        )
    dataset = ir_datasets.Dataset(*parts)
    if name:
        ir_datasets.registry.register(name, dataset)
    return dataset
