"""Build a depth-k pool from runs."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import numpy as np

from assay.analyses.shared.pool_files import add_pool_options, tops_of_files
from assay.cli.base import BadInput, FileCommand, text_table, whole_file
from assay.counts import counted
from assay.formats.pool import write_pool
from assay.formats.topics import read_topics
from assay.pools.coverage import overlap, unique_pairs
from assay.pools.depth import depth_pool


class Command(FileCommand):
    help = (
        "Build the depth-k pool of runs: every document among the first k of a run, best rank, "
        "contributing runs, order of judging."
    )
    makes_data_file = True

    def arguments(self, parser: ArgumentParser) -> None:
        add_pool_options(parser)

    def compute(
        self,
        *,
        runs: list[str],
        depth: int,
        topics: str | None,
        order: Any,
        scores: Any,
        lenient: bool,
        seed: int,
        output: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        if "-" in runs and topics == "-":
            raise BadInput("standard input (-) can be read once only")
        wanted = None if topics is None else [topic.topic for topic in read_topics(topics)]
        tops = tops_of_files(
            self, runs, depth=depth, topics=wanted, order=order, scores=scores, lenient=lenient
        )
        tags = [top.tag for top in tops]
        pool = depth_pool(tops, depth=depth, rng=np.random.default_rng(seed))
        if wanted is not None and (empty := len(set(wanted) - set(pool.topics))):
            self.warn(f"{counted(empty, 'topic', 'has', 'have')} no document in any run")
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
            "overlap": {
                a: {b: shares[i, j] for j, b in enumerate(tags)} for i, a in enumerate(tags)
            },
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        tags = list(result["unique"])
        parts = [
            (
                f"{counted(result['pairs'], 'pair')} of {counted(result['topics'], 'topic')}, depth "
                f"{result['depth']}, seed {result['seed']}"
            )
        ]
        parts.append(
            text_table(["depth", "pairs"], [[depth, n] for depth, n in result["by_depth"].items()])
        )
        parts.append(
            text_table(["run", "only this run"], [[tag, n] for tag, n in result["unique"].items()])
        )
        if len(tags) <= 12:
            rows = [[a, *(result["overlap"][a][b] for b in tags)] for a in tags]
            parts.append(
                "Share of the row's pairs that the column has too:\n"
                + text_table(["", *tags], rows)
            )
        return "\n\n".join(parts)
