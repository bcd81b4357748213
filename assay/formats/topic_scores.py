"""Read and write scores of runs by topic, `run measure topic value`, the leaderboards of TREC's
Auto-Judge and the output of trec_eval with a run in front. The value `nan` is an undefined score,
unlike a missing row, which is a topic that the run lacks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.formats.delimited import FileProblems
from assay.formats.streams import Source, display_name, iterate_lines

ALL_TOPICS = "all"
"""The topic of rows with the mean over topics."""
FOUR_COLUMNS = "4 columns: run measure topic value"


class TopicScores(NamedTuple):
    """Scores of runs by topic and measure. tags, topics, measures: in order of first appearance.
    values: float64 (n_runs, n_topics, n_measures), NaN if undefined or if the file has no row.
    has_row: bool (n_runs, n_topics, n_measures)."""

    tags: list[str]
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]
    has_row: NDArray[np.bool_]


def read_topic_scores(path: Source, *, name: str | None = None) -> TopicScores:
    """Read the scores of a file. Rows of the topic `all` are left out, because means follow from
    the topics. Blank lines and lines that begin with # are skipped.

    Raises FormatError with all problems: another number of columns, a value that is neither a
    finite number nor nan, a repeated row, no rows.
    """
    file_name = display_name(path, name)
    mistakes = FileProblems(file_name)
    rows: dict[tuple[str, str, str], float] = {}
    first: dict[tuple[str, str, str], int] = {}
    for number, text in iterate_lines(path, name=file_name):
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 4:
            mistakes.add(number, f"{len(cells)} columns", FOUR_COLUMNS, text)
            continue
        tag, measure, topic, cell = cells
        key = (tag, topic, measure)
        try:
            value = math.inf if "_" in cell else float(cell)
        except ValueError:
            value = math.inf
        if math.isinf(value):
            expected = "a value such as 0.25, or nan if undefined"
            mistakes.add(number, f"{cell!r} is not a finite number", expected, text)
        elif first.setdefault(key, number) != number:
            mistakes.add(
                number,
                f"duplicate {measure} of {tag} for topic {topic} (first in line {first[key]})",
                "each value once",
                text,
            )
        elif topic != ALL_TOPICS:
            rows[key] = value
    if not rows and not mistakes.count:
        mistakes.add(None, "no values by topic", f"at least one line of {FOUR_COLUMNS}")
    mistakes.raise_if_any()
    tags, topics, measures = (list(dict.fromkeys(names)) for names in zip(*rows, strict=True))
    values = np.full((len(tags), len(topics), len(measures)), np.nan)
    has_row = np.zeros(values.shape, dtype=bool)
    of_tag, of_topic, of_measure = (
        {one: place for place, one in enumerate(names)} for names in (tags, topics, measures)
    )
    for (tag, topic, measure), value in rows.items():
        place = of_tag[tag], of_topic[topic], of_measure[measure]
        values[place], has_row[place] = value, True
    return TopicScores(tags, topics, measures, values, has_row)


def write_topic_scores(
    tags: Sequence[str],
    topics: Sequence[str],
    measures: Sequence[str],
    values: NDArray[np.float64],
    out: IO[str],
) -> None:
    """Write `run measure topic value` by run and measure, each followed by the mean as topic
    `all`. Undefined values are written as nan and are not in the mean.

    values: float64 (n_runs, n_topics, n_measures). Raises ValueError for a name with white space.
    """
    for word in (*tags, *topics, *measures):
        if len(word.split()) != 1:
            raise ValueError(f"{word!r} contains white space, which a leaderboard does not allow")
    for tag, of_run in zip(tags, values, strict=True):
        for measure, of_topics in zip(measures, of_run.T, strict=True):
            defined = ~np.isnan(of_topics)
            for topic, value in zip(topics, of_topics.tolist(), strict=True):
                out.write(f"{tag} {measure} {topic} {value!r}\n")
            if defined.any():
                out.write(f"{tag} {measure} {ALL_TOPICS} {float(of_topics[defined].mean())!r}\n")
