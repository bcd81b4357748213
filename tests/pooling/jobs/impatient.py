"""A module for workers in tests that shortens the time after which they notice that a job does not
end."""

from __future__ import annotations

from pooling.platform import interruptions, jobs

jobs.CANCEL_SECONDS = interruptions.KILL_SECONDS = 1.0
