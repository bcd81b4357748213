"""Loaded by a worker of the tests: it does not wait as long until it finds that a job does not end."""

from __future__ import annotations

from pooling.platform import interruptions, jobs

jobs.CANCEL_SECONDS = interruptions.KILL_SECONDS = 1.0
