"""`make calibration`: simulate each kind of interval, test and flag over a grid, and write
docs/evidence/calibration.md. Use ARGS="--trials N" for fewer trials.

Each row has its own random generator, so that the page is the same for any number of processes.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

from assay.chunks import map_in_processes
from benchmarks.calibration import tables
from benchmarks.calibration.page import PAGE_TEXT, format_markdown_table

PAGE_PATH = Path(__file__).parents[2] / "docs" / "evidence" / "calibration.md"


def make_row(shared: tuple[int, int], place: tuple[int, int]) -> list[str]:
    """Simulate one row of a table. shared: (trials, seed). place: (number of the table, number of
    the row within it)."""
    trials, seed = shared
    number, row = place
    table = tables.TABLES[number]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))
    return [*table.rows[row].shown, *table.simulate(*table.rows[row].given, trials=trials, rng=rng)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make calibration ARGS=...", description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=1000, metavar="N", help="simulations a row (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="at the same time (default 1); the page does not depend on it",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=PAGE_PATH,
        metavar="FILE",
        help="in place of docs/evidence/calibration.md",
    )
    options = parser.parse_args()
    places = [
        (number, row)
        for number, table in enumerate(tables.TABLES)
        for row in range(len(table.rows))
    ]
    rows: dict[int, list[list[str]]] = {number: [] for number in range(len(tables.TABLES))}
    made = map_in_processes(
        make_row, places, processes=options.processes, shared=(options.trials, options.seed)
    )
    for done, ((number, _), row) in enumerate(zip(places, made, strict=True), 1):
        rows[number].append(row)
        print(
            f"{done}/{len(places)} {tables.TABLES[number].name}: {' | '.join(row)}",
            file=sys.stderr,
            flush=True,
        )
    parts = {
        table.name: format_markdown_table(table.header, rows[number])
        for number, table in enumerate(tables.TABLES)
    }
    error = math.sqrt(0.95 * 0.05 / options.trials)
    options.output.write_text(
        PAGE_TEXT.format(trials=options.trials, seed=options.seed, error=error, **parts),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
