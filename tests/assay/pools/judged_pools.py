"""Pools of real runs, restricted to judged pairs: complete sets of judgements to replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.pools.depth import PooledPairs, cut_run, make_depth_pool


def judged_pool(
    folder: Path, runs: str, qrels: str, *, depth: int
) -> tuple[PooledPairs, np.ndarray]:
    """Return the depth-k pool of the folder's runs without unjudged pairs, and the grades of its
    pairs."""
    judged = read_qrels(str(folder / qrels))
    tops = []
    for path in sorted((folder / runs).iterdir()):
        top = cut_run(read_run(str(path), lenient=True), depth, topics=judged.topics)
        tops.append(replace(top, tag=path.name))
    pool = make_depth_pool(tops, depth=depth, rng=np.random.default_rng(0))
    grade_of = {}
    for index, topic in enumerate(judged.topics):
        own = judged.rows(index)
        grade_of.update(
            zip(
                ((topic, d) for d in judged.documents[own].tolist()),
                judged.grades[own].tolist(),
                strict=True,
            )
        )
    pairs = zip((pool.topics[t] for t in pool.topic.tolist()), pool.documents.tolist(), strict=True)
    grades = np.array([grade_of.get(pair, -1) for pair in pairs])
    kept = grades >= 0
    cut = {
        name: getattr(pool, name)[kept]
        for name in ("topic", "documents", "best_rank", "priority", "ranks", "everyone")
    }
    return replace(pool, **cut), grades[kept]
