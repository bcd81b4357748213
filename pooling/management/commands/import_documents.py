"""Import document files into a collection; only documents that a pool needs become rows."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.in_line import add_file_arguments, bring, lines


class Command(BaseCommand):
    help = "Import document files into a collection; only documents that a pool needs become rows."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "JSONL, BEIR corpus, TSV, TREC text or an archive of pages; plain or packed")

    def handle(self, *, files: list[str], collection: str, user: str | None, inspect: bool, **_: Any) -> None:
        for job in bring("documents", files=files, collection=collection, user=user, inspect=inspect, options={}, stderr=self.stderr):
            self.stdout.write("\n".join(lines(job)))
