"""What people are told beside a verdict, on the page and by commands alike."""

from __future__ import annotations

from typing import Any

UNPAIRED = "The rank-sum test takes the runs for two unpaired samples: on the same topics it hardly ever finds a difference."

DISPLACEMENT = (
    "Runs enter by date. Each is placed above the highest run that it beats significantly while doing no harm, or last if it beats none. "
    "A run that entered early and was never displaced stays high, whatever its score."
)


def verdict_word(verdict: bool | None) -> str:
    return "no verdict" if verdict is None else "yes" if verdict else "no"


def equal_runs_words(row: dict[str, Any]) -> str:
    """How often equal runs get each verdict; nothing for a report of an older version."""
    if "equal_runs" not in row:
        return ""
    rates = row["equal_runs"]
    shares = {name: f"{100 * rates[name]:.1f} %" for name in ("better", "significantly_better", "do_no_harm", "undecided")}
    return (
        f"If the runs were equal ({rates['trials']} times exchanged at random on each topic), one of them would be said to be better "
        f"{shares['better']} of the time, significantly better {shares['significantly_better']}, better doing no harm {shares['do_no_harm']}; "
        f"{shares['undecided']} would have no verdict."
    )


def equal_boards_words(result: dict[str, Any]) -> str:
    """How often boards of equal runs have a record that is said to be better; nothing where no runs are compared."""
    if not result.get("equal_boards"):
        return ""
    rates, correction = result["equal_boards"], result["correction"]
    own, holm = rates[correction], rates["holm"]
    words = (
        f"{result['family']} comparisons, correction: {correction}. If all runs were equal ({own['trials']} boards, runs exchanged at random "
        f"on each topic), {100 * own['boards']:.0f} % of such boards would have a record said to be better than R1, doing no harm"
    )
    return f"{words}." if correction == "holm" else f"{words}; with Holm's correction {100 * holm['boards']:.0f} %."
