"""`assay worker`: run the background worker, with Celery if a broker is configured."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config import environment
from config.numerics import import_numerics


class Command(BaseCommand):
    help = "Start the background worker for imports, pools, analyses and exports."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--processes",
            type=int,
            default=environment.number("WORKER_PROCESSES", least=1),
            metavar="N",
            help="number of concurrent jobs (default: ASSAY_WORKER_PROCESSES, or 2)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        processes = str(options["processes"])
        if settings.BROKER_URL:
            celery = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"]
            celery += ["--pool", "prefork", "--concurrency", processes, "--loglevel", "WARNING"]
            celery += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
            os.execv(sys.executable, celery)
        from pooling import worker_processes

        import_numerics()  # once for all processes
        os.nice(environment.worker_niceness())
        worker_processes.run_processes(int(processes))
