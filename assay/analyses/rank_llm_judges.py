"""Rank LLM judges by the number of human judgements that their labels would save
(docs/reference/methods/sampling.md)."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.measures import read_one_qrels
from assay.cli.base import BadInput, FileCommand, Warn, parse_named_file
from assay.column_types import QrelsColumns
from assay.formats.label_table import read_label_table
from assay.formats.llm_labels import read_llm_qrels
from assay.labels.effective_gain import LlmJudgeUsefulness, compute_usefulness
from assay.measures.packing import TopicDocumentPairs, index_qrels
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table

MIN_PAIRS = 200
"""Number of pairs needed to estimate a correlation to about ±0.1."""


@dataclass(frozen=True)
class Options(CheckedOptions):
    min_relevant: int = option(1, "Minimum relevant grade", least=1, kind="grade")
    max_grade: int | None = option(
        None,
        "Highest grade",
        help="highest grade; LLM labels above it are left out (default: the highest human grade)",
        least=1,
        metavar="GRADE",
    )


def compute(
    people: QrelsColumns, labels: Mapping[str, QrelsColumns], options: Options, *, warn: Warn
) -> Values:
    """Estimate for each LLM judge how much its labels would add to human judgements.

    people: human judgements. labels: by name of the LLM judge. `gain` is the effective sample-size
    gain: with 1.5, 100 human judgements give the precision of 150 without the labels. It is
    undefined, with a reason, if people judge all pairs or no pairs as relevant, and infinite if all
    labels agree. Raises BadInput if no pair has both labels.
    """
    highest = options.max_grade or int(people.grades.max(initial=0))
    judges = {
        name: evaluate_llm_judge(people, own, name, options.min_relevant, highest, warn)
        for name, own in labels.items()
    }
    order = sorted(
        judges, key=lambda name: (math.isnan(judges[name]["gain"]), -judges[name]["gain"], name)
    )
    return {
        "min_relevant": options.min_relevant,
        "llm_judges": {name: judges[name] for name in order},
        "order": order,
    }


def evaluate_llm_judge(
    people: QrelsColumns,
    labels: QrelsColumns,
    name: str,
    min_relevant: int,
    highest: int,
    warn: Warn,
) -> Values:
    topic = np.repeat(np.arange(len(people.topics)), np.diff(people.offsets))
    rows = index_qrels(labels).find(TopicDocumentPairs(people.topics, topic, people.documents))
    grades = np.where(rows >= 0, labels.grades[rows] if len(labels) else -1, -1)
    judged = people.grades >= 0
    both = judged & (grades >= 0) & (grades <= highest)
    outside = int((judged & (grades > highest)).sum())
    if not both.any():
        raise BadInput(
            f"{labels.name}: {name} has no label for any pair judged by humans; check the topic and document IDs"
        )
    if outside:
        warn(
            f"{name}: left out {format_count(outside, 'label')} above the highest grade, {highest}"
        )
    if (n := int(both.sum())) < MIN_PAIRS:
        warn(
            f"{name}: only {format_count(n, 'pair', 'has', 'have')} both a human and an LLM label; a reliable estimate needs about {MIN_PAIRS}"
        )
    use = compute_usefulness(
        people.grades[both].astype(np.int64),
        grades[both].astype(np.int64),
        topic[both],
        min_relevant=min_relevant,
    )
    result = use._asdict() | {
        "interval": use.interval.bounds,
        "outside": outside,
        "missing": int((judged & (grades < 0)).sum()),
    }
    without = f"no confidence interval: {use.interval.reason}" if use.interval.reason else ""
    if reasons := "; ".join(filter(None, (undefined_gain_reason(use), without))):
        result["undefined"] = reasons
    return result


def undefined_gain_reason(use: LlmJudgeUsefulness) -> str:
    """Return why the effective sample-size gain for binary relevance is not finite, or an empty
    string."""
    if math.isnan(use.gain):
        return (
            f"humans call {'all' if use.people_share else 'none'} of the pairs relevant, so "
            "there is nothing to distinguish"
        )
    return (
        "humans and LLM judge agree on every pair, so the gain has no upper limit"
        if math.isinf(use.gain)
        else ""
    )


def result_tables(result: Values) -> list[Table]:
    columns = (
        "gain_graded",
        "sensitivity",
        "specificity",
        "share",
        "people_share",
        "topic_bias",
    )
    rows: list[list[Cell]] = [
        [
            name,
            one["pairs"],
            one["gain"],
            *one["interval"],
            *(one[key] for key in columns),
            one.get("undefined", ""),
        ]
        for name, one in result["llm_judges"].items()
    ]
    header = [
        "LLM judge",
        "pairs",
        "gain",
        "2.5%",
        "97.5%",
        "gain, graded",
        "sensitivity",
        "specificity",
        "share relevant",
        "share relevant by humans",
        "bias by topic",
        "why undefined",
    ]
    note = (
        "Effective sample-size gain with its 95% CI: with a gain of 1.5, 100 human judgements give "
        "the same precision as 150 without labels of every pair by the LLM judge. The gain holds only for "
        "prediction-powered inference (`assay llm compare`). LLM labels alone are no verdict, and an "
        "LLM judge must not judge a system that was built on it."
    )
    return [Table("judges", "Gain by LLM judges", header, rows, note)]


class Command(FileCommand):
    help = (
        "Rank LLM judges by the number of human judgements that their labels would save, "
        "estimated from pairs with a human and an LLM label."
    )
    counts_labels_only = True
    takes_seed = False
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "qrels",
            metavar="QRELS",
            nargs="?",
            help="qrels file of human judgements, about 200 pairs or more",
        )
        parser.add_argument(
            "--llm-labels",
            action="append",
            default=[],
            metavar="NAME=QRELS",
            help="qrels file of an LLM judge's labels",
        )
        parser.add_argument(
            "--table",
            metavar="FILE",
            help="table of topic, document, human grade and one column per LLM judge, with a header, "
            "instead of QRELS and --llm-labels",
        )
        add_options(parser, Options)

    def compute(
        self, *, qrels: str | None, llm_labels: list[str], table: str | None, **option_values: Any
    ) -> Values:
        if (table is None) == (qrels is None or not llm_labels) or (
            table is not None and (qrels is not None or llm_labels)
        ):
            raise BadInput(
                "give human qrels and --llm-labels NAME=QRELS for each LLM judge, or a --table with one column per LLM judge"
            )
        if table is not None:
            labels = read_label_table(table)
            people = labels.pop(next(iter(labels)))
        else:
            people, labels = read_one_qrels(self, str(qrels)), {}
            for text in llm_labels:
                name, path = parse_named_file(text)
                if name in labels:
                    raise BadInput(
                        f"two LLM judges are called {name}; rename one, for example first={path}"
                    )
                labels[name] = read_one_qrels(self, path, name, read=read_llm_qrels)
        return compute(people, labels, Options.from_mapping(option_values), warn=self.warn)
