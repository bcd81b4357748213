"""Cohen's kappa from joint counts of two raters' grades, for many pairs of raters at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def disagreement_weights(n_grades: int, *, weighted: bool, power: int = 1) -> NDArray[np.float64]:
    """Return (n_grades, n_grades): (|i - j| / (n_grades - 1))^power if weighted (1: linear, 2:
    quadratic), otherwise 0 on the diagonal and 1 elsewhere.

    The weights cover all grades of the scale, not only those that occur. They are 1 minus the
    agreement weights of Cohen (1968).
    """
    grades = np.arange(n_grades)
    distance = np.abs(grades[:, None] - grades[None, :])
    return (distance / (n_grades - 1)) ** power if weighted else (distance > 0).astype(np.float64)


def cohen_kappa(
    joint: NDArray[np.number], *, weighted: bool, power: int = 1
) -> NDArray[np.float64]:
    """Return kappa of each table of joint counts: (..., n_grades, n_grades) -> (...).

    Cohen (1960), "A coefficient of agreement for nominal scales". weighted: Cohen (1968) with
    *linear* weights, or quadratic ones (power 2; Fleiss and Cohen 1973). NaN if undefined: no
    common item, or both raters use one and the same grade only, so that no agreement beyond chance
    is possible.
    """
    joint = np.asarray(joint, dtype=np.float64)
    n_grades = joint.shape[-1]
    weights = disagreement_weights(n_grades, weighted=weighted, power=power)
    n = joint.sum(axis=(-2, -1))
    observed = (joint * weights).sum(axis=(-2, -1)) * n
    expected = np.einsum("...i,ij,...j->...", joint.sum(axis=-1), weights, joint.sum(axis=-2))
    defined = expected > 0
    return np.where(defined, 1 - observed / np.where(defined, expected, 1), np.nan)


def mean_of_defined(
    values: NDArray[np.float64], weights: NDArray[np.number] | None = None
) -> float:
    """Return the mean of the defined values, NaN if there are none."""
    defined = ~np.isnan(values)
    if not defined.any():
        return float("nan")
    return float(np.average(values[defined], weights=None if weights is None else weights[defined]))
