"""Options of commands that pool run files, and the first documents of each run."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.analyses.shared.reading import RunFiles
from assay.cli.base import BadInput, FileCommand, ProgressLine, make_tags_distinct
from assay.formats.runs import read_run
from assay.formats.topics import read_topics
from assay.number_words import format_count
from assay.options import add_options, option
from assay.pools.depth import MAX_DEPTH, RunTop, cut_run


@dataclass(frozen=True)
class PoolOptions(RunFiles):
    """Options of commands that pool runs."""

    depth: int = option(
        10,
        "Depth of the pool",
        help="depth of the pool: number of top documents per run and topic",
        least=1,
        metavar="K",
    )
    sort_by: Literal["score", "rank"] = option(
        "score",
        "Order of runs",
        help="order of the documents in a run",
        choices=(("score", "by score, as trec_eval"), ("rank", "by the rank column")),
    )


def add_pool_options(parser: ArgumentParser, options: type) -> None:
    """Add RUN..., --only-topics and the options."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files; - reads standard input")
    parser.add_argument(
        "--only-topics", metavar="FILE", help="file of the topics to pool (default: all)"
    )
    add_options(parser, options)


def read_pooled_topics(runs: Sequence[str], topics: str | None) -> list[str] | None:
    """Return the IDs of the topics to pool, or None for all. Raises BadInput if two arguments are
    standard input."""
    if "-" in runs and topics == "-":
        raise BadInput("standard input (-) can be read only once")
    return None if topics is None else [topic.topic for topic in read_topics(topics)]


def read_run_tops(
    command: FileCommand,
    paths: Sequence[str],
    options: PoolOptions,
    topics: Sequence[str] | None,
) -> list[RunTop]:
    """Read the first documents of each run, one file at a time, and make the tags distinct."""
    depth = options.depth
    if depth > MAX_DEPTH:
        raise BadInput(f"--depth {depth} is too large, expected at most {MAX_DEPTH}")
    if paths.count("-") > 1:
        raise BadInput("standard input (-) can be read only once")
    tops = []
    with ProgressLine("reading runs", len(paths)) as progress:
        for path in paths:
            run = read_run(
                path, order=options.sort_by, scores=options.precision, lenient=options.lenient
            )
            command.show_reader_messages(path, run)
            if topics is not None and (ignored := len(set(run.topics) - set(topics))):
                command.warn(
                    f"{path}: left out {format_count(ignored, 'topic', 'that is', 'that are')} not in the topic file"
                )
            tops.append(cut_run(run, depth, topics=topics))
            progress.step()
    tags, warnings = make_tags_distinct(top.tag for top in tops)
    for warning in warnings:
        command.warn(warning)
    return [replace(top, tag=tag) for top, tag in zip(tops, tags, strict=True)]
