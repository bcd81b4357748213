"""`manage.py move URL`: from SQLite to PostgreSQL."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.counts import counted
from config import moving


class Command(BaseCommand):
    help = (
        "Copy every row of the present SQLite database into an empty PostgreSQL database. The old "
        "one and all files stay as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "url", help="postgresql://user@host:5432/name of a database without tables"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            moved = moving.move(options["url"], say=self.stdout.write)
        except moving.MoveError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{counted(moved, 'row')} moved and compared. "
            "Next: set ASSAY_DATABASE_URL to this address, manage.py doctor, manage.py verify, start."
        )
