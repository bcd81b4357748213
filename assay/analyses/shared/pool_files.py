"""What the commands that make a pool of run files share: their options, and the first documents of
each run."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.cli.base import BadInput, FileCommand, ProgressLine, distinct_tags, positive
from assay.counts import counted
from assay.formats.runs import read_run
from assay.pools.depth import DEEPEST, Top, top_of_run


def add_pool_options(parser: ArgumentParser) -> None:
    """RUN..., --depth, --topics, --order, --scores, --lenient."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files; - reads standard input")
    parser.add_argument(
        "--depth",
        type=positive,
        default=10,
        metavar="K",
        help="documents of each run and topic (default 10)",
    )
    parser.add_argument("--topics", metavar="FILE", help="pool only these topics")
    parser.add_argument(
        "--order",
        choices=["score", "rank"],
        default="score",
        help="column that orders a run (default: score, as in trec_eval)",
    )
    parser.add_argument(
        "--scores",
        choices=["float64", "float32"],
        default="float64",
        help="precision in which scores are compared",
    )
    parser.add_argument(
        "--lenient", action="store_true", help="accept further columns, and runs of three columns"
    )


def tops_of_files(
    command: FileCommand,
    paths: Sequence[str],
    *,
    depth: int,
    topics: Sequence[str] | None,
    order: Any,
    scores: Any,
    lenient: bool,
) -> list[Top]:
    """The first documents of each run, one file in memory at a time, tags made distinct; warnings
    go to standard error."""
    if depth > DEEPEST:
        raise BadInput(f"a pool can be at most {DEEPEST} deep")
    if paths.count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    tops = []
    with ProgressLine("runs read", len(paths)) as progress:
        for path in paths:
            run = read_run(path, order=order, scores=scores, lenient=lenient)
            command.tell_of(path, run)
            if topics is not None and (ignored := len(set(run.topics) - set(topics))):
                command.warn(
                    f"{path}: {counted(ignored, 'topic', 'is', 'are')} not among those given and left out"
                )
            tops.append(top_of_run(run, depth, topics=topics))
            progress.step()
    tags, warnings = distinct_tags(top.tag for top in tops)
    for warning in warnings:
        command.warn(warning)
    return [replace(top, tag=tag) for top, tag in zip(tops, tags, strict=True)]
