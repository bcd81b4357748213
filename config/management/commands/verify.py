"""`assay verify`: check that all stored data agree with each other."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from assay.number_words import format_count
from config.verification import QUARANTINE_FOLDER, find_faults


class Command(BaseCommand):
    help = (
        "Recompute every counter from judgements and leases, check that every file exists and is "
        "unchanged, and find orphaned files. Without --fix, the command changes nothing. The "
        "exit status is 1 if problems remain."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        words = f"correct the counters, and move orphaned files to the folder {QUARANTINE_FOLDER}"
        parser.add_argument("--fix", action="store_true", help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        n_found = n_left = 0
        for fault in find_faults(fix=options["fix"]):
            n_found, n_left = n_found + 1, n_left + (not fault.is_fixed)
            self.stdout.write(f"{'fixed' if fault.is_fixed else 'WRONG'}  {fault.sentence}")
        summary = f"{format_count(n_found, 'problem')}, {n_found - n_left} of them fixed"
        self.stdout.write(summary if n_found else "no problems")
        if n_left:
            raise SystemExit(1)
