"""How people do on pairs whose grade is known: the qualification before judging, and the gold pairs
during it."""

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

BATCH = 500
FAILED_MESSAGE = (
    "The qualification was not passed. The campaign's manager can let you try again or let you in."
)
CURRENT_ATTEMPT = Q(pk__gt=F("membership__qualification_after"))
"""Of answers to qualification pairs: those since the manager last let the annotator try again."""


class QualificationScore(NamedTuple):
    """right by the campaign's rule, and exactly the known grade, of judged; `total` pairs with a
    known grade."""

    right: int
    exact: int
    judged: int
    total: int

    @property
    def share(self) -> float | None:
        return self.right / self.judged if self.judged else None


def correct_answer_filter(campaign: Campaign, *, grade: str, gold: str) -> Q:
    """Return the filter for judgements that are right by the campaign's rule; `grade` and `gold`
    name the fields with the two grades."""
    scale = campaign.grades
    by_gold = [
        Q(**{gold: value, f"{grade}__in": right_grades(campaign.gold_rule, value, scale)})
        for value in scale.values
    ]
    return reduce(or_, by_gold)


def needs_qualification(annotator: Membership) -> bool:
    """Whether the annotator still has to pass the qualification."""
    campaign = annotator.campaign
    if not campaign.qualification_pass or annotator.qualified_at is not None:
        return False
    return get_special_pairs(campaign, Pair.Kind.QUALIFICATION).exists()


def answer_feedback(pair: Pair, grade: int | None, annotator: Membership) -> dict[str, object]:
    """{right, grade, gold_grade, explanation} of an answer, and {judged, n_right, total, needed,
    passed} of the test so far; shown for qualification pairs only. `annotator` with its campaign;
    passed: None while pairs are left."""
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
    """How many of `total` right answers let one pass."""
    return math.ceil(campaign.qualification_pass * total - 1e-9)


def qualification_result(campaign: Campaign, result: QualificationScore) -> bool | None:
    """None while pairs are left."""
    return (
        result.right >= required_correct(campaign, result.total)
        if result.judged >= result.total
        else None
    )


def get_single_key_warnings(campaign: Campaign) -> list[str]:
    """Return sentences for gold and for qualification that pressing one key all the time would
    pass; empty if it would not."""
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
    """The same for known grades (kind, grade) that the campaign, which need not be stored, has or
    will have."""
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
                "“%(grade)s” is correct for all %(n)s gold questions, so pressing a single "
                "key would pass. Add questions with other grades."
            )
            % figures
        )
    return (
        _(
            "“%(grade)s” is correct for %(right)s of %(n)s qualification questions, so "
            "pressing a single key would pass. Add questions with other grades."
        )
        % figures
    )


def get_score(annotator: Membership) -> QualificationScore:
    """How many qualification pairs the annotator got right, of those with a text; cannot judge is
    not right."""
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
    """Of judgements: how many are right by the campaign's rule, and how many have the known
    grade."""
    right = correct_answer_filter(campaign, grade="grade", gold="pair__gold_grade")
    return Count("pk", filter=right), Count("pk", filter=Q(grade=F("pair__gold_grade")))


def get_failed_annotators() -> QuerySet[Membership]:
    """Annotators of running campaigns who failed the qualification and wait for a manager."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    paused = Membership.objects.filter(
        standing=Membership.Standing.PAUSED, standing_reason=FAILED_MESSAGE, qualified_at=None
    )
    return (
        paused.filter(campaign__state__in=running).select_related("campaign").order_by("pseudonym")
    )


def chance_of_gold(campaign: Campaign) -> float:
    """Return the share of gold that pressing each key equally often gets right by the campaign's
    rule; NaN without gold."""
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
    """For each annotator's membership id: `qualification` and `gold`, right and exact of those
    judged."""
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
    for start in range(0, len(ids), BATCH):  # by the pairs, which are few, not by all judgements
        rows = Judgement.objects.filter(
            pair_id__in=ids[start : start + BATCH], current=True
        ).exclude(standing=Judgement.Standing.TOO_FAST)
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
