"""Releases as datasets of PyTerrier (`pip install 'assay-ir[pyterrier]'`).

    import pyterrier as pt
    dataset = pt.get_dataset("assay:health-release.zip")
    pt.Experiment([bm25], dataset.get_topics(), dataset.get_qrels(), ["ndcg_cut_10"])

PyTerrier finds the provider through the entry point `pyterrier.dataset_provider`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from pyterrier.datasets import Dataset, DatasetProvider

from assay.formats.qrels import read_qrels

QRELS_OF_VARIANT = {None: "qrels.txt", "graded": "qrels.txt", "binary": "qrels-binary.txt"}
TOPIC_FIELDS = ("description", "narrative")


class ReleaseProvider(DatasetProvider):  # type: ignore[misc]
    """Datasets named `assay:PATH`, where PATH is a release as a zip file or an unpacked folder."""

    def get_dataset(self, name: str) -> ReleaseDataset:
        """Return the release. Raises KeyError if the path is not a release."""
        dataset = ReleaseDataset(Path(name))
        if not dataset.is_release():
            raise KeyError(name)
        return dataset


class ReleaseDataset(Dataset):  # type: ignore[misc]
    """Topics, qrels and documents of a release."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"ReleaseDataset({str(self.path)!r})"

    def is_release(self) -> bool:
        """Return whether the path is a zip file or folder that contains `campaign.json`."""
        if self.path.is_dir():
            return (self.path / "campaign.json").is_file()
        return zipfile.is_zipfile(self.path) and self._has_file("campaign.json")

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return the topics that were not removed: qid, query, and description and narrative if a
        topic has one. The texts are unchanged."""
        if variant is not None:
            raise ValueError(f"unknown variant {variant!r} of topics, expected none")
        kept = [row for row in self._read_json_lines("topics.jsonl") if not row["removed_reason"]]
        columns = {"qid": [row["id"] for row in kept], "query": [row["text"] for row in kept]}
        for field in TOPIC_FIELDS:
            if any(row[field] for row in kept):
                columns[field] = [row[field] for row in kept]
        return pd.DataFrame(columns, dtype=object)

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return the labels: qid, docno, label. variant: `graded` (default) or `binary`.

        Raises ValueError if the pool was sampled, because measures would take unsampled documents
        as not relevant.
        """
        if variant not in QRELS_OF_VARIANT:
            raise ValueError(f"unknown variant {variant!r} of qrels, expected 'graded' or 'binary'")
        if self._read_pool_kind() == "sampled":
            raise ValueError(
                f"{self.path}: the pool was sampled, so measures would count unsampled "
                "documents as not relevant; estimate them with `assay evaluate --sampled` and prels.txt"
            )
        name = QRELS_OF_VARIANT[variant]
        with self._open(name) as file:
            qrels = read_qrels(io.BytesIO(file.read()), name=name)
        topics = np.repeat(np.array(qrels.topics, dtype=object), np.diff(qrels.offsets))
        documents = [document.decode("utf-8") for document in qrels.documents.tolist()]
        return pd.DataFrame({"qid": topics, "docno": documents, "label": qrels.grades})

    def get_corpus_iter(self, *, verbose: bool = True) -> Iterator[dict[str, Any]]:
        """Return the pool's documents: docno, title, text. verbose: ignored. Raises
        NotImplementedError if the release has no texts."""
        if not self._has_file("documents.jsonl"):
            raise NotImplementedError(f"{self!r} contains no document texts")
        return (
            {"docno": row["_id"], "title": row["title"], "text": row["text"]}
            for row in self._read_json_lines("documents.jsonl")
        )

    def _read_pool_kind(self) -> str:
        with self._open("campaign.json") as file:
            about = json.load(file)
        return str((about.get("pool") or {}).get("kind", ""))

    def _has_file(self, name: str) -> bool:
        if self.path.is_dir():
            return (self.path / name).is_file()
        with zipfile.ZipFile(self.path) as archive:
            return name in archive.namelist()

    def _read_json_lines(self, name: str) -> Iterator[dict[str, Any]]:
        with self._open(name) as file:
            for line in file:
                yield json.loads(line)

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        if self.path.is_dir():
            with (self.path / name).open("rb") as file:
                yield file
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(name) as file:
            yield file
