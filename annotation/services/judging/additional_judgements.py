"""Additional judgements of pairs that a manager selects, beyond the campaign's number: requests,
and withdrawal of requests without an answer.

Annotators never see a pair they have already judged, so each additional judgement is from another
annotator.
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
from annotation.core.limits import MAX_VALUES
from annotation.models import Campaign, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError, ContradictionError
from annotation.services.judging import slots
from assay.number_words import format_count

BATCH_SIZE = slots.BATCH
"""Maximum number of pairs selected at once, because one transaction changes them all."""
NOT_RUNNING_MESSAGES = {
    Campaign.State.DRAFT: gettext_lazy(
        "The campaign is not open yet, so no pair has a judgement. Open it first."
    ),
    Campaign.State.CLOSED: gettext_lazy("The campaign is closed. Reopen it first."),
}


@dataclass(frozen=True)
class SelectionResult:
    """The effect of a request for additional judgements of selected pairs.

    ids: row ids of the pairs that get one additional judgement each. refused: number of refused
    pairs by reason. judged_by_all: number of pairs in `ids` that every active annotator has judged,
    so that no one is left for the request.
    """

    ids: list[int]
    refused: dict[str, int] = field(default_factory=dict)
    judged_by_all: int = 0

    @property
    def reasons(self) -> list[str]:
        return [f"{format_count(n, 'pair')} left out: {why}." for why, n in self.refused.items()]


def no_addition_reason(pair: Pair, n: int) -> str:
    """Return why the pair cannot get an additional judgement, or an empty string if it can. n: the
    campaign's judgements per pair."""
    if pair.kind != Pair.Kind.NORMAL:
        return _(
            "control pairs (gold, qualification, calibration) can't receive additional judgements"
        )
    if pair.removed:
        return _("the topic is removed")
    if pair.is_excluded_by_depth:
        return _(
            "the pair is below the current judging depth; increase the depth under Planning options "
            "first"
        )
    if pair.unjudgeable:
        return _("annotators reported that it can't be judged")
    if pair.without_text:
        return _("its document has no text")
    if max(slots.needed_judgements(pair, n), pair.counted) >= MAX_VALUES["judgements_per_pair"]:
        return _("the pair already has the maximum of %(most)s judgements") % {
            "most": MAX_VALUES["judgements_per_pair"]
        }
    return ""


def no_withdrawal_reason(pair: Pair, n: int) -> str:
    """Return why no request can be withdrawn for the pair, or an empty string if one can."""
    if not pair.asked_more:
        return _("no additional judgement was requested")
    return (
        ""
        if pair.open_slots > 0
        else _("the additional judgement has been made, or an annotator has the pair on screen")
    )


def check_selection(
    campaign: Campaign, ids: Collection[int], *, is_withdrawal: bool = False
) -> SelectionResult:
    """Preview a request for one additional judgement per pair or, with `is_withdrawal`, its withdrawal.
    Changes nothing.

    Unknown ids are ignored. Raises CampaignError with the reason if it is impossible for every
    pair.
    """
    _check_request(campaign, ids, is_withdrawal=is_withdrawal)
    pairs = list(Pair.objects.filter(campaign=campaign, pk__in=ids).order_by("pk"))
    fit, refused = _split_by_reason(
        pairs,
        campaign.judgements_per_pair,
        no_withdrawal_reason if is_withdrawal else no_addition_reason,
    )
    if not fit:
        raise CampaignError(_nothing_possible_message(refused))
    annotators = Q(
        judgements__current=True, judgements__membership__in=_active_annotators(campaign)
    )
    judged = (
        Pair.objects.filter(pk__in=[pair.pk for pair in fit])
        .annotate(n=Count("judgements", filter=annotators))
        .values_list("n", flat=True)
    )
    n_active = _active_annotators(campaign).count()
    return SelectionResult(
        [pair.pk for pair in fit],
        refused,
        0 if is_withdrawal else sum(n >= n_active for n in judged),
    )


def request_additional_judgement(
    campaign: Campaign, ids: Collection[int], *, actor: User | None
) -> SelectionResult:
    """Request one additional judgement per pair. Pairs that cannot get one are left out and
    reported. Raises CampaignError if none can."""

    def ask(pair: Pair, n: int) -> None:
        # even if the pair already has more judgements than the campaign requires
        pair.asked_more = max(slots.needed_judgements(pair, n), pair.counted) + 1 - n

    return _change_needed(campaign, ids, ask, is_withdrawal=False, actor=actor)


def undo_additional_judgement(
    campaign: Campaign, ids: Collection[int], *, actor: User | None
) -> SelectionResult:
    """Withdraw one requested judgement per pair that is neither made nor in progress. Raises
    CampaignError if there is none."""

    def take(pair: Pair, n: int) -> None:
        pair.asked_more -= 1

    return _change_needed(campaign, ids, take, is_withdrawal=True, actor=actor)


def get_pair_ids(campaign: Campaign, pair_names: Collection[tuple[str, str]]) -> list[int]:
    """Return the row ids of the kept pairs with these topic and document IDs. Raises CampaignError
    with the first unknown pair."""
    rows = get_kept_pairs(campaign).filter(
        entry__topic__topic_id__in={topic for topic, _ in pair_names},
        entry__docno__in={docno for _, docno in pair_names},
    )
    known = {
        (topic, docno): pk
        for pk, topic, docno in rows.values_list("pk", "entry__topic__topic_id", "entry__docno")
    }
    if unknown := [" ".join(name) for name in pair_names if name not in known]:
        says = ngettext(
            "%(n)s pair is not in the campaign: %(first)s.",
            "%(n)s pairs are not in the campaign, for example %(first)s.",
            len(unknown),
        )
        raise CampaignError(says % {"n": f"{len(unknown):,}", "first": unknown[0][:100]})
    return [known[name] for name in pair_names]


def _active_annotators(campaign: Campaign):  # type: ignore[no-untyped-def]
    return campaign.memberships.filter(
        role=Membership.Role.ANNOTATOR, status=Membership.Status.ACTIVE
    ).values("pk")


def _check_request(campaign: Campaign, ids: Collection[int], *, is_withdrawal: bool) -> None:
    if not ids:
        raise ContradictionError(
            _("Select pairs first: check the boxes at the start of their rows.")
        )
    if len(ids) > BATCH_SIZE:
        raise ContradictionError(
            _("You selected %(n)s pairs. Select at most %(most)s at a time.")
            % {"n": f"{len(ids):,}", "most": BATCH_SIZE}
        )
    if not is_withdrawal and campaign.state in NOT_RUNNING_MESSAGES:
        raise CampaignError(NOT_RUNNING_MESSAGES[Campaign.State(campaign.state)])
    if not is_withdrawal and campaign.is_over:
        raise CampaignError(_("The deadline has passed. Extend it first."))


def _split_by_reason(
    pairs: Collection[Pair], n: int, why_not: Callable[[Pair, int], str]
) -> tuple[list[Pair], dict[str, int]]:
    reasons = [(pair, why_not(pair, n)) for pair in pairs]
    return [pair for pair, why in reasons if not why], dict(
        Counter(why for _, why in reasons if why)
    )


def _nothing_possible_message(refused: dict[str, int]) -> str:
    return _("No judgement was requested: %(why)s.") % {
        "why": "; ".join(refused) or _("these pairs are not in this campaign")
    }


def _change_needed(
    campaign: Campaign,
    ids: Collection[int],
    change: Callable[[Pair, int], None],
    *,
    is_withdrawal: bool,
    actor: User | None,
) -> SelectionResult:
    _check_request(campaign, ids, is_withdrawal=is_withdrawal)

    def work() -> SelectionResult:
        locked = slots.lock_pairs(
            Pair.objects.filter(campaign=campaign, pk__in=ids).values_list("pk", flat=True)
        )
        n = slots.get_judgements_per_pair(campaign.pk)
        fit, refused = _split_by_reason(
            locked.values(), n, no_withdrawal_reason if is_withdrawal else no_addition_reason
        )
        if not fit:
            raise CampaignError(_nothing_possible_message(refused))
        for pair in fit:
            change(pair, n)
        Pair.objects.bulk_update(fit, ["asked_more"], batch_size=slots.BATCH)
        slots.update_unjudgeable(fit, n)
        slots.save_pairs(fit, campaign.pk)
        changed = [pair.pk for pair in fit]
        names = [
            " ".join(row)
            for row in Pair.objects.filter(pk__in=changed)
            .order_by("pk")
            .values_list("entry__topic__topic_id", "entry__docno")
        ]
        action = (
            AuditAction.CANCELLED_A_JUDGEMENT
            if is_withdrawal
            else AuditAction.REQUESTED_A_JUDGEMENT
        )
        record_event(
            campaign,
            actor,
            action,
            names[0] if len(names) == 1 else format_count(len(names), "pair"),
            pairs=names,
        )
        return SelectionResult(changed, refused)

    return slots.run_with_retries(work)
