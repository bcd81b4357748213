"""A campaign's judgements as columns: one array per attribute."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.core.campaign_questions import PRIMARY_KEY
from annotation.models import Campaign, Judgement, Pair
from annotation.selectors.pairs import get_kept_pairs, get_special_pairs
from annotation.services.errors import CampaignError
from assay.labels.annotator_types import LABELLING_TYPES
from assay.labels.labels import LabelTable, make_label_table

STATUSES = Judgement.Status.values
COUNTED = STATUSES.index(Judgement.Status.COUNTED.value)
EXTRA = STATUSES.index(Judgement.Status.EXTRA.value)
TOO_FAST = STATUSES.index(Judgement.Status.TOO_FAST.value)
CANNOT_JUDGE = STATUSES.index(Judgement.Status.CANNOT.value)
EXCLUDED = STATUSES.index(Judgement.Status.EXCLUDED.value)
NO_GRADE = -1
ID_LISTS = ("topics", "documents", "annotators", "judges")
"""Fields of JudgementRows that hold distinct values instead of columns."""


@dataclass(frozen=True, eq=False)
class JudgementRows:
    """The newest revision of every judgement of a campaign, one row each, by ascending ID.
    Qualification pairs and pairs of removed topics are left out.

    topics, documents, annotators (pseudonyms): distinct IDs. topic, document, annotator: indices
    into them. judges: each annotator's AnnotatorType. judgement, pair, member: row IDs. grade: NO_GRADE
    for "cannot judge". active, idle, hidden: seconds, NaN if unknown. judged_at: seconds since
    1970. status: index into STATUSES. gold: the pair's known grade, or NO_GRADE. guideline:
    version. words: length of the document. If the rows were read for a further question, `grade` is
    its answer.
    """

    topics: list[str]
    documents: list[str]
    annotators: list[str]
    judges: list[str]
    judgement: NDArray[np.int64]
    pair: NDArray[np.int64]
    member: NDArray[np.int64]
    topic: NDArray[np.int32]
    document: NDArray[np.int32]
    annotator: NDArray[np.int32]
    grade: NDArray[np.int16]
    active: NDArray[np.float64]
    idle: NDArray[np.float64]
    hidden: NDArray[np.float64]
    judged_at: NDArray[np.float64]
    status: NDArray[np.int8]
    gold: NDArray[np.int16]
    guideline: NDArray[np.int32]
    words: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.judgement)

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Return for each judgement whether it enters labels, agreement and statistics. Shape
        (n,)."""
        return (self.status == COUNTED) & (self.grade != NO_GRADE)

    def where(self, selection: NDArray[np.bool_] | NDArray[np.integer]) -> JudgementRows:
        """Return the judgements selected by a mask or by ordered indices. The lists of distinct IDs
        are unchanged."""
        arrays = {
            f.name: getattr(self, f.name)[selection] for f in fields(self) if f.name not in ID_LISTS
        }
        return replace(self, **arrays)

    def select_by_type(self, judges: Collection[str]) -> NDArray[np.bool_]:
        """Return for each judgement whether its annotator is of one of these types. Shape (n,)."""
        wanted = np.array([kind in judges for kind in self.judges], dtype=bool)
        return wanted[self.annotator] if len(self) else np.zeros(0, dtype=bool)


COLUMNS = (
    *(
        "pk",
        "pair_id",
        "membership_id",
        "pair__entry__topic__topic_id",
        "pair__entry__docno",
        "membership__pseudonym",
        "grade",
    ),
    *(
        "active_ms",
        "idle_ms",
        "hidden_ms",
        "judged_at",
        "status",
        "pair__gold_grade",
        "guideline_version",
        "pair__entry__document__n_words",
        "membership__annotator_type",
    ),
)


def refuse_preferences(campaign: Campaign) -> None:
    """Raise CampaignError if the campaign collects preferences instead of grades."""
    if campaign.is_preferences:
        raise CampaignError(
            _("This feature needs grades, but %(campaign)s collects preferences.")
            % {"campaign": campaign.name}
        )


def read_rows(
    campaign: Campaign, *, judges: Sequence[str] = LABELLING_TYPES, question: str = PRIMARY_KEY
) -> JudgementRows:
    """Read the newest revisions of judgements by annotators of these types, in one query. question:
    key of the question whose answers are returned as grades. Judgements without an answer to it get
    NO_GRADE. Raises CampaignError for preferences, which are not grades."""
    refuse_preferences(campaign)
    judgements = Judgement.objects.filter(
        pair__in=get_kept_pairs(campaign), current=True, membership__annotator_type__in=judges
    )
    judgements = judgements.exclude(pair__kind=Pair.Kind.QUALIFICATION)
    wanted = [name if name != "grade" or question == PRIMARY_KEY else "answers" for name in COLUMNS]
    columns: list[Sequence[Any]] = list(
        zip(*judgements.order_by("pk").values_list(*wanted).iterator(chunk_size=5000), strict=True)
    )
    columns = columns or [()] * len(COLUMNS)
    topics, topic = _encode_ids(columns[3])
    documents, document = _encode_ids(columns[4])
    annotators, annotator = _encode_ids(columns[5])
    given = columns[6]
    if question != PRIMARY_KEY:
        given = [answers.get(question) for answers in given]
    kind_of = dict(zip(columns[5], columns[15], strict=True))
    place = {name: i for i, name in enumerate(STATUSES)}
    return JudgementRows(
        topics=topics,
        documents=documents,
        annotators=annotators,
        judges=[kind_of[name] for name in annotators],
        judgement=np.array(columns[0], dtype=np.int64),
        pair=np.array(columns[1], dtype=np.int64),
        member=np.array(columns[2], dtype=np.int64),
        topic=topic,
        document=document,
        annotator=annotator,
        grade=_grade_array(given),
        active=to_seconds(columns[7]),
        idle=to_seconds(columns[8]),
        hidden=to_seconds(columns[9]),
        judged_at=np.array([moment.timestamp() for moment in columns[10]], dtype=np.float64),
        status=np.array([place[status] for status in columns[11]], dtype=np.int8),
        gold=_grade_array(columns[12]),
        guideline=np.array(columns[13], dtype=np.int32),
        words=np.array([n or 0 for n in columns[14]], dtype=np.int32),
    )


def rows_to_label_table(
    rows: JudgementRows, *, n_grades: int, only: NDArray[np.bool_] | None = None
) -> LabelTable:
    """Convert the counted judgements to a label table. only: a mask of shape (n,) that restricts
    them further."""
    kept = rows.counts if only is None else rows.counts & only
    return make_label_table(
        topics=rows.topics,
        documents=rows.documents,
        annotators=rows.annotators,
        topic=rows.topic[kept],
        document=rows.document[kept],
        annotator=rows.annotator[kept],
        grade=rows.grade[kept],
        seconds=rows.active[kept],
        judged_at=rows.judged_at[kept],
        n_grades=n_grades,
    )


def read_counted_table(campaign: Campaign) -> LabelTable:
    """Read the judgements of a campaign that enter labels, agreement and statistics, as a label
    table."""
    return rows_to_label_table(read_rows(campaign), n_grades=campaign.grades.size)


def read_pool_ranks(campaign: Campaign) -> list[tuple[str, str, int]]:
    """Read the best rank of every pair to be judged, as (topic ID, document ID, best rank). For a
    staged pool, pairs that were not sampled are included."""
    if campaign.pool is not None and campaign.pool.is_staged:
        known = get_special_pairs(campaign, Pair.Kind.QUALIFICATION).values("entry")
        entries = (
            campaign.pool.entries.filter(topic__removed_reason="")
            .exclude(pk__in=known)
            .order_by("position")
        )
        return list(entries.values_list("topic__topic_id", "docno", "best_rank"))
    pairs = get_kept_pairs(campaign).exclude(kind=Pair.Kind.QUALIFICATION).order_by("position")
    return list(pairs.values_list("entry__topic__topic_id", "entry__docno", "entry__best_rank"))


def _encode_ids(values: Iterable[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Encode values as integers. Returns the distinct values in order of first appearance, and the
    index of each row's value among them."""
    index: dict[str, int] = {}
    codes = np.fromiter((index.setdefault(value, len(index)) for value in values), dtype=np.int32)
    return list(index), codes


def _grade_array(values: Sequence[int | None]) -> NDArray[np.int16]:
    return np.array([NO_GRADE if value is None else value for value in values], dtype=np.int16)


def to_seconds(values: Sequence[int | None]) -> NDArray[np.float64]:
    """Convert milliseconds to seconds, with NaN for missing values."""
    return np.array([np.nan if ms is None else ms / 1000 for ms in values], dtype=np.float64)
