"""The chain of runs that were the state of the art (Lin et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, ReportKind, Result
from analysis.systems.options import FAMILY, READING, VERDICT, Field, given_of
from analysis.systems.written_files import WrittenFile, all_dated, chosen_runs, tab_separated
from annotation.models import Campaign
from assay.analyses.shared.pictures import outcome_bars
from assay.analyses.shared.verdict_tables import comparisons, displacement_table
from assay.charts.points import Spot, scatter
from assay.charts.svg import Picture
from assay.comparison.verdict_words import equal_boards_words
from assay.tabular import Table
from pooling.models import Run
from pooling.platform.jobs import Work

FIELDS = (
    *VERDICT,
    Field(
        "correction",
        "Correction",
        "choice",
        "none",
        (("none", "none"), ("bonferroni", "Bonferroni"), ("holm", "Holm")),
    ),
    FAMILY,
    Field(
        "baselines",
        "Organisers' baselines",
        "tags",
        "",
        marked="baseline",
        hint="A record has to beat the baselines submitted before it.",
    ),
    Field("until", "Leave out what is later than", "date", ""),
    Field("highlight", "Mark runs whose description holds", "text", ""),
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    order = {"order": files.others["order.tsv"]} if "order.tsv" in files.others else {}
    return {"qrels": files.qrels[0][1], "runs": files.runs, **order, **given_of(FIELDS, options)}


def order_is_known(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Raises Refused where some of the runs have a date and some have none."""
    return all_dated(runs, or_none=True)


def order_table(report: Report, work: Work) -> str:
    header = ["tag", "date", "group", "baseline", "description"]
    return tab_separated(
        header,
        [
            [
                r.tag,
                r.submitted_on.isoformat() if r.submitted_on else "",
                r.group,
                int(r.baseline),
                r.description,
            ]
            for r in chosen_runs(report)
        ],
    )


def tables(result: Result) -> list[Table]:
    header = [
        "run",
        "date",
        "group",
        "score",
        "baseline",
        "state of the art",
        "marked",
        "description",
    ]
    rows = [
        [
            r["tag"],
            r["date"] or "",
            r["group"],
            r["score"],
            *("yes" if r[key] else "no" for key in ("baseline", "sota", "highlighted")),
            r["description"],
        ]
        for r in result["runs"]
    ]
    made = [Table("runs", "All runs", header, rows)]
    unique = {
        (row["a"], row["b"]): row
        for key in ("vs_previous", "vs_first", "vs_last")
        for row in result.get(key, [])
    }
    if unique:
        made += comparisons(
            list(unique.values()), words=" along the chain", rates=equal_boards_words(result)
        )
    if result.get("order"):
        made.append(displacement_table(result))
    return made


def _day(text: str) -> float | None:
    try:
        return float(date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        return None


def pictures(result: Result) -> list[Picture]:
    kinds = ["run", "state of the art", "baseline", "marked"]
    spots = []
    dated = all(run["date"] and _day(run["date"]) is not None for run in result["runs"])
    for number, run in enumerate(result["runs"], 1):
        kind = 1 if run["sota"] else 2 if run["baseline"] else 3 if run["highlighted"] else 0
        x = _day(run["date"]) if dated else float(number)
        if x is not None and run["score"] is not None:
            spots.append(
                Spot(run["tag"] + (", marked" if run["highlighted"] else ""), x, run["score"], kind)
            )
    form: Callable[[float], str] = (
        (lambda x: date.fromordinal(int(x)).isoformat()) if dated else (lambda x: f"{x:g}")
    )
    drawn = [
        scatter(
            spots,
            kinds=kinds,
            caption="Score of each run over time, the state of the art marked"
            if dated
            else "Score of each run in the order given; no dates are known",
            x_label="submitted" if dated else "number",
            y_label="mean RR",
            x_form=form,
        )
    ]
    rows = result.get("vs_previous", [])
    if rows:
        drawn.append(
            outcome_bars(rows, "Topics by outcome: each record (B) against the one before (A)")
        )
    return drawn


KIND = ReportKind(
    name="leaderboard",
    place=50,
    title="Leaderboard over time",
    sentence="The chain of runs that were the state of the art, and whether each step is significant.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    written=(WrittenFile("order.tsv", order_is_known, order_table),),
)
