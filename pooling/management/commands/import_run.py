"""Import runs into a collection."""

from __future__ import annotations

from django.core.management.base import CommandParser

from pooling.management.import_commands import ImportCommand, add_file_arguments


class Command(ImportCommand):
    help = "Import runs into a collection."
    kind = "run"
    option_names = (
        "tag",
        "order",
        "lenient",
        "group",
        "description",
        "submitted_on",
        "baseline",
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "run files in TREC format, plain or compressed")
        parser.add_argument(
            "--tag", help="run tag that replaces the one in the file (only for a single file)"
        )
        parser.add_argument(
            "--sort-by",
            dest="order",
            choices=["score", "rank"],
            help="order of documents: score (default) or rank, the rank column",
        )
        parser.add_argument(
            "--lenient",
            action="store_true",
            help="ignore extra columns and a header, and accept runs of three or four columns",
        )
        parser.add_argument("--group", help="group that submitted the run")
        parser.add_argument("--description", help="description of the run")
        parser.add_argument(
            "--submitted-on", metavar="YYYY-MM-DD", help="submission date, for leaderboards"
        )
        parser.add_argument(
            "--baseline", action="store_true", help="mark the run as a baseline of the organisers"
        )
