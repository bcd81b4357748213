"""Import every service that registers a kind of job."""

# ruff: noqa: F401

from pooling.services import (
    documents,
    ordering,
    pool_extension,
    pool_preview,
    pools,
    qrels,
    runs,
    sampling,
    sets,
    topics,
    unpooled_strata,
)
