"""What the commands over judgements share: their options, and where judgements come from, a file or a campaign's database.

judged = read_judged(self, options)        # Judged(table, dropped, threshold, campaign)
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from django.core.management.base import CommandParser

from analysis.core.labels import Dropped, LabelTable, counted
from analysis.selectors.judgements import EXCLUDED, EXTRA, NO_GRADE, TOO_FAST, read_rows, table_of
from annotation.models import Campaign
from pooling.commandline import BadInput, FileCommand, positive
from pooling.formats.judgements import read_judgements

DEFAULT_SCALE = 4
DEFAULT_THRESHOLD = 2
DEFAULT_MIN_SECONDS = 1.0


class Judged(NamedTuple):
    table: LabelTable
    dropped: Dropped
    threshold: int
    """Lowest relevant grade."""
    campaign: Campaign | None
    """None where the judgements come from a file."""


def at_least_two(text: str) -> int:
    value = positive(text)
    if value < 2:
        raise ArgumentTypeError("a scale has at least 2 grades")
    return value


def duration(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def add_judgement_options(parser: CommandParser) -> None:
    """JUDGEMENTS or --campaign, --scale, --threshold, --min-judgements, --min-seconds, --no-gold."""
    parser.add_argument(
        "judgements", metavar="JUDGEMENTS", nargs="?", help="CSV or TSV, one row per judgement (topic, document, annotator, grade)"
    )
    parser.add_argument("--campaign", metavar="SLUG", help="the judgements of this campaign in the database, in place of a file")
    parser.add_argument(
        "--scale", type=at_least_two, metavar="N", help=f"number of grades, 0 to N - 1 (default {DEFAULT_SCALE}; a campaign has its own)"
    )
    parser.add_argument(
        "--threshold",
        type=positive,
        metavar="GRADE",
        help=f"lowest relevant grade of the 2-grade label (default {DEFAULT_THRESHOLD}, of two grades 1; a campaign has its own)",
    )
    parser.add_argument(
        "--min-judgements", type=positive, default=2, metavar="N", help="a pair has a label from so many counted judgements on (default 2)"
    )
    parser.add_argument(
        "--min-seconds",
        type=duration,
        metavar="S",
        help=f"faster judgements do not count, unknown times do (default {DEFAULT_MIN_SECONDS:.0f}; a campaign has applied its own)",
    )
    parser.add_argument("--no-gold", action="store_true", help="leave out the judgements of gold pairs")


def read_judged(command: FileCommand, options: Mapping[str, Any]) -> Judged:
    """The judgements that count, from the file or the campaign named; warnings of the reader go to standard error.

    FormatError if the file cannot be read, BadInput if the options name no judgements or contradict each other.
    """
    path, slug = options["judgements"], options["campaign"]
    if (path is None) == (slug is None):
        raise BadInput("judgements come from a file or from --campaign SLUG, expected one of the two")
    return _of_campaign(slug, options) if path is None else _of_file(command, path, options)


def _of_file(command: FileCommand, path: str, options: Mapping[str, Any]) -> Judged:
    n_grades = options["scale"] or DEFAULT_SCALE
    threshold = _threshold(options["threshold"] or min(DEFAULT_THRESHOLD, n_grades - 1), n_grades)
    judgements = read_judgements(path, scale=n_grades)
    for warning in judgements.warnings:
        command.warn(warning)
    min_seconds = DEFAULT_MIN_SECONDS if options["min_seconds"] is None else options["min_seconds"]
    table, dropped = counted(judgements, n_grades=n_grades, min_seconds=min_seconds, with_gold=not options["no_gold"])
    return Judged(table, dropped, threshold, None)


def _of_campaign(slug: str, options: Mapping[str, Any]) -> Judged:
    """The campaign has decided what is too fast or excluded; --min-seconds and --no-gold narrow it further."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        raise BadInput(f"there is no campaign {slug!r}")
    n_grades = len(campaign.scale)
    if options["scale"] not in (None, n_grades):
        raise BadInput(f"--scale {options['scale']}, but the campaign {slug} has {n_grades} grades")
    threshold = _threshold(options["threshold"] or campaign.threshold, n_grades)
    rows = read_rows(campaign)
    rows = rows.where((rows.grade != NO_GRADE) & (rows.standing != EXTRA))
    slow_enough = ~(rows.active < (options["min_seconds"] or 0))
    wanted = (rows.gold == NO_GRADE) | (not options["no_gold"])
    table = table_of(rows, n_grades=n_grades, only=slow_enough & wanted)
    dropped = Dropped(
        repeated=0,  # older revisions are not read
        too_fast=int(((rows.standing == TOO_FAST) | (rows.counts & ~slow_enough)).sum()),
        excluded=int((rows.standing == EXCLUDED).sum()),
        gold=int((rows.counts & slow_enough & ~wanted).sum()),
        emptied_pairs=len(np.unique(rows.pair)) - table.n_pairs,
    )
    return Judged(table, dropped, threshold, campaign)


def _threshold(threshold: int, n_grades: int) -> int:
    if threshold >= n_grades:
        raise BadInput(f"--threshold {threshold} is above every grade of a scale of {n_grades}, expected 1 to {n_grades - 1}")
    return threshold


def dropped_rows(dropped: Dropped) -> dict[str, int]:
    """For JSON: rows by reason, and pairs left without any counted judgement."""
    return {
        "too_fast": dropped.too_fast,
        "excluded": dropped.excluded,
        "repeated": dropped.repeated,
        "gold": dropped.gold,
        "emptied_pairs": dropped.emptied_pairs,
    }
