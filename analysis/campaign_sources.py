"""A campaign in the database in the place of QRELS: its labels, and the runs of its collection by their tags.

class Command(OfCampaign):
    qrels_place = "qrels"                       # the argument in whose place the labels stand; all before RUN move up by one
    def arguments(self, parser):
        ...
        add_campaign_options(parser)            # after the positional arguments
"""

from __future__ import annotations

import io
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import CommandParser

from analysis.campaign_files import campaign_named
from analysis.commandline import Stored
from analysis.core.aggregation import METHODS
from analysis.reports.inputs import campaign_qrels
from annotation.models import Campaign
from pooling.commandline import BadInput, FileCommand
from pooling.core.columns import Qrels, Run
from pooling.core.precision import in_order_by_score
from pooling.formats.qrels import read_qrels, write_qrels
from pooling.models import Run as RunRow
from pooling.services.runs import rankings_of


class InPlaceOfFiles(Action):
    """--campaign SLUG: then no file has to be named."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, values)
        for action in parser._actions:
            if not action.option_strings or action.dest == "judged":
                action.required = False


def add_campaign_options(parser: CommandParser, *, grades: str = "graded") -> None:
    """--campaign, --grades, --method."""
    parser.add_argument(
        "--campaign",
        action=InPlaceOfFiles,
        metavar="SLUG",
        help="the labels of this campaign in the database in place of QRELS; a RUN may then be a tag of its collection (default: all its runs)",
    )
    parser.add_argument("--grades", choices=["graded", "binary"], default=grades, help=f"with --campaign: which labels (default {grades})")
    parser.add_argument(
        "--method", choices=list(METHODS), default="majority", help="with --campaign: how labels are made (default majority)"
    )


class OfCampaign(FileCommand):
    """A command that takes --campaign in place of QRELS."""

    qrels_place = "qrels"
    run_places: Sequence[str] = ("runs",)
    """One argument with all runs, or one for each."""

    def prepared(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options with the campaign's labels and runs in the place of files. Raises BadInput."""
        if options["campaign"] is None:
            return options
        campaign = campaign_named(options["campaign"])
        name = campaign.slug
        self.stored = Stored(runs=runs_of(campaign), qrels={name: labels_of(campaign, options)})
        if not self.run_places:
            return {**options, self.qrels_place: name}
        given = [value for place in (self.qrels_place, *self.run_places) for value in as_list(options[place])]
        runs = given or list(self.stored.runs)
        if self.run_places == ("runs",):
            if not runs:
                raise BadInput(f"the collection of the campaign {name} has no runs; name some files")
            return {**options, self.qrels_place: name, "runs": runs}
        if len(runs) != len(self.run_places):
            raise BadInput(f"with --campaign expected {len(self.run_places)} runs, files or tags of its collection, not {len(runs)}")
        return {**options, self.qrels_place: name, **dict(zip(self.run_places, runs, strict=True))}


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def runs_of(campaign: Campaign) -> dict[str, Callable[[], Run]]:
    def loader(row: RunRow) -> Callable[[], Run]:
        return lambda: in_order_by_score(rankings_of(row))

    return {row.tag: loader(row) for row in campaign.collection.runs.all()}


def labels_of(campaign: Campaign, options: dict[str, Any]) -> Callable[[], Qrels]:
    """As the file that `export_qrels` writes. The loader raises BadInput where no pair has a label."""

    def load() -> Qrels:
        out = io.StringIO()
        write_qrels(campaign_qrels(campaign, f"campaign:{options['grades']}:{options['method']}", campaign.slug), out)
        if not out.getvalue():
            raise BadInput(f"no pair of the campaign {campaign.slug} has a label yet, so there are no qrels")
        return read_qrels(io.BytesIO(out.getvalue().encode()), name=campaign.slug)

    return load
