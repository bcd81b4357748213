"""`assay account create`: create an account that belongs to no campaign."""

from __future__ import annotations

import sys
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from annotation.forms import RegisterForm
from annotation.services.people import accounts


class Command(BaseCommand):
    help = "Create an account, with a one-time sign-in link or a password from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="NAME", help="username of the new account")
        parser.add_argument("--email", default="", metavar="ADDRESS", help="email address")
        parser.add_argument(
            "--creator", action="store_true", help="allow creating collections and campaigns"
        )
        parser.add_argument(
            "--admin", action="store_true", help="give the account the rights of an administrator"
        )
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from standard input instead of printing a link",
        )
        parser.add_argument(
            "--url",
            default="http://127.0.0.1:8000",
            help="address of the server in the link (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = read_password() if options["password_stdin"] else None
        form = RegisterForm(
            {"username": options["username"], "email": options["email"], "password": password}
        )
        if password is None:
            del form.fields["password"]
        if not form.is_valid():
            problems = [f"{name}: {text}" for name, all_ in form.errors.items() for text in all_]
            raise CommandError("\n".join(problems), returncode=2)
        try:
            user = accounts.create_account(
                username=form.cleaned_data["username"],
                email=form.cleaned_data["email"],
                password=password,
                is_administrator=options["admin"],
                may_create=options["creator"],
            )
        except accounts.PeopleError as error:
            raise CommandError(str(error), returncode=2) from None
        if password is not None:
            self.stderr.write(f"Account {user} created.")
            return
        minutes = accounts.sign_in_links.minutes
        self.stderr.write(
            f"Account {user} created. This link works once and expires in {minutes} minutes:"
        )
        path = reverse("sign-in-link-use", args=accounts.sign_in_path(user).split("/"))
        self.stdout.write(options["url"].rstrip("/") + path)


def read_password() -> str:
    """Read the first line of standard input, without showing it in a terminal."""
    return getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
