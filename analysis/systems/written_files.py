"""Small files that the worker writes for a command beside runs and qrels, from what the collection
and the campaign say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from analysis.commandline.stored_campaigns import export_judgements_text
from analysis.judgements.labels import is_own_labels
from analysis.models import Report
from annotation.models import Campaign
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob, Refused


@dataclass(frozen=True)
class WrittenFile:
    """wanted: the report's parameters, its runs, its campaign -> whether the command reads the
    file; may raise Refused. text: its content, written by the worker."""

    name: str
    wanted: Callable[[Mapping[str, Any], Sequence[Run], Campaign | None], bool]
    text: Callable[[Report, ClaimedJob], str]


def get_chosen_runs(report: Report) -> list[Run]:
    """The runs of a report that are still there, in the order of the choice, under the tags that
    they had when it was asked for."""
    chosen = report.parameters.get("runs", [])
    rows = {row.pk: row for row in Run.objects.filter(collection=report.collection, pk__in=chosen)}
    names = {one["origin"]: one["name"] for one in report.inputs}
    for row in rows.values():
        row.tag = names.get(f"run:{row.pk}", row.tag)
    return [rows[pk] for pk in chosen if pk in rows]


JUDGEMENTS = "judgements.tsv"


def needs_judgements(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Whether single judgements are read beside the qrels that were made of them."""
    if not parameters.get("options", {}).get("judgements"):
        return False
    if campaign is None or not all(map(is_own_labels, parameters.get("qrels", []))):
        raise Refused(
            _(
                "the noise of labels needs single judgements, which only a campaign's own labels have"
            )
        )
    return True


def write_judgements(report: Report, work: ClaimedJob) -> str:
    assert report.campaign is not None, "asked for with its campaign only"
    return export_judgements_text(report.campaign)


SINGLE_JUDGEMENTS = WrittenFile(JUDGEMENTS, needs_judgements, write_judgements)


def format_tsv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        return " ".join(str(value).split())

    return "".join("\t".join(map(cell, row)) + "\n" for row in [header, *rows])


def have_dates(runs: Sequence[Run], *, or_none: bool = False) -> bool:
    """Whether the date of submission of every run is known. or_none: that none is known is an
    answer, too. Raises Refused else."""
    undated = [run.tag for run in runs if run.submitted_on is None]
    if undated and not (or_none and len(undated) == len(runs)):
        shown = f"{', '.join(undated[:5])}{' …' if len(undated) > 5 else ''}"
        raise Refused(
            _("no date of submission is known of %(shown)s; enter it on the run's page")
            % {"shown": shown}
        )
    return not undated
