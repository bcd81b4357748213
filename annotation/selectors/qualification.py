"""Scores of annotators on pairs with known grades: the qualification test before judging, and gold
pairs during it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.core.gold_rules import best_single_key, is_right, right_grades
from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs, get_special_pairs
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION

BATCH = 500
CURRENT_ATTEMPT = Q(pk__gt=F("membership__qualification_after"))
"""Filter for answers in the current attempt of the qualification test."""


class QualificationScore(NamedTuple):
    """A score on pairs with known grades. right: correct by the campaign's rule. exact: equal to
    the known grade. judged: number of judgements. total: number of pairs."""

    right: int
    exact: int
    judged: int
    total: int

    @property
    def share(self) -> float | None:
        return self.right / self.judged if self.judged else None

    @property
    def exact_share(self) -> float | None:
        return self.exact / self.judged if self.judged else None


def correct_answer_filter(campaign: Campaign, *, grade: str, gold: str) -> Q:
    """Return a filter for judgements that are correct by the campaign's rule. grade, gold: names of
    the fields with the given and the known grade."""
    scale = campaign.grades
    by_gold = [
        Q(**{gold: value, f"{grade}__in": right_grades(campaign.gold_rule, value, scale)})
        for value in scale.values
    ]
    return reduce(or_, by_gold)


def needs_qualification(annotator: Membership) -> bool:
    """Return whether the annotator must still pass the qualification test."""
    campaign = annotator.campaign
    if not campaign.qualification_pass or annotator.qualified_at is not None:
        return False
    return get_special_pairs(campaign, Pair.Kind.QUALIFICATION).exists()


def answer_feedback(pair: Pair, grade: int | None, annotator: Membership) -> dict[str, object]:
    """Return the feedback after a qualification answer: {right, grade, gold_grade, explanation} for
    the answer, and {judged, n_right, total, needed, passed} for the test so far.

    annotator: with its campaign loaded. passed: None while pairs are left.
    """
    result = get_score(annotator)
    return {
        "right": pair.gold_grade is not None
        and is_right(
            annotator.campaign.gold_rule, grade, pair.gold_grade, annotator.campaign.grades
        ),
        "grade": grade,
        "gold_grade": pair.gold_grade,
        "explanation": pair.gold_explanation,
        "judged": result.judged,
        "n_right": result.right,
        "total": result.total,
        "needed": required_correct(annotator.campaign, result.total),
        "passed": qualification_result(annotator.campaign, result),
    }


def required_correct(campaign: Campaign, total: int) -> int:
    """Return how many of `total` answers must be correct to pass the qualification test."""
    return math.ceil(campaign.qualification_pass * total - 1e-9)


def qualification_result(campaign: Campaign, result: QualificationScore) -> bool | None:
    """Return whether the annotator has passed the qualification test, None while pairs are left."""
    return (
        result.right >= required_correct(campaign, result.total)
        if result.judged >= result.total
        else None
    )


def get_single_key_warnings(campaign: Campaign) -> list[str]:
    """Return a warning for the gold pairs, the qualification pairs or both if an annotator who
    always gives the same grade would pass."""
    rows = (
        get_kept_pairs(campaign)
        .exclude(kind=Pair.Kind.NORMAL)
        .filter(gold_grade__isnull=False)
        .values_list("kind", "gold_grade")
    )
    return make_single_key_warnings(
        [(kind, grade) for kind, grade in rows if grade is not None], campaign
    )


def make_single_key_warnings(golds: Iterable[tuple[str, int]], campaign: Campaign) -> list[str]:
    """Return a warning for each kind of gold question that annotators would pass by always pressing
    the same key. golds: (kind, grade), saved or not."""
    grades_of: dict[str, list[int]] = {Pair.Kind.GOLD.value: [], Pair.Kind.QUALIFICATION.value: []}
    for kind, grade in golds:
        if kind in grades_of:
            grades_of[kind].append(grade)
    return [
        says
        for kind, grades in grades_of.items()
        if (says := _single_key_warning(kind, grades, campaign))
    ]


def _single_key_warning(kind: str, golds: Sequence[int], campaign: Campaign) -> str:
    if len(golds) < 2:
        return ""
    grade, n_right = best_single_key(campaign.gold_rule, golds, campaign.grades)
    if n_right < (
        required_correct(campaign, len(golds))
        if kind == Pair.Kind.QUALIFICATION and campaign.qualification_pass
        else len(golds)
    ):
        return ""
    figures = {
        "grade": campaign.grades.names[grade],
        "right": f"{n_right:,}",
        "n": f"{len(golds):,}",
    }
    if kind == Pair.Kind.GOLD:
        return (
            _(
                "“%(grade)s” is the correct grade for all %(n)s gold questions, so annotators "
                "who always choose it would pass. Add questions with other grades."
            )
            % figures
        )
    return (
        _(
            "“%(grade)s” is the correct grade for %(right)s of %(n)s qualification questions, "
            "so annotators who always choose it would pass. Add questions with other grades."
        )
        % figures
    )


def get_score(annotator: Membership) -> QualificationScore:
    """Return the annotator's score on qualification pairs with a text. "Cannot judge" counts as
    incorrect."""
    right, exact = _count_correct_and_exact(annotator.campaign)
    pairs = get_special_pairs(annotator.campaign, Pair.Kind.QUALIFICATION).filter(
        without_text=False
    )
    own = Judgement.objects.filter(
        CURRENT_ATTEMPT, pair__in=pairs, membership=annotator, current=True
    )
    counts = own.aggregate(judged=Count("pk"), right=right, exact=exact)
    return QualificationScore(counts["right"], counts["exact"], counts["judged"], pairs.count())


def _count_correct_and_exact(campaign: Campaign) -> tuple[Count, Count]:
    """Return two aggregates: the number of judgements that are correct by the campaign's rule, and
    of those equal to the known grade."""
    right = correct_answer_filter(campaign, grade="grade", gold="pair__gold_grade")
    return Count("pk", filter=right), Count("pk", filter=Q(grade=F("pair__gold_grade")))


def get_failed_annotators() -> QuerySet[Membership]:
    """Return annotators of running campaigns who failed the qualification test and wait for a
    manager."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    paused = Membership.objects.filter(
        status=Membership.Status.PAUSED, status_reason=FAILED_QUALIFICATION, qualified_at=None
    )
    return (
        paused.filter(campaign__state__in=running).select_related("campaign").order_by("pseudonym")
    )


def chance_of_gold(campaign: Campaign) -> float:
    """Return the expected share of correct gold answers if grades are given uniformly at random,
    NaN without gold pairs."""
    scale, golds = (
        campaign.grades,
        get_special_pairs(campaign, Pair.Kind.GOLD).values_list("gold_grade", flat=True),
    )
    shares = [
        len(right_grades(campaign.gold_rule, gold, scale)) / len(scale)
        for gold in golds
        if gold is not None
    ]
    return sum(shares) / len(shares) if shares else math.nan


def get_known_scores(campaign: Campaign) -> dict[int, dict[str, QualificationScore]]:
    """Return each annotator's scores on qualification and gold pairs, by membership ID and then by
    kind of pair (`qualification`, `gold`)."""
    kinds = (Pair.Kind.QUALIFICATION, Pair.Kind.GOLD)
    pairs = dict(
        get_kept_pairs(campaign)
        .exclude(kind=Pair.Kind.NORMAL)
        .filter(kind__in=kinds)
        .values_list("pk", "kind")
    )
    known = {kind: sum(its == kind for its in pairs.values()) for kind in kinds}
    ids = sorted(pairs)
    sums: dict[tuple[int, str], list[int]] = {}
    right, exact = _count_correct_and_exact(campaign)
    for start in range(0, len(ids), BATCH):
        # starts from the pairs, because they are few compared with all judgements
        rows = Judgement.objects.filter(
            pair_id__in=ids[start : start + BATCH], current=True
        ).exclude(status=Judgement.Status.TOO_FAST)
        rows = rows.filter(CURRENT_ATTEMPT | ~Q(pair__kind=Pair.Kind.QUALIFICATION))
        counts = rows.values_list("membership_id", "pair__kind").annotate(
            right=right, exact=exact, judged=Count("pk")
        )
        for member, kind, *counted in counts.order_by():
            sums[member, kind] = [
                a + b for a, b in zip(sums.get((member, kind), [0, 0, 0]), counted, strict=True)
            ]
    scores: dict[int, dict[str, QualificationScore]] = {}
    for (member, kind), (n_right, n_exact, n_judged) in sums.items():
        scores.setdefault(member, {})[kind] = QualificationScore(
            n_right, n_exact, n_judged, known[Pair.Kind(kind)]
        )
    return scores
