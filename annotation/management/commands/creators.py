"""`assay creators`: manage the right to create collections and campaigns."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Profile
from annotation.services.people import accounts


class Command(BaseCommand):
    help = "Grant, revoke or list the right to create collections and campaigns."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["list", "add", "remove"], help="list, add or remove")
        parser.add_argument("names", nargs="*", metavar="NAME", help="usernames of the accounts")

    def handle(self, *args: Any, **options: Any) -> None:
        names, action = options["names"], options["action"]
        if action == "list":
            for name in (
                Profile.objects.filter(may_create=True)
                .order_by("user__username")
                .values_list("user__username", flat=True)
            ):
                self.stdout.write(name)
            return
        if not names:
            raise CommandError("the username is missing; for example: assay creators add ada")
        users = {
            user.get_username(): user
            for user in get_user_model().objects.filter(username__in=names)
        }
        unknown = [name for name in names if name not in users]
        if unknown:
            raise CommandError(
                f"there is no account with the username {', '.join(unknown)}; nothing was changed"
            )
        for name in names:
            accounts.set_creator(users[name], may_create=action == "add", actor=None)
            self.stdout.write(
                f"{name} {'may' if action == 'add' else 'may no longer'} create collections and campaigns"
            )
