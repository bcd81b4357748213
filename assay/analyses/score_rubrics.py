"""Score generated answers by the weighted criteria of their topics' rubrics."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from assay.analyses.shared.answer_results import (
    AnswerCommand,
    AnswerScores,
    score_items,
)
from assay.formats.answers import Criterion, ItemLabel, read_rubric_labels, read_rubrics
from assay.measures.answer_scores import (
    RUBRIC_MEASURES,
    VERDICT_VALUES,
    score_rubric,
)
from assay.results import Values


def compute(
    rubrics: Mapping[str, Sequence[Criterion]], labels: Sequence[ItemLabel]
) -> AnswerScores:
    """Score each answer with at least one verdict by its topic's criteria. Criteria without a
    verdict count as not met.

    Raises BadInput for a verdict on a topic or criterion that the rubrics lack."""
    return score_items(
        rubrics,
        labels,
        lambda items, option_values: score_rubric([one.weight for one in items], option_values),
        item="criterion",
        no_list="there is no rubric",
        measures=RUBRIC_MEASURES,
        values=VERDICT_VALUES,
    )


class Command(AnswerCommand):
    help = (
        "Score generated answers by weighted rubrics: criteria that are met, and criteria that "
        "are at least partly met."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "rubrics", metavar="RUBRICS", help="file of criteria by topic (JSON lines)"
        )
        parser.add_argument(
            "labels",
            metavar="LABELS",
            help="table of verdicts: topic, system, criterion, verdict",
        )
        self.add_answer_options(parser)

    def compute(self, *, rubrics: str, labels: str, **option_values: Any) -> Values:
        return self.finish(
            compute(read_rubrics(rubrics), read_rubric_labels(labels)), option_values
        )
