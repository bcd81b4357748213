"""Command `assay release import RELEASE`: import a release as a campaign."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model

from analysis.publishing.release.importing import import_release
from annotation.services.judging import import_guard
from assay.cli.base import BadInput, DatabaseCommand
from assay.number_words import format_count
from pooling.platform.jobs import Refused


class Command(DatabaseCommand):
    help = (
        "Import a release as a closed campaign with its collection, topics, pool and judgements. "
        "If a part is invalid, nothing is imported."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="zip file of a release")
        parser.add_argument(
            "--user",
            metavar="NAME",
            help="username of the manager of the campaign and the collection",
        )
        parser.add_argument(
            "--force", dest="anyway", action="store_true", help=import_guard.FORCE_HELP
        )

    def compute(
        self, *, release: str, user: str | None, anyway: bool, **options: Any
    ) -> dict[str, Any]:
        person = None
        if user is not None:
            person = get_user_model().objects.filter(username=user).first()
            if person is None:
                raise BadInput(f"there is no account with the username {user!r}")
        try:
            import_guard.check_import(
                release,
                name=Path(release).name,
                anyway=anyway,
                way=import_guard.FORCE_OPTION_HINT,
            )
        except Refused as error:
            raise BadInput(str(error)) from None
        campaign = import_release(Path(release), name=Path(release).name, user=person)
        made = campaign.pairs.filter(judgements__isnull=False).distinct().count()
        return {
            "campaign": campaign.slug,
            "collection": campaign.collection.slug,
            "topics": campaign.collection.topics.count(),
            "pairs": campaign.pairs.count(),
            "judged_pairs": made,
            "annotators": campaign.memberships.filter(role="annotator").count(),
            "simulated": campaign.simulated,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return (
            f"campaign {result['campaign']} on collection {result['collection']}: "
            f"{format_count(result['topics'], 'topic')}, "
            f"{format_count(result['pairs'], 'pair')}, {result['judged_pairs']} of them "
            f"judged by {format_count(result['annotators'], 'annotator')}; its qrels equal "
            "those of the archive"
        )
