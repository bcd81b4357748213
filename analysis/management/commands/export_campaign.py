"""Command `assay release export --campaign SLUG --output FILE`: write a release as one zip file."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from analysis.commandline.campaign_files import (
    add_campaign_options,
    get_campaign,
    get_recipe,
    open_bytes_output,
    read_choices,
)
from analysis.publishing.recipes import compute_digest, make_release_plan
from analysis.publishing.release.checks import IncompleteRelease, refuse_incomplete
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.core.audit_actions import AuditAction
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.cli.base import BadInput, DatabaseCommand, ProgressLine
from assay.number_words import format_count

N_PARTS = 20


class Command(DatabaseCommand):
    help = (
        "Write a release of a campaign: qrels, pseudonymous judgements, topics, pool, guidelines, "
        "datasheet and checksums."
    )
    makes_data_file = True
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        add_campaign_options(parser)
        parser.add_argument(
            "--recipe",
            metavar="NAME",
            help="recipe of the campaign, which replaces all options that choose labels and parts",
        )
        parser.add_argument(
            "--with-documents",
            action="store_true",
            help="include the texts of the pool's documents (check their licence)",
        )
        parser.add_argument(
            "--notes",
            action="store_true",
            help="include annotators' notes (they may contain names)",
        )
        parser.add_argument(
            "--with-runs",
            action="store_true",
            help="include the collection's runs, with groups and descriptions",
        )
        parser.add_argument(
            "--with-clicks",
            action="store_true",
            help="include the collection's qrels from clicks (check their licence)",
        )

        parser.add_argument(
            "--force",
            dest="anyway",
            action="store_true",
            help="write the release even if a label, a licence or an author is missing",
        )

    def compute(
        self,
        *,
        campaign: str,
        recipe: str | None,
        with_documents: bool,
        notes: bool,
        with_runs: bool,
        with_clicks: bool,
        output: str | None,
        anyway: bool,
        **options: Any,
    ) -> dict[str, Any]:
        if not output or output == "-":
            raise BadInput(
                "a release is a zip file and cannot be printed; write it to a file with --output FILE"
            )
        campaign_row = get_campaign(campaign)
        plan = ReleasePlan(
            "default",
            read_choices(campaign_row, options),
            documents=with_documents,
            notes=notes,
            runs=with_runs,
            clicks=with_clicks,
        )
        if recipe is not None:
            plan = make_release_plan(get_recipe(campaign_row, recipe))
        try:
            if not anyway:
                refuse_incomplete(campaign_row, plan)
            with (
                ProgressLine("writing parts", N_PARTS) as progress,
                open_bytes_output(output) as out,
            ):
                facts = write_release(campaign_row, plan, out, step=lambda name: progress.step())
                out.flush()
                digest = compute_digest(out)
        except IncompleteRelease as error:
            raise BadInput(f"{error} To write the release anyway, use `--force`.") from None
        except CampaignError as error:
            raise BadInput(str(error)) from None
        record_event(
            campaign_row, None, AuditAction.EXPORTED, f"release {plan.name}", digest=digest
        )
        return {
            "campaign": campaign_row.slug,
            "file": output,
            "sha256": digest,
            "simulated": campaign_row.simulated,
            "recipe": plan.as_json(),
            **facts,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        pairs, judgements = (
            format_count(result["pairs"], "labelled pair"),
            format_count(result["judgements"], "judgement"),
        )
        of_content = f"SHA-256 of judgements and labels alone: {result['content_sha256']}"
        return (
            f"{result['file']}: {pairs} from {judgements}\nsha256 {result['sha256']}\n{of_content}"
        )
