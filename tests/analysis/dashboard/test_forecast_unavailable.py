"""What pages say while there is no forecast: since when there can be one, and what is true until
then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.dashboard.forecast_unavailable import forecast_unavailable_reason
from analysis.dashboard.headline import (
    campaign_headline,
    format_day,
    format_interval,
    format_moment,
)
from analysis.dashboard.progress import compute_progress, make_forecaster
from analysis.dashboard.views.home import describe_forecast
from analysis.dashboard.views.progress import forecast_verdict
from analysis.judgements import live as kept
from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from assay.campaigns.forecast import Forecast
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.assay.campaigns.test_forecast import make_forecast
from tests.builders import judge, make_annotator, make_campaign, make_user

HOUR, DAY = 3600.0, 86400.0
FRIDAY = datetime(2026, 1, 9, 10, 0, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch):
    monkeypatch.setattr(kept, "FRESH_SECONDS", 0.0)
    kept._snapshots.clear()
    with timezone.override(UTC):
        yield
    kept._snapshots.clear()


def said(moments: np.ndarray, now: float) -> str:
    return forecast_unavailable_reason(make_forecast(moments, remaining=100, now=now))


def test_after_two_idle_working_days_it_is_said_how_many_judgements_are_awaited():
    worked = np.concatenate([FRIDAY - days * DAY + 600 * np.arange(40) for days in (0, 1, 2, 3, 4)])
    wednesday = FRIDAY + 5 * DAY
    assert said(worked, wednesday) == (
        "Fewer than 20 judgements in the last two working days. Forecast available after 20 more "
        "judgements within two working days."
    )
    assert said(np.append(worked, [wednesday - 60, wednesday - 30]), wednesday).endswith(
        "Forecast available after 18 more judgements within two working days."
    )


def test_before_the_first_judgement():
    assert (
        said(np.empty(0), FRIDAY)
        == "No judgements yet. Forecast available after two working days and 20 judgements."
    )


def test_more_than_remains_is_not_asked_for():
    """Four are left and two were made within two working days: eighteen more cannot be made."""
    worked = np.append(FRIDAY - 4 * DAY + 600 * np.arange(40), [FRIDAY - 60, FRIDAY - 30])
    assert (
        forecast_unavailable_reason(make_forecast(worked, remaining=4, now=FRIDAY))
        == "Fewer than 20 judgements in the last two working days."
    )
    assert forecast_unavailable_reason(make_forecast(worked, remaining=18, now=FRIDAY)).endswith(
        "Forecast available after 18 more judgements within two working days."
    )


def test_with_a_forecast_nothing_is_added():
    assert (
        forecast_unavailable_reason(
            Forecast(FRIDAY, None, None, 10.0, "No weekend has been seen yet.")
        )
        == "No weekend has been seen yet."
    )


class TestDates:
    """The clock stands at Friday, 9 January 2026, 10 o'clock."""

    @pytest.fixture(autouse=True)
    def _now(self, monkeypatch):
        monkeypatch.setattr(timezone, "now", lambda: datetime.fromtimestamp(FRIDAY, UTC))

    def test_on_the_first_day_it_is_said_from_when_on(self):
        assert said(FRIDAY + 60.0 * np.arange(90), FRIDAY + 2 * HOUR) == (
            "A forecast needs two working days of judgements. Forecast available from Tue 13 Jan."
        )
        assert said(FRIDAY + 60.0 * np.arange(8), FRIDAY + 2 * HOUR).endswith(
            "Forecast available from Tue 13 Jan, after 12 more judgements."
        )

    def test_a_forecast_is_told_by_the_day_and_by_the_hour_within_two_days(self):
        assert format_day(FRIDAY + 2 * DAY + HOUR) == "Sun 11 Jan"
        assert format_day(FRIDAY + 2 * DAY - HOUR) == "Sun 11 Jan, 09:00"

    def test_the_year_is_told_if_it_is_not_this_one(self):
        assert format_day(FRIDAY + 360 * DAY) == "Mon 4 Jan 2027"
        assert format_moment(FRIDAY + 360 * DAY) == "Mon 4 Jan 2027, 10:00"
        assert format_moment(FRIDAY) == "Fri 9 Jan, 10:00"

    def test_an_interval_too_wide_to_plan_by_is_told_in_months(self):
        narrow = Forecast(FRIDAY + 20 * DAY, FRIDAY + 12 * DAY, FRIDAY + 30 * DAY, 10.0)
        wide = replace(narrow, late=FRIDAY + 400 * DAY, is_vague=True)
        assert format_interval(narrow) == "Wed 21 Jan to Sun 8 Feb"
        assert format_interval(wide) == "Jan 2026 to Feb 2027"
        assert (
            format_interval(replace(wide, late=None)) == "Jan 2026 to more than two years from now"
        )


@pytest.mark.django_db
class TestOnPages:
    @pytest.fixture
    def campaign(self) -> Campaign:
        """48 judgements are needed, 3 are made, the first two hours ago."""
        made = make_campaign(n_topics=2, n_documents=12, judgements_per_pair=2)
        ada, now = make_annotator(made), timezone.now()
        for minutes in (120, 20, 10):
            judge(ada, 1, now=now - timedelta(minutes=minutes))
        return made

    def test_progress_home_and_the_api_say_it(self, campaign):
        client = manager_of(campaign)
        possible = compute_progress(campaign).forecast.possible_from
        when = datetime.fromtimestamp(possible, UTC)
        assert timedelta(days=1, hours=21) < when - timezone.now() < timedelta(days=5)
        text = text_of(client.get(f"/campaigns/{campaign.slug}/"))
        assert f"Forecast available from {format_day(possible)}, after 17 more judgements." in text
        assert (
            f"Too early to say: 6% judged. A forecast will be available from {format_day(possible)}."
            in text
        )
        assert "3 judgements in the last 24 h" in text
        ahead = client.get(f"/api/v1/campaigns/{campaign.slug}/progress").json()["forecast"]
        assert (
            datetime.fromisoformat(ahead["possible_from"]),
            ahead["n_short"],
            ahead["expected"],
        ) == (when, 17, None)

    @pytest.mark.parametrize(
        ("days", "headline", "level"),
        [
            (3, "Behind: 6% judged. Judging will end late, but the date is uncertain.", "bad"),
            (15, "Too uncertain to say: 6% judged.", ""),
            (25, "Too uncertain to say: 6% judged.", ""),
        ],
    )
    def test_a_forecast_too_wide_to_plan_by_names_no_date(self, campaign, days, headline, level):
        """From 12 to 400 days from now; expected in 20."""
        at = timezone.now().timestamp()
        ahead = Forecast(at + 20 * DAY, at + 12 * DAY, at + 400 * DAY, 10.0, is_vague=True)
        campaign.deadline = timezone.now() + timedelta(days=days)
        now = replace(compute_progress(campaign), forecast=ahead, by_deadline=None)
        assert campaign_headline(campaign, now).words == headline
        said = forecast_verdict(campaign, now)
        assert (said["when"], said["level"]) == ("Too uncertain", level)
        assert format_interval(ahead) in said["notes"][0]

        class Figures:
            missing, forecast = 45, ahead

        assert describe_forecast(campaign, Figures()) == {
            "says": "completion date still too uncertain",
            "level": level,
        }

    def test_days_are_those_of_the_creators_time_zone(self, campaign, settings):
        def zone() -> str:
            live = kept.get_snapshot(campaign, fresh=0.0)
            return make_forecaster(campaign, live, timezone.now()).zone.key

        settings.TIME_ZONE = "Asia/Tokyo"
        campaign.created_by = make_user(time_zone="America/Los_Angeles")
        assert zone() == "America/Los_Angeles"
        for chose_none in (make_user(time_zone=""), None):
            campaign.created_by = chose_none
            assert zone() == "Asia/Tokyo"

    def test_who_is_done_or_has_closed_awaits_nothing(self, campaign):
        now = compute_progress(campaign)
        done = replace(
            now,
            counted=now.needed,
            forecast=replace(
                now.forecast,
                reason="All required judgements have been made.",
                possible_from=None,
            ),
        )
        assert forecast_verdict(campaign, done) == {"when": "Done", "notes": [], "level": "good"}
        lifecycle.close_campaign(campaign, actor=None)
        closed = forecast_verdict(Campaign.objects.get(pk=campaign.pk), now)
        assert (closed["when"], closed["notes"]) == ("Closed", ["45 judgements are missing"])

    def test_the_card_on_home_has_the_same_words(self, campaign):
        class Figures:
            missing, forecast = 45, compute_progress(campaign).forecast

        assert describe_forecast(campaign, Figures())["says"] == forecast_unavailable_reason(
            Figures.forecast
        )
