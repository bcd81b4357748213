"""Score generated answers by how well cited passages support them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from assay.analyses.shared.answer_results import (
    AnswerCommand,
    AnswerScores,
    collect_scores,
    group_labels,
    index_answers,
)
from assay.cli.base import BadInput
from assay.formats.answers import GeneratedAnswer, ItemLabel, read_answers, read_support_labels
from assay.measures.answer_scores import (
    SUPPORT_MEASURES,
    SUPPORT_VALUES,
    count_labels,
    score_support,
)
from assay.results import Values


def compute(answers: Sequence[GeneratedAnswer], labels: Sequence[ItemLabel]) -> AnswerScores:
    """Score each answer by the labels of its citations (TREC RAG 2024). Citations without a label
    were not judged.

    Raises BadInput for a second answer of a run to a topic, or a label of a citation that no answer
    has."""
    of_answer = group_labels(labels)
    scores, seen = {}, []
    for key, answer in index_answers(answers).items():
        known = of_answer.pop(key, {})
        sentences = [
            [known.pop((i, j), None) for j in range(len(sentence.citations))]
            for i, sentence in enumerate(answer.sentences)
        ]
        if known:
            _refuse_label(key, next(iter(known)))
        scores[key] = score_support(sentences)
        seen += [label for of in sentences for label in of]
    if of_answer:
        key, known = next(iter(of_answer.items()))
        _refuse_label(key, next(iter(known)))
    topics = list(dict.fromkeys(answer.topic for answer in answers))
    return collect_scores(scores, topics, SUPPORT_MEASURES, count_labels(seen, SUPPORT_VALUES))


def _refuse_label(key: tuple[str, str], item: tuple[int, ...]) -> None:
    raise BadInput(
        f"the answer of {key[0]} to {key[1]} has no citation {item[1]} in sentence {item[0]}, "
        "counted from 0"
    )


class Command(AnswerCommand):
    help = "Score generated answers by citation support: weighted and hard precision and recall."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "answers", nargs="+", metavar="ANSWERS", help="files of answers (JSON lines)"
        )
        parser.add_argument(
            "labels",
            metavar="LABELS",
            help="table of citation labels: topic, system, sentence, citation, label",
        )
        self.add_answer_options(parser)

    def compute(self, *, answers: list[str], labels: str, **option_values: Any) -> Values:
        read = [answer for path in answers for answer in read_answers(path)]
        return self.finish(compute(read, read_support_labels(labels)), option_values)
