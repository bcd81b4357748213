"""Import of a release: collection, topics, pool, and the closed campaign with its judgements. An
import that fails changes nothing.

The imported judgements must reproduce the release's qrels byte for byte. Rows of other apps are
written by their services (`pooling.services.restoring`, `annotation.services.campaigns.restoring`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction

from analysis.judgements.labels import KNOWN_GRADE_COLUMN, LabelChoices, make_labels
from analysis.models import Recipe
from analysis.publishing.release.collection_files import CLICKS, RUNS
from analysis.publishing.release.parts import (
    ANSWERS,
    LLM_JUDGES,
    OPTIONAL_CONTENT,
    QUESTION_QRELS,
    SHARED_SETTINGS,
)
from analysis.publishing.release.reading import ReleaseFile, open_release
from annotation.core import scale as scales
from annotation.core.audit_actions import AuditAction
from annotation.core.gold_rules import GoldRule
from annotation.models import Campaign, Membership
from annotation.services.audit import record_event
from annotation.services.campaigns import restoring as campaigns
from annotation.services.errors import CampaignError
from annotation.services.llm_judges.restoring import restore_judges
from assay.formats.errors import FormatError
from assay.formats.pool import read_pool
from assay.formats.qrels import QrelsColumns, write_qrels
from assay.labels.aggregation import METHODS
from assay.labels.annotator_types import AnnotatorType, check_types
from pooling.models import Collection, Pool, Topic
from pooling.services import restoring as collections
from pooling.services.restoring import NotRestorable

ProgressStep = Callable[[str, int], object]


def import_release(
    path: str | Path, *, name: str, user: User | None, step: ProgressStep = lambda what, n: None
) -> Campaign:
    """Import a release and return its campaign.

    user: becomes manager of the campaign and collection. step: called with a description of each
    step and a count. A number is added to slugs that are taken. Raises FormatError with the
    position of each problem, in which case nothing is written.
    """
    try:
        with (
            open_release(path, name=name) as release,
            collections.delete_files_on_error() as files,
            transaction.atomic(),
        ):
            return _ReleaseImport(release, user, step, files).run()
    except (CampaignError, ValidationError, DataError, IntegrityError) as error:
        said = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise FormatError.single(
            name,
            None,
            f"cannot be stored ({said[:300]})",
            "a release as this version of Assay builds it",
        ) from error


EARLIER_RULES = {"gold_rule": GoldRule.EXACT.value}
"""Values of settings for releases written before the setting existed."""


class _ReleaseImport:
    """The import of one release. Its steps follow the dependencies between rows."""

    def __init__(
        self, release: ReleaseFile, user: User | None, step: ProgressStep, files: list[str]
    ) -> None:
        self.release, self.user, self.step, self.files = release, user, step, files
        self.scale = self._read_scale()
        self.choices = self._read_choices()

    def run(self) -> Campaign:
        pair_rows = self.release.pairs()
        annotators = self.release.annotators()
        llm_judges = {
            row.pseudonym for row in annotators if row.annotator_type == AnnotatorType.LLM
        }
        excluded = {row.pseudonym for row in annotators if row.status == Membership.Status.EXCLUDED}
        answers = campaigns.summarise_answers(
            self.release.judgements(self.scale), pair_rows, llm_judges=llm_judges, excluded=excluded
        )
        collection = collections.restore_collection(
            self.release.about["collection"], user=self.user
        )
        topics = self._create_topics(collection)
        pool = self._create_pool(collection, topics)
        self._create_runs(collection, pool)
        self._create_clicks(collection)
        campaign = self._create_campaign(collection, pool, last=answers.last)
        self._create_guidelines(campaign)
        with self._importing_part("annotators.tsv"):
            members = campaigns.restore_annotators(campaign, annotators, n_judged=answers.n_judged)
        self.step("annotators", len(members))
        if self.release.has("feedback.tsv"):
            with self._importing_part("feedback.tsv"):
                campaigns.restore_feedback(self.release.feedback(), members=members)
        pairs = self._create_pairs(campaign, pair_rows, topics, answers)
        with self._importing_part("judgements.tsv"):
            n = campaigns.restore_judgements(
                campaign,
                self.release.judgements(self.scale),
                members=members,
                pairs=pairs,
                step=lambda stored: self.step("judgements", stored),
            )
        self.step("judgements", n)
        with self._importing_part(ANSWERS):
            scales = {q.key: set(q.grades.values) for q in campaign.questions_after_grade}
            campaigns.restore_answers(campaign, self.release.answers(scales))
        self._verify_qrels(campaign)
        self._llm_judges(campaign, topics)
        self._create_recipe(campaign)
        record_event(
            campaign,
            self.user,
            AuditAction.IMPORTED_A_RELEASE,
            self.release.name,
            judgements=n,
            recipe=self.choices.words(),
        )
        return campaign

    def wrong(
        self, problem: str, expected: str, part: str = "campaign.json", line: int | None = None
    ) -> FormatError:
        return self.release.wrong(problem, expected, part=part, line=line)

    @contextmanager
    def _importing_part(self, name: str) -> Iterator[None]:
        """Report errors raised inside the block as problems of this part of the release."""
        try:
            yield
        except NotRestorable as error:
            raise self.wrong(error.problem, error.expected, name, error.line) from None

    def _read_scale(self) -> set[int]:
        settings = self.release.about["campaign"]["settings"]
        scale, min_relevant = settings.get("scale"), settings.get("min_relevant")
        if (
            not isinstance(scale, list)
            or not all(isinstance(g, dict) for g in scale)
            or not isinstance(min_relevant, int)
        ):
            raise self.wrong(
                "the scale or the minimum relevant grade is missing",
                "a list of grades and the minimum relevant grade",
            )
        if mistakes := scales.find_scale_problems(scale, min_relevant=min_relevant):
            raise self.wrong(" ".join(mistakes), "a valid scale")
        return set(scales.Scale(scale, min_relevant).values)

    def _read_choices(self) -> LabelChoices:
        recipe = self.release.about["recipe"]
        try:
            choices = LabelChoices.from_json(recipe)
            fine = (
                choices.method in METHODS
                and isinstance(choices.min_judgements, int)
                and choices.min_judgements > 0
                and (choices.min_relevant is None or choices.min_relevant in self.scale)
                and isinstance(choices.min_seconds, (int, float))
                and isinstance(choices.with_gold, bool)
                and all(
                    isinstance(name, str) for name in (*choices.exclude, *choices.include_excluded)
                )
                and not check_types(choices.judges)
            )
        except TypeError:
            fine = False
        if not fine:
            raise self.wrong(
                "unknown recipe",
                f"a method of {', '.join(METHODS)} and its options",
            )
        return choices

    def _create_topics(self, collection: Collection) -> dict[str, Topic]:
        with self._importing_part("topics.jsonl"):
            topics = collections.restore_topics(collection, self.release.objects("topics.jsonl"))
        self.step("topics", len(topics))
        return topics

    def _create_pool(self, collection: Collection, topics: dict[str, Topic]) -> Pool:
        documents: dict[str, int] = {}
        if self.release.has("documents.jsonl"):
            with self._importing_part("documents.jsonl"):
                documents = collections.restore_documents(
                    collection, self.release.objects("documents.jsonl")
                )
            self.step("documents", len(documents))
        about = self.release.about["pool"]
        with self.release.part("pool.tsv") as file:
            pairs = read_pool(file, name=f"{self.release.name}/pool.tsv")  # type: ignore[arg-type]
        created_at = self._parse_datetime(about.get("created_at"))
        with self._importing_part("pool.tsv"):
            pool = collections.restore_pool(
                collection,
                about,
                pairs,
                topics=topics,
                documents=documents,
                created_at=created_at,
                user=self.user,
            )
        if self.release.has("strata.tsv") and self.release.has("draw.tsv"):
            with self._importing_part("draw.tsv"):
                collections.restore_draw(
                    pool, self.release.strata(), self.release.draws(), topics=topics
                )
        elif pool.is_staged:
            raise self.wrong(
                f"the pool is {pool.words}, but strata.tsv and draw.tsv are missing",
                "which pairs were drawn",
                part="pool.tsv",
            )
        self.step("pairs of the pool", len(pairs))
        return pool

    def _create_runs(self, collection: Collection, pool: Pool) -> None:
        """Import the runs, and link those that contributed to the pool to it."""
        runs = self.release.runs()
        for row in runs:
            with self._importing_part(RUNS):
                run = collections.restore_run(
                    collection, row, self.release.rankings(row), files=self.files
                )
            if row.pooled:
                pool.runs.add(run)
        if runs:
            self.step("runs", len(runs))

    def _create_clicks(self, collection: Collection) -> None:
        clicks = self.release.clicks()
        for row in clicks:
            with self._importing_part(CLICKS):
                collections.restore_clicks(
                    collection, row, self.release.click_grades(row), files=self.files
                )
        if clicks:
            self.step("click qrels", len(clicks))

    def _create_campaign(
        self, collection: Collection, pool: Pool, *, last: datetime | None
    ) -> Campaign:
        about = self.release.about["campaign"]
        seed, least = about.get("seed"), about.get("least_priority")
        return campaigns.restore_campaign(
            collection,
            pool,
            slug=str(about.get("slug") or "campaign"),
            settings=EARLIER_RULES
            | {name: value for name, value in about["settings"].items() if name in SHARED_SETTINGS},
            annotator_type=AnnotatorType.SIMULATED
            if about.get("simulated")
            else AnnotatorType.HUMAN,
            seed=seed if isinstance(seed, int) and abs(seed) < 2**62 else 0,
            opened_at=self._parse_datetime(about.get("opened_at")),
            closed_at=self._parse_datetime(about.get("closed_at")) or last,
            user=self.user,
            least_priority=least if isinstance(least, int) and abs(least) < 2**31 else None,
        )

    def _create_guidelines(self, campaign: Campaign) -> None:
        said = {
            g.get("number"): g
            for g in self.release.about.get("guidelines", [])
            if isinstance(g, dict)
        }
        for number, text in self.release.guidelines():
            about = said.get(number, {})
            written_at = self._parse_datetime(about.get("written_at"))
            campaigns.restore_guideline(
                campaign, number, text, note=str(about.get("note") or ""), written_at=written_at
            )

    def _create_pairs(
        self,
        campaign: Campaign,
        rows: list[campaigns.PairRow],
        topics: dict[str, Topic],
        answers: campaigns.AnswerSummary,
    ) -> campaigns.RestoredPairs:
        with self._importing_part("pairs.tsv"):
            pairs = campaigns.make_unsaved_pairs(campaign, rows, topics=topics, answers=answers)
        with self._importing_part("gold.tsv"):
            campaigns.set_gold(pairs, self.release.gold(self.scale))
        with self._importing_part("adjudications.tsv"):
            campaigns.set_rulings(pairs, self.release.adjudications(self.scale))
        campaigns.store_pairs(campaign, pairs)
        self.step("pairs", len(pairs))
        return pairs

    def _llm_judges(self, campaign: Campaign, topics: dict[str, Topic]) -> None:
        """Import the frozen LLM judges with their labels. The labels must match the digests in
        llm-judges.json."""
        if not self.release.has(LLM_JUDGES):
            return
        with self._importing_part(LLM_JUDGES):
            n = restore_judges(
                campaign, self.release.llm_judges(), self.release.llm_labels(), topics=topics
            )
        self.step("LLM labels", n)

    def _verify_qrels(self, campaign: Campaign) -> None:
        """Raise FormatError unless the judgements reproduce the release's qrels."""
        for question in campaign.questions_after_grade:
            choices = replace(self.choices, question=question.key, min_relevant=None)
            part = f"{QUESTION_QRELS}{question.key}.qrels.txt"
            if not self.release.has(part):
                raise self.wrong(f"missing part {part}", "the labels of each question")
            self._compare_qrels(part, make_labels(campaign, choices).qrels("graded"))
        made = make_labels(campaign, self.choices)
        if "known" not in self.release.about.get("labels", {}):
            # in older releases, known grades of qualification pairs were not labels
            made = replace(
                made, beyond=[row for row in made.beyond if row.decision != KNOWN_GRADE_COLUMN]
            )
        for part, grades in (("qrels.txt", "graded"), ("qrels-binary.txt", "binary")):
            self._compare_qrels(part, made.qrels(grades))

    def _compare_qrels(self, part: str, qrels: QrelsColumns) -> None:
        text = io.StringIO()
        try:
            write_qrels(qrels, text)
        except ValueError as error:
            raise self.wrong(str(error), "ids without white space", part) from None
        if self.release.text(part) != text.getvalue():
            raise self.wrong(
                "the qrels differ from those that the release's judgements give with its recipe",
                "qrels that follow from the judgements",
                part,
            )

    def _create_recipe(self, campaign: Campaign) -> None:
        about = self.release.about["recipe"]
        more = {name: bool(about.get(name)) for name in OPTIONAL_CONTENT}
        name = str(about.get("name") or "default")[:200]
        Recipe.objects.create(
            campaign=campaign,
            name=name,
            choices=self.choices.as_json() | more,
            created_by=self.user,
        )

    def _parse_datetime(self, text: Any) -> datetime | None:
        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text)
        except (TypeError, ValueError):
            at = None
        if at is None or at.tzinfo is None:
            raise self.wrong(f"{str(text)[:40]!r} is not a date and time", "ISO 8601 in UTC")
        return at
