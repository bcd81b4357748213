"""As many digits as a number has."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.significant_digits import (
    count_decimals,
    format_with_error,
    mean_standard_error,
    share_standard_error,
)


@pytest.mark.parametrize(
    ("error", "decimals"),
    [(0.07, 2), (0.003, 3), (0.4, 1), (1.5, 0), (1e-9, 4), (0.0, 4), (math.nan, 4)],
)
def test_the_last_decimal_is_about_as_large_as_the_error(error: float, decimals: int) -> None:
    assert count_decimals(error) == decimals


def test_errors_are_those_of_a_mean_and_of_a_share() -> None:
    assert mean_standard_error(np.array([1.0, 3.0, np.nan])) == pytest.approx(
        1.0
    )  # standard deviation 1.414 over the root of 2
    assert math.isnan(mean_standard_error(np.array([1.0, np.nan])))
    assert share_standard_error(0.5, 50) == pytest.approx(0.0707, abs=1e-4)
    assert share_standard_error(1.0, 50) > 0  # fifty of fifty do not make it certain


def test_a_number_is_shown_with_what_its_error_leaves() -> None:
    assert (
        format_with_error(0.4816, 0.003),
        format_with_error(1.0, share_standard_error(1.0, 50)),
        format_with_error(None, 0.1),
    ) == (
        "0.482",
        "1.00",
        "-",
    )
