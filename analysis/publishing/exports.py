"""Exports of a campaign to a single file, each with a unique name. Every export is recorded in the
audit log.

    export = find_export("qrels")
    export.write(campaign, ExportOptions(), out)  # writes text, or raises an exception
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, Any, BinaryIO, cast

from django.utils.translation import gettext as _

from analysis.judgements.campaign_sample import describe_prioritised_progress, is_sampled
from analysis.judgements.labels import ALL_JUDGES, LabelChoices, Labels, make_labels
from analysis.publishing import sample_files
from analysis.publishing.contents import (
    FEEDBACK_COLUMNS,
    iterate_feedback,
    iterate_pair_texts,
    iterate_pool_lines,
    iterate_raw_judgements,
)
from analysis.publishing.zips import write_zip
from annotation.core.audit_actions import AuditAction
from annotation.core.campaign_questions import PRIMARY_KEY
from annotation.models import Campaign
from annotation.selectors.pairs import get_ruled_pairs
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.formats.delimited import escape_formula
from assay.formats.engines import (
    LabelledQuery,
    list_labelled_queries,
    write_import_judgment,
    write_label_csv,
    write_ltr,
    write_rank_eval,
)
from assay.formats.exports import (
    BookPair,
    write_crowdkit,
    write_fira_judgements,
    write_quepid_book,
    write_quepid_snapshot,
    write_raw_judgements,
)
from assay.formats.qrels import SAMPLED_MARK, write_qrels
from assay.formats.quepid_tables import (
    CaseQuery,
    RatedPair,
    write_detailed,
    write_general,
    write_ratings,
)
from assay.labels.annotator_types import AnnotatorType, check_types
from assay.number_words import format_count
from assay.pools.pool_kinds import PoolKind
from pooling.models import Document
from pooling.platform.snapshot import snapshot
from pooling.services.topics import format_kept_topics, format_removed_topics

MEMORY_BYTES = 4_000_000
"""Maximum bytes of a file that is prepared in memory. Larger files are prepared on disk."""
DOCUMENT_BATCH_SIZE = 200
ADJUDICATION_COLUMNS = ("topic", "document", "grade", "decided_at", "reason")
LABEL_COLUMNS = (
    "topic",
    "document",
    "grade",
    "decision",
    "binary",
    "binary_decision",
    "judgements",
)
SAMPLED, ORDERED = PoolKind.SAMPLED, PoolKind.ORDERED
TSV, CSV, TEXT, JSON, ZIP = (
    "text/tab-separated-values",
    "text/csv",
    "text/plain",
    "application/json",
    "application/zip",
)


@dataclass(frozen=True)
class ExportOptions:
    """Options of one exported file.

    comments: header lines with # in qrels. spreadsheet: escape cells that a spreadsheet would run
    as formulas. topics: topics to include in qrels, all if None.
    """

    choices: LabelChoices = field(default_factory=LabelChoices)
    comments: bool = False
    spreadsheet: bool = False
    topics: frozenset[str] | None = None


@dataclass(frozen=True)
class Export:
    """A type of file that can be exported from a campaign. name: used in URLs. file: end of the
    file name, after the campaign's slug. heeds: the options that affect it (labels, question,
    comments, spreadsheet). of_kind: the kind of pool that it requires."""

    name: str
    title: str
    words: str
    file: str
    content_type: str
    write: Callable[[Campaign, ExportOptions, IO[str]], object]
    heeds: tuple[str, ...] = ()
    binary: bool = False
    of_kind: PoolKind | None = None

    def filename(self, campaign: Campaign, choices: LabelChoices | None = None) -> str:
        """Return the name of the exported file. It says if labels are simulated or by LLM judges,
        and if qrels hold only the sampled pairs of a pool."""
        question = f"-{choices.question}" if choices and not choices.is_primary else ""
        drawn = "-sampled" if "comments" in self.heeds and is_sampled(campaign) else ""
        return f"{campaign.slug}{annotator_type_suffix(campaign, choices if 'labels' in self.heeds else None)}{question}{drawn}-{self.file}"


def annotator_type_suffix(campaign: Campaign, choices: LabelChoices | None = None) -> str:
    """Return the part of a file name that says that annotators are not human. choices: the
    annotator types in the file, all of the campaign if None."""
    if choices is not None and AnnotatorType.LLM in choices.judges:
        return "-llm"
    return (
        "-simulated"
        if campaign.simulated and (choices is None or AnnotatorType.SIMULATED in choices.judges)
        else ""
    )


def find_export(name: str) -> Export | None:
    return EXPORTS.get(name)


def available_exports(campaign: Campaign) -> dict[str, Export]:
    """Return the types of files that can be exported from the campaign."""
    return {
        name: export
        for name, export in EXPORTS.items()
        if export.of_kind in (None, campaign.pool and campaign.pool.kind)
    }


def prepare_export(export: Export, campaign: Campaign, options: ExportOptions) -> BinaryIO:
    """Return the complete exported file, made from one snapshot and positioned at its start.
    Downloads start only once it is complete, so they are never truncated. Raises CampaignError if
    it cannot be created."""
    if not options.choices.is_primary and "question" not in export.heeds:
        raise CampaignError(
            _("The export “%(title)s” contains only grades, not answers to further questions.")
            % {"title": export.title}
        )
    file = cast(BinaryIO, tempfile.SpooledTemporaryFile(MEMORY_BYTES))  # noqa: SIM115  handed to the response, which closes it
    with snapshot():
        now = Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)
        if export.binary:
            _text_writer(lambda: export.write(now, options, cast(Any, file)))
        else:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            _text_writer(lambda: export.write(now, options, text))
            text.flush()
            text.detach()
    file.seek(0)
    return file


def _text_writer(write: Callable[[], object]) -> None:
    try:
        write()
    except ValueError as error:
        raise CampaignError(
            _("This file can't be created: %(error)s.") % {"error": error}
        ) from error


def log_export(campaign: Campaign, user: Any, export: Export, options: ExportOptions) -> None:
    details = {"choices": ", ".join(options.choices.words())} if "labels" in export.heeds else {}
    record_event(
        campaign, user, AuditAction.EXPORTED, export.filename(campaign, options.choices), **details
    )


def check_choices(campaign: Campaign, choices: LabelChoices) -> list[str]:
    """Return a sentence for each label choice that is invalid for this campaign."""
    keys = [PRIMARY_KEY, *(question.key for question in campaign.questions_after_grade)]
    if choices.question not in keys:
        return [
            f"This campaign has no question {choices.question[:60]!r}, expected one of {', '.join(keys)}."
        ]
    mistakes = []
    values = campaign.scale_of(choices.question).values
    if choices.min_relevant is not None and choices.min_relevant not in values[1:]:
        mistakes.append(
            f"The minimum relevant grade must be one of {', '.join(map(str, values[1:]))}."
        )
    known = set(campaign.memberships.filter(role="annotator").values_list("pseudonym", flat=True))
    if absent := sorted({*choices.exclude, *choices.include_excluded} - known - {ALL_JUDGES}):
        mistakes.append(f"This campaign has no annotator called {', '.join(absent)}.")
    if both := sorted(set(choices.exclude) & set(choices.include_excluded)):
        mistakes.append(f"{', '.join(both)}: you can't both leave out and include an annotator.")
    if wrong := check_types(choices.judges):
        mistakes.append(wrong)
    return mistakes


def comment_lines(
    campaign: Campaign, options: ExportOptions, labels: Labels, scale: str
) -> Iterable[str]:
    """Return the comment lines at the start of a file of labels. They depend only on the data.
    scale: `graded` or `binary`."""
    yield f"# campaign {campaign.slug}: {', '.join(options.choices.words())}\n"
    if options.topics is not None:
        yield f"# only the topics {', '.join(sorted(options.topics))}\n"
    ended = (labels.graded if scale == "graded" else labels.binary).ended
    if ended is not None and not ended.converged:
        rounds = format_count(ended.rounds, "round")
        yield (
            f"# {options.choices.method} did not converge within {rounds}: some labels might "
            f"change in further rounds\n"
        )
    if labels.n_adjudicated:
        yield f"# {format_count(labels.n_adjudicated, 'label')} adjudicated by a manager\n"
    if labels.n_known:
        yield (
            f"# {format_count(labels.n_known, 'known grade')} of qualification pairs, not "
            "judged in this campaign\n"
        )
    if is_sampled(campaign):
        yield (
            f"{SAMPLED_MARK}: pairs were drawn with unequal probabilities; scores are estimated "
            f"from the five-column file, which has the strata\n"
        )
    if half := describe_prioritised_progress(campaign):
        yield (
            f"# ORDERED, relevant first: {half} Scores computed from these qrels are not "
            "comparable with those of a complete pool\n"
        )
    if annotator_type_suffix(campaign, options.choices) == "-simulated":
        yield "# SIMULATED: this campaign holds judgements of simulated annotators\n"


def _qrels_writer(grades: str) -> Callable[[Campaign, ExportOptions, IO[str]], None]:
    def write(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
        chosen_labels = make_labels(campaign, options.choices)
        if options.comments:
            out.writelines(comment_lines(campaign, options, chosen_labels, grades))
        write_qrels(chosen_labels.qrels(grades, options.topics), out)

    return write


def _write_labels(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_label_rows(make_labels(campaign, options.choices), out, spreadsheet=options.spreadsheet)


def write_label_rows(labels: Labels, out: IO[str], *, spreadsheet: bool = False) -> None:
    """Write the graded and the binary label of every pair, and how each was decided."""
    safe = escape_formula if spreadsheet else str
    out.write("\t".join(LABEL_COLUMNS) + "\n")
    for label in labels.rows:
        cells = [
            label.topic,
            label.document,
            label.grade,
            label.decision,
            label.binary,
            label.binary_decision,
            label.judgements,
        ]
        out.write("\t".join(safe(str(cell)) for cell in cells) + "\n")


def _write_judgements(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_raw_judgements(
        iterate_raw_judgements(campaign, options.choices),
        out,
        spreadsheet=options.spreadsheet,
        questions=[question.key for question in campaign.questions_after_grade],
    )


def _prels_writer(grades: str) -> Callable[[Campaign, ExportOptions, IO[str]], None]:
    def write(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
        sample_files.write_prels(campaign, options.choices, out, grades=grades)

    return write


def _write_sample(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    sample_files.write_sample(
        campaign, options.choices, out, safe=escape_formula if options.spreadsheet else str
    )


def _write_batches(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    sample_files.write_batches(campaign, out, safe=escape_formula if options.spreadsheet else str)


def _write_excluded(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    rows = (row for row in iterate_raw_judgements(campaign, options.choices) if row.excluded)
    write_raw_judgements(rows, out, spreadsheet=options.spreadsheet)


def _write_fira(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    left_out = write_fira_judgements(
        iterate_raw_judgements(campaign, options.choices, counted=True), out
    )
    if left_out:
        raise ValueError(
            f"{format_count(left_out, 'judgement', 'has', 'have')} a grade above 3; FiRA has four grades (0 to 3)"
        )


def _write_crowdkit(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_crowdkit(iterate_raw_judgements(campaign, options.choices, counted=True), out)


def _write_quepid_book(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    """Write a Quepid book: each pair with its counted judgements. Annotators' email addresses are
    pseudonyms in a domain that cannot exist (RFC 2606)."""
    given = groupby(
        iterate_raw_judgements(campaign, options.choices, counted=True),
        key=lambda j: (j.qid, j.docid),
    )
    judged = {
        pair: [(f"{j.annotator}@{campaign.slug}.invalid", j.grade, j.note) for j in rows]
        for pair, rows in given
    }
    pairs = (
        BookPair(
            query_text=pair["text"],
            doc_id=pair["document"],
            position=pair["best_rank"] or None,
            document_fields={"title": pair["title"] or ""},
            information_need=pair["description"],
            judgements=judged.get((pair["topic"], pair["document"]), ()),
        )
        for pair in iterate_pair_texts(campaign)
    )
    name = f"{campaign.name} (simulated)" if campaign.simulated else campaign.name
    write_quepid_book(name, pairs, out, grades=[str(grade["name"]) for grade in campaign.scale])


def _write_quepid_snapshot(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    """Write a Quepid snapshot: the pool as one ranking per query, by best rank, then document
    ID."""
    if campaign.pool is None:
        raise ValueError("the campaign has no pool")
    pairs = sorted(
        iterate_pair_texts(campaign), key=lambda p: (p["topic"], p["best_rank"], p["document"])
    )
    rows = (
        (pair["text"], pair["document"], place)
        for _, part in groupby(pairs, key=lambda p: p["topic"])
        for place, pair in enumerate(part, 1)
    )
    write_quepid_snapshot(
        rows,
        out,
        name=campaign.pool.name,
        time=campaign.pool.created_at,
        spreadsheet=options.spreadsheet,
    )


def _rated_pairs(campaign: Campaign, options: ExportOptions) -> list[RatedPair]:
    """Return every pair with its label and its position in its query's ranking by best rank, then
    document ID."""
    grades = {
        (label.topic, label.document): label.grade
        for label in make_labels(campaign, options.choices).rows
    }
    pairs = sorted(
        iterate_pair_texts(campaign), key=lambda p: (p["topic"], p["best_rank"], p["document"])
    )
    return [
        RatedPair(
            pair["text"],
            pair["document"],
            place,
            pair["title"] or "",
            grades.get((pair["topic"], pair["document"])),
        )
        for _, part in groupby(pairs, key=lambda p: p["topic"])
        for place, pair in enumerate(part, 1)
    ]


def _write_ratings(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_ratings(
        _rated_pairs(campaign, options), out, safe=escape_formula if options.spreadsheet else str
    )


def _write_detailed(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_detailed(
        _rated_pairs(campaign, options),
        out,
        case=campaign.name,
        safe=escape_formula if options.spreadsheet else str,
    )


def _write_general(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    counts = Counter(pair["topic"] for pair in iterate_pair_texts(campaign))
    topics = {
        pair["topic"]: CaseQuery(pair["text"], counts[pair["topic"]], pair["description"])
        for pair in iterate_pair_texts(campaign)
    }
    write_general(
        topics.values(),
        out,
        case=campaign.name,
        safe=escape_formula if options.spreadsheet else str,
    )


def _labelled_queries(campaign: Campaign, options: ExportOptions) -> list[LabelledQuery]:
    texts = dict(campaign.collection.topics.values_list("topic_id", "text"))
    labels = make_labels(campaign, options.choices).qrels("graded", options.topics)
    return list_labelled_queries(labels, texts)


def _write_import_judgment(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    name = f"{campaign.name} (simulated)" if campaign.simulated else campaign.name
    described = ", ".join(options.choices.words())
    write_import_judgment(
        _labelled_queries(campaign, options), out, name=name, description=described
    )


def _write_rank_eval(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_rank_eval(_labelled_queries(campaign, options), out, index=campaign.collection.slug)


def _write_ltr(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    write_ltr(_labelled_queries(campaign, options), out)


def _write_label_csv(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    safe = escape_formula if options.spreadsheet else str
    write_label_csv(_labelled_queries(campaign, options), out, safe=safe)


def write_documents(campaign: Campaign, out: IO[str], *, whole: bool = False) -> None:
    """Write the stored documents of the pool as JSON lines, by ID, in the format of BEIR's corpus.
    whole: include the additional fields."""
    if campaign.pool is None:
        return
    docnos_and_rows = sorted(
        Document.objects.filter(pk__in=campaign.pool.entries.values("document")).values_list(
            "docno", "pk"
        )
    )
    for start in range(0, len(docnos_and_rows), DOCUMENT_BATCH_SIZE):
        part = docnos_and_rows[start : start + DOCUMENT_BATCH_SIZE]
        rows = Document.objects.in_bulk([pk for _, pk in part])
        for docno, pk in part:
            row = rows[pk]
            more = {"fields": row.fields} if whole and row.fields else {}
            out.write(
                json.dumps(
                    {"_id": docno, "title": row.title, "text": row.text, **more}, ensure_ascii=False
                )
                + "\n"
            )


def _write_beir(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    def queries(text: IO[str]) -> None:
        for topic in campaign.collection.topics.filter(removed_reason="").order_by(
            "position", "topic_id"
        ):
            text.write(
                json.dumps({"_id": topic.topic_id, "text": topic.text}, ensure_ascii=False) + "\n"
            )

    def qrels(text: IO[str]) -> None:
        text.write("query-id\tcorpus-id\tscore\n")
        text.writelines(
            f"{row.topic}\t{row.document}\t{row.grade}\n"
            for row in make_labels(campaign, options.choices).rows
        )

    write_zip(
        cast(BinaryIO, out),
        {
            "corpus.jsonl": lambda text: write_documents(campaign, text),
            "queries.jsonl": queries,
            "qrels/test.tsv": qrels,
        },
    )


def _write_pool(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    out.writelines(iterate_pool_lines(campaign))


def _write_kept_topics(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    out.write(format_kept_topics(campaign.collection))


def _write_removed_topics(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    out.write(format_removed_topics(campaign.collection))


def write_adjudications(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    """Write the adjudicated labels with their reasons, without the names of managers."""
    out.write("\t".join(ADJUDICATION_COLUMNS) + "\n")
    ruled = get_ruled_pairs(campaign)
    wanted_columns = (
        "entry__topic__topic_id",
        "entry__docno",
        "adjudicated_grade",
        "adjudicated_at",
        "adjudicated_reason",
    )
    safe = escape_formula if options.spreadsheet else str
    for topic, document, grade, at, reason in sorted(
        ruled.values_list(*wanted_columns), key=lambda row: row[:2]
    ):
        moment = at.isoformat(timespec="microseconds").replace("+00:00", "Z") if at else ""
        cells = (topic, document, str(grade), moment, " ".join(reason.split()))
        out.write("\t".join(safe(cell) for cell in cells) + "\n")


def _write_feedback(campaign: Campaign, options: ExportOptions, out: IO[str]) -> None:
    """Write the annotators' closing feedback. Without answers, only the header is written."""
    safe = escape_formula if options.spreadsheet else str
    out.write("\t".join(FEEDBACK_COLUMNS) + "\n")
    out.writelines("\t".join(map(safe, row)) + "\n" for row in iterate_feedback(campaign))


RULES, SAFE = ("labels",), ("labels", "spreadsheet")
OF_QUESTION, SAFE_OF_QUESTION = ("labels", "question"), ("labels", "question", "spreadsheet")
EXPORTS = {
    export.name: export
    for export in (
        Export(
            "qrels",
            "Qrels, all grades",
            "One label per pair, in the format of trec_eval.",
            "qrels.txt",
            TEXT,
            _qrels_writer("graded"),
            ("labels", "question", "comments"),
        ),
        Export(
            "qrels-binary",
            "Qrels, relevant or not",
            "Each judgement is first reduced to relevant or not relevant. One label per pair.",
            "qrels-binary.txt",
            TEXT,
            _qrels_writer("binary"),
            ("labels", "question", "comments"),
        ),
        Export(
            "prels",
            "Prels, all grades",
            "TREC's prels: five columns, with strata.",
            "prels.txt",
            TEXT,
            _prels_writer("graded"),
            RULES,
            of_kind=SAMPLED,
        ),
        Export(
            "prels-binary",
            "Prels, relevant or not",
            "TREC's prels: five columns, with strata.",
            "prels-binary.txt",
            TEXT,
            _prels_writer("binary"),
            RULES,
            of_kind=SAMPLED,
        ),
        Export(
            "sample",
            "Sampled pool, table",
            "Each pair with its probability, stage and label.",
            "sample.tsv",
            TSV,
            _write_sample,
            SAFE,
            of_kind=SAMPLED,
        ),
        Export(
            "batches",
            "Batches",
            "Each pair with its batch, and whether it was drawn at random or chosen.",
            "batches.tsv",
            TSV,
            _write_batches,
            ("spreadsheet",),
            of_kind=ORDERED,
        ),
        Export(
            "labels",
            "Labels and decisions",
            "Both labels of each pair, how each was decided, and whether it was adjudicated.",
            "labels.tsv",
            TSV,
            _write_labels,
            SAFE_OF_QUESTION,
        ),
        Export(
            "judgements",
            "Raw judgements",
            "Every revision, with times, spans, status, guideline version, and why it does not count.",
            "judgements.tsv",
            TSV,
            _write_judgements,
            SAFE,
        ),
        Export(
            "excluded",
            "Judgements that do not count",
            "With reasons.",
            "excluded.tsv",
            TSV,
            _write_excluded,
            SAFE,
        ),
        Export(
            "adjudications",
            "Adjudications",
            "Managers' decisions with their reasons.",
            "adjudications.tsv",
            TSV,
            write_adjudications,
            ("spreadsheet",),
        ),
        Export(
            "feedback",
            "Feedback",
            "Survey answers, under pseudonyms.",
            "feedback.tsv",
            TSV,
            _write_feedback,
            ("spreadsheet",),
        ),
        Export(
            "pool",
            "Pool",
            "Pairs with best rank, priority and contributing runs.",
            "pool.tsv",
            TSV,
            _write_pool,
        ),
        Export("topics", "Topics kept", "ID and text.", "topics.tsv", TSV, _write_kept_topics),
        Export(
            "topics-removed",
            "Topics removed",
            "With reasons.",
            "topics-removed.tsv",
            TSV,
            _write_removed_topics,
        ),
        Export(
            "fira",
            "FiRA",
            "Counted judgements, in FiRA's columns.",
            "fira.tsv",
            TSV,
            _write_fira,
            RULES,
        ),
        Export(
            "quepid-book",
            "Quepid book",
            "Pairs and counted judgements, as JSON.",
            "quepid-book.json",
            JSON,
            _write_quepid_book,
            RULES,
        ),
        Export(
            "quepid-snapshot",
            "Quepid snapshot",
            "The pool as a ranking, as CSV.",
            "quepid-snapshot.csv",
            CSV,
            _write_quepid_snapshot,
            ("spreadsheet",),
        ),
        Export(
            "quepid-ratings",
            "Quepid ratings",
            "Query, document and label of every pair, as CSV.",
            "quepid-ratings.csv",
            CSV,
            _write_ratings,
            SAFE_OF_QUESTION,
        ),
        Export(
            "quepid-detailed",
            "Quepid case, detailed",
            "One row per pair: rank, title, label.",
            "quepid-detailed.csv",
            CSV,
            _write_detailed,
            SAFE_OF_QUESTION,
        ),
        Export(
            "quepid-general",
            "Quepid case, general",
            "One row per query.",
            "quepid-general.csv",
            CSV,
            _write_general,
            ("spreadsheet",),
        ),
        Export(
            "opensearch",
            "OpenSearch judgement list",
            "Labels to import into Search Relevance, as JSON.",
            "opensearch-judgments.json",
            JSON,
            _write_import_judgment,
            OF_QUESTION,
        ),
        Export(
            "rank-eval",
            "Ranking evaluation request",
            "For Elasticsearch and OpenSearch. Replace the query with your own.",
            "rank-eval.json",
            JSON,
            _write_rank_eval,
            OF_QUESTION,
        ),
        Export(
            "ltr",
            "Learning to rank",
            "Grade, query number and document of every label.",
            "ltr.txt",
            TEXT,
            _write_ltr,
            OF_QUESTION,
        ),
        Export(
            "label-csv",
            "Labels as CSV",
            "Topic, query, document and grade of every label.",
            "labels.csv",
            CSV,
            _write_label_csv,
            SAFE_OF_QUESTION,
        ),
        Export(
            "crowd-kit",
            "crowd-kit",
            "Task, worker and label of counted judgements, as CSV.",
            "crowd-kit.csv",
            CSV,
            _write_crowdkit,
            RULES,
        ),
        Export(
            "beir",
            "BEIR folder",
            "Corpus, queries and qrels. Contains document texts: check their licence.",
            "beir.zip",
            ZIP,
            _write_beir,
            OF_QUESTION,
            binary=True,
        ),
    )
}
