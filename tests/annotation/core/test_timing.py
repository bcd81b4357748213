"""Two clocks, of which only the server's is trusted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import timing

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
milliseconds = st.one_of(st.none(), st.integers(0, 10**9))


def second(n: float) -> datetime:
    return NOON + timedelta(seconds=n)


def test_times_that_fit_are_kept():
    times = timing.bound_times(
        active_ms=20_000, idle_ms=5_000, hidden_ms=1_000, wall_ms=26_000, server_ms=30_000
    )
    assert times == (20_000, 5_000, 1_000, 26_000, 30_000)


def test_a_page_cannot_claim_more_time_than_passed_on_the_server():
    times = timing.bound_times(
        active_ms=90_000, idle_ms=5_000, hidden_ms=0, wall_ms=95_000, server_ms=30_000
    )
    assert times == (30_000, 0, 0, 30_000, 30_000)


def test_what_is_over_goes_from_the_hidden_and_then_the_idle_time():
    assert timing.bound_times(
        active_ms=10, idle_ms=30, hidden_ms=30, wall_ms=50, server_ms=100
    ) == (
        10,
        30,
        10,
        50,
        100,
    )


def test_simulated_times_are_not_bounded_by_the_server():
    assert timing.bound_times(
        active_ms=48_000, idle_ms=0, hidden_ms=0, wall_ms=50_000, server_ms=None
    ) == (48_000, 0, 0, 50_000, None)


@given(milliseconds, milliseconds, milliseconds, milliseconds, st.integers(0, 10**9))
def test_the_parts_never_exceed_the_whole(active, idle, hidden, wall, server):
    times = timing.bound_times(
        active_ms=active, idle_ms=idle, hidden_ms=hidden, wall_ms=wall, server_ms=server
    )
    parts = (times.active_ms or 0) + (times.idle_ms or 0) + (times.hidden_ms or 0)
    if wall is not None:
        assert parts <= times.wall_ms <= server
    assert times.active_ms is None or 0 <= times.active_ms <= server
    assert (active is None) == (times.active_ms is None)


def test_a_wrong_clock_of_the_page_cancels_out():
    # The page's clock is an hour slow; the key was pressed 4 s before sending.
    pressed, sent = second(-3604), second(-3600)
    assert timing.estimate_judged_at(
        client_judged_at=pressed,
        client_sent_at=sent,
        received_at=second(0.2),
        served_at=second(-60),
    ) == second(-3.8)


@pytest.mark.parametrize(
    ("pressed", "sent", "expected"),
    [
        (-10_000, 0, -60),  # said to be long before the pair was served
        (50, 0, 0),  # said to be after sending
        (None, 0, 0),
        (-5, None, 0),
    ],
)
def test_the_moment_lies_between_serving_and_arrival(pressed, sent, expected):
    moment = timing.estimate_judged_at(
        client_judged_at=None if pressed is None else second(pressed),
        client_sent_at=None if sent is None else second(sent),
        received_at=NOON,
        served_at=second(-60),
    )
    assert moment == second(expected)


def test_a_revision_adds_the_time_of_all_openings():
    first, again = (
        timing.Times(20_000, 0, None, 21_000, 25_000),
        timing.Times(3_000, 500, None, 4_000, 5_000),
    )
    assert timing.add_times(first, again) == (23_000, 500, None, 25_000, 30_000)


def test_too_fast_is_below_the_minimum_and_never_without_a_time():
    assert timing.is_too_fast(999, min_active_seconds=1)
    assert not timing.is_too_fast(1000, min_active_seconds=1)
    assert not timing.is_too_fast(None, min_active_seconds=1)
