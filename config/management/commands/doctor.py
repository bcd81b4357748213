"""`assay doctor`: check this installation and report problems."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from config.doctor import run_checks


class Command(BaseCommand):
    help = "Check this installation and suggest fixes. The exit status is 1 if there is a problem."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        all_findings = run_checks()
        for finding in all_findings:
            self.stdout.write(f"{'WRONG' if finding.is_problem else 'note '}  {finding.sentence}")
        n_wrong = sum(finding.is_problem for finding in all_findings)
        self.stdout.write(
            f"{n_wrong} to fix, {len(all_findings) - n_wrong} for information"
            if all_findings
            else "no problems"
        )
        if n_wrong:
            raise SystemExit(1)
