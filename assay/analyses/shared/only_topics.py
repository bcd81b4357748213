"""Restrict a computation to the topics of a file (`--only-topics FILE`)."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.cli.base import BadInput, FileCommand
from assay.column_types import JudgementColumns, QrelsColumns
from assay.number_words import format_count, format_part


def add_topics_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--only-topics",
        metavar="FILE",
        help="file of the topics to use: a topic file, or one topic ID per line",
    )


def read_topic_filter(
    command: FileCommand, options: Mapping[str, Any], topics: Iterable[str], what: str
) -> frozenset[str] | None:
    """Return the IDs in the file, or None without the option. topics: topics of `what`.

    Warns about unknown IDs, and raises BadInput if all are unknown. Raises FormatError if the file
    cannot be read.
    """
    path = options["only_topics"]
    if path is None:
        return None
    from assay.formats.topics import (
        read_topics,
    )  # reads XML, which only this option needs

    wanted = frozenset(topic.topic for topic in read_topics(path))
    absent = sorted(wanted - set(topics))
    if len(absent) == len(wanted):
        raise BadInput(
            f"{path}: none of its {format_count(len(wanted), 'topic')} is in {what}, expected IDs such as {absent[0]!r}"
        )
    if absent:
        command.warn(
            f"{path}: {format_part(len(absent), len(wanted), 'topic', 'is', 'are')} not in {what}: {', '.join(absent[:5])}"
        )
    return wanted


def topic_row_mask(
    topics: Sequence[str], topic: NDArray[np.int32], wanted: frozenset[str] | None
) -> NDArray[np.bool_]:
    """Return (n), whether a row's topic is wanted. topics: IDs. topic: (n), indices into them.
    wanted: None for all."""
    if wanted is None:
        return np.ones(len(topic), dtype=bool)
    return np.array([name in wanted for name in topics], dtype=bool)[topic]


def filter_judgements(
    judgements: JudgementColumns, wanted: frozenset[str] | None
) -> JudgementColumns:
    """Return the judgements of the wanted topics. The lists of IDs are unchanged."""
    if wanted is None:
        return judgements
    kept = topic_row_mask(judgements.topics, judgements.topic, wanted)
    columns = (
        "topic",
        "document",
        "annotator",
        "grade",
        "seconds",
        "judged_at",
        "excluded",
        "gold",
        "lines",
    )
    return dataclasses.replace(
        judgements, **{name: getattr(judgements, name)[kept] for name in columns}
    )


def filter_qrels(qrels: QrelsColumns, wanted: frozenset[str] | None) -> QrelsColumns:
    """Return the grades of the wanted topics, in the order of the file."""
    if wanted is None:
        return qrels
    chosen = [number for number, topic in enumerate(qrels.topics) if topic in wanted]
    lengths = np.diff(qrels.offsets)[chosen]
    rows = np.concatenate(
        [np.arange(qrels.offsets[n], qrels.offsets[n + 1]) for n in chosen]
        or [np.empty(0, np.int64)]
    )
    return dataclasses.replace(
        qrels,
        topics=[qrels.topics[number] for number in chosen],
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        documents=qrels.documents[rows],
        grades=qrels.grades[rows],
    )
