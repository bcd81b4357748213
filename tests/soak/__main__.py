"""Make faults while people judge, and count what became of it; ends with status 1 where something
did not hold.

    python -m tests.soak [FAULT ...] [--database sqlite|postgresql] [--minutes M] [--short] [--list]

Faults are made in an installation (web server, background worker, SQLite or a PostgreSQL cluster of
its own, Redis where it is asked for) in a temporary folder, with annotators' pages that judge, wait
where they are refused, and repeat what was lost. One row a fault is printed.
--minutes: for which people judge around each fault, at least; --short: as the tests do. Every process ends with the program, also on Ctrl-C.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from typing import Any

from tests.soak.faults import FAULTS
from tests.soak.place import Place
from tests.soak.servers import Unavailable
from tests.soak.trial import COLUMNS, Outcome, tried
from tests.soak.trouble import BOTH, Trouble


def stop(*_: Any) -> None:
    raise KeyboardInterrupt


def grouped(pairs: list[tuple[Trouble, str]]) -> dict[tuple[str, frozenset[str]], list[Trouble]]:
    """Group faults that can be caused one after the other in the same installation."""
    groups: dict[tuple[str, frozenset[str]], list[Trouble]] = {}
    for trouble, vendor in pairs:
        groups.setdefault((vendor, trouble.needs), []).append(trouble)
    return groups


def outcomes(
    group: list[Trouble], vendor: str, needs: frozenset[str], *, short: bool, minutes: float
) -> Iterator[Outcome]:
    """Run the trials and print a row for each. After a fault that was not survived, the next trial
    gets a new installation."""
    left = list(group)
    while left:
        try:
            with Place(vendor, needs) as place:
                while left:
                    outcome = tried(left.pop(0), place, short=short, minutes=minutes)
                    print(outcome.line(), flush=True)
                    yield outcome
                    if outcome.complaints:
                        print(place.log_end(), file=sys.stderr, flush=True)
                        break
        except Unavailable as error:
            for trouble in left:
                print(f"| {trouble.name} | {vendor} | not tried: {error} |", flush=True)
            return


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "faults", nargs="*", metavar="FAULT", help="all unless named; --list says which there are"
    )
    parser.add_argument("--database", choices=BOTH, help="both unless given")
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--short", action="store_true")
    parser.add_argument(
        "--list", action="store_true", help="the faults and their databases, then end"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.faults) - set(FAULTS)):
        parser.error(f"no fault is called {', '.join(unknown)}; there are {', '.join(FAULTS)}")
    chosen = [FAULTS[name] for name in options.faults or FAULTS]
    pairs = [
        (trouble, vendor)
        for trouble in chosen
        for vendor in trouble.databases
        if options.database in (None, vendor)
    ]
    if options.list:
        for trouble, vendor in pairs:
            print(f"{trouble.name} ({vendor})")
        return 0
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    print(COLUMNS, "|" + "---|" * (COLUMNS.count("|") - 1), sep="\n", flush=True)
    held = True
    for (vendor, needs), group in grouped(pairs).items():
        for outcome in outcomes(group, vendor, needs, short=options.short, minutes=options.minutes):
            held = held and not outcome.complaints
    return 0 if held else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
