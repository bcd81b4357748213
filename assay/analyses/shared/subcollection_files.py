"""Files of the sub-collections that the command `stability` draws.

FOLDER/documents-0.25.tsv.gz   one element per row, with one digit per pair of sub-collections:
                               0 in neither, 1 in the first, 2 in the second, 3 in both
FOLDER/qrels-0.25/3-2.txt      the qrels of the second sub-collection of the third pair
FOLDER/topics-0.25/3-2.txt     the topics of that sub-collection, one per line
FOLDER/documents-0.25/3-2.txt  the documents of that sub-collection, one per line
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.cli.base import BadInput
from assay.comparison.stability import (
    StabilityChunk,
    StabilityProtocol,
    draw_memberships,
    list_sampled_rows,
)
from assay.measures.batch import PackedCollection
from assay.measures.subcollections import IN_FIRST, IN_SECOND


def check_output_folder(name: str) -> Path:
    """Return the path of an output folder. Raises BadInput if it exists and is not an empty
    folder."""
    folder = Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{name} is not an empty folder; choose another one with --export")
    return folder


def export_subcollections(
    folder: Path,
    collection: PackedCollection,
    protocol: StabilityProtocol,
    work: Sequence[StabilityChunk],
    documents: NDArray[np.bytes_] | None,
    *,
    n_qrels: int,
) -> list[str]:
    """Write the files and return their paths in the folder. The same seed gives the same bytes,
    whatever the number of processes."""
    written: list[str] = []
    folder.mkdir(parents=True, exist_ok=True)
    for chunk in work:
        level = f"{float(chunk.overlap):.6g}"
        drawn = draw_memberships(collection, protocol, chunk, documents)
        for element, memberships in drawn.items():
            unit_names = sampling_units(collection, protocol.restrict_to(element), documents)
            name = f"{element}-{level}.tsv.gz"
            (folder / name).write_bytes(
                pack_memberships(element_header(element), unit_names, memberships)
            )
            written.append(name)
        for pair in range(min(n_qrels, protocol.pairs)):
            for side, bit in ((1, IN_FIRST), (2, IN_SECOND)):
                included = {element: of[pair] & bit > 0 for element, of in drawn.items()}
                kept = subcollection_rows(collection, protocol, included, documents)
                lists = {
                    "qrels": [f"{topic} 0 {document} {grade}" for topic, document, grade in kept],
                    **{
                        element: list_kept_units(collection, protocol, element, included, documents)
                        for element in ("topics", "documents")
                    },
                }
                for kind, lines in lists.items():
                    name = f"{kind}-{level}/{pair + 1}-{side}.txt"
                    (folder / name).parent.mkdir(exist_ok=True)
                    text = "".join(f"{line}\n" for line in lines)
                    (folder / name).write_text(text, encoding="utf-8", newline="\n")
                    written.append(name)
    return written


def list_kept_units(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    element: str,
    included: dict[str, NDArray[np.bool_]],
    documents: NDArray[np.bytes_] | None,
) -> list[str]:
    """Return the IDs of the topics or documents (`element`) of one sub-collection. included: as for
    `subcollection_rows`."""
    units = sampling_units(
        collection, replace(protocol, element=element, per_topic_quota=False), documents
    )
    return (
        [unit for unit, is_in in zip(units, included[element], strict=True) if is_in]
        if element in included
        else units
    )


def element_header(element: str) -> str:
    return {"documents": "document", "topics": "topic"}.get(element, "topic\tdocument\tgrade")


def list_assessments(collection: PackedCollection) -> list[tuple[str, str, int]]:
    """Return (topic, document, grade) of each row of the qrels."""
    topic = np.repeat(np.arange(len(collection.topics)), np.diff(collection.offsets)).tolist()
    names = [document.decode() for document in collection.documents[collection.assessed].tolist()]
    return [
        (collection.topics[t], name, grade)
        for t, name, grade in zip(topic, names, collection.grades.tolist(), strict=True)
    ]


def sampling_units(
    collection: PackedCollection, protocol: StabilityProtocol, documents: NDArray[np.bytes_] | None
) -> list[str]:
    """Return the names of the units that are sampled, in the order of the memberships."""
    if protocol.element == "documents":
        return [
            document.decode()
            for document in (collection.documents if documents is None else documents).tolist()
        ]
    if protocol.element == "topics":
        return collection.topics
    rows = list_assessments(collection)
    return [
        "\t".join(map(str, rows[row])) for row in list_sampled_rows(collection, protocol).tolist()
    ]


def pack_memberships(
    header: str, unit_names: Iterable[str], memberships: NDArray[np.uint8]
) -> bytes:
    """Return the gzipped file of memberships (n_pairs, n_things)."""
    out = io.BytesIO()
    digits = (np.ascontiguousarray(memberships.T) + ord("0")).astype(np.uint8)
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as file:
        file.write(f"{header}\tpairs\n".encode())
        for thing, row in zip(unit_names, digits, strict=True):
            file.write(thing.encode() + b"\t" + row.tobytes() + b"\n")
    return out.getvalue()


def subcollection_rows(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    included: dict[str, NDArray[np.bool_]],
    documents: NDArray[np.bytes_] | None,
) -> list[tuple[str, str, int]]:
    """Return the qrels of one sub-collection. included: {element: bool (n_units)}, the units it
    contains."""
    kept = np.ones(len(collection.grades), bool)
    if "documents" in included:
        listed = collection.documents if documents is None else documents
        kept &= np.isin(collection.documents[collection.assessed], listed[included["documents"]])
    if "topics" in included:
        kept &= np.repeat(included["topics"], np.diff(collection.offsets))
    for element in {"assessments", "positive"} & set(included):
        kept[list_sampled_rows(collection, protocol.restrict_to(element))] &= included[element]
    return [
        row for row, stays in zip(list_assessments(collection), kept.tolist(), strict=True) if stays
    ]
