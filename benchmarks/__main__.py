"""`make bench`: run all benchmark modules or the given ones, and write a table of ratios to the
screen and to docs/evidence/benchmarks.md.

The rows of each module are stored in docs/evidence/benchmarks/ with the date and the load of the
machine, so that a module can be measured again by itself.

A benchmark is a module `bench_*.py` in this folder with `main(quick: bool) -> list[dict]`. Fields
of a row: work, peer, ratio (peer's time / Assay's), at_least, and optionally aim, memory_ratio
(Assay's peak / peer's), note, figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import benchmarks

ROOT = Path(__file__).resolve().parent.parent
TABLE_PATH = ROOT / "docs" / "evidence" / "benchmarks.md"
RESULTS_DIR = ROOT / "docs" / "evidence" / "benchmarks"


def list_modules() -> list[str]:
    return sorted(
        name
        for _, name, _ in pkgutil.iter_modules(benchmarks.__path__)
        if name.startswith("bench_")
    )


def format_number(value: object, digits: int = 1) -> str:
    return (
        f"{value:.{digits}f}"
        if isinstance(value, (int, float))
        else ""
        if value is None
        else str(value)
    )


def format_row(row: dict[str, object]) -> str:
    ratio, least = row.get("ratio"), row.get("at_least")
    reached = (
        ""
        if not isinstance(ratio, (int, float)) or not isinstance(least, (int, float))
        else "yes"
        if ratio >= least
        else "no"
    )
    cells = [
        row["work"],
        row["peer"],
        format_number(ratio),
        format_number(least),
        reached,
        format_number(row.get("aim")),
        format_number(row.get("memory_ratio"), 2),
        row.get("note", ""),
    ]
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(list_modules())}")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small sizes, to see that everything runs; nothing is written",
    )
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    failed = []
    for name in arguments.names or list_modules():
        print(f"== {name}", flush=True)
        try:
            rows = importlib.import_module(f"benchmarks.{name}").main(quick=arguments.quick)
        except Exception as error:  # a failing benchmark must not hide the others
            failed.append(name)
            print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        print("\n".join([*HEADER, *(format_row(row) for row in rows)]), flush=True)
        if not arguments.quick:
            save_rows(name, rows)
    if not arguments.quick:
        write_table()
    return 1 if failed else 0


HEADER = [
    "| work | compared with | ratio | required | reached | target | memory ratio | notes |",
    "|---|---|---|---|---|---|---|---|",
]


COLUMNS = ("work", "peer", "ratio", "at_least", "aim", "memory_ratio", "note")


def save_rows(name: str, rows: list[dict[str, object]]) -> None:
    RESULTS_DIR.mkdir(parents=True, exist_ok=True)
    shown = [{column: row[column] for column in COLUMNS if column in row} for row in rows]
    stand = {
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "load": round(os.getloadavg()[1], 1),
        "rows": shown,
    }
    (RESULTS_DIR / f"{name}.json").write_text(
        json.dumps(stand, indent=1, default=float) + "\n", encoding="utf-8"
    )


def write_table() -> None:
    """Write the table of all stored rows."""
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    text = [
        "# Benchmarks",
        "",
        f"These measurements were made by `make bench` on {machine}. A ratio is the time of the comparison",
        "divided by the time of Assay (or a limit divided by the measured value), as medians of alternating runs.",
        "Compare the ratios, not the seconds. The modules under `benchmarks/` describe comparisons and sizes.",
        "",
        "In short: one machine of two cores answers 1,350 annotators within 250 ms and 5,000 within 0.8 s (99th percentile).",
        "Evaluation takes less time than with the reference tools. The judging page loads less than 46 kB (compressed)",
        "before the first document.",
        "",
        "*Load* is the machine's load average over the five minutes before the end of a measurement. If it exceeds the",
        "number of cores, other work slowed the measurement.",
        "",
    ]
    for path in sorted(RESULTS_DIR.glob("bench_*.json")):
        stand = json.loads(path.read_text(encoding="utf-8"))
        text += [
            f"## {path.stem.removeprefix('bench_').replace('_', ' ').capitalize()}",
            "",
            f"{stand['day']}, load {stand['load']}.",
            "",
        ]
        text += [*HEADER, *(format_row(row) for row in stand["rows"]), ""]
    TABLE_PATH.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
