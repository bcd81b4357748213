"""`assay backup FOLDER`: back up database and files, consistent with each other, while people
judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.number_words import format_count
from config import backups


class Command(BaseCommand):
    help = (
        "Make a consistent copy of the database and all files in a new folder, even during judging."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", help="new folder for the backup")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = backups.create_backup(Path(options["folder"]))
        except backups.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{options['folder']}: the database and {format_count(made['n_files'], 'file')}, "
            f"{format_count(made['n_bytes'], 'byte')}"
        )
