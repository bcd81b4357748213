"""What pages say while there is no forecast: since when there can be one, and what is true until then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.core.forecast import Forecast, forecast
from analysis.dashboard.headline import headline
from analysis.dashboard.progress import progress
from analysis.dashboard.views.home import ahead_in_words
from analysis.dashboard.views.progress import verdict
from analysis.dashboard.without_forecast import true_without, why_and_since
from analysis.judgements import live as kept
from annotation.models import Campaign
from annotation.services import campaigns
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign

HOUR, DAY = 3600.0, 86400.0
FRIDAY = datetime(2026, 1, 9, 10, 0, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch):
    monkeypatch.setattr(kept, "FRESH", 0.0)
    kept._kept.clear()
    with timezone.override(UTC):
        yield
    kept._kept.clear()


def said(moments: np.ndarray, now: float) -> str:
    return why_and_since(forecast(moments, remaining=100, now=now))


def test_on_the_first_day_it_is_said_from_when_on():
    assert said(FRIDAY + 60.0 * np.arange(90), FRIDAY + 2 * HOUR) == (
        "no forecast before 2 days of judging: the hours of a day differ too much; from Mon 12 Jan, 10:00 on, if 20 judgements are made in the two days "
        "before"
    )


def test_on_the_monday_after_an_idle_weekend_it_is_said_how_many_judgements_are_awaited():
    worked = np.concatenate([FRIDAY - days * DAY + 600 * np.arange(40) for days in (0, 1, 2, 3, 4)])
    monday = FRIDAY + 3 * DAY
    assert said(worked, monday) == "too few judgements: fewer than 20 within the last 2 days; told again as soon as 20 are made within two days"
    assert said(np.append(worked, [monday - 60, monday - 30]), monday).endswith("told again as soon as 18 more are made within two days")


def test_after_three_idle_days_and_before_the_first_judgement():
    assert said(np.array([FRIDAY - 5 * DAY]), FRIDAY).endswith("nobody has judged within the last 3 days; told again as soon as 20 are made within two days")
    assert said(np.empty(0), FRIDAY).endswith("; a forecast needs two days, a whole working day among them, and 20 judgements")


def test_more_than_remains_is_not_asked_for():
    """Four are left and two were made within two days: eighteen more cannot be made."""
    worked = np.append(FRIDAY - 4 * DAY + 600 * np.arange(40), [FRIDAY - 60, FRIDAY - 30])
    assert why_and_since(forecast(worked, remaining=4, now=FRIDAY)) == "too few judgements: fewer than 20 within the last 2 days"
    assert why_and_since(forecast(worked, remaining=18, now=FRIDAY)).endswith("told again as soon as 18 more are made within two days")


def test_with_a_forecast_nothing_is_added():
    assert why_and_since(Forecast(FRIDAY, None, None, 10.0, 72, "no weekend has been seen yet")) == "no weekend has been seen yet"


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

    def test_what_is_true_without_it(self, campaign):
        now = progress(campaign)
        assert true_without(campaign, now) == "45 judgements are missing; 3 were made in the last 24 hours"
        campaign.deadline = now.moment + timedelta(days=2, hours=1)
        assert true_without(campaign, now).startswith("45 judgements are missing; the deadline in 2")
        assert "asks for 23 a day; 3 were made" in true_without(campaign, now)
        campaign.deadline = now.moment + timedelta(hours=5)
        assert "asks for all of them; " in true_without(campaign, now)
        one_left = replace(now, counted=47, per_24h=1)
        campaign.deadline = None
        assert true_without(campaign, one_left) == "1 judgement is missing; 1 was made in the last 24 hours"

    def test_progress_home_and_the_api_say_it(self, campaign):
        client = manager_of(campaign)
        possible = progress(campaign).forecast.possible_from
        when = datetime.fromtimestamp(possible, UTC)
        assert timedelta(days=1, hours=21) < when - timezone.now() < timedelta(days=5)
        text = text_of(client.get(f"/campaigns/{campaign.slug}/"))
        assert f"from {when:%a} {when.day} {when:%b, %H:%M} on, if 20 judgements are made in the two days before" in text
        assert "Until then: 45 judgements are missing; 3 were made in the last 24 hours" in text
        assert f"no forecast before {when:%a} {when.day} {when:%b, %H:%M}." in text
        assert headline(campaign, progress(campaign)).endswith(f"6 %, no forecast before {when:%a} {when.day} {when:%b, %H:%M}.")
        ahead = client.get(f"/api/v1/campaigns/{campaign.slug}/progress").json()["forecast"]
        assert (datetime.fromisoformat(ahead["possible_from"]), ahead["n_short"], ahead["expected"]) == (when, 17, None)

    def test_who_is_done_or_has_closed_awaits_nothing(self, campaign):
        now = progress(campaign)
        done = replace(now, counted=now.needed, forecast=replace(now.forecast, reason="everything that is needed has been judged", possible_from=None))
        assert "without" not in verdict(campaign, done)
        campaigns.close(campaign, actor=None)
        assert "without" not in verdict(Campaign.objects.get(pk=campaign.pk), now)

    def test_the_card_on_home_has_the_same_words(self, campaign):
        class Figures:
            missing, forecast = 45, progress(campaign).forecast

        assert ahead_in_words(campaign, Figures())["says"] == why_and_since(Figures.forecast)
