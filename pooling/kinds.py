"""Imports every service that registers a kind of job."""

# ruff: noqa: F401

from pooling.services import (
    documents,
    extending,
    late_strata,
    ordering,
    pool_preview,
    pools,
    qrels,
    runs,
    sampling,
    sets,
    topics,
)
