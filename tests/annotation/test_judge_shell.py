"""The judging page is rendered once for many: what is sent is what Django's templates make of it
for this person at this moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.shortcuts import render
from django.test import Client
from django.utils import translation

from annotation.models import Profile
from annotation.views import judging, shell
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r"[A-Za-z0-9]{64}")


@pytest.fixture
def campaign():
    shell._render_parts.cache_clear()
    return make_campaign(name="A & <b>B</b>", deadline=datetime(2031, 5, 6, 22, 30, tzinfo=UTC))


def signed_in(campaign, *, time_zone: str = "", language: str = "", **choices) -> Client:
    member, client = make_annotator(campaign), Client()
    Profile.objects.update_or_create(
        user=member.user, defaults={"time_zone": time_zone, "choices": choices}
    )
    client.force_login(member.user)
    session = client.session
    session["time_zone"], session["language"] = time_zone, language
    session.save()
    client.member = member
    return client


def by_django(request, campaign) -> str:
    """The same page, rendered for this request alone."""
    own = {
        "campaign": campaign,
        "modules": judging.get_page_modules(),
        "build": judging.build_digest(),
        "skeleton": range(9),
    }
    with translation.override(request.LANG):
        return render(
            request, "annotation/judge.html", {**own, "guidelines_open": request.OPEN}
        ).content.decode()


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize(("zone", "due"), [("UTC", "22:30 UTC"), ("Asia/Tokyo", "07:30 JST")])
def test_the_page_is_what_the_template_makes_for_this_person(
    campaign, monkeypatch, language, zone, due
):
    seen: list[tuple[str, str]] = []
    plain = judging.render_shell

    def both(request, annotator, **more):
        request.LANG, request.OPEN = language, False
        seen.append((plain(request, annotator, **more), by_django(request, annotator.campaign)))
        return seen[-1][0]

    monkeypatch.setattr(judging, "render_shell", both)
    for theme in ("dark", '"><script>'):
        client = signed_in(campaign, time_zone=zone, language=language, guidelines=False)
        client.cookies["theme"] = theme
        answer = client.get(f"/judge/{campaign.slug}/")
        assert (answer.status_code, answer["Content-Language"]) == (200, language)
        ours, django_s = seen[-1]
        assert TOKEN.sub("token", ours) == TOKEN.sub("token", django_s)
        assert due in ours
        assert len(set(TOKEN.findall(ours))) == 1
        assert "<script>" not in re.sub(r'<script type="module" src="[^"]+">', "", ours)
    assert shell._render_parts.cache_info().misses == 1


def test_two_people_and_two_looks_share_nothing_of_their_own(campaign):
    first, second = signed_in(campaign), signed_in(campaign)
    pages = [
        client.get(f"/judge/{campaign.slug}/").content.decode() for client in (first, second, first)
    ]
    for page, client, other in zip(
        pages, (first, second, first), (second, first, second), strict=True
    ):
        assert f'data-user="{client.member.user_id}"' in page
        assert f'data-username="{client.member.user.username}"' in page
        assert other.member.user.username not in page
    assert (
        len({token for page in pages for token in TOKEN.findall(page)}) == 3
    )  # masked anew for each answer
    assert (
        first.post(
            f"/api/v1/judging/{campaign.slug}/leases", {"want": 1}, content_type="application/json"
        ).status_code
        == 200
    )


def test_a_change_of_the_campaign_shows_at_once(campaign):
    client = signed_in(campaign)
    assert "Mark a passage" not in client.get(f"/judge/{campaign.slug}/").content.decode()
    campaign.spans, campaign.name = "optional", "Another name"
    campaign.save()
    page = client.get(f"/judge/{campaign.slug}/").content.decode()
    assert "Mark a passage" in page
    assert "Another name" in page


def test_annotators_of_other_campaigns_do_not_see_the_page(campaign) -> None:
    other = make_campaign()
    client = signed_in(other)
    for page in ("", "history"):
        assert client.get(f"/judge/{campaign.slug}/{page}").status_code == 404
        assert client.get(f"/judge/{other.slug}/{page}").status_code == 200
