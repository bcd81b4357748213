"""Build a pool of a collection in the database (build_pool does so from plain files)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pooling.commandline import positive
from pooling.jobs import Refused
from pooling.management.in_line import Failed, collection_named, do, lines, user_named
from pooling.services.pools import ask_for_pool


class Command(BaseCommand):
    help = "Build a pool of a collection in the database; build_pool does so from plain files."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--collection", required=True, metavar="SLUG")
        parser.add_argument("--depth", type=positive, default=10, metavar="K")
        parser.add_argument("--seed", type=int, default=0, metavar="N")
        parser.add_argument("--runs", nargs="*", default=[], metavar="TAG", help="all runs unless given")
        parser.add_argument("--name", default="")
        parser.add_argument("--user", metavar="NAME", help="in whose name it is done")

    def handle(self, *, collection: str, depth: int, seed: int, runs: list[str], name: str, user: str | None, **_: Any) -> None:
        target = collection_named(collection)
        chosen = list(target.runs.filter(tag__in=runs) if runs else target.runs.all())
        if absent := sorted(set(runs) - {run.tag for run in chosen}):
            raise Failed(f"no run has the tag {', '.join(absent)}")
        try:
            job = ask_for_pool(target, runs=chosen, depth=depth, seed=seed, name=name, user=user_named(user))
        except Refused as error:
            raise Failed(str(error)) from None
        self.stdout.write("\n".join(lines(do(job, self.stderr))))
