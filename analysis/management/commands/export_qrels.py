"""Command `assay export qrels --campaign SLUG`: write a campaign's labels as qrels."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import (
    ExportCommand,
    add_campaign_options,
    get_campaign,
    read_choices,
)
from analysis.judgements.labels import make_labels
from analysis.publishing.exports import EXPORTS, ExportOptions, log_export
from assay.analyses.shared.only_topics import add_topics_option, read_topic_filter, topic_row_mask
from assay.labels.aggregation import ADJUDICATED, DECISIONS
from pooling.platform.snapshot import snapshot


class Command(ExportCommand):
    help = "Write the labels of a campaign as TREC qrels, sorted by topic and document."

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument(
            "--labels",
            choices=["graded", "binary"],
            default="graded",
            help="labels to export (default: graded)",
        )
        parser.add_argument(
            "--comments",
            action="store_true",
            help="add comment lines that describe how the labels were made",
        )
        add_topics_option(parser)

    def compute(
        self,
        *,
        campaign: str,
        labels: str,
        comments: bool,
        output: str | None,
        json: bool,
        **options: Any,
    ) -> dict[str, Any]:
        name = "qrels" if labels == "graded" else "qrels-binary"
        with snapshot():
            campaign_row = get_campaign(campaign)
            choices = read_choices(campaign_row, options)
            labels_chosen = make_labels(campaign_row, choices)
            only = read_topic_filter(
                self,
                options,
                {row.topic for row in labels_chosen.rows},
                f"the labels of {campaign}",
            )
            rows = [row for row in labels_chosen.rows if only is None or row.topic in only]
            wanted = ExportOptions(choices, comments=comments, topics=only)
            prepared = self.prepared_export(name, campaign_row, wanted)
        self.hand_over(prepared, output, json=json)
        log_export(campaign_row, None, EXPORTS[name], wanted)
        counts: dict[int, int] = {}
        for row in rows:
            label = row.grade if labels == "graded" else row.binary
            counts[label] = counts.get(label, 0) + 1
        return {
            "campaign": campaign_row.slug,
            "pairs": len(rows),
            "labels": dict(sorted(counts.items())),
            "adjudicated": sum(row.decision == DECISIONS[ADJUDICATED] for row in rows),
            "judgements": int(
                topic_row_mask(
                    labels_chosen.table.topics,
                    labels_chosen.table.pair_topic[labels_chosen.table.pair],
                    only,
                ).sum()
            ),
            "simulated": campaign_row.simulated,
            **choices.as_json(),
            "min_relevant": labels_chosen.min_relevant,
        }
