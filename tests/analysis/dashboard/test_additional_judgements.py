"""One more judgement on the pages and in the API: its cost before the deed, the deed, and what is
told of it afterwards."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from analysis.dashboard.progress import compute_progress
from analysis.judgements.live import get_snapshot
from analysis.publishing.release.importing import import_release
from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.judging import additional_judgements
from annotation.services.people import tokens
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.analysis.publishing.test_releases import built, parts
from tests.builders import judge, judged_campaign, make_annotator, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


@pytest.fixture
def campaign() -> Campaign:
    """Two topics, two documents, two judgements a pair, all judged; 36 seconds a judgement."""
    grades = {(topic, docno): (1, 1) for topic in ("t1", "t2") for docno in ("d1", "d2")}
    return judged_campaign(grades, min_active_seconds=0, expected_seconds=36)


def post(campaign: Campaign, pairs: list[Pair], **form: str) -> Any:
    back = f"/campaigns/{campaign.slug}/judgements/?q=t1"
    return manager_of(campaign).post(
        f"/campaigns/{campaign.slug}/judgements/additional",
        {"pair": [pair.pk for pair in pairs], "back": back, **form},
    )


def test_the_cost_is_shown_before_the_deed_and_then_it_is_done_for_all_that_were_chosen(
    campaign: Campaign,
) -> None:
    pairs = list(campaign.pairs.order_by("position")[:3])
    page = post(campaign, pairs, action="more")
    assert (
        "This adds 3 judgements (about 1 min 48 s of work). Missing judgements: 0 now, 3 afterwards."
        in text_of(page)
    )
    assert "Every active annotator has already judged 3 of these pairs." in text_of(
        page
    )  # ada and bob have judged all
    assert not campaign.pairs.filter(asked_more__gt=0).exists()
    assert re.findall(r'name="pair" value="(\d+)"', page.content.decode()) == [
        str(pair.pk) for pair in sorted(pairs, key=lambda pair: pair.pk)
    ]
    done = post(campaign, pairs, action="more", confirm="yes")
    assert done.headers["Location"] == f"/campaigns/{campaign.slug}/judgements/?q=t1"
    assert campaign.pairs.filter(asked_more=1, open_slots=1).count() == 3
    listed = manager_of(campaign).get(f"/campaigns/{campaign.slug}/judgements/?view=requested")
    assert len(listed.context["rows"]) == 3
    assert "1 requested" in text_of(listed)
    assert "This removes 2 judgements" in text_of(post(campaign, pairs[:2], action="back"))
    post(campaign, pairs[:2], action="back", confirm="yes")
    assert campaign.pairs.filter(asked_more=1).count() == 1


def test_a_choice_of_nothing_or_of_what_cannot_be_says_so(campaign: Campaign) -> None:
    for form, words in (
        ({"action": "more"}, "Select pairs first"),
        (
            {"action": "back", "pair": [campaign.pairs.first().pk]},
            "no additional judgement was requested",
        ),
    ):
        client = manager_of(campaign)
        answer = client.post(f"/campaigns/{campaign.slug}/judgements/additional", form, follow=True)
        assert words in text_of(answer)


def test_an_address_of_somebody_else_is_no_way_back(campaign: Campaign) -> None:
    answer = post(
        campaign,
        [campaign.pairs.first()],
        action="more",
        confirm="yes",
        back="https://example.org/",
    )
    assert answer.headers["Location"] == f"/campaigns/{campaign.slug}/judgements/"


def test_progress_counts_it(campaign: Campaign) -> None:
    before = compute_progress(campaign)
    assert (before.needed, before.counted, before.complete) == (8, 8, 4)
    additional_judgements.request_additional_judgement(
        campaign, [campaign.pairs.first().pk], actor=None
    )
    now = compute_progress(campaign)
    assert (now.needed, now.counted, now.complete) == (9, 8, 3)
    judge(make_annotator(campaign, "cleo"), 1)
    assert compute_progress(campaign).complete == 4


def test_the_pairs_are_read_again_for_it(campaign: Campaign) -> None:
    get_snapshot(campaign)
    additional_judgements.request_additional_judgement(
        campaign, [campaign.pairs.first().pk], actor=None
    )
    assert get_snapshot(campaign).pairs.asked_more.tolist() == [1, 0, 0, 0]


def test_a_release_tells_of_it_and_is_the_same_after_an_import(
    campaign: Campaign, tmp_path
) -> None:
    assert b"Managers also requested" not in parts(built(campaign))["datasheet.md"]
    additional_judgements.request_additional_judgement(
        campaign, [pair.pk for pair in campaign.pairs.order_by("pk")[:2]], actor=None
    )
    lifecycle.close_campaign(campaign)
    campaign.refresh_from_db()
    first = parts(built(campaign))
    said = "Managers also requested 2 additional judgements of 2 pairs that they chose"
    assert said in first["datasheet.md"].decode()
    header, *rows = (line.split("\t") for line in first["pairs.tsv"].decode().splitlines())
    assert [dict(zip(header, row, strict=True))["asked_more"] for row in rows] == [
        "1",
        "1",
        "0",
        "0",
    ]
    (tmp_path / "release.zip").write_bytes(built(campaign))
    again = import_release(tmp_path / "release.zip", name="release.zip", user=make_user())
    assert sorted(again.pairs.values_list("asked_more", flat=True)) == [0, 0, 1, 1]
    assert parts(built(again))["pairs.tsv"] == first["pairs.tsv"]


class TestApi:
    def client(self, campaign: Campaign) -> Client:
        token = tokens.create_api_token(
            user=campaign.memberships.get(role="manager").user, name="mine"
        )
        return Client(headers={"Authorization": f"Token {token}"})

    def ask(self, campaign: Campaign, body: dict[str, Any]) -> Any:
        return self.client(campaign).post(
            f"/api/v1/campaigns/{campaign.slug}/additional-judgements",
            body,
            content_type="application/json",
        )

    def test_asked_listed_and_taken_back(self, campaign: Campaign) -> None:
        named = {"pairs": [{"topic": "t1", "document": "d1"}, {"topic": "t2", "document": "d1"}]}
        looked = self.ask(campaign, {**named, "preview": True})
        assert (looked.status_code, looked.json()) == (
            200,
            {"pairs": 2, "left_out": {}, "judged_by_all": 2, "missing": 2, "expected": None},
        )
        address = f"/api/v1/campaigns/{campaign.slug}/additional-judgements"
        assert self.client(campaign).get(address).json() == []
        assert self.ask(campaign, named).json()["missing"] == 2
        assert self.client(campaign).get(address).json() == [
            {"topic": topic, "document": "d1", "asked_more": 1, "judgements": 2, "needed": 3}
            for topic in ("t1", "t2")
        ]
        assert (
            self.ask(campaign, {"pairs": named["pairs"][:1], "withdraw": True}).json()["missing"]
            == 1
        )

    def test_a_pair_that_is_none_is_named(self, campaign: Campaign) -> None:
        answer = self.ask(
            campaign,
            {"pairs": [{"topic": "t1", "document": "d1"}, {"topic": "t9", "document": "d1"}]},
        )
        assert answer.status_code == 409
        assert "1 pair is not in the campaign: t9 d1." in answer.content.decode()
        assert not campaign.pairs.filter(asked_more__gt=0).exists()
