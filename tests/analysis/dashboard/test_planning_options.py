"""The headline of the overview and the planning options, by hand: an even pace of one judgement an
hour, so that judgements are hours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np
import pytest
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from analysis.dashboard import planning_options
from analysis.dashboard.headline import (
    Headline,
    campaign_headline,
    format_day,
    format_margin,
    last_complete_level,
)
from analysis.dashboard.progress import compute_activity, compute_progress
from analysis.judgements.live import get_snapshot
from analysis.publishing.release.importing import import_release
from annotation.models import AuditEvent, Campaign, Invitation
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from assay.campaigns.forecast import Forecast, Forecaster
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.analysis.publishing.test_releases import built, parts
from tests.builders import campaign_on_its_way, judge, make_annotator, make_campaign, make_user
from tests.databases import for_several_tests

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew", "even_pace")]
HOUR = 3600.0
LEFT = timedelta(hours=96)


@dataclass(frozen=True)
class EvenPace:
    """One judgement an hour, for certain, in place of the model."""

    now: float
    zone: tzinfo = UTC

    def ends(self, remaining: float) -> tuple[float, float, float]:
        return (self.now + remaining * HOUR,) * 3

    def forecast(self, remaining: float) -> Forecast:
        return Forecast(*(self.ends(remaining)[::-1]), 24.0)

    def predict_judgements_until(self, until: float, *, remaining: float = math.inf) -> float:
        return min(remaining, max(0.0, until - self.now) / HOUR)


@pytest.fixture
def even_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Forecaster.from_times

    def of(moments: np.ndarray, *, now: float, zone: tzinfo) -> Forecaster | EvenPace:
        return EvenPace(now) if len(moments) else model(moments, now=now, zone=zone)

    monkeypatch.setattr(Forecaster, "from_times", of)


@pytest.fixture(scope="module")
def half_way(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """10 topics, 10 ranks, three judgements a pair: 30 a rank. One annotator has judged ranks 1 to
    9 once, one pair an hour: 210 are left, of each of those ranks 20, of rank 10 30. Bands of three
    ranks. The deadline is in 96 hours. -> the campaign's row"""
    hour, left = timedelta(hours=1), timedelta(hours=96)
    with for_several_tests(django_db_blocker):
        yield campaign_on_its_way(
            n_judged=90, every=hour, left=left, n_topics=10, n_documents=10, judgements_per_pair=3
        ).pk


@pytest.fixture
def campaign(half_way: int) -> Campaign:
    return Campaign.objects.select_related("pool").get(pk=half_way)


def hours_until(seconds: float | None) -> float:
    assert seconds is not None
    return (seconds - timezone.now().timestamp()) / HOUR


def test_the_outlook_as_it_is(campaign):
    now, offered, why_none = planning_options.list_planning_options(campaign)
    assert (now.missing, why_none, now.level) == (
        210,
        "",
        3,
    )  # ranks 1 to 3 need 60, 4 to 6 another 60
    assert hours_until(now.expected) == pytest.approx(210, abs=2)
    assert now.late_days == pytest.approx((210 - 96) / 24, abs=0.1)
    assert [(one.key, one.value) for one in offered] == [
        *(("invite", n) for n in (1, 2, 5)),
        *(("extend", n) for n in (2, 7, 14)),
        *(("fewer", n) for n in (2, 1)),
        *(
            ("order", width) for width in (1, 2, 5, 10)
        ),  # those of the rules page, but the three of now
        *(("depth", rank) for rank in range(1, 10)),  # to rank 10 is judged now
    ]


@pytest.mark.parametrize(
    ("key", "value", "missing", "hours", "late_hours", "level"),
    [
        (
            "invite",
            1,
            210,
            105,
            9,
            9,
        ),  # twice as many people: 192 until the deadline, of which ranks 1 to 9 take 180
        ("invite", 2, 210, 70, -26, 10),
        ("extend", 2, 210, 210, 66, 6),  # 144 until then
        ("extend", 7, 210, 210, -54, 10),
        ("fewer", 2, 110, 110, 14, 9),  # ten a rank, twenty of rank 10
        ("fewer", 1, 10, 10, -86, 10),  # rank 10 alone has none
        ("order", 1, 210, 210, 114, 4),  # rank by rank: four times 20
        ("order", 5, 210, 210, 114, 0),  # ranks 1 to 5 take 100
        (
            "depth",
            4,
            180,
            180,
            84,
            4,
        ),  # all but rank 10 were begun and are judged to their end; ranks 1 to 3 and then 4 take 80
        ("depth", 5, 180, 180, 84, 3),  # with rank 5 it is 100
    ],
)
def test_what_each_lever_would_change(campaign, key, value, missing, hours, late_hours, level):
    _, option = planning_options.get_planning_option(campaign, key, value)
    assert (option.after.missing, option.after.level) == (missing, level)
    assert hours_until(option.after.expected) == pytest.approx(hours, abs=2)
    assert option.after.late_days == pytest.approx(late_hours / 24, abs=0.1)


def test_less_depth_is_told_for_each_rank_that_is_not_complete(campaign):
    rows = planning_options.list_depth_options(
        campaign, planning_options.list_planning_options(campaign)[1]
    )
    assert [(row.level, row.complete.missing) for row in rows] == [
        *((rank, 60 * ((rank + 2) // 3)) for rank in range(1, 10)),
        (10, 210),
    ]
    assert hours_until(rows[2].complete.expected) == pytest.approx(60, abs=2)
    assert [row.option is not None for row in rows] == [True] * 9 + [False]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 10])
def test_the_sentence_and_the_table_agree_which_ranks_are_complete_by_the_deadline(campaign, width):
    Campaign.objects.update(band=width)
    campaign.refresh_from_db()
    now, offered, _ = planning_options.list_planning_options(campaign)
    in_time = [
        row.level
        for row in planning_options.list_depth_options(campaign, offered)
        if not row.complete.is_late
    ]
    assert (in_time or [0])[-1] == now.level == compute_progress(campaign).by_deadline


def test_what_helps_is_ranked_and_what_does_not_help_is_left_out(campaign):
    """210 hours are needed and 96 left. In time: two more annotators (70 hours), seven more days,
    one judgement a pair (ten hours). Late: one more annotator (105, nine hours late), two
    judgements a pair (110), two days more (66 hours late), depth (rank 9 and less: 180, 84 hours
    late), and strict order, which ends no earlier but completes rank 4 in time instead of rank 3.
    Wider bands do not help, and five annotators or 14 days are more than needed."""
    now, offered, _ = planning_options.list_planning_options(campaign)
    assert [
        (one.key, one.value) for one in planning_options.filter_helpful_options(now, offered)
    ] == [
        ("invite", 2),
        ("extend", 7),
        ("fewer", 1),
        ("invite", 1),
        ("fewer", 2),
        ("extend", 2),
        ("depth", 4),
        ("order", 1),
    ]


def test_the_best_option_is_recommended_and_nothing_is_where_the_end_is_in_time(campaign):
    address = f"/campaigns/{campaign.slug}/planning"
    client = manager_of(campaign)
    shown = text_of(client.get(address))
    assert shown.count("Recommended") == 1
    assert "Invite 2 more annotators Recommended" in " ".join(shown.split())
    assert "Assign pairs in rank windows of 5" not in shown
    assert shown.count("95% prediction interval") == 1 + 8  # as it is, and after each option
    Campaign.objects.update(deadline=timezone.now() + timedelta(days=30))
    now, offered, _ = planning_options.list_planning_options(Campaign.objects.get(pk=campaign.pk))
    assert planning_options.filter_helpful_options(now, offered) == []
    shown = text_of(client.get(address))
    assert "On track" in shown
    assert "No change is needed." in shown
    assert "Recommended" not in shown


def test_a_closed_campaign_has_neither_forecast_nor_options(campaign):
    lifecycle.close_campaign(campaign, actor=None)
    closed = Campaign.objects.get(pk=campaign.pk)
    now, offered, _ = planning_options.list_planning_options(closed)
    assert (now.missing, now.expected, now.level, offered) == (210, None, None, [])
    assert (
        compute_progress(closed).forecast.expected,
        compute_progress(closed).forecast.reason,
    ) == (
        None,
        "The campaign is closed.",
    )
    address = f"/campaigns/{closed.slug}/"
    assert manager_of(closed).get(f"{address}planning").url == address
    shown = text_of(manager_of(closed).get(address))
    assert "Closed with 30% judged." in shown
    assert "Expected" not in shown
    assert "by the deadline" not in shown


def test_one_may_stop_at_the_last_rank_that_is_complete():
    campaign = make_campaign(n_topics=10, n_documents=4, judgements_per_pair=1, band=1)
    ada, now = make_annotator(campaign), timezone.now()
    for ago in (
        90,
        80,
        70,
        60,
        *range(46, 4, -2),
    ):  # ranks 1 and 2, and half of 3; with a working day whatever today is
        judge(ada, 1, now=now - timedelta(hours=ago))
    rows = planning_options.list_depth_options(
        campaign, planning_options.list_planning_options(campaign)[1]
    )
    assert [(row.level, row.complete.missing) for row in rows] == [(2, 0), (3, 5), (4, 15)]
    assert rows[0].option is not None
    assert rows[0].option.after.missing == 0


def test_less_depth_is_pulled_shown_and_taken_back_also_when_all_else_is_judged(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/planning"
    form = {"key": "depth", "value": "4"}
    shown = text_of(client.post(address, form))
    assert "Stop at rank 4?" in shown
    assert (
        "30 fewer judgements. 10 unjudged pairs below this depth are set aside and can be restored. Judgements are kept."
        in shown
    )
    campaign.refresh_from_db()
    assert campaign.least_priority is None
    assert "Judging now stops at rank 4." in text_of(
        client.post(address, {**form, "confirm": "yes"}, follow=True)
    )
    campaign.refresh_from_db()
    assert (
        campaign.judged_to,
        compute_progress(campaign).needed,
        compute_progress(campaign).complete_depth,
    ) == (
        4,
        270,
        0,
    )
    assert "Judging stops at rank 4." in text_of(client.get(f"/campaigns/{campaign.slug}/"))
    for _ in range(2):
        other = make_annotator(campaign)
        for _ in range(90):
            judge(other, 1)
    now = compute_progress(campaign)
    assert (now.counted, now.needed, now.pairs, now.complete) == (270, 270, 100, 90)
    assert (
        now.complete_depth == 9
    )  # what was begun beyond it is judged to its end; rank 10 is not complete, though nothing is needed of it
    assert campaign_headline(campaign, now) == Headline(
        "All required judgements have been made.", "good"
    )
    _, offered, _ = planning_options.list_planning_options(campaign)
    assert [(one.key, one.value, one.words) for one in offered] == [
        ("depth", 10, "Judge the whole pool")
    ]
    assert "Judging now covers the whole pool." in text_of(
        client.post(address, {"key": "depth", "value": "10", "confirm": "yes"}, follow=True)
    )
    campaign.refresh_from_db()
    assert (campaign.least_priority, compute_progress(campaign).needed) == (None, 300)


def test_a_release_says_to_which_depth_was_judged_and_is_the_same_after_an_import(
    campaign, tmp_path
):
    planning_options.apply_planning_option(
        campaign,
        planning_options.get_planning_option(campaign, "depth", 4)[1],
        actor=campaign.memberships.get(role="manager").user,
    )
    lifecycle.close_campaign(campaign, actor=None)
    campaign.refresh_from_db()
    first = parts(built(campaign))
    assert (
        "Judging ended at rank 4: 60 pairs lie beyond it, of which 50 were judged before "
        "that, in order of assignment."
    ) in first["datasheet.md"].decode()
    (tmp_path / "release.zip").write_bytes(built(campaign))
    again = import_release(tmp_path / "release.zip", name="release.zip", user=make_user())
    assert (
        again.judged_to,
        again.pairs.filter(beyond_depth=True).count(),
        check_invariants(again),
    ) == (4, 60, [])
    assert parts(built(again))["pairs.tsv"] == first["pairs.tsv"]


def test_looking_changes_nothing_and_pulling_does_after_its_preview(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/planning"
    assert "Reduce to 2 judgements per pair" in text_of(client.get(address))
    n_events = AuditEvent.objects.count()
    form = {"key": "fewer", "value": "2"}
    shown = client.post(address, form)
    assert "Reduce to 2 judgements per pair?" in text_of(shown)
    assert "100 fewer judgements" in text_of(shown)
    campaign.refresh_from_db()
    assert (campaign.judgements_per_pair, AuditEvent.objects.count()) == (3, n_events)
    assert client.post(address, {**form, "confirm": "yes"}).url == address
    campaign.refresh_from_db()
    assert campaign.judgements_per_pair == 2
    assert "110 judgements missing" in " ".join(text_of(client.get(address)).split())
    assert "no longer available" in text_of(client.post(address, form, follow=True))


def test_the_other_levers_are_pulled(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/planning"
    due = campaign.deadline
    for key, value in (("invite", "2"), ("extend", "7"), ("order", "1")):
        assert (
            client.post(address, {"key": key, "value": value, "confirm": "yes"}).status_code == 302
        )
    campaign.refresh_from_db()
    assert (campaign.deadline, campaign.band) == (due + timedelta(days=7), 1)
    assert list(
        Invitation.objects.filter(campaign=campaign).values_list("max_uses", flat=True)
    ) == [2]


def test_where_nothing_can_be_said_nothing_is_offered(campaign):
    young = make_campaign()
    now, offered, why_none = planning_options.list_planning_options(young)
    assert (offered, now.expected) == ([], None)
    assert (
        why_none
        == "No forecast yet, so options can't be compared. Forecast available after two working days and 20 judgements."
    )
    assert why_none in text_of(manager_of(young).get(f"/campaigns/{young.slug}/planning"))
    lifecycle.close_campaign(campaign, actor=None)
    assert planning_options.list_planning_options(Campaign.objects.get(pk=campaign.pk))[1:] == (
        [],
        "Planning is available while the campaign is open or paused.",
    )
    with pytest.raises(CampaignError, match="Planning is available"):
        planning_options.get_planning_option(Campaign.objects.get(pk=campaign.pk), "invite", 1)


def test_without_a_deadline_none_is_extended(campaign):
    Campaign.objects.update(deadline=None)
    now, offered, _ = planning_options.list_planning_options(Campaign.objects.get(pk=campaign.pk))
    assert {one.key for one in offered} == {"invite", "fewer", "order", "depth"}
    assert (now.late_days, now.level) == (None, None)


def test_the_headline_of_the_overview(campaign):
    now = compute_progress(campaign)
    day = format_day(now.forecast.expected)
    said = Headline(
        f"Behind: 30% judged, finishing around {day}, five days late. Judging will be complete up to rank 3 by the deadline.",
        "bad",
    )
    assert campaign_headline(campaign, now) == said
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/")
    assert said.words in text_of(page)
    assert f'href="/campaigns/{campaign.slug}/planning"' in page.content.decode()
    campaign.deadline += timedelta(days=10)  # 336 hours left, of which 210 are needed
    now = compute_progress(campaign)
    assert campaign_headline(campaign, now) == Headline(
        f"On track: 30% judged, finishing around {day}, five days before the deadline.", "good"
    )
    wide = replace(now, forecast=replace(now.forecast, late=campaign.deadline.timestamp() + 1))
    assert campaign_headline(campaign, wide).words.startswith("On time at this pace: 30% judged")
    campaign.state = Campaign.State.PAUSED
    assert campaign_headline(campaign, now) == Headline(
        "Paused: 30% judged. No pairs are assigned.", "warn"
    )
    campaign.deadline = timezone.now() - timedelta(hours=1)
    assert campaign_headline(campaign, compute_progress(campaign)) == Headline(
        "The deadline has passed with 30% judged. The first rank is not complete.", "bad"
    )
    campaign.state, campaign.deadline = Campaign.State.OPEN, None
    assert campaign_headline(campaign, compute_progress(campaign)) == Headline(
        f"30% judged, finishing around {day}.", "info"
    )
    campaign.state = Campaign.State.CLOSED
    assert campaign_headline(campaign, compute_progress(campaign)) == Headline(
        "Closed with 30% judged. The first rank is not complete.", "info"
    )


def test_the_overview_recommends_the_first_planning_option(campaign):
    """Two more annotators: 70 hours, 26 before the deadline."""
    address = f"/campaigns/{campaign.slug}/"
    client = manager_of(campaign)
    shown = text_of(client.get(address))
    assert "Recommended: Invite 2 more annotators" in shown
    assert "one day before the deadline" in shown
    assert "after the deadline of" not in shown  # the item of the to-do list that says the same
    Campaign.objects.update(deadline=timezone.now() + timedelta(days=30))
    assert "Recommended" not in text_of(client.get(address))


def test_the_overview_shows_the_pace_that_the_deadline_needs(campaign, monkeypatch):
    """From Monday, 5 January 2026, 12:00, to Friday, 16 January, 12:00, are nine working days. 210
    judgements are missing: 24 per day."""
    monday = datetime(2026, 1, 5, 12, tzinfo=UTC)
    campaign.deadline = monday + timedelta(days=11)
    monkeypatch.setattr(timezone, "now", lambda: monday)
    now = replace(compute_progress(campaign), moment=monday)
    with timezone.override(UTC):
        activity = compute_activity(campaign, get_snapshot(campaign), now)
    assert (activity.n_annotators, activity.needed_per_day) == (1, 24)
    campaign.deadline = monday + timedelta(hours=3)
    assert compute_activity(campaign, get_snapshot(campaign), now).needed_per_day == 210
    campaign.deadline = None
    assert compute_activity(campaign, get_snapshot(campaign), now).needed_per_day is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-48 * HOUR, "two days before the deadline"),
        (-HOUR, "one hour before the deadline"),
        (-5.0, "just before the deadline"),
        (0.0, "just before the deadline"),
        (60.0, "one hour late"),
        (5 * HOUR, "five hours late"),
        (24 * HOUR, "one day late"),
        (480 * HOUR, "20 days late"),
    ],
)
def test_margin_in_words(seconds, words):
    assert format_margin(seconds) == words


def test_a_band_is_complete_as_a_whole_and_no_level_is_none():
    campaign = make_campaign(n_topics=1, n_documents=5)  # ranks 1 to 5, bands of three
    priorities, missing = [9, 8, 7, 6, 5], [3, 3, 3, 3, 3]
    expected = {8: 0, 9: 3, 14: 3, 15: 5}
    assert {
        room: last_complete_level(campaign, priorities, missing, room) for room in expected
    } == expected
    assert last_complete_level(campaign, priorities, missing, 8, width=1) == 2
    assert last_complete_level(campaign, [], [], 8) == 0
