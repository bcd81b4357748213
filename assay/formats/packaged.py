"""Data sets that the package ir_datasets knows: their topics, qrels and documents as it gives them,
and documents as the JSONL that `documents` reads.

The package is not among the requirements: whoever wants it installs it beside Assay. It reads a
data set from where it keeps it, and fetches it from its public source where it has none; nothing
does so unless somebody names a data set."""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OWN_FIELDS = ("doc_id", "title", "text")


class DatasetUnavailable(ValueError):
    """The package, the data set or its documents are not to be had; the message says why and what
    to do."""


DATASET_PARTS = {
    "docs": "documents",
    "queries": "topics",
    "qrels": "qrels",
    "scoreddocs": "scored documents",
}
"""What the package calls a part of a data set -> what it is called here."""


def load_dataset(identifier: str) -> Any:
    """The data set of the package. Raises Unavailable."""
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise DatasetUnavailable(
            "ir_datasets is not installed here: `pip install ir_datasets` beside Assay, or use a file"
        ) from None
    try:
        return package.load(identifier)
    except Exception as error:
        raise DatasetUnavailable(
            f"ir_datasets knows no data set {identifier!r} ({_error_message(error)}); its catalogue lists the identifiers"
        ) from error


def iterate_entries(dataset: Any, part: str, identifier: str) -> Iterator[Any]:
    """The named tuples of a part of the data set, streamed. part: of PARTS. Raises Unavailable."""
    if not getattr(dataset, f"has_{part}")():
        raise DatasetUnavailable(
            f"the data set {identifier!r} of ir_datasets has no {DATASET_PARTS[part]}"
        )
    count = 0
    try:
        for entry in getattr(dataset, f"{part}_iter")():
            yield entry
            count += 1
    except Exception as error:
        raise DatasetUnavailable(
            f"ir_datasets gave no more than {count:,} {DATASET_PARTS[part]} of {identifier!r} "
            f"({_error_message(error)}); nothing was imported. "
            "Let it fetch the data set first, or use a file"
        ) from error


def write_documents(identifier: str, path: Path) -> int:
    """Write the data set's documents to `path` as packed JSONL, streamed. -> how many there are

    A field `title` is the title; `text` is the text, else what the package calls the document's
    default text; further fields of words are kept under their names. Raises Unavailable."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out:
        for document in iterate_entries(load_dataset(identifier), "docs", identifier):
            out.write(json.dumps(document_to_row(document), ensure_ascii=False) + "\n")
            count += 1
    return count


def document_to_row(document: Any) -> dict[str, str]:
    values = document._asdict()
    row = {"id": str(values["doc_id"])}
    if values.get("title"):
        row["title"] = str(values["title"])
    text = values.get("text")
    row["text"] = text if isinstance(text, str) else document.default_text()
    return row | {
        name: value
        for name, value in values.items()
        if name not in OWN_FIELDS and isinstance(value, str) and value
    }


def _error_message(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
