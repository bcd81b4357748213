"""What annotators set for themselves (a reminder of a break, keys, how they read) is nobody else's:
it stands on no page, in no answer of the API and in no file that a manager, a viewer or another
annotator gets. Their pace never reaches the server: tests/browser/test_judging_rhythm.py."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from analysis.publishing.exports import available_exports
from annotation.models import Membership, Profile
from tests import test_urls_by_role
from tests.test_urls_by_role import TABLE, Brought, World, every_pattern, make_world

pytestmark = pytest.mark.django_db
MARK = "7418529"
PRIVATE: dict[str, Any] = {
    "break_minutes": MARK,
    "text_size": int(MARK),
    "font": f"own-{MARK}",
    "keys": {"later": f"x{MARK}"},
    "guidelines": False,
}


@pytest.fixture
def world(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Everything in it is made when the annotator has these settings already."""
    settings.MEDIA_ROOT = tmp_path / "files"
    plain = test_urls_by_role.make_annotator

    def make_annotator(*about: Any) -> Membership:
        member = plain(*about)
        Profile.objects.filter(user=member.user).update(choices=PRIVATE)
        return member

    monkeypatch.setattr(test_urls_by_role, "make_annotator", make_annotator)
    return make_world(Brought())


def unpacked(content: bytes) -> Iterator[bytes]:
    """It, and all that is packed in it."""
    yield content
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from unpacked(archive.read(name))
    elif content.startswith(b"\x1f\x8b"):
        yield from unpacked(gzip.decompress(content))


def parts_of(answer: HttpResponse) -> list[bytes]:
    """Its headers, its content, and all that is packed in that."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return [
        "\n".join(f"{name}: {value}" for name, value in answer.items()).encode(),
        *unpacked(content),
    ]


def told(parts: list[bytes], what: str) -> bool:
    return any(what.encode() in part for part in parts)


@pytest.mark.long
def test_no_page_answer_or_file_for_anybody_else_holds_them(world: World) -> None:
    routes, member = every_pattern(), Membership.objects.get(user=world.people["annotator"])
    own = world.ask("annotator", "api-judging-setup", routes["api-judging-setup"])
    assert own.json()["profile"] == PRIVATE
    assert told(parts_of(own), MARK)  # it would be found
    named, packed, leaks = set(), set(), []
    for role in ("manager", "viewer", "stranger", "superuser"):
        for name in TABLE:
            parts = parts_of(world.ask(role, name, routes[name]))
            if told(parts, MARK):
                leaks.append((role, name))
            if role == "manager" and told(parts, member.pseudonym):
                named.add(name)
            if role == "manager" and told(parts[2:], "Spring"):
                packed.add(name)
    assert leaks == []
    assert {
        "campaign-people",
        "campaign-person",
        "campaign-payment",
        "api-payment",
    } <= named  # what is known of the annotator is found
    assert packed  # and what stands in archives
    client = Client()
    client.force_login(world.people["manager"])  # type: ignore[arg-type]
    kinds = available_exports(world.campaign)
    assert len(kinds) > 8
    for name in kinds:
        answer = client.get(reverse("campaign-export-file", args=[world.campaign.slug, name]))
        assert answer.status_code == 200, name
        assert not told(parts_of(answer), MARK), name
