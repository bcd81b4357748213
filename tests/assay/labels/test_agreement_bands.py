"""Landis and Koch (1977), their table: < 0.00 poor, 0.00-0.20 slight, 0.21-0.40 fair, 0.41-0.60
moderate, 0.61-0.80 substantial, 0.81-1.00."""

from __future__ import annotations

import pytest

from assay.labels.agreement.interpretation import interpretation_label


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-1.0, "poor"),
        (-0.001, "poor"),
        (0.0, "slight"),
        (0.20, "slight"),
        (0.2049, "slight"),
        (0.21, "fair"),
        (0.40, "fair"),
        (0.41, "moderate"),
        (0.60, "moderate"),
        (0.61, "substantial"),
        (0.80, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
        (float("nan"), None),
        (None, None),
    ],
)
def test_each_kappa_has_the_word_of_its_band(kappa, word) -> None:
    assert interpretation_label(kappa) == word
