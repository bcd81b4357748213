"""Labels of a report's top-up campaigns, as a file for the follow-up report.

Parameters of a report: `top_up` is the campaign created from it, `top_ups` are the campaigns whose
labels it uses, `follows` is the previous report.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.judgements.labels import LabelChoices, LabelReference, is_own_labels, make_labels
from analysis.models import Report
from analysis.systems.written_files import WrittenFile
from annotation.models import Campaign
from assay.column_types import QrelsColumns
from assay.formats.qrels import make_qrels, write_qrels
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob


def read_top_up_qrels(parameters: Mapping[str, Any], campaign: Campaign | None) -> QrelsColumns:
    """Return the labels of a report's top-up campaigns, made with the options of the labels that
    the report uses. If two campaigns label a pair, the first counts. Deleted campaigns are ignored.

    A pair needs as many judgements as in the report's campaign, or all that the top-up campaign
    collects if these are fewer.
    """
    grades, choices = "graded", LabelChoices()
    chosen = str(next(iter(parameters.get("qrels", [])), ""))
    if campaign is not None and is_own_labels(chosen):
        wanted = LabelReference.find(campaign, chosen)
        grades, choices = wanted.grades, wanted.choices
    by_row = {one.pk: one for one in Campaign.objects.filter(pk__in=parameters.get("top_ups", []))}
    rows: dict[tuple[str, str], int] = {}
    for one in (by_row[pk] for pk in parameters.get("top_ups", []) if pk in by_row):
        least = min(choices.min_judgements, one.judgements_per_pair)
        made = make_labels(
            one, LabelChoices(method=choices.method, judges=choices.judges, min_judgements=least)
        )
        for label in made.rows:
            rows.setdefault(
                (label.topic, label.document), label.grade if grades == "graded" else label.binary
            )
    return make_qrels("topped-up", ((*pair, grade) for pair, grade in rows.items()))


def _has_top_up(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return bool(parameters.get("top_ups")) and len(read_top_up_qrels(parameters, campaign)) > 0


def _top_up_text(report: Report, work: ClaimedJob) -> str:
    out = io.StringIO()
    write_qrels(read_top_up_qrels(report.parameters, report.campaign), out)
    return out.getvalue()


TOP_UP_FILE = WrittenFile("topped-up.qrels", _has_top_up, _top_up_text)
