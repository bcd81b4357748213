"""Texts for managers' pages: times, forecasts and the state of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from numpy.typing import NDArray

from analysis.dashboard.level_sentences import (
    describe_complete_levels,
    describe_levels_by_deadline,
)
from annotation.core.scheduling import compute_rank_window
from annotation.models import Campaign
from assay.campaigns.forecast import Forecast

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress

DAY_SECONDS = 86400.0
HOUR_SECONDS = 3600.0
NUMBER_WORDS = (
    gettext_lazy("no"),
    gettext_lazy("one"),
    gettext_lazy("two"),
    gettext_lazy("three"),
    gettext_lazy("four"),
    gettext_lazy("five"),
    gettext_lazy("six"),
    gettext_lazy("seven"),
    gettext_lazy("eight"),
    gettext_lazy("nine"),
    gettext_lazy("ten"),
    gettext_lazy("eleven"),
    gettext_lazy("twelve"),
)


def format_moment(seconds: float) -> str:
    """Format a time as “Fri 27 Nov, 18:00” in the reader's time zone, with the year unless it is
    the current one. seconds: since 1970."""
    moment = timezone.localtime(datetime.fromtimestamp(seconds, UTC))
    return formats.date_format(
        moment, "D j M, H:i" if moment.year == timezone.localtime().year else "D j M Y, H:i"
    )


def format_day(seconds: float) -> str:
    """Format the day of a forecast as “Fri 27 Nov”, with the hour if it is within two days."""
    moment, now = timezone.localtime(datetime.fromtimestamp(seconds, UTC)), timezone.localtime()
    if moment - now < timedelta(days=2):
        return format_moment(seconds)
    return formats.date_format(moment, "D j M" if moment.year == now.year else "D j M Y")


def format_interval(ahead: Forecast) -> str:
    """Format a prediction interval as “Thu 26 Nov to Wed 2 Dec”, or as months only if it is too
    wide for planning."""
    assert ahead.early is not None, "only a forecast has an interval"
    if ahead.late is None:
        return _("%(early)s to more than two years from now") % {
            "early": _format_month(ahead.early) if ahead.is_vague else format_day(ahead.early)
        }
    early, late = (
        _format_month(at) if ahead.is_vague else format_day(at) for at in (ahead.early, ahead.late)
    )
    return _("%(early)s to %(late)s") % {"early": early, "late": late}


def _format_month(seconds: float) -> str:
    return formats.date_format(timezone.localtime(datetime.fromtimestamp(seconds, UTC)), "M Y")


def is_late(campaign: Campaign, ahead: Forecast) -> bool:
    """Return whether the campaign is expected to be completed after its deadline."""
    return (
        campaign.deadline is not None
        and ahead.expected is not None
        and ahead.expected > campaign.deadline.timestamp()
    )


def is_surely_late(campaign: Campaign, ahead: Forecast) -> bool:
    """Return whether even the early end of the prediction interval lies after the deadline."""
    return (
        campaign.deadline is not None
        and ahead.early is not None
        and ahead.early > campaign.deadline.timestamp()
    )


def has_ended(campaign: Campaign) -> bool:
    """Return whether judging of the campaign has ended, so that there is nothing to forecast."""
    return campaign.is_over or campaign.state == Campaign.State.CLOSED


def last_complete_level(
    campaign: Campaign,
    priorities: Sequence[int],
    missing: Sequence[float] | NDArray[Any],
    room: float,
    *,
    width: int | None = None,
) -> int:
    """Return the last level (rank, batch, stage) down to which all pairs are complete after `room`
    more judgements, or 0 if not even the first level is.

    priorities: priorities of the levels, highest first. missing: judgements missing per level.
    width: ranks per rank window, the campaign's by default. The priorities of a window are judged
    together, so a window is complete as a whole.
    """
    if not len(priorities):
        return 0
    bands = [
        compute_rank_window(
            priority,
            highest=max(priorities[0], campaign.top_priority),
            width=width or campaign.band,
        )
        for priority in priorities
    ]
    spent, level = 0.0, 0
    for band in sorted(set(bands)):
        own = [place for place, its in enumerate(bands) if its == band]
        spent += float(sum(missing[place] for place in own))
        if spent > room:
            break
        level = campaign.level_of(priorities[own[-1]])
    return level


def judged_levels(campaign: Campaign, priorities: list[int]) -> list[int]:
    """Return the priorities of the levels to be judged, highest first. Levels beyond the judging
    depth are left out, because they never become complete."""
    least = campaign.least_priority
    return [priority for priority in priorities if least is None or priority >= least]


@dataclass(frozen=True)
class Headline:
    """The state of a campaign as one or two sentences.

    level: `good`, `warn` or `bad` news, or `info`.
    """

    words: str
    level: str


def campaign_headline(campaign: Campaign, now: CampaignProgress) -> Headline:
    """Describe the state of a campaign, for example “On track: 69% judged, finishing around Wed 2
    Dec, two days before the deadline.”"""
    if not now.needed:
        return Headline(_("Nothing to judge."), "info")
    said = {
        "share": f"{100 * now.counted // now.needed}%",
        "counted": f"{now.counted:,}",
        "needed": f"{now.needed:,}",
    }
    complete = describe_complete_levels(campaign.level_word, now.complete_depth)
    if campaign.state == Campaign.State.CLOSED:
        if now.counted >= now.needed:
            words = _("Closed and complete: %(counted)s of %(needed)s judgements.") % said
            return Headline(words, "good")
        return Headline(f"{_('Closed with %(share)s judged.') % said} {complete}", "info")
    if now.counted >= now.needed:
        return Headline(_("All required judgements have been made."), "good")
    if campaign.is_over:
        words = _("The deadline has passed with %(share)s judged.") % said
        return Headline(f"{words} {complete}", "bad")
    if campaign.state == Campaign.State.PAUSED:
        return Headline(_("Paused: %(share)s judged. No pairs are assigned.") % said, "warn")
    return _forecast_headline(campaign, now, said)


def _forecast_headline(campaign: Campaign, now: CampaignProgress, said: dict[str, str]) -> Headline:
    ahead = now.forecast
    if ahead.expected is None:
        if not now.counted:
            return Headline(_("No judgements yet."), "info")
        if ahead.possible_from is None:
            return Headline(_("No forecast: %(share)s judged.") % said, "info")
        said["day"] = format_day(ahead.possible_from)
        words = (
            _("Too early to say: %(share)s judged. A forecast will be available from %(day)s.")
            % said
        )
        return Headline(words, "info")
    if ahead.is_vague:
        if is_surely_late(campaign, ahead):
            words = (
                _("Behind: %(share)s judged. Judging will end late, but the date is uncertain.")
                % said
            )
            return Headline(words, "bad")
        return Headline(_("Too uncertain to say: %(share)s judged.") % said, "warn")
    said["day"] = format_day(ahead.expected)
    if campaign.deadline is None:
        return Headline(_("%(share)s judged, finishing around %(day)s.") % said, "info")
    due = campaign.deadline.timestamp()
    said["margin"] = format_margin(ahead.expected - due)
    if ahead.expected <= due:
        words = _("On track: %(share)s judged, finishing around %(day)s, %(margin)s.")
        if ahead.late is None or ahead.late > due:
            words = _(
                "On time at this pace: %(share)s judged, finishing around %(day)s, %(margin)s."
            )
        return Headline(words % said, "good")
    words = _("Behind: %(share)s judged, finishing around %(day)s, %(margin)s.") % said
    if now.by_deadline is None:
        return Headline(words, "bad")
    complete = describe_levels_by_deadline(campaign.level_word, now.by_deadline)
    return Headline(f"{words} {complete}", "bad")


def format_margin(seconds: float) -> str:
    """Format a distance from the deadline as “two days late” or “five hours before the deadline”.
    seconds: positive after the deadline."""
    days = abs(seconds) >= DAY_SECONDS
    size = round(abs(seconds) / DAY_SECONDS) if days else round(abs(seconds) / HOUR_SECONDS)
    if seconds > 0:
        size = max(size, 1)
        says = (
            ngettext("%(n)s day late", "%(n)s days late", size)
            if days
            else ngettext("%(n)s hour late", "%(n)s hours late", size)
        )
    elif not size:
        return _("just before the deadline")
    else:
        says = (
            ngettext("%(n)s day before the deadline", "%(n)s days before the deadline", size)
            if days
            else ngettext("%(n)s hour before the deadline", "%(n)s hours before the deadline", size)
        )
    return says % {"n": NUMBER_WORDS[size] if size < len(NUMBER_WORDS) else f"{size:,}"}
