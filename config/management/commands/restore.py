"""`assay restore FOLDER`: restore a backup into an empty installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.number_words import format_count
from config import backups


class Command(BaseCommand):
    help = (
        "Restore a backup into an empty installation, in which the database and the folder of "
        "files are configured."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", help="folder written by the command backup")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = backups.restore_backup(Path(options["folder"]))
        except backups.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"restored: the database and {format_count(made['n_files'], 'file')} of {made['made_at']}; "
            f"next: manage.py migrate"
        )
