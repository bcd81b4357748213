"""`assay collection create`: create a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.import_commands import ImportFailed, get_user
from pooling.platform.jobs import Refused
from pooling.services.collections import create_collection


class Command(BaseCommand):
    help = "Create a collection and print its slug, which identifies it in other commands."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the collection")
        parser.add_argument(
            "--slug", default="", help="slug of the collection (default: derived from the name)"
        )
        parser.add_argument("--description", default="", help="description of the collection")
        parser.add_argument(
            "--n-documents",
            type=int,
            metavar="N",
            help="number of documents in the whole collection",
        )
        parser.add_argument("--manager", metavar="NAME", help="username of the manager")

    def handle(
        self,
        *,
        name: str,
        slug: str,
        description: str,
        n_documents: int | None,
        manager: str | None,
        **_: Any,
    ) -> None:
        try:
            made = create_collection(
                name=name,
                slug=slug,
                description=description,
                n_documents=n_documents,
                user=get_user(manager),
            )
        except Refused as error:
            raise ImportFailed(str(error)) from None
        self.stdout.write(made.slug)
