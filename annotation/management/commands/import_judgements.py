"""`assay judgements import FILE`: import external judgements as a closed campaign."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model

from annotation.services.campaigns.judgement_import import ImportOptions, import_judgements
from annotation.services.judging import import_guard
from assay.cli.base import BadInput, DatabaseCommand, parse_positive
from assay.formats.judgements import read_judgements
from assay.formats.topics import read_topics
from assay.labels.annotator_types import AnnotatorType
from assay.number_words import format_count
from pooling.models import Collection
from pooling.platform.jobs import Refused


class Command(DatabaseCommand):
    help = (
        "Import judgements made in another tool (FiRA, crowd-kit, HiCAL, Label Studio, Potato, or "
        "Assay's columns) as a closed campaign."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "judgements",
            metavar="FILE",
            help="file with one judgement per row; the format is recognised by the content",
        )
        parser.add_argument(
            "--name",
            metavar="NAME",
            help="name of the campaign and of its new collection (default: the file's name)",
        )
        parser.add_argument(
            "--collection",
            metavar="SLUG",
            help="existing collection with topics, texts and runs",
        )
        parser.add_argument(
            "--topics",
            metavar="FILE",
            help="topic file with texts, for topics missing from the collection",
        )
        parser.add_argument(
            "--grades",
            type=parse_positive,
            default=4,
            metavar="N",
            help="number of grades, 0 to N - 1 (default: 4)",
        )
        parser.add_argument(
            "--min-relevant",
            type=parse_positive,
            default=2,
            metavar="N",
            help="minimum relevant grade (default: 2)",
        )
        parser.add_argument(
            "--grade-names",
            metavar="NAMES",
            default="",
            help="comma-separated names of the grades, lowest first",
        )
        parser.add_argument(
            "--min-seconds",
            type=float,
            default=1.0,
            metavar="S",
            help=(
                "minimum seconds per judgement; faster judgements are kept but do not count "
                "(default: 1)"
            ),
        )
        parser.add_argument(
            "--annotators",
            choices=[kind.value for kind in AnnotatorType],
            default="human",
            help="type of the annotators (default: human)",
        )
        parser.add_argument(
            "--user",
            metavar="NAME",
            help="username of the manager of the campaign and of a new collection",
        )
        parser.add_argument(
            "--force", dest="anyway", action="store_true", help=import_guard.FORCE_HELP
        )

    def compute(
        self,
        *,
        judgements: str,
        name: str | None,
        collection: str | None,
        topics: str | None,
        grades: int,
        min_relevant: int,
        grade_names: str,
        min_seconds: float,
        annotators: str,
        user: str | None,
        anyway: bool,
        **options: Any,
    ) -> dict[str, Any]:
        names = [part.strip() for part in grade_names.split(",") if part.strip()]
        if names and len(names) != grades:
            raise BadInput(
                f"--grade-names has {len(names)} names, expected {grades}, one per grade of --grades"
            )
        person = None
        if (
            user is not None
            and (person := get_user_model().objects.filter(username=user).first()) is None
        ):
            raise BadInput(f"there is no account with the username {user!r}")
        place = None
        if (
            collection is not None
            and (place := Collection.objects.filter(slug=collection).first()) is None
        ):
            raise BadInput(f"there is no collection with the slug {collection!r}")
        try:
            import_guard.check_import(
                judgements,
                name=Path(judgements).name,
                anyway=anyway,
                way=import_guard.FORCE_OPTION_HINT,
            )
        except Refused as error:
            raise BadInput(str(error)) from None
        texts = {} if topics is None else {topic.topic: topic.text for topic in read_topics(topics)}
        judgement_file = read_judgements(judgements, scale=grades)
        wanted = ImportOptions(
            name=name or Path(judgements).name.partition(".")[0],
            collection=place,
            n_grades=grades,
            min_relevant=min_relevant,
            grades=names,
            min_seconds=min_seconds,
            annotator_type=annotators,
            texts=texts,
        )
        brought = import_judgements(judgement_file, wanted, user=person)
        for warning in [*judgement_file.warnings, *brought.warnings]:
            self.warn(warning)
        campaign = brought.campaign
        return {
            "campaign": campaign.slug,
            "collection": campaign.collection.slug,
            "judgements": brought.judgements,
            "pairs": campaign.pairs.count(),
            "annotators": campaign.memberships.filter(role="annotator").count(),
            "warnings": [*judgement_file.warnings, *brought.warnings],
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return (
            f"campaign {result['campaign']} on collection {result['collection']}: "
            f"{format_count(result['judgements'], 'judgement')} of "
            f"{format_count(result['pairs'], 'pair')} "
            f"by {format_count(result['annotators'], 'annotator')} under pseudonyms; the campaign is closed"
        )
