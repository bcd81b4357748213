"""Sentences that explain verdicts, shared by the page and the commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

UNPAIRED_NOTE = (
    "The rank-sum test treats the runs as two unpaired samples. On the same topics it hardly "
    "ever finds a difference."
)

DISPLACEMENT_NOTE = (
    "Runs enter by date. Each is placed above the highest run that it beats significantly "
    "while doing no harm, or last if it beats none. A run that entered early and was never "
    "displaced stays high, whatever its score."
)

REPEATED_TESTING_NOTE = (
    "Tests and 95% confidence intervals hold for one check. If you check repeatedly while "
    "judging, the error rate exceeds 5%."
)


def format_verdict(verdict: bool | None) -> str:
    return "no verdict" if verdict is None else "yes" if verdict else "no"


MAX_LETTERS = 8
"""Maximum number of groups that are shown as letters."""
MAX_NAMED = 5
"""Maximum runs listed by name. Further runs are counted."""


def join_first(tags: Sequence[str]) -> str:
    rest = len(tags) - MAX_NAMED
    return ", ".join(tags[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def list_not_different(measure_result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return for each run the runs that do not differ from it significantly, best first.
    measure_result: one measure of `compare systems`."""
    means = measure_result["means"]
    alike: dict[str, list[str]] = {tag: [] for tag in means}
    for row in measure_result["pairs"]:
        if row["different"] is False:
            alike[row["a"]].append(row["b"])
            alike[row["b"]].append(row["a"])
    return {
        tag: sorted(others, key=lambda other: (-means[other], other))
        for tag, others in alike.items()
    }


def make_groups_column(measure_result: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the header of the groups column and its cell for each run: letters (Piepho 2004), or
    names if there are too many letters."""
    groups: dict[str, str] = measure_result["groups"]
    if (
        len(
            {
                letter
                for letters in groups.values()
                for letter in re.findall(r"[a-z][0-9]*", letters)
            }
        )
        <= MAX_LETTERS
    ):
        return "group", groups
    return "not significantly different from", {
        tag: join_first(others) or "-" for tag, others in list_not_different(measure_result).items()
    }


def describe_constant_differences(result: Mapping[str, Any]) -> str:
    """Describe which test decides if the t-test is undefined. Empty if it is defined for every pair
    of `compare systems`."""
    pairs = [
        row
        for measure_result in result.values()
        if isinstance(measure_result, dict)
        for row in measure_result.get("pairs", [])
    ]
    if not any(row["t"] is None or row["t"] != row["t"] for row in pairs):
        return ""
    return "Where all topics have the same difference, t is undefined and the permutation test decides. "


def describe_run_verdict(row: Mapping[str, Any]) -> str:
    """Describe whether run B is better than run A, with the reasons. row: a result of `compare
    runs`."""
    a, b, verdict = f"{row['a']} (A)", f"{row['b']} (B)", row["verdict"]
    if None in (verdict["better"], verdict["significantly_better"], verdict["do_no_harm"]):
        says = f"No verdict on whether {b} is better than {a}"
    elif verdict["significantly_better"]:
        says = f"{b} is significantly better than {a}"
    elif verdict["do_no_harm"]:
        says = f"{b} is better than {a} by the do-no-harm rule"
    elif verdict["better"]:
        says = f"{b} is better than {a}, but not significantly"
    else:
        says = f"{b} is not better than {a}"
    reasons = [reason.removeprefix("no verdict: ") for reason in verdict["because"]]
    return " ".join(f"{one[:1].upper()}{one[1:]}." for one in [says, *reasons])


def describe_equal_runs(row: dict[str, Any]) -> str:
    """Describe how often equal runs get each verdict. Empty for reports of older versions."""
    if "equal_runs" not in row:
        return ""
    rates = row["equal_runs"]
    shares = {
        name: f"{100 * rates[name]:.1f}%"
        for name in ("better", "significantly_better", "do_no_harm", "undecided")
    }
    return (
        f"If the runs were equal ({rates['trials']} random exchanges of the runs per topic), "
        f"one of them would be called better {shares['better']} of the time, significantly "
        f"better {shares['significantly_better']}, better doing no harm {shares['do_no_harm']}; "
        f"{shares['undecided']} would have no verdict."
    )


def describe_equal_boards(result: dict[str, Any]) -> str:
    """Describe how often leaderboards of equal runs have a record that is called better. Empty if
    no runs are compared."""
    if not result.get("equal_boards"):
        return ""
    rates, correction = result["equal_boards"], result["correction"]
    own, holm = rates[correction], rates["holm"]
    words = (
        f"{result['family_size']} comparisons, correction: {correction}. If all runs were equal ({own['trials']} "
        "simulated leaderboards, with runs exchanged at random per topic), "
        f"{100 * own['boards']:.0f}% of the leaderboards would have a record called better "
        "than R1 by the do-no-harm rule"
    )
    return (
        f"{words}."
        if correction == "holm"
        else f"{words}; with Holm's correction {100 * holm['boards']:.0f}%."
    )
