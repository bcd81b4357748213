"""The strip of live figures: read once for all who look, and not sent again to a browser that has
it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from analysis.dashboard import agreement_metrics, progress
from analysis.dashboard.views import live_strip as view
from analysis.dashboard.views.live_strip import strip_figures
from analysis.judgements import live
from tests.builders import judge, make_annotator, make_campaign, make_manager
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 6, 12, 0, 10, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    live._snapshots.clear()
    made = Clock()
    monkeypatch.setattr(live, "clock", made)
    yield made
    live._snapshots.clear()


@pytest.fixture
def campaign():
    made = make_campaign(n_topics=2, n_documents=3)
    judge(make_annotator(made), 1)
    return made


def manager_of(campaign) -> Client:
    client = Client()
    client.force_login(make_manager(campaign).user)
    return client


def counted(response) -> int:
    found = re.search(r"<dt>Judged</dt>\s*<dd>(\d+)", response.content.decode())
    assert found is not None
    return int(found[1])


def test_the_page_asks_as_often_as_is_reckoned_with(clock, campaign):
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/").content.decode()
    assert f'hx-trigger="every {live.REFRESH}s"' in page
    assert "Live" in page


def test_a_judgement_is_shown_within_five_seconds(clock, campaign):
    """From rows that were as old as can be shown, and a judgement just after they had been read."""
    client = manager_of(campaign)
    assert counted(client.get(f"/campaigns/{campaign.slug}/live")) == 1
    judge(campaign.memberships.get(role="annotator"), 2)
    clock.now += live.FRESH_SECONDS
    clock.now += live.REFRESH
    assert clock.now - datetime(2026, 5, 6, 12, 0, 10, tzinfo=UTC).timestamp() < 5.0
    assert counted(client.get(f"/campaigns/{campaign.slug}/live")) == 2


def test_ten_managers_cost_one_reading(clock, campaign, monkeypatch):
    calls = []
    real = view.compute_progress
    monkeypatch.setattr(view, "compute_progress", lambda *a, **k: calls.append(1) or real(*a, **k))
    clients = [manager_of(campaign) for _ in range(10)]
    answers = {client.get(f"/campaigns/{campaign.slug}/live").content for client in clients}
    assert (len(calls), len(answers)) == (1, 1)


def test_what_has_not_changed_is_not_sent_again(clock, campaign, monkeypatch):
    client = manager_of(campaign)
    address = f"/campaigns/{campaign.slug}/live"
    first = client.get(address)
    assert (first.status_code, first["Cache-Control"]) == (200, "private, no-cache")
    written = []
    monkeypatch.setattr(view, "render_page", lambda *a, **k: written.append(1))
    clock.now += 3
    again = client.get(address, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"], written) == (
        304,
        b"",
        first["ETag"],
        [],
    )


def test_what_has_changed_is_sent(clock, campaign):
    client = manager_of(campaign)
    address = f"/campaigns/{campaign.slug}/live"
    first = client.get(address)
    judge(campaign.memberships.get(role="annotator"), 2)
    clock.now += 3
    again = client.get(address, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, counted(again)) == (200, 2)
    assert again["ETag"] != first["ETag"]


def test_each_reader_gets_the_times_of_their_own_zone(clock, campaign, monkeypatch):
    moment = datetime(2026, 5, 6, 12, 0, 10, tzinfo=UTC)
    monkeypatch.setattr(progress.timezone, "now", lambda: moment)
    here, there = manager_of(campaign), manager_of(campaign)
    session = there.session
    session["time_zone"] = "Asia/Tokyo"
    session.save()
    address = f"/campaigns/{campaign.slug}/live"
    ours, theirs = here.get(address), there.get(address)
    assert ours["ETag"] != theirs["ETag"]
    assert "12:00:10" in ours.content.decode()
    assert "21:00:10" in theirs.content.decode()


def test_the_strip_is_that_of_the_page(clock, campaign):
    """Every figure that the strip shows, beside one computed for the page alone."""
    for grade in (1, 2):
        judge(make_annotator(campaign), grade)
    shown, own = strip_figures(campaign).now, view.compute_progress(campaign)
    for name in (
        "needed",
        "counted",
        "pairs",
        "complete",
        "complete_depth",
        "one_judgement",
        "per_12h",
        "per_24h",
        "active_now",
        "live_leases",
    ):
        assert getattr(shown, name) == getattr(own, name), name


def alpha_detail(campaign) -> str:
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/").content.decode()
    row = re.search(r"<dt>Alpha</dt>(.*?)</div>", page, re.DOTALL)
    assert row is not None
    return " ".join(re.sub("<.*?>", " ", row[1]).split())


def test_alpha_says_how_many_judgements_it_rests_on_and_whether_there_are_newer_ones(
    clock, campaign
):
    first = campaign.memberships.get(role="annotator")
    second = make_annotator(campaign)
    judge(second, 2)
    _, job = agreement_metrics.agreement_with_refresh(campaign, live.get_snapshot(campaign))
    assert do(job).state == "done"
    detail = alpha_detail(campaign)
    assert (
        "No confidence interval: disagreement in only one of 1 pair: at most 100% of pairs have any"
        in detail
    )
    assert detail.endswith("Based on 2 judgements.")
    judge(first, 1)
    clock.now += 60
    assert alpha_detail(campaign).endswith("Based on 2 judgements. Newer judgements exist.")


def test_strangers_learn_nothing_from_a_tag(clock, campaign):
    tag = manager_of(campaign).get(f"/campaigns/{campaign.slug}/live")["ETag"]
    stranger = Client()
    stranger.force_login(make_annotator(make_campaign()).user)
    assert (
        stranger.get(f"/campaigns/{campaign.slug}/live", headers={"if-none-match": tag}).status_code
        == 404
    )
