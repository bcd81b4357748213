"""Recipes, releases built from them, and comparisons of the labels of two recipes."""

from __future__ import annotations

import csv
import hashlib
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from analysis.judgements.labels import Label, LabelChoices, make_labels
from analysis.judgements.rows import JudgementRows, read_rows
from analysis.models import Recipe, Release
from analysis.publishing import exports
from analysis.publishing.release.checks import refuse_incomplete
from analysis.publishing.release.parts import OPTIONAL_CONTENT, ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.formats.delimited import escape_formula
from assay.labels.annotator_types import sort_types
from assay.natural_order import natural_sort_key
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.platform.snapshot import snapshot

BUILD_JOB = "build release"
MAX_SHOWN = 5_000
READ_BYTES = 1 << 20


def make_release_plan(recipe: Recipe) -> ReleasePlan:
    given = recipe.choices
    return ReleasePlan(
        recipe.name,
        LabelChoices.from_json(given),
        **{name: bool(given.get(name)) for name in OPTIONAL_CONTENT},
    )


def save_recipe(campaign: Campaign, plan: ReleasePlan, *, user: Any) -> Recipe:
    """Create a recipe. Raises CampaignError if the name is taken, or if the campaign does not have
    the chosen grade or an annotator."""
    if wrong := exports.check_choices(campaign, plan.choices):
        raise CampaignError(" ".join(wrong))
    if not plan.choices.is_primary:
        raise CampaignError(
            _(
                "A release contains the labels of all questions, so a recipe can't select one of "
                "them."
            )
        )
    choices = {name: value for name, value in plan.as_json().items() if name != "name"}
    try:
        with transaction.atomic():
            recipe = Recipe.objects.create(
                campaign=campaign, name=plan.name.strip(), choices=choices, created_by=user
            )
            record_event(
                campaign,
                user,
                AuditAction.SAVED_A_RECIPE,
                recipe.name,
                choices=", ".join(plan.choices.words()),
            )
    except IntegrityError:
        raise CampaignError(
            _("A recipe with this name already exists. Choose another name.")
        ) from None
    return recipe


def delete_recipe(recipe: Recipe, *, user: Any) -> None:
    """Delete a recipe. Recipes from which releases were built cannot be deleted."""
    if recipe.releases.exists():
        raise CampaignError(_("This recipe can't be deleted because releases were built with it."))
    with transaction.atomic():
        record_event(recipe.campaign, user, AuditAction.DELETED_A_RECIPE, recipe.name)
        recipe.delete()


def request_release(recipe: Recipe, *, user: Any, anyway: bool = False) -> Job:
    """Create the job that builds a release from a recipe. Each recipe can have one such job at a
    time.

    Raises IncompleteRelease if a label, a licence or an author is missing, unless `anyway`.
    """
    active = Job.objects.filter(kind=BUILD_JOB, parameters__recipe=recipe.pk, state__in=Job.ACTIVE)
    if active.exists():
        raise CampaignError(_("A release with this recipe is already being built."))
    if not anyway:
        refuse_incomplete(recipe.campaign, make_release_plan(recipe))
    label = f"Build the release “{recipe.name}” of {recipe.campaign.name}"
    parameters = {"recipe": recipe.pk}
    return jobs.enqueue(
        BUILD_JOB,
        parameters,
        label=label,
        user=user,
        collection=recipe.campaign.collection,
        campaign_id=recipe.campaign_id,
    )


@jobs.register_job_kind(BUILD_JOB, unit="parts")
def build_release(work: ClaimedJob) -> dict[str, Any]:
    """Build a release from a recipe.

    The job's report has facts (as_of, pairs, judgements, adjudicated, bytes), digest,
    content_digest, release and same_as_before.
    """
    recipe = (
        Recipe.objects.select_related("campaign__collection", "campaign__pool")
        .filter(pk=work.parameters["recipe"])
        .first()
    )
    if recipe is None:
        raise Refused(_("The recipe was deleted."))
    done: list[str] = []

    def step(name: str) -> None:
        done.append(name)
        work.progress(len(done), message=f"writing {name}")

    with tempfile.TemporaryFile() as file:
        try:
            facts = write_release(recipe.campaign, make_release_plan(recipe), file, step=step)
        except CampaignError as error:
            raise Refused(str(error)) from None
        digest, size = compute_digest(file), file.tell()
        content = facts.pop("content_sha256")
        same_release = recipe.releases.filter(digest=digest).first()
        release = same_release or Release(
            recipe=recipe,
            digest=digest,
            content_digest=content,
            job=work.job,
            created_by=work.job.created_by,
        )
        stored = ""
        if same_release is None:
            file.seek(0)
            release.file.save(
                f"{release_file_name(recipe)}-{digest[:12]}.zip", File(file), save=False
            )
            stored = release.file.name
    try:
        with work.completion_transaction() as report:
            if same_release is None:
                release.save()
            record_event(
                recipe.campaign,
                work.job.created_by,
                AuditAction.BUILT_A_RELEASE,
                recipe.name,
                digest=digest,
                same_as_before=same_release is not None,
            )
            report.update(
                facts={**facts, "bytes": size},
                digest=digest,
                content_digest=content,
                release=release.pk,
                same_as_before=same_release is not None,
            )
    except BaseException:
        if stored:
            default_storage.delete(stored)
        raise
    return report


def release_file_name(recipe: Recipe) -> str:
    campaign = recipe.campaign
    return f"{campaign.slug}{exports.annotator_type_suffix(campaign, make_release_plan(recipe).choices)}-release"


def compute_digest(file: IO[bytes]) -> str:
    """Return the SHA-256 digest of an open file from its start, leaving it positioned at its
    end."""
    file.seek(0)
    total = hashlib.sha256()
    while block := file.read(READ_BYTES):
        total.update(block)
    return total.hexdigest()


class RelabelledPair(NamedTuple):
    """A pair with different labels under two recipes. A label is None if the recipe gives none."""

    topic: str
    document: str
    first: Label | None
    second: Label | None

    @property
    def labels(self) -> tuple[Label | None, Label | None]:
        return self.first, self.second


def add_pair_ids(
    campaign: Campaign, changes: Sequence[RelabelledPair]
) -> list[tuple[RelabelledPair, int | None]]:
    """Return each changed pair with its row ID, None if the campaign no longer has the pair."""
    topics, documents = (
        {change.topic for change in changes},
        {change.document for change in changes},
    )
    pairs = campaign.pairs.filter(entry__topic__topic_id__in=topics, entry__docno__in=documents)
    ids = {
        (topic, document): pk
        for pk, topic, document in pairs.values_list("pk", "entry__topic__topic_id", "entry__docno")
    }
    return [(change, ids.get((change.topic, change.document))) for change in changes]


@dataclass(frozen=True)
class RecipeDifference:
    """The differences between the labels of two recipes.

    changes: the first pairs that have different labels under the two. alone: the first pairs that
    have a label under one recipe only. n_graded, n_binary, n_changed: number of pairs with
    different labels on all grades, on two grades, or on either. only_*: number of pairs with a
    label under one recipe only.
    """

    n_first: int
    n_second: int
    n_both: int
    n_graded: int
    n_binary: int
    n_changed: int
    only_first: int
    only_second: int
    changes: list[RelabelledPair]
    alone: list[RelabelledPair]


CHANGE_COLUMNS = (
    "topic",
    "document",
    "first_grade",
    "first_binary",
    "first_decision",
    "second_grade",
    "second_binary",
    "second_decision",
)


def format_difference_csv(different: RecipeDifference) -> str:
    """Return the differences of two recipes as CSV: pairs with different labels, then pairs with a
    label under one recipe, whose other cells are empty. Cells are escaped so that spreadsheets do
    not run them as formulas."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(CHANGE_COLUMNS)
    for change in (*different.changes, *different.alone):
        cells = [
            [label.grade, label.binary, label.decision] if label else ["", "", ""]
            for label in change.labels
        ]
        table.writerow(
            [escape_formula(change.topic), escape_formula(change.document), *cells[0], *cells[1]]
        )
    return text.getvalue()


def compare_recipes(
    campaign: Campaign,
    first: LabelChoices,
    second: LabelChoices,
    *,
    rows: JudgementRows | None = None,
    most: int | None = MAX_SHOWN,
) -> RecipeDifference:
    """Compare the labels of two recipes on the current judgements. most: maximum number of pairs
    listed of each type, all if None."""
    with snapshot():
        rows = (
            read_rows(campaign, judges=sort_types((*first.judges, *second.judges)))
            if rows is None
            else rows
        )
        a, b = (
            {
                (row.topic, row.document): row
                for row in make_labels(campaign, choices, rows=rows).rows
            }
            for choices in (first, second)
        )
    both = set(a) & set(b)
    every = sorted(
        set(a) | set(b), key=lambda pair: (natural_sort_key(pair[0]), natural_sort_key(pair[1]))
    )
    changed = [pair for pair in every if pair in both and a[pair][2:4] != b[pair][2:4]]
    return RecipeDifference(
        n_first=len(a),
        n_second=len(b),
        n_both=len(both),
        n_graded=sum(a[pair].grade != b[pair].grade for pair in both),
        n_binary=sum(a[pair].binary != b[pair].binary for pair in both),
        n_changed=len(changed),
        only_first=len(set(a) - set(b)),
        only_second=len(set(b) - set(a)),
        changes=[RelabelledPair(*pair, a[pair], b[pair]) for pair in changed[:most]],
        alone=[
            RelabelledPair(*pair, a.get(pair), b.get(pair))
            for pair in [pair for pair in every if pair not in both][:most]
        ],
    )
