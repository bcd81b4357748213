"""One more judgement for pairs that a manager chose, beyond the campaign's number: asked for, and
taken back while nobody has given it.

Who has judged a pair is never served it again, so that each further judgement is another person's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.core.audit_actions import AuditAction
from annotation.core.rules import MOST
from annotation.models import Campaign, Membership, Pair
from annotation.selectors.pairs import kept_pairs
from annotation.services.audit import record
from annotation.services.errors import CampaignError, Contradictory
from annotation.services.judging import slots
from assay.counts import counted

AT_ONCE = slots.BATCH
"""Pairs that are chosen together at most: they are changed in one transaction."""
NOT_RUNNING = {
    Campaign.State.DRAFT: gettext_lazy(
        "The campaign is not open yet: nobody has judged anything of which one could ask for more."
    ),
    Campaign.State.CLOSED: gettext_lazy("The campaign is closed: open it again first."),
}


@dataclass(frozen=True)
class Chosen:
    """ids: row ids of the pairs for which it can be done, one judgement each. refused: reason ->
    how many pairs it keeps from it. judged_by_all: of `ids`, pairs that every active annotator has
    judged, so that nobody could give the judgement."""

    ids: list[int]
    refused: dict[str, int] = field(default_factory=dict)
    judged_by_all: int = 0

    @property
    def reasons(self) -> list[str]:
        return [f"{counted(n, 'pair')} left out: {why}." for why, n in self.refused.items()]


def why_not_more(pair: Pair, n: int) -> str:
    """Why nobody can be asked for one more judgement of the pair; empty where one can. n: the
    campaign's judgements per pair."""
    if pair.kind != Pair.Kind.NORMAL:
        return _("gold, qualification and everyone pairs have rules of their own")
    if pair.removed:
        return _("the topic is removed")
    if pair.is_left:
        return _(
            "it lies beyond the depth to which is judged, and nobody has judged it: judge deeper "
            "first (Progress, what would help)"
        )
    if pair.unjudgeable:
        return _("annotators said that it cannot be judged")
    if pair.without_text:
        return _("its document has no text")
    if max(slots.wanted(pair, n), pair.counted) >= MOST["judgements_per_pair"]:
        return _("it has the most judgements that a pair can have, %(most)s") % {
            "most": MOST["judgements_per_pair"]
        }
    return ""


def why_not_back(pair: Pair, n: int) -> str:
    """Why no judgement can be taken back; empty where one can."""
    if not pair.asked_more:
        return _("no further judgement was asked for")
    return "" if pair.open_slots > 0 else _("it has been given, or somebody has the pair on screen")


def chosen(campaign: Campaign, ids: Collection[int], *, back: bool = False) -> Chosen:
    """What asking for one more judgement of each of these pairs would come to, or with `back`
    taking one back: nothing is changed.

    Ids that are no pairs of the campaign are passed over. Raises CampaignError where it cannot be
    done to any, with the reason."""
    _check(campaign, ids, back=back)
    pairs = list(Pair.objects.filter(campaign=campaign, pk__in=ids).order_by("pk"))
    fit, refused = _fit(pairs, campaign.judgements_per_pair, why_not_back if back else why_not_more)
    if not fit:
        raise CampaignError(_nothing(refused))
    annotators = Q(judgements__current=True, judgements__membership__in=_active(campaign))
    judged = (
        Pair.objects.filter(pk__in=[pair.pk for pair in fit])
        .annotate(n=Count("judgements", filter=annotators))
        .values_list("n", flat=True)
    )
    n_active = _active(campaign).count()
    return Chosen(
        [pair.pk for pair in fit], refused, 0 if back else sum(n >= n_active for n in judged)
    )


def ask_for_one_more(campaign: Campaign, ids: Collection[int], *, actor: User | None) -> Chosen:
    """Ask for one more judgement of each; pairs of which it cannot be asked are left out and told.
    Raises CampaignError where that is all."""

    def ask(pair: Pair, n: int) -> None:
        pair.asked_more = (
            max(slots.wanted(pair, n), pair.counted) + 1 - n
        )  # also where it has more than the campaign asks for today

    return _change(campaign, ids, ask, back=False, actor=actor)


def take_one_more_back(campaign: Campaign, ids: Collection[int], *, actor: User | None) -> Chosen:
    """Take back one judgement of each that was asked for and that nobody has given, nor has on
    screen. Raises CampaignError where there is none."""

    def take(pair: Pair, n: int) -> None:
        pair.asked_more -= 1

    return _change(campaign, ids, take, back=True, actor=actor)


def pairs_named(campaign: Campaign, named: Collection[tuple[str, str]]) -> list[int]:
    """Row ids of the kept pairs with these topic and document ids. Raises CampaignError for one
    that is none, with the first of them."""
    rows = kept_pairs(campaign).filter(
        entry__topic__topic_id__in={topic for topic, _ in named},
        entry__docno__in={docno for _, docno in named},
    )
    known = {
        (topic, docno): pk
        for pk, topic, docno in rows.values_list("pk", "entry__topic__topic_id", "entry__docno")
    }
    if unknown := [" ".join(name) for name in named if name not in known]:
        says = ngettext(
            "%(n)s is no pair of the campaign, %(first)s for one.",
            "%(n)s are no pairs of the campaign, %(first)s for one.",
            len(unknown),
        )
        raise CampaignError(says % {"n": f"{len(unknown):,}", "first": unknown[0][:100]})
    return [known[name] for name in named]


def _active(campaign: Campaign):  # type: ignore[no-untyped-def]
    return campaign.memberships.filter(
        role=Membership.Role.ANNOTATOR, standing=Membership.Standing.ACTIVE
    ).values("pk")


def _check(campaign: Campaign, ids: Collection[int], *, back: bool) -> None:
    if not ids:
        raise Contradictory(_("Choose pairs first: check the boxes at the left of their rows."))
    if len(ids) > AT_ONCE:
        raise Contradictory(
            _("%(n)s pairs at once are too many; choose %(most)s at most.")
            % {"n": f"{len(ids):,}", "most": AT_ONCE}
        )
    if not back and campaign.state in NOT_RUNNING:
        raise CampaignError(NOT_RUNNING[Campaign.State(campaign.state)])
    if not back and campaign.is_over:
        raise CampaignError(_("The deadline has passed: extend it first."))


def _fit(
    pairs: Collection[Pair], n: int, why_not: Callable[[Pair, int], str]
) -> tuple[list[Pair], dict[str, int]]:
    reasons = [(pair, why_not(pair, n)) for pair in pairs]
    return [pair for pair, why in reasons if not why], dict(
        Counter(why for _, why in reasons if why)
    )


def _nothing(refused: dict[str, int]) -> str:
    return _("Nothing can be done: %(why)s.") % {
        "why": "; ".join(refused) or _("these are no pairs of this campaign")
    }


def _change(
    campaign: Campaign,
    ids: Collection[int],
    change: Callable[[Pair, int], None],
    *,
    back: bool,
    actor: User | None,
) -> Chosen:
    _check(campaign, ids, back=back)

    def work() -> Chosen:
        locked = slots.locked(
            Pair.objects.filter(campaign=campaign, pk__in=ids).values_list("pk", flat=True)
        )
        n = slots.per_pair(campaign.pk)
        fit, refused = _fit(locked.values(), n, why_not_back if back else why_not_more)
        if not fit:
            raise CampaignError(_nothing(refused))
        for pair in fit:
            change(pair, n)
        Pair.objects.bulk_update(fit, ["asked_more"], batch_size=slots.BATCH)
        slots.settle_unjudgeable(fit, n)
        slots.save_all(fit, campaign.pk)
        changed = [pair.pk for pair in fit]
        names = [
            " ".join(row)
            for row in Pair.objects.filter(pk__in=changed)
            .order_by("pk")
            .values_list("entry__topic__topic_id", "entry__docno")
        ]
        action = AuditAction.TOOK_ONE_MORE_BACK if back else AuditAction.ASKED_FOR_ONE_MORE
        record(
            campaign,
            actor,
            action,
            names[0] if len(names) == 1 else counted(len(names), "pair"),
            pairs=names,
        )
        return Chosen(changed, refused)

    return slots.retrying(work)
