"""Hourly pay of guests from a crowdsourcing panel, who get one payment for all their judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from analysis.dashboard.annotators import AnnotatorSummary
from annotation.models import GuestPanel


@dataclass(frozen=True)
class GuestPay:
    """The hourly pay of guests who reached their target and whose times are known.

    n: number of these guests. minutes: their median active time, None without guests. hourly: the
    payment divided by this time, None if the payment or the time is unknown or 0. is_low: whether
    it is below the minimum.
    """

    n: int
    minutes: float | None
    hourly: Decimal | None
    is_low: bool


def compute_guest_pay(
    hours: Sequence[float], reward: Decimal | None, minimum: Decimal | None
) -> GuestPay:
    """Compute the hourly pay of guests. hours: active hours of each finished guest. reward: payment
    per guest."""
    known = [value for value in hours if value > 0]
    typical = median(known) if known else None
    hourly = None if typical is None or reward is None else reward / Decimal(typical)
    return GuestPay(
        len(known),
        None if typical is None else typical * 60,
        hourly,
        hourly is not None and minimum is not None and hourly < minimum,
    )


def get_guest_pay(panel: GuestPanel, people: Sequence[AnnotatorSummary]) -> GuestPay:
    """Compute the hourly pay of a campaign's guests. people: memberships with `guest` loaded."""
    done = [
        person.hours
        for person in people
        if person.membership.is_guest
        and person.membership.n_judged >= (person.membership.goal or panel.judgements)
    ]
    return compute_guest_pay(done, panel.reward, panel.min_hourly_pay)
