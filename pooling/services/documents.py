"""Import documents. Uploaded files are kept and read again whenever a pool needs texts. Only pooled
documents become rows."""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.column_types import RunColumns
from assay.formats.documents import DocumentRecord, read_documents
from assay.number_words import format_count, format_part
from assay.pools.pool_kinds import PoolKind
from assay.word_count import count_words
from pooling.models import Collection, Document, DocumentFile, Pool, PoolEntry, Upload
from pooling.platform import jobs
from pooling.platform.file_storage import file_storage
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import uploads
from pooling.services.matching import (
    digest_id,
    find_unmatched_documents,
    format_examples,
    list_top_documents,
    load_document_digests,
)
from pooling.services.runs import MATCHED_DEPTH, load_rankings

LONG_WORDS = 512
"""Documents with more words count as long. Many campaigns show no more of a document."""
MAX_ID_LENGTH = 255
"""Maximum length of a document ID in the database, in characters."""


@jobs.register_job_kind("import documents")
@uploads.import_job
def import_documents(work: ClaimedJob) -> dict[str, Any]:
    """Inspect or import an uploaded document file in bounded memory. Returns the report: facts,
    warnings, stored."""
    upload = uploads.get_upload(work)
    collection = upload.collection
    digest = file_digest(upload.file.path, work)
    same = collection.document_files.filter(digest=digest).first()
    if same is not None:
        raise Refused(_("This file has already been imported as %(name)s.") % {"name": same.name})
    inspection = inspect_documents(upload, work)
    digests, facts, warnings = inspection.digests, inspection.facts, inspection.warnings
    known = load_document_digests(collection)
    again = sum(int(np.isin(digests, other).sum()) for other in known)
    hold = []
    if again:
        hold.append(
            f"{again:,} of its documents are already in an earlier file; the earlier text is used"
        )
    matched, more = _match_runs(collection, known, digests, work)
    if matched and not matched["found in this file"]:
        hold += more
    report: dict[str, Any] = {
        "file": upload.name,
        "facts": facts | matched,
        "warnings": warnings + hold + [one for one in more if one not in hold],
    }
    if not uploads.can_proceed(work, report, hold=hold):
        return report
    work.progress(len(digests), message="storing", now=True)
    name = store_id_digests(digests)
    try:
        with work.completion_transaction() as final:
            row = inspection.row(
                collection,
                name=upload.name,
                file=upload.file.name,
                ids=name,
                digest=digest,
                warnings=report["warnings"],
            )
            row.save(force_insert=True)
            uploads.delete_upload(upload, keep_file=True)
            queue_text_fetching(collection, work)
            final.update(report, documents=row.pk, digest=digest)
    except IntegrityError:
        file_storage.delete(name)
        raise Refused(
            _("Another user has just imported %(upload)s. Reload the page to see it.")
            % {"upload": upload.name}
        ) from None
    except BaseException:
        file_storage.delete(name)
        raise
    return final


@dataclass
class TextCounts:
    """Counts over the documents added from a file. n_empty: with neither title nor text. n_long:
    with more than LONG_WORDS words."""

    n_documents: int = 0
    n_empty: int = 0
    n_long: int = 0
    n_words: int = 0

    def add(self, document: DocumentRecord) -> bool:
        """Add a document to the counts. Returns whether it is empty."""
        words = count_words(document.text)
        is_empty = not words and not document.title.strip()
        self.n_documents += 1
        self.n_words += words
        self.n_long += words > LONG_WORDS
        self.n_empty += is_empty
        return is_empty


@dataclass(frozen=True)
class InspectionResult:
    """The result of reading a document file once. digests: uint64 (n), of its IDs, sorted."""

    digests: NDArray[np.uint64]
    n_bytes: int
    counts: TextCounts
    facts: dict[str, Any]
    warnings: list[str]

    def row(
        self,
        collection: Collection,
        *,
        name: str,
        file: str,
        ids: str,
        digest: str,
        warnings: list[str],
    ) -> DocumentFile:
        """Return the collection's unsaved row of the file. file, ids: names in the storage."""
        return DocumentFile(
            collection=collection,
            name=name,
            file=file,
            ids=ids,
            format=name.rsplit(".", 1)[-1][:20],
            digest=digest,
            n_bytes=self.n_bytes,
            **asdict(self.counts),
            warnings=warnings,
        )


def inspect_documents(source: Upload | uploads.UnpackedPart, work: ClaimedJob) -> InspectionResult:
    """Read a document file once, in bounded memory."""
    ids, counts = array("Q"), TextCounts()
    empty: list[str] = []
    with uploads.open_upload(source, work, archives=True, counts_rows=False) as feed:
        for document in read_documents(
            feed, name=source.name, max_bytes=settings.MAX_UNPACKED_BYTES
        ):
            ids.append(digest_id(document.document.encode("utf-8")))
            if counts.add(document) and len(empty) < 5:
                empty.append(document.document)
            work.progress(len(ids))
    facts: dict[str, Any] = {
        "documents": len(ids),
        "words per document": round(counts.n_words / len(ids), 1),
        f"longer than {LONG_WORDS} words": f"{counts.n_long:,} ({100 * counts.n_long / len(ids):.1f}%)",
        "without text": counts.n_empty,
    }
    warnings = (
        [
            f"{format_count(counts.n_empty, 'document', 'has', 'have')} neither title nor text{format_examples(empty)}"
        ]
        if empty
        else []
    )
    path = source.path if isinstance(source, uploads.UnpackedPart) else source.file.path
    return InspectionResult(
        np.sort(np.frombuffer(ids, np.uint64)), Path(path).stat().st_size, counts, facts, warnings
    )


def store_id_digests(digests: NDArray[np.uint64]) -> str:
    """Store the sorted ID digests of a document file. Returns the name in the storage."""
    name = new_file_name(".ids.npy")
    np.save(file_storage.place(name), digests, allow_pickle=False)
    file_storage.keep(name)
    return name


def new_file_name(ending: str) -> str:
    """Return an unused name for a stored document file."""
    return file_storage.generate_filename(
        timezone.now().strftime(f"documents/%Y/%m/{uuid.uuid4().hex}{ending}")
    )


def queue_text_fetching(collection: Collection, work: ClaimedJob) -> None:
    """Queue the jobs that search the texts missing in the collection's pools."""
    for pool in collection.pools.filter(missing_documents__gt=0).exclude(built_at=None):
        label = f"Fetch texts for the pool {pool.name}"
        jobs.enqueue(
            "fetch documents",
            {"pool": pool.pk},
            label=label,
            user=work.job.created_by,
            collection=collection,
        )


def _match_runs(
    collection: Collection, known: list[Any], digests: Any, work: ClaimedJob
) -> tuple[dict[str, int], list[str]]:
    """Report how much of the runs' top ranks has a text now. Returns (facts, warnings)."""
    tops = []
    for run in collection.runs.all():
        work.progress(message=f"comparing with {run.tag}", now=True)
        rankings: RunColumns = load_rankings(run)
        tops.append(list_top_documents(rankings, MATCHED_DEPTH))
    if not tops:
        return {}, []
    needed = np.unique(np.concatenate(tops))
    missing = find_unmatched_documents(needed, [*known, digests])
    here = len(needed) - len(find_unmatched_documents(needed, [digests]))
    facts = {
        f"documents in the runs' top {MATCHED_DEPTH}": len(needed),
        "found in this file": here,
        "still without text": len(missing),
    }
    if not len(missing):
        return facts, []
    names = [one.decode("utf-8", "replace") for one in missing[:5].tolist()]
    are = "is" if len(missing) == 1 else "are"
    return facts, [
        (
            f"{format_part(len(missing), len(needed), 'document')} in the runs' top {MATCHED_DEPTH} {are} "
            f"not in any document file{format_examples(names)}"
        )
    ]


def file_digest(path: str, work: ClaimedJob) -> str:
    total = sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
            work.progress(message="computing the checksum")
    work.progress(message="", now=True)
    return total.hexdigest()


def store_documents(work: ClaimedJob, collection: Collection, docnos: set[str]) -> int:
    """Store the texts of these documents that files contain and the database lacks. Each file is
    read at most once. Returns the number stored."""
    wanted = docnos - find_stored_docnos(collection, docnos)
    if not wanted:
        return 0
    stored = 0
    for file in collection.document_files.all():
        names = (
            np.array(sorted(one.encode("utf-8") for one in wanted)) if wanted else np.empty(0, "S8")
        )
        index = [np.load(file.ids.path, mmap_mode="r", allow_pickle=False)] if file.ids else []
        n_expected = (
            len(names) - len(find_unmatched_documents(names, index)) if index else len(names)
        )
        if not n_expected:
            continue
        work.progress(0, total=n_expected, message=f"reading texts from {file.name}", now=True)
        docnos_read: set[str] = set()

        def rows(
            file: DocumentFile = file,
            n_expected: int = n_expected,
            docnos_read: set[str] = docnos_read,
            wanted: set[str] = wanted,
        ) -> Iterator[Document]:
            with uploads.open_upload(file, work, archives=True, counts_rows=False) as feed:
                for document in read_documents(
                    feed, name=file.name, max_bytes=settings.MAX_UNPACKED_BYTES
                ):
                    work.progress()
                    if document.document in wanted and document.document not in docnos_read:
                        docnos_read.add(document.document)
                        yield make_document(collection, document)
                        if len(docnos_read) == n_expected:
                            return

        stored += work.write_in_batches(
            rows(),
            lambda batch: Document.objects.bulk_create(batch, ignore_conflicts=True),
            counts_progress=True,
        )
        wanted -= docnos_read
    return stored


def make_document(collection: Collection, document: DocumentRecord) -> Document:
    """Return a document to store, without NUL characters, which JSON can contain and databases
    refuse."""
    text = document.text.replace("\0", "")
    fields = {
        key.replace("\0", ""): value.replace("\0", "") for key, value in document.fields.items()
    }
    return Document(
        collection=collection,
        docno=document.document,
        title=document.title.replace("\0", ""),
        text=text,
        fields=fields,
        n_words=count_words(text),
    )


def find_stored_docnos(collection: Collection, docnos: set[str]) -> set[str]:
    """Return the IDs in `docnos` whose text is stored."""
    names = sorted(docnos)
    stored: set[str] = set()
    for begin in range(0, len(names), 500):
        some = names[begin : begin + 500]
        stored.update(
            Document.objects.filter(collection=collection, docno__in=some).values_list(
                "docno", flat=True
            )
        )
    return stored


def link_documents(work: ClaimedJob, pool: Pool) -> None:
    """Link the pool's entries to the stored texts."""
    stored = Document.objects.filter(collection=pool.collection_id)
    texts = {
        "document": Subquery(stored.filter(docno=OuterRef("docno")).values("pk")[:1]),
        "other_document": Subquery(stored.filter(docno=OuterRef("other_docno")).values("pk")[:1]),
    }
    if pool.kind != PoolKind.BATTLES:
        del texts["other_document"]
    lacking = pool.entries.filter(PoolEntry.LACKS_TEXT)
    waiting = list(lacking.order_by("pk").values_list("pk", flat=True))
    work.progress(0, total=len(waiting), message="linking texts", now=True)
    work.write_in_batches(
        waiting,
        lambda some: PoolEntry.objects.filter(pk__in=some).update(**texts),
        counts_progress=True,
    )


def delete_document_file(file: DocumentFile) -> None:
    """Delete a document file. Raises Refused while there are pools, because growing pools take
    texts from it."""
    with transaction.atomic():
        if file.collection.pools.exists():
            raise Refused(
                _(
                    "The collection's pools use texts from its document files. Delete the pools first."
                )
            )
        names = [name for name in (file.file.name, file.ids.name) if name]
        file.delete()
        transaction.on_commit(partial(_delete_files, names))


def _delete_files(names: Sequence[str]) -> None:
    for name in names:
        file_storage.delete(name)
