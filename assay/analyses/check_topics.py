"""Propose topics for removal before pooling."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from assay.cli.base import FileCommand, text_table, whole_file
from assay.counts import counted
from assay.formats.exports import write_removed, write_topics
from assay.formats.topics import read_topics
from assay.pools.hygiene import Match, check_topics, need_of


class Command(FileCommand):
    help = (
        "Propose topics for removal: duplicates, topics without text, and with --match suspect "
        "those that a person should look at."
    )
    writes = ("output", "keep", "removed")

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "topics",
            metavar="TOPICS",
            help="topics in any form that is known; - reads standard input",
        )
        parser.add_argument(
            "--match",
            choices=[str(m) for m in Match],
            default=str(Match.EXACT),
            help="similarity of duplicates (default: exact)",
        )
        parser.add_argument(
            "--keep", metavar="FILE", help="write the topics to keep here, `id<TAB>text`"
        )
        parser.add_argument(
            "--removed", metavar="FILE", help="write the topics to remove here, with reasons"
        )

    def compute(
        self, *, topics: str, match: str, keep: str | None, removed: str | None, **options: Any
    ) -> dict[str, Any]:
        topics_read = read_topics(topics)
        needs = {topic.topic: need_of(topic.description, topic.narrative) for topic in topics_read}
        proposals = check_topics(
            [(topic.topic, topic.text) for topic in topics_read], match=match, needs=needs
        )
        out = {proposal.topic for proposal in proposals}
        kept = [topic for topic in topics_read if topic.topic not in out]
        if keep:
            with whole_file(keep) as file:
                write_topics(kept, file)
        if removed:
            with whole_file(removed) as file:
                write_removed(proposals, file)
        return {
            "kept": len(kept),
            "removed": [proposal._asdict() for proposal in proposals],
            "match": match,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        counts = f"{counted(result['kept'], 'topic')} to keep, {len(result['removed'])} to remove ({result['match']})"
        rows = [[r["topic"], r["reason"], r["same_as"], r["text"]] for r in result["removed"]]
        return (
            counts
            if not rows
            else f"{counts}\n\n{text_table(['topic', 'reason', 'same as', 'text'], rows)}"
        )
