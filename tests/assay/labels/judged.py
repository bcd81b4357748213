"""Constructors of small label tables for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from assay.labels.labels import MISSING, LabelTable, make_label_table


def table_of_rows(
    rows: Iterable[tuple[str, str, str, int]],
    *,
    n_grades: int,
    seconds: Sequence[float] | None = None,
    judged_at: Sequence[float] | None = None,
) -> LabelTable:
    """Create a label table from (topic, document, annotator, grade), one row per judgement."""
    rows = list(rows)
    columns = [[row[i] for row in rows] for i in range(3)]
    ids = [list(dict.fromkeys(column)) for column in columns]
    index = [
        [names.index(value) for value in column] for names, column in zip(ids, columns, strict=True)
    ]
    return make_label_table(
        topics=ids[0],
        documents=ids[1],
        annotators=ids[2],
        topic=index[0],
        document=index[1],
        annotator=index[2],
        grade=[row[3] for row in rows],
        n_grades=n_grades,
        seconds=seconds,
        judged_at=judged_at,
    )


def table_of_pairs(grades: Sequence[Sequence[int]], *, n_grades: int) -> LabelTable:
    """Create a label table from the grades of each pair. Pair i of topic t is document d<i>, and
    its k-th grade is by annotator a<k>. MISSING: not judged by that annotator."""
    return table_of_rows(
        [
            ("t", f"d{i:04}", f"a{k:03}", grade)
            for i, row in enumerate(grades)
            for k, grade in enumerate(row)
            if grade != MISSING
        ],
        n_grades=n_grades,
    )


def random_grades(
    rng: np.random.Generator,
    *,
    n_pairs: int,
    n_annotators: int,
    n_grades: int,
    missing: float = 0.3,
    accuracy: float = 0.6,
) -> np.ndarray:
    """Draw grades that tend towards a true one, shape (n_pairs, n_annotators), MISSING where not
    judged."""
    truth = rng.integers(n_grades, size=n_pairs)
    grades = np.where(
        rng.random((n_pairs, n_annotators)) < accuracy,
        truth[:, None],
        rng.integers(n_grades, size=(n_pairs, n_annotators)),
    )
    grades[rng.random(grades.shape) < missing] = MISSING
    return grades
