"""Import document files into a collection. Only documents that a pool needs become rows."""

from __future__ import annotations

from django.core.management.base import CommandParser

from pooling.management.import_commands import ImportCommand, add_file_arguments


class Command(ImportCommand):
    help = "Import document files into a collection. Texts are copied to the database when a pool needs them."
    kind = "documents"

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(
            parser,
            "document files: JSONL, BEIR corpus, TSV, TREC text or an archive of pages, plain or compressed",
        )
