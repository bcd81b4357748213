"""Import a whole set: topics, documents, qrels and pairs."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandParser

from assay.formats.packaged import dataset_id
from assay.formats.packaged_files import write_set
from assay.formats.sets import find_role
from pooling.management.import_commands import (
    ImportFailed,
    check_imported,
    format_report,
    get_collection,
    get_user,
    refuse_unavailable,
    run_job_here,
)
from pooling.models import Collection, Job
from pooling.platform.jobs import Refused
from pooling.services import uploads
from pooling.services.collections import create_collection, delete_collection


class Command(BaseCommand):
    help = (
        "Import a whole set: a BEIR or FiRA folder, a Quepid book, an umbrela file, a list of "
        "pairs, or a data set of ir_datasets."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "set",
            metavar="FOLDER|FILE",
            help="folder or file of the set, or irds:ID for a data set of the package ir_datasets",
        )
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--collection", metavar="SLUG", help="collection to import into")
        target.add_argument(
            "--new",
            metavar="NAME",
            help=(
                "name of a new collection for the set; if the import fails, the collection is "
                "deleted"
            ),
        )
        parser.add_argument(
            "--name", metavar="NAME", help="name of the pool made from the set's pairs"
        )
        parser.add_argument(
            "--user",
            metavar="NAME",
            help=(
                "username under which the import runs; this user becomes the manager of a new "
                "collection"
            ),
        )
        parser.add_argument(
            "--inspect", action="store_true", help="show what the set contains without importing it"
        )

    def handle(
        self, *, collection: str | None, new: str | None, user: str | None, **options: Any
    ) -> None:
        person = get_user(user)
        if collection:
            self._import_set(get_collection(collection), person, **options)
            return
        try:
            made = create_collection(name=str(new), user=person)
        except Refused as error:
            raise ImportFailed(str(error)) from None
        try:
            self._import_set(made, person, **options)
        except BaseException:
            delete_collection(made)
            raise
        if options["inspect"]:
            delete_collection(made)
        else:
            self.stdout.write(made.slug)

    def _import_set(
        self,
        target: Collection,
        person: Any,
        *,
        set: str,
        name: str | None,
        inspect: bool,
        **_: Any,
    ) -> None:
        path = Path(set)
        if identifier := dataset_id(set):
            with tempfile.TemporaryDirectory() as folder, refuse_unavailable(set):
                path = Path(folder) / identifier.replace("/", "-")
                path.mkdir()
                write_set(identifier, path)
                self._import_set(target, person, set=str(path), name=name, inspect=inspect)
            return
        try:
            if path.is_dir():
                called = f"{path.resolve().name}.tar"
                with tempfile.TemporaryFile() as packed:
                    _pack(path, packed)
                    packed.seek(0)
                    kept = uploads.store_upload(
                        target, kind="set", file=File(packed, name=called), name=called, user=person
                    )
            else:
                with open(path, "rb") as handle:
                    kept = uploads.store_upload(
                        target, kind="set", file=File(handle), name=path.name, user=person
                    )
            chosen = {"name": name} if name else {}
            job = uploads.request_import(
                kept, mode="inspect" if inspect else "import", options=chosen, user=person
            )
        except OSError as error:
            raise ImportFailed(f"{set}: {error.strerror or error}") from None
        except Refused as error:
            raise ImportFailed(f"{set}: {error}") from None
        done = check_imported(run_job_here(job, self.stderr), kept, inspect=inspect)
        self.stdout.write("\n".join(format_report(done)))
        if inspect:
            return
        for fetch in target.jobs.filter(kind="fetch documents", state=Job.State.QUEUED):
            self.stdout.write("\n".join(format_report(run_job_here(fetch, self.stderr))))


def _pack(folder: Path, out: Any) -> None:
    """Write the files of a set as a tar archive, which pages and API accept. Raises ImportFailed
    for a folder without such files."""
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and find_role(str(path.relative_to(folder))) is not None
    ]
    if not paths:
        raise ImportFailed(
            f"{folder}: not a set, expected corpus.jsonl, queries.jsonl and qrels/, or "
            f"documents.tsv, queries.tsv and judgement-pairs.tsv"
        )
    with tarfile.open(
        fileobj=out, mode="w", format=tarfile.GNU_FORMAT, dereference=True
    ) as archive:
        for path in paths:
            archive.add(path, arcname=str(path.relative_to(folder)), recursive=False)
