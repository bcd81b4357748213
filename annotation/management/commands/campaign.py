"""`assay campaign`: apply a campaign file, or export the file of a campaign."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.core.campaign_file import CampaignDescription, CampaignMistakes, make_document
from annotation.models import Campaign
from annotation.selectors.campaign_description import describe_all
from annotation.services.campaigns import declaration
from annotation.services.campaigns.campaign_files import CampaignFile, format_toml
from annotation.services.errors import CampaignError
from assay.atomic_files import write_text_atomically
from assay.cli.base import BadInput, DatabaseCommand
from assay.number_words import format_count
from pooling.core.declaration import Change
from pooling.management.import_commands import ImportFailed, get_collection, get_user
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.selectors.collection_description import describe_collection, describe_pool, write_files

FILE = "campaign.toml"
MAX_SHOWN = 200


class Command(DatabaseCommand):
    help = "Apply a campaign file, after showing the changes, or export the file of a campaign."
    writes = ()  # writes a folder on export only
    makes_data_file = True
    toml = ""
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["apply", "export"], help="apply or export")
        parser.add_argument(
            "what",
            metavar="FILE|SLUG",
            help="TOML file to apply, or slug of the campaign to export",
        )
        parser.add_argument("--yes", action="store_true", help="apply without asking")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would change without changing it"
        )
        parser.add_argument(
            "--prune",
            action="store_true",
            help=(
                "remove annotators without judgements that the file does not list, and withdraw "
                "their invitations, when applying a file"
            ),
        )
        parser.add_argument(
            "--user",
            metavar="NAME",
            help=(
                "username under which the command runs; this user manages newly created "
                "collections and campaigns"
            ),
        )
        parser.add_argument(
            "--collection-only",
            action="store_true",
            help="export a collection without a campaign; SLUG is then the slug of the collection",
        )
        parser.add_argument(
            "--files",
            action="store_true",
            help="export the collection's files too; --output is then a new folder",
        )

    def compute(self, *, action: str, what: str, **options: Any) -> dict[str, Any]:
        try:
            return (
                self.apply(what, **options) if action == "apply" else self.export(what, **options)
            )
        except (CampaignError, Refused, ImportFailed) as error:
            raise BadInput(str(error)) from None

    def apply(
        self,
        path: str,
        *,
        yes: bool,
        dry_run: bool,
        prune: bool,
        user: str | None,
        json: bool,
        **_: Any,
    ) -> dict[str, Any]:
        actor = get_user(user)
        file = CampaignFile(path)
        try:
            plan = declaration.plan_campaign(
                file.described, folder=file.folder, actor=actor, prune=prune
            )
        except CampaignMistakes as error:
            raise file.with_lines(error) from None
        declaration.rehearse_plan(plan, actor=actor)
        changes = plan.all_changes
        applied = bool(changes) and not dry_run and (yes or self.confirm(changes, may_ask=not json))
        if applied:
            declaration.apply_plan(plan, actor=actor)
        said = file.described
        names = {"campaign": said.campaign.get("slug"), "collection": said.collection["slug"]}
        told = {
            "changes": [declaration.serialize_change(one) for one in changes],
            "unnamed": plan.unnamed,
            "warnings": plan.warnings,
            "managers": plan.managers,
        }
        return {**names, **told, "applied": applied, "dry_run": dry_run}

    def confirm(self, changes: list[Change], *, may_ask: bool) -> bool:
        """Ask for confirmation at the terminal. Raises BadInput if there is no terminal."""
        if not may_ask or not sys.stdin.isatty():
            raise BadInput(
                f"{format_count(len(changes), 'change', 'was', 'were')} not confirmed; add --yes to apply, or --dry-run to list"
            )
        self.stdout.write("\n".join(shown(change.words for change in changes)))
        return input("Apply? [y/N] ").strip().lower() in ("y", "yes")

    def export(
        self, slug: str, *, collection_only: bool, files: bool, output: str | None, **_: Any
    ) -> dict[str, Any]:
        campaign = (
            None
            if collection_only
            else Campaign.objects.select_related("collection", "pool").filter(slug=slug).first()
        )
        if campaign is None and not collection_only:
            slugs = ", ".join(Campaign.objects.values_list("slug", flat=True)[:20]) or "none yet"
            raise BadInput(
                f"there is no campaign with the slug {slug!r}; existing campaigns: {slugs}"
            )
        if campaign is not None:
            source, description = campaign.collection, describe_all(campaign)
        else:
            source = get_collection(slug)
            pool = source.pools.exclude(built_at=None).order_by("-created_at").first()
            description = CampaignDescription(
                describe_collection(source), describe_pool(pool) if pool else {}
            )
        if files:
            if not output or output == "-":
                raise BadInput("--files requires --output FOLDER")
            self.write_folder(Path(output), source, description)
        elif output and output != "-":
            with write_text_atomically(output) as out:
                out.write(format_toml(make_document(description)))
        document = make_document(description, as_text=True)
        self.toml = format_toml(make_document(description))
        return {
            "campaign": campaign.slug if campaign else None,
            "collection": source.slug,
            "file": self.get_output_path(output, files),
            "document": document,
        }

    def get_output_path(self, output: str | None, files: bool) -> str | None:
        return os.path.join(output, FILE) if output and files else output

    def write_folder(
        self, folder: Path, collection: Collection, description: CampaignDescription
    ) -> None:
        """Write the folder of the exported campaign completely, or nothing."""
        # a symbolic link is kept and points to the new folder
        folder = Path(os.path.realpath(folder))
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(f"{folder} is not an empty folder; name a new one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            pool = (
                collection.pools.filter(name=description.pool["name"]).first()
                if description.pool
                else None
            )
            named, of_pool = write_files(collection, pool, made)
            whole = replace(
                description,
                collection=description.collection | named,
                pool=description.pool | of_pool,
            )
            (made / FILE).write_text(
                format_toml(make_document(whole)), encoding="utf-8", newline="\n"
            )
            made.chmod(0o755)
            made.replace(folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def table(self, result: dict[str, Any], **options: Any) -> str:
        if options["action"] == "export":
            if result["file"] in (None, "-"):
                return self.toml.removesuffix("\n")
            return f"{result['file']}: {result['campaign'] or result['collection']}"
        told = shown(change["words"] for change in result["changes"])
        beyond = (
            [
                "Not in the file, and unchanged:",
                *(f"  {words}" for words in shown(result["unnamed"])),
            ]
            if result["unnamed"]
            else []
        )
        beyond = [*(f"Warning: {words}" for words in result["warnings"]), *beyond]
        if result["managers"]:
            names = ", ".join(result["managers"])
            beyond.insert(0, f"Managers of campaign {result['campaign']}: {names}.")
        if not told:
            return "\n".join(["Nothing to change.", *beyond])
        n = format_count(len(result["changes"]), "change")
        end = f"{n} applied." if result["applied"] else f"{n}, not applied."
        return "\n".join(
            [*([] if result["applied"] and not options["yes"] else told), end, *beyond]
        )


def shown(words: Any) -> list[str]:
    lines = list(words)
    return lines[:MAX_SHOWN] + (
        [f"… and {len(lines) - MAX_SHOWN} more"] if len(lines) > MAX_SHOWN else []
    )
