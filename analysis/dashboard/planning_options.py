"""Changes that a manager can make to a running campaign, each with the resulting forecast."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from numpy.typing import NDArray

from analysis.dashboard import level_sentences
from analysis.dashboard.forecast_unavailable import when_forecast_possible
from analysis.dashboard.headline import (
    format_day,
    format_interval,
    format_margin,
    format_moment,
    judged_levels,
    last_complete_level,
)
from analysis.dashboard.progress import count_slots, make_forecaster
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.core.rank_windows import WindowPreview
from annotation.core.scheduling import compute_rank_window
from annotation.models import Campaign
from annotation.selectors.rank_windows import preview_rank_windows
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.depth import full_depth_reason, set_depth
from annotation.services.errors import CampaignError
from annotation.services.people import accounts
from assay.campaigns.forecast import MIN_DAYS, Forecaster
from assay.campaigns.working_days import add_working_days

DAY_SECONDS = 86400.0
INVITED, DAYS = (1, 2, 5), (2, 7, 14)
MIN_CHANGE_DAYS = 1 / 24
"""Minimum number of days by which an option must bring the end forward to be listed as helpful."""


@dataclass(frozen=True)
class Outlook:
    """The forecast of a campaign under some settings.

    missing: number of missing judgements. expected: end in seconds since 1970, None without a
    forecast. level: last rank (batch, stage) down to which every pair is expected to be complete at
    the deadline, 0 if not even the first is, None if unknown. interval: 95% prediction interval of
    the end, as text. is_vague: whether the interval is too wide for planning. level_word: the
    pool's name for its levels.
    """

    missing: int
    expected: float | None
    deadline: float | None
    level: int | None
    interval: str = ""
    is_vague: bool = False
    level_word: str = "rank"

    @property
    def depth_by_deadline(self) -> str:
        """Say down to which level all pairs will be complete at the deadline. Empty if unknown."""
        if self.level is None:
            return ""
        return level_sentences.describe_levels_by_deadline(self.level_word, self.level)

    @property
    def late_days(self) -> float | None:
        return (
            None
            if self.expected is None or self.deadline is None
            else (self.expected - self.deadline) / DAY_SECONDS
        )

    @property
    def lateness(self) -> str:
        return "" if self.late_days is None else format_margin(self.late_days * DAY_SECONDS)

    @property
    def when(self) -> str:
        return "" if self.expected is None else format_day(self.expected)

    @property
    def is_late(self) -> bool:
        return self.late_days is not None and self.late_days > 0

    @property
    def is_in_time(self) -> bool:
        return self.late_days is not None and self.late_days <= 0


@dataclass(frozen=True)
class PlanningOption:
    """A change that a manager can make to a running campaign, identified by key and value.

    words: description of the change. means: its consequences for annotators and its cost. after:
    the outlook after the change.
    """

    key: str
    value: int
    words: str
    means: str
    after: Outlook


@dataclass(frozen=True, eq=False)
class OutlookInputs:
    """The data from which all outlooks of a campaign are computed, read once.

    priorities: priorities of the levels, highest first. The arrays have one element per ordinary
    pair. level: index of its level. counted: its counted judgements. needed: judgements it needs, 0
    beyond the judging depth. whole: judgements it needs if the whole pool is judged. fixed: whether
    the number it needs is the same under any setting.
    """

    campaign: Campaign
    forecaster: Forecaster
    priorities: list[int]
    level: NDArray[np.int64]
    counted: NDArray[np.int64]
    needed: NDArray[np.int64]
    whole: NDArray[np.int64]
    fixed: NDArray[np.bool_]
    unjudgeable: NDArray[np.bool_]
    asked_more: NDArray[np.int64]
    n_active: int

    @property
    def deadline(self) -> float | None:
        return self.campaign.deadline.timestamp() if self.campaign.deadline else None

    def missing(self, per_pair: int | None = None) -> NDArray[np.int64]:
        """Return the number of missing judgements of each ordinary pair. per_pair: judgements per
        pair, the campaign's number if None."""
        needed = (
            self.needed
            if per_pair is None
            else np.where(
                self.fixed, self.counted, np.maximum(self.counted, per_pair + self.asked_more)
            )
        )
        return np.maximum(needed - self.counted, 0)

    def missing_to(self, place: int) -> NDArray[np.int64]:
        """Return the number of missing judgements of each ordinary pair if judging stops after the
        level at this index. Deeper pairs that already have a judgement are still completed."""
        return np.where(
            (self.level > place) & (self.counted == 0), 0, np.maximum(self.whole - self.counted, 0)
        )

    def outlook(
        self,
        missing: NDArray[np.int64],
        *,
        faster: float = 1.0,
        deadline: float | None = None,
        width: int | None = None,
        place: int | None = None,
    ) -> Outlook:
        """Compute the outlook if these judgements are missing.

        faster: factor on the number of judgements per unit of time. place: index of the last level
        to be judged, the current one by default.
        """
        n, due = int(missing.sum()), deadline or self.deadline
        if self.campaign.state == Campaign.State.CLOSED:
            return Outlook(n, None, due, None, level_word=self.campaign.level_word)
        ahead = self.forecaster.forecast(n / faster)
        expected = ahead.expected if n else self.forecaster.now
        interval = "" if ahead.expected is None else format_interval(ahead)
        per_level = np.bincount(self.level, weights=missing, minlength=len(self.priorities))
        priorities = (
            judged_levels(self.campaign, self.priorities)
            if place is None
            else self.priorities[: place + 1]
        )
        room = None if due is None else self.forecaster.predict_judgements_until(due)
        level = (
            None
            if room is None
            else last_complete_level(
                self.campaign, priorities, per_level, room * faster, width=width
            )
        )
        return Outlook(n, expected, due, level, interval, level_word=self.campaign.level_word)

    def current(self) -> Outlook:
        """Return the outlook under the current settings. It keeps its date and is marked as vague
        if the prediction interval is too wide for planning."""
        now = self.outlook(self.missing())
        is_vague = bool(now.interval) and self.forecaster.forecast(now.missing).is_vague
        return replace(now, is_vague=is_vague)


def list_planning_options(
    campaign: Campaign, *, live: CampaignSnapshot | None = None
) -> tuple[Outlook, list[PlanningOption], str]:
    """Return the current outlook, the planning options, and, if there are no options, the reason
    (otherwise empty)."""
    base = read_outlook_inputs(campaign, live or get_snapshot(campaign))
    now = base.current()
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PAUSED):
        return now, [], _("Planning is available while the campaign is open or paused.")
    to_depths = list(_depth_options(base))
    if now.missing and now.expected is not None:
        return (
            now,
            [
                *_invite_options(base),
                *_deadline_options(base),
                *_fewer_judgements_options(base),
                *_order_options(base),
                *to_depths,
            ],
            "",
        )
    why = _("All required judgements have been made.")
    if now.missing:
        ahead = base.forecaster.forecast(now.missing)
        why = _("No forecast yet, so options can't be compared. %(since)s") % {
            "since": when_forecast_possible(ahead) or ahead.reason
        }
    # managers can always restore skipped levels
    deeper = [option for option in to_depths if option.after.missing > now.missing]
    return now, deeper, "" if deeper else why


def filter_helpful_options(now: Outlook, options: list[PlanningOption]) -> list[PlanningOption]:
    """Return the options that bring the end closer to the deadline or complete more ranks in time,
    best first. Returns none if the campaign is already in time.

    Among equally good options, the least intrusive comes first: few annotators, few days, many
    judgements, many ranks. For options in steps, none is listed beyond the smallest step that is in
    time. Of the orders and the depths, only the best is listed.
    """

    def distance(one: Outlook) -> tuple[float, int]:
        if one.expected is None:
            return math.inf, 0
        days = one.expected / DAY_SECONDS if one.late_days is None else max(0.0, one.late_days)
        return MIN_CHANGE_DAYS * round(days / MIN_CHANGE_DAYS), -(one.level or 0)

    if now.is_in_time:
        return []
    kept: list[PlanningOption] = []
    for key in ("invite", "extend", "fewer", "depth", "order"):
        mildest_first = [
            one
            for one in (reversed(options) if key == "depth" else options)
            if one.key == key and distance(one.after) < distance(now)
        ]
        if key in ("depth", "order"):
            kept += sorted(mildest_first, key=lambda one: distance(one.after))[:1]
            continue
        enough = next(
            (place for place, one in enumerate(mildest_first) if one.after.is_in_time),
            len(mildest_first),
        )
        kept += mildest_first[: enough + 1]
    return sorted(kept, key=lambda one: distance(one.after))


def get_recommended_option(
    campaign: Campaign, live: CampaignSnapshot
) -> tuple[Outlook, PlanningOption] | None:
    """Return the current outlook, and the option that helps most if the campaign is expected to be
    late. The result is cached with the snapshot."""

    def compute() -> tuple[Outlook, PlanningOption] | None:
        now = read_outlook_inputs(campaign, live).current()
        if not now.is_late:
            return None
        helpful = filter_helpful_options(now, list_planning_options(campaign, live=live)[1])
        return (now, helpful[0]) if helpful else None

    if campaign.is_over or campaign.state == Campaign.State.CLOSED:
        return None
    plan = (campaign.deadline, campaign.judgements_per_pair, campaign.band, campaign.least_priority)
    return live.derived("recommended", compute, depends_on=(live.rows, live.read_at, plan))


def get_planning_option(campaign: Campaign, key: str, value: int) -> tuple[Outlook, PlanningOption]:
    """Return the current outlook and the planning option with this key and value. Raises
    CampaignError if the option is not available or no longer available."""
    now, offered, why_none = list_planning_options(campaign)
    option = next((one for one in offered if (one.key, one.value) == (key, value)), None)
    if option is None:
        raise CampaignError(
            why_none or _("This option is no longer available because the campaign has changed.")
        )
    return now, option


def apply_planning_option(campaign: Campaign, option: PlanningOption, *, actor: User) -> str:
    """Apply a planning option and return a sentence that describes the change. Raises
    CampaignError."""
    if option.key == "invite":
        accounts.create_invitation(campaign=campaign, actor=actor, max_uses=option.value)
        says = ngettext(
            "Invitation for %(n)s annotator created. Send them the link below.",
            "Invitation for %(n)s annotators created. Send them the link below.",
            option.value,
        )
        return says % {"n": option.value}
    if option.key == "extend":
        deadline = _extended_deadline(campaign, option.value)
        lifecycle.update_campaign(campaign, actor=actor, deadline=deadline)
        return _("Deadline moved to %(moment)s.") % {"moment": format_moment(deadline.timestamp())}
    if option.key == "fewer":
        lifecycle.update_campaign(campaign, actor=actor, judgements_per_pair=option.value)
        return ngettext(
            "Pairs now need %(n)s judgement.", "Pairs now need %(n)s judgements.", option.value
        ) % {"n": option.value}
    if option.key == "order":
        lifecycle.update_campaign(campaign, actor=actor, band=option.value)
        if option.value == 1:
            return _("Pairs are now assigned strictly by priority.")
        return _("Pairs are now assigned in rank windows of %(width)s priorities.") % {
            "width": option.value
        }
    base = read_outlook_inputs(campaign, get_snapshot(campaign))
    place = _level_position(base, option.value)
    set_depth(
        campaign, None if place == len(base.priorities) - 1 else base.priorities[place], actor=actor
    )
    if campaign.judged_to is None:
        return _("Judging now covers the whole pool.")
    return level_sentences.describe_changed_last_level(campaign.level_word, option.value)


def read_outlook_inputs(campaign: Campaign, live: CampaignSnapshot) -> OutlookInputs:
    its, normal = count_slots(campaign, live), live.pairs.normal
    values, level = live.pairs.levels
    forecaster = make_forecaster(campaign, live, timezone.now())
    lately = live.rows.counts & (
        live.rows.judged_at > add_working_days(forecaster.now, -MIN_DAYS, forecaster.zone)
    )
    return OutlookInputs(
        campaign=campaign,
        forecaster=forecaster,
        priorities=(-values).tolist(),
        level=level,
        counted=its.counted[normal],
        needed=its.needed[normal],
        whole=np.where(
            its.unjudgeable,
            its.counted,
            np.maximum(its.counted, campaign.judgements_per_pair + live.pairs.asked_more),
        )[normal],
        unjudgeable=its.unjudgeable[normal],
        fixed=(its.unjudgeable | its.left)[normal],
        asked_more=live.pairs.asked_more[normal].astype(np.int64),
        n_active=len(np.unique(live.rows.annotator[lately])),
    )


def _invite_options(base: OutlookInputs) -> Iterator[PlanningOption]:
    for more in INVITED if base.n_active else ():
        after = base.outlook(base.missing(), faster=(base.n_active + more) / base.n_active)
        means = ngettext(
            "Assumes the pace of the annotator active in the last two working days.",
            "Assumes the average pace of the %(n)s annotators active in the last two working days.",
            base.n_active,
        ) % {"n": f"{base.n_active:,}"}
        words = ngettext("Invite %(n)s more annotator", "Invite %(n)s more annotators", more) % {
            "n": more
        }
        yield PlanningOption("invite", more, words, means, after)


def _extended_deadline(campaign: Campaign, days: int) -> datetime:
    """Return a deadline this much later, counted from now if the current one has passed."""
    assert campaign.deadline is not None, "only the deadline can be extended"
    return max(campaign.deadline, timezone.now()) + timedelta(days=days)


def _deadline_options(base: OutlookInputs) -> Iterator[PlanningOption]:
    if base.campaign.deadline is None:
        return
    for days in DAYS:
        deadline = _extended_deadline(base.campaign, days)
        after = base.outlook(base.missing(), deadline=deadline.timestamp())
        words = ngettext(
            "Extend the deadline by %(n)s day", "Extend the deadline by %(n)s days", days
        ) % {"n": days}
        yield PlanningOption(
            "extend",
            days,
            words,
            _("Until %(moment)s.") % {"moment": format_moment(deadline.timestamp())},
            after,
        )


def _fewer_judgements_options(base: OutlookInputs) -> Iterator[PlanningOption]:
    n = base.campaign.judgements_per_pair
    for per_pair in range(n - 1, max(n - 3, 0), -1):
        missing = base.missing(per_pair)
        spared = int(base.missing().sum() - missing.sum())
        means = ngettext(
            "%(n)s fewer judgement. Unfinished pairs get labels from fewer annotators.",
            "%(n)s fewer judgements. Unfinished pairs get labels from fewer annotators.",
            spared,
        ) % {"n": f"{spared:,}"}
        if per_pair == 1:
            means = ngettext(
                (
                    "%(n)s fewer judgement. Unfinished pairs get labels from one annotator, so "
                    "agreement on them can't be measured."
                ),
                (
                    "%(n)s fewer judgements. Unfinished pairs get labels from one annotator, "
                    "so agreement on them can't be measured."
                ),
                spared,
            ) % {"n": f"{spared:,}"}
        words = ngettext(
            "Reduce to %(n)s judgement per pair", "Reduce to %(n)s judgements per pair", per_pair
        )
        yield PlanningOption(
            "fewer", per_pair, words % {"n": per_pair}, means, base.outlook(missing)
        )


def _order_options(base: OutlookInputs) -> Iterator[PlanningOption]:
    """Yield an option for each judging order of the rules page, with the time that annotators stay
    on one topic under it."""
    if len(base.priorities) < 2:
        return
    played = {one.width: one for one in preview_rank_windows(base.campaign)}
    now = played.get(min(base.campaign.band, max(played, default=1)))
    for width, one in played.items():
        if now is None or width == now.width:
            continue
        means = _describe_order(base.campaign, one, is_more_often=one.mean_run < now.mean_run)
        words = (
            _("Assign pairs strictly by priority")
            if width == 1
            else _("Assign pairs in rank windows of %(width)s priorities") % {"width": width}
        )
        yield PlanningOption(
            "order", width, words, means, base.outlook(base.missing(), width=width)
        )


def _describe_order(campaign: Campaign, preview: WindowPreview, *, is_more_often: bool) -> str:
    often = _("Annotators switch topics less often (every %(run)s documents).")
    if is_more_often:
        often = _("Annotators switch topics more often (every %(run)s documents).")
    order = level_sentences.describe_level_order(
        campaign.level_word, round(preview.percent_out_of_order)
    )
    return f"{often % {'run': f'{preview.mean_run:.1f}'}} {order}"


def _depth_options(base: OutlookInputs) -> Iterator[PlanningOption]:
    """Yield an option to stop judging at each level, except at the current judging depth."""
    campaign, missing = base.campaign, base.missing()
    if full_depth_reason(campaign):
        return
    for place, priority in enumerate(base.priorities):
        after, level = base.missing_to(place), campaign.level_of(priority)
        last = place == len(base.priorities) - 1
        if (campaign.least_priority is None and last) or campaign.least_priority == priority:
            continue
        left = int(((base.level > place) & (base.counted == 0) & ~base.unjudgeable).sum())
        more = int(after.sum() - missing.sum())
        cost = ngettext("%(n)s more judgement.", "%(n)s more judgements.", more)
        if more < 0:
            cost = ngettext("%(n)s fewer judgement.", "%(n)s fewer judgements.", -more)
        stay = ngettext(
            "%(n)s unjudged pair below this depth is set aside and can be restored. "
            "Judgements are kept.",
            "%(n)s unjudged pairs below this depth are set aside and can be restored. "
            "Judgements are kept.",
            left,
        )
        words = level_sentences.name_stop(campaign.level_word, level)
        means = cost % {"n": f"{abs(more):,}"}
        if last:
            words = _("Judge the whole pool")
        else:
            means = f"{means} {stay % {'n': f'{left:,}'}}"
        yield PlanningOption("depth", level, words, means, base.outlook(after, place=place))


def _level_position(base: OutlookInputs, level: int) -> int:
    return [base.campaign.level_of(priority) for priority in base.priorities].index(level)


@dataclass(frozen=True)
class DepthOption:
    """A judging depth that a manager can choose.

    complete: outlook for completing all pairs down to `level` with the current rank windows.
    option: the planning option that sets this depth, None if it is the current depth or not
    available.
    """

    level: int
    complete: Outlook
    option: PlanningOption | None


def list_depth_options(
    campaign: Campaign, options: list[PlanningOption], *, live: CampaignSnapshot | None = None
) -> list[DepthOption]:
    """Return the depths at which judging can stop: the deepest complete level and all incomplete
    ones.

    options: the planning options of the campaign.
    """
    base = read_outlook_inputs(campaign, live or get_snapshot(campaign))
    missing = np.maximum(base.whole - base.counted, 0)
    rows: list[DepthOption] = []
    of = {option.value: option for option in options if option.key == "depth"}
    bands = [
        compute_rank_window(
            priority, highest=max(base.priorities[0], campaign.top_priority), width=campaign.band
        )
        for priority in base.priorities
    ]
    for priority, band in zip(base.priorities, bands, strict=True):
        last = len(bands) - 1 - bands[::-1].index(band)  # a rank window is complete only as a whole
        kept, level = np.where(base.level <= last, missing, 0), campaign.level_of(priority)
        row = DepthOption(level, base.outlook(kept, place=last), of.get(level))
        if not row.complete.missing:
            rows.clear()  # keep only the deepest complete level
        rows.append(row)
    return rows
