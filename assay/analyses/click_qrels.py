"""Qrels from a click log."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

import numpy as np

from assay.cli.base import BadInput, FileCommand, text_table, whole_file
from assay.counts import counted
from assay.formats.clicks import read_clicks
from assay.formats.qrels import write_qrels
from assay.formats.tripclick import read_tripclick
from assay.labels.clicks import THRESHOLDS, dctr_labels, raw_labels


def rates(text: str) -> tuple[float, ...]:
    """For argparse: ascending click-through rates from 0 to 1."""
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
            f"{text!r} are not ascending rates from 0 to 1 with commas between, such as 0.04,0.30"
        )
    return values


class Command(FileCommand):
    help = (
        "Qrels from a click log, by TripClick's rules: Raw (clicked or skipped) or DCTR (ranges "
        "of the click-through rate)."
    )
    makes_data_file = True
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "clicks",
            metavar="CLICKS",
            help="session topic document rank clicked; or, with --shown, one row a click",
        )
        parser.add_argument(
            "--queries",
            metavar="FILE",
            help="CLICKS is TripClick's log (JSON lines); the topics whose queries are wanted: id and text",
        )
        parser.add_argument(
            "--shown",
            metavar="FILE",
            help="the ranking that was shown for each topic: topic rank document",
        )
        parser.add_argument("--model", choices=["raw", "dctr"], default="dctr", help="default dctr")
        parser.add_argument(
            "--thresholds",
            type=rates,
            default=THRESHOLDS,
            metavar="RATES",
            help="dctr: above them the grade is 2, 3, ... (default 0.04,0.30)",
        )

    def compute(
        self,
        *,
        clicks: str,
        shown: str | None,
        queries: str | None,
        model: str,
        thresholds: tuple[float, ...],
        output: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        if shown and queries:
            raise BadInput("--shown and --queries are for two forms of logs, expected one of them")
        counts = (
            read_clicks(clicks, shown=shown)
            if queries is None
            else read_tripclick(clicks, queries=queries)
        )
        for warning in counts.warnings:
            self.warn(f"{clicks}: {warning}")
        qrels = raw_labels(counts) if model == "raw" else dctr_labels(counts, thresholds=thresholds)
        if output:
            with whole_file(output) as out:
                write_qrels(qrels, out)
        n_grades = 2 if model == "raw" else len(thresholds) + 2
        labels = np.bincount(qrels.grades, minlength=n_grades)
        result = {
            "pairs": len(qrels),
            "labels": {str(grade): int(n) for grade, n in enumerate(labels)},
        }
        result |= {
            "topics": len(qrels.topics),
            "sessions": counts.n_sessions,
            "clicks": int(counts.clicks.sum()),
            "model": model,
        }
        return result | ({"thresholds": list(thresholds)} if model == "dctr" else {})

    def table(self, result: dict[str, Any], **options: Any) -> str:
        labels = result["labels"]
        rows = [
            [label, n, n / result["pairs"] if result["pairs"] else None]
            for label, n in labels.items()
        ]
        source = f"{counted(result['clicks'], 'click')} in {counted(result['sessions'], 'session')}"
        head = (
            f"{result['model']}: {counted(result['pairs'], 'pair')} of "
            f"{counted(result['topics'], 'topic')} from {source}"
        )
        return head + "\n\n" + text_table(["grade", "pairs", "share"], rows)
