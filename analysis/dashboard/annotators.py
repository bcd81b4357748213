"""What each annotator's judgements look like beside the others'."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from analysis.core.agreement.people import AgainstOthers, agreement_of_counts
from analysis.core.agreement.raters import against_others
from analysis.core.flags import Flag, Portrait, flags
from analysis.core.unlike_others import clearly_below
from analysis.judgements.live import Live, live_rows
from analysis.judgements.rows import CANNOT, COUNTED, EXCLUDED, NO_GRADE, TOO_FAST, JudgementRows, table_of
from annotation.models import Campaign, Membership
from annotation.selectors.qualification import FAILED, Score, known_scores

LEAST_SHARED = 10
NOTHING = float("nan")


@dataclass(frozen=True, eq=False)
class Person:
    """One annotator. Seconds are active seconds of counted judgements; None where there is none to speak of.

    Of somebody excluded n is 0, and the rest says what the judgements made until then were like: why they are out stays to be seen.
    n_kept: judgements that times, shares and agreement are of; n of everybody else.
    """

    membership: Membership
    n: int
    n_kept: int
    n_fast: int
    n_cannot: int
    n_extra: int
    median: float | None
    q1: float | None
    q3: float | None
    median_by_grade: list[float | None]
    shares: list[float | None]
    shares_of_others: list[float | None]
    n_of_others: int
    agreement: AgainstOthers | None
    gold: Score | None
    qualification: Score | None
    last: datetime | None  # judged, or was served or answered a pair of any kind
    flags: list[Flag]

    @property
    def waits(self) -> bool:
        """Whether the person failed the qualification and waits for a manager."""
        member = self.membership
        return member.standing == Membership.Standing.PAUSED and member.standing_reason == FAILED and member.qualified_at is None

    @property
    def submitted(self) -> int:
        return self.n_kept + self.n_fast + self.n_cannot

    @property
    def fast_share(self) -> float | None:
        return self.n_fast / self.submitted if self.submitted else None

    @property
    def cannot_share(self) -> float | None:
        return self.n_cannot / self.submitted if self.submitted else None

    @property
    def kappa(self) -> float | None:
        """Undefined below LEAST_SHARED pairs shared with others: three pairs alike are no agreement of 1.00 that anybody may act on."""
        agreement = self.agreement
        return None if agreement is None or agreement.n < LEAST_SHARED or np.isnan(agreement.kappa) else agreement.kappa

    @property
    def kappa_reason(self) -> str:
        """Why there is no kappa."""
        if self.agreement is None or self.agreement.n == 0:
            return "no pair shared with others yet"
        if self.agreement.n < LEAST_SHARED:
            return f"{self.agreement.n} shared {'pair' if self.agreement.n == 1 else 'pairs'}; needs {LEAST_SHARED}"
        return f"one and the same grade only, on {self.agreement.n} shared pairs"


def people(campaign: Campaign, *, live: Live | None = None) -> list[Person]:
    """All annotators, in a number of queries that does not depend on how many they are."""
    live = live or live_rows(campaign)
    rows = live.rows
    members = list(campaign.memberships.filter(role=Membership.Role.ANNOTATOR).select_related("user").order_by("pseudonym"))
    names = campaign.grades.names
    known = known_scores(campaign)
    agreements = live.derived("leave one out", lambda: {loo.name: loo for loo in _agreements(campaign, live)})
    excluded = [m.pseudonym for m in members if m.standing == Membership.Standing.EXCLUDED]
    of_excluded = {name: loo for name in excluded if (loo := _agreement_of_excluded(campaign, live, name)) is not None}
    below = live.derived("clearly below", lambda: clearly_below(list(agreements.values())))
    place = {name: i for i, name in enumerate(rows.annotators)}
    n_rows = np.bincount(rows.annotator, minlength=len(place))
    newest = np.zeros(len(place), dtype=np.int64)
    newest[rows.annotator] = rows.judgement  # by ascending id, so the last one stays

    def own(name: str) -> Own:
        code = place.get(name)
        if code is None:
            return own_numbers(rows.where(np.empty(0, dtype=np.int64)), len(names))
        mark = (live.audit, int(n_rows[code]), int(newest[code]))
        return live.remembered(
            ("own numbers", name), mark, lambda: own_numbers(rows.where(np.flatnonzero(rows.annotator == code)), len(names))
        )

    all_counts = np.bincount(rows.grade[rows.counts], minlength=len(names)).astype(float)
    all_confusion = sum((loo.confusion for loo in agreements.values()), np.zeros((len(names), len(names)), dtype=np.int64))
    median_of_all = live.derived("median seconds", lambda: _median(rows.active[rows.counts]))
    return [
        _person(
            m,
            own(m.pseudonym),
            names,
            of_excluded.get(m.pseudonym) or agreements.get(m.pseudonym),
            known.get(m.pk, {}),
            all_counts,
            all_confusion,
            median_of_all,
            below.get(m.pseudonym, False),
        )
        for m in members
    ]


def _agreements(campaign: Campaign, live: Live) -> list[AgainstOthers]:
    table = live.table(campaign.grades.size)
    if not len(table):
        return []

    def one(name: str, joint: np.ndarray) -> AgainstOthers:
        return live.remembered(("leave one out", name), joint.tobytes(), lambda: agreement_of_counts(name, joint))

    return [one(name, joint) for name, joint in zip(table.annotators, against_others(table), strict=True)]


def _agreement_of_excluded(campaign: Campaign, live: Live, name: str) -> AgainstOthers | None:
    """Of the judgements made until the exclusion, against the label of those who count."""

    def compute() -> AgainstOthers | None:
        rows = live.rows
        if name not in rows.annotators:
            return None
        own = (rows.annotator == rows.annotators.index(name)) & was_counted(rows)
        kept = rows.where(rows.counts | own)
        kept = replace(kept, standing=np.full(len(kept), COUNTED, dtype=kept.standing.dtype))
        table = table_of(kept, n_grades=campaign.grades.size)
        if name not in table.annotators:
            return None
        return agreement_of_counts(name, against_others(table)[table.annotators.index(name)])

    return live.derived(f"leave excluded {name} out", compute)


@dataclass(frozen=True, eq=False)
class Own:
    """What is known from an annotator's own rows alone. n_kept, counts, quartiles, medians: with those that an exclusion took out."""

    n: int
    n_kept: int
    n_fast: int
    n_cannot: int
    n_extra: int
    counts: np.ndarray
    quartiles: tuple[float, float, float] | None
    median_by_grade: list[float | None]
    last: datetime | None


def own_numbers(own: JudgementRows, n_grades: int) -> Own:
    """own: the rows of one annotator."""
    counted = was_counted(own)
    seconds = own.active[counted]
    timed = seconds[~np.isnan(seconds)]
    fast = int((own.standing == TOO_FAST).sum())
    q1, median, q3 = (float(v) for v in np.quantile(timed, [0.25, 0.5, 0.75])) if len(timed) else (NOTHING,) * 3
    return Own(
        n=int(own.counts.sum()),
        n_kept=int(counted.sum()),
        n_fast=fast,
        n_cannot=int((own.standing == CANNOT).sum()),
        n_extra=int(((own.grade != NO_GRADE) & ~counted).sum()) - fast,
        counts=np.bincount(own.grade[counted], minlength=n_grades).astype(float),
        quartiles=(q1, median, q3) if len(timed) else None,
        median_by_grade=[_median(own.active[counted & (own.grade == grade)]) for grade in range(n_grades)],
        last=datetime.fromtimestamp(float(own.judged_at.max()), UTC) if len(own) else None,
    )


def was_counted(rows: JudgementRows) -> np.ndarray:
    """(n) of each row whether it counts, or did until its annotator was excluded."""
    return rows.counts | ((rows.standing == EXCLUDED) & (rows.grade != NO_GRADE))


def _person(
    member: Membership,
    own: Own,
    names: list[str],
    agreement: AgainstOthers | None,
    known: dict[str, Score],
    all_counts: np.ndarray,
    all_confusion: np.ndarray,
    median_of_all: float | None,
    below_others: bool,
) -> Person:
    own_counts, n = own.counts, own.n_kept
    is_out = member.standing == Membership.Standing.EXCLUDED
    q1, median, q3 = own.quartiles or (None, None, None)
    gold = known.get("gold")
    others_counts = all_counts if is_out else all_counts - own_counts
    portrait = Portrait(
        n=n,
        n_fast=own.n_fast,
        n_cannot=own.n_cannot,
        median_seconds=NOTHING if median is None else median,
        cohort_median_seconds=NOTHING if median_of_all is None else median_of_all,
        kappa=agreement.kappa if agreement else NOTHING,
        low=agreement.interval.low if agreement else NOTHING,
        high=agreement.interval.high if agreement else NOTHING,
        n_shared=agreement.n if agreement else 0,
        shares=own_counts / n if n else own_counts,
        cohort_shares=others_counts / others_counts.sum() if others_counts.sum() else others_counts,
        confusion=agreement.confusion if agreement else np.zeros_like(all_confusion),
        cohort_confusion=all_confusion - agreement.confusion if agreement and not is_out else all_confusion,
        below_others=below_others,
        gold_right=gold.right if gold else 0,
        gold_judged=gold.judged if gold else 0,
    )
    return Person(
        membership=member,
        n=own.n,
        n_kept=n,
        n_fast=own.n_fast,
        n_cannot=own.n_cannot,
        n_extra=own.n_extra,
        median=median,
        q1=q1,
        q3=q3,
        median_by_grade=own.median_by_grade,
        shares=_shares(own_counts),
        shares_of_others=_shares(others_counts),
        n_of_others=int(others_counts.sum()),
        agreement=agreement,
        gold=gold,
        qualification=known.get("qualification"),
        last=max((moment for moment in (own.last, member.last_seen) if moment is not None), default=None),
        flags=[] if is_out else flags(portrait, names),
    )


def _shares(counts: np.ndarray) -> list[float | None]:
    total = float(counts.sum())
    return [float(n) / total if total else None for n in counts]


def _median(seconds: np.ndarray) -> float | None:
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None
