"""`manage.py export_qrels --campaign SLUG`: the labels of a campaign as qrels."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import ExportCommand, add_campaign_options, campaign_named, choices_of
from analysis.commandline.only_topics import add_only_topics, only_topics, rows_of
from analysis.core.aggregation import ADJUDICATED, DECISIONS
from analysis.judgements.labels import labels
from analysis.publishing.exports import Wanted


class Command(ExportCommand):
    help = "Write the labels of a campaign as TREC qrels, sorted by topic and document: the same judgements give the same bytes."

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument("--grades", choices=["graded", "binary"], default="graded", help="which labels (default graded)")
        parser.add_argument("--comments", action="store_true", help="begin with lines # that say how the labels were made")
        add_only_topics(parser)

    def compute(self, *, campaign: str, grades: str, comments: bool, output: str | None, json: bool, **options: Any) -> dict[str, Any]:
        found = campaign_named(campaign)
        choices = choices_of(found, options)
        made = labels(found, choices)
        only = only_topics(self, options, {row.topic for row in made.rows}, f"the labels of {campaign}")
        rows = [row for row in made.rows if only is None or row.topic in only]
        wanted = Wanted(choices, comments=comments, topics=only)
        self.export("qrels" if grades == "graded" else "qrels-binary", found, wanted, output, json=json)
        counts: dict[int, int] = {}
        for row in rows:
            label = row.grade if grades == "graded" else row.binary
            counts[label] = counts.get(label, 0) + 1
        return {
            "campaign": found.slug,
            "pairs": len(rows),
            "labels": dict(sorted(counts.items())),
            "adjudicated": sum(row.decision == DECISIONS[ADJUDICATED] for row in rows),
            "judgements": int(rows_of(made.table.topics, made.table.pair_topic[made.table.pair], only).sum()),
            "simulated": found.simulated,
            **choices.as_json(),
            "threshold": made.threshold,
        }
