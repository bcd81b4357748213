"""Build a depth-k pool from runs."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import numpy as np

from assay.analyses.shared.pool_files import (
    PoolOptions,
    add_pool_options,
    read_pooled_topics,
    read_run_tops,
)
from assay.cli.base import FileCommand, write_text_atomically
from assay.formats.pool import write_pool
from assay.number_words import format_count
from assay.pools.coverage import compute_overlap, count_unique_pairs
from assay.pools.depth import PooledPairs, make_depth_pool
from assay.results import Values
from assay.tabular import Cell, Table


def compute(pool: PooledPairs) -> Values:
    """Count the pairs of a pool by depth, the pairs found by a single run, and the overlap of runs.

    overlap: share of the first run's pairs that the second run has as well.
    """
    shares = compute_overlap(pool)
    return {
        "pairs": len(pool),
        "topics": len(pool.topics),
        "depth": pool.depth,
        "by_depth": pool.by_depth(),
        "unique": dict(zip(pool.tags, count_unique_pairs(pool).tolist(), strict=True)),
        "overlap": {
            a: {b: shares[i, j] for j, b in enumerate(pool.tags)} for i, a in enumerate(pool.tags)
        },
    }


def result_tables(result: Values) -> list[Table]:
    tags = list(result["unique"])
    pairs = f"{format_count(result['pairs'], 'pair')} of {format_count(result['topics'], 'topic')}"
    seed = f", seed {result['seed']}" if "seed" in result else ""
    depths: list[list[Cell]] = [[int(depth), n] for depth, n in result["by_depth"].items()]
    unique: list[list[Cell]] = [[tag, n] for tag, n in result["unique"].items()]
    shares: list[list[Cell]] = [[a, *(result["overlap"][a][b] for b in tags)] for a in tags]
    note = f"{pairs}, depth {result['depth']}{seed}."
    return [
        Table("depths", "Pairs by depth", ["depth", "pairs"], depths, note),
        Table("unique", "Unique pairs by run", ["run", "only this run"], unique),
        Table(
            "overlap",
            "Overlap of runs",
            ["run", *tags],
            shares,
            "Share of the pairs of the row's run that are also in the column's run.",
        ),
    ]


class Command(FileCommand):
    help = (
        "Build the depth-k pool of runs: all documents in the first k results of any run, with "
        "their best rank, contributing runs and order of judging."
    )
    makes_data_file = True
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        add_pool_options(parser, PoolOptions)

    def compute(
        self,
        *,
        runs: list[str],
        only_topics: str | None,
        seed: int,
        output: str | None,
        **option_values: Any,
    ) -> Values:
        options = PoolOptions.from_mapping(option_values)
        wanted = read_pooled_topics(runs, only_topics)
        tops = read_run_tops(self, runs, options, wanted)
        pool = make_depth_pool(tops, depth=options.depth, rng=np.random.default_rng(seed))
        if wanted is not None and (empty := len(set(wanted) - set(pool.topics))):
            self.warn(f"{format_count(empty, 'topic', 'has', 'have')} no document in any run")
        if output:
            with write_text_atomically(output) as out:
                write_pool(pool, out)
        return compute(pool)
