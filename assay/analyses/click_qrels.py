"""Derive qrels from a click log (Rekabsaz et al. 2021, TripClick)."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.cli.base import BadInput, FileCommand, write_text_atomically
from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts, read_clicks
from assay.formats.qrels import write_qrels
from assay.formats.tripclick import read_tripclick
from assay.labels.clicks import DEFAULT_THRESHOLDS, make_dctr_labels, make_raw_labels
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table


def parse_rates(text: str) -> tuple[float, ...]:
    """Parse ascending click-through rates from 0 to 1, for argparse."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if (
        not values
        or not all(0 <= value <= 1 for value in values)
        or list(values) != sorted(set(values))
    ):
        raise ArgumentTypeError(
            f"{text!r} are not ascending rates from 0 to 1, separated by commas, such as 0.04,0.30"
        )
    return values


@dataclass(frozen=True)
class Options(CheckedOptions):
    click_model: str = option(
        "dctr",
        "Click model",
        choices=(
            ("raw", "clicked or skipped"),
            ("dctr", "ranges of the click-through rate"),
        ),
    )
    thresholds: tuple[float, ...] = option(
        DEFAULT_THRESHOLDS,
        "Click-through rates",
        help="click-through rates above which the grade is 2, 3, ..., with dctr (default: "
        f"{','.join(f'{rate:.2f}' for rate in DEFAULT_THRESHOLDS)})",
        read=parse_rates,
        metavar="RATES",
    )


def click_labels(counts: ClickCounts, options: Options) -> QrelsColumns:
    """Label every pair that was shown: 0 and 1 (raw), or 0, 1, 2, ... by click-through rate."""
    if options.click_model == "raw":
        return make_raw_labels(counts)
    return make_dctr_labels(counts, thresholds=options.thresholds)


def compute(counts: ClickCounts, qrels: QrelsColumns, options: Options) -> Values:
    """Count the pairs of the qrels by label and the rows that they are based on.

    counts: of the click log. qrels: its `click_labels`.
    """
    n_grades = 2 if options.click_model == "raw" else len(options.thresholds) + 2
    labels = np.bincount(qrels.grades, minlength=n_grades)
    result: Values = {
        "pairs": len(qrels),
        "labels": {str(grade): int(n) for grade, n in enumerate(labels)},
        "topics": len(qrels.topics),
        "sessions": counts.n_sessions,
        "clicks": int(counts.clicks.sum()),
        "click_model": options.click_model,
    }
    return result | (
        {"thresholds": list(options.thresholds)} if options.click_model == "dctr" else {}
    )


def tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [
        [grade, n, n / result["pairs"] if result["pairs"] else None]
        for grade, n in result["labels"].items()
    ]
    note = (
        f"{format_count(result['pairs'], 'pair')} of {format_count(result['topics'], 'topic')} from "
        f"{format_count(result['clicks'], 'click')} in {format_count(result['sessions'], 'session')}."
    )
    title = f"Click labels by {result['click_model']}"
    return [Table("labels", title, ["grade", "pairs", "share"], rows, note)]


class Command(FileCommand):
    help = (
        "Derive qrels from a click log by TripClick's rules: Raw (clicked or skipped) or DCTR "
        "(ranges of the click-through rate)."
    )
    makes_data_file = True
    takes_seed = False
    tables = staticmethod(tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "clicks",
            metavar="CLICKS",
            help="click log: session topic document rank clicked; with --shown, one row per click",
        )
        parser.add_argument(
            "--queries",
            metavar="FILE",
            help="topics whose queries count (id and text); CLICKS is then TripClick's log (JSON "
            "lines)",
        )
        parser.add_argument(
            "--shown",
            metavar="FILE",
            help="ranking shown for each topic: topic rank document",
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        clicks: str,
        shown: str | None,
        queries: str | None,
        output: str | None,
        **given: Any,
    ) -> Values:
        if shown and queries:
            raise BadInput("--shown and --queries are for two forms of logs, expected one of them")
        counts = (
            read_clicks(clicks, shown=shown)
            if queries is None
            else read_tripclick(clicks, queries=queries)
        )
        for warning in counts.warnings:
            self.warn(f"{clicks}: {warning}")
        options = Options.of(given)
        qrels = click_labels(counts, options)
        if output:
            with write_text_atomically(output) as out:
                write_qrels(qrels, out)
        return compute(counts, qrels, options)
