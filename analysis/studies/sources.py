"""Conversion of a campaign, collection or release to a study's input files, with a TOML file as if
written by hand.

    path = write_campaign_inputs(study, "my-campaign", folder)  # folder/study.toml and its files

Files that the study does not use are not written. The folder becomes part of the study, so that it
can be made again without the database.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from django.utils.translation import gettext as _

from analysis.commandline.stored_campaigns import (
    export_judgements_text,
    get_campaign,
    get_collection,
    naive_estimate_refusal,
    run_loader,
)
from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.labels import is_own_labels, make_campaign_qrels
from analysis.publishing import exports
from analysis.publishing.contents import (
    FEEDBACK_COLUMNS,
    OPINION,
    iterate_feedback,
    iterate_pool_lines,
)
from analysis.publishing.release.collection_files import RUNS
from analysis.publishing.release.reading import ReleaseFile, open_release
from analysis.studies.inputs import StudyInputs
from analysis.studies.settings import keys_by_name
from analysis.studies.study import Study
from analysis.systems.inputs import is_reference
from analysis.systems.written_files import format_tsv
from annotation.models import Campaign
from assay.cli.base import BadInput
from assay.file_paths import make_path
from assay.formats.qrels import write_qrels
from assay.formats.runs import write_run
from assay.measures.measures import limit_cutoffs, parse_measures
from assay.pools.pool_kinds import STAGED_KINDS, PoolKind, compute_level
from pooling.models import Collection, Qrels
from pooling.platform.jobs import Refused
from pooling.platform.snapshot import snapshot
from pooling.services.matching import count_documents
from pooling.services.qrels import load_grades

SETTINGS_FILE = "study.toml"
NO_INPUTS = StudyInputs()


def _qrels_writer(load: Callable[..., Any], *arguments: Any) -> Callable[[IO[str]], object]:
    """Return a function that writes qrels. The data are loaded on its first call, because the study
    may not need them."""
    return lambda out: write_qrels(load(*arguments), out)


def _run_writer(load: Callable[[], Any], tag: str) -> Callable[[IO[str]], object]:
    return lambda out: write_run(load(), out, tag=tag)


class _InputFolder:
    """The folder of a study's input files, and the content of its TOML file."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.kinds, self.folder = (
            {name: key.kind for name, key in keys_by_name(study).items()},
            folder,
        )
        self.keys = set(self.kinds)
        self.said: dict[str, Any] = {"study": study.name}
        self.taken: set[str] = set()

    def file(self, key: str, name: str, write: Callable[[IO[str]], object]) -> None:
        """Write an input file if the study has this key. An empty file is left out."""
        if key in self.keys and self._written(name, write):
            self.said[key] = name

    def one_of_files(self, key: str, name: str, write: Callable[[IO[str]], object]) -> None:
        """Write an input file for a key that takes several files, if the study has this key."""
        if key in self.keys and self._written(name, write):
            self.said[key] = [name]

    def named(self, key: str, name: str, folder: str, write: Callable[[IO[str]], object]) -> None:
        """Write an input file and add it to the table of named files under this key, if the study
        has this key."""
        if key in self.keys:
            path = make_path(folder, name, ".qrels", self.taken)
            if self._written(path, write):
                self.said.setdefault(key, {})[path.rpartition("/")[2].removesuffix(".qrels")] = path

    def value(self, key: str, value: Any) -> None:
        if key in self.keys and value not in (None, "", {}, [], False):
            self.said[key] = value

    def _written(self, name: str, write: Callable[[IO[str]], object]) -> bool:
        text = io.StringIO(newline="")
        write(text)
        if not text.getvalue():
            return False
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.getvalue().encode()
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return True

    def write_settings(self, given: StudyInputs) -> str:
        """Write the TOML file and return its path. The user's inputs override those of the
        source."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, content in given.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for key, paths in given.uploads.items():
            kind = self.kinds[key]
            names = {Path(path).name.partition(".")[0]: path for path in paths}
            self.value(
                key, names if kind == "named" else list(paths) if kind == "files" else paths[-1]
            )
        for key, value in given.values.items():
            self.value(key, value)
        path = self.folder / SETTINGS_FILE
        path.write_text(format_toml(self.said), encoding="utf-8")
        return str(path)


def format_toml(said: Mapping[str, Any]) -> str:
    """Format a mapping as TOML: texts, numbers, lists, and tables of texts or of inline tables."""

    def line(name: str, value: Any) -> str:
        if isinstance(value, dict):
            return f"{name} = {{ {', '.join(line(*one) for one in value.items())} }}"
        return f"{name} = {json.dumps(value, ensure_ascii=False)}"

    plain = [line(name, value) for name, value in said.items() if not isinstance(value, dict)]
    for name, table in said.items():
        if isinstance(table, dict):
            plain += [
                "",
                f"[{name}]",
                *(line(json.dumps(key, ensure_ascii=False), value) for key, value in table.items()),
            ]
    return "\n".join(plain) + "\n"


def write_campaign_inputs(
    study: Study, slug: str, folder: Path, given: StudyInputs = NO_INPUTS
) -> str:
    """Write a campaign's data as input files of a study and return the path of the TOML file.

    Judgements and labels (qrels) are the campaign's current ones. Click qrels are the collection's
    qrels from clicks. given: the user's selections and uploads. Raises BadInput.
    """
    with snapshot():
        return _write_campaign_inputs(study, get_campaign(slug), folder, given)


def _write_campaign_inputs(
    study: Study, campaign: Campaign, folder: Path, given: StudyInputs
) -> str:
    slug = campaign.slug
    made = _InputFolder(study, folder)
    own = ["campaign:graded:majority"] if not given.qrels else given.qrels
    if is_sampled(campaign) and "qrels" in made.keys and any(map(is_own_labels, own)):
        raise BadInput(naive_estimate_refusal(slug))
    made.value("title", f"{campaign.name}: {study.title}")
    made.value("simulated", campaign.simulated)
    made.file(
        "judgements", "judgements.tsv", lambda out: out.write(export_judgements_text(campaign))
    )
    _add_scale(made, campaign.scale, campaign.min_relevant, campaign.min_active_seconds)
    for key, name, scale in (
        ("labels", "labels", "graded"),
        ("binary_labels", "labels-binary", "binary"),
    ):
        made.file(
            key,
            f"{name}.qrels",
            _qrels_writer(make_campaign_qrels, campaign, f"campaign:{scale}:majority", slug),
        )
    if "measures" not in given.values:
        _limit_measures(made, study, campaign.judged_depth)
    if "scale" not in made.keys and own[0].split(":")[1] == "graded" and len(own) == 1:
        made.value("min_relevant", campaign.min_relevant)
    if campaign.pool is not None and campaign.pool.depth is not None:
        # a pool from a file without ranks has no top ranks
        made.file("pool", "pool.tsv", lambda out: out.writelines(iterate_pool_lines(campaign)))
    if select_click_references(campaign, given):
        made.one_of_files(
            "document_texts",
            "documents.jsonl.gz",
            lambda out: exports.write_documents(campaign, out),
        )
    if chosen := [row for row in iterate_feedback(campaign) if row[1] == OPINION]:
        made.file(
            "survey", "feedback.tsv", lambda out: out.write(format_tsv(FEEDBACK_COLUMNS, chosen))
        )
    _add_collection_files(
        made,
        campaign.collection,
        campaign,
        given,
        qrels=own,
        clicks=select_click_references(campaign, given),
    )
    return made.write_settings(given)


def _limit_measures(inputs: _InputFolder, study: Study, depth: int | None) -> None:
    """Limit the cutoffs of a comparison's default measures to the judging depth."""
    if study.name == "comparison":
        usual = parse_measures(str(keys_by_name(study)["measures"].default))
        inputs.value("measures", " ".join(map(str, limit_cutoffs(usual, depth))))


def select_click_references(campaign: Campaign, given: StudyInputs) -> Sequence[str]:
    """Return references to the selected click qrels, by default all of the collection's qrels that
    come from clicks."""
    rows = campaign.collection.qrels.filter(kind=Qrels.Kind.CLICKS).order_by("name")
    return (
        [f"imported:{pk}" for pk in rows.values_list("pk", flat=True)]
        if given.clicks is None
        else given.clicks
    )


def write_collection_inputs(
    study: Study, slug: str, folder: Path, given: StudyInputs = NO_INPUTS
) -> str:
    """Write a collection's data as input files of a study and return the path of the TOML file. By
    default, the qrels are those that do not come from clicks. Raises BadInput if the study takes
    one of several qrels and none is selected."""
    collection = get_collection(slug)
    made = _InputFolder(study, folder)
    made.value("title", f"{collection.name}: {study.title}")
    rows = [(f"imported:{row.pk}", row) for row in collection.qrels.order_by("name")]
    judged = [reference for reference, row in rows if row.kind != Qrels.Kind.CLICKS]
    wanted = list(given.qrels) or judged or [reference for reference, _ in rows]
    if made.kinds.get("qrels") == "file" and len(wanted) > 1:
        raise BadInput(
            f"the collection {slug} has {len(wanted)} qrels ({', '.join(row.name for _, row in rows)}); choose one"
        )
    clicks = [reference for reference, row in rows if row.kind == Qrels.Kind.CLICKS]
    _add_collection_files(made, collection, None, given, qrels=wanted, clicks=clicks)
    return made.write_settings(given)


def _add_collection_files(
    inputs: _InputFolder,
    collection: Collection,
    campaign: Campaign | None,
    given: StudyInputs,
    *,
    qrels: Sequence[str],
    clicks: Sequence[str],
) -> None:
    """Add the collection's documents, topics, runs and qrels to the input files."""
    inputs.value("documents", count_documents(collection) or None)
    inputs.file(
        "texts", "topics.tsv", lambda out: out.write(exports.format_kept_topics(collection))
    )
    _add_runs(inputs, collection, given.runs)
    if inputs.kinds.get("qrels") == "named":
        for reference in qrels:
            name, write = get_qrels_writer(reference, collection, campaign)
            inputs.named("qrels", name, "qrels", write)
    elif qrels:
        name, write = get_qrels_writer(qrels[0], collection, campaign)
        inputs.file(
            "qrels",
            "labels.qrels"
            if is_own_labels(qrels[0])
            else make_path("qrels", name, ".qrels", inputs.taken),
            write,
        )
    for reference in clicks if given.clicks is None else given.clicks:
        refuse_judged_qrels(reference, collection)
        name, write = get_qrels_writer(reference, collection, campaign)
        inputs.named("clicks", name, "clicks", write)


def get_qrels_writer(
    reference: str, collection: Collection, campaign: Campaign | None
) -> tuple[str, Callable[[IO[str]], object]]:
    """Return name and write function of the qrels that a reference names: `imported:ID` or a
    campaign's own labels. Raises Refused if they do not exist."""
    source, _colon, number = reference.partition(":")
    if source == "imported" and number.isdecimal():
        row = collection.qrels.filter(pk=int(number)).first()
        if row is None:
            raise Refused(_("Selected qrels are no longer in the collection. Select other qrels."))
        return row.name, _qrels_writer(load_grades, row)
    if campaign is not None and is_reference(campaign, reference):
        return campaign.slug, _qrels_writer(make_campaign_qrels, campaign, reference, campaign.slug)
    raise Refused(_("There are no qrels named %(reference)s.") % {"reference": repr(reference)})


def refuse_judged_qrels(reference: str, collection: Collection) -> None:
    """Raise Refused if qrels from human judgements are selected as clicks, because they would be
    compared with themselves."""
    number = reference.removeprefix("imported:")
    row = (
        collection.qrels.filter(pk=int(number)).exclude(kind=Qrels.Kind.CLICKS).first()
        if number.isdecimal()
        else None
    )
    if row is not None:
        raise Refused(
            _("%(name)s contains judgements. Choose qrels imported as clicks.") % {"name": row.name}
        )


def _add_scale(inputs: _InputFolder, scale: Any, min_relevant: int, min_seconds: float) -> None:
    """Write the grade scale. Studies of judgements also need the names of its grades."""
    if "scale" not in inputs.keys:
        inputs.value("grades", len(scale))
        return
    inputs.value("scale", len(scale))
    inputs.value("min_relevant", min_relevant)
    inputs.value("min_seconds", float(min_seconds))
    inputs.value("grades", {str(grade["value"]): str(grade["name"]) for grade in scale})


def _add_runs(inputs: _InputFolder, collection: Collection, chosen: Sequence[int] | None) -> None:
    if "runs" not in inputs.keys:
        return
    rows = [
        row
        for row in collection.runs.order_by("submitted_on", "tag")
        if chosen is None or row.pk in chosen
    ]
    for row in sorted(rows, key=lambda row: row.tag):
        name = make_path("runs", row.tag, ".run.gz", inputs.taken)
        inputs._written(name, _run_writer(run_loader(row), row.tag))
    inputs.value("runs", ["runs/*.run.gz"] if rows else [])
    if rows and all(row.submitted_on for row in rows):
        header = ["tag", "date", "group", "baseline", "description"]
        lines = [
            [
                r.tag,
                r.submitted_on.isoformat() if r.submitted_on else "",
                r.group,
                int(r.baseline),
                r.description,
            ]
            for r in rows
        ]
        inputs.file("order", "order.tsv", lambda out: out.write(format_tsv(header, lines)))


DOCUMENTS = "documents.jsonl"
RELEASE_PARTS = (
    ("judgements", "judgements.tsv"),
    ("labels", "qrels.txt"),
    ("binary_labels", "qrels-binary.txt"),
    ("qrels", "qrels.txt"),
    ("pool", "pool.tsv"),
    ("texts", "topics.tsv"),
    ("survey", "feedback.tsv"),
)
"""Keys of studies and the corresponding parts of a release."""


def write_release_inputs(study: Study, path: str, folder: Path) -> str:
    """Write a release's data as input files of a study and return the path of the TOML file. path:
    a release's zip file, or its unpacked folder."""
    if Path(path).is_dir():
        return _write_release_inputs(
            study, path, folder, pack_release(Path(path), folder.parent / "release.zip")
        )
    return _write_release_inputs(study, path, folder, Path(path))


def pack_release(unpacked: Path, target: Path) -> Path:
    """Zip an unpacked release, so that the same reader checks both forms."""
    if not (unpacked / "campaign.json").exists():
        raise BadInput(
            f"{unpacked}: not a release, because campaign.json is missing; give a TOML file or a release"
        )
    with zipfile.ZipFile(target, "w") as out:
        for one in sorted(unpacked.rglob("*")):
            if one.is_file():
                out.write(one, one.relative_to(unpacked))
    return target


def _write_release_inputs(study: Study, name: str, folder: Path, path: Path) -> str:
    made = _InputFolder(study, folder)
    with open_release(path, name=Path(name).name) as release:
        about = release.about["campaign"]
        settings = about["settings"]
        made.value("title", f"{settings.get('name') or about.get('slug')}: {study.title}")
        for key, part in RELEASE_PARTS:
            if part == "pool.tsv" and release.about["pool"].get("depth") is None:
                continue
            if key in made.keys and release.has(part) and _copy_part(release, part, folder):
                name = Path(make_path("qrels", str(about.get("slug")), "", set())).name
                made.value(key, {name: part} if made.kinds[key] == "named" else part)
        _add_release_runs(made, release)
        if "clicks" in made.keys and (clicks := release.clicks()):
            made.value("clicks", {Path(row.file).stem: row.file for row in clicks})
            for row in clicks:
                _copy_part(release, row.file, folder)
            if release.has(DOCUMENTS) and _copy_part(release, DOCUMENTS, folder):
                made.value("document_texts", [DOCUMENTS])
        made.value("simulated", bool(about.get("simulated")))
        _add_scale(
            made,
            settings["scale"],
            settings["min_relevant"],
            float(settings.get("min_active_seconds") or 0),
        )
        if "scale" not in made.keys:
            labels = release.about.get("labels", {})  # missing in version 1
            made.value("min_relevant", labels.get("min_relevant") or settings["min_relevant"])
        made.value("documents", release.about["collection"].get("n_documents"))
        _limit_measures(made, study, _find_judged_depth(release.about))
    return made.write_settings(NO_INPUTS)


def _copy_part(release: ReleaseFile, part: str, folder: Path) -> int:
    """Copy a part of a release into the folder and return its size in bytes."""
    (folder / part).parent.mkdir(parents=True, exist_ok=True)
    with release.part(part) as source, open(folder / part, "wb") as out:
        shutil.copyfileobj(source, out)
        return out.tell()


def _add_release_runs(inputs: _InputFolder, release: ReleaseFile) -> None:
    """Add the runs of a release to the input files, with their submission dates if all are
    known."""
    runs = release.runs() if "runs" in inputs.keys else []
    for row in runs:
        _copy_part(release, row.file, inputs.folder)
    inputs.value("runs", ["runs/*.run"] if runs else [])
    if runs and "order" in inputs.keys and all(row.submitted_on for row in runs):
        _copy_part(release, RUNS, inputs.folder)
        inputs.value("order", RUNS)


def _find_judged_depth(about: Mapping[str, Any]) -> int | None:
    """Return the rank down to which a release's pool is judged. None for pools without ranks or
    with stages."""
    pool, least = about["pool"], about["campaign"].get("least_priority")
    kind, depth = pool.get("kind") or PoolKind.DEPTH, pool.get("depth")
    if depth is None or kind in STAGED_KINDS:
        return None
    return int(depth) if least is None else compute_level(kind, least, depth=depth)
