"""Effect of rank windows on the length of topic blocks and on the time of claims, from the strict
order to all ranks together.

    python -m benchmarks.bench_bands [--quick]

The length of topic blocks is simulated with the scheduling rule, on the pool of
docs/reference/methods/judging.md. Claims are those of bench_claims on its 30,000 pairs, half
judged. One client claims for its 135 annotators in turn, with windows of 1 (the strict order), 3
and 10 ranks in alternation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

from annotation.core.rank_windows import simulate_judging
from benchmarks.bench_claims import ROOT, BenchmarkDatabase, release_round, set_up_django
from tests.annotation.core.test_rank_windows import pool_of_runs

BLOCK_LENGTH = 8  # documents of the same topic in a row, with a topic block of 10
WIDTHS = (1, 3, 10)


def measure_stays() -> dict[str, object]:
    pool = pool_of_runs(50, 10, depth=10, spread=25, seed=1)
    found = {
        width: simulate_judging(pool, width=width, annotators=12, needed=3, block_length=10)
        for width in (1, 3, 5, 10)
    }
    told = ", ".join(
        f"{row.mean_run:.1f} with windows of {width} ({row.percent_out_of_order:.0f}% of pairs before a better rank)"
        for width, row in found.items()
    )
    return {
        "work": "consecutive documents of one topic, 50 topics, depth 10, 12 annotators, topic blocks of 10, rank windows of 10",
        "peer": f"{BLOCK_LENGTH} documents",
        "ratio": found[10].mean_run / BLOCK_LENGTH,
        "at_least": 1.0,
        "note": f"{told}; at most {max(row.most_per_pair for row in found.values())} of the 3 required judgements per pair",
        "figures": {},
    }


def run_claims(turns: int, n: int) -> None:
    """Time claims in this process, which is started for this, and print the milliseconds of n
    claims for each turn and window as JSON."""
    set_up_django()
    from annotation.models import Campaign, Membership
    from annotation.services.judging import scheduling

    found: dict[int, list[list[float]]] = {width: [] for width in WIDTHS}
    for turn in range(turns + 1):
        for width in WIDTHS[:: -1 if turn % 2 else 1]:
            Campaign.objects.update(band=width)
            release_round()
            members = itertools.cycle(Membership.objects.select_related("campaign").order_by("pk"))
            took = []
            for member in itertools.islice(members, n):
                began = time.perf_counter()
                scheduling.claim_pair(member)
                took.append(1000 * (time.perf_counter() - began))
            if turn:  # the first round warms up
                found[width].append(took)
    print(json.dumps(found))


def measure_claims(vendor: str, turns: int, n: int) -> list[dict[str, object]]:
    with BenchmarkDatabase(vendor, 30_000) as database:
        env = {**os.environ, "ASSAY_DATABASE_URL": database.url, "ASSAY_SECRET_KEY": "benchmark"}
        command = [sys.executable, "-m", "benchmarks.bench_bands", "--work", str(turns), str(n)]
        found = json.loads(
            subprocess.run(
                command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True
            ).stdout
        )
    medians = {width: [statistics.median(took) for took in found[str(width)]] for width in WIDTHS}
    strict = medians[1]
    return [
        {
            "work": f"claim of 30,000 pairs, half judged, with rank windows of {width}, {vendor}",
            "peer": "claims in the strict order of priorities",
            "ratio": statistics.median(
                before / now for before, now in zip(strict, medians[width], strict=True)
            ),
            "at_least": 0.8,
            "note": f"medians of {n} claims in {turns} rounds: {min(medians[width]):.2f} to "
            f"{max(medians[width]):.2f} ms "
            f"beside {min(strict):.2f} to {max(strict):.2f} ms",
            "figures": {},
        }
        for width in WIDTHS[1:]
    ]


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("postgresql", "sqlite")
) -> list[dict[str, object]]:
    return [
        measure_stays(),
        *(
            row
            for vendor in vendors
            for row in measure_claims(vendor, turns=2 if quick else 7, n=135 if quick else 270)
        ),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        run_claims(*options.work)
    else:
        for row in main(options.quick):
            print(row)
