"""Reports: created on request, computed by a job on frozen inputs, kept and deleted."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.judgements.labels import is_own_labels
from analysis.models import Report
from analysis.systems import figures
from analysis.systems.inputs import (
    PREL_SUFFIX,
    AnalysisFiles,
    InputFile,
    campaign_qrels_text,
    list_input_files,
    make_files,
    storage_name,
)
from analysis.systems.kinds import KINDS, ReportKind
from analysis.systems.running import Analysis, NotComputable
from annotation.models import Campaign
from assay.analyses.shared.measures import InMemoryInputs
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.prel import SampledQrels, read_prel
from assay.formats.qrels import read_qrels, write_qrels
from assay.precision import rescore_by_order
from assay.version import program_version
from pooling.models import Collection, Job, Qrels, Run
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, MalformedRequest, Refused
from pooling.platform.snapshot import snapshot
from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings

REPORT_JOB = "report"
CLICK_POOL_TOP = 4
TRIPJUDGE_MEASURES = "nDCG@5 nDCG@10 RR@10 R@100"
"""Measures by which TripJudge compares rankings (Althammer et al. 2022, Table 3)."""
ComputeFunction = Callable[["ClaimedJob", Report, Analysis], dict[str, Any]]


def request_report(
    kind: ReportKind,
    *,
    collection: Collection,
    campaign: Campaign | None,
    parameters: Mapping[str, Any],
    seed: int,
    user: Any,
    title: str = "",
    lists: Mapping[str, str] | None = None,
) -> Report:
    """Create a report and the job that computes it. The caller must send the job.

    parameters: runs [IDs], qrels [references], options. lists: text by path of uploaded lists,
    checked by `read_lists` and stored with the report. Raises Refused if the command's parser
    refuses the options, or if runs or qrels do not belong to the collection.
    """
    parameters = (
        {**parameters, "lists": sorted(lists or {})}
        if lists
        else {k: v for k, v in parameters.items() if k != "lists"}
    )
    inputs = list_input_files(kind, parameters, collection=collection, campaign=campaign)
    try:
        given = make_call_arguments(kind, make_files(inputs), parameters, seed=seed)
        command_line = Analysis(kind.name, given).command_line()
    except NotComputable as error:
        raise MalformedRequest(str(error)) from None
    runs = sum(one.kind == "run" for one in inputs)
    what = [one.name for one in inputs if one.kind == "qrels"]
    subject = kind.subject(parameters.get("options", {}))
    title = title or f"{kind.title}{f' over {subject}' if subject else ''}: " + ", ".join(
        ([f"{runs} run{'s' if runs != 1 else ''}"] if runs else []) + what
    )
    with transaction.atomic():
        report = Report.objects.create(
            collection=collection,
            campaign=campaign,
            kind=kind.name,
            title=title[:300],
            parameters=dict(parameters),
            seed=seed,
            code_version=program_version(),
            command=command_line,
            inputs=[one.as_json() for one in inputs],
            created_by=user if user is not None and user.is_authenticated else None,
        )
        report.files = {
            path: store_file(report, path, text.encode()) for path, text in (lists or {}).items()
        }
        report.job = jobs.enqueue(
            REPORT_JOB,
            {"report": report.pk},
            label=report.title,
            user=user,
            collection=collection,
            campaign_id=campaign.pk if campaign else None,
        )
        report.save(update_fields=["job", "files"])
    return report


def rerun_report(report: Report, *, user: Any) -> Report:
    """Repeat the report on the data stored now, including the labels of its top-up campaign, with
    the lists uploaded originally. Raises Refused."""
    return request_report(
        KINDS[report.kind],
        collection=report.collection,
        campaign=report.campaign,
        parameters=add_top_up_labels(report),
        seed=report.seed,
        user=user,
        lists={
            path: read_file(report, path).decode() for path in report.parameters.get("lists", [])
        },
    )


def add_top_up_labels(report: Report) -> dict[str, Any]:
    """Return the report's parameters, with the labels of its top-up campaign added if there is
    one."""
    asked = {
        name: value
        for name, value in report.parameters.items()
        if name not in ("top_up", "follows", "followed")
    }
    if made := report.parameters.get("top_up"):
        asked |= {"top_ups": [*report.parameters.get("top_ups", []), made], "follows": report.pk}
    return asked


def make_call_arguments(
    kind: ReportKind, files: AnalysisFiles, parameters: Mapping[str, Any], *, seed: int
) -> dict[str, Any]:
    """Return the inputs and options with which the report's command is called."""
    given = kind.arguments(files, parameters.get("options", {}))
    return {**given, "seed": seed} if kind.seeded else given


def run_report_job(work: ClaimedJob, *, in_pieces: ComputeFunction) -> dict[str, Any]:
    """Compute a requested report and return the job's report. in_pieces: function that computes the
    kinds of reports that are split into pieces."""
    report = (
        Report.objects.select_related("collection", "campaign")
        .filter(pk=work.parameters["report"])
        .first()
    )
    if report is None:
        raise Refused(_("The report has been deleted."))
    kind = KINDS[report.kind]
    work.progress(0, total=None, message="collecting runs and qrels", now=True)
    freeze_inputs(report, work)
    with open_analysis(report, work) as analysis:
        try:
            result = in_pieces(work, report, analysis) if kind.pieces else analysis.compute()
        except NotComputable as error:
            raise Refused(str(error)) from None
        warnings = analysis.warnings
    work.progress(message="drawing", now=True)
    made = {"result.json": json.dumps(result, ensure_ascii=False).encode()}
    made.update(figures.render_figures(report.kind, result))
    names = {name: store_file(report, name, content) for name, content in made.items()}
    try:
        work.progress(message="", now=True)
        with work.completion_transaction() as final:
            report.refresh_from_db()
            report.result, report.warnings, report.finished_at = result, warnings, timezone.now()
            report.files = {**report.files, **names}
            report.save(update_fields=["result", "warnings", "finished_at", "files"])
            report.chunks.all().delete()
            final.update(
                report=report.pk,
                facts={"input digest": report.input_digest[:12]},
                warnings=warnings,
            )
    except BaseException:
        delete_files(list(names.values()))
        raise
    return final


def freeze_inputs(report: Report, work: ClaimedJob) -> None:
    """Store copies of the report's inputs that can change meanwhile, i.e. the campaign's labels and
    the small tables, and digests of all inputs."""
    if report.input_digest:
        return
    inputs = [InputFile.from_json(one) for one in report.inputs]
    files = dict(report.files)
    fixed = []
    with snapshot():
        if report.campaign is not None:
            report.campaign.refresh_from_db()
        for one in inputs:
            if is_own_labels(one.origin):
                assert report.campaign is not None
                text = campaign_qrels_text(report.campaign, one)
                if not text:
                    raise Refused(
                        _("%(name)s: no pair has a label yet, so there are no qrels.")
                        % {"name": one.name}
                    )
                files[one.path] = store_file(report, one.path, text.encode())
                one = one.with_digest(
                    hashlib.sha256(text.encode()).hexdigest(), rows=text.count("\n")
                )
            elif one.kind == "file":
                if one.origin == "list":
                    text = read_file(report, one.path).decode()
                else:
                    text = KINDS[report.kind].written_file(one.origin).text(report, work)
                    files[one.path] = store_file(report, one.path, text.encode())
                one = one.with_digest(
                    hashlib.sha256(text.encode()).hexdigest(), rows=text.count("\n")
                )
            fixed.append(one)
    report.inputs = [one.as_json() for one in fixed]
    report.files = files
    report.input_digest = compute_inputs_digest(fixed)
    with work.writing():
        report.save(update_fields=["inputs", "files", "input_digest"])


def compute_inputs_digest(inputs: Sequence[InputFile]) -> str:
    """Return one digest of the paths and contents of all inputs, in their order."""
    return hashlib.sha256(
        "".join(f"{one.path}\0{one.digest}\n" for one in inputs).encode()
    ).hexdigest()


@contextmanager
def open_analysis(report: Report, work: ClaimedJob | None) -> Iterator[Analysis]:
    """Yield the report's analysis with its inputs, for the duration of the context. Small tables
    are written to a temporary folder."""
    kind = KINDS[report.kind]
    inputs = [InputFile.from_json(one) for one in report.inputs]
    n_runs = sum(one.kind == "run" for one in inputs)
    with tempfile.TemporaryDirectory(prefix="assay-report-") as made:
        folder = made + "/"
        for one in inputs:
            if one.kind == "file":
                place = Path(made) / one.path
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(read_file(report, one.path))
        seen = [0]

        def run_at(one: InputFile) -> Callable[[], RunColumns]:
            def load() -> RunColumns:
                if work is not None:
                    work.progress(seen[0], total=n_runs, message=f"reading {one.name}")
                seen[0] += 1
                return load_run(one)

            return load

        at = {one.path: folder + one.path for one in inputs}
        where = InMemoryInputs(
            runs={at[one.path]: run_at(one) for one in inputs if one.kind == "run"},
            qrels={
                at[one.path]: partial(load_qrels, report, one)
                for one in inputs
                if one.kind == "qrels"
            },
            prels={
                at[one.path]: partial(load_prel, report, one)
                for one in inputs
                if one.path.endswith(PREL_SUFFIX)
            },
        )
        given = make_call_arguments(
            kind, make_files(inputs, at), report.parameters, seed=report.seed
        )
        yield Analysis(kind.name, given, stored=where, folder=folder)


def load_run(one: InputFile) -> RunColumns:
    """Load a run under its tag at the time of the request, which the report's command, charts and
    files use."""
    row = Run.objects.filter(pk=one.row).first()
    if row is None or row.digest != one.digest:
        raise Refused(_("The run %(name)s has been deleted.") % {"name": one.name})
    return replace(rescore_by_order(load_rankings(row)), tag=one.name)


def load_prel(report: Report, one: InputFile) -> SampledQrels:
    return read_prel(io.BytesIO(read_file(report, one.path)), name=one.name)


def load_qrels(report: Report, one: InputFile) -> QrelsColumns:
    if one.path in report.files:
        with default_storage.open(report.files[one.path], "rb") as source:
            return read_qrels(io.BytesIO(source.read()), name=one.name)
    row = Qrels.objects.filter(pk=one.row).first()
    if row is None or row.digest != one.digest:
        raise Refused(_("The qrels %(name)s have been deleted.") % {"name": one.name})
    out = io.StringIO()
    write_qrels(load_grades(row), out)  # topics in the order of the downloadable file
    return read_qrels(io.BytesIO(out.getvalue().encode()), name=one.name)


def store_file(report: Report, name: str, content: bytes) -> str:
    return default_storage.save(storage_name(report, name), ContentFile(content))


def read_file(report: Report, name: str) -> bytes:
    """Return one of the report's own stored files. Raises KeyError for an unknown name."""
    with default_storage.open(report.files[name], "rb") as source:
        content: bytes = source.read()
        return content


def delete_report(report: Report) -> None:
    """Delete the report with its files. An unfinished job is cancelled."""
    if report.job is not None and report.job.state in Job.ACTIVE:
        jobs.request_cancel(report.job)
    names = list(report.files.values())
    with transaction.atomic():
        report.delete()
        transaction.on_commit(partial(delete_files, names))


def delete_files(names: Sequence[str]) -> None:
    for name in names:
        default_storage.delete(name)


def check_inputs(report: Report) -> None:
    """Raise Refused if a run or qrels that the report uses have been deleted."""
    for one in [InputFile.from_json(stored) for stored in report.inputs]:
        if one.kind == "run" and not Run.objects.filter(pk=one.row, digest=one.digest).exists():
            raise Refused(_("The run %(name)s has been deleted.") % {"name": one.name})
        if (
            one.kind == "qrels"
            and one.path not in report.files
            and not Qrels.objects.filter(pk=one.row, digest=one.digest).exists()
        ):
            raise Refused(_("The qrels %(name)s have been deleted.") % {"name": one.name})


def request_click_reports(campaign: Campaign, *, user: Any) -> list[Report]:
    """Request reports that compare the rankings and labels of the campaign's judgements with those
    of clicks. Returns at most two reports, without those that are not possible."""
    clicks = [
        f"imported:{pk}"
        for pk in campaign.collection.qrels.filter(kind=Qrels.Kind.CLICKS).values_list(
            "pk", flat=True
        )
    ]
    if not clicks:
        raise Refused(
            _("The collection has no qrels from clicks. Import them and mark them as clicks.")
        )
    runs = list(campaign.collection.runs.values_list("pk", flat=True))
    own = "campaign:binary:majority"  # binary like clicks, so that one minimum relevant grade fits both
    made = []
    if len(runs) > 1:
        parameters: dict[str, Any] = {
            "runs": runs,
            "qrels": [own, *clicks],
            "options": {"measures": TRIPJUDGE_MEASURES},
        }
        made.append(
            request_report(
                KINDS["compare_rankings"],
                collection=campaign.collection,
                campaign=campaign,
                parameters=parameters,
                seed=campaign.seed,
                user=user,
                title="Rankings by judgements and by clicks",
            )
        )
    # Figure 3 covers the pairs at the top of the pool. Judgements at deeper ranks are not about
    # the systems' best documents.
    parameters = {
        "runs": [],
        "qrels": [own, *clicks],
        "options": {"top": CLICK_POOL_TOP} if campaign.pool is not None else {},
    }
    made.append(
        request_report(
            KINDS["label_overlap"],
            collection=campaign.collection,
            campaign=campaign,
            parameters=parameters,
            seed=0,
            user=user,
            title="Judgements and click labels",
        )
    )
    return made
