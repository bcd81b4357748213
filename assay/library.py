"""The functions of `import assay` (docs/reference/library.md). They take files, arrays and data
frames and return the values of the commands.

Qrels, runs and judgements may be a file's path, the result of a reader, a data frame (`topic
document grade`, `topic document score`, `topic document annotator grade` and the other columns of a
file of judgements), {topic: {document: number}}, or an object of ir_measures, ir_datasets, ranx,
PyTerrier or Hugging Face (`assay.inputs`). Several runs are a list, {tag: run}, or a pattern of
paths. Invalid input raises BadInput, or FormatError with file and line. Warnings are Python
warnings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from assay.analyses.shared.measures import DEFAULT_MEASURES, evaluate_runs
from assay.analyses.shared.reading import EvaluationOptions
from assay.atomic_files import write_text_atomically
from assay.cli.base import BadInput, to_json_types
from assay.column_types import JudgementColumns, QrelsColumns, RunColumns
from assay.formats import pool as pool_format
from assay.formats import qrels as qrels_format
from assay.formats import runs as run_format
from assay.formats.documents import DocumentRecord
from assay.formats.errors import FormatError
from assay.formats.judgements import read_judgements
from assay.formats.pool import read_pool
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.topic_scores import TopicScores, read_topic_scores, write_topic_scores
from assay.formats.topics import TopicRecord
from assay.functions import (
    FUNCTIONS,
    make_function,
    make_run_tags_distinct,
    prepare_call,
    read_judged_qrels,
    warn_caller,
)
from assay.inputs import read_documents_input, read_qrels_input, read_runs_input, read_topics_input
from assay.labels.aggregation.labelling import Aggregation
from assay.measures.measures import format_measure_names, parse_measures, refuse_estimates
from assay.pools.depth import PooledPairs, cut_run, make_depth_pool
from assay.pools.strata import PoolSample
from assay.results import Result
from assay.tables import Scores, columns, frame

__all__ = [
    "Aggregation",
    "BadInput",
    "FormatError",
    "JudgementColumns",
    "PoolSample",
    "PooledPairs",
    "QrelsColumns",
    "RunColumns",
    "Scores",
    "aggregate",
    "columns",
    "compare_scores",
    "evaluate",
    "frame",
    "pool",
    "read_documents",
    "read_judgements",
    "read_pool",
    "read_qrels",
    "read_run",
    "read_scores",
    "read_topics",
    "sample_pool",
    "write_pool",
    "write_qrels",
    "write_run",
    "write_scores",
    *(name for name in FUNCTIONS if name != "aggregate"),
]


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Any = DEFAULT_MEASURES,
    *,
    min_relevant: int = 1,
    missing_topics: str = "zero",
    only_with_relevant: bool = False,
) -> Scores:
    """Score runs under qrels, as the command `evaluate` does.

    measures: space-separated names, or a list of names and ir-measures objects. min_relevant:
    minimum relevant grade, except for nDCG. missing_topics: count topics that a run lacks as 0
    (`zero`) or leave them out (`skip`). Raises ValueError for measures that cannot be computed, and
    FormatError for a file that cannot be read.
    """
    reading = EvaluationOptions(
        min_relevant=min_relevant,
        missing_topics=missing_topics,
        only_with_relevant=only_with_relevant,
    )
    parsed = parse_measures(format_measure_names(measures))
    refuse_estimates(parsed)
    judged = read_judged_qrels(qrels)
    evaluations = evaluate_runs(
        make_run_tags_distinct(read_runs_input(runs)),
        {judged.name: judged},
        parsed,
        reading,
        warn=warn_caller,
    )[judged.name]
    return Scores(
        [one.tag for one in evaluations],
        list(evaluations[0].topics),
        [str(measure) for measure in evaluations[0].measures],
        np.array([one.values for one in evaluations]),
    )


def compare_scores(
    scores: Scores | str | os.PathLike[str],
    *,
    against: str = "all",
    correction: str = "holm",
    permutations: int = 100_000,
    alpha: float = 0.05,
    missing_topics: str = "zero",
    seed: int = 0,
) -> Result:
    """Test the differences of systems on any scores by topic, as `compare systems --scores` does.

    scores: from `evaluate` or arrays, or a file of `run measure topic value`. A topic with an
    undefined score (NaN) is left out. missing_topics: topics of a file without a row of a run count
    as 0 (`zero`) or are left out (`skip`). The other options are those of `compare`. Raises
    ValueError for invalid options and fewer than two runs, and FormatError for a file that cannot
    be read.
    """
    from assay.analyses.compare_systems import Options, compute_scores, result_charts, result_tables

    options = Options(
        against=against,
        correction=correction,
        permutations=permutations,
        alpha=alpha,
        missing_topics=missing_topics,
    )
    table = (
        TopicScores(
            scores.tags,
            scores.topics,
            scores.measures,
            scores.values,
            np.ones(scores.values.shape, dtype=bool),
        )
        if isinstance(scores, Scores)
        else read_topic_scores(scores)
    )
    values = to_json_types(compute_scores(table, options, seed=seed))
    return Result({**values, "seed": seed}, result_tables, result_charts)


def aggregate(
    judgements: Any,
    *,
    grades: int = 4,
    method: str = "majority",
    labels: str = "graded",
    **options: Any,
) -> Aggregation:
    """Return one label per pair, as the command `aggregate` does. `evaluate`, `compare` and
    `write_qrels` accept the result as qrels.

    method: `majority`, `median` or `dawid-skene`. grades: number of grades. labels: `graded`, or
    `binary` (relevant or not). options: min_relevant, min_judgements, min_seconds, no_gold, rule.
    """
    from assay.analyses.aggregate import Options, aggregate_by_scale
    from assay.analyses.shared.judged_files import read_judged

    command, asked = prepare_call(
        "aggregate",
        {"judgements": judgements, "grades": grades, "method": method, "labels": labels, **options},
    )
    return aggregate_by_scale(read_judged(command, asked), Options.from_mapping(asked))[
        asked["labels"]
    ]


def pool(
    runs: Any, depth: int = 10, *, topics: Sequence[str] | None = None, seed: int = 0
) -> PooledPairs:
    """Return the pairs within the first `depth` documents of any run, ordered by best rank, as the
    command `pool build` does. topics: limit the pool to these."""
    tops = [
        cut_run(run, depth, topics=topics) for run in make_run_tags_distinct(read_runs_input(runs))
    ]
    return make_depth_pool(tops, depth=depth, rng=np.random.default_rng(seed))


def sample_pool(
    runs: Any,
    depth: int = 10,
    *,
    budget: float = 0.2,
    strata: str = "rank",
    topics: Sequence[str] | None = None,
    llm_qrels: Any = None,
    judged: Any = None,
    seed: int = 0,
) -> PoolSample:
    """Draw a stratified random sample of the pool of runs, as the command `pool sample` does.

    budget: share of the pool to draw. strata: `rank`, windows of best rank within each topic, or
    `votes`, windows of the share of runs with the pair in their top ten. llm_qrels: LLM labels of
    every pair of the pool. If given, strata combine votes and these labels. judged: qrels of pairs
    that are already judged, from which the pairs drawn get their grades. Raises ValueError if no
    sample can be drawn.
    """
    from assay.analyses.sample_pool import Options, draw_sample, grades_by_pair

    options = Options(depth=depth, budget=budget, strata=strata)
    return draw_sample(
        pool(runs, depth, topics=topics, seed=seed),
        options,
        llm_labels=None if llm_qrels is None else grades_by_pair(read_qrels_input(llm_qrels)),
        grades=None if judged is None else grades_by_pair(read_qrels_input(judged)),
        seed=seed,
        warn=warn_caller,
    )


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Read scores by topic from a file of `run measure topic value`, such as a leaderboard of
    TREC's Auto-Judge. Undefined and missing values are NaN, and rows of the topic `all` are left
    out."""
    table = read_topic_scores(path)
    return Scores(table.tags, table.topics, table.measures, table.values)


def read_topics(topics: Any) -> list[TopicRecord]:
    """Read topics from a file, a dataset of ir_datasets (`irds:ID`), {topic: text}, or a data
    frame."""
    return read_topics_input(topics)


def read_documents(documents: Any) -> Iterator[DocumentRecord]:
    """Yield documents one by one. Input as for `read_topics`."""
    return read_documents_input(documents)


def write_qrels(qrels: Any, path: str | os.PathLike[str]) -> None:
    """Write qrels in TREC format, completely or not at all."""
    with write_text_atomically(path) as out:
        qrels_format.write_qrels(read_qrels_input(qrels), out)


def write_run(run: Any, path: str | os.PathLike[str], *, with_description: bool = False) -> None:
    """Write a run in TREC format, completely or not at all. with_description: begin with its
    description as an ir_metadata head, if it has one."""
    (one,) = read_runs_input(run)
    with write_text_atomically(path) as out:
        run_format.write_run(one, out, with_description=with_description)


def write_scores(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write scores as `run measure topic value`, with the mean as topic `all`, completely or not at
    all. NaN is written as nan."""
    with write_text_atomically(path) as out:
        write_topic_scores(scores.tags, scores.topics, scores.measures, scores.values, out)


def write_pool(pool: PooledPairs | PoolSample, path: str | os.PathLike[str]) -> None:
    """Write a pool, or a sample with the five columns of a sampled pool."""
    if isinstance(pool, PoolSample):
        from assay.analyses.sample_pool import write_sample

        return write_sample(os.fspath(path), pool)
    with write_text_atomically(path) as out:
        pool_format.write_pool(pool, out)


def __getattr__(name: str) -> Any:
    """Return a function of assay.functions, created at its first use."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'assay.library' has no attribute {name!r}")
    globals()[name] = make_function(name)
    return globals()[name]
