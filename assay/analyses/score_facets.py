"""Score runs by relevance and a second facet of the documents, such as understandability."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.answer_results import (
    AnswerCommand,
    AnswerScores,
    answer_tables,
)
from assay.analyses.shared.measures import iterate_runs, read_one_qrels
from assay.analyses.shared.reading import RunReading
from assay.column_types import QrelsColumns, RunColumns
from assay.measures.understandability import (
    FACET_MEASURES,
    FacetEvaluator,
    align_facet,
    correlate_facets,
)
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Table


def parse_gains(text: str) -> tuple[float, ...]:
    """Parse gains such as `0,0.4,0.8,1`."""
    try:
        gains = tuple(float(part) for part in text.replace(",", " ").split())
    except ValueError:
        gains = ()
    if len(gains) < 2 or not all(0 <= gain <= 1 for gain in gains):
        raise ArgumentTypeError(f"{text!r} is not a list of gains from 0 to 1, such as 0,0.4,0.8,1")
    return gains


@dataclass(frozen=True)
class Options(RunReading):
    persistence: float = option(
        0.8, "Persistence", help="persistence of RBP", least=0, most=1, strict=True, metavar="P"
    )
    min_facet: int = option(
        2, "Minimum grade of the facet", help="minimum grade of the facet for uRBP", least=1
    )
    gains: tuple[float, ...] = option(
        (0.0, 0.4, 0.8, 1.0),
        "Gains of the facet's grades",
        help="comma-separated gains of the facet's grades in uRBPgr (default: 0,0.4,0.8,1)",
        read=parse_gains,
        metavar="GAINS",
    )
    by_document: bool = option(
        False,
        "One grade per document",
        help="use one facet grade per document: the grade from its first topic",
    )


def compute(
    qrels: QrelsColumns, facet: QrelsColumns, runs: Iterable[RunColumns], options: Options
) -> tuple[AnswerScores, Values]:
    """Score runs by RBP, uRBP and uRBPgr, and correlate the two facets.

    A document without a grade of the facet gains nothing in uRBP and uRBPgr. Sources: Zuccon and
    Koopman (2014), Zuccon (2016)."""
    grades = align_facet(qrels, facet, by_document=options.by_document)
    evaluator = FacetEvaluator(
        qrels,
        grades,
        persistence=options.persistence,
        min_relevant=options.min_relevant,
        threshold=options.min_facet,
        gains=options.gains,
    )
    systems, values, answered = [], [], []
    for run in runs:
        of_run, has_topic = evaluator.evaluate(run)
        systems.append(run.tag)
        values.append(of_run)
        answered.append(has_topic)
    shape = (len(systems), len(qrels.topics), len(FACET_MEASURES))
    has_answer = np.array(answered, dtype=bool).reshape(shape[:2])
    scores = np.array(values, dtype=float).reshape(shape)
    scores[~has_answer] = np.nan
    absent = np.zeros(shape[1:])
    counts = {"pairs": len(qrels), "with both grades": int((grades >= 0).sum())}
    about = asdict(correlate_facets(qrels.grades, grades))
    return (
        AnswerScores(systems, qrels.topics, FACET_MEASURES, scores, has_answer, absent, counts),
        {"correlation": about},
    )


def result_tables(result: Values) -> list[Table]:
    one = result["correlation"]
    note = f"Over {format_count(one['pairs'], 'pair')} with both grades."
    header = ["Pearson", "Spearman", "tau-b"]
    row = [one["pearson"], one["spearman"], one["tau_b"]]
    return [
        *answer_tables(result),
        Table("correlation", "Correlation of the two facets", header, [row], note),
    ]


class Command(AnswerCommand):
    help = (
        "Score runs by relevance and a second facet, such as understandability. Report RBP, "
        "uRBP, uRBPgr, and the correlation between the facets."
    )
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument(
            "facet", metavar="FACET", help="qrels file with the grades of the facet"
        )
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_options(parser, Options)
        self.add_answer_options(parser)

    def compute(self, *, qrels: str, facet: str, runs: list[str], **option_values: Any) -> Values:
        scores, about = compute(
            read_one_qrels(self, qrels),
            read_one_qrels(self, facet),
            iterate_runs(self, runs, option_values),
            Options.from_mapping(option_values),
        )
        return {**self.finish(scores, option_values), **about}
