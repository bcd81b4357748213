"""Conditions under which a comparison of systems fails, for continuous integration:
`nDCG@10 < baseline` fails if a run is significantly worse than the baseline."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import NamedTuple

from assay.cli.base import BadInput
from assay.comparison.significance import CORRECTION_NAMES
from assay.measures.measures import Measure, UnknownMeasure, parse_measures
from assay.results import Values
from assay.significant_digits import format_p_equals

FIRST_RUN = "baseline"
"""Name of the first run in a condition, unless a run has this tag."""


class FailCondition(NamedTuple):
    """A condition under which a comparison fails. baseline: tag of the run with which every other
    run is compared."""

    measure: Measure
    baseline: str

    def __str__(self) -> str:
        return f"{self.measure} < {self.baseline}"


def parse_fail_condition(text: str) -> FailCondition:
    """Parse `MEASURE < TAG`, for argparse."""
    name, sign, tag = (part.strip() for part in text.partition("<"))
    if not (name and sign and tag):
        raise ArgumentTypeError(
            f"{text!r} is not a condition, expected a measure and a run, such as 'nDCG@10 < baseline'"
        )
    try:
        measures = parse_measures(name)
    except UnknownMeasure as error:
        raise ArgumentTypeError(str(error)) from None
    if len(measures) != 1:
        raise ArgumentTypeError(f"{text!r} has {len(measures)} measures, expected one")
    return FailCondition(measures[0], tag)


def resolve_baselines(
    conditions: Sequence[FailCondition], tags: Sequence[str]
) -> list[FailCondition]:
    """Return the conditions with the tag of the first run for `baseline`. Raises BadInput for an
    unknown tag."""
    named = [
        one._replace(baseline=tags[0])
        if one.baseline == FIRST_RUN and FIRST_RUN not in tags
        else one
        for one in conditions
    ]
    for one in named:
        if one.baseline not in tags:
            raise BadInput(
                f"--fail-on '{one}': unknown run {one.baseline}; choose from {', '.join(tags)}"
            )
    return named


def check_conditions(conditions: Sequence[FailCondition], result: Values) -> list[Values]:
    """Return for each condition the runs that are significantly worse: condition, measure,
    baseline, worse (run, difference, p).

    result: of `compare systems`, with tests of every run against the baselines. Raises BadInput for
    a condition that cannot be tested, because a build must not pass without a test.
    """
    checked = []
    for one in conditions:
        measure = str(one.measure)
        answer = result[measure]
        reason = result.get("undefined", {}).get(measure) or answer["no_verdict"]
        if reason:
            raise BadInput(f"--fail-on '{one}' cannot be tested: {reason}")
        worse = [
            {"run": row["b"] if row["a"] == one.baseline else row["a"], "p": row["p"]}
            | {"difference": row["difference"] * (1 if row["a"] == one.baseline else -1)}
            for row in answer["pairs"]
            if row["different"] and one.baseline in (row["a"], row["b"])
        ]
        checked.append(
            {
                "condition": str(one),
                "measure": measure,
                "baseline": one.baseline,
                "worse": [row for row in worse if row["difference"] < 0],
            }
        )
    return checked


def describe_check(checked: Values, correction: str) -> str:
    """Describe the outcome of a condition in one sentence. checked: an item of
    `check_conditions`."""
    measure, baseline = checked["measure"], checked["baseline"]
    by = CORRECTION_NAMES[correction]
    if not checked["worse"]:
        return f"Passed ({by}): {measure} of no run is significantly lower than that of {baseline}."
    runs = ", ".join(
        f"{row['run']} (difference {row['difference']:.4f}, {format_p_equals(row['p'])})"
        for row in checked["worse"]
    )
    return f"Failed ({by}): {measure} is significantly lower than that of {baseline} for {runs}."
