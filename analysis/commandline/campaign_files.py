"""Shared parts of the commands that write files of a campaign: options, selection of judgements,
and output."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from analysis.commandline.stored_campaigns import get_campaign as get_campaign
from analysis.judgements.labels import ALL_JUDGES, LabelChoices
from analysis.models import Recipe
from analysis.publishing import exports
from annotation.models import Campaign
from annotation.services.errors import CampaignError
from assay.analyses.shared.judged_files import parse_duration
from assay.analyses.shared.judges import (
    add_judges_option,
    add_question_option,
    get_annotator_types,
)
from assay.atomic_files import write_bytes_atomically
from assay.cli.base import BadInput, DatabaseCommand, parse_positive
from assay.labels.aggregation import METHODS
from assay.number_words import format_count


def add_campaign_options(parser: ArgumentParser) -> None:
    """Add the options that choose a campaign and which of its judgements count: --campaign,
    --question, --method, --min-relevant, --min-judgements, --min-seconds, --no-gold, --exclude,
    --include-excluded and --annotators."""
    parser.add_argument("--campaign", required=True, metavar="SLUG", help="slug of the campaign")
    add_question_option(parser)
    parser.add_argument(
        "--method",
        choices=list(METHODS),
        default="majority",
        help="aggregation method (default: majority, with the lowest grade on ties)",
    )
    parser.add_argument(
        "--min-relevant",
        type=parse_positive,
        metavar="N",
        help="minimum relevant grade (default: the campaign's)",
    )
    parser.add_argument(
        "--min-judgements",
        type=parse_positive,
        default=2,
        metavar="N",
        help="minimum judgements per label (default: 2)",
    )
    parser.add_argument(
        "--min-seconds",
        type=parse_duration,
        default=0.0,
        metavar="S",
        help="minimum seconds per judgement, in addition to the campaign's limit",
    )
    parser.add_argument(
        "--no-gold", action="store_true", help="leave out the judgements of gold questions"
    )
    parser.add_argument(
        "--exclude",
        nargs="*",
        default=[],
        metavar="PSEUDONYM",
        help="pseudonyms of annotators to leave out",
    )
    back = (
        "pseudonyms of excluded annotators whose judgements are included (without a pseudonym: "
        "all of them)"
    )
    parser.add_argument("--include-excluded", nargs="*", metavar="PSEUDONYM", help=back)
    add_judges_option(parser)


def get_recipe(campaign: Campaign, name: str) -> Recipe:
    """Return the campaign's recipe with this name. Raises BadInput if there is none."""
    recipe = campaign.recipes.select_related("campaign").filter(name=name).first()
    if recipe is None:
        raise BadInput(f"the campaign {campaign.slug} has no recipe {name!r}")
    return recipe


def read_choices(campaign: Campaign, options: Mapping[str, Any]) -> LabelChoices:
    """Convert command-line options to choices of labels. Raises BadInput if the campaign does not
    have the grade or an annotator."""
    back = [ALL_JUDGES] if options["include_excluded"] == [] else options["include_excluded"]
    choices = LabelChoices.from_json(
        {
            **options,
            "min_relevant": options["min_relevant"],
            "include_excluded": back,
            "with_gold": not options["no_gold"],
            "judges": get_annotator_types(options),
        }
    )
    if wrong := exports.check_choices(campaign, choices):
        raise BadInput(" ".join(wrong))
    return choices


@contextmanager
def open_bytes_output(path: str) -> Iterator[BinaryIO]:
    """Open the output file, which appears only once it is complete. "-" is standard output."""
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with write_bytes_atomically(path) as out:
        yield out


class ExportCommand(DatabaseCommand):
    """A command that writes one exported file to --output. Without --output, it prints the file,
    unless --json is given."""

    makes_data_file = True
    takes_seed = False

    def prepared_export(
        self, name: str, campaign: Campaign, options: exports.ExportOptions
    ) -> BinaryIO:
        """Return the complete exported file. Raises BadInput if it cannot be created."""
        try:
            return exports.prepare_export(exports.EXPORTS[name], campaign, options)
        except CampaignError as error:
            raise BadInput(str(error)) from None

    def hand_over(self, prepared: BinaryIO, output: str | None, *, json: bool) -> int:
        """Write the prepared file to its destination. Returns the number of lines, not counting
        those that begin with #."""
        self.text = ""
        lines = sum(1 for line in prepared if not line.startswith(b"#"))
        prepared.seek(0)
        if output and output != "-":
            with open_bytes_output(output) as out:
                while block := prepared.read(1 << 20):
                    out.write(block)
            self.text = f"{output}: {format_count(lines, 'line')}"
        elif not json:
            self.text = prepared.read().decode("utf-8").removesuffix("\n")
        return lines

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return self.text
