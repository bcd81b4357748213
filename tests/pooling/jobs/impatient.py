"""Loaded by a worker of the tests: it does not wait as long until it finds that its processes take
no job, or that a job does not end."""

from __future__ import annotations

from pooling import worker
from pooling.platform import interruptions, jobs

worker.IN_VAIN = 20.0
jobs.CANCEL_SECONDS = interruptions.KILL_SECONDS = 1.0
