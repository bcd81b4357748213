"""Command `assay release judge RELEASE RUN`: create a campaign that judges the unjudged documents of a
new run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import OutputWrapper

from analysis.commandline.campaign_files import get_recipe
from analysis.judgements.labels import LabelReference
from analysis.models import Report
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.reading import open_release
from analysis.systems import reports, top_ups
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from annotation.services.judging import import_guard
from assay.cli.base import BadInput, DatabaseCommand, parse_positive
from assay.formats.runs import read_run
from assay.number_words import format_count
from pooling.management.import_commands import ImportFailed, get_user, import_file, run_job_here
from pooling.models import Job, Run
from pooling.platform.jobs import Refused

DEPTH = 10
UNKNOWN_RUN = "{run}: no such file, and no run of the collection has this tag"


class Command(DatabaseCommand):
    help = (
        "Create a campaign that judges the unjudged documents of a new run, with the guidelines, "
        "scale and rules of a release."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "release",
            metavar="RELEASE",
            help="zip file of a release, or slug of a campaign in this installation",
        )
        parser.add_argument(
            "run", metavar="RUN", help="run file in TREC format, or tag of a run of the collection"
        )
        parser.add_argument(
            "--depth",
            type=parse_positive,
            default=DEPTH,
            metavar="K",
            help=f"rank down to which documents of the run are judged (default: {DEPTH})",
        )
        parser.add_argument(
            "--documents",
            nargs="+",
            default=[],
            metavar="FILE",
            help="document files with the texts to judge, if the collection does not contain them",
        )
        parser.add_argument(
            "--recipe",
            metavar="NAME",
            help=(
                "recipe of the labels (default: the only recipe of the release, otherwise the "
                "campaign's labels)"
            ),
        )
        parser.add_argument(
            "--user",
            metavar="NAME",
            help="username of the manager of the new campaign and collection",
        )
        parser.add_argument(
            "--force", dest="anyway", action="store_true", help=import_guard.FORCE_HELP
        )

    def compute(
        self,
        *,
        release: str,
        run: str,
        depth: int,
        documents: list[str],
        recipe: str | None,
        user: str | None,
        anyway: bool,
        **options: Any,
    ) -> dict[str, Any]:
        self.messages = OutputWrapper(sys.stderr)
        check_run(run, release)
        try:
            person = get_user(user)
            campaign = self._get_campaign(release, person, anyway=anyway)
            late = self._get_run(campaign, run, person)
            for file in documents:
                import_file(
                    campaign.collection, file, "documents", {}, person, stderr=self.messages
                )
            report = self._report_unjudged(campaign, late, depth, recipe, person)
            order = (report.result or {})["order"]
            judged = {"release_campaign": campaign.slug, "run": late.tag, "depth": depth}
            if not order:
                return judged | {"campaign": None, "pairs": 0, "without_text": 0}
            made = top_ups.create_top_up(report, len(order), user=person)
            for fetch in campaign.collection.jobs.filter(
                kind="fetch documents", state=Job.State.QUEUED
            ):
                run_job_here(fetch, self.messages)
        except (ImportFailed, Refused) as error:
            raise BadInput(str(error)) from None
        without = made.pool.entries.filter(document=None).count() if made.pool else 0
        return judged | {"campaign": made.slug, "pairs": len(order), "without_text": without}

    def _get_campaign(self, release: str, person: Any, *, anyway: bool) -> Campaign:
        """Return the campaign with this slug, or import the release."""
        if not Path(release).exists():
            campaign = (
                Campaign.objects.select_related("collection", "pool").filter(slug=release).first()
            )
            if campaign is None:
                raise BadInput(f"{release}: no such file, and no campaign has this slug")
            return campaign
        name = Path(release).name
        import_guard.check_import(
            release, name=name, anyway=anyway, way=import_guard.FORCE_OPTION_HINT
        )
        return import_release(Path(release), name=name, user=person)

    def _get_run(self, campaign: Campaign, run: str, person: Any) -> Run:
        """Return the run with this tag, or import the file."""
        runs = campaign.collection.runs
        if not Path(run).exists():
            if (row := runs.filter(tag=run).first()) is None:
                raise BadInput(UNKNOWN_RUN.format(run=run))
            return row
        job = import_file(campaign.collection, run, "run", {}, person, stderr=self.messages)
        return runs.get(pk=job.report["run"])

    def _find_labels(self, campaign: Campaign, recipe: str | None) -> LabelReference:
        """Return the labels of the recipe, of the only recipe, or else of the campaign."""
        recipes = list(campaign.recipes.all()) if recipe is None else [get_recipe(campaign, recipe)]
        reference = (
            f"recipe:graded:{recipes[0].pk}" if len(recipes) == 1 else "campaign:graded:majority"
        )
        return LabelReference.find(campaign, reference)

    def _report_unjudged(
        self, campaign: Campaign, run: Run, depth: int, recipe: str | None, person: Any
    ) -> Report:
        """Compute the report on the run's unjudged documents."""
        labels = self._find_labels(campaign, recipe)
        parameters = {
            "runs": list(campaign.collection.runs.order_by("tag").values_list("pk", flat=True)),
            "qrels": [str(labels)],
            "options": {
                "unpooled_run": run.tag,
                "measures": f"nDCG@{depth} P@{depth}",
                "max_grade": max(grade["value"] for grade in campaign.scale),
                "min_relevant": labels.choices.min_relevant or campaign.min_relevant,
            },
        }
        report = reports.request_report(
            KINDS["unjudged"],
            collection=campaign.collection,
            campaign=campaign,
            parameters=parameters,
            seed=0,
            user=person,
        )
        assert report.job is not None
        run_job_here(report.job, self.messages)
        report.refresh_from_db()
        return report

    def table(self, result: dict[str, Any], **options: Any) -> str:
        if result["campaign"] is None:
            return (
                f"Every document of {result['run']} down to rank {result['depth']} has a label in "
                f"{result['release_campaign']}. No campaign was created."
            )
        pairs = format_count(result["pairs"], "pair")
        lines = [
            f"campaign {result['campaign']}: {pairs} of {result['run']} down to rank "
            f"{result['depth']} without a label in {result['release_campaign']}",
            f"Open the campaign, have the pairs judged, and run: assay release merge "
            f"{result['campaign']}",
        ]
        if result["without_text"]:
            n = format_count(result["without_text"], "pair", "has", "have")
            lines.append(f"{n} no text and cannot be judged. Import the documents.")
        return "\n".join(lines)


def check_run(run: str, release: str) -> None:
    """Read the run before anything is stored. Raises FormatError for an invalid file, and BadInput
    if it is neither a file nor the tag of a run of the release."""
    if Path(run).exists():
        read_run(run)
    elif Path(release).exists():
        with open_release(release, name=Path(release).name) as opened:
            if run not in {row.tag for row in opened.runs()}:
                raise BadInput(UNKNOWN_RUN.format(run=run))
