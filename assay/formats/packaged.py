"""Read topics, qrels and documents of data sets that the package ir_datasets knows.

The package is optional. It reads a data set from its own cache and downloads it from the public
source if necessary. This happens only if the user names a data set.
"""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATASET_PREFIX = "irds:"
"""Prefix of the ID of a data set that is given instead of a file's path."""
OWN_FIELDS = ("doc_id", "title", "text")


class DatasetUnavailable(ValueError):
    """Error for a missing package, an unknown data set, or a data set without documents. The
    message states the reason and what to do."""


DATASET_PARTS = {
    "docs": "documents",
    "queries": "topics",
    "qrels": "qrels",
    "scoreddocs": "scored documents",
}
"""Name of each part of a data set in the package -> name in Assay."""


def dataset_id(source: object) -> str:
    """Return the ID in `irds:ID`, or an empty string for a path or anything else."""
    is_id = isinstance(source, str) and source.startswith(DATASET_PREFIX)
    return str(source).removeprefix(DATASET_PREFIX) if is_id else ""


def load_dataset(identifier: str) -> Any:
    """Return a data set of the package. Raises DatasetUnavailable."""
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise DatasetUnavailable(
            "ir_datasets is not installed here. Install it with `pip install ir_datasets`, or use a file"
        ) from None
    try:
        return package.load(identifier)
    except Exception as error:
        raise DatasetUnavailable(
            f"ir_datasets has no dataset named {identifier!r} ({_error_message(error)}); see its catalogue"
        ) from error


def iterate_entries(dataset: Any, part: str, identifier: str) -> Iterator[Any]:
    """Yield the named tuples of a part of the data set, streamed.

    part: a key of DATASET_PARTS. Raises DatasetUnavailable.
    """
    if not getattr(dataset, f"has_{part}")():
        raise DatasetUnavailable(
            f"the dataset {identifier!r} of ir_datasets has no {DATASET_PARTS[part]}"
        )
    count = 0
    try:
        for entry in getattr(dataset, f"{part}_iter")():
            yield entry
            count += 1
    except Exception as error:
        raise DatasetUnavailable(
            f"ir_datasets returned only {count:,} {DATASET_PARTS[part]} of {identifier!r} "
            f"({_error_message(error)}). Download the dataset with ir_datasets first, or use a file"
        ) from error


def iterate_dataset(identifier: str, part: str) -> Iterator[Any]:
    return iterate_entries(load_dataset(identifier), part, identifier)


def write_documents(identifier: str, path: Path) -> int:
    """Write the documents of the data set to `path` as compressed JSONL, streamed. Returns their
    number.

    The field `title` becomes the title. `text`, or the package's default text, becomes the text.
    Other text fields keep their names. Raises DatasetUnavailable.
    """
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out:
        for document in iterate_dataset(identifier, "docs"):
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
