"""Match the IDs of one file with those of others, for the report on unmatched IDs.

IDs of a document file are stored as sorted 64-bit digests, 8 bytes per ID, so that a run of
millions of rows can be matched with millions of documents in seconds. The probability that two of
10 million IDs share a digest is 1 in 400,000.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeVar

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.quepid import replace_query_texts
from assay.number_words import format_count, format_part
from pooling.models import Collection
from pooling.platform.jobs import Refused

MAX_SHOWN = 5
"""Maximum number of IDs named as examples in a warning."""
MAX_QUERIES_SHOWN = 20
"""Maximum number of query texts named in a warning."""


def digest_id(docno: bytes) -> int:
    return int.from_bytes(blake2b(docno, digest_size=8).digest(), "little")


def load_document_digests(collection: Collection) -> list[NDArray[np.uint64]]:
    """Load the sorted ID digests of each document file."""
    return [
        np.load(file.ids.path, mmap_mode="r", allow_pickle=False)
        for file in collection.document_files.exclude(ids="")
    ]


def count_documents(collection: Collection) -> int | None:
    """Return the size of the collection as given by its manager, or the number of distinct
    documents in its files, or None if it has none."""
    if collection.n_documents:
        return collection.n_documents
    files = list(collection.document_files.values_list("n_documents", flat=True))
    if len(files) <= 1:
        return files[0] if files else None
    return len(np.unique(np.concatenate(load_document_digests(collection))))


def find_unmatched_documents(
    ids: NDArray[np.bytes_], known: list[NDArray[np.uint64]]
) -> NDArray[np.bytes_]:
    """Return the document IDs that no document file of the collection contains."""
    digests = np.fromiter((digest_id(one) for one in ids.tolist()), np.uint64, len(ids))
    is_known = np.zeros(len(ids), bool)
    for digest_list in known:
        if len(digest_list):
            places = np.minimum(np.searchsorted(digest_list, digests), len(digest_list) - 1)
            is_known |= digest_list[places] == digests
    return ids[~is_known]


def list_top_documents(run: RunColumns, depth: int) -> NDArray[np.bytes_]:
    """Return the distinct documents at the run's first `depth` ranks."""
    ranks = np.arange(len(run)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    return np.unique(run.documents[ranks < depth])


def check_ids(
    rows: RunColumns | QrelsColumns,
    collection: Collection,
    *,
    documents: NDArray[np.bytes_],
    what: str,
    coming: Iterable[str] = (),
    digests: list[NDArray[np.uint64]] | None = None,
) -> tuple[dict[str, int], list[str]]:
    """Count the topics and documents of a run or qrels that are missing from the collection.
    Returns (facts, warnings).

    documents: distinct IDs to search. what: their description. Kinds of which the collection has
    nothing yet are not checked. coming, digests: topic IDs and ID digests of documents that the
    same set imports (digests include the collection's own).
    """
    facts: dict[str, int] = {}
    warnings: list[str] = []
    known = dict.fromkeys(coming, True)
    known |= {
        topic_id: not reason
        for topic_id, reason in collection.topics.values_list("topic_id", "removed_reason")
    }
    if known:
        unknown = [topic for topic in rows.topics if topic not in known]
        removed = sum(not known[topic] for topic in rows.topics if topic in known)
        absent = sum(kept for kept in known.values()) - sum(
            known.get(topic, False) for topic in rows.topics
        )
        facts.update(
            {
                "unknown topics": len(unknown),
                "removed topics": removed,
                "topics without rows": absent,
            }
        )
        if unknown:
            verb = "is" if len(unknown) == 1 else "are"
            count = f"{len(unknown):,} of its {format_count(len(rows.topics), 'topic')}"
            warnings.append(
                f"{count} {verb} not in the collection{format_examples(unknown)}{_zero_padding_hint(unknown, known)}"
            )
    digests = load_document_digests(collection) if digests is None else digests
    if digests:
        missing = find_unmatched_documents(documents, digests)
        facts[f"{what} without text"] = len(missing)
        if len(missing):
            names = [one.decode("utf-8", "replace") for one in missing[:MAX_SHOWN].tolist()]
            are = "is" if len(missing) == 1 else "are"
            warnings.append(
                f"{len(missing):,} of {len(documents):,} {what} {are} not in any document file{format_examples(names)}"
            )
    return facts, warnings


def _zero_padding_hint(unknown_ids: Iterable[str], known_ids: Iterable[str]) -> str:
    """Return a hint if the IDs differ from the collection's only by leading zeros, otherwise an
    empty string."""
    bare = {topic.lstrip("0"): topic for topic in known_ids}
    for topic in unknown_ids:
        if same := bare.get(topic.lstrip("0")):
            return f"; IDs are compared as text, so {topic} does not match {same}: write them the same way in both files"
    return ""


Rows = TypeVar("Rows", QrelsColumns, RunColumns)


def map_query_texts(rows: Rows, collection: Collection) -> tuple[Rows, dict[str, int], list[str]]:
    """Replace query texts from a search-tuning tool by the collection's topic IDs.

    Returns (rows, facts, warnings about rows left out). Raises Refused if no query is the text of a
    topic.
    """
    texts: dict[str, str] = {}
    for text, topic_id in collection.topics.order_by("position").values_list("text", "topic_id"):
        texts.setdefault(text, topic_id)
    if not texts:
        raise Refused(_("The file identifies topics by query text. Import the topics first."))
    matched, left_out = replace_query_texts(rows, texts)
    shown = ", ".join(f"“{text[:60]}”" for text in left_out[:MAX_QUERIES_SHOWN]) + (
        ", …" if len(left_out) > MAX_QUERIES_SHOWN else ""
    )
    if not matched.topics:
        raise Refused(
            _("None of the %(n)s queries matches the text of a topic: %(queries)s.")
            % {"n": f"{len(rows.topics):,}", "queries": shown}
        )
    facts = {
        "queries matched to topics": len(matched.topics),
        "queries left out": len(left_out),
    }
    if not left_out:
        return matched, facts, []
    left, are = (
        format_part(len(left_out), len(rows.topics), "query", plural="queries"),
        "is" if len(left_out) == 1 else "are",
    )
    return (
        matched,
        facts,
        [
            f"{left} {are} left out, because they match no topic or one that is already matched: {shown}"
        ],
    )


def format_examples(names: Iterable[str]) -> str:
    shown = list(names)[:MAX_SHOWN]
    return f", such as {', '.join(shown)}" if shown else ""
