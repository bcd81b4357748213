"""Imports every service that registers a kind of job."""

from pooling.services import documents, pools, qrels, runs, sets, topics  # noqa: F401  registered on import
