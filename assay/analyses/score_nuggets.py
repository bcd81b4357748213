"""Score generated answers by how many of their topic's nuggets they contain."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from assay.analyses.shared.answer_results import (
    AnswerCommand,
    AnswerScores,
    score_items,
)
from assay.formats.answers import ItemLabel, Nugget, read_nugget_labels, read_nuggets
from assay.measures.answer_scores import (
    NUGGET_MEASURES,
    NUGGET_VALUES,
    score_nuggets,
)
from assay.results import Values


def compute(nuggets: Mapping[str, Sequence[Nugget]], labels: Sequence[ItemLabel]) -> AnswerScores:
    """Score each answer with at least one label by its topic's nuggets (TREC RAG 2024). Nuggets
    without a label count as not supported.

    Raises BadInput for a label of a topic or nugget that the lists lack."""
    return score_items(
        nuggets,
        labels,
        lambda items, option_values: score_nuggets([one.is_vital for one in items], option_values),
        item="nugget",
        no_list="there are no nuggets",
        measures=NUGGET_MEASURES,
        values=NUGGET_VALUES,
    )


class Command(AnswerCommand):
    help = (
        "Score generated answers by nuggets: vital nuggets and all nuggets, with strict and with "
        "partial support."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "nuggets", metavar="NUGGETS", help="file of nuggets by topic (JSON lines)"
        )
        parser.add_argument(
            "labels",
            metavar="LABELS",
            help="table of assignments: topic, system, nugget, assignment",
        )
        self.add_answer_options(parser)

    def compute(self, *, nuggets: str, labels: str, **option_values: Any) -> Values:
        return self.finish(
            compute(read_nuggets(nuggets), read_nugget_labels(labels)), option_values
        )
