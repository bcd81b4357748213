"""Command `assay release check [RELEASE]`: list what readers of a release will miss."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import get_campaign, get_recipe
from analysis.publishing.recipes import make_release_plan
from analysis.publishing.release.checks import (
    find_missing,
    read_campaign_facts,
    read_release_facts,
)
from analysis.publishing.release.parts import ReleasePlan
from assay.cli.base import BadInput, DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "List what a release lacks, with reasons and fixes. The exit status is 1 if a label, a "
        "licence or an author is missing."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", nargs="?", metavar="RELEASE", help="zip file of a release")
        parser.add_argument(
            "--campaign", metavar="SLUG", help="campaign to check before a release is built"
        )
        parser.add_argument(
            "--recipe",
            metavar="NAME",
            help="recipe of the campaign (default: the default settings)",
        )

    def compute(
        self, *, release: str | None, campaign: str | None, recipe: str | None, **options: Any
    ) -> dict[str, Any]:
        if (release is None) == (campaign is None):
            raise BadInput("give either RELEASE or --campaign SLUG")
        if campaign is None:
            if recipe is not None:
                raise BadInput("--recipe requires --campaign SLUG")
            facts = read_release_facts(str(release))
        else:
            row = get_campaign(campaign)
            plan = ReleasePlan() if recipe is None else make_release_plan(get_recipe(row, recipe))
            facts = read_campaign_facts(row, plan)
        missing = find_missing(facts)
        self.failed = any(finding.required for finding in missing)
        return {
            "release": release,
            "campaign": campaign,
            "complete": not self.failed,
            "missing": [finding._asdict() for finding in missing],
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        lines = [
            f"{'required' if finding['required'] else 'advised'}  {finding['problem']} "
            f"{finding['fix']}"
            for finding in result["missing"]
        ]
        return "\n".join(lines) or "nothing is missing"
