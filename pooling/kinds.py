"""Imports every service that registers a kind of job."""

from pooling.services import (  # noqa: F401  registered on import
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
