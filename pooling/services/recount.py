"""Recompute the counts that rows of collections keep of their parts and files. Used only by `assay
verify`.

    for wrong in find_wrong_figures(): print(wrong.sentence); wrong.fix()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Count, Model

from assay.formats.documents import read_documents
from assay.formats.qrels import load_qrels
from assay.formats.runs import load_run
from assay.word_count import count_words
from pooling.models import Document, DocumentFile, Job, Pool, PoolEntry, Qrels, Run, Stratum, Upload
from pooling.platform.file_storage import file_storage
from pooling.services.documents import TextCounts
from pooling.services.pool_pairs import describe_pairs, load_stored_pairs

AT_ONCE = 500


class WrongFigure(NamedTuple):
    """A wrong count: `row` stores `stored_value` in field `name`, but the count of its rows or files
    is `recounted_value`. needs_decision: only a person can decide which is right."""

    row: Model
    name: str
    stored_value: Any
    recounted_value: Any
    needs_decision: bool = False

    @property
    def sentence(self) -> str:
        return (
            f"{self.row._meta.verbose_name} {self.row.pk} ({self.row}): {self.name} is "
            f"{_shorten(self.stored_value)}, but a recount gives {_shorten(self.recounted_value)}"
        )

    def fix(self) -> bool:
        """Correct the count. Returns whether it is correct afterwards."""
        if self.needs_decision:
            return False
        return bool(
            type(self.row)
            ._default_manager.filter(pk=self.row.pk)
            .update(**{self.name: self.recounted_value})
        )


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def find_wrong_figures() -> Iterator[WrongFigure]:
    """Yield wrong counts of pools, their strata and documents, from the database alone."""
    for pool in Pool.objects.exclude(built_at=None).order_by("pk"):
        yield from _recheck_pool(pool, _check_pool)
    yield from _check_documents()


def has_active_job(pool: Pool | None) -> bool:
    """Return whether a running job changes the pool. Its counts are updated at the end of the job."""
    return (
        pool is not None
        and Job.objects.filter(
            collection=pool.collection_id, parameters__pool=pool.pk, state__in=Job.ACTIVE
        ).exists()
    )


def _recheck_pool(pool: Pool, look: Callable[[Pool], list[WrongFigure]]) -> list[WrongFigure]:
    """Check a pool's counts again. Returns the wrong ones, or nothing if a job changed the pool in
    the meantime."""
    if has_active_job(pool):
        return []
    wrong = look(pool)
    changed = Pool.objects.filter(pk=pool.pk).values_list("extended_at", "digest").first() != (
        pool.extended_at,
        pool.digest,
    )
    return [] if wrong and (changed or has_active_job(pool)) else wrong


def _check_pool(pool: Pool) -> list[WrongFigure]:
    """Check the counts that a pool's row stores. A pool imported with a release has no runs and
    therefore neither digest nor coverage. If its file named missing runs, the digest is that of the
    file."""
    so: dict[str, Any] = {
        "n_pairs": pool.entries.count(),
        "missing_documents": pool.entries.filter(PoolEntry.LACKS_TEXT).count(),
    }
    pairs = load_stored_pairs(pool)[0] if pool.digest else None
    if pairs is not None and set(pool.coverage.get("contributed", {})) <= set(pairs.tags):
        described = describe_pairs(pairs)
        so["digest"] = described["digest"]
        if pool.depth is not None:
            so |= {name: described[name] for name in ("by_depth", "coverage")}
    differ = [
        WrongFigure(pool, name, getattr(pool, name), value, name == "digest")
        for name, value in so.items()
        if getattr(pool, name) != value
    ]
    return differ + _check_strata(pool)


def _check_strata(pool: Pool) -> list[WrongFigure]:
    """Check the number of pairs sampled by the end of each stage. Stratum sizes are never
    recounted."""
    drawn: dict[int, dict[int, int]] = {}
    rows = PoolEntry.objects.filter(
        pool=pool, stratum__isnull=False, stage__isnull=False
    ).order_by()
    for number, stage, n in rows.values_list("stratum", "stage").annotate(n=Count("pk")):
        drawn.setdefault(number, {})[stage] = n
    differ = []
    for one in Stratum.objects.filter(pool=pool):
        so = [
            sum(n for stage, n in drawn.get(one.number, {}).items() if stage <= last)
            for last in range(1, len(one.drawn) + 1)
        ]
        if so != one.drawn:
            differ.append(WrongFigure(one, "drawn", one.drawn, so, needs_decision=True))
    return differ


def _check_documents() -> Iterator[WrongFigure]:
    for document in (
        Document.objects.order_by("pk")
        .only("docno", "text", "n_words")
        .iterator(chunk_size=AT_ONCE)
    ):
        if document.n_words != (n := count_words(document.text)):
            yield WrongFigure(document, "n_words", document.n_words, n)


def find_wrong_file_figures(row: Any, field: str) -> list[WrongFigure]:
    """Compare the values stored in a row with those recomputed from its file, and return the wrong
    ones. The file must exist and be unchanged. Raises FormatError, ValueError, EOFError or OSError
    if it cannot be read."""
    so = _compute_file_figures(row, field)
    stays = isinstance(row, Upload) or field == "ids"
    return [
        WrongFigure(row, name, getattr(row, name), value, stays)
        for name, value in so.items()
        if getattr(row, name) != value
    ]


def _compute_file_figures(row: Any, field: str) -> dict[str, Any]:
    name = getattr(row, field).name
    if isinstance(row, Run):
        run = load_run(file_storage.path(name))
        return {
            "n_rows": len(run),
            "n_topics": len(run.topics),
            "max_depth": int(np.diff(run.offsets).max(initial=0)),
        }
    if isinstance(row, Qrels):
        qrels = load_qrels(file_storage.path(name))
        values, counts = np.unique(qrels.grades, return_counts=True)
        grades = {
            str(value): int(n) for value, n in zip(values.tolist(), counts.tolist(), strict=True)
        }
        return {"n_rows": len(qrels), "n_topics": len(qrels.topics), "grades": grades}
    if isinstance(row, DocumentFile) and field == "ids":
        digests = np.load(file_storage.path(name), mmap_mode="r", allow_pickle=False)
        if digests.dtype != np.uint64 or bool((digests[1:] < digests[:-1]).any()):
            raise ValueError("digests are not sorted")
        return {"n_documents": len(digests)}
    if isinstance(row, DocumentFile):
        texts = TextCounts()
        for document in read_documents(
            file_storage.path(name), name=row.name, max_bytes=settings.MAX_UNPACKED_BYTES
        ):
            texts.add(document)
        figures = asdict(texts)
        if row.ids:
            del figures["n_documents"]  # these are stored in the file of its IDs
        return {"n_bytes": file_storage.size(name)} | figures
    if isinstance(row, Upload):
        return {"n_bytes": file_storage.size(name)}
    return {}
