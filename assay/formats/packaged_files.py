"""Write the topics, documents, qrels and scored documents of a data set of ir_datasets as files
that imports read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from assay.formats.packaged import DATASET_PREFIX, load_dataset, write_documents
from assay.formats.qrels import read_qrels, write_qrels
from assay.formats.runs import read_run, write_run
from assay.formats.topics import read_topics


def write_topics(identifier: str, path: Path) -> None:
    """Write the topics as JSON lines with all their fields."""
    with path.open("w", encoding="utf-8") as out:
        for topic in read_topics(DATASET_PREFIX + identifier):
            row = {
                "_id": topic.topic,
                "text": topic.text,
                "description": topic.description,
                "narrative": topic.narrative,
            }
            kept = {key: text for key, text in row.items() if text} | topic.fields
            out.write(json.dumps(kept, ensure_ascii=False) + "\n")


def _write_qrels(identifier: str, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        write_qrels(read_qrels(DATASET_PREFIX + identifier), out)


def _write_run(identifier: str, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        write_run(read_run(DATASET_PREFIX + identifier), out)


PART_WRITERS: dict[str, tuple[str, Callable[[str, Path], object]]] = {
    "topics": (".topics.jsonl", write_topics),
    "documents": (".jsonl.gz", write_documents),
    "qrels": (".qrels", _write_qrels),
    "run": (".run", _write_run),
}
"""Suffix and write function of the file of each part."""


def write_part(identifier: str, part: str, folder: Path) -> Path:
    """Write a part of a data set, streamed if it is documents, and return the file's path.

    part: a key of PART_WRITERS. Raises DatasetUnavailable, and FormatError for invalid content.
    """
    suffix, write = PART_WRITERS[part]
    path = folder / f"{identifier.replace('/', '-')}{suffix}"
    write(identifier, path)
    return path


def write_set(identifier: str, folder: Path) -> None:
    """Write the topics, documents and qrels that the data set has as a BEIR folder. Raises
    DatasetUnavailable, and FormatError for invalid content."""
    dataset = load_dataset(identifier)
    write_topics(identifier, folder / "queries.jsonl")
    write_documents(identifier, folder / "corpus.jsonl.gz")
    if dataset.has_qrels():
        (folder / "qrels").mkdir()
        qrels = read_qrels(DATASET_PREFIX + identifier)
        with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8") as out:
            out.write("query-id\tcorpus-id\tscore\n")
            for index, topic in enumerate(qrels.topics):
                rows = qrels.rows(index)
                pairs = zip(
                    qrels.documents[rows].tolist(), qrels.grades[rows].tolist(), strict=True
                )
                out.writelines(
                    f"{topic}\t{document.decode('utf-8')}\t{grade}\n" for document, grade in pairs
                )
