"""How people do on pairs whose grade is known: the qualification before judging, and the gold pairs during it."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, F, Q

from annotation.models import Campaign, Judgement, Membership, Pair

BATCH = 500


class Score(NamedTuple):
    """right of judged; `total` pairs with a known grade."""

    right: int
    judged: int
    total: int

    @property
    def share(self) -> float | None:
        return self.right / self.judged if self.judged else None


def asked_of(membership: Membership) -> bool:
    """Whether the annotator still has to pass the qualification."""
    campaign = membership.campaign
    if not campaign.qualification_pass or membership.qualified_at is not None:
        return False
    return Pair.objects.filter(campaign=campaign, kind=Pair.Kind.QUALIFICATION).exists()


def feedback(pair: Pair, grade: int | None) -> dict[str, object]:
    """{right, gold_grade, explanation}; shown for qualification pairs only."""
    return {"right": grade is not None and grade == pair.gold_grade, "gold_grade": pair.gold_grade, "explanation": pair.gold_explanation}


def score(membership: Membership) -> Score:
    """How many qualification pairs the annotator got right, of those with a text; cannot judge is not right."""
    pairs = Pair.objects.filter(campaign=membership.campaign_id, kind=Pair.Kind.QUALIFICATION, without_text=False)
    own = Judgement.objects.filter(pair__in=pairs, membership=membership, current=True)
    counts = own.aggregate(judged=Count("pk"), right=Count("pk", filter=Q(grade=F("pair__gold_grade"))))
    return Score(counts["right"], counts["judged"], pairs.count())


def known_scores(campaign: Campaign) -> dict[int, dict[str, Score]]:
    """For each annotator's membership id: `qualification` and `gold`, how many were right of those judged."""
    kinds = (Pair.Kind.QUALIFICATION, Pair.Kind.GOLD)
    pairs = dict(campaign.pairs.exclude(kind=Pair.Kind.NORMAL).filter(kind__in=kinds).values_list("pk", "kind"))
    known = {kind: sum(its == kind for its in pairs.values()) for kind in kinds}
    ids = sorted(pairs)
    found: dict[tuple[int, str], list[int]] = {}
    for start in range(0, len(ids), BATCH):  # by the pairs, which are few, not by all judgements
        rows = Judgement.objects.filter(pair_id__in=ids[start : start + BATCH], current=True).exclude(standing=Judgement.Standing.TOO_FAST)
        counts = rows.values_list("membership_id", "pair__kind").annotate(judged=Count("pk"), right=Count("pk", filter=Q(grade=F("pair__gold_grade"))))
        for member, kind, judged, right in counts.order_by():
            sums = found.setdefault((member, kind), [0, 0])
            sums[0] += right
            sums[1] += judged
    scores: dict[int, dict[str, Score]] = {}
    for (member, kind), (right, judged) in found.items():
        scores.setdefault(member, {})[kind] = Score(right, judged, known[Pair.Kind(kind)])
    return scores
