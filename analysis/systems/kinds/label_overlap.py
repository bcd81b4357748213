"""Judged pairs against click labels (TripJudge's Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.rows import pool_ranks
from analysis.models import Report
from analysis.systems.kind import Files, ReportKind, Result, named_file
from analysis.systems.options import Field, fields_of, given_of, named
from analysis.systems.written_files import WrittenFile, tab_separated
from annotation.models import Campaign
from assay.analyses.label_overlap import Options
from assay.charts.bars import stacked
from assay.charts.svg import Picture
from assay.labels.overlap import UNLABELLED
from assay.tabular import Cell, Table
from pooling.models import Run
from pooling.platform.jobs import Refused, Work

FIELDS = (
    Field(
        "pool",
        "Pool",
        "pool",
        "",
        hint="Only pairs at its top count; without one all judged pairs. A campaign's own pool unless chosen.",
    ),
    *fields_of(Options, "top", "threshold"),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "judged": files.qrels[0][1],
        "clicks": [named_file(pair) for pair in files.qrels[1:]],
    }
    if "pool.tsv" in files.others:
        given |= {"pool": files.others["pool.tsv"], **given_of(named(FIELDS, "top"), options)}
    return given | given_of(named(FIELDS, "threshold"), options)


def pool_is_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    options = parameters.get("options", {})
    return bool(options.get("top")) and bool(
        options.get("pool") or (campaign is not None and campaign.pool is not None)
    )


def pool_table(report: Report, work: Work) -> str:
    header = ["topic", "document", "best_rank"]
    if chosen := report.parameters.get("options", {}).get("pool"):
        pool = report.collection.pools.filter(pk=chosen).first()
        if pool is None:
            raise Refused(_("the pool that was chosen is not in the collection any more"))
        return tab_separated(
            header,
            pool.entries.order_by("position").values_list("topic__topic_id", "docno", "best_rank"),
        )
    assert report.campaign is not None
    return tab_separated(header, pool_ranks(report.campaign))


def tables(result: Result) -> list[Table]:
    rows: list[list[Cell]] = []
    counts: list[list[Cell]] = []
    labels: list[str] = []
    for overlap in result.values():
        labels += [label for label in overlap["relevant"] if label not in labels]
    for name, overlap in result.items():
        rows += [
            [name, kind, *(overlap[kind].get(label) for label in labels)]
            for kind in ("relevant", "irrelevant")
        ]
        keys = (
            "pairs",
            "agree",
            "disagree",
            "both",
            "judged_only",
            "clicked_only",
            "contradicting",
        )
        counts.append([name, *(overlap[key] for key in keys)])
    words = [label if label == "unlabelled" else f"click label {label}" for label in labels]
    return [
        Table(
            "shares",
            "Click labels of judged pairs",
            ["click qrels", "judged", *words],
            rows,
            "Shares of all pairs considered.",
        ),
        Table(
            "counts",
            "Agreement",
            [
                "click qrels",
                "pairs",
                "agree",
                "disagree",
                "in both",
                "judged only",
                "clicked only",
                "contradicting",
            ],
            counts,
        ),
    ]


def pictures(result: Result) -> list[Picture]:
    return [agreement_picture(result)]


def agreement_picture(result: Result, *, by_row: bool = False) -> Picture:
    """Figure 3 of TripJudge: a bar for relevant and irrelevant judgements under each click qrels,
    agreeing and contradicting labels in colours of their own, pairs without a label apart. by_row:
    shares of each bar, else of all judged pairs."""
    labels = sorted(
        {
            label
            for overlap in result.values()
            for label in overlap["relevant"]
            if label != UNLABELLED
        },
        key=int,
    )
    bars = [(name, kind) for name, overlap in result.items() for kind in ("relevant", "irrelevant")]

    def pairs(name: str, kind: str, label: str) -> float:
        overlap = result[name]
        return float(round((overlap[kind].get(label) or 0) * overlap["pairs"]))

    series, classes = (
        [("no click label", [pairs(name, kind, UNLABELLED) for name, kind in bars])],
        ["apart"],
    )
    for word, agreeing in (("agree", True), ("disagree", False)):
        for label in labels:
            values = [
                pairs(name, kind, label)
                if ((kind == "relevant") == (int(label) >= 1)) == agreeing
                else 0.0
                for name, kind in bars
            ]
            if any(values):
                series.append((f"{word}, label {label}", values))
                classes.append(f"{word}{min(int(label), 3)}")
    return stacked(
        [f"{name}: {kind}" for name, kind in bars],
        series,
        caption=(
            f"Click labels of the judged pairs, by what the judgement says: shares of "
            f"{'each bar' if by_row else 'all judged pairs'}"
        ),
        what="judged pairs",
        wholes=None if by_row else [float(result[name]["pairs"]) for name, _ in bars],
        classes=classes,
        written=True,
        reason="No judged pair is among those considered.",
    )


KIND = ReportKind(
    name="label_overlap",
    place=20,
    title="Labels against clicks",
    sentence="How many judged pairs have a click label, and how often the two agree or contradict each other.",
    fields=FIELDS,
    given=given,
    counts_labels_only=True,
    tables=tables,
    pictures=pictures,
    qrels_label="Judgements",
    click_qrels=True,
    least_runs=0,
    seeded=False,
    written=(WrittenFile("pool.tsv", pool_is_wanted, pool_table),),
)
