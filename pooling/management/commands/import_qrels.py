"""Import qrels into a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.import_commands import add_file_arguments, format_report, import_files


class Command(BaseCommand):
    help = "Import qrels into a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "TREC qrels or BEIR TSV, plain or compressed")
        parser.add_argument("--name", help="name of the qrels (default: the file name)")
        parser.add_argument(
            "--kind",
            choices=["judged", "clicks"],
            help="source of the labels: judgements (default) or clicks",
        )
        parser.add_argument("--lenient", action="store_true", help="ignore extra columns")

    def handle(
        self,
        *,
        files: list[str],
        collection: str,
        user: str | None,
        inspect: bool,
        as_named: bool,
        **options: Any,
    ) -> None:
        chosen = {name: options[name] for name in ("name", "kind", "lenient")}
        for job in import_files(
            "qrels",
            files=files,
            collection=collection,
            user=user,
            inspect=inspect,
            as_named=as_named,
            options=chosen,
            stderr=self.stderr,
        ):
            self.stdout.write("\n".join(format_report(job)))
