"""All agreement statistics of a campaign, on the full scale and on two grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation.majority import majority
from assay.labels.agreement.alpha import LEVELS, alpha_interval, krippendorff_alpha
from assay.labels.agreement.fleiss import fleiss_kappa, percent_agreement
from assay.labels.agreement.gwet import ac1
from assay.labels.agreement.kappa import cohen_kappa, mean_of_defined
from assay.labels.agreement.raters import (
    count_against_labels,
    count_against_others,
    find_annotator_pairs,
    permuted_kappas,
)
from assay.labels.intervals import Interval
from assay.labels.labels import LabelTable
from assay.significant_digits import mean_standard_error


@dataclass(frozen=True, eq=False)
class ScaleAgreement:
    """Agreement on one scale. Undefined values are NaN. `undefined` counts the kappas left out of
    each mean, and `reasons` explains undefined values in words.

    kappa, kappa_others: float64 (n_annotators), in the order of the table's annotators.
    """

    kappa: NDArray[np.float64]
    kappa_others: NDArray[np.float64]
    mean_kappa: float
    kappa_quartiles: tuple[float, float, float]
    chance_floor: float
    chance_floor_error: float
    """Standard error of the chance level, from the permutations."""
    mean_kappa_others: float
    mean_pairwise_kappa: float
    mean_pairwise_kappa_weighted: float
    """Weighted by the number of common pairs."""
    pairs_of_annotators: int
    """With enough common pairs, including those with an undefined kappa."""
    alpha: float
    alpha_nominal: float
    alpha_interval: Interval
    fleiss: float
    percent: float
    alphas: dict[str, float]
    """By level of measurement."""
    ac1: float
    quadratic: dict[str, float]
    """Mean kappas against the label, against the others and of two annotators, with quadratic
    weights. On two grades they equal the unweighted ones."""
    undefined: dict[str, int]
    reasons: dict[str, str]


@dataclass(frozen=True, eq=False)
class AnnotatorAgreement:
    name: str
    judgements: int
    kappa_graded: float
    kappa_binary: float
    kappa_graded_others: float
    kappa_binary_others: float
    median_seconds: float
    share: dict[int, float]
    """Of each grade of the full scale."""


@dataclass(frozen=True, eq=False)
class AgreementReport:
    graded: ScaleAgreement
    binary: ScaleAgreement
    annotators: list[AnnotatorAgreement]
    n_pairs: int
    n_labelled: int
    """Pairs with enough judgements for a label, with which kappa compares."""
    n_judgements: int


def make_agreement_report(
    table: LabelTable,
    *,
    min_relevant: int,
    rng: np.random.Generator,
    min_common: int = 10,
    min_judgements: int = 2,
    permutations: int = 100,
) -> AgreementReport:
    """Compute agreement on the full scale (kappa linearly weighted, alpha ordinal) and on two
    grades (both unweighted).

    Kappas against labels use all labels, including those by the lowest-grade rule, of pairs with at
    least `min_judgements` judgements. The other statistics use all judgements. Means and quartiles
    are unweighted, over the annotators (or pairs of annotators) with a defined kappa.
    """
    graded_rng, binary_rng = rng.spawn(2)
    options = {
        "min_common": min_common,
        "min_judgements": min_judgements,
        "permutations": permutations,
    }
    graded = compute_scale_agreement(table, weighted=True, rng=graded_rng, **options)
    binary = compute_scale_agreement(
        table.binarise(min_relevant), weighted=False, rng=binary_rng, **options
    )
    return AgreementReport(
        graded=graded,
        binary=binary,
        annotators=_annotator_rows(table, graded, binary),
        n_pairs=table.n_pairs,
        n_labelled=int((table.judgements_per_pair >= min_judgements).sum()),
        n_judgements=len(table),
    )


def compute_scale_agreement(
    table: LabelTable,
    *,
    weighted: bool,
    rng: np.random.Generator,
    min_common: int = 10,
    min_judgements: int = 2,
    permutations: int = 100,
) -> ScaleAgreement:
    """Compute the statistics of one scale. weighted: kappa with linear weights and alpha ordinal,
    otherwise both nominal."""
    pairs = find_annotator_pairs(table, min_common=min_common)
    joints = (
        count_against_labels(table, majority(table, min_judgements=min_judgements).label),
        count_against_others(table),
        pairs.joint,
    )
    kappa, kappa_others, pairwise = (cohen_kappa(joint, weighted=weighted) for joint in joints)
    quadratic = [mean_of_defined(cohen_kappa(joint, weighted=True, power=2)) for joint in joints]
    floors = permuted_kappas(
        table.select_by_min_judgements(min_judgements),
        weighted=weighted,
        rng=rng.spawn(1)[0],
        permutations=permutations,
    )
    counts = table.counts
    alphas = {level: krippendorff_alpha(counts, level=level) for level in LEVELS}
    alpha = alphas["ordinal" if weighted else "nominal"]
    fleiss = fleiss_kappa(counts)
    quartiles = (
        np.quantile(kappa[~np.isnan(kappa)], [0.25, 0.5, 0.75])
        if not np.isnan(kappa).all()
        else [np.nan] * 3
    )
    undefined = {
        "kappa": int(np.isnan(kappa).sum()),
        "kappa_others": int(np.isnan(kappa_others).sum()),
        "pairwise_kappa": int(np.isnan(pairwise).sum()),
        "alpha": int(np.isnan(alpha)),
        "fleiss": int(np.isnan(fleiss)),
    }
    return ScaleAgreement(
        kappa=kappa,
        kappa_others=kappa_others,
        mean_kappa=mean_of_defined(kappa),
        kappa_quartiles=(float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
        chance_floor=mean_of_defined(floors),
        chance_floor_error=mean_standard_error(floors),
        mean_kappa_others=mean_of_defined(kappa_others),
        mean_pairwise_kappa=mean_of_defined(pairwise),
        mean_pairwise_kappa_weighted=mean_of_defined(pairwise, pairs.n_common),
        pairs_of_annotators=len(pairs),
        alpha=alpha,
        alpha_nominal=alphas["nominal"],
        alpha_interval=alpha_interval(
            counts, level="ordinal" if weighted else "nominal", topic=table.pair_topic
        ),
        fleiss=fleiss,
        percent=percent_agreement(counts),
        alphas={str(level): value for level, value in alphas.items()},
        ac1=ac1(counts),
        quadratic=dict(
            zip(("mean_kappa", "mean_kappa_others", "mean_pairwise_kappa"), quadratic, strict=True)
        ),
        undefined=undefined,
        reasons=_undefined_reasons(
            table,
            undefined,
            n_pairs_of_annotators=len(pairs),
            min_common=min_common,
            min_judgements=min_judgements,
        ),
    )


def _undefined_reasons(
    table: LabelTable,
    undefined: dict[str, int],
    *,
    n_pairs_of_annotators: int,
    min_common: int,
    min_judgements: int,
) -> dict[str, str]:
    """Return the reasons why statistics are undefined, in words."""
    n = table.judgements_per_pair
    one_grade = (
        "use only one grade on the pairs they share, so agreement beyond chance is undefined"
    )
    no_two = "no pair has two judgements"
    why_alpha = (
        "all judgements of pairs judged twice have the same grade" if (n > 1).any() else no_two
    )
    reasons = {}
    if undefined["kappa"] == table.n_annotators:
        labelled = (n >= min_judgements).any()
        why = (
            f"every annotator and the labels {one_grade}"
            if labelled
            else f"no pair has the {min_judgements} judgements required for a label"
        )
        reasons["mean_kappa"] = why
    if undefined["kappa_others"] == table.n_annotators:
        reasons["mean_kappa_others"] = (
            f"every annotator and the others {one_grade}" if (n > 1).any() else no_two
        )
    if not n_pairs_of_annotators:
        reasons["mean_pairwise_kappa"] = f"no two annotators have {min_common} pairs in common"
    elif undefined["pairwise_kappa"] == n_pairs_of_annotators:
        reasons["mean_pairwise_kappa"] = f"every two annotators {one_grade}"
    if undefined["alpha"]:
        reasons["alpha"] = reasons["alpha_nominal"] = reasons["alphas"] = why_alpha
    if not (n > 1).any():
        reasons["ac1"] = no_two
    if undefined["fleiss"]:
        different = len(n) > 0 and n.min() != n.max()
        reasons["fleiss"] = (
            f"pairs have from {n.min()} to {n.max()} judgements; Fleiss' kappa needs the same number for all"
            if different
            else why_alpha
        )
    return reasons


def _annotator_rows(
    table: LabelTable, graded: ScaleAgreement, binary: ScaleAgreement
) -> list[AnnotatorAgreement]:
    """Return one row per annotator, ordered by name."""
    g = table.n_grades
    counts = np.bincount(
        table.annotator.astype(np.int64) * g + table.grade, minlength=table.n_annotators * g
    ).reshape(-1, g)
    medians = median_seconds_by_annotator(table)
    return [
        AnnotatorAgreement(
            name=name,
            judgements=int(counts[i].sum()),
            kappa_graded=float(graded.kappa[i]),
            kappa_binary=float(binary.kappa[i]),
            kappa_graded_others=float(graded.kappa_others[i]),
            kappa_binary_others=float(binary.kappa_others[i]),
            median_seconds=float(medians[i]),
            share={grade: int(n) / int(counts[i].sum()) for grade, n in enumerate(counts[i])},
        )
        for i, name in enumerate(table.annotators)
    ]


def median_seconds_by_annotator(table: LabelTable) -> NDArray[np.float64]:
    """Return (n_annotators), the median of each annotator's known times, NaN if none is known."""
    known = np.flatnonzero(~np.isnan(table.seconds))
    order = known[np.lexsort((table.seconds[known], table.annotator[known]))]
    seconds = table.seconds[order]
    n = np.bincount(table.annotator[order], minlength=table.n_annotators)
    start = np.cumsum(n) - n
    result = np.full(table.n_annotators, np.nan)
    some = n > 0
    result[some] = (seconds[(start + (n - 1) // 2)[some]] + seconds[(start + n // 2)[some]]) / 2
    return result
