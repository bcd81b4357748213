"""Names in the order in which people read them. Expected by hand."""

from __future__ import annotations

import random

import pytest

from assay.natural_order import natural_sort_key


@pytest.mark.parametrize(
    "names",
    [
        ["1", "2", "10", "11", "100"],
        ["2", "t1", "t2", "t10"],
        ["1-2", "1-10", "2-1"],
        ["001", "01", "1"],
        ["", "7", "a", "a1b2", "a1b10", "b"],
        ["MB8", "MB111", "\u00b2", "\u0664"],
    ],
)
def test_numbers_in_names_go_by_their_value(names: list[str]) -> None:
    for seed in range(5):
        shuffled = random.Random(seed).sample(names, len(names))
        assert sorted(shuffled, key=natural_sort_key) == names
