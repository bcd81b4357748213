"""Import runs into a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.management.import_commands import add_file_arguments, format_report, import_files


class Command(BaseCommand):
    help = "Import runs into a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "TREC runs, plain or compressed")
        parser.add_argument(
            "--tag", help="run tag that replaces the one in the file (single file only)"
        )
        parser.add_argument(
            "--order",
            choices=["score", "rank"],
            help="order by score (default) or by the rank column",
        )
        parser.add_argument(
            "--lenient",
            action="store_true",
            help="ignore extra columns, take runs of three or four columns, skip a header",
        )
        parser.add_argument("--group", help="team that submitted the run")
        parser.add_argument("--description", help="description of the run")
        parser.add_argument(
            "--submitted-on", metavar="YYYY-MM-DD", help="submission date, for leaderboards"
        )
        parser.add_argument(
            "--baseline", action="store_true", help="mark the run as a baseline of the organisers"
        )

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
        chosen = {
            name: options[name]
            for name in (
                "tag",
                "order",
                "lenient",
                "group",
                "description",
                "submitted_on",
                "baseline",
            )
        }
        for job in import_files(
            "run",
            files=files,
            collection=collection,
            user=user,
            inspect=inspect,
            as_named=as_named,
            options=chosen,
            stderr=self.stderr,
        ):
            self.stdout.write("\n".join(format_report(job)))
