"""The right to make collections and campaigns: given and taken by an administrator, by page and by
command."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError
from django.urls import reverse

from annotation import permissions as of_campaigns
from pooling import permissions as of_collections
from tests.builders import make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db


def rights(user) -> tuple[bool, bool]:
    fresh = type(user).objects.get(pk=user.pk)
    return of_campaigns.can_create(fresh), of_collections.can_create(fresh)


def test_an_administrator_gives_and_takes_the_right_on_a_page(client):
    admin, ada = make_user(superuser=True), make_user("ada")
    client.force_login(admin)
    assert rights(ada) == (False, False)
    assert (
        client.post(
            reverse("accounts"), {"user": ada.pk, "action": "give"}, follow=True
        ).status_code
        == 200
    )
    assert rights(ada) == (True, True)
    assert (
        "Remove the permission of ada to create campaigns"
        in client.get(reverse("accounts"), {"q": "AD"}).content.decode()
    )
    client.post(reverse("accounts"), {"user": ada.pk, "action": "withdraw"})
    assert rights(ada) == (False, False)


def test_only_administrators_can_see_or_grant_rights(client):
    ada = make_user("ada", may_create=True)
    client.force_login(ada)
    assert client.get(reverse("accounts")).status_code == 403
    assert client.post(reverse("accounts"), {"user": ada.pk, "action": "give"}).status_code == 403


def test_the_command_gives_takes_and_lists(capsys):
    ada = make_user("ada")
    call_command("creators", "add", "ada")
    assert rights(ada) == (True, True)
    call_command("creators", "list")
    assert capsys.readouterr().out.splitlines()[-1] == "ada"
    call_command("creators", "remove", "ada")
    assert rights(ada) == (False, False)
    with pytest.raises(
        CommandError, match="there is no account with the username bob; nothing was changed"
    ):
        call_command("creators", "add", "ada", "bob")
    assert rights(ada) == (False, False)
