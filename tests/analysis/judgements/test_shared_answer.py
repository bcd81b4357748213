"""One answer for the whole installation, and how old it can be: by a clock that the test moves."""

from __future__ import annotations

import random
import threading

import pytest

from analysis.judgements import live, shared_answer
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch, tmp_path, settings) -> Clock:
    settings.DATA_DIR = tmp_path
    made = Clock()
    monkeypatch.setattr(shared_answer, "clock", made)
    return made


def test_a_page_never_shows_figures_older_than_five_seconds(clock):
    """Ten managers, each of whom asks again every REFRESH seconds; computing takes 0.05 s, and the
    way to the page and back 0.15 s."""
    campaign, rng = make_campaign(), random.Random(4)
    shown: dict[int, float] = {}
    computed: list[float] = []

    def compute() -> float:
        computed.append(clock.now)
        clock.now += 0.05
        return computed[-1]

    begin = clock.now
    phases = [rng.random() * live.REFRESH for _ in range(10)]
    asks = sorted(
        (begin + phase + live.REFRESH * turn, manager)
        for turn in range(40)
        for manager, phase in enumerate(phases)
    )
    worst = 0.0
    for moment, manager in asks:
        clock.now = max(clock.now, moment)
        answer = shared_answer.get_or_compute(
            "test", campaign, compute, fresh=live.FRESH_SECONDS, waiting=live.WAIT_SECONDS
        )
        worst = max(worst, clock.now + 0.15 - shown.get(manager, clock.now))
        shown[manager] = answer.value
    assert live.REFRESH < worst <= live.PAGE_FRESH_SECONDS == 5.0
    assert len(computed) <= 1 + (asks[-1][0] - begin) / live.FRESH_SECONDS < len(asks) / 4


def test_the_limits_add_up():
    assert live.FRESH_SECONDS <= live.WAIT_SECONDS
    assert live.WAIT_SECONDS + live.REFRESH + 0.2 <= live.PAGE_FRESH_SECONDS == 5.0


def test_an_answer_is_computed_again_when_it_is_no_longer_fresh(clock):
    campaign, values = make_campaign(), iter([1, 1, 2])

    def ask() -> shared_answer.CachedAnswer:
        return shared_answer.get_or_compute(
            "test", campaign, lambda: next(values), fresh=1.5, waiting=1.8
        )

    first = ask()
    clock.now += 1.5
    assert ask() == first
    clock.now += 0.1
    second = ask()
    assert (second.value, second.changed_at) == (1, first.changed_at)
    assert second.made_at > first.made_at
    clock.now += 2
    third = ask()
    assert (third.value, third.changed_at) == (2, third.made_at)


def test_a_clock_that_was_set_back_makes_no_answer_young(clock):
    campaign, values = make_campaign(), iter([1, 2])
    shared_answer.get_or_compute("test", campaign, lambda: next(values), fresh=1.5, waiting=1.8)
    clock.now -= 100
    assert (
        shared_answer.get_or_compute(
            "test", campaign, lambda: next(values), fresh=1.5, waiting=1.8
        ).value
        == 2
    )


def test_answers_of_a_database_that_was_replaced_are_not_given(clock):
    campaign = make_campaign()
    shared_answer.get_or_compute("test", campaign, lambda: 1, fresh=1.5, waiting=1.8)
    campaign.created_at = campaign.created_at.replace(year=2001)
    assert (
        shared_answer.get_or_compute("test", campaign, lambda: 2, fresh=1.5, waiting=1.8).value == 2
    )


def test_one_computes_while_the_others_get_the_last_answer_or_wait(clock):
    """Each call opens the lock of its own, as processes do."""
    campaign = make_campaign()
    calls, begun, end = [], threading.Event(), threading.Event()

    def slow() -> int:
        calls.append(1)
        begun.set()
        assert end.wait(10)
        return len(calls)

    def ask(found: list[int]) -> None:
        found.append(
            shared_answer.get_or_compute("test", campaign, slow, fresh=1.5, waiting=1.8).value
        )

    shared_answer.get_or_compute("test", campaign, lambda: 0, fresh=1.5, waiting=1.8)
    clock.now += 1.7
    computing: list[int] = []
    first = threading.Thread(target=ask, args=(computing,))
    first.start()
    assert begun.wait(10)
    meanwhile: list[int] = []
    ask(meanwhile)
    assert meanwhile == [0]
    clock.now += 1
    late: list[int] = []
    waiting = [threading.Thread(target=ask, args=(late,)) for _ in range(5)]
    for thread in waiting:
        thread.start()
    waiting[0].join(0.3)
    assert late == []
    end.set()
    for thread in [first, *waiting]:
        thread.join(10)
    assert (computing, late, len(calls)) == ([1], [1] * 5, 1)


def test_a_folder_that_cannot_be_written_is_no_obstacle(clock, settings, tmp_path):
    (tmp_path / "file").write_text("in the way")
    settings.DATA_DIR = tmp_path / "file"
    campaign = make_campaign()
    assert [
        shared_answer.get_or_compute("test", campaign, lambda n=n: n, fresh=1.5, waiting=1.8).value
        for n in (1, 2)
    ] == [1, 2]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"of": 3}'])
def test_a_damaged_answer_is_computed_anew(clock, damage):
    campaign = make_campaign()
    shared_answer.get_or_compute("test", campaign, lambda: 1, fresh=1.5, waiting=1.8)
    (shared_answer.cache_folder() / f"{campaign.pk}-test.json").write_bytes(damage)
    assert (
        shared_answer.get_or_compute("test", campaign, lambda: 2, fresh=1.5, waiting=1.8).value == 2
    )
