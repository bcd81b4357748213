"""Build a depth-k pool from runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from pooling.commandline import BadInput, FileCommand, Progress, distinct_tags, positive, text_table, whole_file
from pooling.core.coverage import overlap, unique_pairs
from pooling.core.depth import DEEPEST, depth_pool, top_of_run
from pooling.formats.pool import write_pool
from pooling.formats.runs import read_run
from pooling.formats.topics import read_topics


class Command(FileCommand):
    help = "Build the depth-k pool of runs: every document among the first k of a run, best rank, contributing runs, order of judging."
    makes_data_file = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+", help="run files; - reads standard input")
        parser.add_argument("--depth", type=positive, default=10, metavar="K", help="documents of each run and topic (default 10)")
        parser.add_argument("--topics", metavar="FILE", help="pool only these topics")
        parser.add_argument("--order", choices=["score", "rank"], default="score", help="what orders a run (default score, as trec_eval)")
        parser.add_argument("--scores", choices=["float64", "float32"], default="float64", help="precision in which scores are compared")
        parser.add_argument("--lenient", action="store_true", help="accept further columns, and runs of three columns")

    def compute(
        self, *, runs: list[str], depth: int, topics: str | None, order: Any, scores: Any, lenient: bool, seed: int, output: str | None,
        **options: Any,
    ) -> dict[str, Any]:  # fmt: skip
        if depth > DEEPEST:
            raise BadInput(f"a pool can be at most {DEEPEST} deep")
        if runs.count("-") > 1 or ("-" in runs and topics == "-"):
            raise BadInput("standard input (-) can be read once only")
        wanted = None if topics is None else [topic.topic for topic in read_topics(topics)]
        tops = []
        with Progress("runs read", len(runs)) as progress:
            for path in runs:
                run = read_run(path, order=order, scores=scores, lenient=lenient)
                for warning in run.warnings:
                    self.warn(f"{path}: {warning}")
                if wanted is not None and (ignored := len(set(run.topics) - set(wanted))):
                    self.warn(f"{path}: {ignored} topics are not among those given and were ignored")
                tops.append(top_of_run(run, depth, topics=wanted))
                del run
                progress.step()
        tags, warnings = distinct_tags(top.tag for top in tops)
        for warning in warnings:
            self.warn(warning)
        pool = depth_pool(
            [replace(top, tag=tag) for top, tag in zip(tops, tags, strict=True)], depth=depth, rng=np.random.default_rng(seed)
        )
        if wanted is not None and (empty := len(set(wanted) - set(pool.topics))):
            self.warn(f"{empty} topics have no document in any run")
        if output:
            with whole_file(output) as out:
                write_pool(pool, out)
        shares = overlap(pool)
        return {
            "pairs": len(pool),
            "topics": len(pool.topics),
            "depth": depth,
            "by_depth": pool.by_depth(),
            "unique": dict(zip(tags, unique_pairs(pool).tolist(), strict=True)),
            "overlap": {a: {b: shares[i, j] for j, b in enumerate(tags)} for i, a in enumerate(tags)},
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        tags = list(result["unique"])
        parts = [f"{result['pairs']} pairs of {result['topics']} topics, depth {result['depth']}, seed {result['seed']}"]
        parts.append(text_table(["depth", "pairs"], [[depth, n] for depth, n in result["by_depth"].items()]))
        parts.append(text_table(["run", "only this run"], [[tag, n] for tag, n in result["unique"].items()]))
        if len(tags) <= 12:
            rows = [[a, *(result["overlap"][a][b] for b in tags)] for a in tags]
            parts.append("Share of the row's pairs that the column has too:\n" + text_table(["", *tags], rows))
        return "\n\n".join(parts)
