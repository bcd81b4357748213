"""Import topics into a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.import_commands import add_file_arguments, format_report, import_files


class Command(BaseCommand):
    help = "Import topics into a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "TREC topics, TSV, JSONL or BEIR queries; plain or packed")

    def handle(
        self,
        *,
        files: list[str],
        collection: str,
        user: str | None,
        inspect: bool,
        as_named: bool,
        **_: Any,
    ) -> None:
        for job in import_files(
            "topics",
            files=files,
            collection=collection,
            user=user,
            inspect=inspect,
            as_named=as_named,
            options={},
            stderr=self.stderr,
        ):
            self.stdout.write("\n".join(format_report(job)))
