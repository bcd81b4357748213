"""Three retrieval systems over the demo's documents: BM25, TF-IDF and latent semantic analysis
(scikit-learn)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

TOKEN = r"(?u)[^\W\d_]{2,}"
"""A word: letters only, so that `csv.reader` and `random_sample` are split."""


def bm25(
    documents: Sequence[str], queries: Sequence[str], *, k1: float = 1.2, b: float = 0.75
) -> NDArray[np.float64]:
    """Return scores (queries, documents) by Okapi BM25 (Robertson and Zaragoza 2009), with idf =
    ln(1 + (N - n + 0.5) / (n + 0.5))."""
    counter = CountVectorizer(token_pattern=TOKEN, stop_words="english")
    counts = sparse.csr_matrix(counter.fit_transform(documents), dtype=np.float64)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    n_with_term = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((counts.shape[0] - n_with_term + 0.5) / (n_with_term + 0.5))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    saturation = k1 * (1 - b + b * lengths / lengths.mean())
    weights = counts.copy()
    weights.data = idf[counts.indices] * counts.data * (k1 + 1) / (counts.data + saturation[rows])
    asked = counter.transform(queries)
    return np.asarray((asked @ weights.T).todense())


def tf_idf(documents: Sequence[str], queries: Sequence[str]) -> NDArray[np.float64]:
    """Return scores (queries, documents): the cosine of tf-idf vectors with logarithmic term
    frequency."""
    vectorizer = TfidfVectorizer(token_pattern=TOKEN, stop_words="english", sublinear_tf=True)
    vectors = vectorizer.fit_transform(documents)
    return np.asarray((vectorizer.transform(queries) @ vectors.T).todense())


def lsa(
    documents: Sequence[str], queries: Sequence[str], *, dimensions: int = 100, seed: int = 0
) -> NDArray[np.float64]:
    """Return scores (queries, documents): the cosine of tf-idf vectors after a truncated singular
    value decomposition (Deerwester et al. 1990)."""
    vectorizer = TfidfVectorizer(
        token_pattern=TOKEN, stop_words="english", sublinear_tf=True, min_df=2
    )
    vectors = vectorizer.fit_transform(documents)
    space = TruncatedSVD(n_components=dimensions, random_state=seed)
    placed = normalize(space.fit_transform(vectors))
    return np.asarray(normalize(space.transform(vectorizer.transform(queries))) @ placed.T)


SYSTEMS: dict[str, Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]] = {
    "BM25": bm25,
    "TF-IDF": tf_idf,
    "LSA": lsa,
}


def run_lines(
    tag: str,
    topics: Sequence[str],
    names: Sequence[str],
    scores: NDArray[np.float64],
    *,
    top: int = 100,
) -> list[str]:
    """Format scores as the lines of a TREC run with the best `top` documents of each topic that
    have a positive score."""
    lines = []
    for topic, row in zip(topics, scores, strict=True):
        best = sorted(
            np.flatnonzero(row > 0).tolist(),
            key=lambda i: (round(float(row[i]), 6), names[i]),
            reverse=True,
        )[:top]
        lines += [
            f"{topic} Q0 {names[i]} {rank} {row[i]:.6f} {tag}"
            for rank, i in enumerate(best, start=1)
        ]
    return lines
