"""What are a machine's labels worth beside people's? (SAMPLING 5)"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.rows import read_counted_table
from analysis.models import Report
from analysis.systems.inputs import PREL_SUFFIX
from analysis.systems.kind import AnalysisFiles, NotComputable, ReportKind
from analysis.systems.options import changed_options, report_fields
from analysis.systems.written_files import WrittenFile, format_tsv, get_chosen_runs
from annotation.models import Campaign
from annotation.selectors import machines
from assay.analyses.compare_llm_judges import Options
from assay.analyses.shared.machine_tables import pictures, tables
from assay.cli.base import to_json_types
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob, Refused

LABELS, ABOUT, JUDGEMENTS = "machine-labels.tsv", "machines.json", "judgements.tsv"
FIELDS = report_fields(Options, "measures", "level", "scores")


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    if not files.qrels[0][1].endswith(PREL_SUFFIX):
        raise NotComputable(
            "people's labels have to be those of this campaign's sampled pool; choose them as qrels"
        )
    return {
        "prel": files.qrels[0][1],
        "runs": files.runs,
        "machines": files.others[LABELS],
        "about": files.others[ABOUT],
        "judgements": files.others[JUDGEMENTS],
        **changed_options(FIELDS, options),
    }


def is_applicable(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Refused where nothing could be valid, with what is missing."""
    if campaign is None:
        raise Refused(_("machine judges belong to a campaign; ask on its page Systems"))
    if not machines.get_frozen_judges(campaign):
        raise Refused(
            _(
                "no machine judge of this campaign is frozen; let one label the whole pool on the "
                "page Machines and freeze it"
            )
        )
    if not is_sampled(campaign):
        says = _(
            "people's judgements can be corrected only where they are a sample with known "
            "chances, and this campaign's pool is not sampled; draw "
            "a sampled pool from the same runs after the machine is frozen"
        )
        raise Refused(says)
    return True


def labels_table(report: Report, work: ClaimedJob) -> str:
    assert report.campaign is not None
    rows = [
        (judge.name, topic, document, grade)
        for judge in machines.get_frozen_judges(report.campaign)
        for (topic, document), grade in sorted(machines.get_labels(judge).items())
    ]
    return format_tsv(["machine", "topic", "document", "grade"], rows)


def judges_metadata(report: Report, work: ClaimedJob) -> str:
    """As in a release, with the tags of runs whose group was named as related."""
    campaign = report.campaign
    assert campaign is not None
    sentences = []
    for judge in machines.get_frozen_judges(campaign):
        named = {one.strip().casefold() for one in judge.related.split(",") if one.strip()}
        tags = [
            run.tag
            for run in get_chosen_runs(report)
            if {run.tag.casefold(), run.group.casefold()} & named
        ]
        sentences.append(machines.describe_judge(judge) | {"related": tags})
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


KIND = ReportKind(
    name="compare_llm_judges",
    place=120,
    title="A machine beside people",
    sentence=(
        "How far machine labels agree with people, how both rank systems, and people's estimates "
        "corrected by the machine."
    ),
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    qrels_label="People's labels of the sampled pool",
    estimates=True,
    written=(
        WrittenFile(LABELS, is_applicable, labels_table),
        WrittenFile(ABOUT, is_applicable, judges_metadata),
        WrittenFile(JUDGEMENTS, is_applicable, judgements_table),
    ),
)
