"""Options of analyses of judgements, and judgements read from a file or a campaign."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.counted_judgements import CountedJudgements, check_min_relevant
from assay.analyses.shared.judges import add_judges_option
from assay.analyses.shared.only_topics import (
    add_topics_option,
    filter_judgements,
    read_topic_filter,
)
from assay.cli.base import BadInput, FileCommand
from assay.formats.judgements import read_judgements
from assay.labels.labels import DroppedCounts, select_counted
from assay.options import CheckedOptions, add_options, option

DEFAULT_SCALE = 4
DEFAULT_MIN_RELEVANT = 2
DEFAULT_MIN_SECONDS = 1.0


def scale_option(label: str, **about: Any) -> Any:
    """Return the option `grades`: the number of grades, which are 0 to N - 1."""
    return option(
        DEFAULT_SCALE,
        label,
        **{"help": "number of grades, 0 to N - 1", **about},
        least=2,
        most_in_form=100,
        kind="scale",
    )


def parse_duration(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(
            f"{text!r} is not a number of seconds, expected a number of at least 0"
        )
    return value


@dataclass(frozen=True)
class JudgementOptions(CheckedOptions):
    """Options of analyses of judgements. None means the default for files, or the setting of the
    campaign."""

    grades: int | None = option(
        None,
        "Grades",
        help=f"number of grades, 0 to N - 1 (default: {DEFAULT_SCALE}; with --campaign, the campaign's)",
        least=2,
    )
    min_relevant: int | None = option(
        None,
        "Minimum relevant grade",
        help=f"minimum relevant grade of binary labels (default: {DEFAULT_MIN_RELEVANT}, or 1 "
        "for two grades; with --campaign, the campaign's)",
        least=1,
        metavar="N",
    )
    min_judgements: int = option(
        2,
        "Judgements per label",
        help="minimum number of counted judgements for a pair to have a label",
        least=1,
    )
    min_seconds: float | None = option(
        None,
        "Minimum time",
        help="minimum seconds per judgement; judgements without a known time count (default: "
        f"{DEFAULT_MIN_SECONDS:.0f}; with --campaign, the campaign's minimum applies)",
        read=parse_duration,
        metavar="S",
    )
    no_gold: bool = option(
        False, "Leave out gold questions", help="leave out judgements of gold questions"
    )


def add_judgement_options(parser: ArgumentParser, options: type) -> None:
    """Add JUDGEMENTS or --campaign, the options of the analysis, --annotators and --only-topics."""
    parser.add_argument(
        "judgements",
        metavar="JUDGEMENTS",
        nargs="?",
        help="CSV or TSV file with one row per judgement (topic, document, annotator, grade)",
    )
    parser.add_argument(
        "--campaign",
        metavar="SLUG",
        help="slug of a campaign in the database, whose judgements are used instead of a file",
    )
    add_options(parser, options)
    add_judges_option(parser)
    add_topics_option(parser)


def read_judged(command: FileCommand, options: Mapping[str, Any]) -> CountedJudgements:
    """Read the judgements that count from the file or the campaign.

    Raises FormatError if the file cannot be read, BadInput if the options name no judgements or
    contradict each other."""
    path, slug = options["judgements"], options["campaign"]
    if path is not None and options["annotators"]:
        raise BadInput(
            "--annotators requires --campaign, because a file does not record the annotator type"
        )
    if (path is None) == (slug is None):
        raise BadInput("give either a file of judgements or --campaign SLUG")
    if path is not None:
        return _read_file(command, path, options)
    judged: CountedJudgements = command.stored_campaigns().read_counted_judgements(
        command, slug, options
    )
    return judged


def _read_file(command: FileCommand, path: str, options: Mapping[str, Any]) -> CountedJudgements:
    n_grades = options["grades"] or DEFAULT_SCALE
    min_relevant = check_min_relevant(
        options["min_relevant"] or min(DEFAULT_MIN_RELEVANT, n_grades - 1), n_grades
    )
    stored = getattr(command, "stored", None)
    judgements = (
        stored.judgements[path]()
        if stored is not None and path in stored.judgements
        else read_judgements(path, scale=n_grades)
    )
    for warning in judgements.warnings:
        command.warn(warning)
    min_seconds = DEFAULT_MIN_SECONDS if options["min_seconds"] is None else options["min_seconds"]
    only = read_topic_filter(command, options, judgements.topics, path)
    judgements = filter_judgements(judgements, only)
    table, dropped = select_counted(
        judgements, n_grades=n_grades, min_seconds=min_seconds, with_gold=not options["no_gold"]
    )
    return CountedJudgements(table, dropped, min_relevant, None, only)


def count_dropped_rows(dropped: DroppedCounts) -> dict[str, int]:
    """Return the number of rows by reason, and of pairs without any counted judgement."""
    return {
        "too_fast": dropped.too_fast,
        "excluded": dropped.excluded,
        "repeated": dropped.repeated,
        "gold": dropped.gold,
        "emptied_pairs": dropped.emptied_pairs,
    }
