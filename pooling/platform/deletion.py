"""Preview what is deleted with an object of a collection: rows by kind, reasons against it, and how
to recover.

One mechanism serves all kinds. It reads what the database would delete from the relations of the
models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import CASCADE, PROTECT
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from assay.number_words import format_count
from pooling.models import Collection

RECOVERY_HINTS = {
    "collection": gettext_lazy(
        "You can restore it only from your own copies of the collection description and the "
        "uploaded files."
    ),
    "topics": gettext_lazy(
        "To restore them, upload the topic file again. You will have to repeat the topic check."
    ),
    "run": gettext_lazy(
        "To restore it, upload the run file again. You have to re-enter its description and group."
    ),
    "qrels": gettext_lazy(
        "To restore it, upload the file again. Finished reports keep their results."
    ),
    "documents": gettext_lazy(
        "To restore it, upload the file again. Texts already copied into pools are kept."
    ),
    "pool": gettext_lazy("You can build the same pool again with the same runs, depth and seed."),
}
"""Kind -> how to recover a deleted object."""


@dataclass(frozen=True)
class RemovalPreview:
    """A preview of a deletion. goes: numbers of rows that are deleted too ("120 pairs"). refused:
    why the object cannot be deleted now, or empty."""

    kind: str
    title: str
    goes: list[str]
    refused: list[str]
    back: str


def preview_removal(collection: Collection, kind: str, pk: int | None) -> RemovalPreview | None:
    """Preview the deletion of an object. Returns None if the object does not exist."""
    if kind == "topics":
        rows: Any = collection.topics.all()
        pools = collection.pools.count()
        says = ngettext(
            "%(n)s pool would lose its pairs. Delete the pool first.",
            "%(n)s pools would lose their pairs. Delete the pools first.",
            pools,
        )
        refused = [says % {"n": f"{pools:,}"}] if pools else []
        return RemovalPreview(
            kind, f"all {rows.count():,} topics", [], refused, str(RECOVERY_HINTS[kind])
        )
    if kind == "collection":
        return _make_preview(kind, collection, collection.name)
    rows = {
        "run": collection.runs,
        "qrels": collection.qrels,
        "documents": collection.document_files,
        "pool": collection.pools,
    }.get(kind)
    thing = rows.filter(pk=pk).first() if rows is not None and pk is not None else None
    if thing is None:
        return None
    name = thing.tag if kind == "run" else thing.name
    return _make_preview(
        kind, thing, f"{'the document file' if kind == 'documents' else 'the ' + kind} {name}"
    )


def count_dependent_rows(thing: Any) -> list[str]:
    """Return the numbers of rows ("120 pairs") that the database deletes with this one."""
    return [
        words
        for relation, _, words in _iterate_related(thing)
        if not relation.many_to_many and relation.on_delete is CASCADE
    ]


def _iterate_related(thing: Any) -> Iterator[tuple[Any, int, str]]:
    """Yield (relation, number of rows, text) of objects that refer to this row, without empty
    relations."""
    for relation in thing._meta.related_objects:
        name = relation.get_accessor_name()
        n = (
            getattr(thing, name).count()
            if name and hasattr(thing, name) and not relation.one_to_one
            else 0
        )
        if n:
            yield relation, n, _format_count(n, relation.related_model._meta)


def _make_preview(kind: str, thing: Any, title: str) -> RemovalPreview:
    refused = []
    for relation, n, words in _iterate_related(thing):
        if relation.many_to_many:
            says = ngettext(
                "%(things)s was created from it. Delete it first.",
                "%(things)s were created from it. Delete them first.",
                n,
            )
            refused.append(says % {"things": words})
        elif relation.on_delete is PROTECT:
            says = ngettext(
                "%(things)s uses it. Delete that first.",
                "%(things)s use it. Delete them first.",
                n,
            )
            refused.append(says % {"things": words})
    if kind == "documents" and thing.collection.pools.exists():
        refused.append(
            _("The collection's pools use texts from its document files. Delete the pools first.")
        )
    return RemovalPreview(
        kind, title, count_dependent_rows(thing), refused, str(RECOVERY_HINTS[kind])
    )


def _format_count(n: int, meta: Any) -> str:
    if meta.object_name == "PoolEntry":
        return format_count(n, "pair")
    return f"{n:,} {meta.verbose_name if n == 1 else meta.verbose_name_plural}"
