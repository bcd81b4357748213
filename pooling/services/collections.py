"""Collections: making, describing and deleting them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils.text import slugify
from django.utils.translation import gettext as _

from pooling import hooks
from pooling.models import Collection
from pooling.platform.jobs import MalformedRequest, Refused


def create_collection(
    *,
    name: str,
    user: Any,
    description: str = "",
    slug: str = "",
    n_documents: int | None = None,
    text_format: str = "",
) -> Collection:
    """A new collection, managed by its maker. The slug is made from the name unless given; a taken
    one gets a number."""
    if not name.strip():
        raise MalformedRequest(_("a collection needs a name"))
    wanted = slug or slugify(name)[:70] or "collection"
    for number in range(1, 1000):
        free = wanted if number == 1 else f"{wanted}-{number}"
        try:
            with transaction.atomic():
                made = Collection.objects.create(
                    slug=free,
                    name=name.strip(),
                    description=description.strip(),
                    n_documents=n_documents,
                    text_format=text_format or Collection.TextFormat.PLAIN,
                    created_by=user,
                )
                if user is not None:
                    made.managers.add(user)
                return made
        except IntegrityError:
            if slug:
                raise Refused(
                    _("a collection with the address %(slug)s already exists")
                    % {"slug": repr(slug)}
                ) from None
    raise Refused(
        _("too many collections are named %(name)s; choose another name") % {"name": repr(name)}
    )


def describe_collection(
    collection: Collection,
    *,
    name: str,
    description: str,
    n_documents: int | None,
    text_format: str = "",
) -> Collection:
    """text_format: empty, as it was."""
    collection.name, collection.description, collection.n_documents = (
        name.strip(),
        description.strip(),
        n_documents,
    )
    collection.text_format = text_format or collection.text_format
    collection.save(update_fields=["name", "description", "n_documents", "text_format"])
    return collection


def add_manager(collection: Collection, username: str) -> Any:
    """Let another person manage the collection. Refused where nobody has that user name."""
    manager = get_user_model().objects.filter(username=username.strip(), is_active=True).first()
    if manager is None:
        raise Refused(
            _("there is no account with the username %(username)s")
            % {"username": repr(username.strip())}
        )
    collection.managers.add(manager)
    return manager


def remove_manager(collection: Collection, user_id: int) -> None:
    """Take the right to manage away. The last manager stays."""
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        if not collection.managers.exclude(pk=user_id).exists():
            raise Refused(_("a collection needs at least one manager"))
        collection.managers.remove(user_id)


def delete_collection(collection: Collection) -> None:
    """Delete it with its topics, documents, runs, qrels, pools and files. Refused while a campaign
    is built on it."""
    files = list_files(collection) + [
        name for more in hooks.further_files for name in more(collection)
    ]
    try:
        with transaction.atomic():
            collection.pools.all().delete()  # entries protect their topics
            collection.delete()
            transaction.on_commit(partial(delete_files, files))
    except ProtectedError:
        raise Refused(
            _("campaigns use this collection, so it can't be deleted; delete the campaigns first")
        ) from None


def list_files(collection: Collection) -> list[str]:
    """Names in the storage of the files of its rows."""
    columns = (
        collection.uploads.values_list("file", flat=True),
        collection.document_files.values_list("file", flat=True),
        collection.document_files.values_list("ids", flat=True),
        collection.runs.values_list("columns", flat=True),
        collection.qrels.values_list("columns", flat=True),
    )
    return [name for names in columns for name in names if name]


def delete_files(names: Sequence[str]) -> None:
    for name in names:
        default_storage.delete(name)
