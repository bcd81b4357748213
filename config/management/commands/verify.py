"""`manage.py verify`: whether everything that the installation keeps agrees with itself."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.verification import ASIDE, faults


class Command(BaseCommand):
    help = (
        "Recompute every counter from judgements and leases, look whether each file is there and "
        "has the content it had, and find files that belong "
        "to nothing. Changes nothing without --mend; may run while people judge. Ends with status "
        "1 where something is wrong and was not mended."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        words = f"count counters anew, and move files that belong to nothing into the data folder's {ASIDE}"
        parser.add_argument("--mend", action="store_true", help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        n_found = n_left = 0
        for fault in faults(mend=options["mend"]):
            n_found, n_left = n_found + 1, n_left + (not fault.mended)
            self.stdout.write(f"{'mended' if fault.mended else 'WRONG '}  {fault.sentence}")
        self.stdout.write(
            f"{n_found} wrong, {n_found - n_left} of them mended"
            if n_found
            else "everything agrees"
        )
        if n_left:
            raise SystemExit(1)
