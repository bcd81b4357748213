"""`assay move URL`: move the database from SQLite to PostgreSQL."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.number_words import format_count
from config import database_move


class Command(BaseCommand):
    help = (
        "Copy the SQLite database to an empty PostgreSQL database. The old database and all "
        "files are left unchanged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "url", help="address of an empty database, such as postgresql://user@host:5432/name"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            moved = database_move.move_database(options["url"], say=self.stdout.write)
        except database_move.MoveError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{format_count(moved, 'row')} moved and compared. "
            "Next: set ASSAY_DATABASE_URL to this address, run assay doctor and assay verify, and start Assay."
        )
