"""Spacing, order, blocks, limits."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from annotation.core import scheduling as rule

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def test_each_window_holds_exactly_one_special_turn():
    turns = [turn for turn in range(300) if rule.is_special_turn(turn, every=20, seed=7)]
    assert [turn // 20 for turn in turns] == list(range(15))


def test_the_place_in_the_window_differs_between_windows_and_between_annotators():
    def places(seed):
        return [
            turn % 20 for turn in range(2000) if rule.is_special_turn(turn, every=20, seed=seed)
        ]

    first, second = places(1), places(2)
    assert first != second
    assert len(set(first)) >= 15  # 100 draws of 20 places: all but never fewer
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 20  # 5 expected by chance


def test_the_distance_between_special_turns_cannot_be_guessed_from_the_last_one():
    turns = [turn for turn in range(4000) if rule.is_special_turn(turn, every=20, seed=3)]
    gaps = [b - a for a, b in pairwise(turns)]
    assert min(gaps) < 10
    assert max(gaps) > 30


@pytest.mark.parametrize(
    ("target", "n_everyone", "n_gold", "gold_every", "expected"),
    [
        (300, 0, 0, 20, None),
        (300, 0, 200, 20, (20, 15)),  # 300 / 20 = 15 gold pairs
        (300, 0, 5, 20, (60, 5)),  # few gold pairs are spread over the whole target
        (300, 30, 0, 20, (10, 0)),  # everyone pairs are all served
        (300, 10, 200, 20, (12, 15)),  # 25 in 300
        (300, 0, 9, 0, None),  # gold switched off
        (None, 3, 5, 25, (25, 5)),
        (10, 40, 0, 20, (1, 0)),
    ],
)
def test_the_spacing_follows_from_target_and_number(
    target, n_everyone, n_gold, gold_every, expected
):
    plan = rule.make_special_pair_spacing(
        target=target, n_everyone=n_everyone, n_gold=n_gold, gold_every=gold_every
    )
    assert plan == expected


def test_all_planned_specials_fit_before_the_target():
    for target in (10, 37, 100, 300):
        for planned in range(1, target):
            plan = rule.make_special_pair_spacing(
                target=target, n_everyone=planned, n_gold=0, gold_every=20
            )
            turns = sum(
                rule.is_special_turn(turn, every=plan.every, seed=planned) for turn in range(target)
            )
            assert turns >= planned


def test_everyone_pairs_come_before_the_gold_pairs_that_do_not_fit():
    order = rule.order_special_pairs(everyone=[1, 2, 3], gold=range(10, 20), n_gold=2, seed=5)
    assert sorted(order) == [1, 2, 3, *range(10, 20)]
    assert set(order[:5]) >= {1, 2, 3}
    assert order != rule.order_special_pairs(
        everyone=[1, 2, 3], gold=range(10, 20), n_gold=2, seed=6
    )


def test_adding_a_pair_does_not_reorder_the_others():
    before = rule.order_special_pairs(everyone=range(20), gold=[], n_gold=0, seed=5)
    after = rule.order_special_pairs(everyone=range(21), gold=[], n_gold=0, seed=5)
    assert [pair for pair in after if pair != 20] == before


def test_the_day_begins_at_midnight_of_the_annotators_own_clock():
    assert rule.day_start(NOON, ZoneInfo("Asia/Tokyo")) == datetime(
        2026, 3, 9, 15, 0, tzinfo=UTC
    )  # 21:00 in Tokyo
    assert rule.day_start(NOON, ZoneInfo("America/Los_Angeles")) == datetime(
        2026, 3, 10, 7, 0, tzinfo=UTC
    )  # 05:00, summer time
    after_change = datetime(2026, 3, 29, 10, 0, tzinfo=UTC)
    assert rule.day_start(after_change, ZoneInfo("Europe/Vienna")) == datetime(
        2026, 3, 28, 23, 0, tzinfo=UTC
    )  # the night the clocks change


def test_near_the_deadline_means_within_its_last_hours():
    deadline = datetime(2026, 3, 11, 12, 0, tzinfo=UTC)
    assert rule.is_near_deadline(NOON, deadline=deadline, hours=24)
    assert not rule.is_near_deadline(NOON, deadline=deadline, hours=23)
    assert not rule.is_near_deadline(NOON, deadline=deadline, hours=0)
    assert not rule.is_near_deadline(NOON, deadline=None, hours=24)


def test_a_block_ends_after_its_length_and_a_length_of_one_means_no_blocks():
    assert [rule.stays_in_block(served=n, length=3) for n in range(1, 5)] == [
        True,
        True,
        False,
        False,
    ]
    assert not rule.stays_in_block(served=1, length=1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"want": 3, "judged": 0, "target": 300, "today": 0, "daily_limit": None}, 3),
        ({"want": 3, "judged": 298, "target": 300, "today": 0, "daily_limit": None}, 2),
        ({"want": 3, "judged": 10, "target": None, "today": 9, "daily_limit": 10}, 1),
        ({"want": 3, "judged": 10, "target": None, "today": 12, "daily_limit": 10}, 0),
    ],
)
def test_nobody_holds_more_than_wanted_or_than_target_and_day_allow(arguments, expected):
    assert rule.max_leases(**arguments) == expected


def test_the_partner_is_the_one_nearest_to_enough():
    assert rule.choose_partner([(7, 3), (8, 9), (9, 10)], common=10) == 8
    assert rule.choose_partner([(9, 10)], common=10) is None
    assert rule.choose_partner([(4, 2), (3, 2)], common=10) == 3
