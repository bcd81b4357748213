"""`manage.py export_judgements --campaign SLUG`: every revision of every judgement of a campaign."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import ExportCommand, add_campaign_options, campaign_named, choices_of
from analysis.publishing.exports import EXPORTS, ExportWanted

FORMS = {"raw": "judgements", "fira": "fira", "quepid-book": "quepid-book", "crowd-kit": "crowd-kit"}


class Command(ExportCommand):
    help = "Write the judgements of a campaign: every revision with times and standing, or what counts in another tool's format."

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument("--format", choices=list(FORMS), default="raw", dest="form", help="default raw; the others hold what counts")
        parser.add_argument("--spreadsheet", action="store_true", help="make cells harmless that a spreadsheet would run as formulas (raw)")

    def compute(self, *, campaign: str, form: str, spreadsheet: bool, output: str | None, json: bool, **options: Any) -> dict[str, Any]:
        campaign_row = campaign_named(campaign)
        choices = choices_of(campaign_row, options)
        lines = self.export(FORMS[form], campaign_row, ExportWanted(choices, spreadsheet=spreadsheet), output, json=json)
        return {
            "campaign": campaign_row.slug,
            "format": form,
            "file": EXPORTS[FORMS[form]].filename(campaign_row, choices),
            "lines": lines,
            "simulated": campaign_row.simulated,
        }
