"""What a report reads: stored runs, imported qrels, a campaign's own labels, and small tables that the worker writes."""

from __future__ import annotations

import io
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.utils import timezone

from analysis.core.aggregation import METHODS
from analysis.core.evaluation import evaluate
from analysis.core.measures import UnknownMeasure, parse_measure
from analysis.reports.conditions import Files
from analysis.reports.kinds import Kind
from analysis.selectors.judgements import counted_table, pool_ranks
from analysis.selectors.reports import result_of
from annotation.models import Campaign
from pooling.core.columns import Qrels
from pooling.formats.qrels import write_qrels
from pooling.jobs import Refused, Work
from pooling.models import Collection
from pooling.models import Qrels as QrelsRow
from pooling.models import Run as RunRow
from pooling.services.qrels import grades_of
from pooling.services.runs import rankings_of

if TYPE_CHECKING:
    from analysis.models import Report

SCALES = {"graded": "all grades", "binary": "2 grades"}


@dataclass(frozen=True)
class InputFile:
    """One file of the command. kind: run, qrels or file; origin: run:ID, imported:ID, campaign:SCALE:METHOD, list for what a person
    has uploaded, or a table's name."""

    path: str
    kind: str
    name: str
    origin: str
    digest: str = ""
    rows: int = 0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> InputFile:
        return cls(**stored)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def row(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def with_digest(self, digest: str, *, rows: int) -> InputFile:
        return replace(self, digest=digest, rows=rows)

    def write(self, report: Report, work: Work) -> str:
        """The text of a small table."""
        made = {"order.tsv": order_table, "groups.tsv": group_table, "pool.tsv": pool_table, "submissions.tsv": submission_table}
        made |= {"ranks.json": ranks_file, "docids.txt": document_list}
        return made[self.origin](report, work)


def campaign_references(campaign: Campaign) -> list[tuple[str, str]]:
    """(reference, words) of the qrels that a campaign's own judgements make."""
    grades = len(campaign.scale)
    scales = [("graded", f"{grades} grades")] + ([("binary", "2 grades")] if grades > 2 else [])
    return [
        (f"campaign:{scale}:{method}", f"This campaign, {words}, {method.replace('_', ' ')}")
        for scale, words in scales
        for method in METHODS
    ]


def files_of(kind: Kind, parameters: Mapping[str, Any], *, collection: Collection, campaign: Campaign | None) -> list[InputFile]:
    """The files of what was chosen, in the order of the choice. Raises Refused for what is not there."""
    taken: set[str] = set()
    rows = {row.pk: row for row in collection.runs.filter(pk__in=parameters.get("runs", []))}
    runs = [rows[pk] for pk in parameters.get("runs", []) if pk in rows]
    if len(runs) < len(parameters.get("runs", [])):
        raise Refused("a run that was chosen is not in the collection any more")
    if len(runs) < kind.least_runs:
        raise Refused(f"choose at least {kind.least_runs} run{'s' if kind.least_runs > 1 else ''}")
    if len({run.pk for run in runs}) < len(runs) and not kind.pair:
        raise Refused("a run was chosen twice")
    found = [InputFile(path_of("runs", run.tag, ".run", taken), "run", run.tag, f"run:{run.pk}", run.digest, run.n_rows) for run in runs]
    least = kind.qrels[0] + kind.click_qrels + kind.private_qrels
    if len(parameters.get("qrels", [])) < least:
        raise Refused(f"choose at least {least} qrels")
    found += [_qrels(reference, collection, campaign, taken) for reference in parameters.get("qrels", [])]
    for name in kind.others:
        if wanted(name, parameters, runs, campaign):
            found.append(InputFile(name, "file", name, name))
    return found + [InputFile(path, "file", path, "list") for path in parameters.get("lists", [])]


def wanted(name: str, parameters: Mapping[str, Any], runs: Sequence[RunRow], campaign: Campaign | None) -> bool:
    options = parameters.get("options", {})
    if name == "pool.tsv":
        return bool(options.get("top")) and bool(options.get("pool") or (campaign is not None and campaign.pool is not None))
    if name == "groups.tsv":
        return bool(options.get("by_group"))
    if name == "ranks.json":
        return bool(options.get("ranks"))
    if name == "docids.txt":
        return options.get("documents") == "imported"
    if name in ("order.tsv", "submissions.tsv"):
        undated = [run.tag for run in runs if run.submitted_on is None]
        if undated and (name == "submissions.tsv" or len(undated) < len(runs)):
            raise Refused(
                f"no date of submission is known of {', '.join(undated[:5])}{' …' if len(undated) > 5 else ''}; enter it on the run's page"
            )
        return not undated
    return True


def _qrels(reference: str, collection: Collection, campaign: Campaign | None, taken: set[str]) -> InputFile:
    source, _, rest = reference.partition(":")
    if source == "imported" and rest.isdecimal():
        row = QrelsRow.objects.filter(collection=collection, pk=int(rest)).first()
        if row is None:
            raise Refused("qrels that were chosen are not in the collection any more")
        path = path_of("qrels", row.name, ".qrels", taken)
        return InputFile(path, "qrels", name_in(path), reference, row.digest, row.n_rows)
    scale, _, method = rest.partition(":")
    if source == "campaign" and campaign is not None and scale in SCALES and method in METHODS:
        path = qrels_path(campaign, reference, taken)
        return InputFile(path, "qrels", name_in(path), reference)
    raise Refused(f"there are no qrels {reference!r} here")


def qrels_path(campaign: Campaign, reference: str, taken: set[str] | None = None) -> str:
    """Of the qrels that a campaign's own judgements make."""
    _, scale, method = reference.split(":")
    name = f"{campaign.slug}-{scale}" + ("" if method == "majority" else f"-{method}")
    return path_of("qrels", name, ".qrels", set() if taken is None else taken)


def path_of(folder: str, name: str, suffix: str, taken: set[str]) -> str:
    """A path that a command's arguments can hold: no blanks, commas, equal signs; each name once."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "unnamed"
    path, number = f"{folder}/{plain}{suffix}", 1
    while path.lower() in taken:
        number += 1
        path = f"{folder}/{plain}-{number}{suffix}"
    taken.add(path.lower())
    return path


def name_in(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".qrels")


def choice_of(inputs: Iterable[InputFile], at: Mapping[str, str] | None = None) -> Files:
    """The files by their paths, or as `at` says."""
    inputs = list(inputs)
    place = at or {one.path: one.path for one in inputs}
    return Files(
        runs=[place[one.path] for one in inputs if one.kind == "run"],
        qrels=[(one.name, place[one.path]) for one in inputs if one.kind == "qrels"],
        others={one.path: place[one.path] for one in inputs if one.kind == "file"},
    )


def stored_name(report: Report, name: str) -> str:
    return timezone.now().strftime(f"reports/%Y/%m/{report.pk}-{uuid.uuid4().hex[:8]}-{name.replace('/', '-')}")


def qrels_text(campaign: Campaign, one: InputFile) -> str:
    """The campaign's labels as a qrels file; empty without labels."""
    out = io.StringIO()
    write_qrels(campaign_qrels(campaign, one.origin, one.name), out)
    return out.getvalue()


def campaign_qrels(campaign: Campaign, reference: str, name: str) -> Qrels:
    """The labels of counted judgements by the method named; a manager's own labels stand above them."""
    _, scale, method = reference.split(":")
    table = counted_table(campaign)
    rows = campaign.pairs.filter(adjudicated_grade__isnull=False).values_list("entry__topic__topic_id", "entry__docno", "adjudicated_grade")
    rulings = {(topic, docno): int(grade) for topic, docno, grade in rows if grade is not None}
    if scale == "binary":
        table = table.binary(campaign.threshold)
        rulings = {pair: int(grade >= campaign.threshold) for pair, grade in rulings.items()}
    return METHODS[method](table).adjudicated(rulings).qrels(name)


def _runs(report: Report) -> list[RunRow]:
    rows = {row.pk: row for row in RunRow.objects.filter(collection=report.collection, pk__in=report.parameters.get("runs", []))}
    return [rows[pk] for pk in report.parameters.get("runs", []) if pk in rows]


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        return " ".join(str(value).split())

    return "".join("\t".join(map(cell, row)) + "\n" for row in [header, *rows])


def order_table(report: Report, work: Work) -> str:
    header = ["tag", "date", "group", "baseline", "description"]
    return _table(
        header,
        [[r.tag, r.submitted_on.isoformat() if r.submitted_on else "", r.group, int(r.baseline), r.description] for r in _runs(report)],
    )


def group_table(report: Report, work: Work) -> str:
    return _table(["tag", "group"], [[run.tag, run.group or run.tag] for run in _runs(report)])


def pool_table(report: Report, work: Work) -> str:
    header = ["topic", "document", "best_rank"]
    if chosen := report.parameters.get("options", {}).get("pool"):
        pool = report.collection.pools.filter(pk=chosen).first()
        if pool is None:
            raise Refused("the pool that was chosen is not in the collection any more")
        return _table(header, pool.entries.order_by("position").values_list("topic__topic_id", "docno", "best_rank"))
    assert report.campaign is not None
    return _table(header, pool_ranks(report.campaign))


def document_list(report: Report, work: Work) -> str:
    ids = report.collection.documents.order_by("docno").values_list("docno", flat=True)
    return "".join(f"{docno}\n" for docno in ids.iterator())


def ranks_file(report: Report, work: Work) -> str:
    """What the bootstrap that was chosen has said."""
    same = type(report).objects.filter(collection=report.collection, campaign=report.campaign, kind="bootstrap")
    chosen = same.filter(pk=report.parameters["options"]["ranks"]).first()
    result = result_of(chosen) if chosen is not None else None
    if result is None:
        raise Refused("the report on the certainty of the ranks is not there any more")
    return json.dumps(result, ensure_ascii=False) + "\n"


def submission_table(report: Report, work: Work) -> str:
    """Means under the public and the private qrels, which is all that the command needs to know of the runs."""
    options = report.parameters.get("options", {})
    try:
        measure = parse_measure(options.get("measure") or "RR@100")
    except UnknownMeasure as error:
        raise Refused(str(error)) from None
    public, private = (_stored_qrels(report, reference) for reference in report.parameters["qrels"][:2])
    rows = []
    runs = _runs(report)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = rankings_of(run)
        scores = [evaluate(rankings, qrels, [measure], level=int(options.get("level") or 1)).means()[0] for qrels in (public, private)]
        day = run.submitted_on.isoformat() if run.submitted_on else ""
        rows.append([run.tag, day, run.group or run.tag, *("" if np.isnan(score) else repr(float(score)) for score in scores)])
    return _table(["tag", "date", "group", "score", "private score"], rows)


def _stored_qrels(report: Report, reference: str) -> Qrels:
    if reference.startswith("campaign:") and report.campaign is not None:
        return campaign_qrels(report.campaign, reference, reference)
    row = QrelsRow.objects.filter(collection=report.collection, pk=int(reference.rpartition(":")[2])).first()
    if row is None:
        raise Refused("qrels that were chosen are not in the collection any more")
    return grades_of(row)
