"""Content of the Quality page on agreement: the verdict, each annotator's effect on it, and the
table of all coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.annotators import AnnotatorSummary
from annotation.models import Membership
from assay.charts.sparklines import inline_interval
from assay.labels.agreement.interpretation import interpretation_label
from assay.number_words import format_count, format_minus

MIN_RISE = 0.05
"""Smallest rise of alpha that the verdict mentions when an annotator is left out."""
MAX_ANNOTATORS_SHOWN = 8
VERDICTS = {
    "poor": gettext_lazy("Poor agreement: alpha %(alpha)s."),
    "slight": gettext_lazy("Slight agreement: alpha %(alpha)s."),
    "fair": gettext_lazy("Fair agreement: alpha %(alpha)s."),
    "moderate": gettext_lazy("Moderate agreement: alpha %(alpha)s."),
    "substantial": gettext_lazy("Substantial agreement: alpha %(alpha)s."),
    "almost perfect": gettext_lazy("Almost perfect agreement: alpha %(alpha)s."),
}


@dataclass(frozen=True)
class AgreementVerdict:
    """A description of a campaign's agreement in words.

    text: one sentence. without: a second sentence about the annotator whose exclusion would raise
    alpha most, or empty. annotator: the pseudonym of that annotator, or empty. is_good: whether
    agreement is at least substantial. evidence: what alpha is based on.
    """

    text: str
    without: str
    annotator: str
    is_good: bool
    evidence: str


def describe_agreement(heavy: dict[str, Any], n_grades: int) -> AgreementVerdict:
    """Describe stored agreement statistics (`agreement_metrics.newest_agreement`) in words."""
    graded = heavy["graded"]
    alpha = graded["alpha"]
    low, high = graded["alpha_ci"]
    evidence = _(
        "Krippendorff's alpha, ordinal, on %(grades)s grades: %(judgements)s judgements of "
        "%(pairs)s pairs."
    ) % {
        "grades": n_grades,
        "judgements": f"{heavy['n_judgements']:,}",
        "pairs": f"{heavy['n_pairs']:,}",
    }
    if alpha is None:
        reason = graded.get("reasons", {}).get("alpha") or _("no pair has two judgements")
        undefined = _("Agreement is undefined: %(reason)s.") % {"reason": reason}
        return AgreementVerdict(undefined, "", "", False, evidence)
    label = interpretation_label(alpha) or "poor"
    shown = _format_alpha(alpha)
    if low is not None and high is not None:
        shown = _("%(alpha)s (95%% CI %(low)s to %(high)s)") % {
            "alpha": shown,
            "low": _format_alpha(low),
            "high": _format_alpha(high),
        }
    elif graded.get("alpha_ci_reason"):
        evidence += " " + _("No confidence interval: %(reason)s.") % {
            "reason": graded["alpha_ci_reason"]
        }
    known = {
        name: value
        for name, value in heavy.get("alpha_without", {}).items()
        if value is not None and value - alpha >= MIN_RISE
    }
    annotator = max(known, key=known.__getitem__, default="")
    without = (
        _("Without %(annotator)s, alpha would be %(alpha)s.")
        % {"annotator": annotator, "alpha": _format_alpha(known[annotator])}
        if annotator
        else ""
    )
    return AgreementVerdict(
        str(VERDICTS[label]) % {"alpha": shown},
        without,
        annotator,
        label in ("substantial", "almost perfect"),
        evidence,
    )


def _format_alpha(value: float) -> str:
    return format_minus(f"{value:.2f}")


@dataclass(frozen=True)
class AnnotatorAgreementRow:
    """One annotator's row in the table of agreement. interval: confidence interval of kappa, in
    words. alpha_without: alpha of all others, None if not computed or undefined. is_worst: whether
    the verdict names this annotator."""

    person: AnnotatorSummary
    dot: SafeString
    interval: str
    alpha_without: float | None
    is_worst: bool


def list_agreement_rows(
    people: Sequence[AnnotatorSummary], heavy: dict[str, Any] | None, worst: str
) -> list[AnnotatorAgreementRow]:
    """Return rows of the annotators who are not excluded and whose kappa is defined, lowest kappa
    first."""
    without = (heavy or {}).get("alpha_without", {})
    rows = []
    for person in people:
        if person.kappa is None or person.membership.status == Membership.Status.EXCLUDED:
            continue
        interval = person.agreement.interval if person.agreement else None
        low, high = (
            (interval.low, interval.high) if interval and not interval.reason else (None,) * 2
        )
        name = person.membership.pseudonym
        dot = mark_safe(inline_interval(person.kappa, low, high, what="kappa"))
        said = (
            _("%(low)s to %(high)s") % {"low": _format_alpha(low), "high": _format_alpha(high)}
            if low is not None and high is not None
            else ""
        )
        rows.append(AnnotatorAgreementRow(person, dot, said, without.get(name), name == worst))
    return sorted(rows, key=lambda row: row.person.kappa or 0.0)


@dataclass(frozen=True)
class CoefficientRow:
    """One agreement coefficient, for all grades and for binary labels. Undefined values are None,
    with the reason. note: what the coefficient measures."""

    name: str
    note: str
    graded: float | None
    graded_reason: str
    binary: float | None
    binary_reason: str

    @property
    def reason(self) -> str:
        return (self.graded_reason if self.graded is None else "") or (
            self.binary_reason if self.binary is None else ""
        )


def list_coefficients(heavy: dict[str, Any]) -> list[CoefficientRow]:
    named = [
        (
            "Krippendorff's alpha",
            "alpha",
            "alpha",
            _("ordinal for graded labels, nominal for binary labels"),
        ),
        (
            _("Kappa with the others"),
            "mean_kappa_others",
            "kappa_others",
            _("excludes the annotator's own vote"),
        ),
        (
            _("Kappa with final label"),
            "mean_kappa",
            "kappa",
            _("mean over annotators, including their own votes"),
        ),
        (
            _("Expected by chance"),
            "chance_floor",
            "chance_floor",
            _("chance-level kappa with the final label"),
        ),
        (
            _("Pairwise kappa"),
            "mean_pairwise_kappa",
            "pairwise_kappa",
            _("mean over %(pairs)s of annotators with at least 10 shared pairs")
            % {"pairs": format_count(heavy["graded"]["pairs_of_annotators"], "pair")},
        ),
        (
            _("Percent agreement"),
            "percent",
            "percent",
            _("share of judgement pairs with the same grade"),
        ),
        (
            "Fleiss' kappa",
            "fleiss",
            "fleiss",
            _("available if all pairs have the same number of judgements"),
        ),
    ]
    graded, binary = heavy["graded"], heavy["binary"]
    return [
        CoefficientRow(
            name,
            note,
            graded[key],
            graded.get("reasons", {}).get(reason, ""),
            binary[key],
            binary.get("reasons", {}).get(reason, ""),
        )
        for name, key, reason, note in named
    ]
