"""Which pairs become gold and qualification: evenly over the grades, whatever the order of the file."""

from __future__ import annotations

from annotation.core.known_pairs import parted, spread_over_grades

PAIRS = [("t1", f"d{n}", grade) for n, grade in enumerate([0, 0, 0, 0, 0, 0, 1, 1, 2])]


def grades(pairs: list[tuple[str, str, int]]) -> list[int]:
    return [grade for _, _, grade in pairs]


def test_one_of_each_grade_in_turn() -> None:
    assert grades(spread_over_grades(PAIRS, 5)) == [0, 1, 2, 0, 1]
    assert grades(spread_over_grades(PAIRS, 7)) == [0, 1, 2, 0, 1, 0, 0]
    assert sorted(spread_over_grades(PAIRS, 99)) == sorted(PAIRS)
    assert spread_over_grades(PAIRS, 0) == spread_over_grades([], 3) == []


def test_the_order_of_the_file_changes_nothing_and_the_seed_does() -> None:
    assert spread_over_grades(PAIRS[::-1], 6) == spread_over_grades(PAIRS, 6)
    assert len({tuple(spread_over_grades(PAIRS, 6, seed=seed)) for seed in range(20)}) > 1


def test_no_pair_is_both() -> None:
    qualification, gold = parted(PAIRS, n_qualification=3, n_gold=4)
    assert grades(qualification) == [0, 1, 2]
    assert len(gold) == 4
    assert not set(qualification) & set(gold)
    assert set(gold) <= set(PAIRS)
    qualification, gold = parted(PAIRS[:2], n_qualification=3, n_gold=4)
    assert (len(qualification), gold) == (2, [])
