"""Small files with data of the collection and the campaign, which the worker writes for commands
that need more than runs and qrels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from analysis.commandline.stored_campaigns import export_judgements_text
from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.labels import is_own_labels, make_campaign_qrels
from analysis.judgements.rows import read_counted_table, read_pool_ranks
from analysis.models import Report
from analysis.systems.selectors import ordered_result
from annotation.models import Campaign
from annotation.selectors import llm_judges
from assay.cli.base import to_json_types
from assay.column_types import QrelsColumns
from assay.measures.evaluation import evaluate
from assay.measures.measures import UnknownMeasure, parse_measure
from pooling.models import Qrels, Run
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings


@dataclass(frozen=True)
class WrittenFile:
    """A file that the worker writes for an analysis.

    is_needed: whether the analysis needs the file, from the report's parameters, runs and campaign. It
    may raise Refused. text: returns the content. argument: name in the analysis, empty if its
    `inputs` names the file. options: options that have no effect without the file.
    """

    name: str
    is_needed: Callable[[Mapping[str, Any], Sequence[Run], Campaign | None], bool]
    text: Callable[[Report, ClaimedJob], str]
    argument: str = ""
    options: tuple[str, ...] = ()


def make_option_filter(
    option: str,
) -> Callable[[Mapping[str, Any], Sequence[Run], Campaign | None], bool]:
    """Return an `is_needed` function for a file that the user requests with a form option."""
    return lambda parameters, runs, campaign: bool(parameters.get("options", {}).get(option))


def get_chosen_runs(report: Report) -> list[Run]:
    """Return those of the report's runs that still exist, in the order of selection, with their
    tags at the time of the request."""
    chosen = report.parameters.get("runs", [])
    rows = {row.pk: row for row in Run.objects.filter(collection=report.collection, pk__in=chosen)}
    names = {one["origin"]: one["name"] for one in report.inputs}
    for row in rows.values():
        row.tag = names.get(f"run:{row.pk}", row.tag)
    return [rows[pk] for pk in chosen if pk in rows]


def needs_judgements(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Return whether the analysis needs individual judgements in addition to qrels."""
    if not parameters.get("options", {}).get("judgements"):
        return False
    if campaign is None or not all(map(is_own_labels, parameters.get("qrels", []))):
        raise Refused(
            _(
                "Label noise requires individual judgements, which only the campaign's own "
                "labels have. Select those labels."
            )
        )
    return True


def write_judgements(report: Report, work: ClaimedJob) -> str:
    assert report.campaign is not None, "available only with its campaign"
    return export_judgements_text(report.campaign)


JUDGEMENTS = WrittenFile(
    "judgements.tsv", needs_judgements, write_judgements, "judgements", ("grades", "label_trials")
)


def format_tsv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        return " ".join(str(value).split())

    return "".join("\t".join(map(cell, row)) + "\n" for row in [header, *rows])


def have_dates(runs: Sequence[Run], *, or_none: bool = False) -> bool:
    """Return whether the submission dates of all runs are known. Raises Refused if some are
    missing. or_none: return False instead if none is known."""
    undated = [run.tag for run in runs if run.submitted_on is None]
    if undated and not (or_none and len(undated) == len(runs)):
        shown = f"{', '.join(undated[:5])}{' …' if len(undated) > 5 else ''}"
        raise Refused(
            _("No submission date for %(shown)s. Enter it on the run's page.") % {"shown": shown}
        )
    return not undated


def is_pool_needed(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    options = parameters.get("options", {})
    return bool(options.get("top")) and bool(
        options.get("pool") or (campaign is not None and campaign.pool is not None)
    )


def pool_table(report: Report, work: ClaimedJob) -> str:
    header = ["topic", "document", "best_rank"]
    if chosen := report.parameters.get("options", {}).get("pool"):
        pool = report.collection.pools.filter(pk=chosen).first()
        if pool is None:
            raise Refused(
                _("The selected pool is no longer in the collection. Select another pool.")
            )
        return format_tsv(
            header,
            pool.entries.order_by("position").values_list("topic__topic_id", "docno", "best_rank"),
        )
    assert report.campaign is not None
    return format_tsv(header, read_pool_ranks(report.campaign))


POOL = WrittenFile("pool.tsv", is_pool_needed, pool_table, "pool", ("top",))


def is_order_known(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Return whether the submission dates of the report's runs are known. Raises Refused if only
    some are."""
    return have_dates(runs, or_none=True)


def order_table(report: Report, work: ClaimedJob) -> str:
    header = ["tag", "date", "group", "baseline", "description"]
    return format_tsv(
        header,
        [
            [
                r.tag,
                r.submitted_on.isoformat() if r.submitted_on else "",
                r.group,
                int(r.baseline),
                r.description,
            ]
            for r in get_chosen_runs(report)
        ],
    )


ORDER = WrittenFile("order.tsv", is_order_known, order_table, "metadata")


def has_dates(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Return true if the submission dates of all the report's runs are known. Raises Refused
    otherwise."""
    return have_dates(runs)


def submission_table(report: Report, work: ClaimedJob) -> str:
    """Return a table of the runs' mean scores under the public and the private qrels, which are all
    that the command needs."""
    options = report.parameters.get("options", {})
    try:
        measure = parse_measure(options.get("measure") or "RR@100")
    except UnknownMeasure as error:
        raise Refused(str(error)) from None
    public, private = (
        _stored_qrels(report, reference) for reference in report.parameters["qrels"][:2]
    )
    rows = []
    runs = get_chosen_runs(report)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = load_rankings(run)
        scores = [
            evaluate(
                rankings, qrels, [measure], min_relevant=int(options.get("min_relevant") or 1)
            ).means()[0]
            for qrels in (public, private)
        ]
        day = run.submitted_on.isoformat() if run.submitted_on else ""
        rows.append(
            [
                run.tag,
                day,
                run.group or run.tag,
                *("" if np.isnan(score) else repr(float(score)) for score in scores),
            ]
        )
    return format_tsv(["tag", "date", "group", "score", "private score"], rows)


def _stored_qrels(report: Report, reference: str) -> QrelsColumns:
    if is_own_labels(reference) and report.campaign is not None:
        return make_campaign_qrels(report.campaign, reference, reference)
    row = Qrels.objects.filter(
        collection=report.collection, pk=int(reference.rpartition(":")[2])
    ).first()
    if row is None:
        raise Refused(_("The selected qrels are no longer in the collection. Select other qrels."))
    return load_grades(row)


SUBMISSIONS = WrittenFile("submissions.tsv", has_dates, submission_table, "file")


def ranks_file(report: Report, work: ClaimedJob) -> str:
    """Return the stored result of the bootstrap report that the user selected, as JSON."""
    same = type(report).objects.filter(
        collection=report.collection, campaign=report.campaign, kind="bootstrap"
    )
    chosen = same.filter(pk=report.parameters["options"]["ranks"]).first()
    result = ordered_result(chosen) if chosen is not None else None
    if result is None:
        raise Refused(
            _("The selected rank certainty report no longer exists. Select another report.")
        )
    return json.dumps(result, ensure_ascii=False) + "\n"


RANKS = WrittenFile(
    "ranks.json", make_option_filter("ranks"), ranks_file, "ranks", ("private_condition",)
)


def needs_documents(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return parameters.get("options", {}).get(
        "documents"
    ) == "imported" and "docids.txt" not in parameters.get("lists", [])


def document_list(report: Report, work: ClaimedJob) -> str:
    ids = report.collection.documents.order_by("docno").values_list("docno", flat=True)
    return "".join(f"{docno}\n" for docno in ids.iterator())


DOCUMENTS = WrittenFile("docids.txt", needs_documents, document_list)


def group_table(report: Report, work: ClaimedJob) -> str:
    return format_tsv(
        ["tag", "group"], [[run.tag, run.group or run.tag] for run in get_chosen_runs(report)]
    )


GROUPS = WrittenFile("groups.tsv", make_option_filter("by_group"), group_table, "groups")


def is_applicable(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Return whether the campaign's LLM judges can be compared. Raises Refused with what is
    missing."""
    if campaign is None:
        raise Refused(
            _(
                "LLM judges can only be compared within a campaign. Start the comparison on the "
                "campaign's Results page."
            )
        )
    if not llm_judges.get_frozen_judges(campaign):
        raise Refused(
            _(
                "This campaign has no frozen LLM judge. Label the whole pool with one on the LLM judges "
                "page, then freeze it."
            )
        )
    if not is_sampled(campaign):
        says = _(
            "The pool of this campaign is not a random sample. Freeze the LLM judge, then draw a "
            "sampled pool from the same runs."
        )
        raise Refused(says)
    return True


def labels_table(report: Report, work: ClaimedJob) -> str:
    assert report.campaign is not None
    rows = [
        (judge.name, topic, document, grade)
        for judge in llm_judges.get_frozen_judges(report.campaign)
        for (topic, document), grade in sorted(llm_judges.get_labels(judge).items())
    ]
    return format_tsv(["llm_judge", "topic", "document", "grade"], rows)


def judges_metadata(report: Report, work: ClaimedJob) -> str:
    """Return the LLM judges' metadata as in a release. Added: the tags of the runs from the groups
    that each judge names as related."""
    campaign = report.campaign
    assert campaign is not None
    sentences = []
    for judge in llm_judges.get_frozen_judges(campaign):
        named = {one.strip().casefold() for one in judge.related.split(",") if one.strip()}
        tags = [
            run.tag
            for run in get_chosen_runs(report)
            if {run.tag.casefold(), run.group.casefold()} & named
        ]
        sentences.append(llm_judges.describe_judge(judge) | {"related": tags})
    return json.dumps(to_json_types(sentences), ensure_ascii=False, indent=1) + "\n"


def judgements_table(report: Report, work: ClaimedJob) -> str:
    assert report.campaign is not None
    table = read_counted_table(report.campaign)
    rows = [
        (
            table.topics[table.pair_topic[pair]],
            table.documents[table.pair_document[pair]],
            table.annotators[annotator],
            grade,
        )
        for pair, annotator, grade in zip(
            table.pair.tolist(), table.annotator.tolist(), table.grade.tolist(), strict=True
        )
    ]
    return format_tsv(["topic", "document", "annotator", "grade"], rows)


LLM_JUDGES = (
    WrittenFile("llm-labels.tsv", is_applicable, labels_table, "llm_table"),
    WrittenFile("llm-judges.json", is_applicable, judges_metadata, "about"),
    WrittenFile("judgements.tsv", is_applicable, judgements_table, "judgements"),
)
