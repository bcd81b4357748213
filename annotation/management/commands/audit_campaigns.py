"""Recompute every stored counter of campaigns and report differences."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Campaign
from annotation.selectors.judging import check_invariants
from pooling.platform.snapshot import snapshot


class Command(BaseCommand):
    help = (
        "Recompute the counters of campaigns from judgements and leases, and report differences "
        "without changing anything."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "campaigns", nargs="*", metavar="SLUG", help="slugs of campaigns (default: all)"
        )

    def handle(self, *args: object, **options: Any) -> None:
        campaigns = Campaign.objects.order_by("slug")
        if options["campaigns"]:
            campaigns = campaigns.filter(slug__in=options["campaigns"])
            unknown = set(options["campaigns"]) - set(campaigns.values_list("slug", flat=True))
            if unknown:
                raise CommandError(
                    f"unknown campaign slugs: {', '.join(sorted(unknown))}", returncode=2
                )
        broken = 0
        for slug in list(campaigns.values_list("slug", flat=True)):
            with snapshot():
                faults = check_invariants(Campaign.objects.get(slug=slug))
            broken += len(faults)
            self.stdout.write(f"{slug}: {'; '.join(faults) or 'all counters agree'}")
        if broken:
            raise CommandError(
                f"Counters that do not match the stored judgements and leases: {broken}"
            )
