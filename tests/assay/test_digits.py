"""As many digits as a number has."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.digits import decimals_for, error_of_mean, error_of_share, text_of


@pytest.mark.parametrize(
    ("error", "decimals"),
    [(0.07, 2), (0.003, 3), (0.4, 1), (1.5, 0), (1e-9, 4), (0.0, 4), (math.nan, 4)],
)
def test_the_last_decimal_is_about_as_large_as_the_error(error: float, decimals: int) -> None:
    assert decimals_for(error) == decimals


def test_errors_are_those_of_a_mean_and_of_a_share() -> None:
    assert error_of_mean(np.array([1.0, 3.0, np.nan])) == pytest.approx(
        1.0
    )  # standard deviation 1.414 over the root of 2
    assert math.isnan(error_of_mean(np.array([1.0, np.nan])))
    assert error_of_share(0.5, 50) == pytest.approx(0.0707, abs=1e-4)
    assert error_of_share(1.0, 50) > 0  # fifty of fifty do not make it certain


def test_a_number_is_shown_with_what_its_error_leaves() -> None:
    assert (text_of(0.4816, 0.003), text_of(1.0, error_of_share(1.0, 50)), text_of(None, 0.1)) == (
        "0.482",
        "1.00",
        "-",
    )
