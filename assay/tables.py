"""Convert results of the library's functions to columns: arrays by name, or a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.column_types import JudgementColumns, QrelsColumns, RunColumns
from assay.labels.aggregation.labelling import DECISIONS, Aggregation
from assay.measures.evaluation import compute_topic_means
from assay.measures.measures import parse_measure
from assay.pools.depth import PooledPairs
from assay.pools.strata import PoolSample

Columns = dict[str, Any]
"""{name: list or array}, all of the same length."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of runs. values: float64 (n_runs, n_topics, n_measures), NaN if a topic does not
    count. tags, topics, measures: names along the axes."""

    tags: list[str]
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Return float64 (n_runs, n_measures), the means over the topics that count, NaN if there
        are none."""
        return np.array([compute_topic_means(of_run) for of_run in self.values]).reshape(
            len(self.tags), len(self.measures)
        )

    def of(self, measure: object) -> NDArray[np.float64]:
        """Return float64 (n_runs, n_topics) of the measure, in any spelling. Raises ValueError for
        a measure that was not computed."""
        name = str(measure) if measure in self.measures else str(parse_measure(measure))
        if name not in self.measures:
            raise ValueError(f"{name} was not requested; choose from {', '.join(self.measures)}")
        return self.values[:, :, self.measures.index(name)]

    def __getitem__(self, run_and_measure: tuple[str, object]) -> float:
        """Return the mean of a run by a measure: scores["BM25", "AP"]. Raises KeyError for an
        unknown run."""
        run, measure = run_and_measure
        if run not in self.tags:
            raise KeyError(f"unknown run {run!r}; choose from {', '.join(self.tags)}")
        return float(compute_topic_means(self.of(measure).T)[self.tags.index(run)])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}, NaN if no topic counts."""
        return {
            run: dict(zip(self.measures, means, strict=True))
            for run, means in zip(self.tags, self.means.tolist(), strict=True)
        }

    def to_frame(self, *, per_topic: bool = False) -> Any:
        """Return a pandas DataFrame of the means, or of every topic, as `frame` does."""
        return frame(self, per_topic=per_topic)

    def _repr_html_(self) -> str:
        """Return the means as HTML for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in ["run", *self.measures])
        rows = "".join(
            f"<tr><th>{escape(run)}</th>{''.join(f'<td>{mean:.4f}</td>' for mean in of.values())}</tr>"
            for run, of in self.to_dict().items()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def columns(value: Any, *, per_topic: bool = False) -> Columns:
    """Return a run, qrels, judgements, labels, pool, sample or scores as columns. per_topic: scores
    of each topic instead of means.

    Raises TypeError for other values.
    """
    if isinstance(value, Scores):
        return (
            _topic_columns(value)
            if per_topic
            else {
                "run": value.tags,
                **{name: value.means[:, i] for i, name in enumerate(value.measures)},
            }
        )
    readers: dict[type, Callable[[Any], Columns]] = {
        RunColumns: _run_columns,
        QrelsColumns: _qrels_columns,
        JudgementColumns: _judgement_columns,
        Aggregation: _label_columns,
        PooledPairs: _pool_columns,
        PoolSample: _sample_columns,
    }
    for kind, function in readers.items():
        if isinstance(value, kind):
            return function(value)
    raise TypeError(
        f"cannot read columns from {type(value).__name__}; expected runs, qrels, judgements, labels, a pool or scores"
    )


def frame(value: Any, *, per_topic: bool = False) -> Any:
    """Return the columns as a pandas DataFrame. A list of rows, such as
    `compare(...)["nDCG@10"]["pairs"]`, is also accepted. Raises ImportError without pandas."""
    return columns_as_frame(
        value if isinstance(value, list) else columns(value, per_topic=per_topic)
    )


def columns_as_frame(columns: Columns | list[Any]) -> Any:
    """Return a pandas DataFrame of columns or rows. Raises ImportError without pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "data frames need pandas, which is not installed; assay.columns(...) returns the same as arrays"
        ) from None
    return pandas.DataFrame(columns)


def _run_columns(run: RunColumns) -> Columns:
    lengths = np.diff(run.offsets)
    return {
        "run": [run.tag] * len(run),
        "topic": np.repeat(np.array(run.topics, dtype=object), lengths),
        "document": _decode_ids(run.documents),
        "score": run.scores,
        "rank": np.arange(len(run)) - np.repeat(run.offsets[:-1], lengths) + 1,
    }


def _qrels_columns(qrels: QrelsColumns) -> Columns:
    topics = np.repeat(np.array(qrels.topics, dtype=object), np.diff(qrels.offsets))
    return {"topic": topics, "document": _decode_ids(qrels.documents), "grade": qrels.grades}


def _judgement_columns(judgements: JudgementColumns) -> Columns:
    return {
        "topic": [judgements.topics[i] for i in judgements.topic],
        "document": [judgements.documents[i] for i in judgements.document],
        "annotator": [judgements.annotators[i] for i in judgements.annotator],
        **{
            name: getattr(judgements, name)
            for name in ("grade", "seconds", "judged_at", "excluded", "gold")
        },
    }


def _label_columns(labels: Aggregation) -> Columns:
    rows, table = np.flatnonzero(labels.is_labelled), labels.table
    columns: Columns = {
        "topic": [table.topics[i] for i in table.pair_topic[rows]],
        "document": [table.documents[i] for i in table.pair_document[rows]],
        "grade": labels.label[rows],
        "judgements": table.judgements_per_pair[rows],
    }
    if labels.decision is not None:
        columns["decision"] = [DECISIONS[code] for code in labels.decision[rows].tolist()]
    return columns


def _pool_columns(pool: PooledPairs) -> Columns:
    return {
        "topic": [pool.topics[i] for i in pool.topic],
        "document": _decode_ids(pool.documents),
        "best_rank": pool.best_rank,
        "priority": pool.priority,
        **{f"rank in {tag}": pool.ranks[:, k] for k, tag in enumerate(pool.tags)},
    }


def _sample_columns(sample: PoolSample) -> Columns:
    pool, strata = sample.pool, sample.strata
    columns: Columns = {
        "topic": [pool.topics[i] for i in pool.topic],
        "document": _decode_ids(pool.documents),
        "stratum": [strata.names[i] for i in strata.stratum],
        "place": sample.place + 1,
        "probability": sample.probability,
        "drawn": sample.is_drawn,
    }
    return columns if sample.labels is None else {**columns, "grade": sample.labels}


def _topic_columns(scores: Scores) -> Columns:
    n_runs, n_topics, n_measures = scores.values.shape
    flat = scores.values.reshape(n_runs * n_topics, n_measures)
    tags = np.repeat(np.array(scores.tags, dtype=object), n_topics)
    return {
        "run": tags,
        "topic": scores.topics * n_runs,
        **{name: flat[:, i] for i, name in enumerate(scores.measures)},
    }


def _decode_ids(ids: Any) -> list[str]:
    return [value.decode("utf-8") for value in ids.tolist()]
