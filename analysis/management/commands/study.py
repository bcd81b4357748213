"""Command `assay study NAME FILE.toml|--campaign SLUG|--collection SLUG|RELEASE`: write the tables
and figures of a paper to one folder."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.studies.papers import STUDY_NAMES
from assay.cli import server
from assay.cli.base import BadInput, FileCommand
from assay.number_words import format_count

if TYPE_CHECKING:
    from analysis.studies.study import Study


class Command(FileCommand):
    help = "Write the tables and figures of a paper to a folder, from files, a campaign, a collection or a release."
    writes = ()  # the output is a folder, not a file
    makes_data_file = True
    takes_processes = True

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name",
            choices=STUDY_NAMES,
            metavar="NAME",
            help=f"name of the study: {', '.join(STUDY_NAMES)}",
        )
        parser.add_argument(
            "file",
            metavar="FILE",
            nargs="?",
            help="TOML file that names the inputs, or a release (zip file or folder)",
        )
        parser.add_argument(
            "--campaign", metavar="SLUG", help="slug of a campaign in the database, instead of FILE"
        )
        parser.add_argument(
            "--collection",
            metavar="SLUG",
            help="slug of a collection in the database, with its runs, topics and imported qrels",
        )
        parser.add_argument(
            "--replace", action="store_true", help="replace an existing study in the output folder"
        )
        parser.add_argument(
            "--keys", action="store_true", help="list the keys of the TOML file and exit"
        )
        for action in parser._actions:
            if action.dest == "output":
                action.metavar, action.help = (
                    "FOLDER",
                    "output folder (default: study-NAME)",
                )
            if action.dest == "seed":
                action.default = None
                action.help = "seed that replaces the one in the TOML file (default: 0)"

    def compute(
        self,
        *,
        name: str,
        file: str | None,
        campaign: str | None,
        collection: str | None,
        replace: bool,
        keys: bool,
        output: str | None,
        seed: int | None,
        processes: int,
        **options: Any,
    ) -> dict[str, Any]:
        # Tables and charts use the modules of reports, which import models. Studies of files make
        # no queries.
        server.load_database_module().open_database()
        from analysis.studies.papers import get_study
        from analysis.studies.settings import keys_by_name

        study = get_study(name)
        if keys:
            return {
                "study": name,
                "keys": {
                    key.name: f"{key.kind}: {key.about.help}"
                    for key in keys_by_name(study).values()
                },
            }
        if (file is not None) + (campaign is not None) + (collection is not None) != 1:
            raise BadInput(
                "give exactly one of these: a TOML file, a release, --campaign SLUG, --collection SLUG"
            )
        stored = (
            ("campaign", campaign)
            if campaign is not None
            else ("collection", collection)
            if collection is not None
            else None
        )
        with tempfile.TemporaryDirectory(prefix="assay-study-") as scratch:
            return self.made(
                study,
                file,
                stored,
                Path(output or f"study-{name}"),
                Path(scratch),
                replace=replace,
                seed=seed,
                processes=processes,
            )

    def made(
        self,
        study: Study,
        file: str | None,
        stored: tuple[str, str] | None,
        target: Path,
        scratch: Path,
        *,
        replace: bool,
        seed: int | None,
        processes: int,
    ) -> dict[str, Any]:
        """Write the study to its folder. stored: ("campaign" or "collection", slug). scratch: an
        empty folder."""
        from analysis.studies.folder import refuse_target
        from analysis.studies.runner import make_folder

        refuse_target(target, replace=replace)
        path, inputs = self.inputs(study, file, stored, scratch)
        about = make_folder(
            study,
            path,
            target,
            scratch=scratch,
            inputs=inputs,
            seed=seed,
            replace=replace,
            processes=processes,
        )
        for warning in about["warnings"]:
            self.warn(warning)
        return {**about, "output": str(target)}

    def inputs(
        self, study: Study, file: str | None, stored: tuple[str, str] | None, scratch: Path
    ) -> tuple[str, Path | None]:
        """Return the TOML file and the folder of inputs to copy into the study. The folder is None
        for the user's own files."""
        from analysis.studies.folder import is_study_input
        from analysis.studies.sources import (
            write_campaign_inputs,
            write_collection_inputs,
            write_release_inputs,
        )

        folder = scratch / "inputs"
        if stored is not None:
            kind, slug = stored
            return (write_campaign_inputs if kind == "campaign" else write_collection_inputs)(
                study, slug, folder
            ), folder
        assert file is not None
        if Path(file).is_dir() or Path(file).suffix == ".zip":
            return write_release_inputs(study, file, folder), folder
        return file, Path(file).parent if is_study_input(Path(file)) else None

    def table(self, result: dict[str, Any], **options: Any) -> str:
        if "keys" in result:
            width = max(map(len, result["keys"]))
            return "\n".join(
                f"{name.ljust(width)}  {words}" for name, words in result["keys"].items()
            )
        made = [
            f"{name}: {format_count(len(part['files']), 'file')}"
            for name, part in result["parts"].items()
        ]
        left = [f"left out, {name}: {reason}" for name, reason in result["left_out"].items()]
        return "\n".join([f"{result['title']}: {result['output']}/report.html", *made, *left])
