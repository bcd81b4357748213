"""What was judged in the top-up campaigns of a report: a file that the worker writes for the report
that follows on it.

In a report's parameters: `top_up` is the campaign made from it, `top_ups` are those whose labels it
reads, `follows` the report before it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.judgements.labels import Choices, Reference, is_own, labels
from analysis.models import Report
from analysis.systems.written_files import WrittenFile
from annotation.models import Campaign
from assay.column_types import QrelsColumns
from assay.formats.qrels import qrels_of_rows, write_qrels
from pooling.models import Run
from pooling.platform.jobs import Work


def judged_since(parameters: Mapping[str, Any], campaign: Campaign | None) -> QrelsColumns:
    """The labels of all top-up campaigns that are still there, made as those that the report reads
    of its campaign; of a pair in two, the first's.

    A pair has one from as many judgements as there, or from all where the top-up asks for fewer.
    """
    grades, choices = "graded", Choices()
    chosen = str(next(iter(parameters.get("qrels", [])), ""))
    if campaign is not None and is_own(chosen):
        wanted = Reference.find(campaign, chosen)
        grades, choices = wanted.grades, wanted.choices
    by_row = {one.pk: one for one in Campaign.objects.filter(pk__in=parameters.get("top_ups", []))}
    rows: dict[tuple[str, str], int] = {}
    for one in (by_row[pk] for pk in parameters.get("top_ups", []) if pk in by_row):
        least = min(choices.min_judgements, one.judgements_per_pair)
        made = labels(
            one, Choices(method=choices.method, judges=choices.judges, min_judgements=least)
        )
        for label in made.rows:
            rows.setdefault(
                (label.topic, label.document), label.grade if grades == "graded" else label.binary
            )
    return qrels_of_rows("topped-up", ((*pair, grade) for pair, grade in rows.items()))


def _wanted(parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None) -> bool:
    return bool(parameters.get("top_ups")) and len(judged_since(parameters, campaign)) > 0


def _text(report: Report, work: Work) -> str:
    out = io.StringIO()
    write_qrels(judged_since(report.parameters, report.campaign), out)
    return out.getvalue()


TOPPED_UP = WrittenFile("topped-up.qrels", _wanted, _text)
