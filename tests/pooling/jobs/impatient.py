"""Loaded by a worker of the tests: it does not wait as long until it finds that its processes take no job."""

from __future__ import annotations

from pooling import worker

worker.IN_VAIN = 20.0
