"""Make a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.import_commands import Failed, user_named
from pooling.platform.jobs import Refused
from pooling.services.collections import create_collection


class Command(BaseCommand):
    help = "Make a collection; prints its address (slug), by which the other commands know it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--slug", default="", help="address; made from the name unless given")
        parser.add_argument("--description", default="")
        parser.add_argument(
            "--documents", type=int, metavar="N", help="documents in the whole collection"
        )
        parser.add_argument("--manager", metavar="NAME", help="user name of who manages it")

    def handle(
        self,
        *,
        name: str,
        slug: str,
        description: str,
        documents: int | None,
        manager: str | None,
        **_: Any,
    ) -> None:
        try:
            made = create_collection(
                name=name,
                slug=slug,
                description=description,
                n_documents=documents,
                user=user_named(manager),
            )
        except Refused as error:
            raise Failed(str(error)) from None
        self.stdout.write(made.slug)
