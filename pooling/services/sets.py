"""Import whole sets: a BEIR folder, FiRA's files, a Quepid book, an umbrela file or a list of
pairs, with topics, documents, qrels and a pool of pairs.

A set is imported completely in one transaction, or not at all. Content that the collection already
has is skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import IntegrityError
from django.utils.translation import gettext as _

from assay.column_types import QrelsColumns
from assay.formats.archives import is_tar, unpack_archive
from assay.formats.bundles import TopicNames, is_bundle, read_bundle, write_documents
from assay.formats.detect import FileKind, detect_kind
from assay.formats.errors import FormatError
from assay.formats.pool import read_pool, sort_pool
from assay.formats.qrels import read_qrels, save_qrels
from assay.formats.sets import find_role, format_settings, missing_files, read_fira_config
from assay.formats.streams import PeekableStream, strip_suffixes
from assay.formats.topics import TopicRecord, read_topics
from assay.number_words import format_count
from assay.pools.depth import PooledPairs
from pooling.models import Collection, Pool, Topic, Upload
from pooling.platform import jobs
from pooling.platform.file_storage import file_storage
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import documents, qrels, topics, uploads
from pooling.services.listed_pools import store_listed_pool
from pooling.services.matching import (
    find_unmatched_documents,
    format_examples,
    load_document_digests,
)
from pooling.services.pool_pairs import digest_pool
from pooling.services.pools import MAX_PAIRS
from pooling.services.rows import insert_rows, prepare_insert
from pooling.services.stored_columns import store_columns
from pooling.services.uploads import UnpackedPart

MIN_FREE_BYTES = 100_000_000
"""Free disk space in bytes that unpacking must leave."""
EXPECTED_FORMS = "a zip or tar archive of a BEIR folder or of FiRA's files, a Quepid book, an umbrela file or a list of pairs"


@dataclass
class SetContent:
    """The content of a set, read and checked. parts: its files under internal names, by role."""

    form: str
    topics: list[TopicRecord]
    topics_name: str
    documents: UnpackedPart | None = None
    grades: list[tuple[str, QrelsColumns]] = field(default_factory=list)
    pairs: PooledPairs | None = None
    pairs_name: str = ""
    suggested: dict[str, Any] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class StagedImport:
    """The part of a set that is new to the collection, as unsaved rows. Columns and files are
    stored after the decision to import."""

    content: SetContent
    topics: list[Topic]
    documents: documents.InspectionResult | None
    digest: str
    grades: list[tuple[str, QrelsColumns, dict[str, int], list[str]]]
    report: dict[str, Any]
    hold: list[str]


@jobs.register_job_kind("import set")
@uploads.import_job
def import_set(work: ClaimedJob) -> dict[str, Any]:
    """Inspect or import an uploaded set. Options: name (of the pool made from its pairs). Returns
    the report: facts, warnings, notes, stored."""
    upload = uploads.get_upload(work)
    with _open_folder(upload) as folder:
        content = _read_set(upload, work, folder)
        coming = _compare_with_collection(upload, work, content)
        if not uploads.can_proceed(work, coming.report, hold=coming.hold):
            return coming.report
        return _store_set(upload, work, coming)


@contextmanager
def _open_folder(upload: Upload) -> Iterator[Path]:
    """Open an empty folder for the upload's files, without remains of an earlier attempt."""
    folder = Path(f"{upload.file.path}.parts")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_set(upload: Upload, work: ClaimedJob, folder: Path) -> SetContent:
    with open(upload.file.path, "rb") as file:
        zipped = file.read(4) == b"PK\x03\x04"
    head = (
        b""
        if zipped
        else PeekableStream(
            upload.file.path, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES
        ).head
    )
    if zipped or is_tar(head):
        return _read_files(upload, work, folder)
    if (
        not is_bundle(head)
        and detect_kind(upload.file.path, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES)
        is FileKind.POOL
    ):
        return _read_list(upload, work)
    if not is_bundle(head):
        raise FormatError.single(
            upload.name,
            1,
            "unknown set format",
            EXPECTED_FORMS,
            head[:200].split(b"\n")[0].decode("utf-8", "replace"),
        )
    return _read_bundle(upload, work, folder)


def _read_files(upload: Upload, work: ClaimedJob, folder: Path) -> SetContent:
    """Read a set of several files: unpack those that a set has, then read each by its role."""
    parts: dict[str, list[UnpackedPart]] = {}
    forms: dict[str, list[str]] = {}
    passed_over: list[str] = []

    def place(path: str) -> Path | None:
        role = find_role(path)
        if role is None:
            shown = uploads.safe_name(path)
            if not shown.startswith(".") and len(passed_over) < 1000:
                passed_over.append(shown)
            return None
        forms.setdefault(role.form, []).append(role.name)
        same = parts.setdefault(role.role, [])
        if len(forms) == 1 and same and (role.role != "qrels" or len(same) >= 1000):
            raise FormatError.single(
                upload.name,
                None,
                f"duplicate {role.name}",
                "a single set with one file of each type",
            )
        same.append(UnpackedPart(str(folder / f"{role.role}-{len(same)}"), role.name))
        return Path(same[-1].path)

    def written(n_bytes: int) -> None:
        work.progress(n_bytes=n_bytes, message="unpacking")
        if shutil.disk_usage(folder).free < MIN_FREE_BYTES:
            raise Refused(
                _(
                    "The server does not have enough disk space to unpack this set. Ask an administrator."
                )
            )

    unpack_archive(
        Path(upload.file.path),
        upload.name,
        place=place,
        max_bytes=settings.MAX_UNPACKED_BYTES,
        written=written,
    )
    if len(forms) != 1:
        names_said = (
            ", ".join(name for names in forms.values() for name in names[:3])
            or ", ".join(passed_over[:5])
            or "no files"
        )
        raise FormatError.single(
            upload.name, None, f"these files do not form one set: {names_said}", EXPECTED_FORMS
        )
    form = next(iter(forms))
    if absent := missing_files(form, parts):
        raise FormatError.single(
            upload.name, None, f"a {form} without {' and '.join(absent)}", "all required files"
        )
    bound = {"max_bytes": settings.MAX_UNPACKED_BYTES}
    with uploads.open_upload(parts["topics"][0], work, counts_rows=False) as feed:
        content = SetContent(
            form, read_topics(feed, name=parts["topics"][0].name, **bound), parts["topics"][0].name
        )
    content.passed_over = passed_over
    content.documents = next(iter(parts.get("documents", [])), None)
    for part in sorted(parts.get("qrels", []), key=lambda part: part.name):
        with uploads.open_upload(part, work) as feed:
            content.grades.append(
                (part.name, read_qrels(feed, name=strip_suffixes(part.name)[:200]))
            )
    for part in parts.get("settings", []):
        content.suggested, unused = read_fira_config(part.path, name=part.name, **bound)
        content.warnings += (
            [f"settings of {part.name} that Assay does not have are ignored: {', '.join(unused)}"]
            if unused
            else []
        )
    for part in parts.get("pairs", []):
        known = {topic.topic for topic in content.topics} | set(
            upload.collection.topics.values_list("topic_id", flat=True)
        )
        with uploads.open_upload(part, work, counts_rows=False) as feed:
            content.pairs = sort_pool(
                read_pool(
                    feed,
                    name=part.name,
                    topics=known,
                    whose=f"{content.topics_name} or the collection",
                    **bound,
                )
            )
        content.pairs_name = part.name
    return content


def _read_list(upload: Upload, work: ClaimedJob) -> SetContent:
    """Read a list of pairs of the collection's topics in judging order, for example the unjudged
    documents of a new run."""
    known = set(upload.collection.topics.values_list("topic_id", flat=True))
    with uploads.open_upload(upload, work, counts_rows=False) as feed:
        pairs = read_pool(
            feed,
            name=upload.name,
            topics=known,
            whose="the collection",
            max_bytes=settings.MAX_UNPACKED_BYTES,
        )
    return SetContent(
        "list of pairs", [], upload.name, pairs=sort_pool(pairs), pairs_name=upload.name
    )


def _read_bundle(upload: Upload, work: ClaimedJob, folder: Path) -> SetContent:
    """Read a set that is a single file."""
    known = list(upload.collection.topics.values_list("text", "topic_id"))
    names = TopicNames(dict(reversed(known)), {topic_id for _, topic_id in known})
    with uploads.open_upload(upload, work, counts_rows=False) as feed:
        bundle = read_bundle(feed, names, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES)
    content = SetContent(
        bundle.form,
        bundle.topics,
        upload.name,
        pairs=sort_pool(bundle.pairs),
        pairs_name=upload.name,
        warnings=bundle.warnings,
    )
    if bundle.documents:
        content.documents = UnpackedPart(
            str(folder / "documents"), f"{_set_name(upload)}.documents.jsonl"
        )
        with open(content.documents.path, "w", encoding="utf-8", newline="\n") as out:
            write_documents(bundle, out)
    if bundle.grades is not None:
        name = (bundle.name or _set_name(upload))[:200]
        content.grades = [(upload.name, replace(bundle.grades, name=name))]
    return content


def _compare_with_collection(upload: Upload, work: ClaimedJob, content: SetContent) -> StagedImport:
    """Compare the content with the collection. Raises Refused if nothing is new."""
    collection = upload.collection
    rows, facts, warnings, hold = _make_new_topics(collection, content)
    facts = {"form": content.form, **facts}
    inspection, digest = None, ""
    digests = load_document_digests(collection)
    if content.documents is not None:
        digest = documents.file_digest(content.documents.path, work)
        same_file = collection.document_files.filter(digest=digest).first()
        if same_file is not None:
            warnings.append(
                f"the documents of {content.documents.name} have already been imported as {same_file.name}"
            )
        else:
            inspection = documents.inspect_documents(content.documents, work)
            again = sum(int(np.isin(inspection.digests, other).sum()) for other in digests)
            digests = [*digests, inspection.digests]
            facts |= inspection.facts
            warnings += [
                f"in {content.documents.name}: {warning}" for warning in inspection.warnings
            ]
            if again:
                hold.append(
                    f"{format_count(again, 'document', 'is', 'are')} already in an earlier file; the earlier text is used"
                )
    grades, notes = [], []
    for name, one in content.grades:
        histogram, matched, more = qrels.describe_grades(
            one, collection, coming=[topic.topic for topic in content.topics], digests=digests
        )
        held = [f"in {name}: {warning}" for warning in more]
        facts[f"qrels {one.name}"] = len(one)
        facts |= {
            f"{one.name}: {what}": n
            for what, n in matched.items()
            if n and what != "topics without rows"
        }
        taken = collection.qrels.filter(name=one.name).first()
        if taken is not None and taken.n_rows == len(one) and taken.grades == histogram:
            warnings.append(
                f"qrels {one.name} already exist with the same number of pairs per grade and are not changed"
            )
            continue
        if taken is not None:
            says = _(
                "Other qrels named %(name)s already exist (from %(source_name)s). Delete them first."
            )
            raise Refused(says % {"name": one.name, "source_name": taken.source_name})
        grades.append((name, one, histogram, [*one.warnings, *more]))
        warnings += [f"in {name}: {warning}" for warning in one.warnings]
        notes += [f"in {name}: {note}" for note in one.notes]
        hold += held
    if content.pairs is not None:
        more_facts, held = _describe_pairs(collection, content, digests)
        facts |= more_facts
        hold += held
    if content.suggested:
        facts["settings for a campaign"] = format_settings(content.suggested)
    if content.passed_over:
        n, shown = len(content.passed_over), format_examples(sorted(content.passed_over))
        warnings.append(
            f"{n:,} file{'s' if n > 1 else ''} of the archive {'are' if n > 1 else 'is'} not part "
            f"of the set and left out{shown}"
        )
    report = {
        "file": upload.name,
        "facts": facts,
        "warnings": [*content.warnings, *warnings, *hold],
        "notes": notes,
    }
    coming = StagedImport(content, rows, inspection, digest, grades, report, hold)
    if (
        not rows
        and inspection is None
        and not grades
        and (content.pairs is None or _has_same_pool(collection, content.pairs))
    ):
        raise Refused(
            _("Everything in %(upload)s has already been imported.") % {"upload": upload.name}
        )
    return coming


def _make_new_topics(
    collection: Collection, content: SetContent
) -> tuple[list[Topic], dict[str, Any], list[str], list[str]]:
    """Make unsaved rows of the set's new topics. Returns (rows, facts, warnings, reasons to ask the
    user)."""
    text_of = dict(collection.topics.values_list("topic_id", "text"))
    new = [
        topic
        for topic in content.topics
        if text_of.get(topic.topic) != topic.text.replace("\0", "")
    ]
    facts: dict[str, Any] = {"topics": len(content.topics)}
    if len(new) < len(content.topics):
        facts["existing topics"] = len(content.topics) - len(new)
    if not new:
        return [], facts, [], []
    topics.check_new_topics(collection, new, content.topics_name)
    rows, more = topics.make_topic_rows(collection, new)
    return (
        rows,
        {**more, **facts},
        [],
        [
            f"in {content.topics_name}: {warning}"
            for warning in topics.runs_without_topics_warning(collection, new)
        ],
    )


def _describe_pairs(
    collection: Collection, content: SetContent, digests: list[Any]
) -> tuple[dict[str, Any], list[str]]:
    """Describe the set's pairs for the report. Returns (facts, reasons to ask the user)."""
    pairs = content.pairs
    assert pairs is not None
    if len(pairs) > MAX_PAIRS:
        raise Refused(_("%(n)s pairs exceed the maximum pool size.") % {"n": f"{len(pairs):,}"})
    long = next(
        (
            one.decode("utf-8")
            for one in pairs.documents.tolist()
            if len(one.decode("utf-8")) > documents.MAX_ID_LENGTH
        ),
        None,
    )
    if long is not None:
        says = _("A document ID in %(pairs_name)s has more than %(most)s characters: %(document)s…")
        raise Refused(
            says
            % {
                "pairs_name": content.pairs_name,
                "most": documents.MAX_ID_LENGTH,
                "document": long[:60],
            }
        )
    facts: dict[str, Any] = {
        "pairs": len(pairs),
        "calibration pairs": int(pairs.everyone.sum()),
        "topics of pairs": len(pairs.topics),
    }
    without = find_unmatched_documents(np.unique(pairs.documents), digests)
    facts["documents of pairs without text"] = len(without)
    if not len(without):
        return facts, []
    names = [one.decode("utf-8", "replace") for one in islice(without.tolist(), 5)]
    return facts, [
        (
            f"in {content.pairs_name}: {format_count(len(without), 'document', 'is', 'are')} not in any "
            f"document file; their pairs wait for the texts{format_examples(names)}"
        )
    ]


def _has_same_pool(collection: Collection, pairs: PooledPairs) -> bool:
    return collection.pools.exclude(source="").filter(digest=digest_pool(pairs)).exists()


def _store_set(upload: Upload, work: ClaimedJob, coming: StagedImport) -> dict[str, Any]:
    """Write the columns and files, then all rows in one transaction. A failure leaves nothing
    behind."""
    collection, content = upload.collection, coming.content
    work.progress(message="storing", now=True)
    written: list[str] = []
    file_row = None
    try:
        if coming.documents is not None and content.documents is not None:
            name, ids = (
                documents.new_file_name(_file_suffix(content.documents.name)),
                documents.store_id_digests(coming.documents.digests),
            )
            written += [name, ids]
            Path(content.documents.path).replace(file_storage.place(name))
            file_storage.keep(name)
            warnings = coming.documents.warnings
            file_row = coming.documents.row(
                collection,
                name=content.documents.name,
                file=name,
                ids=ids,
                digest=coming.digest,
                warnings=warnings,
            )
        qrels_rows = []
        for source, grades, histogram, warnings in coming.grades:
            stored, digest = store_columns("qrels", partial(save_qrels, grades))
            written.append(stored)
            qrels_rows.append(
                qrels.make_qrels_row(
                    collection,
                    grades,
                    file=source,
                    columns=stored,
                    digest=digest,
                    grades=histogram,
                    warnings=warnings,
                )
            )
        new_topics = prepare_insert(coming.topics)
        with work.completion_transaction() as final:
            insert_rows(new_topics)
            for row in [*filter(None, [file_row]), *qrels_rows]:
                row.save(force_insert=True)
            pool = _store_pool(upload, work, content)
            uploads.delete_upload(upload, keep_file=False)
            documents.queue_text_fetching(collection, work)
            final.update(coming.report, pool=pool.pk if pool else None)
    except IntegrityError:
        _delete_files(written)
        raise Refused(
            _(
                "Another user has just imported some of the content of %(upload)s. Reload the "
                "page to see what is still missing."
            )
            % {"upload": upload.name}
        ) from None
    except BaseException:
        _delete_files(written)
        raise
    return final


def _store_pool(upload: Upload, work: ClaimedJob, content: SetContent) -> Pool | None:
    """Store the set's pairs as a separate pool in their order. A job fetches the texts."""
    collection, pairs = upload.collection, content.pairs
    if pairs is None or _has_same_pool(collection, pairs):
        return None
    called = str(work.parameters["options"].get("name") or f"Pairs of {_set_name(upload)}")
    source = (
        f"{upload.name}: {content.pairs_name}" if content.pairs_name != upload.name else upload.name
    )
    return store_listed_pool(
        collection,
        pairs,
        name=called,
        source=source,
        suggested=content.suggested,
        user=work.job.created_by,
    )


def _set_name(upload: Upload) -> str:
    """Return the set's name: its file name without suffixes of compression."""
    name = strip_suffixes(upload.name)
    for suffix in (".tgz", ".tar", ".zip"):
        name = name.removesuffix(suffix) if name != suffix else name
    return name


def _file_suffix(name: str) -> str:
    return "".join(
        suffix for suffix in Path(name.lower()).suffixes[-2:] if suffix in uploads.SUFFIXES
    )


def _delete_files(names: list[str]) -> None:
    for name in names:
        file_storage.delete(name)
