"""`assay demo`: create the demo campaign in an empty database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.demo.accounts import read_sign_ins
from annotation.demo.campaign import create_demo
from pooling.models import Collection


class Command(BaseCommand):
    help = "Create the demo campaign from the documentation of the Python standard library."

    def handle(self, *args: Any, **options: Any) -> None:
        if Collection.objects.exists():
            raise CommandError(
                "the database already has collections; the demo needs an empty database"
            )
        create_demo(self.stdout.write)
        self.stdout.write("Sign-ins (role, username, password):")
        for role, name, password in read_sign_ins():
            self.stdout.write(f"  {role:<10} {name:<12} {password}")
