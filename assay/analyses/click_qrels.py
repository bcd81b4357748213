"""Derive qrels from a click log by Raw, DCTR (Rekabsaz et al. 2021, TripClick) or a click model."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.cli.base import BadInput, FileCommand, write_text_atomically
from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts, read_clicks
from assay.formats.qrels import write_qrels
from assay.formats.streams import PeekableStream, Source
from assay.formats.tripclick import map_queries_to_topics, read_tripclick
from assay.formats.ubi import detect_ubi, read_ubi
from assay.labels.clicks import (
    CLICK_MODEL_CHOICES,
    CLICK_MODELS,
    RAW,
    check_thresholds,
    make_click_labels,
)
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table


def parse_rates(text: str) -> tuple[float, ...]:
    """Parse ascending numbers of at least 0, for argparse."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if (
        not values
        or not all(0 <= value < np.inf for value in values)
        or list(values) != sorted(set(values))
    ):
        raise ArgumentTypeError(
            f"{text!r} is not a comma-separated list of ascending rates from 0, such as 0.04,0.30"
        )
    return values


@dataclass(frozen=True)
class Options(CheckedOptions):
    click_model: str = option("dctr", "Click model", choices=CLICK_MODEL_CHOICES)
    thresholds: tuple[float, ...] | None = option(
        None,
        "Thresholds",
        help="comma-separated estimates above which the grade is 2, 3, ... (default: 0.04,0.3, "
        "or 1,2 with coec; not used with raw)",
        read=parse_rates,
        metavar="RATES",
    )
    min_dwell: float = option(
        0.0,
        "Minimum dwell time",
        help="minimum dwell time in seconds for a click to count, for UBI events (default: 0)",
        least=0,
        metavar="SECONDS",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.thresholds is not None:
            check_thresholds(self.click_model, self.thresholds)


def label_shown_pairs(counts: ClickCounts, options: Options) -> QrelsColumns:
    """Label pairs that were shown: 0 and 1 (raw), or 0, 1, 2, ... by ranges of an estimate."""
    return make_click_labels(counts, options.click_model, thresholds=options.thresholds)


def compute(counts: ClickCounts, qrels: QrelsColumns, options: Options) -> Values:
    """Count the pairs of the qrels by label, and the rows of the log on which they are based.

    counts: counts of the click log. qrels: its `label_shown_pairs`.
    """
    thresholds = (
        None
        if options.click_model == RAW
        else list(options.thresholds or CLICK_MODELS[options.click_model].thresholds)
    )
    n_grades = 2 if thresholds is None else len(thresholds) + 2
    labels = np.bincount(qrels.grades, minlength=n_grades)
    result: Values = {
        "pairs": len(qrels),
        "labels": {str(grade): int(n) for grade, n in enumerate(labels)},
        "topics": len(qrels.topics),
        "sessions": counts.n_sessions,
        "clicks": int(counts.clicks.sum()),
        "click_model": options.click_model,
    }
    return result | ({} if thresholds is None else {"thresholds": thresholds})


def read_log(
    path: str, *, shown: str | None, queries: str | None, ubi_queries: str | None, min_dwell: float
) -> ClickCounts:
    """Read a click log in any supported format. shown, queries, ubi_queries: files as for the
    command. Raises BadInput for a file that the format does not use."""
    again = path != "-"
    peeked = PeekableStream(path)
    head = peeked.head.decode("utf-8", "replace")
    source: Source = path if again else peeked  # type: ignore[assignment]
    if not detect_ubi(head):
        if ubi_queries or min_dwell:
            raise BadInput(
                f"{path} does not contain UBI events, so --ubi-queries and --min-dwell do not apply"
            )
        if queries:
            return read_tripclick(source, queries=queries)
        return read_clicks(source, shown=shown)
    if shown:
        raise BadInput(
            f"{path} contains UBI events, which include the rankings shown; omit --shown"
        )
    topics = map_queries_to_topics(queries) if queries else None
    counts = read_ubi(source, queries=ubi_queries, topics=topics, min_dwell=min_dwell)
    return counts if queries else replace(counts, topics=_make_topic_ids(counts.topics))


def _make_topic_ids(queries: list[str]) -> list[str]:
    """Return queries as topic IDs: underscores for spaces. Raises BadInput if two are equal."""
    ids = ["_".join(query.split()) for query in queries]
    if len(set(ids)) < len(ids):
        twice = next(one for k, one in enumerate(ids) if one in ids[:k])
        raise BadInput(f"two queries have the topic ID {twice}; give a topic file with --queries")
    return ids


def result_tables(result: Values) -> list[Table]:
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
        "Derive qrels from a click log. Grades distinguish clicked and skipped documents, or "
        "ranges of the click-through rate or of a click model's estimate."
    )
    makes_data_file = True
    takes_seed = False
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "clicks",
            metavar="CLICKS",
            help="click log: a table of session, topic, document, rank and clicked (with --shown: "
            "one row per click), TripClick's log, or UBI events",
        )
        parser.add_argument(
            "--queries",
            metavar="FILE",
            help="topic file (ID and text), needed for TripClick logs (JSON lines), optional for UBI "
            "events; only clicks for these queries are used",
        )
        parser.add_argument(
            "--ubi-queries",
            metavar="FILE",
            help="file of UBI queries, for UBI events without query text or impressions",
        )
        parser.add_argument(
            "--shown",
            metavar="FILE",
            help="table of the rankings shown, with topic, rank and document",
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        clicks: str,
        shown: str | None,
        queries: str | None,
        ubi_queries: str | None,
        output: str | None,
        **option_values: Any,
    ) -> Values:
        if shown and queries:
            raise BadInput(
                "--shown and --queries belong to different log formats; give only one of them"
            )
        try:
            options = Options.from_mapping(option_values)
        except ValueError as error:
            raise BadInput(str(error)) from None
        counts = read_log(
            clicks,
            shown=shown,
            queries=queries,
            ubi_queries=ubi_queries,
            min_dwell=options.min_dwell,
        )
        try:
            qrels = label_shown_pairs(counts, options)
        except ValueError as error:
            raise BadInput(f"{clicks}: {error}") from None
        for warning in [*counts.warnings, *qrels.warnings]:
            self.warn(f"{clicks}: {warning}")
        if output:
            try:
                with write_text_atomically(output) as out:
                    write_qrels(qrels, out)
            except ValueError as error:
                raise BadInput(f"{clicks}: {error}") from None
        return compute(counts, qrels, options)
