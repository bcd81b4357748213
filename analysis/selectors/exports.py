"""What leaves a campaign: labels under chosen rules, every revision of every judgement, topics, and the pool with its provenance.

Whatever the order in which the database gives rows, the order here is that of the ids: the same data make the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.core.aggregation import ADJUDICATED, DECISIONS, METHODS, NONE, Aggregation
from analysis.core.labels import MISSING, LabelTable
from analysis.selectors.judgements import NO_GRADE, Rows, read_rows, table_of
from annotation.models import Campaign, Judgement, Pair
from pooling.formats.exports import RawJudgement
from pooling.formats.qrels import Qrels, qrels_of_rows

PAIRS_AT_ONCE = 400
Standing = Judgement.Standing


@dataclass(frozen=True)
class Choices:
    """Which judgements make labels, and how. threshold: lowest relevant grade, None for the campaign's own.

    min_seconds: faster judgements are left out, beyond those that the campaign itself found too fast. exclude: pseudonyms.
    """

    method: str = "majority"
    min_judgements: int = 2
    threshold: int | None = None
    with_gold: bool = True
    min_seconds: float = 0.0
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Choices:
        """From JSON or a form; what is not a choice is passed over, what is missing or None has its default."""
        known = {f.name: given[f.name] for f in fields(cls) if given.get(f.name) is not None}
        return cls(**known | {"exclude": tuple(sorted(known.get("exclude", ())))})

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"exclude": list(self.exclude)}

    def admits(self, rows: Rows) -> NDArray[np.bool_]:
        """(n) whether the row enters labels under these choices."""
        left_out = np.array([name in self.exclude for name in rows.annotators], dtype=bool)
        there = left_out[rows.annotator] if len(rows) else np.zeros(0, dtype=bool)
        gold = (rows.gold == NO_GRADE) | self.with_gold
        return rows.counts & gold & ~(rows.active < self.min_seconds) & ~there

    def words(self) -> list[str]:
        """For people: one short phrase a choice."""
        said = [self.method, f"at least {self.min_judgements} judgement{'' if self.min_judgements == 1 else 's'}"]
        if self.threshold is not None:
            said.append(f"relevant from grade {self.threshold}")
        if not self.with_gold:
            said.append("without gold pairs")
        if self.min_seconds:
            said.append(f"at least {self.min_seconds:g} s")
        if self.exclude:
            said.append(f"without {', '.join(self.exclude)}")
        return said


class Label(NamedTuple):
    """decision, binary_decision: `` for a method that decides otherwise. judgements: that entered the label."""

    topic: str
    document: str
    grade: int
    binary: int
    decision: str
    binary_decision: str
    judgements: int


@dataclass(frozen=True, eq=False)
class Labels:
    """A campaign's labels on both scales. rulings: the managers' own labels, which override, by (topic id, document id)."""

    choices: Choices
    threshold: int
    table: LabelTable
    graded: Aggregation
    binary: Aggregation
    rulings: dict[tuple[str, str], int]
    rows: list[Label]
    """Ascending by topic id and document id."""

    def qrels(self, grades: str) -> Qrels:
        """grades: `graded` or `binary`."""
        value = {"graded": "grade", "binary": "binary"}[grades]
        return qrels_of_rows(grades, ((row.topic, row.document, getattr(row, value)) for row in self.rows))

    @property
    def n_adjudicated(self) -> int:
        return sum(row.decision == DECISIONS[ADJUDICATED] for row in self.rows)


def n_grades(campaign: Campaign) -> int:
    """Size of the table of grades: one more than the highest grade of the scale."""
    return max((int(grade["value"]) for grade in campaign.scale), default=0) + 1


def labels(campaign: Campaign, choices: Choices, *, rows: Rows | None = None) -> Labels:
    """Labels under the choices. rows: the campaign's judgements, read unless given."""
    rows = read_rows(campaign) if rows is None else rows
    threshold = campaign.threshold if choices.threshold is None else choices.threshold
    table = table_of(rows, n_grades=n_grades(campaign), only=choices.admits(rows))
    method = METHODS[choices.method]
    rulings = adjudications(campaign, with_gold=choices.with_gold)
    graded = method(table, min_judgements=choices.min_judgements).adjudicated(rulings)
    on_two = {pair: int(grade >= threshold) for pair, grade in rulings.items()}
    binary = method(table.binary(threshold), min_judgements=choices.min_judgements).adjudicated(on_two)
    found = [
        Label(
            *table.pair_ids(pair),
            int(graded.label[pair]),
            int(binary.label[pair]),
            _decision(graded, pair),
            _decision(binary, pair),
            int(table.judgements_per_pair[pair]),
        )
        for pair in np.flatnonzero(graded.label != MISSING).tolist()
    ]
    judged = {table.pair_ids(pair) for pair in range(table.n_pairs)} if rulings else set()
    mark = DECISIONS[ADJUDICATED]
    found += [Label(*pair, grade, on_two[pair], mark, mark, 0) for pair, grade in rulings.items() if pair not in judged]
    return Labels(choices, threshold, table, graded, binary, rulings, sorted(found))


def _decision(aggregation: Aggregation, pair: int) -> str:
    code = NONE if aggregation.decision is None else int(aggregation.decision[pair])
    return DECISIONS.get(code, "")


def adjudications(campaign: Campaign, *, with_gold: bool = True) -> dict[tuple[str, str], int]:
    """The managers' own labels by (topic id, document id)."""
    ruled = campaign.pairs.filter(adjudicated_grade__isnull=False).exclude(kind=Pair.Kind.QUALIFICATION)
    if not with_gold:
        ruled = ruled.filter(gold_grade=None)
    found = ruled.values_list("entry__topic__topic_id", "entry__docno", "adjudicated_grade")
    return {(topic, document): grade for topic, document, grade in found if grade is not None}


RAW = (
    *("pair_id", "revision", "current", "grade", "cannot_reason", "note", "spans", "standing", "late", "after_deadline"),
    *("active_ms", "idle_ms", "hidden_ms", "wall_ms", "server_ms", "guideline_version", "device", "served_at", "judged_at"),
    *("lease__token", "membership__pseudonym", "membership__standing_reason"),
)


def raw_judgements(
    campaign: Campaign, choices: Choices | None = None, *, notes: bool = True, counted: bool = False
) -> Iterator[RawJudgement]:
    """Every revision, by topic id, document id, pseudonym and revision; `excluded` where it does not enter labels, with the reason.

    notes: with what annotators wrote. counted: only what enters labels.
    """
    choices = choices or Choices()
    names = {grade["value"]: str(grade["name"]) for grade in campaign.scale}
    found = campaign.pairs.values_list("entry__topic__topic_id", "entry__docno", "pk", "kind", "gold_grade")
    pairs = sorted(found, key=lambda row: row[:2])
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        part = {row[2]: row for row in pairs[start : start + PAIRS_AT_ONCE]}
        judged = [dict(zip(RAW, row, strict=True)) for row in Judgement.objects.filter(pair_id__in=list(part)).values_list(*RAW)]
        judged.sort(key=lambda j: (*part[j["pair_id"]][:2], j["membership__pseudonym"], j["revision"]))
        for j in judged:
            topic, document, _, kind, gold = part[j["pair_id"]]
            reason = left_out(j, kind=kind, gold=gold is not None, choices=choices, campaign=campaign)
            if counted and reason:
                continue
            yield RawJudgement(
                campaign=campaign.slug,
                qid=topic,
                docid=document,
                annotator=j["membership__pseudonym"],
                grade=j["grade"],
                label=names.get(j["grade"], ""),
                cannot_judge_reason=j["cannot_reason"],
                spans=[(int(begin), int(end)) for begin, end in j["spans"]],
                active_ms=j["active_ms"],
                idle_ms=j["idle_ms"],
                hidden_ms=j["hidden_ms"],
                total_ms=j["wall_ms"],
                served_at=j["served_at"],
                judged_at=j["judged_at"],
                guideline_version=str(j["guideline_version"] or ""),
                lease_id=str(j["lease__token"] or ""),
                device=j["device"],
                revision=j["revision"],
                excluded=bool(reason),
                exclusion_reason=reason,
                standing=j["standing"],
                kind=kind,
                gold=gold is not None,
                late=j["late"],
                after_deadline=j["after_deadline"],
                server_ms=j["server_ms"],
                note=j["note"] if notes else "",
            )


def left_out(judgement: Mapping[str, Any], *, kind: str, gold: bool, choices: Choices, campaign: Campaign) -> str:
    """Why a revision does not enter labels; `` if it does."""
    reasons = {
        Standing.TOO_FAST: f"faster than the campaign's {campaign.min_active_seconds:g} s",
        Standing.EXTRA: "extra: others had made the judgements that its pair needs",
        Standing.CANNOT: f"cannot judge: {judgement['cannot_reason'] or 'no reason given'}",
        Standing.EXCLUDED: f"annotator excluded: {judgement['membership__standing_reason'] or 'no reason given'}",
    }
    if not judgement["current"]:
        return "superseded by a later revision"
    if kind == Pair.Kind.QUALIFICATION:
        return "qualification pair"
    if judgement["standing"] in reasons:
        return reasons[judgement["standing"]]
    if judgement["grade"] is None:
        return reasons[Standing.CANNOT]
    if gold and not choices.with_gold:
        return "gold pair, left out by choice"
    if judgement["membership__pseudonym"] in choices.exclude:
        return "annotator left out by choice"
    if judgement["active_ms"] is not None and judgement["active_ms"] / 1000 < choices.min_seconds:
        return f"faster than {choices.min_seconds:g} s, left out by choice"
    return ""


def pool_lines(campaign: Campaign) -> Iterator[str]:
    """The pool's file in the order of judging: `topic document best_rank priority runs`, runs by rank and tag."""
    yield "topic\tdocument\tbest_rank\tpriority\truns\n"
    if campaign.pool is None:
        return
    rows = campaign.pool.entries.order_by("position", "pk")
    wanted = ("topic__topic_id", "docno", "best_rank", "priority", "contributions")
    for topic, document, best, priority, runs in rows.values_list(*wanted).iterator(chunk_size=2000):
        contributed = ",".join(f"{tag}:{rank}" for tag, rank in sorted(runs.items(), key=lambda item: (item[1], item[0])))
        yield f"{topic}\t{document}\t{best}\t{priority}\t{contributed}\n"


def pair_texts(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Pairs to be judged with query, title and best rank, by topic and document id."""
    wanted = (
        "entry__topic__topic_id",
        "entry__docno",
        "entry__topic__text",
        "entry__topic__description",
        "entry__document__title",
        "entry__best_rank",
    )
    names = ("topic", "document", "text", "description", "title", "best_rank")
    rows = campaign.pairs.exclude(kind=Pair.Kind.QUALIFICATION).values_list(*wanted)
    for row in sorted(rows, key=lambda row: row[:2]):
        yield dict(zip(names, row, strict=True))
