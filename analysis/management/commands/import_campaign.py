"""`manage.py import_campaign ARCHIVE`: a release becomes a campaign of this installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandParser

from analysis.services.archive_import import import_archive
from pooling.commandline import BadInput, FileCommand


class Command(FileCommand):
    help = "Import a release: collection, topics, pool and the closed campaign with its judgements; all of it or nothing."
    takes_seed = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", metavar="ARCHIVE", help="the zip file of export_campaign, or of a release")
        parser.add_argument("--user", metavar="NAME", help="becomes manager of the campaign and the collection")

    def compute(self, *, archive: str, user: str | None, **options: Any) -> dict[str, Any]:
        person = None
        if user is not None:
            person = get_user_model().objects.filter(username=user).first()
            if person is None:
                raise BadInput(f"nobody has the user name {user!r}")
        campaign = import_archive(Path(archive), name=Path(archive).name, user=person)
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
            f"campaign {result['campaign']} on collection {result['collection']}: {result['topics']} topics, {result['pairs']} pairs, "
            f"{result['judged_pairs']} of them judged by {result['annotators']} annotators; its qrels are those of the archive"
        )
