"""`assay drain`: send no new users to this machine, before its web server is stopped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.health import drain_file


class Command(BaseCommand):
    help = (
        "Make /readyz on this machine return status 503, so that a load balancer sends no more "
        "requests. To reverse this, use --end."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--end", action="store_true", help="accept requests again")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["end"]:
            drain_file().unlink(missing_ok=True)
            self.stdout.write("this machine accepts requests again")
        else:
            drain_file().touch()
            self.stdout.write(
                "this machine is being drained: /readyz answers 503, and current users are still served"
            )
