"""What needs a person: the one list behind Home, the mail and the API.

    to_do_of(user)             of all campaigns that the person manages
    to_do(campaigns, known)    of these, with figures at hand
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.contrib.auth.models import User
from django.db.models import Count
from django.urls import reverse

from analysis.dashboard.headline import moment_text
from analysis.dashboard.home_figures import MOST_DISPUTED, HomeFigures, home_figures
from annotation.models import Campaign, Membership, Pair, Question
from annotation.selectors import qualification
from annotation.selectors.pausing import number_in, paused_by_rule
from annotation.selectors.people import managed_campaigns
from pooling.core.counts import counted
from pooling.models import Job

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)
MOST_PEOPLE = 10
"""Annotators named one by one; the page People has all."""
TOO_FAST_REASON = "Many of your judgements were made faster than the text can be read. The campaign's manager would like to talk about it first."


class ToDoKind(StrEnum):
    """In the order in which the list has them: first what keeps people from judging."""

    QUALIFICATION = "qualification"
    QUESTIONS = "questions"
    WITHOUT_TEXT = "without text"
    DEADLINE_PASSED = "deadline passed"
    DEADLINE_AT_RISK = "deadline at risk"
    ALL_JUDGED = "all judged"
    PAUSED_BY_RULE = "paused by rule"
    TOO_FAST = "too fast"
    DISPUTED = "disputed"


@dataclass(frozen=True)
class ToDoAction:
    """address: leads to a page; where there are `fields` they are posted to it. about: whom or what it concerns, where the item has several."""

    words: str
    address: str
    fields: dict[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def posts(self) -> bool:
        return bool(self.fields)


@dataclass(frozen=True)
class ToDo:
    """words: a sentence without its full stop. count: of people, judgements or pairs. as_of: when its figures were counted; None: now."""

    kind: ToDoKind
    campaign: Campaign
    words: str
    count: int
    actions: list[ToDoAction]
    as_of: datetime | None = None


def to_do_of(user: User) -> tuple[list[ToDo], list[Job]]:
    """-> (the list, new jobs to be sent)"""
    campaigns = running(managed_campaigns(user))
    known, asked = home_figures(campaigns)
    return to_do(campaigns, known), asked


def running(campaigns: Sequence[Campaign]) -> list[Campaign]:
    return [campaign for campaign in campaigns if campaign.state in RUNNING]


def to_do(campaigns: Sequence[Campaign], known: Mapping[int, HomeFigures]) -> list[ToDo]:
    """campaigns: running ones. known: of each what was counted, where it was. In four statements, however many there are."""
    if not campaigns:
        return []
    ids = [campaign.pk for campaign in campaigns]
    waiting: dict[int, list[str]] = {}
    by_rule: dict[int, list[tuple[str, int]]] = {}
    paused = (qualification.waiting() | paused_by_rule()).filter(campaign__in=ids).order_by("pseudonym")  # both in one statement
    for pk, pseudonym, reason in paused.values_list("campaign", "pseudonym", "standing_reason"):
        if (n := number_in(reason)) is None:
            waiting.setdefault(pk, []).append(pseudonym)
        else:
            by_rule.setdefault(pk, []).append((pseudonym, n))
    asked = _by_campaign(Question.objects.filter(membership__campaign__in=ids, answered_at=None).values_list("membership__campaign"))
    textless = _by_campaign(Pair.objects.filter(campaign__in=ids, removed=False, without_text=True, open_slots__gt=0).values_list("campaign"))
    active = _active_suspects(known)
    items: list[ToDo] = []
    for campaign in campaigns:
        figures = known.get(campaign.pk)
        items += _paused_by_rule(campaign, by_rule.get(campaign.pk, []))
        items += _of_people(campaign, waiting.get(campaign.pk, []), asked.get(campaign.pk, 0), textless.get(campaign.pk, 0))
        if figures is not None:
            items += _of_end(campaign, figures) + _of_quality(campaign, figures, active)
    order = list(ToDoKind)
    return sorted(items, key=lambda item: order.index(item.kind))


def _by_campaign(rows: object) -> dict[int, int]:
    return dict(rows.annotate(n=Count("pk")).order_by())  # type: ignore[attr-defined]


def _active_suspects(known: Mapping[int, HomeFigures]) -> set[tuple[int, str]]:
    """(campaign, pseudonym) of those who were too fast and still judge: the figures may be older than a pause."""
    names = {one.pseudonym for figures in known.values() for one in figures.too_fast}
    if not names:
        return set()
    rows = Membership.objects.filter(campaign__in=list(known), pseudonym__in=names, standing=Membership.Standing.ACTIVE)
    return set(rows.values_list("campaign_id", "pseudonym"))


def _of_people(campaign: Campaign, waiting: list[str], n_asked: int, n_textless: int) -> list[ToDo]:
    items = []
    if waiting:
        n = len(waiting)
        words = f"{counted(n, 'annotator')} failed the qualification and {'waits' if n == 1 else 'wait'} for you"
        actions = [
            ToDoAction(words, _address("campaign-person-act", campaign, pseudonym), {"action": action}, pseudonym)
            for pseudonym in waiting[:MOST_PEOPLE]
            for words, action in (("Let in", "let-in"), ("Try again", "try-again"))
        ]
        if n > MOST_PEOPLE:
            actions.append(ToDoAction("All of them", _address("campaign-people", campaign)))
        items.append(ToDo(ToDoKind.QUALIFICATION, campaign, words, n, actions))
    if n_asked:
        words = f"{counted(n_asked, 'question of an annotator waits', plural='questions of annotators wait')} for an answer"
        items.append(ToDo(ToDoKind.QUESTIONS, campaign, words, n_asked, [ToDoAction("Answer", _address("campaign-questions", campaign))]))
    if n_textless:
        words = f"{counted(n_textless, 'pair has', plural='pairs have')} no text and cannot be judged"
        items.append(ToDo(ToDoKind.WITHOUT_TEXT, campaign, words, n_textless, [ToDoAction("Bring the documents", _step(campaign, "files"))]))
    return items


def _paused_by_rule(campaign: Campaign, paused: list[tuple[str, int]]) -> list[ToDo]:
    """paused: (pseudonym, too fast judgements that led to it)"""
    if not paused:
        return []
    n, (first, n_fast) = len(paused), paused[0]
    words = f"{first}: {n_fast:,} too fast, paused by the rule" if n == 1 else f"{counted(n, 'annotator')} paused by the rule of too fast judgements"
    actions = []
    for pseudonym, number in paused[:MOST_PEOPLE]:
        about = pseudonym if n == 1 else f"{pseudonym}: {number:,} too fast"
        actions.append(ToDoAction("Look", _address("campaign-person", campaign, pseudonym), about=about))
        actions.append(ToDoAction("Let go on", _address("campaign-person-act", campaign, pseudonym), {"action": "resume"}, about))
    if n > MOST_PEOPLE:
        actions.append(ToDoAction("All of them", _address("campaign-people", campaign)))
    return [ToDo(ToDoKind.PAUSED_BY_RULE, campaign, words, n, actions)]


def _of_end(campaign: Campaign, figures: HomeFigures) -> list[ToDo]:
    missing, ahead = figures.missing, figures.forecast
    extend, close = ToDoAction("Extend", _step(campaign, "rules")), ToDoAction("Close", _step(campaign, "open"))
    if figures.needed and not missing:
        actions = [close, ToDoAction("Build a release", _address("campaign-export", campaign))]
        return [ToDo(ToDoKind.ALL_JUDGED, campaign, "Everything that is needed has been judged", figures.counted, actions, figures.at)]
    if campaign.is_over:
        words = f"The deadline has passed, {counted(missing, 'judgement is', plural='judgements are')} missing"
        return [ToDo(ToDoKind.DEADLINE_PASSED, campaign, words, missing, [extend, close], figures.at)]
    if campaign.deadline is None or ahead.expected is None or ahead.expected <= campaign.deadline.timestamp():
        return []
    words = f"Expected to end {moment_text(ahead.expected)}, after the deadline of {moment_text(campaign.deadline.timestamp())}"
    remind = ToDoAction("Remind", _address("campaign-remind", campaign))
    actions = [ToDoAction("What would help", _address("campaign-levers", campaign)), extend, remind]
    return [ToDo(ToDoKind.DEADLINE_AT_RISK, campaign, words, missing, actions, figures.at)]


def _of_quality(campaign: Campaign, figures: HomeFigures, active: set[tuple[int, str]]) -> list[ToDo]:
    items = []
    suspects = [one for one in figures.too_fast if (campaign.pk, one.pseudonym) in active]
    if suspects:
        n, worst = len(suspects), suspects[0]
        of_first = f"{worst.pseudonym}: {worst.n_fast:,} of {counted(worst.submitted, 'judgement')} too fast"
        words = of_first if n == 1 else f"{counted(n, 'annotator')} with many judgements that were too fast"
        actions = []
        for one in suspects[:MOST_PEOPLE]:
            about = one.pseudonym if n == 1 else f"{one.pseudonym}: {one.n_fast:,} of {one.submitted:,}"
            actions.append(ToDoAction("Look", _address("campaign-person", campaign, one.pseudonym), about=about))
            post = {"action": "pause", "text": TOO_FAST_REASON}
            actions.append(ToDoAction("Pause", _address("campaign-person-act", campaign, one.pseudonym), post, about))
        if n > MOST_PEOPLE:
            actions.append(ToDoAction("All of them", _address("campaign-people", campaign)))
        items.append(ToDo(ToDoKind.TOO_FAST, campaign, words, n, actions, figures.at))
    if figures.disputed is not None:
        least = "at least " if figures.n_disputed == MOST_DISPUTED else ""
        words = f"{least}{counted(figures.n_disputed, 'disputed pair waits', plural='disputed pairs wait')} for no further judgement"
        words = words[:1].upper() + words[1:]
        first = ToDoAction("Adjudicate", _address("campaign-pair", campaign, figures.disputed))
        actions = [first, ToDoAction("List", _address("campaign-agreement", campaign))]
        items.append(ToDo(ToDoKind.DISPUTED, campaign, words, figures.n_disputed, actions, figures.at))
    return items


def _address(name: str, campaign: Campaign, *rest: str | int) -> str:
    return reverse(name, args=[campaign.slug, *rest])


def _step(campaign: Campaign, key: str) -> str:
    return _address("campaign-step", campaign, key)
