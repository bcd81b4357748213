"""How long a judgement took and when it was made, from two clocks of which only the server's is
trusted (METHODS 3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple


class Times(NamedTuple):
    """Milliseconds; None where the page did not say. active + idle + hidden <= wall <= server."""

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
    """The page's times, none longer than the server's own lease-to-submission time allows.

    server_ms None: the times are not bounded by the server (simulated annotators, whose times are
    drawn and not lived through). What is over goes first from the hidden, then from the idle time;
    the active time is cut only when it alone is too long."""
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
    """The time of a revision: that of all openings of the pair together, for the clock runs from
    its first paint. The server's time is known when it is known of all openings."""
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
    """When the key was pressed, by the server's clock as far as it can tell.

    The page's two readings of its own clock give how long before sending the key was pressed; the
    offset of that clock falls out. Never before the pair was served nor after the answer arrived.
    Without the readings: on arrival. A pair that was served after its answer arrived was served
    before the server's clock was set back: its moment bounds nothing then."""
    if client_judged_at is None or client_sent_at is None:
        return received_at
    moment = received_at - max(timedelta(0), client_sent_at - client_judged_at)
    return max(served_at, moment) if served_at is not None and served_at <= received_at else moment


def elapsed_ms(since: datetime, until: datetime) -> int | None:
    """Milliseconds between two readings of the server's clock; None where it was set back between
    them, for then nobody knows."""
    passed = round((until - since).total_seconds() * 1000)
    return passed if passed >= 0 else None


def is_too_fast(active_ms: int | None, *, min_active_seconds: float) -> bool:
    """Whether the active time is below the campaign's minimum. Without a time nothing is too
    fast."""
    return active_ms is not None and active_ms < min_active_seconds * 1000
