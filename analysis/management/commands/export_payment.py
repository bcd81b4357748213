"""Command `assay export payment --campaign SLUG`: write hours and payment of each annotator."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import get_campaign, open_bytes_output
from analysis.publishing import payment
from annotation.services.errors import CampaignError
from assay.cli.base import BadInput, DatabaseCommand
from assay.number_words import format_count


class Command(DatabaseCommand):
    help = (
        "Write the name, hours and judgements of each annotator of a campaign and, with --rate, "
        "the amount to pay."
    )
    makes_data_file = True
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--campaign", required=True, metavar="SLUG", help="slug of the campaign"
        )
        parser.add_argument(
            "--rate",
            default="",
            metavar="NUMBER",
            help="pay rate per hour or judgement (default: no amounts)",
        )
        parser.add_argument(
            "--per",
            choices=payment.RATE_UNITS,
            default="hour",
            help="unit of the rate (default: hour of active time)",
        )

    def compute(
        self, *, campaign: str, rate: str, per: str, output: str | None, json: bool, **options: Any
    ) -> dict[str, Any]:
        row = get_campaign(campaign)
        try:
            asked = payment.PayRate.parse(rate, per)
        except CampaignError as error:
            raise BadInput(str(error)) from None
        text = payment.export_payment_text(row, asked, actor=None)
        n = len(payment.summarise_work(row))
        self.text = ""
        if output and output != "-":
            with open_bytes_output(output) as out:
                out.write(text.encode())
            self.text = f"{output}: {format_count(n, 'annotator')}"
        elif not json:
            self.text = text.rstrip("\n")
        return {
            "campaign": row.slug,
            "file": payment.payment_filename(row),
            "annotators": n,
            "rate": rate or None,
            "per": per,
            "simulated": row.simulated,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return self.text
