"""`python -m benchmarks.preference_intervals`: how often the confidence intervals of `compare preferences`
cover the true difference of two systems, on the runs of ASSAY_TEST_DATA. Writes
docs/evidence/preferences.md.

Each row has its own random generator, so that the page is the same for any number of processes.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from assay.chunks import map_in_processes
from assay.column_types import A_WINS, B_WINS, TIE
from assay.comparison.bradley_terry import NoMaximum, Outcomes, fit_bradley_terry
from assay.library import evaluate
from benchmarks.calibration.page import format_markdown_table

PAGE_PATH = Path(__file__).parents[1] / "docs" / "evidence" / "preferences.md"
RUN_SETS = {
    "dl21": ("dl21-passage/qrels.nist.txt.gz", "dl21-passage/runs-judged53/*"),
    "robust03": ("robust03/qrels.robust2003.txt.gz", "robust03/runs/*"),
    "clef-ehealth": (
        "clef-ehealth-2015/qrels.eng.clef2015.qtest.graded.txt.gz",
        "clef-ehealth-2015/runs-top100/*",
    ),
}
N_SYSTEMS = 16
TOPICS = (10, 30, 53)
ROUNDS = (1, 2, 0)
"""Number of cycles through all systems on each topic. 0 means all pairs of systems."""
NOISES = ((0.15, 20), (0.40, 15))
"""(probability that an outcome is drawn at random, denominator with which a third of this
probability is a whole number)."""
MARGIN = 0.02
"""Difference of nDCG@10 up to which a battle is a tie."""
HEADER = [
    *("runs", "topics", "noise", "battles per topic", "covered", "lowest pair", "highest pair"),
    *("as if independent", "no maximum"),
]
PAGE_TEXT = """# Confidence intervals for preferences

Use this page to judge how far you can trust the confidence intervals of [`compare preferences`](../reference/methods/preferences.md). It shows by
simulation whether these intervals contain the true difference between two systems in 95% of cases. `python -m benchmarks.preference_intervals`
computes the results from the runs of three test collections and writes this page, with {trials} simulations per row (seed {seed}). The standard error
of the coverage is about {error:.3f} for one pair, and smaller for the mean over pairs.

- **Systems.** The systems are 16 runs from each set, drawn once. The quality of a system's answer to a topic is its nDCG@10.
- **Campaign.** Each simulation draws topics with replacement. On each topic, the battles are one or two random cycles through the systems (16 or 32
  battles), or all pairs (120 battles). The better answer wins. A difference of at most .02 is a tie. With the probability *noise*, a random win, loss
  or tie replaces the outcome.
- **True difference.** The true abilities are those of the model fitted to the expected outcomes of all pairs on all topics of the set.

| column | meaning |
|---|---|
| covered | share of the 95% confidence intervals that contain the true difference, over all pairs of systems |
| lowest pair, highest pair | this share for the pair of systems with the lowest share, and for the pair with the highest share |
| as if independent | coverage of intervals from the inverse information, which treat battles on a topic as independent |
| no maximum | number of campaigns in which abilities could not be estimated, because the likelihood has no maximum; the other columns exclude these campaigns |

{table}

The mean coverage of clustered intervals is between {low} and {high}. The coverage of intervals that treat battles as independent is as low as
{worst}. Battles on the same topic depend more strongly on each other if there are more of them and if annotators agree more.
"""


class Row(NamedTuple):
    """A setting of the simulation: one row of the table. rounds: as in ROUNDS."""

    runs: str
    topics: int
    noise: tuple[float, int]
    rounds: int


ROWS = [
    Row(runs, topics, noise, rounds)
    for runs in RUN_SETS
    for noise in NOISES
    for topics in TOPICS
    for rounds in ROUNDS
]


@dataclass(frozen=True, eq=False)
class RunSet:
    """Scores of 16 systems. scores: float64 (n_topics, 16), nDCG@10."""

    scores: np.ndarray


def load_run_set(data: Path, name: str, seed: int) -> RunSet:
    """Draw the systems of a run set and compute their scores."""
    qrels, pattern = RUN_SETS[name]
    paths = sorted(data.glob(pattern))
    rng = np.random.default_rng([seed, list(RUN_SETS).index(name)])
    drawn = [str(paths[i]) for i in sorted(rng.choice(len(paths), N_SYSTEMS, replace=False))]
    return RunSet(evaluate(str(data / qrels), drawn, "nDCG@10").values[:, :, 0].T)


def true_outcomes(scores: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the outcomes of battles without noise. scores: (n, 16), those of the topic of each
    battle."""
    each = np.arange(len(a))
    difference = scores[each, a] - scores[each, b]
    outcome = np.where(difference > 0, A_WINS, B_WINS)
    return np.where(np.abs(difference) <= MARGIN, TIE, outcome).astype(np.int8)


def fit_truth(scores: np.ndarray, denominator: int, noise: float) -> np.ndarray:
    """Return the true abilities, fitted to the expected outcomes. To express probabilities,
    outcomes are repeated whole numbers of times."""
    first, second = np.triu_indices(N_SYSTEMS, 1)
    topics = np.repeat(np.arange(len(scores), dtype=np.int32), len(first))
    a, b = (np.tile(one, len(scores)) for one in (first, second))
    outcome = true_outcomes(scores[topics], a, b)
    each = round(denominator * noise / 3)
    assert abs(each - denominator * noise / 3) < 1e-9
    parts = [np.full(len(a), kind, dtype=np.int8) for kind in (A_WINS, B_WINS, TIE)]
    repeated = [outcome] * (denominator - 3 * each) + parts * each
    n = len(repeated)
    return fit_bradley_terry(
        Outcomes(
            N_SYSTEMS,
            np.tile(a, n),
            np.tile(b, n),
            np.concatenate(repeated),
            np.tile(topics, n),
            {},
        )
    ).abilities


def draw_pairs(rng: np.random.Generator, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the pairs of systems that meet on one topic."""
    if not rounds:
        return np.triu_indices(N_SYSTEMS, 1)
    cycles = [rng.permutation(N_SYSTEMS) for _ in range(rounds)]
    return np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])


def simulate_row(shared: tuple[dict[str, RunSet], int, int], number: int) -> list[str]:
    """Simulate one setting and return the cells of its row. shared: run sets, simulations, seed."""
    sets, trials, seed = shared
    row = ROWS[number]
    scores = sets[row.runs].scores
    noise, denominator = row.noise
    truth = fit_truth(scores, denominator, noise)
    i, j = np.triu_indices(N_SYSTEMS, 1)
    true_differences = truth[i] - truth[j]
    rng = np.random.default_rng([seed, number])
    covered = np.zeros(len(i))
    independent = np.zeros(len(i))
    done = 0
    for _ in range(trials):
        drawn = rng.integers(0, len(scores), row.topics)
        pairs = [draw_pairs(rng, row.rounds) for _ in drawn]
        a, b = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
        topic = np.repeat(np.arange(row.topics, dtype=np.int32), [len(pair[0]) for pair in pairs])
        outcome = true_outcomes(scores[drawn[topic]], a, b)
        noisy = rng.random(len(a)) < noise
        outcome = np.where(noisy, rng.integers(0, 3, len(a)), outcome).astype(np.int8)
        try:
            fit = fit_bradley_terry(Outcomes(N_SYSTEMS, a, b, outcome, topic, {}))
        except NoMaximum:
            continue
        done += 1
        error = np.abs(fit.abilities[i] - fit.abilities[j] - true_differences)
        for counts, covariance, quantile in (
            (covered, fit.clustered, student.ppf(0.975, row.topics - 1)),
            (independent, fit.by_model, norm.ppf(0.975)),
        ):
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            counts += error <= quantile * np.sqrt(np.maximum(variance, 0))
    shares = covered / done
    return [
        *(row.runs, str(row.topics), f"{noise:.2f}"[1:], str(len(pairs[0][0]))),
        *(f"{share:.3f}" for share in (shares.mean(), shares.min(), shares.max())),
        f"{(independent / done).mean():.3f}",
        str(trials - done),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.preference_intervals", description=__doc__
    )
    parser.add_argument(
        "--trials", type=int, default=1000, metavar="N", help="simulations a row (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="(default 1)")
    parser.add_argument("--output", type=Path, default=PAGE_PATH, metavar="FILE")
    options = parser.parse_args()
    if not os.environ.get("ASSAY_TEST_DATA"):
        parser.error("ASSAY_TEST_DATA is not set to the folder of real collections")
    data = Path(os.environ["ASSAY_TEST_DATA"])
    sets = {name: load_run_set(data, name, options.seed) for name in RUN_SETS}
    shared = (sets, options.trials, options.seed)
    rows = []
    numbers = list(range(len(ROWS)))
    for row in map_in_processes(simulate_row, numbers, processes=options.processes, shared=shared):
        rows.append(row)
        print(" | ".join(row), file=sys.stderr, flush=True)
    options.output.write_text(
        PAGE_TEXT.format(
            trials=f"{options.trials:,}",
            seed=options.seed,
            error=(0.95 * 0.05 / options.trials) ** 0.5,
            table=format_markdown_table(HEADER, rows),
            low=min(row[4] for row in rows),
            high=max(row[4] for row in rows),
            worst=min(row[7] for row in rows),
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
