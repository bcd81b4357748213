"""Aggregate judgements into one label per pair."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.counted_judgements import CountedJudgements
from assay.analyses.shared.judged_files import (
    JudgementOptions,
    add_judgement_options,
    count_dropped_rows,
    read_judged,
)
from assay.cli.base import FileCommand, Warn, write_text_atomically
from assay.formats.qrels import write_qrels
from assay.labels.aggregation import METHODS, Aggregation
from assay.labels.aggregation.dawid_skene import StoppingRule
from assay.number_words import format_count
from assay.options import option
from assay.results import Values
from assay.tabular import Cell, Table

OPTION_WORDS = {
    "majority": "ties take the lowest grade",
    "dawid-skene": "Dawid and Skene 1979",
    "mace": "Hovy et al. 2013",
}


@dataclass(frozen=True)
class Options(JudgementOptions):
    method: str = option(
        "majority",
        "Aggregation",
        help="aggregation method",
        choices=tuple((name, OPTION_WORDS.get(name, name)) for name in METHODS),
    )
    rule: str = option(
        str(StoppingRule.PENALISED),
        "Dawid-Skene variant",
        help="variant of the method dawid-skene",
        choices=(
            (
                str(StoppingRule.PENALISED),
                "adds 0.01 to each count and iterates until the posteriors converge",
            ),
            (str(StoppingRule.CROWD_KIT), "as in crowd-kit"),
        ),
    )
    labels: str = option(
        "graded",
        "Grades of the labels",
        help="type of labels",
        choices=(
            ("graded", "all grades"),
            ("binary", "relevant or not, from the minimum relevant grade"),
        ),
    )


def aggregate_by_scale(judged: CountedJudgements, options: Options) -> dict[str, Aggregation]:
    """Aggregate the judgements on all grades (`graded`) and on binary relevance (`binary`)."""
    scales = {"graded": judged.table, "binary": judged.table.binarise(judged.min_relevant)}
    return {
        name: METHODS[options.method](
            table, min_judgements=options.min_judgements, **method_options(options)
        )
        for name, table in scales.items()
    }


def method_options(options: Options) -> dict[str, Any]:
    """Return the options that apply only to the chosen method of aggregation."""
    return {"rule": StoppingRule(options.rule)} if options.method == "dawid-skene" else {}


def compute(
    judged: CountedJudgements,
    labels: Mapping[str, Aggregation],
    options: Options,
    *,
    warn: Warn,
) -> Values:
    """Count aggregated labels by grade and by decision, on all grades and on binary relevance.
    Decisions are None for methods without them."""
    chosen = labels[options.labels]
    if not chosen.n_labelled:
        warn(
            f"no pair has the required {format_count(options.min_judgements, 'counted judgement')}, so there are no labels; lower --min-judgements"
        )
    for name, aggregation in labels.items():
        if aggregation.ended is not None and not aggregation.ended.converged:
            rounds = format_count(aggregation.ended.rounds, "round")
            warn(
                f"{options.method} did not converge on the {name} scale within {rounds}. Some "
                "labels might change with more rounds"
            )
    return {
        "pairs": chosen.n_labelled,
        "dropped": {"too_few": chosen.n_unlabelled, **count_dropped_rows(judged.dropped)},
        **count_labels(chosen),
        **{name: count_labels(aggregation) for name, aggregation in labels.items()},
        **method_options(options),
        "judgements": len(judged.table),
        "method": options.method,
        "min_relevant": judged.min_relevant,
    }


def count_labels(aggregation: Aggregation) -> Values:
    """Count labels, decisions and their combinations, and return how an iterative method ended."""
    result: Values = {
        "labels": aggregation.labels(),
        "decisions": aggregation.decisions(),
        "cross": aggregation.count_labels_by_decision(),
    }
    if aggregation.ended is not None:
        result |= aggregation.ended._asdict()
    return result


def result_tables(result: Values) -> list[Table]:
    dropped = ", ".join(
        f"{n} {reason.replace('_', ' ')}" for reason, n in result["dropped"].items()
    )
    over = (
        f"{format_count(result['pairs'], 'labelled pair')} from "
        f"{format_count(result['judgements'], 'judgement')} by {result['method']}; dropped: {dropped}."
    )
    return [
        labels_table("graded", result["graded"], over),
        labels_table("binary", result["binary"]),
    ]


def labels_table(name: str, counts: Values, over: str = "") -> Table:
    """Return labels by decision, with shares of all labels."""
    total = sum(counts["labels"].values())
    decisions = list(counts["decisions"] or {})
    rows: list[list[Cell]] = [
        [
            str(grade),
            n,
            n / total if total else None,
            *((counts["cross"] or {}).get(grade, {}).get(d, 0) for d in decisions),
        ]
        for grade, n in counts["labels"].items()
    ]
    rows.append(
        ["all", total, 1.0 if total else None, *(counts["decisions"][d] for d in decisions)]
    )
    header = ["label", "pairs", "share", *(d.replace("_", " ") for d in decisions)]
    note = f"{over} {describe_iterations(counts)}".strip()
    return Table(name, f"Labels, {name}", header, rows, note)


def describe_iterations(counts: Values) -> str:
    if "rounds" not in counts:
        return ""
    how = "converged" if counts["converged"] else "not converged: maximum number of rounds reached"
    likelihood = counts["log_likelihood"]
    return (
        f"{format_count(counts['rounds'], 'round')}, {how}"
        + ("" if likelihood is None else f", log-likelihood with the prior {likelihood:.6g}")
        + "."
    )


class Command(FileCommand):
    help = "Aggregate judgements into one label per pair, and write the qrels."
    makes_data_file = True
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser, Options)

    def compute(self, *, output: str | None, **option_values: Any) -> Values:
        options = Options.from_mapping(option_values)
        judged = read_judged(self, option_values)
        labels = aggregate_by_scale(judged, options)
        result = compute(judged, labels, options, warn=self.warn)
        if output:
            with write_text_atomically(output) as out:
                write_qrels(labels[options.labels].qrels(options.labels), out)
        return result
