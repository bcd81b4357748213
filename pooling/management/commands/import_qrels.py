"""Import qrels into a collection."""

from __future__ import annotations

from django.core.management.base import CommandParser

from pooling.management.import_commands import ImportCommand, add_file_arguments


class Command(ImportCommand):
    help = "Import qrels into a collection."
    kind = "qrels"
    option_names = ("name", "kind", "lenient")

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser, "qrels files in TREC or BEIR format, plain or compressed")
        parser.add_argument(
            "--name", metavar="NAME", help="name of the qrels (default: the file name)"
        )
        parser.add_argument(
            "--kind",
            choices=["judged", "clicks"],
            help="source of the labels: judgements (default) or clicks",
        )
        parser.add_argument("--lenient", action="store_true", help="ignore extra columns")
