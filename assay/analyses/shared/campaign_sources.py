"""Use the labels of a campaign in the database instead of QRELS (`--campaign`), and the runs of its
collection by their tags.

    class Command(CampaignCommand):
        qrels_place = "qrels"              # the argument that QRELS would fill
        def arguments(self, parser):
            ...
            add_campaign_options(parser)   # after the positional arguments

With --campaign, the arguments before RUN are shifted by one.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from assay.analyses.shared.judges import add_judges_option
from assay.analyses.shared.measures import DefaultMeasures, InMemoryInputs
from assay.cli.base import BadInput, FileCommand
from assay.labels.aggregation import METHODS
from assay.measures.measures import limit_cutoffs
from assay.number_words import format_count


class CampaignAction(Action):
    """Action of an option such as --campaign SLUG, which makes the arguments with files
    optional."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)
        for action in parser._actions:
            if not action.option_strings or action.dest == "judged":
                action.required = False


def add_campaign_options(parser: ArgumentParser, *, labels: str = "graded") -> None:
    """Add --campaign, --labels, --method and --annotators."""
    parser.add_argument(
        "--campaign",
        action=CampaignAction,
        metavar="SLUG",
        help=(
            "slug of a campaign in the database, whose labels replace QRELS; RUN is then a file "
            "or the tag of a run in the campaign's collection (default: all runs of the "
            "collection)"
        ),
    )
    parser.add_argument(
        "--labels",
        choices=["graded", "binary"],
        default=labels,
        help=f"labels of the campaign (default: {labels})",
    )
    parser.add_argument(
        "--method",
        choices=list(METHODS),
        default="majority",
        help="aggregation method of the campaign's labels (default: majority)",
    )
    add_judges_option(parser)


class CampaignCommand(FileCommand):
    """Base of commands that accept --campaign instead of QRELS."""

    qrels_place = "qrels"
    estimates_sampled = False
    """Whether the command can estimate from a sampled pool. Others refuse a campaign with a sampled
    pool, unless they only count labels."""
    counts_labels_only = False
    """Whether unjudged pairs do not affect the result."""
    run_places: Sequence[str] = ("runs",)
    """Name of one argument with all runs, or one name per run."""

    def prepare_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options with the campaign's labels and runs instead of files. Raises
        BadInput."""
        if options["campaign"] is None:
            return options
        source = self.stored_campaigns()
        campaign = source.get_campaign(options["campaign"])
        name = campaign.slug
        if isinstance(options.get("measures"), DefaultMeasures):
            options = {
                **options,
                "measures": limit_cutoffs(options["measures"], campaign.judged_depth),
            }
        self.stored = InMemoryInputs(
            runs=source.run_loaders(campaign), qrels={name: source.label_loader(campaign, options)}
        )
        if source.is_sampled(campaign) and not self.counts_labels_only:
            if not self.estimates_sampled:
                raise BadInput(source.naive_estimate_refusal(name))
            self.stored = InMemoryInputs(
                runs=self.stored.runs, qrels={}, prels={name: source.prel_loader(campaign, options)}
            )
            options = {**options, "sampled": True}
        if not self.run_places:
            return {**options, self.qrels_place: name}
        named_runs = [
            value
            for place in (self.qrels_place, *self.run_places)
            for value in to_list(options[place])
        ]
        runs = named_runs or list(self.stored.runs)
        if self.run_places == ("runs",):
            if not runs:
                raise BadInput(f"the collection of the campaign {name} has no runs; give run files")
            return {**options, self.qrels_place: name, "runs": runs}
        if len(runs) != len(self.run_places):
            raise BadInput(
                f"--campaign needs {format_count(len(self.run_places), 'run')} (files, or tags of its collection), not {len(runs)}"
            )
        return {**options, self.qrels_place: name, **dict(zip(self.run_places, runs, strict=True))}


def to_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
