"""The payment file of a campaign: hours and payment of each annotator, with names, for managers.
Releases do not contain it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import IO

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, Judgement, Membership
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.formats.delimited import escape_formula
from assay.labels.annotator_types import AnnotatorType
from pooling.platform.snapshot import snapshot

RATE_UNITS = ("hour", "judgement")
COLUMNS = (
    *(
        "annotator",
        "name",
        "account",
        "status",
        "judgements",
        "too_fast",
        "without_time",
        "active_hours",
    ),
    *("rate", "per", "amount"),
)
MAX_RATE = Decimal(1_000_000)
CENT = Decimal("0.01")


@dataclass(frozen=True)
class PayRate:
    """The amount paid per active hour or per judgement. Without an amount (None), no payment is
    computed. The file contains numbers without a currency."""

    amount: Decimal | None = None
    per: str = "hour"

    @classmethod
    def parse(cls, amount: str, per: str) -> PayRate:
        """Parse the pay rate as entered. Raises CampaignError if it is invalid."""
        per = per or "hour"
        if per not in RATE_UNITS:
            raise CampaignError(
                _("A rate must be per %(known)s, not per %(per)s.")
                % {"known": " or per ".join(RATE_UNITS), "per": per[:40]}
            )
        if not amount.strip():
            return cls(None, per)
        try:
            rate = Decimal(amount.strip())
        except InvalidOperation:
            raise CampaignError(
                _("Enter a number such as 12.50 instead of %(amount)s.")
                % {"amount": repr(amount[:40])}
            ) from None
        if not rate.is_finite() or not 0 <= rate <= MAX_RATE:
            raise CampaignError(
                _("The rate must be between 0 and %(most)s.") % {"most": f"{MAX_RATE:,}"}
            )
        return cls(rate, per)


@dataclass(frozen=True)
class AnnotatorWork:
    """The work of one annotator.

    judgements: all answers except too-fast ones, including those with the status cannot judge,
    extra or excluded, qualification pairs, and pairs of topics that were removed later. too_fast:
    answers below the minimum time. without_time: answers with unknown active time. active_ms: total
    active time of all answers.
    """

    annotator: Membership
    judgements: int
    too_fast: int
    without_time: int
    active_ms: int

    @property
    def hours(self) -> Decimal:
        return Decimal(self.active_ms) / 3_600_000

    def amount(self, rate: PayRate) -> Decimal | None:
        """Return the annotator's payment rounded to cents, half a cent upwards."""
        if rate.amount is None:
            return None
        worked = self.hours if rate.per == "hour" else Decimal(self.judgements)
        return (worked * rate.amount).quantize(CENT, ROUND_HALF_UP)


def summarise_work(campaign: Campaign) -> list[AnnotatorWork]:
    """Return the work of all annotators except LLM judges, by pseudonym. A revised judgement counts
    once, with the active time of all its revisions."""
    answers = (
        Judgement.objects.filter(membership__campaign=campaign, current=True)
        .values("membership")
        .order_by()
    )
    too_fast = Q(status=Judgement.Status.TOO_FAST)
    sums = {
        row["membership"]: (row["n"], row["fast"], row["unknown"], row["ms"] or 0)
        for row in answers.annotate(
            n=Count("pk", filter=~too_fast),
            fast=Count("pk", filter=too_fast),
            unknown=Count("pk", filter=Q(active_ms=None)),
            ms=Sum("active_ms"),
        )
    }
    members = (
        campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
        .exclude(annotator_type=AnnotatorType.LLM)
        .select_related("user")
    )
    return [
        AnnotatorWork(member, *sums.get(member.pk, (0, 0, 0, 0)))
        for member in members.order_by("pseudonym")
    ]


def write_payment(campaign: Campaign, rate: PayRate, out: IO[str]) -> int:
    """Write the payments as a CSV file, with cells escaped so that spreadsheets do not run them as
    formulas. Returns the number of annotators."""
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    everybody = summarise_work(campaign)
    for work in everybody:
        member, amount = work.annotator, work.amount(rate)
        texts = (
            member.pseudonym,
            member.user.get_full_name(),
            member.user.get_username(),
            member.status,
        )
        numbers = (work.judgements, work.too_fast, work.without_time, f"{work.hours:.4f}")
        given = ("", "", "") if amount is None else (str(rate.amount), rate.per, str(amount))
        table.writerow([*map(escape_formula, texts), *numbers, *given])
    return len(everybody)


def export_payment_text(campaign: Campaign, rate: PayRate, *, actor: User | None) -> str:
    """Return the complete payment file and record the export in the audit log."""
    text = io.StringIO()
    with snapshot():
        write_payment(campaign, rate, text)
    given = {} if rate.amount is None else {"rate": str(rate.amount), "per": rate.per}
    record_event(campaign, actor, AuditAction.EXPORTED, payment_filename(campaign), **given)
    return text.getvalue()


def payment_filename(campaign: Campaign) -> str:
    """Return the name of the payment file. It says if annotators are simulated."""
    return f"{campaign.slug}{'-simulated' if campaign.simulated else ''}-payment.csv"
