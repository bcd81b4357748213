"""Import document files into a collection. Only documents that a pool needs become rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from assay.formats.packaged import DatasetUnavailable, write_documents
from pooling.management.import_commands import (
    ImportCommand,
    ImportFailed,
    add_file_arguments,
    get_collection,
)


class Command(ImportCommand):
    help = "Import document files into a collection. Texts are copied to the database when a pool needs them."
    kind = "documents"

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(
            parser,
            "document files: JSONL, BEIR corpus, TSV, TREC text or an archive of pages, plain or compressed",
            at_least="*",
        )
        parser.add_argument(
            "--ir-datasets",
            metavar="ID",
            help="dataset of the package ir_datasets whose documents are imported, instead of files",
        )

    def handle(
        self, *, files: list[str], collection: str, ir_datasets: str | None = None, **options: Any
    ) -> None:
        get_collection(collection)
        if not files and not ir_datasets:
            raise ImportFailed("a document file or --ir-datasets ID is required")
        with tempfile.TemporaryDirectory() as folder:
            if ir_datasets:
                path = Path(folder) / f"{ir_datasets.replace('/', '-')}.jsonl.gz"
                try:
                    write_documents(ir_datasets, path)
                except DatasetUnavailable as error:
                    raise ImportFailed(str(error)) from error
                files = [*files, str(path)]
            super().handle(files=files, collection=collection, **options)
