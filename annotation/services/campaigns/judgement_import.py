"""Import external judgements as a closed campaign with annotators, times, order and grades.

    campaign = import_judgements(judgements, ImportOptions(name="FiRA", ...), user=user)

Annotators get pseudonyms, and the mapping from the file's names is not stored. The rows are created
by the services that restore a release.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.core.audit_actions import AuditAction
from annotation.core.presets import DEFAULT_NAMES
from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.services.audit import record_event
from annotation.services.campaigns import restoring
from annotation.services.campaigns.restoring import AnnotatorRow, JudgementRow, PairRow
from annotation.services.errors import CampaignError
from assay.column_types import JudgementColumns
from assay.formats.errors import FileProblem, FormatError
from assay.formats.pool import HEADER_LINE, read_pool
from assay.labels.annotator_types import AnnotatorType
from assay.number_words import format_count, format_part
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Topic
from pooling.services.restoring import (
    NotRestorable,
    restore_collection,
    restore_pool,
    restore_topics,
)


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import. collection: None creates one. grades: names, lowest first, empty for
    default names or numbers. texts: texts of topics by topic ID."""

    name: str
    min_relevant: int
    n_grades: int
    collection: Collection | None = None
    grades: Sequence[str] = ()
    min_seconds: float = 0.0
    annotator_type: str = AnnotatorType.HUMAN
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportResult:
    campaign: Campaign
    judgements: int
    warnings: list[str]


def import_judgements(
    judgements: JudgementColumns,
    import_options: ImportOptions,
    *,
    user: Any,
    step: Callable[[int], object] = lambda n: None,
) -> ImportResult:
    """Import judgements in one transaction. Raises FormatError, with the line if known, and then
    stores nothing."""
    _refuse_unstorable(judgements)
    try:
        with transaction.atomic():
            return _JudgementImport(judgements, import_options, user).run(step)
    except NotRestorable as error:
        raise FormatError.single(
            judgements.name, error.line, error.problem, error.expected
        ) from None
    except (CampaignError, ValidationError) as error:
        said = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise FormatError.single(
            judgements.name,
            None,
            f"the campaign cannot be stored ({said[:300]})",
            "valid settings of a campaign",
        ) from None


def _refuse_unstorable(judgements: JudgementColumns) -> None:
    """Refuse IDs that cannot be written to qrels or pools."""
    problems = []
    for what, names, codes in (
        ("topic", judgements.topics, judgements.topic),
        ("document", judgements.documents, judgements.document),
    ):
        for code, name in enumerate(names):
            if len(name.split()) != 1 or len(name) > 255:
                line = int(judgements.lines[int(np.argmax(codes == code))])
                problems.append(
                    FileProblem(
                        line,
                        f"{what} {name[:60]!r}",
                        "an ID of at most 255 characters without spaces",
                    )
                )
    if problems:
        raise FormatError(judgements.name, problems)


class _JudgementImport:
    """The import of one file. Methods are in the order in which rows depend on each other."""

    def __init__(
        self, judgements: JudgementColumns, import_options: ImportOptions, user: Any
    ) -> None:
        self.file, self.import_options, self.user = judgements, import_options, user
        self.warnings: list[str] = []
        self.now = timezone.now()
        width = len(str(len(judgements.annotators)))
        self.pseudonyms = [
            f"A{number:0{max(3, width)}}" for number in range(1, len(judgements.annotators) + 1)
        ]
        self.order = np.lexsort(
            (
                np.arange(len(judgements.topic)),
                judgements.annotator,
                judgements.document,
                judgements.topic,
            )
        )
        self.excluded = self._excluded_annotators()

    def _excluded_annotators(self) -> set[int]:
        """Return the annotators whose judgements in the file are all marked as excluded."""
        kept = set(self.file.annotator[~self.file.excluded].tolist())
        return {code for code in range(len(self.file.annotators)) if code not in kept}

    def run(self, step: Callable[[int], object]) -> ImportResult:
        self._warn_about_unknown()
        pairs = self._build_pairs()
        llm_judges = frozenset(
            self.pseudonyms if self.import_options.annotator_type == AnnotatorType.LLM else ()
        )
        answers = restoring.summarise_answers(self._iterate_rows(), pairs, llm_judges=llm_judges)
        collection = self.import_options.collection or restore_collection(
            {"name": self.import_options.name, "slug": self.import_options.name}, user=self.user
        )
        topics = self._create_topics(collection)
        pool = restore_pool(
            collection,
            {
                "name": self._pool_name(collection),
                "kind": PoolKind.GIVEN.value,
                "source": self.file.name[:255],
                "seed": 0,
            },
            read_pool(io.BytesIO(self._pool_text().encode()), name=self.file.name),
            topics=topics,
            documents=self._create_documents(collection),
            created_at=self.now,
            user=self.user,
        )
        campaign = restoring.restore_campaign(
            collection,
            pool,
            slug=self.import_options.name,
            settings=self._campaign_settings(pairs),
            annotator_type=self.import_options.annotator_type,
            seed=0,
            opened_at=min((row.judged_at for row in self._iterate_rows()), default=None),
            closed_at=answers.last,
            user=self.user,
        )
        members = restoring.restore_annotators(
            campaign, self._build_annotators(), n_judged=answers.n_judged
        )
        made = restoring.make_unsaved_pairs(campaign, pairs, topics=topics, answers=answers)
        restoring.store_pairs(campaign, made)
        n = restoring.restore_judgements(
            campaign, self._iterate_rows(), members=members, pairs=made, step=step
        )
        record_event(
            campaign, self.user, AuditAction.IMPORTED_JUDGEMENTS, self.file.name, judgements=n
        )
        return ImportResult(campaign, n, self.warnings)

    def _warn_about_unknown(self) -> None:
        n = len(self.file.topic)
        if undated := int(np.isnan(self.file.judged_at).sum()):
            self.warnings.append(
                f"{format_part(undated, n, 'judgement', 'has', 'have')} no time; they get the time of this import "
                "in the order of the file, so charts over time are not meaningful"
            )
        if untimed := int(np.isnan(self.file.seconds).sum()):
            self.warnings.append(
                f"{format_part(untimed, n, 'judgement', 'has', 'have')} no duration, so none can be too fast"
            )
        if gold := int(self.file.gold.sum()):
            self.warnings.append(
                f"{format_count(gold, 'judgement', 'is', 'are')} of gold pairs; the file has no "
                f"known grades, so these pairs are ordinary pairs"
            )

    def _build_pairs(self) -> list[PairRow]:
        """Return the pairs in the order of their first appearance in the file."""
        counted: Counter[tuple[str, str]] = Counter()
        for row in self._iterate_newest():
            counted[row.topic, row.document] += row.status == Judgement.Status.COUNTED
        usual = Counter(n for n in counted.values() if n)
        self.per_pair = max(usual, key=lambda n: (usual[n], n), default=1)
        seen = dict.fromkeys(
            zip(self.file.topic.tolist(), self.file.document.tolist(), strict=True)
        )
        named = (
            (self.file.topics[topic], self.file.documents[document]) for topic, document in seen
        )
        return [PairRow(topic, document, Pair.Kind.NORMAL) for topic, document in named]

    def _iterate_newest(self) -> Iterator[JudgementRow]:
        last: JudgementRow | None = None
        for row in self._iterate_rows():
            if last is not None and (last.topic, last.document, last.annotator) != (
                row.topic,
                row.document,
                row.annotator,
            ):
                yield last
            last = row
        if last is not None:
            yield last

    def _iterate_rows(self) -> Iterator[JudgementRow]:
        """Yield rows with all revisions of an annotator and pair together, in the order of the
        file."""
        before, revision = None, 0
        for row in self.order.tolist():
            key = (
                int(self.file.topic[row]),
                int(self.file.document[row]),
                int(self.file.annotator[row]),
            )
            revision = revision + 1 if key == before else 1
            before = key
            seconds, at = float(self.file.seconds[row]), float(self.file.judged_at[row])
            yield JudgementRow(
                line=int(self.file.lines[row]),
                topic=self.file.topics[key[0]],
                document=self.file.documents[key[1]],
                annotator=self.pseudonyms[key[2]],
                revision=revision,
                grade=int(self.file.grade[row]),
                cannot_reason="",
                note="",
                spans=[],
                status=self._status(row, seconds),
                late=False,
                after_deadline=False,
                active_ms=None if np.isnan(seconds) else round(seconds * 1000),
                idle_ms=None,
                hidden_ms=None,
                wall_ms=None,
                server_ms=None,
                guideline_version=0,
                device="",
                served_at=None,
                judged_at=self.now + timedelta(microseconds=row)
                if np.isnan(at)
                else datetime.fromtimestamp(at, UTC),
                lease=None,
            )

    def _status(self, row: int, seconds: float) -> str:
        if self.file.excluded[row]:
            return (
                Judgement.Status.EXCLUDED
                if int(self.file.annotator[row]) in self.excluded
                else Judgement.Status.EXTRA
            )
        return (
            Judgement.Status.TOO_FAST
            if seconds < self.import_options.min_seconds
            else Judgement.Status.COUNTED
        )

    def _create_topics(self, collection: Collection) -> dict[str, Topic]:
        """Return the collection's topics, followed by newly created ones."""
        topic_of = {topic.topic_id: topic for topic in collection.topics.all()}
        first = max((topic.position for topic in topic_of.values()), default=-1) + 1
        absent = [name for name in self.file.topics if name not in topic_of]
        if absent and self.import_options.collection is not None:
            self.warnings.append(
                f"{format_count(len(absent), 'topic')} of the file added to the collection, such as {absent[0]}"
            )
        rows = [
            (
                0,
                {
                    "id": name,
                    "text": self.import_options.texts.get(name, ""),
                    "position": first + k,
                },
            )
            for k, name in enumerate(absent)
        ]
        return {**topic_of, **restore_topics(collection, rows)}

    def _create_documents(self, collection: Collection) -> dict[str, int]:
        row_of_docno = dict(
            collection.documents.filter(docno__in=self.file.documents).values_list("docno", "pk")
        )
        if absent := len(self.file.documents) - len(row_of_docno):
            self.warnings.append(
                f"the texts of {format_part(absent, len(self.file.documents), 'document')} are not in the collection"
            )
        return row_of_docno

    def _pool_name(self, collection: Collection) -> str:
        wanted, taken = (
            self.import_options.name[:190],
            set(collection.pools.values_list("name", flat=True)),
        )
        return next(
            name
            for n in range(1, len(taken) + 2)
            if (name := wanted if n == 1 else f"{wanted} ({n})") not in taken
        )

    def _pool_text(self) -> str:
        seen = dict.fromkeys(
            zip(self.file.topic.tolist(), self.file.document.tolist(), strict=True)
        )
        lines = (
            f"{self.file.topics[topic]}\t{self.file.documents[document]}\t0\t0\t\n"
            for topic, document in seen
        )
        return HEADER_LINE + "".join(lines)

    def _campaign_settings(self, pairs: Sequence[PairRow]) -> dict[str, Any]:
        names = (
            list(self.import_options.grades)
            or list(DEFAULT_NAMES.get(self.import_options.n_grades, ()))
            or [f"Grade {k}" for k in range(self.import_options.n_grades)]
        )
        return {
            "name": self.import_options.name,
            "description": f"Judgements imported from {self.file.name}.",
            "scale": [{"value": k, "name": name} for k, name in enumerate(names)],
            "min_relevant": self.import_options.min_relevant,
            "judgements_per_pair": self.per_pair,
            "min_active_seconds": self.import_options.min_seconds,
        }

    def _build_annotators(self) -> list[AnnotatorRow]:
        return [
            AnnotatorRow(
                pseudonym,
                Membership.Status.EXCLUDED if code in self.excluded else Membership.Status.ACTIVE,
                "excluded in the file" if code in self.excluded else "",
                self.import_options.annotator_type,
            )
            for code, pseudonym in enumerate(self.pseudonyms)
        ]
