"""Create, describe and delete collections."""

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
    """Create a collection managed by its creator. The slug is derived from the name unless given. A
    number is added to a slug that is taken."""
    if not name.strip():
        raise MalformedRequest(_("Enter a name for the collection."))
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
                    _("A collection with the address %(slug)s already exists.")
                    % {"slug": repr(slug)}
                ) from None
    raise Refused(
        _("Too many collections are named %(name)s. Choose another name.") % {"name": repr(name)}
    )


def describe_collection(
    collection: Collection,
    *,
    name: str,
    description: str,
    n_documents: int | None,
    text_format: str = "",
) -> Collection:
    """Change the collection's name, description and number of documents. An empty text_format keeps
    the current one."""
    collection.name, collection.description, collection.n_documents = (
        name.strip(),
        description.strip(),
        n_documents,
    )
    collection.text_format = text_format or collection.text_format
    collection.save(update_fields=["name", "description", "n_documents", "text_format"])
    return collection


def add_manager(collection: Collection, username: str) -> Any:
    """Add a manager to the collection. Raises Refused for an unknown username."""
    manager = get_user_model().objects.filter(username=username.strip(), is_active=True).first()
    if manager is None:
        raise Refused(
            _("There is no account with the username %(username)s.")
            % {"username": repr(username.strip())}
        )
    collection.managers.add(manager)
    return manager


def remove_manager(collection: Collection, user_id: int) -> None:
    """Remove a manager from the collection. The last manager cannot be removed."""
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        if not collection.managers.exclude(pk=user_id).exists():
            raise Refused(_("A collection needs at least one manager."))
        collection.managers.remove(user_id)


def delete_collection(collection: Collection) -> None:
    """Delete the collection with its topics, documents, runs, qrels, pools and files. Raises
    Refused while a campaign uses it."""
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
            _("Campaigns use this collection, so it can't be deleted. Delete the campaigns first.")
        ) from None


def list_files(collection: Collection) -> list[str]:
    """Return the names in the file storage of all files of the collection."""
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
