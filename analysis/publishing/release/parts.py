"""The parts of a release: their contents, how each is written, and whether an import needs it.

The writer, the reader, the datasheet and the documents are driven by PARTS. A new part needs one
entry here and one line in docs/how-to/publish.md. The output depends only on the data and the
recipe, not on the time, row IDs or the user.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from analysis.judgements.campaign_sample import is_sampled, read_stage_progress
from analysis.judgements.labels import LabelChoices, Labels, make_labels
from analysis.publishing import exports, sample_files
from analysis.publishing.contents import (
    FEEDBACK_COLUMNS,
    iterate_feedback,
    iterate_pool_lines,
    iterate_raw_judgements,
)
from analysis.publishing.release import collection_files, metadata
from analysis.publishing.release.croissant import describe_for_croissant
from analysis.publishing.zips import LastPartWriter
from annotation.models import Campaign, Feedback, Judgement, Membership, Pair
from annotation.selectors import llm_judges
from annotation.selectors.pairs import get_kept_pairs, get_ruled_pairs, get_special_pairs
from annotation.services.campaigns.lifecycle import SETTINGS
from assay.cli.base import to_json_types
from assay.formats.exports import (
    RAW_COLUMNS,
    RawJudgement,
    format_answer,
    format_raw_cells,
    format_time,
    write_raw_judgements,
)
from assay.formats.qrels import write_qrels

FORMAT, VERSION = "assay campaign archive", 2
"""Format name and version in campaign.json. A new name would make releases unreadable for older
installations."""
SHARED_SETTINGS = SETTINGS - {"completion_code", "completion_url", "thanks_text", "task"}
"""Campaign settings in a release. Settings that concern only this campaign's annotators are left
out. The task of a released campaign is always grades."""
CHECKSUMS_FILE, CROISSANT = "SHA256SUMS", "croissant.json"
ANSWERS = "answers.tsv"
ANSWER_COLUMNS = ("topic", "document", "annotator", "revision", "question", "answer")
QUESTION_QRELS = "questions/"
AUDIT = "audit.tsv"
GUIDELINES = "guidelines/"
PROVE, LOAD = "prove.py", "load_ir_datasets.py"
"""Scripts of this folder that are written into every release."""


OPTIONAL_CONTENT = ("documents", "notes", "runs", "clicks")
"""What a recipe can include in a release, as booleans."""


@dataclass(frozen=True)
class ReleasePlan:
    """What to include in a release: its recipe and options. documents: include the pool's texts.
    notes: include annotators' notes. runs, clicks: include the collection's runs and its qrels from
    clicks."""

    name: str = "default"
    choices: LabelChoices = field(default_factory=LabelChoices)
    documents: bool = False
    notes: bool = False
    runs: bool = False
    clicks: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            **self.choices.as_json(),
            **{name: getattr(self, name) for name in OPTIONAL_CONTENT},
        }


@dataclass(frozen=True, eq=False)
class ReleaseContent:
    """The data from which the parts of a release are written. about: campaign.json. sheet: the
    datasheet."""

    campaign: Campaign
    plan: ReleasePlan
    labels: Labels
    statistics: dict[str, Any]
    agreement: dict[str, Any]
    about: dict[str, Any]
    sheet: str = ""


@dataclass(frozen=True)
class ReleasePart:
    """A type of file or folder in a release.

    name: file name, with a slash at the end for a folder. holds: description in the datasheet.
    needed: whether an import fails without it. earlier: columns written by older versions, which
    are still read. write: returns the content as text, or as rows for a table with columns.
    is_included: whether a release of this content has the part.
    """

    name: str
    holds: str
    write: Callable[[ReleaseContent, IO[str]], object] | None = None
    columns: tuple[str, ...] = ()
    rows: Callable[[ReleaseContent], Iterable[Sequence[Any]]] | None = None
    needed: bool = False
    earlier: tuple[tuple[str, ...], ...] = ()
    is_included: Callable[[ReleaseContent], bool] = lambda content: True

    def written(self, content: ReleaseContent, text: IO[str]) -> None:
        if self.write is not None:
            self.write(content, text)
        elif self.rows is not None:
            text.write("\t".join(self.columns) + "\n")
            text.writelines("\t".join(map(_format_cell, row)) + "\n" for row in self.rows(content))


def _format_cell(value: Any) -> str:
    return " ".join(str("" if value is None else value).split())


def part_writers(content: ReleaseContent) -> dict[str, Callable[[IO[str]], object]]:
    """Return a function for each part that writes it, by name, except for `last_part_writers`."""
    asked = [
        part
        for part in PARTS
        if part.is_included(content) and part.name in FILE_NAMES - {CROISSANT, CHECKSUMS_FILE}
    ]
    files: dict[str, Callable[[IO[str]], object]] = {
        part.name: partial(part.written, content) for part in asked
    }
    for version in content.campaign.guidelines.all():
        files[f"{GUIDELINES}v{version.number}.md"] = partial(_write_text, version.text)
    if content.plan.runs:
        files |= collection_files.run_writers(content.campaign)
    if content.plan.clicks:
        files |= collection_files.click_writers(content.campaign)
    for question in content.campaign.questions_after_grade:
        name = f"{QUESTION_QRELS}{question.key}.qrels.txt"
        files[name] = partial(_write_question_qrels, content, question.key)
    return files


def last_part_writers(content: ReleaseContent) -> dict[str, LastPartWriter]:
    """Return the functions that write the parts that contain digests of other parts, by name."""
    return {CROISSANT: partial(_write_croissant, content), CHECKSUMS_FILE: _write_checksums}


def _write_croissant(content: ReleaseContent, text: IO[str], *, digests: Mapping[str, str]) -> None:
    described = describe_for_croissant(
        content.campaign,
        as_of=content.about["as_of"],
        descriptions={part.name: part.holds for part in PARTS},
        digests=digests,
    )
    json.dump(described, text, ensure_ascii=False, indent=1)
    text.write("\n")


def _write_checksums(text: IO[str], *, digests: Mapping[str, str]) -> None:
    text.writelines(f"{digest}  {name}\n" for name, digest in digests.items())


def read_script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _write_question_qrels(content: ReleaseContent, question: str, text: IO[str]) -> None:
    choices = replace(content.plan.choices, question=question, min_relevant=None)
    write_qrels(make_labels(content.campaign, choices).qrels("graded"), text)


def _answer_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    keys = [question.key for question in content.campaign.questions_after_grade]
    for row in iterate_raw_judgements(content.campaign, notes=False):
        for key in keys:
            if answer := format_answer(row.answers, key):
                yield row.qid, row.docid, row.annotator, row.revision, key, answer


def _has_questions(content: ReleaseContent) -> bool:
    return bool(content.campaign.further_questions)


def _is_staged(content: ReleaseContent) -> bool:
    return content.campaign.pool is not None and content.campaign.pool.is_staged


def _write_text(words: str, text: IO[str]) -> None:
    text.write(words)


def format_plain(value: Any) -> str:
    return (
        json.dumps(
            to_json_types(value), ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False
        )
        + "\n"
    )


def _write_revisions(
    content: ReleaseContent, text: IO[str], *, excluded_only: bool = False
) -> None:
    rows: Iterable[RawJudgement] = iterate_raw_judgements(
        content.campaign, content.plan.choices, notes=content.plan.notes
    )
    write_raw_judgements((row for row in rows if row.excluded or not excluded_only), text)


def _annotator_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    people = content.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    current = Judgement.objects.filter(membership__in=people, pair__removed=False, current=True)
    n_current: dict[int, int] = {}
    n_counted: dict[int, int] = {}
    for member, status in current.values_list("membership_id", "status"):
        n_current[member] = n_current.get(member, 0) + 1
        n_counted[member] = n_counted.get(member, 0) + (status == Judgement.Status.COUNTED)
    return sorted(
        (
            m.pseudonym,
            m.status,
            m.status_reason,
            m.annotator_type,
            n_counted.get(m.pk, 0),
            n_current.get(m.pk, 0),
        )
        for m in people
    )


AUDIT_COLUMNS = (
    *("judged_at", "event", "qid", "docid", "annotator", "revision", "grade"),
    *("cannot_judge_reason", "spans", "previous_sha256"),
)


def _write_audit(content: ReleaseContent, text: IO[str]) -> None:
    """Write all judgements and adjudications in chronological order. Each line has the SHA-256
    digest of the line before. The columns do not depend on the recipe."""
    places = [RAW_COLUMNS.index(name) for name in AUDIT_COLUMNS[2:-1]]
    events = []
    for judgement in iterate_raw_judgements(content.campaign, notes=False):
        cells = format_raw_cells(judgement)
        time = format_time(judgement.judged_at)
        events.append([time, "judgement", *(cells[place] for place in places)])
    ruled = get_ruled_pairs(content.campaign).values_list(
        "adjudicated_at", "entry__topic__topic_id", "entry__docno", "adjudicated_grade"
    )
    for at, topic, document, grade in ruled:
        events.append(
            [format_time(at), "adjudication", topic, document, "", "", str(grade), "", ""]
        )
    line = "\t".join(AUDIT_COLUMNS) + "\n"
    text.write(line)
    for event in sorted(events, key=lambda cells: (*cells[:5], int(cells[5] or 0))):
        digest = hashlib.sha256(line.encode()).hexdigest()
        line = "\t".join((*map(_format_cell, event), digest)) + "\n"
        text.write(line)


LLM_JUDGES, LLM_LABELS = "llm-judges.json", "llm-labels.tsv"
LLM_LABEL_COLUMNS = ("llm_judge", "topic", "document", "grade")
PAIR_COLUMNS = (
    "topic",
    "document",
    "best_rank",
    "priority",
    "kind",
    "needed",
    "judgements",
    "asked_more",
)
PAIR_FIELDS = (
    "entry__topic__topic_id",
    "entry__docno",
    "entry__best_rank",
    "priority",
    "kind",
    "needed",
    "counted",
    "asked_more",
)
EARLIER_PAIR_COLUMNS = (PAIR_COLUMNS[:-1],)


def _pair_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    pairs = get_kept_pairs(content.campaign).exclude(kind=Pair.Kind.QUALIFICATION)
    return pairs.order_by("position", "pk").values_list(*PAIR_FIELDS)


def _qualification_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    pairs = get_special_pairs(content.campaign, Pair.Kind.QUALIFICATION)
    return pairs.order_by("position", "pk").values_list(*PAIR_FIELDS)


def _gold_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    pairs = get_kept_pairs(content.campaign).filter(gold_grade__isnull=False)
    return sorted(
        pairs.values_list(
            "entry__topic__topic_id", "entry__docno", "gold_grade", "gold_explanation"
        )
    )


def _write_topics(content: ReleaseContent, text: IO[str]) -> None:
    """Write all topics in order, accepted and removed, with all their texts."""
    for t in content.campaign.collection.topics.order_by("position", "topic_id"):
        row = {
            "id": t.topic_id,
            "text": t.text,
            "description": t.description,
            "narrative": t.narrative,
            "fields": t.fields,
            "position": t.position,
            "proposal": t.proposal,
            "same_as": t.same_as,
            "removed_reason": t.removed_reason,
        }
        text.write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")


def _llm_label_rows(content: ReleaseContent) -> Iterable[Sequence[Any]]:
    for judge in llm_judges.get_frozen_judges(content.campaign):
        for (topic, document), grade in sorted(llm_judges.get_labels(judge).items()):
            yield judge.name, topic, document, grade


def _has_llm_labels(content: ReleaseContent) -> bool:
    return bool(llm_judges.get_frozen_judges(content.campaign))


PARTS = (
    ReleasePart(
        "README.md",
        "title, authors, annotators, use, limits and licence, with a card for Hugging Face",
        lambda c, text: text.write(metadata.write_readme(c.campaign)),
        is_included=lambda c: metadata.has_metadata(c.campaign),
    ),
    ReleasePart(
        "CITATION.cff",
        "how to cite the data set",
        lambda c, text: text.write(metadata.write_citation(c.campaign)),
        is_included=lambda c: metadata.has_citation(c.campaign),
    ),
    ReleasePart(
        ".zenodo.json",
        "metadata for Zenodo",
        lambda c, text: text.write(format_plain(metadata.describe_for_zenodo(c.campaign))),
        is_included=lambda c: metadata.has_citation(c.campaign),
    ),
    ReleasePart(
        "LICENSE",
        "licences of judgements, topics and document texts",
        lambda c, text: text.write(metadata.write_licenses(c.campaign)),
        is_included=lambda c: bool(metadata.list_licenses(c.campaign)),
    ),
    ReleasePart(CROISSANT, "files, digests and tables for programs, in the format Croissant"),
    ReleasePart("datasheet.md", "this page", lambda c, text: text.write(c.sheet)),
    ReleasePart(
        "qrels.txt",
        "labels on all grades, as trec_eval reads them",
        lambda c, text: write_qrels(c.labels.qrels("graded"), text),
        needed=True,
    ),
    ReleasePart(
        "qrels-binary.txt",
        "labels on two grades; each judgement was made relevant or not before aggregation",
        lambda c, text: write_qrels(c.labels.qrels("binary"), text),
        needed=True,
    ),
    ReleasePart(
        "labels.tsv",
        "both labels of each pair and how each was decided",
        lambda c, text: exports.write_label_rows(c.labels, text),
    ),
    ReleasePart(
        "judgements.tsv",
        "every revision of every judgement; `excluded` is 1 if a row does not enter labels, with the reason",
        _write_revisions,
        columns=RAW_COLUMNS,
        needed=True,
    ),
    ReleasePart(
        ANSWERS,
        "answers to further questions, by revision of judgements.tsv",
        columns=ANSWER_COLUMNS,
        rows=_answer_rows,
        is_included=_has_questions,
    ),
    ReleasePart(
        QUESTION_QRELS,
        "labels of each further question, as trec_eval reads them",
        is_included=_has_questions,
    ),
    ReleasePart(
        "excluded.tsv",
        "the rows of judgements.tsv that do not enter labels",
        partial(_write_revisions, excluded_only=True),
    ),
    ReleasePart(
        "adjudications.tsv",
        "adjudicated labels with reasons; they override aggregated labels",
        lambda c, text: exports.write_adjudications(c.campaign, exports.ExportOptions(), text),
        columns=exports.ADJUDICATION_COLUMNS,
        needed=True,
    ),
    ReleasePart(
        AUDIT,
        "all judgements and adjudications in the order of time; each line has the digest of the line before",
        _write_audit,
    ),
    ReleasePart(
        "annotators.tsv",
        "annotators under their pseudonyms, with status",
        columns=("annotator", "status", "reason", "type", "counted", "judgements"),
        earlier=(("annotator", "status", "reason", "simulated", "counted", "judgements"),),
        rows=_annotator_rows,
        needed=True,
    ),
    ReleasePart(
        "feedback.tsv",
        "survey answers, under pseudonyms; free text only if notes are included",
        columns=FEEDBACK_COLUMNS,
        rows=lambda c: iterate_feedback(c.campaign, words=c.plan.notes),
        is_included=lambda c: Feedback.objects.filter(membership__campaign=c.campaign).exists(),
    ),
    ReleasePart(
        "pool.tsv",
        "the pool: best rank, priority, contributing runs and their ranks",
        lambda c, text: text.writelines(iterate_pool_lines(c.campaign)),
        needed=True,
    ),
    ReleasePart(
        "prels.txt",
        "the sampled pool with the labels of its complete stages: topic 0 document stratum grade",
        lambda c, text: sample_files.write_prels(c.campaign, c.plan.choices, text, grades="graded"),
        is_included=lambda c: is_sampled(c.campaign) and read_stage_progress(c.campaign)[0] > 0,
    ),
    ReleasePart(
        "strata.tsv",
        (
            "strata of the sampled or prioritised pool: pairs in each, and pairs drawn by "
            "the end of each stage or batch"
        ),
        columns=sample_files.STRATA_COLUMNS,
        rows=lambda c: sample_files.strata_rows(c.campaign),
        is_included=_is_staged,
    ),
    ReleasePart(
        "draw.tsv",
        (
            "pairs of the sampled pool, or of batches of the prioritised pool: stratum, "
            "place in its shuffle, stage or batch, drawn or chosen"
        ),
        columns=sample_files.DRAW_COLUMNS,
        rows=lambda c: sample_files.draw_rows(c.campaign),
        is_included=_is_staged,
    ),
    ReleasePart(
        LLM_LABELS,
        "labels by LLM judges, which are in no other file of this release",
        columns=LLM_LABEL_COLUMNS,
        rows=_llm_label_rows,
        is_included=_has_llm_labels,
    ),
    ReleasePart(
        LLM_JUDGES,
        "LLM judges of llm-labels.tsv: model, prompt, scale, guidelines, date and digest",
        lambda c, text: text.write(
            format_plain(
                [
                    llm_judges.describe_judge(judge)
                    for judge in llm_judges.get_frozen_judges(c.campaign)
                ]
            )
        ),
        is_included=_has_llm_labels,
    ),
    ReleasePart(
        "pairs.tsv",
        "campaign pairs",
        columns=PAIR_COLUMNS,
        earlier=EARLIER_PAIR_COLUMNS,
        rows=_pair_rows,
        needed=True,
    ),
    ReleasePart(
        "qualification.tsv",
        "qualification pairs",
        columns=PAIR_COLUMNS,
        earlier=EARLIER_PAIR_COLUMNS,
        rows=_qualification_rows,
        needed=True,
    ),
    ReleasePart(
        "gold.tsv",
        "known grades",
        columns=("topic", "document", "grade", "explanation"),
        rows=_gold_rows,
        needed=True,
    ),
    ReleasePart(
        "topics.tsv",
        "topics kept",
        lambda c, text: text.write(exports.format_kept_topics(c.campaign.collection)),
    ),
    ReleasePart(
        "topics-removed.tsv",
        "topics removed, with the reason",
        lambda c, text: text.write(exports.format_removed_topics(c.campaign.collection)),
    ),
    ReleasePart("topics.jsonl", "all topics with all their texts", _write_topics, needed=True),
    ReleasePart(GUIDELINES, "guidelines for annotators, by version"),
    ReleasePart(
        "statistics.json",
        "statistics above in full precision",
        lambda c, text: text.write(format_plain(c.statistics)),
    ),
    ReleasePart(
        "agreement.json",
        "agreement above in full precision",
        lambda c, text: text.write(format_plain(c.agreement)),
    ),
    ReleasePart(
        "campaign.json",
        "settings, scale, pool and recipe",
        lambda c, text: text.write(format_plain(c.about)),
        needed=True,
    ),
    ReleasePart(
        "documents.jsonl",
        "texts of the pool's documents",
        lambda c, text: exports.write_documents(c.campaign, text, whole=True),
        is_included=lambda content: content.plan.documents,
    ),
    ReleasePart(
        collection_files.RUNS,
        "runs: submission date, group, baseline, description, whether in the pool, and file",
        columns=collection_files.RUN_COLUMNS,
        rows=lambda c: collection_files.iterate_run_rows(c.campaign),
        is_included=lambda c: c.plan.runs,
    ),
    ReleasePart(
        collection_files.RUN_FOLDER,
        "rankings of the runs in TREC format, with their ir_metadata",
        is_included=lambda c: c.plan.runs and bool(collection_files.list_runs(c.campaign)),
    ),
    ReleasePart(
        collection_files.CLICKS,
        "qrels from clicks and their files",
        columns=collection_files.CLICK_COLUMNS,
        rows=lambda c: collection_files.iterate_click_rows(c.campaign),
        is_included=lambda c: c.plan.clicks,
    ),
    ReleasePart(
        collection_files.CLICK_FOLDER,
        "qrels from clicks, which are in no other file of this release",
        is_included=lambda c: c.plan.clicks and bool(collection_files.list_clicks(c.campaign)),
    ),
    ReleasePart(
        PROVE,
        "recomputes labels, statistics and agreement, and checks the digests: `python prove.py`",
        lambda c, text: text.write(read_script(PROVE)),
    ),
    ReleasePart(
        LOAD,
        "loads topics, qrels and documents with the package ir_datasets",
        lambda c, text: text.write(read_script(LOAD)),
    ),
    ReleasePart(CHECKSUMS_FILE, "checksums: `sha256sum -c SHA256SUMS`", needed=True),
)
"""All parts in the order of the datasheet. The checksums of all other parts are written last."""
PARTS_BY_NAME = {part.name: part for part in PARTS}
FILE_NAMES = {name for name in PARTS_BY_NAME if not name.endswith("/")}
