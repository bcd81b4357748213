"""Duration and time of judgements, from the clocks of browser and server. Only the server's clock
is trusted (docs/reference/methods/judging.md)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple


class Times(NamedTuple):
    """Times of a judgement in milliseconds, None if the page did not report them. active + idle +
    hidden <= wall <= server."""

    active_ms: int | None
    idle_ms: int | None
    hidden_ms: int | None
    wall_ms: int | None
    server_ms: int | None


def bound_times(
    *,
    active_ms: int | None,
    idle_ms: int | None,
    hidden_ms: int | None,
    wall_ms: int | None,
    server_ms: int | None,
) -> Times:
    """Limit the durations that the page reports to the server's time between lease and submission.

    server_ms=None: the times are not limited (simulated annotators, whose times are drawn). The
    excess is subtracted from the hidden time first, then from the idle time, then from the active
    time.
    """
    wall = _min_defined(wall_ms, server_ms)
    active = _min_defined(active_ms, wall if wall is not None else server_ms)
    left = None if wall is None else wall - (active or 0)
    idle = _min_defined(idle_ms, left)
    left = None if left is None else left - (idle or 0)
    return Times(active, idle, _min_defined(hidden_ms, left), wall, server_ms)


def _min_defined(value: int | None, bound: int | None) -> int | None:
    if value is None or bound is None:
        return value
    return max(0, min(value, bound))


def add_times(earlier: Times, later: Times) -> Times:
    """Return the times of a revision, summed over all openings of the pair. The server time is None
    if it is unknown for one of them."""
    if earlier.server_ms is None or later.server_ms is None:
        earlier, later = earlier._replace(server_ms=None), later._replace(server_ms=None)
    return Times(
        *(
            None if a is None and b is None else (a or 0) + (b or 0)
            for a, b in zip(earlier, later, strict=True)
        )
    )


def estimate_judged_at(
    *,
    client_judged_at: datetime | None,
    client_sent_at: datetime | None,
    received_at: datetime,
    served_at: datetime | None,
) -> datetime:
    """Estimate when the grade was given, by the server's clock.

    The difference of the two readings of the page's clock is subtracted from the time of arrival,
    so the offset of that clock has no effect. The result is between the assignment of the pair and
    the arrival. Without the readings it is the time of arrival. An assignment after the arrival
    means that the server's clock was set back, and is ignored.
    """
    if client_judged_at is None or client_sent_at is None:
        return received_at
    moment = received_at - max(timedelta(0), client_sent_at - client_judged_at)
    return max(served_at, moment) if served_at is not None and served_at <= received_at else moment


def elapsed_ms(since: datetime, until: datetime) -> int | None:
    """Return the milliseconds between two readings of the server's clock, or None if the clock was
    set back between them."""
    passed = round((until - since).total_seconds() * 1000)
    return passed if passed >= 0 else None


def is_too_fast(active_ms: int | None, *, min_active_seconds: float) -> bool:
    """Return whether the active time is below the campaign's minimum. False if the time is
    unknown."""
    return active_ms is not None and active_ms < min_active_seconds * 1000
