"""Labels of a campaign: selection of judgements, aggregation, and adjudicated labels that override
the result.

Rows are ordered by ID, independent of the database, so that equal data produce equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.rows import (
    COUNTED,
    EXCLUDED,
    NO_GRADE,
    JudgementRows,
    read_rows,
    rows_to_label_table,
)
from analysis.models import Recipe
from annotation.core.campaign_questions import PRIMARY_KEY
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_ruled_pairs, get_special_pairs
from assay.formats.qrels import SAMPLED_MESSAGE, QrelsColumns, make_qrels
from assay.labels import annotator_types as kinds_of_judges
from assay.labels.aggregation import ADJUDICATED, DECISIONS, METHODS, NONE, Aggregation
from assay.labels.annotator_types import LABELLING_TYPES, AnnotatorType
from assay.labels.labels import MISSING, LabelTable

SCALES = ("graded", "binary")
ALL_JUDGES = "*"
"""Value that means all annotators whom the campaign excludes."""
KNOWN_GRADE_COLUMN = "known_grade"
"""Decision code of the label of a qualification pair, whose grade was known before any
judgement."""


@dataclass(frozen=True)
class LabelChoices:
    """The choices that determine labels: which judgements count, and how they are aggregated.

    min_relevant: minimum relevant grade, the campaign's if None. min_seconds: minimum active seconds,
    in addition to the campaign's limit. exclude: pseudonyms to leave out. include_excluded: pseudonyms
    whose judgements count although the campaign excludes them, or ALL_JUDGES. judges: annotator
    types (assay.labels.annotator_types) whose judgements count. question: key of the question that the labels
    answer. Adjudications and known grades concern the primary question only.
    """

    method: str = "majority"
    min_judgements: int = 2
    min_relevant: int | None = None
    with_gold: bool = True
    min_seconds: float = 0.0
    exclude: tuple[str, ...] = ()
    include_excluded: tuple[str, ...] = ()
    judges: tuple[str, ...] = LABELLING_TYPES
    question: str = PRIMARY_KEY

    @property
    def is_primary(self) -> bool:
        return self.question == PRIMARY_KEY

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> LabelChoices:
        """Create choices from JSON or form values. Unknown keys are ignored, and missing keys get
        the default."""
        known = {f.name: given[f.name] for f in fields(cls) if given.get(f.name) is not None}
        known["exclude"] = tuple(sorted(known.get("exclude", ())))
        back = tuple(sorted(known.get("include_excluded", ())))
        known["include_excluded"] = (ALL_JUDGES,) if ALL_JUDGES in back else back
        known["judges"] = kinds_of_judges.sort_types(known.get("judges") or LABELLING_TYPES)
        return cls(**known)

    def as_json(self) -> dict[str, Any]:
        values = asdict(self) | {
            "exclude": list(self.exclude),
            "include_excluded": list(self.include_excluded),
            "judges": list(self.judges),
        }
        if self.is_primary:  # recipes of campaigns with one question are as in earlier versions
            del values["question"]
        return values

    def includes_excluded(self, annotator: str) -> bool:
        """Return whether judgements of this annotator count even if the campaign excludes them."""
        return annotator in self.include_excluded or ALL_JUDGES in self.include_excluded

    def with_included(self, rows: JudgementRows, *, min_active_seconds: float) -> JudgementRows:
        """Return the judgements, also counting those of annotators in `include_excluded` that only
        the annotator's exclusion had removed.

        min_active_seconds: the campaign's minimum time, which was not applied to judgements of
        excluded annotators.
        """
        if not self.include_excluded or not len(rows):
            return rows
        back = np.array([self.includes_excluded(name) for name in rows.annotators], dtype=bool)[
            rows.annotator
        ]
        back &= (rows.status == EXCLUDED) & ~(rows.active < min_active_seconds)
        return replace(rows, status=np.where(back, np.int8(COUNTED), rows.status))

    def admits(self, rows: JudgementRows) -> NDArray[np.bool_]:
        """Return for each judgement whether it enters labels under these choices. Shape (n,)."""
        left_out = np.array([name in self.exclude for name in rows.annotators], dtype=bool)
        is_left_out = left_out[rows.annotator] if len(rows) else np.zeros(0, dtype=bool)
        gold = (rows.gold == NO_GRADE) | self.with_gold
        return (
            rows.counts
            & gold
            & ~(rows.active < self.min_seconds)
            & ~is_left_out
            & rows.select_by_type(self.judges)
        )

    def words(self) -> list[str]:
        """Describe each choice in one short phrase, for display."""
        said = [
            *([] if self.is_primary else [f"question {self.question}"]),
            self.method,
            f"at least {self.min_judgements} judgement{'' if self.min_judgements == 1 else 's'}",
        ]
        if self.min_relevant is not None:
            said.append(f"minimum relevant grade {self.min_relevant}")
        if not self.with_gold:
            said.append("without gold pairs")
        if self.min_seconds:
            said.append(f"at least {self.min_seconds:g} s")
        if self.exclude:
            said.append(f"without {', '.join(self.exclude)}")
        if self.include_excluded:
            whom = (
                "all excluded annotators"
                if ALL_JUDGES in self.include_excluded
                else f"{', '.join(self.include_excluded)} (even if excluded)"
            )
            said.append(f"including {whom}")
        if self.judges != LABELLING_TYPES:
            said.append(kinds_of_judges.describe_types(self.judges))
        return said


class Label(NamedTuple):
    """A pair's label on all grades and on two. decision, binary_decision: how the grade was
    decided, empty if the method does not record it. judgements: number of judgements that entered
    the label."""

    topic: str
    document: str
    grade: int
    binary: int
    decision: str
    binary_decision: str
    judgements: int


@dataclass(frozen=True, eq=False)
class Labels:
    """A campaign's labels on all grades and on two. rulings: adjudicated labels by (topic ID,
    document ID), which override others."""

    choices: LabelChoices
    min_relevant: int
    table: LabelTable
    graded: Aggregation
    binary: Aggregation
    rulings: dict[tuple[str, str], int]
    beyond: list[Label]
    """Labels of pairs without judgements: adjudicated, or with a known grade."""

    @cached_property
    def rows(self) -> list[Label]:
        """Return all labels, including those of pairs without judgements (`beyond`), by topic ID
        and document ID."""
        columns = (
            self.graded.label[self.labelled].tolist(),
            self.binary.label[self.labelled].tolist(),
            describe_decisions(self.graded, self.labelled),
            describe_decisions(self.binary, self.labelled),
            self.table.judgements_per_pair[self.labelled].tolist(),
        )
        ids = map(self.table.pair_ids, self.labelled.tolist())
        return sorted(
            [
                *(Label(*pair, *values) for pair, *values in zip(ids, *columns, strict=True)),
                *self.beyond,
            ]
        )

    @cached_property
    def labelled(self) -> NDArray[np.intp]:
        """Return the indices of the pairs in the label table that have a label."""
        return np.flatnonzero(self.graded.label != MISSING)

    @property
    def n_labels(self) -> int:
        return len(self.labelled) + len(self.beyond)

    @property
    def n_relevant(self) -> int:
        """Return the number of pairs whose binary label is relevant."""
        return int((self.binary.label[self.labelled] == 1).sum()) + sum(
            label.binary for label in self.beyond
        )

    def qrels(self, grades: str, topics: Container[str] | None = None) -> QrelsColumns:
        """Return the labels as qrels. grades: `graded` or `binary`. topics: the topics to include,
        all if None."""
        value = {"graded": "grade", "binary": "binary"}[grades]
        rows = (row for row in self.rows if topics is None or row.topic in topics)
        return make_qrels(grades, ((row.topic, row.document, getattr(row, value)) for row in rows))

    def cross(self, grades: str) -> dict[int, dict[str, int]]:
        """Count labels by grade and decision, for every grade of the scale (TripJudge, Althammer et
        al. 2022, Figure 1). grades: `graded` or `binary`."""
        of_table = self.graded if grades == "graded" else self.binary
        size = self.table.n_grades if grades == "graded" else 2
        counts: dict[int, dict[str, int]] = {grade: {} for grade in range(size)}
        grade_of, code_of = of_table.label[self.labelled], decision_codes(of_table)[self.labelled]
        for grade, code in product(range(size), np.unique(code_of).tolist()):
            if n := int(np.count_nonzero((grade_of == grade) & (code_of == code))):
                counts[grade][DECISIONS.get(code, "")] = n
        for row in self.beyond:
            grade, decision = (
                (row.grade, row.decision)
                if grades == "graded"
                else (row.binary, row.binary_decision)
            )
            counts[grade][decision] = counts[grade].get(decision, 0) + 1
        return counts

    @property
    def n_unlabelled(self) -> int:
        """Return the number of pairs that have counted judgements, but too few for a label."""
        return self.graded.n_unlabelled

    @property
    def n_adjudicated(self) -> int:
        in_table = int(np.count_nonzero(decision_codes(self.graded)[self.labelled] == ADJUDICATED))
        return in_table + sum(row.decision == DECISIONS[ADJUDICATED] for row in self.beyond)

    @property
    def n_known(self) -> int:
        return sum(row.decision == KNOWN_GRADE_COLUMN for row in self.beyond)


def make_labels(
    campaign: Campaign,
    choices: LabelChoices,
    *,
    rows: JudgementRows | None = None,
    get_counted_table: Callable[[], LabelTable] | None = None,
) -> Labels:
    """Compute a campaign's labels under the choices.

    rows: the campaign's judgements for the chosen question, at least those of the chosen annotator
    types, read by default.
    get_counted_table: returns the table of all counted judgements of `rows`, if the caller has it. It is used
    if the choices leave none of them out.
    """
    scale = campaign.scale_of(choices.question)
    min_relevant = scale.min_relevant if choices.min_relevant is None else choices.min_relevant
    if rows is None:
        rows = read_rows(campaign, judges=choices.judges, question=choices.question)
    table = _select_judgements(campaign, choices, rows, get_counted_table)
    method = METHODS[choices.method]
    by_llm = AnnotatorType.LLM in choices.judges
    of_grade = choices.is_primary and not by_llm
    rulings = {} if not of_grade else read_adjudications(campaign, with_gold=choices.with_gold)
    graded = method(table, min_judgements=choices.min_judgements).apply_rulings(rulings)
    on_two = {pair: int(grade >= min_relevant) for pair, grade in rulings.items()}
    binary = method(
        table.binarise(min_relevant), min_judgements=choices.min_judgements
    ).apply_rulings(on_two)
    judged = {table.pair_ids(pair) for pair in range(table.n_pairs)} if rulings else set()
    mark = DECISIONS[ADJUDICATED]
    beyond = [
        Label(*pair, grade, on_two[pair], mark, mark, 0)
        for pair, grade in rulings.items()
        if pair not in judged
    ]
    known = read_known_grades(campaign) if choices.with_gold and of_grade else {}
    beyond += [
        Label(*pair, grade, int(grade >= min_relevant), KNOWN_GRADE_COLUMN, KNOWN_GRADE_COLUMN, 0)
        for pair, grade in known.items()
    ]
    return Labels(choices, min_relevant, table, graded, binary, rulings, beyond)


def _select_judgements(
    campaign: Campaign,
    choices: LabelChoices,
    rows: JudgementRows,
    get_counted_table: Callable[[], LabelTable] | None,
) -> LabelTable:
    """Return the table of the judgements that enter labels under the choices."""
    taken = choices.with_included(rows, min_active_seconds=campaign.min_active_seconds)
    admitted = choices.admits(taken)
    if get_counted_table is not None and taken is rows and (admitted == rows.counts).all():
        return get_counted_table()
    n_grades = campaign.scale_of(choices.question).size
    return rows_to_label_table(taken, n_grades=n_grades, only=admitted)


def describe_decisions(aggregation: Aggregation, pairs: NDArray[np.intp]) -> list[str]:
    """Return how the labels of these pairs of the table were decided, in the terms that exports
    use."""
    return [DECISIONS.get(code, "") for code in decision_codes(aggregation)[pairs].tolist()]


def decision_codes(aggregation: Aggregation) -> NDArray[np.integer[Any]]:
    """Return how each pair's label was decided as a code, NONE if the method does not record it."""
    return (
        np.full(len(aggregation.label), NONE)
        if aggregation.decision is None
        else aggregation.decision
    )


def read_adjudications(campaign: Campaign, *, with_gold: bool = True) -> dict[tuple[str, str], int]:
    """Return a campaign's adjudicated labels by (topic ID, document ID)."""
    ruled = get_ruled_pairs(campaign)
    if not with_gold:
        ruled = ruled.filter(gold_grade=None)
    rows = ruled.values_list("entry__topic__topic_id", "entry__docno", "adjudicated_grade")
    return {(topic, document): grade for topic, document, grade in rows if grade is not None}


def read_known_grades(campaign: Campaign) -> dict[tuple[str, str], int]:
    """Return the known grades of qualification pairs as labels by (topic ID, document ID).

    Judgements of these pairs only admit annotators, and the pairs are not assigned otherwise.
    Without these labels, the best-known pairs would be unjudged in the qrels.
    """
    known_pairs = get_special_pairs(campaign, Pair.Kind.QUALIFICATION).filter(
        gold_grade__isnull=False
    )
    rows = known_pairs.values_list("entry__topic__topic_id", "entry__docno", "gold_grade")
    return {(topic, document): int(grade) for topic, document, grade in rows if grade is not None}


class LabelReference(NamedTuple):
    """A reference to labels of a campaign, stored in reports.

    Its text is `campaign:graded|binary:method`, with `:type+type` if only some annotator types
    count, or `recipe:graded|binary:ID` for the labels of a saved recipe.
    """

    grades: str
    choices: LabelChoices
    recipe: Recipe | None = None

    @classmethod
    def find(cls, campaign: Campaign, text: str) -> LabelReference:
        """Parse a reference to labels and look up its recipe. Raises ValueError if the reference is
        invalid or the campaign does not have the recipe."""
        if not text.startswith("recipe:"):
            return cls.parse(text)
        _, grades, row = text.split(":")
        recipe = (
            campaign.recipes.filter(pk=int(row)).first()
            if row.isdecimal() and grades in SCALES
            else None
        )
        if recipe is None:
            raise ValueError(text)
        return cls(grades, LabelChoices.from_json(recipe.choices), recipe)

    @classmethod
    def parse(cls, text: str) -> LabelReference:
        """Parse a reference to labels. Raises ValueError if it is invalid."""
        source, grades, method, *kinds = text.split(":")
        judges = kinds_of_judges.sort_types(kinds[0].split("+")) if kinds else LABELLING_TYPES
        if (
            source != "campaign"
            or grades not in SCALES
            or method not in METHODS
            or kinds_of_judges.check_types(judges)
        ):
            raise ValueError(text)
        return cls(grades, LabelChoices(method=method, judges=judges))

    def __str__(self) -> str:
        if self.recipe is not None:
            return f"recipe:{self.grades}:{self.recipe.pk}"
        kinds = (
            "" if self.choices.judges == LABELLING_TYPES else ":" + "+".join(self.choices.judges)
        )
        return f"campaign:{self.grades}:{self.choices.method}{kinds}"


def is_own_labels(reference: str) -> bool:
    """Return whether a valid reference is to the campaign's own labels, which change, and not to
    imported qrels."""
    return reference.startswith(("campaign:", "recipe:"))


def make_campaign_qrels(campaign: Campaign, reference: str, name: str) -> QrelsColumns:
    """Return a campaign's labels as qrels, as an export writes them: with default options, or with
    those of the referenced recipe. reference: a LabelReference as text.

    Labels of a sampled pool carry a warning, also in the first line of the written file, because
    measures do not accept them.
    """
    wanted = LabelReference.find(campaign, reference)
    warnings = [SAMPLED_MESSAGE] if campaign.pool is not None and campaign.pool.is_sampled else []
    return replace(
        make_labels(campaign, wanted.choices).qrels(wanted.grades), name=name, warnings=warnings
    )


def cached_labels(campaign: Campaign, live: CampaignSnapshot) -> Labels:
    """Return a campaign's labels under default choices. They are computed again only if judgements
    or adjudicated labels have changed."""
    depends_on = (
        live.newest,
        live.audit,
        campaign.min_relevant,
        read_adjudications(campaign),
        read_known_grades(campaign),
    )
    return live.derived("labels", lambda: _make_labels(campaign, live), depends_on=depends_on)


def _make_labels(campaign: Campaign, live: CampaignSnapshot) -> Labels:
    return make_labels(
        campaign,
        LabelChoices(),
        rows=live.rows,
        get_counted_table=lambda: live.table(campaign.grades.size),
    )
