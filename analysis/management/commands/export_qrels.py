"""`manage.py export_qrels --campaign SLUG`: the labels of a campaign as qrels."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from analysis.campaign_files import ExportCommand, add_campaign_options, campaign_named, choices_of
from analysis.selectors.exports import labels
from analysis.services.exports import Wanted


class Command(ExportCommand):
    help = "Write the labels of a campaign as TREC qrels, sorted by topic and document: the same judgements give the same bytes."

    def arguments(self, parser: CommandParser) -> None:
        add_campaign_options(parser)
        parser.add_argument("--grades", choices=["graded", "binary"], default="graded", help="which labels (default graded)")
        parser.add_argument("--comments", action="store_true", help="begin with lines # that say how the labels were made")

    def compute(self, *, campaign: str, grades: str, comments: bool, output: str | None, json: bool, **options: Any) -> dict[str, Any]:
        found = campaign_named(campaign)
        choices = choices_of(found, options)
        self.export("qrels" if grades == "graded" else "qrels-binary", found, Wanted(choices, comments=comments), output, json=json)
        made = labels(found, choices)
        counts: dict[int, int] = {}
        for row in made.rows:
            label = row.grade if grades == "graded" else row.binary
            counts[label] = counts.get(label, 0) + 1
        return {
            "campaign": found.slug,
            "pairs": len(made.rows),
            "labels": dict(sorted(counts.items())),
            "adjudicated": made.n_adjudicated,
            "judgements": len(made.table),
            "simulated": found.simulated,
            **choices.as_json(),
            "threshold": made.threshold,
        }
