"""Inputs of a report: stored runs, imported qrels, a campaign's own labels, and small files that
the worker writes."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.commandline.stored_campaigns import naive_estimate_refusal
from analysis.judgements.campaign_sample import NotEstimable, is_sampled, read_campaign_sample
from analysis.judgements.labels import LabelChoices, LabelReference, make_campaign_qrels
from annotation.models import Campaign
from assay.file_paths import make_path
from assay.formats.prel import write_prel
from assay.formats.qrels import write_qrels
from assay.labels.aggregation import METHODS
from assay.labels.annotator_types import LABELLING_TYPES, AnnotatorType
from assay.labels.annotator_types import describe_types as kinds_words
from pooling.models import Collection, Qrels
from pooling.platform.jobs import MalformedRequest, Refused

if TYPE_CHECKING:
    from analysis.models import Report
    from analysis.systems.kinds import ReportKind

PREL_SUFFIX = ".prel"
"""Suffix of the path of labels from a sampled pool."""
MAX_PATH_NAME = 40
"""Maximum number of characters of a recipe's name in a file name. The page shows the full name."""


@dataclass(frozen=True)
class AnalysisFiles:
    """The input files of an analysis. runs: paths. qrels: (name, path). others: path by name. tags:
    tags of the runs, in their order."""

    runs: Sequence[str]
    qrels: Sequence[tuple[str, str]]
    others: Mapping[str, str]
    tags: Sequence[str] = ()

    def lists(self, folder: str) -> dict[str, str]:
        """Return the paths of the lists uploaded to this folder, by name without folder and
        suffix."""
        return {
            name.removeprefix(f"{folder}/").removesuffix(".txt"): path
            for name, path in self.others.items()
            if name.startswith(f"{folder}/")
        }


@dataclass(frozen=True)
class InputFile:
    """One input file of a report's command. kind: run, qrels or file. origin: run:ID, imported:ID,
    a LabelReference, `list` for an upload, or the name of a table."""

    path: str
    kind: str
    name: str
    origin: str
    digest: str = ""
    rows: int = 0

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> InputFile:
        return cls(**stored)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def row(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def with_digest(self, digest: str, *, rows: int) -> InputFile:
        return replace(self, digest=digest, rows=rows)


def list_campaign_references(campaign: Campaign) -> list[tuple[str, str]]:
    """Return (reference, description) of the qrels from a campaign's judgements, with default
    options and by its saved recipes."""
    grades = len(campaign.scale)
    scales = [("graded", f"{grades} grades")] + ([("binary", "2 grades")] if grades > 2 else [])
    kinds: list[tuple[str, ...]] = [LABELLING_TYPES] + (
        [(AnnotatorType.HUMAN.value,)] if campaign.simulated else []
    )
    by_recipes = [
        (
            str(LabelReference(scale, LabelChoices.from_json(recipe.choices), recipe)),
            f"This campaign, {words}, recipe {recipe.name}",
        )
        for recipe in campaign.recipes.all()
        for scale, words in scales
    ]
    return [
        (
            str(LabelReference(scale, LabelChoices(method=method, judges=judges))),
            _describe_reference(words, method, judges),
        )
        for judges in kinds
        for scale, words in scales
        for method in METHODS
    ] + by_recipes


def _describe_reference(scale: str, method: str, judges: tuple[str, ...]) -> str:
    said = ["This campaign", scale, method.replace("_", " ")] + (
        [] if judges == LABELLING_TYPES else [kinds_words(judges)]
    )
    return ", ".join(said)


def is_reference(campaign: Campaign, text: str) -> bool:
    try:
        LabelReference.find(campaign, text)
    except ValueError:
        return False
    return True


def list_input_files(
    kind: ReportKind,
    parameters: Mapping[str, Any],
    *,
    collection: Collection,
    campaign: Campaign | None,
) -> list[InputFile]:
    """Return the input files of a report for the selected inputs, in the order of selection. Raises
    Refused if one does not exist."""
    taken: set[str] = set()
    rows = {row.pk: row for row in collection.runs.filter(pk__in=parameters.get("runs", []))}
    runs = [rows[pk] for pk in parameters.get("runs", []) if pk in rows]
    if len(runs) < len(parameters.get("runs", [])):
        raise Refused(_("A selected run is no longer in the collection. Select other runs."))
    if len(runs) < kind.least_runs:
        raise MalformedRequest(
            ngettext("Choose at least %(n)s run.", "Choose at least %(n)s runs.", kind.least_runs)
            % {"n": kind.least_runs}
        )
    if len({run.pk for run in runs}) < len(runs) and not kind.pair:
        raise MalformedRequest(_("A run was selected twice."))
    inputs = [
        InputFile(
            make_path("runs", run.tag, ".run", taken),
            "run",
            run.tag,
            f"run:{run.pk}",
            run.digest,
            run.n_rows,
        )
        for run in runs
    ]
    if len(parameters.get("qrels", [])) < kind.min_qrels:
        raise MalformedRequest(_("Choose at least %(n)s qrels.") % {"n": kind.min_qrels})
    for reference in parameters.get("qrels", []):
        inputs.append(_qrels_file(reference, collection, campaign, taken, kind))
    for file in kind.written:
        if file.is_needed(parameters, runs, campaign):
            inputs.append(InputFile(file.name, "file", file.name, file.name))
    return inputs + [InputFile(path, "file", path, "list") for path in parameters.get("lists", [])]


def _qrels_file(
    reference: str,
    collection: Collection,
    campaign: Campaign | None,
    taken: set[str],
    kind: ReportKind,
) -> InputFile:
    source, _colon, rest = reference.partition(":")
    if source == "imported" and rest.isdecimal():
        row = Qrels.objects.filter(collection=collection, pk=int(rest)).first()
        if row is None:
            raise Refused(_("Selected qrels are no longer in the collection. Select other qrels."))
        path = make_path("qrels", row.name, ".qrels", taken)
        return InputFile(path, "qrels", name_from_path(path), reference, row.digest, row.n_rows)
    if (
        campaign is not None
        and is_reference(campaign, reference)
        and is_sampled(campaign)
        and not kind.counts_labels_only
    ):
        if not kind.estimates:
            raise Refused(naive_estimate_refusal(campaign.slug))
        path = campaign_qrels_path(campaign, reference, taken).removesuffix(".qrels") + PREL_SUFFIX
        return InputFile(path, "qrels", name_from_path(path), reference)
    if campaign is not None and is_reference(campaign, reference):
        path = campaign_qrels_path(campaign, reference, taken)
        return InputFile(path, "qrels", name_from_path(path), reference)
    if campaign is not None and source == "recipe":
        raise Refused(
            _(
                "The recipe for the selected labels no longer exists in this campaign. Select "
                "other labels."
            )
        )
    raise Refused(_("There are no qrels named %(reference)s.") % {"reference": repr(reference)})


def campaign_qrels_path(campaign: Campaign, reference: str, taken: set[str] | None = None) -> str:
    """Return the path for qrels from a campaign's judgements among a report's input files."""
    wanted = LabelReference.find(campaign, reference)
    if wanted.recipe is not None:
        made_by = ["recipe", wanted.recipe.name[:MAX_PATH_NAME]]
    else:
        _, _, method, *kinds = str(wanted).split(":")
        made_by = [*([] if method == "majority" else [method]), *kinds]
    return make_path(
        "qrels",
        "-".join([campaign.slug, wanted.grades, *made_by]),
        ".qrels",
        set() if taken is None else taken,
    )


def name_from_path(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".qrels").removesuffix(PREL_SUFFIX)


def make_files(inputs: Iterable[InputFile], at: Mapping[str, str] | None = None) -> AnalysisFiles:
    """Group the input files by kind. at: actual path of each file, by default its path in the
    report."""
    inputs = list(inputs)
    place = at or {one.path: one.path for one in inputs}
    return AnalysisFiles(
        runs=[place[one.path] for one in inputs if one.kind == "run"],
        qrels=[(one.name, place[one.path]) for one in inputs if one.kind == "qrels"],
        others={one.path: place[one.path] for one in inputs if one.kind == "file"},
        tags=[one.name for one in inputs if one.kind == "run"],
    )


def storage_name(report: Report, name: str) -> str:
    return timezone.now().strftime(
        f"reports/%Y/%m/{report.pk}-{uuid.uuid4().hex[:8]}-{name.replace('/', '-')}"
    )


def campaign_qrels_text(campaign: Campaign, one: InputFile) -> str:
    """Return the campaign's labels as a qrels file, or its sample in five columns. Empty if there
    are no labels. Raises Refused if nothing can be estimated yet."""
    out = io.StringIO()
    if one.path.endswith(PREL_SUFFIX):
        wanted = _resolve_reference(campaign, one)
        try:
            write_prel(
                read_campaign_sample(campaign, wanted.choices).prel(wanted.grades, one.name), out
            )
        except NotEstimable as error:
            raise Refused(str(error)) from None
        return out.getvalue()
    wanted = _resolve_reference(campaign, one)
    write_qrels(make_campaign_qrels(campaign, str(wanted), one.name), out)
    return out.getvalue()


def _resolve_reference(campaign: Campaign, one: InputFile) -> LabelReference:
    try:
        return LabelReference.find(campaign, one.origin)
    except ValueError:
        raise Refused(_("%(name)s: the recipe was deleted.") % {"name": one.name}) from None
