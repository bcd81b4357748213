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
    line = "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
    return line.replace("postgresql", "PostgreSQL").replace("sqlite", "SQLite")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"benchmarks to run, by default all: {', '.join(list_modules())}"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="use small sizes, to test that everything runs, and write no results",
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


SECTIONS = {
    "bench_agreement": (
        "Agreement",
        "These benchmarks compute agreement statistics and labels of a large campaign.",
    ),
    "bench_bands": (
        "Rank windows",
        "These benchmarks show how the width of rank windows affects topic blocks and the time that a claim takes.",
    ),
    "bench_before": (
        "Comparison with version 0.1.0",
        "These benchmarks compare the other benchmarks, and the processor time of pages, with version 0.1.0.",
    ),
    "bench_bootstrap": (
        "Bootstrap",
        "This benchmark computes the bootstrap distribution of ranks.",
    ),
    "bench_claims": (
        "Claims",
        "A claim assigns the next pair to an annotator. In these benchmarks, many clients claim at the same time.",
    ),
    "bench_commands": (
        "Commands",
        "These benchmarks start a command and run a complete evaluation, with `assay` and with `manage.py`.",
    ),
    "bench_crowd": (
        "Many annotators",
        "In these benchmarks, annotators judge at their own pace while three managers open pages.",
    ),
    "bench_dashboards": (
        "Dashboards",
        "These benchmarks open managers' pages of large campaigns.",
    ),
    "bench_evaluate": ("Evaluation", "These benchmarks compute measures of several runs."),
    "bench_first_document": (
        "First document",
        "These benchmarks measure the time until a new annotator sees the first document over a slow connection.",
    ),
    "bench_import": (
        "Import",
        "These benchmarks import a large document collection, and read the texts of a pool.",
    ),
    "bench_judging_page": (
        "Judging page",
        "These benchmarks measure the time from a key press to the next document.",
    ),
    "bench_overload": (
        "Overload",
        "These benchmarks measure the throughput at and above saturation ([fault tolerance](reliability.md#load)).",
    ),
    "bench_pool": ("Pools", "This benchmark builds a depth-k pool of large runs."),
    "bench_preferences": (
        "Preferences",
        "This benchmark estimates the abilities of systems from many battles, with clustered standard errors.",
    ),
    "bench_profile": (
        "Profile",
        "These benchmarks divide the processor time of requests among the parts of the program.",
    ),
    "bench_reading": ("Reading runs", "These benchmarks read large run files."),
    "bench_requests": (
        "Requests",
        "These benchmarks measure the processor time of each request of the judging page.",
    ),
    "bench_sampling": (
        "Sampling",
        "These benchmarks compute sampling estimates, fit the rank model, and apply the stopping rules.",
    ),
    "bench_split_half": (
        "Split halves",
        "This benchmark tests differences between runs on many random halves of the topics.",
    ),
    "bench_stability": (
        "Stability",
        "These benchmarks draw and evaluate sub-collections of the multi-element protocol.",
    ),
    "bench_systems": (
        "Systems",
        "These benchmarks compute tests and intervals of differences between systems.",
    ),
    "bench_workers": ("Workers", "In these benchmarks, two workers share the parts of a report."),
}
"""Module -> (heading, sentence) of its section on the page."""

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
    """Write the table of all stored benchmark rows to docs/evidence/benchmarks.md."""
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    text = [
        "# Benchmarks",
        "",
        "Use this page to compare the speed and memory of Assay with other tools and with limits. `make bench` made these",
        f"measurements on {machine}. The modules in `benchmarks/` describe the comparisons and the",
        "sizes of the data.",
        "",
        "Main results:",
        "",
        "- A server with two cores responds to 1,350 annotators within 250 ms, and to 5,000 annotators within 0.8 s",
        "  (99th percentile).",
        "- Evaluation takes less time than with the reference tools.",
        "- The judging page loads less than 46 kB (compressed) before it shows the first document.",
        "",
        "The tables have these columns:",
        "",
        "- *ratio*: time of the comparison divided by the time of Assay, or the limit divided by the measured value. Times",
        "  are medians of alternating runs. Compare ratios rather than times, which depend on the computer",
        "- *required*: smallest acceptable ratio",
        "- *reached*: whether the ratio is at least the required ratio",
        "- *target*: desired ratio",
        "- *memory ratio*: peak memory of Assay divided by that of the comparison, so a smaller value is better",
        "",
        "The load average covers the five minutes before the end of a measurement. If it is above the number of",
        "cores, other programs slowed the measurement. p50, p95 and p99 are percentiles.",
        "",
    ]
    for path in sorted(RESULTS_DIR.glob("bench_*.json")):
        stand = json.loads(path.read_text(encoding="utf-8"))
        title, sentence = SECTIONS[path.stem]
        text += [
            f"## {title}",
            "",
            f"{sentence} Date: {stand['day']}; load average: {stand['load']}.",
            "",
        ]
        text += [*HEADER, *(format_row(row) for row in stand["rows"]), ""]
    TABLE_PATH.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
