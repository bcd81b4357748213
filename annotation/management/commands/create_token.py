"""`assay token create`: create an API token."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Scope
from annotation.services.people import tokens
from annotation.services.people.accounts import PeopleError
from pooling.management.import_commands import get_user


class Command(BaseCommand):
    help = "Create an API token for an account and print it once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", metavar="ACCOUNT", help="username of the token's owner")
        parser.add_argument(
            "--name",
            default="command line",
            metavar="NAME",
            help="name of the token on the account page (default: %(default)s)",
        )
        parser.add_argument(
            "--scope",
            nargs="+",
            default=[Scope.READ.value],
            choices=Scope.values,
            help="scopes of the token: read, judge, manage (default: read)",
        )
        parser.add_argument(
            "--expires",
            type=int,
            default=tokens.USUAL_DAYS,
            choices=tokens.DAYS,
            help="days until the token expires: 7, 30, 90 or 365 (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = get_user(options["account"])
        if user is None or not user.is_active:
            raise CommandError(
                f"there is no active account with the username {options['account']!r}", returncode=2
            )
        try:
            token = tokens.create_api_token(
                user=user, name=options["name"], scopes=options["scope"], days=options["expires"]
            )
        except PeopleError as error:
            raise CommandError(str(error), returncode=2) from None
        self.stdout.write(token)
