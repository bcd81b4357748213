"""What are a machine's labels worth beside people's? (SAMPLING 5)"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.rows import counted_table
from analysis.models import Report
from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, NotPossible, ReportKind
from analysis.systems.options import fields_of, given_of
from analysis.systems.written_files import WrittenFile, chosen_runs, tab_separated
from annotation.models import Campaign
from annotation.selectors import machines
from assay.analyses.machine_judges import Options
from assay.analyses.shared.machine_tables import pictures, tables
from assay.cli.base import jsonable
from pooling.models import Run
from pooling.platform.jobs import Refused, Work

LABELS, ABOUT, JUDGEMENTS = "machine-labels.tsv", "machines.json", "judgements.tsv"
FIELDS = fields_of(Options, "measures", "level", "scores")


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    if not files.qrels[0][1].endswith(PREL):
        raise NotPossible(
            "people's labels have to be those of this campaign's sampled pool; choose them as qrels"
        )
    return {
        "prel": files.qrels[0][1],
        "runs": files.runs,
        "machines": files.others[LABELS],
        "about": files.others[ABOUT],
        "judgements": files.others[JUDGEMENTS],
        **given_of(FIELDS, options),
    }


def wanted(parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None) -> bool:
    """Refused where nothing could be valid, with what is missing."""
    if campaign is None:
        raise Refused(_("machine judges belong to a campaign; ask on its page Systems"))
    if not machines.frozen_of(campaign):
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


def labels_table(report: Report, work: Work) -> str:
    assert report.campaign is not None
    rows = [
        (judge.name, topic, document, grade)
        for judge in machines.frozen_of(report.campaign)
        for (topic, document), grade in sorted(machines.labels_of(judge).items())
    ]
    return tab_separated(["machine", "topic", "document", "grade"], rows)


def about_machines(report: Report, work: Work) -> str:
    """As in a release, with the tags of runs whose group was named as related."""
    campaign = report.campaign
    assert campaign is not None
    sentences = []
    for judge in machines.frozen_of(campaign):
        named = {one.strip().casefold() for one in judge.related.split(",") if one.strip()}
        tags = [
            run.tag
            for run in chosen_runs(report)
            if {run.tag.casefold(), run.group.casefold()} & named
        ]
        sentences.append(machines.described(judge) | {"related": tags})
    return json.dumps(jsonable(sentences), ensure_ascii=False, indent=1) + "\n"


def judgements_table(report: Report, work: Work) -> str:
    assert report.campaign is not None
    table = counted_table(report.campaign)
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
    return tab_separated(["topic", "document", "annotator", "grade"], rows)


KIND = ReportKind(
    name="machine_judges",
    place=120,
    title="A machine beside people",
    sentence=(
        "How far machine labels agree with people, how both rank systems, and people's estimates "
        "corrected by the machine."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels_label="People's labels of the sampled pool",
    estimates=True,
    written=(
        WrittenFile(LABELS, wanted, labels_table),
        WrittenFile(ABOUT, wanted, about_machines),
        WrittenFile(JUDGEMENTS, wanted, judgements_table),
    ),
)
