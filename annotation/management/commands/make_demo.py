"""`assay demo`: create the demo campaigns in an empty database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from annotation.demo.accounts import read_sign_ins
from annotation.demo.campaign import create_demo
from pooling.models import Collection


class Command(BaseCommand):
    help = "Create the demo campaigns from the documentation of the Python standard library."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-example",
            action="store_true",
            help="leave out the finished campaign with simulated annotators",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if Collection.objects.exists():
            raise CommandError(
                "the database already has collections; the demo needs an empty database"
            )
        with transaction.atomic():
            create_demo(self.stdout.write, with_example=not options["no_example"])
        self.stdout.write("Sign-in details (role, username, password):")
        for role, name, password in read_sign_ins():
            self.stdout.write(f"  {role:<10} {name:<12} {password}")
