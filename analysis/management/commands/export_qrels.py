"""`assay export qrels --campaign SLUG`: the labels of a campaign as qrels."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import (
    ExportCommand,
    add_campaign_options,
    campaign_named,
    choices_of,
)
from analysis.judgements.labels import labels
from analysis.publishing.exports import EXPORTS, ExportWanted, note_export
from assay.analyses.shared.only_topics import add_only_topics, only_topics, rows_of
from assay.labels.aggregation import ADJUDICATED, DECISIONS
from pooling.platform.snapshot import snapshot


class Command(ExportCommand):
    help = "Write the labels of a campaign as TREC qrels, sorted by topic and document."

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument(
            "--grades",
            choices=["graded", "binary"],
            default="graded",
            help="labels to export (default: graded)",
        )
        parser.add_argument(
            "--comments",
            action="store_true",
            help="begin with comment lines that describe how the labels were made",
        )
        add_only_topics(parser)

    def compute(
        self,
        *,
        campaign: str,
        grades: str,
        comments: bool,
        output: str | None,
        json: bool,
        **options: Any,
    ) -> dict[str, Any]:
        name = "qrels" if grades == "graded" else "qrels-binary"
        with snapshot():
            campaign_row = campaign_named(campaign)
            choices = choices_of(campaign_row, options)
            labels_chosen = labels(campaign_row, choices)
            only = only_topics(
                self,
                options,
                {row.topic for row in labels_chosen.rows},
                f"the labels of {campaign}",
            )
            rows = [row for row in labels_chosen.rows if only is None or row.topic in only]
            wanted = ExportWanted(choices, comments=comments, topics=only)
            prepared = self.prepared_export(name, campaign_row, wanted)
        self.hand_over(prepared, output, json=json)
        note_export(campaign_row, None, EXPORTS[name], wanted)
        counts: dict[int, int] = {}
        for row in rows:
            label = row.grade if grades == "graded" else row.binary
            counts[label] = counts.get(label, 0) + 1
        return {
            "campaign": campaign_row.slug,
            "pairs": len(rows),
            "labels": dict(sorted(counts.items())),
            "adjudicated": sum(row.decision == DECISIONS[ADJUDICATED] for row in rows),
            "judgements": int(
                rows_of(
                    labels_chosen.table.topics,
                    labels_chosen.table.pair_topic[labels_chosen.table.pair],
                    only,
                ).sum()
            ),
            "simulated": campaign_row.simulated,
            **choices.as_json(),
            "threshold": labels_chosen.threshold,
        }
