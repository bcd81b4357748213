"""Command `assay export send --campaign SLUG --to ADDRESS`: send labels to a search engine."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import add_campaign_options, get_campaign, read_choices
from analysis.publishing.engines import send_labels
from annotation.services.errors import CampaignError
from assay.cli.base import BadInput, DatabaseCommand

EXPORT_OF_TARGET = {
    "opensearch": "opensearch",
    "rank-eval": "rank-eval",
    "ltr": "ltr",
    "csv": "label-csv",
}
"""Targets as in `assay export labels` -> name of the export."""


class Command(DatabaseCommand):
    help = (
        "Send the labels of a campaign to a search engine listed in ASSAY_ENGINE_ENDPOINTS, and "
        "show its response."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument(
            "--to", required=True, metavar="ADDRESS", help="address of the search engine"
        )
        parser.add_argument(
            "--target",
            choices=list(EXPORT_OF_TARGET),
            default="opensearch",
            help="format of the labels (default: opensearch)",
        )

    def compute(self, *, campaign: str, to: str, target: str, **options: Any) -> dict[str, Any]:
        campaign_row = get_campaign(campaign)
        choices = read_choices(campaign_row, options)
        try:
            answer = send_labels(
                campaign_row, EXPORT_OF_TARGET[target], choices, address=to.rstrip("/"), user=None
            )
        except CampaignError as error:
            raise BadInput(str(error)) from None
        return {
            "campaign": campaign_row.slug,
            "target": target,
            "address": to.rstrip("/"),
            "status": answer.status,
            "answer": answer.text,
            "bytes": answer.n_bytes,
            "simulated": campaign_row.simulated,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return f"status {result['status']}, {result['bytes']:,} bytes sent\n{result['answer']}"
