"""The to-do list of managers, shown on Home, in emails and in the API.

get_to_do_list(user)                 of all campaigns that the user manages
build_to_do_list(campaigns, known)   of these campaigns, with computed statistics
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from django.contrib.auth.models import User
from django.db.models import Count, F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analysis.dashboard.annotators import RandomLikeAnnotator
from analysis.dashboard.headline import format_day, format_moment, is_late
from analysis.dashboard.home_summary import HomeStatistics, get_home_figures
from analysis.models import Release
from annotation.demo.example import is_example
from annotation.models import Campaign, Membership, Pair, Question
from annotation.selectors import qualification
from annotation.selectors.paused_annotators import get_paused_by_rule, parse_too_fast
from annotation.selectors.people import get_managed_campaigns
from assay.campaigns.flags import AGAINST_OTHERS, AT_CHANCE, GOLD_AT_CHANCE
from pooling.models import Job

RUNNING_STATES = (Campaign.State.OPEN, Campaign.State.PAUSED)
WATCHED_AFTER_CLOSING = timedelta(days=60)
"""Time for which a closed campaign stays in the to-do list if no release is built."""
MAX_PEOPLE = 10
"""Maximum number of annotators listed individually. The People page lists all."""
TOO_FAST_REASON = gettext_lazy(
    "Many of your judgements were faster than the text can be read. The campaign's manager "
    "would like to talk to you first."
)


class ToDoKind(StrEnum):
    """Kinds of items in the order of the to-do list: problems that damage labels, then problems
    that block annotators, then the rest."""

    RANDOM_LIKE_FLAGS = "like random"
    TOO_FAST = "too fast"
    DEADLINE_PASSED = "deadline passed"
    QUALIFICATION = "qualification"
    WITHOUT_TEXT = "without text"
    PAUSED_BY_RULE = "paused by rule"
    QUESTIONS = "questions"
    DEADLINE_AT_RISK = "deadline at risk"
    DISPUTED = "disputed"
    ALL_JUDGED = "all judged"


@dataclass(frozen=True)
class ToDoAction:
    """A link or button of an item in the to-do list.

    address: the linked page, or the address to which `fields` are posted. about: the annotator or
    pair concerned, if the item has several.
    """

    words: str
    address: str
    fields: dict[str, str] = field(default_factory=dict)
    about: str = ""

    @classmethod
    def to_page(cls, words: str, name: str, campaign: Campaign) -> ToDoAction:
        """Create a link to a page of the campaign. name: name of its URL pattern."""
        return cls(words, _campaign_url(name, campaign))

    @property
    def posts(self) -> bool:
        return bool(self.fields)


@dataclass(frozen=True)
class ToDoItem:
    """One item of the to-do list.

    title: a sentence without its full stop. count: number of annotators, judgements or pairs
    concerned. as_of: when the underlying statistics were computed, None if now. harm: what is
    affected, if known.
    """

    kind: ToDoKind
    campaign: Campaign
    title: str
    count: int
    actions: list[ToDoAction]
    as_of: datetime | None = None
    harm: str = ""

    @property
    def words(self) -> str:
        return f"{self.title}: {self.harm}" if self.harm else self.title


def get_to_do_list(user: User) -> tuple[list[ToDoItem], list[Job]]:
    """Return the to-do list of all campaigns that the user manages, and new jobs to send."""
    campaigns = filter_watched(get_managed_campaigns(user))
    known, asked = get_home_figures(campaigns)
    return build_to_do_list(campaigns, known), asked


def filter_running(campaigns: Sequence[Campaign]) -> list[Campaign]:
    return [campaign for campaign in campaigns if campaign.state in RUNNING_STATES]


def filter_watched(campaigns: Sequence[Campaign]) -> list[Campaign]:
    """Return the campaigns that the to-do list covers: running ones, then those closed within
    WATCHED_AFTER_CLOSING without a later release, because decisions about their quality are still
    open. The demo's example is left out, because it needs no manager."""
    campaigns = [campaign for campaign in campaigns if not is_example(campaign)]
    since = timezone.now() - WATCHED_AFTER_CLOSING
    closed = [
        one
        for one in campaigns
        if one.state == Campaign.State.CLOSED
        and one.closed_at is not None
        and one.closed_at > since
    ]
    if closed:
        built = Release.objects.filter(
            recipe__campaign__in=closed, created_at__gte=F("recipe__campaign__closed_at")
        )
        published = set(built.values_list("recipe__campaign", flat=True))
        closed = [one for one in closed if one.pk not in published]
    return filter_running(campaigns) + closed


def build_to_do_list(
    campaigns: Sequence[Campaign], statistics_by_campaign: Mapping[int, HomeStatistics]
) -> list[ToDoItem]:
    """Build the to-do list of several campaigns in four queries.

    campaigns: from `filter_watched`. statistics_by_campaign: computed statistics by campaign, if available.
    """
    if not campaigns:
        return []
    ids = [campaign.pk for campaign in filter_running(campaigns)]
    waiting: dict[int, list[str]] = {}
    by_rule: dict[int, list[tuple[str, int]]] = {}
    paused = (
        (qualification.get_failed_annotators() | get_paused_by_rule())
        .filter(campaign__in=ids)
        .order_by("pseudonym")
    )  # both counts come from one query
    for pk, pseudonym, reason in paused.values_list("campaign", "pseudonym", "status_reason"):
        if (n := parse_too_fast(reason)) is None:
            waiting.setdefault(pk, []).append(pseudonym)
        else:
            by_rule.setdefault(pk, []).append((pseudonym, n))
    asked = _counts_by_campaign(
        Question.objects.filter(membership__campaign__in=ids, answered_at=None).values_list(
            "membership__campaign"
        )
    )
    textless = _counts_by_campaign(
        Pair.objects.filter(
            campaign__in=ids, removed=False, without_text=True, open_slots__gt=0
        ).values_list("campaign")
    )
    statuses = _annotator_states(statistics_by_campaign)
    items: list[ToDoItem] = []
    for campaign in campaigns:
        figures = statistics_by_campaign.get(campaign.pk)
        items += _rule_pause_items(campaign, by_rule.get(campaign.pk, []))
        items += _people_items(
            campaign,
            waiting.get(campaign.pk, []),
            asked.get(campaign.pk, 0),
            textless.get(campaign.pk, 0),
        )
        if figures is not None:
            items += _random_like_items(campaign, figures, statuses) + _disputed_items(
                campaign, figures
            )
        if figures is not None and campaign.state in RUNNING_STATES:
            items += _completion_items(campaign, figures) + _too_fast_items(
                campaign, figures, statuses
            )
    order = list(ToDoKind)
    return sorted(items, key=lambda item: order.index(item.kind))


def _counts_by_campaign(rows: object) -> dict[int, int]:
    return dict(rows.annotate(n=Count("pk")).order_by())  # type: ignore[attr-defined]


def _annotator_states(
    statistics_by_campaign: Mapping[int, HomeStatistics],
) -> dict[tuple[int, str], str]:
    """Return the current states of all annotators who occur in the statistics, by (campaign,
    pseudonym). The statistics may be older than a pause or an exclusion."""
    names = {
        one.pseudonym for figures in statistics_by_campaign.values() for one in figures.too_fast
    }
    names |= {
        one.pseudonym for figures in statistics_by_campaign.values() for one in figures.like_random
    }
    if not names:
        return {}
    rows = Membership.objects.filter(
        campaign__in=list(statistics_by_campaign), pseudonym__in=names
    ).values_list("campaign_id", "pseudonym", "status")
    return {(campaign, pseudonym): status for campaign, pseudonym, status in rows}


def _people_items(
    campaign: Campaign, waiting: list[str], n_asked: int, n_textless: int
) -> list[ToDoItem]:
    items = []
    if waiting:
        n = len(waiting)
        words = _format_counted(
            ngettext(
                "%(n)s annotator failed the qualification test",
                "%(n)s annotators failed the qualification test",
                n,
            ),
            n,
        )
        actions = [
            ToDoAction(
                words,
                _campaign_url("campaign-person-act", campaign, pseudonym),
                {"action": action},
                pseudonym,
            )
            for pseudonym in waiting[:MAX_PEOPLE]
            for words, action in (
                (_("Admit anyway"), "let-in"),
                (_("Allow another attempt"), "try-again"),
            )
        ]
        if n > MAX_PEOPLE:
            actions.append(ToDoAction(_("Show all"), _campaign_url("campaign-people", campaign)))
        items.append(ToDoItem(ToDoKind.QUALIFICATION, campaign, words, n, actions))
    if n_asked:
        words = _format_counted(
            ngettext(
                "%(n)s annotator's question to answer",
                "%(n)s annotators' questions to answer",
                n_asked,
            ),
            n_asked,
        )
        items.append(
            ToDoItem(
                ToDoKind.QUESTIONS,
                campaign,
                words,
                n_asked,
                [ToDoAction(_("Answer"), _campaign_url("campaign-questions", campaign))],
            )
        )
    if n_textless:
        words = _format_counted(
            ngettext(
                "%(n)s pair can't be judged because its text is missing",
                "%(n)s pairs can't be judged because their texts are missing",
                n_textless,
            ),
            n_textless,
        )
        items.append(
            ToDoItem(
                ToDoKind.WITHOUT_TEXT,
                campaign,
                words,
                n_textless,
                [ToDoAction(_("Upload documents"), _settings_step_url(campaign, "files"))],
            )
        )
    return items


def _rule_pause_items(campaign: Campaign, paused: list[tuple[str, int]]) -> list[ToDoItem]:
    """Build the items for annotators whom the time rule has paused. paused: (pseudonym, number of
    too-fast judgements that caused the pause)."""
    if not paused:
        return []
    n, (first, n_fast) = len(paused), paused[0]
    words = _("%(pseudonym)s: paused after %(n)s too-fast judgements") % {
        "pseudonym": first,
        "n": f"{n_fast:,}",
    }
    if n > 1:
        words = _("%(n)s annotators paused for too-fast judgements") % {"n": f"{n:,}"}
    actions = []
    for pseudonym, number in paused[:MAX_PEOPLE]:
        about = (
            pseudonym
            if n == 1
            else _("%(pseudonym)s: %(n)s too fast") % {"pseudonym": pseudonym, "n": f"{number:,}"}
        )
        actions.append(
            ToDoAction(
                _("Open"), _campaign_url("campaign-person", campaign, pseudonym), about=about
            )
        )
        actions.append(
            ToDoAction(
                _("Resume"),
                _campaign_url("campaign-person-act", campaign, pseudonym),
                {"action": "resume"},
                about,
            )
        )
    if n > MAX_PEOPLE:
        actions.append(ToDoAction(_("Show all"), _campaign_url("campaign-people", campaign)))
    return [ToDoItem(ToDoKind.PAUSED_BY_RULE, campaign, words, n, actions)]


def _completion_items(campaign: Campaign, figures: HomeStatistics) -> list[ToDoItem]:
    missing, ahead = figures.missing, figures.forecast
    extend, close = (
        ToDoAction(_("Extend deadline"), _settings_step_url(campaign, "rules")),
        ToDoAction(_("Close campaign"), _settings_step_url(campaign, "open")),
    )
    if figures.needed and not missing:
        actions = [
            close,
            ToDoAction(_("Build release"), _campaign_url("campaign-export", campaign)),
        ]
        return [
            ToDoItem(
                ToDoKind.ALL_JUDGED,
                campaign,
                _("All required judgements have been made"),
                figures.counted,
                actions,
                figures.at,
            )
        ]
    if campaign.is_over:
        words = _format_counted(
            ngettext(
                "The deadline has passed and %(n)s judgement is missing",
                "The deadline has passed and %(n)s judgements are missing",
                missing,
            ),
            missing,
        )
        return [
            ToDoItem(
                ToDoKind.DEADLINE_PASSED, campaign, words, missing, [extend, close], figures.at
            )
        ]
    if campaign.deadline is None or ahead.expected is None or not is_late(campaign, ahead):
        return []
    moments = {
        "end": format_day(ahead.expected),
        "deadline": format_moment(campaign.deadline.timestamp()),
    }
    words = _("Expected to finish %(end)s, after the deadline of %(deadline)s") % moments
    if ahead.is_vague:
        words = _("Completion date too uncertain, deadline %(deadline)s") % moments
    remind = ToDoAction(_("Send reminder"), _campaign_url("campaign-remind", campaign))
    actions = [
        ToDoAction(_("Planning options"), _campaign_url("campaign-planning", campaign)),
        extend,
        remind,
    ]
    return [ToDoItem(ToDoKind.DEADLINE_AT_RISK, campaign, words, missing, actions, figures.at)]


def is_random_like_open(status: str | None) -> bool:
    """Return whether managers still have to decide about an annotator whose labels look random.
    status: status of the membership, None if there is none."""
    return status != Membership.Status.EXCLUDED


def is_too_fast_open(status: str | None) -> bool:
    """Return whether managers still have to decide about an annotator with many too-fast
    judgements."""
    return status == Membership.Status.ACTIVE


def _random_like_items(
    campaign: Campaign, figures: HomeStatistics, statuses: Mapping[tuple[int, str], str]
) -> list[ToDoItem]:
    """Build one item per annotator whose labels look random, even if the annotator no longer
    judges."""
    items = []
    suspects = [
        one
        for one in figures.like_random
        if is_random_like_open(statuses.get((campaign.pk, one.pseudonym)))
    ]
    for one in suspects[:MAX_PEOPLE]:
        actions = [
            ToDoAction(
                _("Review"),
                _campaign_url("campaign-person", campaign, one.pseudonym),
                about=one.pseudonym,
            ),
            ToDoAction(
                _("Exclude…"),
                _campaign_url("campaign-person-act", campaign, one.pseudonym),
                {"action": "preview"},
                one.pseudonym,
            ),
        ]
        items.append(
            ToDoItem(
                ToDoKind.RANDOM_LIKE_FLAGS,
                campaign,
                _describe_sign(one),
                one.n_judgements,
                actions,
                figures.at,
                _describe_harm(one),
            )
        )
    return items


def _describe_sign(one: RandomLikeAnnotator) -> str:
    says = {
        AGAINST_OTHERS: _("%(pseudonym)s grades opposite to other annotators"),
        AT_CHANCE: _("%(pseudonym)s may agree with others only by chance"),
        GOLD_AT_CHANCE: _("%(pseudonym)s answers gold questions no better than chance"),
    }
    return says[one.sign] % {"pseudonym": one.pseudonym}


def _describe_harm(one: RandomLikeAnnotator) -> str:
    says = ngettext(
        "%(n)s judgements, %(labels)s label affected",
        "%(n)s judgements, %(labels)s labels affected",
        one.n_labels,
    )
    harm = says % {"n": f"{one.n_judgements:,}", "labels": f"{one.n_labels:,}"}
    if one.alphas is None:
        return harm
    alpha, without = (f"{value:.2f}".replace("-", "−") for value in one.alphas)
    return _("alpha %(alpha)s, %(without)s without them, %(harm)s") % {
        "alpha": alpha,
        "without": without,
        "harm": harm,
    }


def _too_fast_items(
    campaign: Campaign, figures: HomeStatistics, statuses: Mapping[tuple[int, str], str]
) -> list[ToDoItem]:
    items = []
    suspects = [
        one
        for one in figures.too_fast
        if is_too_fast_open(statuses.get((campaign.pk, one.pseudonym)))
    ]
    if suspects:
        n, worst = len(suspects), suspects[0]
        words = ngettext(
            "%(pseudonym)s: %(n)s of %(whole)s judgement too fast",
            "%(pseudonym)s: %(n)s of %(whole)s judgements too fast",
            worst.submitted,
        )
        words %= {
            "pseudonym": worst.pseudonym,
            "n": f"{worst.n_fast:,}",
            "whole": f"{worst.submitted:,}",
        }
        if n > 1:
            words = _("%(n)s annotators with many too-fast judgements") % {"n": f"{n:,}"}
        actions = []
        for one in suspects[:MAX_PEOPLE]:
            about = (
                one.pseudonym
                if n == 1
                else _("%(pseudonym)s: %(n)s of %(whole)s")
                % {
                    "pseudonym": one.pseudonym,
                    "n": f"{one.n_fast:,}",
                    "whole": f"{one.submitted:,}",
                }
            )
            actions.append(
                ToDoAction(
                    _("Open"),
                    _campaign_url("campaign-person", campaign, one.pseudonym),
                    about=about,
                )
            )
            post = {"action": "pause", "text": str(TOO_FAST_REASON)}
            actions.append(
                ToDoAction(
                    _("Pause"),
                    _campaign_url("campaign-person-act", campaign, one.pseudonym),
                    post,
                    about,
                )
            )
        if n > MAX_PEOPLE:
            actions.append(ToDoAction(_("Show all"), _campaign_url("campaign-people", campaign)))
        items.append(ToDoItem(ToDoKind.TOO_FAST, campaign, words, n, actions, figures.at))
    return items


def _disputed_items(campaign: Campaign, figures: HomeStatistics) -> list[ToDoItem]:
    if figures.disputed is None:
        return []
    words = ngettext(
        "%(n)s disputed pair to adjudicate",
        "%(n)s disputed pairs to adjudicate",
        figures.n_disputed,
    )
    first = ToDoAction(_("Adjudicate"), _campaign_url("campaign-pair", campaign, figures.disputed))
    actions = [first, ToDoAction(_("Show list"), _campaign_url("campaign-judgements", campaign))]
    return [
        ToDoItem(
            ToDoKind.DISPUTED,
            campaign,
            _format_counted(words, figures.n_disputed),
            figures.n_disputed,
            actions,
            figures.at,
            _describe_pivotal(figures.n_pivotal),
        )
    ]


def _describe_pivotal(n: int | None) -> str:
    return "" if n is None else _("%(n)s could change the ranking") % {"n": f"{n:,}"}


def _format_counted(sentence: str, n: int) -> str:
    return sentence % {"n": f"{n:,}"}


def _campaign_url(name: str, campaign: Campaign, *rest: str | int) -> str:
    return reverse(name, args=[campaign.slug, *rest])


def _settings_step_url(campaign: Campaign, key: str) -> str:
    return _campaign_url("campaign-step", campaign, key)
