"""Propose topics to remove before pooling."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.cli.base import FileCommand, write_text_atomically
from assay.formats.exports import write_removed_topics, write_topics
from assay.formats.topics import TopicRecord, read_topics
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.pools.topic_checks import (
    MatchLevel,
    ProposedRemoval,
    check_topics,
    join_information_need,
)
from assay.results import Values
from assay.tabular import Cell, Table


@dataclass(frozen=True)
class Options(CheckedOptions):
    match: str = option(
        str(MatchLevel.EXACT),
        "Duplicates",
        help="rule for duplicates",
        choices=(
            (str(MatchLevel.EXACT), "equal except for case and spaces"),
            (str(MatchLevel.PUNCTUATION), "equal except for punctuation"),
            (str(MatchLevel.SUSPECT), "also topics that a person should review"),
        ),
    )


def compute(topics: Sequence[TopicRecord], options: Options) -> Values:
    """Propose duplicates and topics without text for removal, in the order of the topics."""
    proposals = check_topics(
        [(topic.topic, topic.text) for topic in topics],
        match=options.match,
        needs={
            topic.topic: join_information_need(topic.description, topic.narrative)
            for topic in topics
        },
    )
    out = {proposal.topic for proposal in proposals}
    return {
        "kept": sum(topic.topic not in out for topic in topics),
        "removed": [proposal._asdict() for proposal in proposals],
        "match": options.match,
    }


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [
        [one["topic"], one["reason"], one["same_as"], one["text"]] for one in result["removed"]
    ]
    note = f"{format_count(result['kept'], 'topic')} to keep, {len(rows)} to remove ({result['match']})."
    return [
        Table("removed", "Topics to remove", ["topic", "reason", "same as", "text"], rows, note)
    ]


class Command(FileCommand):
    help = (
        "Propose topics to remove: duplicates, topics without text and, with --match "
        "suspect, topics that a person should review."
    )
    writes = ("output", "keep", "removed")
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "topics",
            metavar="TOPICS",
            help="topic file in any supported format, or irds:ID; - reads standard input",
        )
        add_options(parser, Options)
        parser.add_argument(
            "--keep",
            metavar="FILE",
            help="output file for the topics to keep, in the format `id<TAB>text`",
        )
        parser.add_argument(
            "--removed", metavar="FILE", help="output file for the topics to remove, with reasons"
        )

    def compute(
        self, *, topics: str, keep: str | None, removed: str | None, **option_values: Any
    ) -> Values:
        topics_read = read_topics(topics)
        result = compute(topics_read, Options.from_mapping(option_values))
        proposals = [ProposedRemoval(**one) for one in result["removed"]]
        if keep:
            out = {proposal.topic for proposal in proposals}
            with write_text_atomically(keep) as file:
                write_topics([topic for topic in topics_read if topic.topic not in out], file)
        if removed:
            with write_text_atomically(removed) as file:
                write_removed_topics(proposals, file)
        return result
