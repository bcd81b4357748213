"""Import topics into a collection."""

from __future__ import annotations

from django.core.management.base import CommandParser

from pooling.management.import_commands import ImportCommand, add_file_arguments


class Command(ImportCommand):
    help = "Import topics into a collection."
    kind = "topics"

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(
            parser, "topic files: TREC topics, TSV, JSONL or BEIR queries, plain or compressed"
        )
