"""What needs a person: the one list behind Home, the mail and the API.

to_do_of(user)             of all campaigns that the person manages
to_do(campaigns, known)    of these, with figures at hand
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

from analysis.dashboard.annotators import LikeRandom
from analysis.dashboard.headline import day_text, moment_text
from analysis.dashboard.home_figures import HomeFigures, home_figures
from analysis.models import Release
from annotation.models import Campaign, Membership, Pair, Question
from annotation.selectors import qualification
from annotation.selectors.pausing import number_in, paused_by_rule
from annotation.selectors.people import managed_campaigns
from assay.campaigns.flags import AGAINST_OTHERS, AT_CHANCE, GOLD_AT_CHANCE
from pooling.models import Job

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)
KEPT_AFTER_CLOSING = timedelta(days=60)
"""How long the quality of a closed campaign stays in the list, if no release is built before."""
MOST_PEOPLE = 10
"""Annotators named one by one; the page People has all."""
TOO_FAST_REASON = gettext_lazy(
    "Many of your judgements were made faster than the text can be read. The campaign's manager "
    "would like to talk about it first."
)


class ToDoKind(StrEnum):
    """In the order in which the list has them: first what spoils labels, then what keeps people
    from judging, then what can wait a day."""

    LIKE_RANDOM = "like random"
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
    """address: leads to a page; where there are `fields` they are posted to it. about: whom or what
    it concerns, where the item has several."""

    words: str
    address: str
    fields: dict[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def posts(self) -> bool:
        return bool(self.fields)


@dataclass(frozen=True)
class ToDo:
    """words: a sentence without its full stop. count: of people, judgements or pairs. as_of: when
    its figures were counted; None: now."""

    kind: ToDoKind
    campaign: Campaign
    words: str
    count: int
    actions: list[ToDoAction]
    as_of: datetime | None = None


def to_do_of(user: User) -> tuple[list[ToDo], list[Job]]:
    """-> (the list, new jobs to be sent)"""
    campaigns = watched(managed_campaigns(user))
    known, asked = home_figures(campaigns)
    return to_do(campaigns, known), asked


def running(campaigns: Sequence[Campaign]) -> list[Campaign]:
    return [campaign for campaign in campaigns if campaign.state in RUNNING]


def watched(campaigns: Sequence[Campaign]) -> list[Campaign]:
    """The running ones, and those closed within KEPT_AFTER_CLOSING of which no release has been
    built since: their quality is still to be decided on. Running ones come first."""
    since = timezone.now() - KEPT_AFTER_CLOSING
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
    return running(campaigns) + closed


def to_do(campaigns: Sequence[Campaign], known: Mapping[int, HomeFigures]) -> list[ToDo]:
    """campaigns: of `watched`. known: of each what was counted, where it was. In four statements,
    however many there are."""
    if not campaigns:
        return []
    ids = [campaign.pk for campaign in running(campaigns)]
    waiting: dict[int, list[str]] = {}
    by_rule: dict[int, list[tuple[str, int]]] = {}
    paused = (
        (qualification.waiting() | paused_by_rule()).filter(campaign__in=ids).order_by("pseudonym")
    )  # both in one statement
    for pk, pseudonym, reason in paused.values_list("campaign", "pseudonym", "standing_reason"):
        if (n := number_in(reason)) is None:
            waiting.setdefault(pk, []).append(pseudonym)
        else:
            by_rule.setdefault(pk, []).append((pseudonym, n))
    asked = _by_campaign(
        Question.objects.filter(membership__campaign__in=ids, answered_at=None).values_list(
            "membership__campaign"
        )
    )
    textless = _by_campaign(
        Pair.objects.filter(
            campaign__in=ids, removed=False, without_text=True, open_slots__gt=0
        ).values_list("campaign")
    )
    standings = _standings(known)
    items: list[ToDo] = []
    for campaign in campaigns:
        figures = known.get(campaign.pk)
        items += _paused_by_rule(campaign, by_rule.get(campaign.pk, []))
        items += _of_people(
            campaign,
            waiting.get(campaign.pk, []),
            asked.get(campaign.pk, 0),
            textless.get(campaign.pk, 0),
        )
        if figures is not None:
            items += _like_random(campaign, figures, standings) + _disputed(campaign, figures)
        if figures is not None and campaign.state in RUNNING:
            items += _of_end(campaign, figures) + _too_fast(campaign, figures, standings)
    order = list(ToDoKind)
    return sorted(items, key=lambda item: order.index(item.kind))


def _by_campaign(rows: object) -> dict[int, int]:
    return dict(rows.annotate(n=Count("pk")).order_by())  # type: ignore[attr-defined]


def _standings(known: Mapping[int, HomeFigures]) -> dict[tuple[int, str], str]:
    """By (campaign, pseudonym), of everybody named in the figures, which may be older than a pause
    or an exclusion."""
    names = {one.pseudonym for figures in known.values() for one in figures.too_fast}
    names |= {one.pseudonym for figures in known.values() for one in figures.like_random}
    if not names:
        return {}
    rows = Membership.objects.filter(campaign__in=list(known), pseudonym__in=names).values_list(
        "campaign_id", "pseudonym", "standing"
    )
    return {(campaign, pseudonym): standing for campaign, pseudonym, standing in rows}


def _of_people(campaign: Campaign, waiting: list[str], n_asked: int, n_textless: int) -> list[ToDo]:
    items = []
    if waiting:
        n = len(waiting)
        words = _counted(
            ngettext(
                "%(n)s annotator failed the qualification and waits for you",
                "%(n)s annotators failed the qualification and wait for you",
                n,
            ),
            n,
        )
        actions = [
            ToDoAction(
                words,
                _address("campaign-person-act", campaign, pseudonym),
                {"action": action},
                pseudonym,
            )
            for pseudonym in waiting[:MOST_PEOPLE]
            for words, action in ((_("Let in"), "let-in"), (_("Try again"), "try-again"))
        ]
        if n > MOST_PEOPLE:
            actions.append(ToDoAction(_("All of them"), _address("campaign-people", campaign)))
        items.append(ToDo(ToDoKind.QUALIFICATION, campaign, words, n, actions))
    if n_asked:
        words = _counted(
            ngettext(
                "%(n)s question of an annotator waits for an answer",
                "%(n)s questions of annotators wait for an answer",
                n_asked,
            ),
            n_asked,
        )
        items.append(
            ToDo(
                ToDoKind.QUESTIONS,
                campaign,
                words,
                n_asked,
                [ToDoAction(_("Answer"), _address("campaign-questions", campaign))],
            )
        )
    if n_textless:
        words = _counted(
            ngettext(
                "%(n)s pair has no text and cannot be judged",
                "%(n)s pairs have no text and cannot be judged",
                n_textless,
            ),
            n_textless,
        )
        items.append(
            ToDo(
                ToDoKind.WITHOUT_TEXT,
                campaign,
                words,
                n_textless,
                [ToDoAction(_("Bring the documents"), _step(campaign, "files"))],
            )
        )
    return items


def _paused_by_rule(campaign: Campaign, paused: list[tuple[str, int]]) -> list[ToDo]:
    """paused: (pseudonym, too fast judgements that led to it)"""
    if not paused:
        return []
    n, (first, n_fast) = len(paused), paused[0]
    words = _("%(pseudonym)s: %(n)s too fast, paused by the rule") % {
        "pseudonym": first,
        "n": f"{n_fast:,}",
    }
    if n > 1:
        words = _("%(n)s annotators paused by the rule of too fast judgements") % {"n": f"{n:,}"}
    actions = []
    for pseudonym, number in paused[:MOST_PEOPLE]:
        about = (
            pseudonym
            if n == 1
            else _("%(pseudonym)s: %(n)s too fast") % {"pseudonym": pseudonym, "n": f"{number:,}"}
        )
        actions.append(
            ToDoAction(_("Look"), _address("campaign-person", campaign, pseudonym), about=about)
        )
        actions.append(
            ToDoAction(
                _("Let go on"),
                _address("campaign-person-act", campaign, pseudonym),
                {"action": "resume"},
                about,
            )
        )
    if n > MOST_PEOPLE:
        actions.append(ToDoAction(_("All of them"), _address("campaign-people", campaign)))
    return [ToDo(ToDoKind.PAUSED_BY_RULE, campaign, words, n, actions)]


def _of_end(campaign: Campaign, figures: HomeFigures) -> list[ToDo]:
    missing, ahead = figures.missing, figures.forecast
    extend, close = (
        ToDoAction(_("Extend"), _step(campaign, "rules")),
        ToDoAction(_("Close"), _step(campaign, "open")),
    )
    if figures.needed and not missing:
        actions = [close, ToDoAction(_("Build a release"), _address("campaign-export", campaign))]
        return [
            ToDo(
                ToDoKind.ALL_JUDGED,
                campaign,
                _("Everything that is needed has been judged"),
                figures.counted,
                actions,
                figures.at,
            )
        ]
    if campaign.is_over:
        words = _counted(
            ngettext(
                "The deadline has passed, %(n)s judgement is missing",
                "The deadline has passed, %(n)s judgements are missing",
                missing,
            ),
            missing,
        )
        return [
            ToDo(ToDoKind.DEADLINE_PASSED, campaign, words, missing, [extend, close], figures.at)
        ]
    if (
        campaign.deadline is None
        or ahead.expected is None
        or ahead.expected <= campaign.deadline.timestamp()
    ):
        return []
    moments = {
        "end": day_text(ahead.expected),
        "deadline": moment_text(campaign.deadline.timestamp()),
    }
    words = _("Expected to end %(end)s, after the deadline of %(deadline)s") % moments
    if ahead.is_vague:
        words = _("Too uncertain to say when it ends; the deadline is %(deadline)s") % moments
    remind = ToDoAction(_("Remind"), _address("campaign-remind", campaign))
    actions = [
        ToDoAction(_("Ways to finish on time"), _address("campaign-levers", campaign)),
        extend,
        remind,
    ]
    return [ToDo(ToDoKind.DEADLINE_AT_RISK, campaign, words, missing, actions, figures.at)]


def _like_random(
    campaign: Campaign, figures: HomeFigures, standings: Mapping[tuple[int, str], str]
) -> list[ToDo]:
    """One item a person, whether they still judge or not."""
    items = []
    suspects = [
        one
        for one in figures.like_random
        if standings.get((campaign.pk, one.pseudonym)) != Membership.Standing.EXCLUDED
    ]
    for one in suspects[:MOST_PEOPLE]:
        actions = [
            ToDoAction(
                _("Review"),
                _address("campaign-person", campaign, one.pseudonym),
                about=one.pseudonym,
            ),
            ToDoAction(
                _("Exclude…"),
                _address("campaign-person-act", campaign, one.pseudonym),
                {"action": "preview"},
                one.pseudonym,
            ),
        ]
        items.append(
            ToDo(
                ToDoKind.LIKE_RANDOM,
                campaign,
                _sign_in_words(one),
                one.n_judgements,
                actions,
                figures.at,
            )
        )
    return items


def _sign_in_words(one: LikeRandom) -> str:
    says = {
        AGAINST_OTHERS: ngettext(
            "%(pseudonym)s grades against the others; %(n)s judgements, %(labels)s label rests on them",
            "%(pseudonym)s grades against the others; %(n)s judgements, %(labels)s labels rest on them",
            one.n_labels,
        ),
        AT_CHANCE: ngettext(
            "%(pseudonym)s agrees with others no better than chance; %(n)s judgements, %(labels)s label rests on them",
            "%(pseudonym)s agrees with others no better than chance; %(n)s judgements, %(labels)s labels rest on them",
            one.n_labels,
        ),
        GOLD_AT_CHANCE: ngettext(
            "%(pseudonym)s answers gold no better than chance; %(n)s judgements, %(labels)s label rests on them",
            "%(pseudonym)s answers gold no better than chance; %(n)s judgements, %(labels)s labels rest on them",
            one.n_labels,
        ),
    }
    return says[one.sign] % {
        "pseudonym": one.pseudonym,
        "n": f"{one.n_judgements:,}",
        "labels": f"{one.n_labels:,}",
    }


def _too_fast(
    campaign: Campaign, figures: HomeFigures, standings: Mapping[tuple[int, str], str]
) -> list[ToDo]:
    items = []
    suspects = [
        one
        for one in figures.too_fast
        if standings.get((campaign.pk, one.pseudonym)) == Membership.Standing.ACTIVE
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
            words = _("%(n)s annotators with many judgements that were too fast") % {"n": f"{n:,}"}
        actions = []
        for one in suspects[:MOST_PEOPLE]:
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
                    _("Look"), _address("campaign-person", campaign, one.pseudonym), about=about
                )
            )
            post = {"action": "pause", "text": str(TOO_FAST_REASON)}
            actions.append(
                ToDoAction(
                    _("Pause"),
                    _address("campaign-person-act", campaign, one.pseudonym),
                    post,
                    about,
                )
            )
        if n > MOST_PEOPLE:
            actions.append(ToDoAction(_("All of them"), _address("campaign-people", campaign)))
        items.append(ToDo(ToDoKind.TOO_FAST, campaign, words, n, actions, figures.at))
    return items


def _disputed(campaign: Campaign, figures: HomeFigures) -> list[ToDo]:
    if figures.disputed is None:
        return []
    words = ngettext(
        "%(n)s disputed pair to adjudicate",
        "%(n)s disputed pairs to adjudicate",
        figures.n_disputed,
    )
    first = ToDoAction(_("Adjudicate"), _address("campaign-pair", campaign, figures.disputed))
    actions = [first, ToDoAction(_("List"), _address("campaign-agreement", campaign))]
    return [
        ToDo(
            ToDoKind.DISPUTED,
            campaign,
            _counted(words, figures.n_disputed),
            figures.n_disputed,
            actions,
            figures.at,
        )
    ]


def _counted(sentence: str, n: int) -> str:
    return sentence % {"n": f"{n:,}"}


def _address(name: str, campaign: Campaign, *rest: str | int) -> str:
    return reverse(name, args=[campaign.slug, *rest])


def _step(campaign: Campaign, key: str) -> str:
    return _address("campaign-step", campaign, key)
