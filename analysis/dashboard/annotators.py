"""Comparison of each annotator's judgements with those of the other annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.dashboard.annotator_metrics import (
    AnnotatorColumns,
    counted_before_exclusion,
    get_annotator_columns,
)
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Membership
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION
from annotation.selectors.qualification import (
    QualificationScore,
    chance_of_gold,
    get_known_scores,
)
from assay.campaigns.flags import (
    GOLD_AT_CHANCE,
    RANDOM_LIKE_FLAGS,
    AnnotatorFlag,
    AnnotatorProfile,
    find_flags,
    sort_flags,
)
from assay.campaigns.outlier_annotators import Outlier, find_outliers
from assay.labels.aggregation.majority import lowest_mode
from assay.labels.agreement.annotators import (
    AnnotatorKappa,
    compute_annotator_kappas,
    compute_exclusion_effect,
)
from assay.labels.agreement.raters import count_against_others_by_topic, count_by_topic
from assay.natural_order import natural_sort_key

MIN_SHARED = 10
UNDEFINED = float("nan")


@dataclass(frozen=True, eq=False)
class AnnotatorSummary:
    """The statistics of one annotator. Times are active seconds of counted judgements, None if
    undefined.

    For an excluded annotator, n is 0 and the other values describe the judgements made until the
    exclusion, so that the reason for it stays visible. n_kept: judgements behind times, shares and
    agreement. It equals n for annotators who are not excluded. hours: active hours of all
    judgements with a time, whatever their status. n_topics: topics with at least one judgement.
    """

    membership: Membership
    n: int
    n_kept: int
    n_fast: int
    n_cannot: int
    n_extra: int
    n_topics: int
    hours: float
    median: float | None
    q1: float | None
    q3: float | None
    median_by_grade: list[float | None]
    shares: list[float | None]
    shares_of_others: list[float | None]
    n_of_others: int
    agreement: AnnotatorKappa | None
    gold: QualificationScore | None
    qualification: QualificationScore | None
    last: datetime | None  # last judgement, assignment or answer of any kind of pair
    flags: list[AnnotatorFlag]
    outlier: Outlier | None = None

    @property
    def waits(self) -> bool:
        """Return whether the annotator failed the qualification test and waits for a manager's
        decision."""
        member = self.membership
        return (
            member.status == Membership.Status.PAUSED
            and member.status_reason == FAILED_QUALIFICATION
            and member.qualified_at is None
        )

    @property
    def kappa(self) -> float | None:
        """Return the annotator's pairwise kappa with the others. It is undefined below MIN_SHARED
        shared pairs, because perfect agreement on three pairs is not evidence."""
        agreement = self.agreement
        return (
            None
            if agreement is None or agreement.n < MIN_SHARED or np.isnan(agreement.kappa)
            else agreement.kappa
        )

    @property
    def kappa_reason(self) -> str:
        """Return why the annotator's kappa is undefined."""
        if self.agreement is None or self.agreement.n == 0:
            return _("no shared pairs yet")
        if self.agreement.n < MIN_SHARED:
            says = ngettext(
                "%(n)s shared pair; needs %(least)s",
                "%(n)s shared pairs; needs %(least)s",
                self.agreement.n,
            )
            return says % {"n": self.agreement.n, "least": MIN_SHARED}
        return _("only one grade on %(n)s shared pairs") % {"n": self.agreement.n}


def list_annotators(
    campaign: Campaign, *, live: CampaignSnapshot | None = None
) -> list[AnnotatorSummary]:
    """Return the statistics of all annotators, sorted by pseudonym, with a fixed number of
    queries."""
    live = live or get_snapshot(campaign)
    members = list(
        campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
        .select_related("user", "guest__panel")
        .order_by("pseudonym")
    )
    names = campaign.grades.names
    known = get_known_scores(campaign)
    for member in members:
        member.campaign = campaign  # the target of members without their own is the campaign's
    gold = gold_results(campaign, known)
    depends_on = (
        live.newest,
        live.audit,
        names,
        known,
        gold,
        [(member.pk, member.status) for member in members],
    )
    figures = live.derived(
        "people",
        lambda: [_member_summary(m, known.get(m.pk, {}), gold, campaign, live) for m in members],
        depends_on=depends_on,
    )
    return [
        replace(person, membership=member, last=_next_refresh(person.last, member.last_seen))
        for person, member in zip(figures, members, strict=True)
    ]


def find_annotator(campaign: Campaign, pseudonym: str) -> AnnotatorSummary | None:
    """Return the statistics of one annotator, or None if the pseudonym is unknown."""
    live = get_snapshot(campaign)
    member = (
        campaign.memberships.filter(role=Membership.Role.ANNOTATOR, pseudonym=pseudonym)
        .select_related("user", "guest")
        .first()
    )
    if member is None:
        return None
    member.campaign = campaign
    known = get_known_scores(campaign)
    person = _member_summary(
        member, known.get(member.pk, {}), gold_results(campaign, known), campaign, live
    )
    return replace(person, last=_next_refresh(person.last, member.last_seen))


@dataclass(frozen=True)
class GoldResults:
    """Results of all annotators together on gold questions. right, judged: number of correct
    answers and of all answers. chance: expected share correct with random grades."""

    right: int
    judged: int
    chance: float

    def share_without(self, own_score: QualificationScore | None) -> float:
        """Return the share correct on gold questions of all annotators but this one, NaN if they
        have judged none."""
        right, judged = (
            (self.right - own_score.right, self.judged - own_score.judged)
            if own_score
            else (self.right, self.judged)
        )
        return right / judged if judged else UNDEFINED


NO_GOLD = GoldResults(0, 0, 0.0)


def gold_results(
    campaign: Campaign, scores_by_pseudonym: Mapping[int, dict[str, QualificationScore]]
) -> GoldResults:
    scores = [one["gold"] for one in scores_by_pseudonym.values() if "gold" in one]
    return (
        GoldResults(
            sum(one.right for one in scores),
            sum(one.judged for one in scores),
            chance_of_gold(campaign),
        )
        if scores
        else NO_GOLD
    )


def _member_summary(
    member: Membership,
    scores_by_pseudonym: dict[str, QualificationScore],
    gold: GoldResults,
    campaign: Campaign,
    live: CampaignSnapshot,
) -> AnnotatorSummary:
    """Compute the statistics of one annotator."""
    name, names = member.pseudonym, campaign.grades.names
    agreements = live.derived(
        "leave one out", lambda: {loo.name: loo for loo in _agreement_with_others(campaign, live)}
    )
    of_excluded = live.derived(
        "leave excluded out",
        lambda: {loo.name: loo for loo in _agreement_of_excluded(campaign, live)},
    )
    outliers = live.derived(
        "outliers",
        lambda: {
            one.name: one
            for one in find_outliers(live.table(campaign.grades.size), list(agreements.values()))
        },
    )
    cohort = live.derived("cohort", lambda: _cohort_figures(live, names, list(agreements.values())))
    agreement = of_excluded.get(name) if member.status == Membership.Status.EXCLUDED else None
    own = get_annotator_figures(get_annotator_columns(live, len(names)), name, len(names))
    return _build_summary(
        member,
        own,
        cohort,
        agreement or agreements.get(name),
        scores_by_pseudonym,
        gold,
        outliers.get(name),
    )


def _next_refresh(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _agreement_with_others(campaign: Campaign, live: CampaignSnapshot) -> list[AnnotatorKappa]:
    table = live.table(campaign.grades.size)
    return (
        compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))
        if len(table)
        else []
    )


def _agreement_of_excluded(campaign: Campaign, live: CampaignSnapshot) -> list[AnnotatorKappa]:
    """Compute the agreement of excluded annotators: their judgements until the exclusion, compared
    with the labels of the annotators who count."""
    rows, g = live.rows, campaign.grades.size
    own = np.flatnonzero(counted_before_exclusion(rows) & ~rows.counts)
    if not len(own):
        return []
    counts = np.bincount(
        live.pair[rows.counts] * g + rows.grade[rows.counts], minlength=len(live.pairs) * g
    ).reshape(-1, g)
    label = lowest_mode(counts)[live.pair[own]]
    shared = counts.sum(axis=1)[live.pair[own]] > 0
    person, own_grade = rows.annotator[own].astype(np.int64), rows.grade[own]
    who = np.unique(person)
    topic = live.pairs.topic[live.pair[own]]
    by_topic = count_by_topic(
        np.searchsorted(who, person)[shared],
        topic[shared],
        own_grade[shared],
        label[shared],
        n_grades=g,
    )
    return compute_annotator_kappas([rows.annotators[i] for i in who.tolist()], by_topic)


@dataclass(frozen=True, eq=False)
class CohortFigures:
    """Statistics of all annotators who are not excluded. counts: (n_grades,). confusion: (n_grades,
    n_grades). median: active seconds, None if undefined."""

    names: list[str]
    counts: np.ndarray
    confusion: np.ndarray
    median: float | None


def _cohort_figures(
    live: CampaignSnapshot, names: list[str], agreements: list[AnnotatorKappa]
) -> CohortFigures:
    rows = live.rows
    return CohortFigures(
        names=names,
        counts=np.bincount(rows.grade[rows.counts], minlength=len(names)).astype(float),
        confusion=sum(
            (loo.confusion for loo in agreements),
            np.zeros((len(names), len(names)), dtype=np.int64),
        ),
        median=_median_or_none(rows.active[rows.counts]),
    )


@dataclass(frozen=True, eq=False)
class AnnotatorFigures:
    """Statistics of one annotator's own judgements: one row of `AnnotatorColumns`, with None for
    undefined values."""

    n: int
    n_kept: int
    n_fast: int
    n_cannot: int
    n_extra: int
    n_topics: int
    active_s: float
    counts: np.ndarray
    quartiles: tuple[float, float, float] | None
    median_by_grade: list[float | None]
    last: datetime | None


def get_annotator_figures(figures: AnnotatorColumns, name: str, n_grades: int) -> AnnotatorFigures:
    """Return the statistics of an annotator's own judgements, zeros if there are no judgements."""
    at = figures.code.get(name)
    if at is None:
        return AnnotatorFigures(
            0, 0, 0, 0, 0, 0, 0.0, np.zeros(n_grades), None, [None] * n_grades, None
        )
    q1, median, q3 = figures.quartiles[at].tolist()
    return AnnotatorFigures(
        n=int(figures.n[at]),
        n_kept=int(figures.n_kept[at]),
        n_fast=int(figures.n_fast[at]),
        n_cannot=int(figures.n_cannot[at]),
        n_extra=int(figures.n_extra[at]),
        n_topics=int(figures.n_topics[at]),
        active_s=float(figures.active_s[at]),
        counts=figures.counts[at],
        quartiles=None if np.isnan(median) else (q1, median, q3),
        median_by_grade=[
            None if np.isnan(seconds) else seconds for seconds in figures.medians[at].tolist()
        ],
        last=None
        if np.isnan(figures.last[at])
        else datetime.fromtimestamp(float(figures.last[at]), UTC),
    )


def _build_summary(
    member: Membership,
    figures: AnnotatorFigures,
    cohort: CohortFigures,
    agreement: AnnotatorKappa | None,
    scores_by_pseudonym: dict[str, QualificationScore],
    gold_of_all: GoldResults,
    outlier: Outlier | None,
) -> AnnotatorSummary:
    own_counts, n = figures.counts, figures.n_kept
    is_out = member.status == Membership.Status.EXCLUDED
    q1, median, q3 = figures.quartiles or (None, None, None)
    gold = scores_by_pseudonym.get("gold")
    others_counts = cohort.counts if is_out else cohort.counts - own_counts
    portrait = AnnotatorProfile(
        n=n,
        n_fast=figures.n_fast,
        n_cannot=figures.n_cannot,
        median_seconds=UNDEFINED if median is None else median,
        cohort_median_seconds=UNDEFINED if cohort.median is None else cohort.median,
        kappa=agreement.kappa if agreement else UNDEFINED,
        low=agreement.over_pairs.low if agreement else UNDEFINED,
        high=agreement.over_pairs.high if agreement else UNDEFINED,
        n_shared=agreement.n if agreement else 0,
        shares=own_counts / n if n else own_counts,
        cohort_shares=others_counts / others_counts.sum() if others_counts.sum() else others_counts,
        confusion=agreement.confusion if agreement else np.zeros_like(cohort.confusion),
        cohort_confusion=cohort.confusion - agreement.confusion
        if agreement and not is_out
        else cohort.confusion,
        outlier=outlier,
        gold_right=gold.right if gold else 0,
        gold_exact=gold.exact if gold else 0,
        gold_judged=gold.judged if gold else 0,
        gold_chance=gold_of_all.chance,
        gold_others=gold_of_all.share_without(gold),
    )
    return AnnotatorSummary(
        membership=member,
        n=figures.n,
        n_kept=n,
        n_fast=figures.n_fast,
        n_cannot=figures.n_cannot,
        n_extra=figures.n_extra,
        n_topics=figures.n_topics,
        hours=figures.active_s / 3600,
        median=median,
        q1=q1,
        q3=q3,
        median_by_grade=figures.median_by_grade,
        shares=_grade_shares(own_counts),
        shares_of_others=_grade_shares(others_counts),
        n_of_others=int(others_counts.sum()),
        agreement=agreement,
        gold=gold,
        qualification=scores_by_pseudonym.get("qualification"),
        last=figures.last,
        flags=[] if is_out else find_flags(portrait, cohort.names),
        outlier=outlier,
    )


def _grade_shares(counts: np.ndarray) -> list[float | None]:
    total = float(counts.sum())
    return [float(n) / total if total else None for n in counts]


def _median_or_none(seconds: np.ndarray) -> float | None:
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None


@dataclass(frozen=True)
class RandomLikeAnnotator:
    """An annotator whose judgements may be unrelated to the documents. sign: one of RANDOM_LIKE_FLAGS.
    n_labels: labels that would be lost or change without them. alphas: alpha with and without their
    judgements, None if the sign is not about agreement."""

    pseudonym: str
    sign: str
    n_judgements: int
    n_labels: int
    alphas: Sequence[float] | None = None


def find_random_like_annotators(
    campaign: Campaign, live: CampaignSnapshot
) -> list[RandomLikeAnnotator]:
    """Return annotators whose judgements look random, those behind most labels first. Inactive
    annotators are included, excluded ones are not."""
    if len(live.rows.annotators) < 2:
        return []
    suspects = []
    for person in list_annotators(campaign, live=live):
        signs = [flag.name for flag in sort_flags(person.flags) if flag.name in RANDOM_LIKE_FLAGS]
        if signs:
            name, outlier = person.membership.pseudonym, person.outlier
            without = compute_exclusion_effect(live.table(campaign.grades.size), [name])
            suspects.append(
                RandomLikeAnnotator(
                    name,
                    signs[0],
                    without.n_judgements,
                    len(without.without_label) + len(without.changes),
                    (outlier.alpha, outlier.alpha_without)
                    if outlier and signs[0] != GOLD_AT_CHANCE
                    else None,
                )
            )
    return sorted(
        suspects,
        key=lambda one: (-one.n_labels, -one.n_judgements, natural_sort_key(one.pseudonym)),
    )
