"""Command `assay judgements export --campaign SLUG`: write every revision of every judgement."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import (
    ExportCommand,
    add_campaign_options,
    get_campaign,
    read_choices,
)
from analysis.publishing.exports import EXPORTS, ExportOptions, log_export

FORMS = {
    "raw": "judgements",
    "fira": "fira",
    "quepid-book": "quepid-book",
    "crowd-kit": "crowd-kit",
}


class Command(ExportCommand):
    help = (
        "Write the judgements of a campaign: all revisions with times and status, or only "
        "the counted judgements in the format of another tool."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument(
            "--format",
            choices=list(FORMS),
            default="raw",
            dest="form",
            help="output format (default: raw; the others contain counted judgements only)",
        )
        parser.add_argument(
            "--spreadsheet",
            action="store_true",
            help="escape cells that a spreadsheet would run as formulas (only with --format raw)",
        )

    def compute(
        self,
        *,
        campaign: str,
        form: str,
        spreadsheet: bool,
        output: str | None,
        json: bool,
        **options: Any,
    ) -> dict[str, Any]:
        campaign_row = get_campaign(campaign)
        choices = read_choices(campaign_row, options)
        export, wanted = EXPORTS[FORMS[form]], ExportOptions(choices, spreadsheet=spreadsheet)
        lines = self.hand_over(
            self.prepared_export(export.name, campaign_row, wanted), output, json=json
        )
        log_export(campaign_row, None, export, wanted)
        return {
            "campaign": campaign_row.slug,
            "format": form,
            "file": export.filename(campaign_row, choices),
            "lines": lines,
            "simulated": campaign_row.simulated,
        }
