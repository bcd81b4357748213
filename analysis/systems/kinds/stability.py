"""Does the ranking of systems survive a change of the collection?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, NotPossible, ReportKind, Result
from analysis.systems.options import READING, Field, fields_of, given_of, measures_field
from analysis.systems.written_files import WrittenFile
from annotation.models import Campaign
from assay.analyses.stability import Options
from assay.charts.lines import Line, lines
from assay.charts.points import radar
from assay.charts.svg import Picture
from assay.counts import counted
from assay.measures.subcollections import ELEMENTS, JOINT
from assay.tabular import Cell, Table
from pooling.models import Run
from pooling.platform.jobs import Work


def words(element: str) -> str:
    return " and ".join(
        "relevant assessments" if one == "positive" else one for one in element.split("+")
    )


FIELDS = (
    Field(
        "element",
        "What is varied",
        "choice",
        "documents",
        tuple((name, words(name)) for name in (*ELEMENTS, *JOINT)),
    ),
    measures_field("AP Rprec Bpref nDCG", divisible=True),
    Field(
        "overlaps",
        "Overlaps in percent",
        "text",
        "",
        hint="first:last:step or 10,50,100; empty: 5:100:5, for topics every number of shared topics.",
    ),
    *fields_of(Options, "pairs", "threshold"),
    Field(
        "documents",
        "Documents",
        "choice",
        "",
        (
            ("", "those of runs and qrels"),
            ("imported", "those imported into the collection"),
            ("list", "those of the list below"),
        ),
        hint="What is drawn from when documents vary.",
    ),
    Field(
        "docids",
        "List of the collection's documents",
        "list",
        "",
        implies=("documents", "list"),
        hint="A file with one document id a line.",
    ),
    *fields_of(Options, "per_topic_quota"),
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if options.get("element"):  # always given: the command has no default for it
        given["element"] = options["element"]
    given |= given_of(
        [one for one in FIELDS if one.name not in ("element", "documents", "docids")], options
    )
    if options.get("documents"):
        if "docids.txt" not in files.others:
            raise NotPossible("choose the file with the list of the collection's documents")
        if "documents" not in str(options.get("element")).split("+"):
            raise NotPossible("the collection's documents are drawn from only when documents vary")
        given["docids"] = files.others["docids.txt"]
    return given


def subject(options: Mapping[str, Any]) -> str:
    return words(str(options.get("element", "")))


def documents_are_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return parameters.get("options", {}).get(
        "documents"
    ) == "imported" and "docids.txt" not in parameters.get("lists", [])


def document_list(report: Report, work: Work) -> str:
    ids = report.collection.documents.order_by("docno").values_list("docno", flat=True)
    return "".join(f"{docno}\n" for docno in ids.iterator())


def tables(result: Result) -> list[Table]:
    names = list(result["probability"])
    rows: list[list[Cell]] = [
        [
            level,
            shared_of(result, i),
            *(result[key][name][i] for key in ("probability", "mean_tau") for name in names),
        ]
        for i, level in enumerate(result["levels"])
    ]
    summary: list[list[Cell]] = [
        [
            name,
            *(result["fit"][name][key] for key in ("slope", "intercept")),
            none_below(result["minimum_overlap"][name]),
            sum(result["undefined"][name]),
        ]
        for name in names
    ]
    parts = result.get("parts") or {result["element"]: result}
    sizes = " and ".join(
        f"{part['size']:,} of {part['population']:,} {words(element)}"
        for element, part in parts.items()
    )
    over = f"{sizes} in each sub-collection, {counted(result['pairs'], 'pair')} at each level."
    return [
        Table(
            "summary",
            "Line through P(o) and least overlap",
            ["measure", "slope", "intercept", "least overlap with P = 1", "undefined taus"],
            summary,
            over,
        ),
        Table(
            "levels",
            "Probability of equal rankings by overlap",
            [
                "overlap",
                "shared",
                *(f"P {name}" for name in names),
                *(f"tau {name}" for name in names),
            ],
            rows,
            f"P: share of pairs whose tau-b is at least {result['threshold']:g}; tau: its mean. {over}",
        ),
    ]


def shared_of(result: Result, level: int) -> Cell:
    """Of two elements both numbers."""
    if "parts" in result:
        return ", ".join(f"{part['shared'][level]:,}" for part in result["parts"].values())
    return int(result["shared"][level])


def none_below(overlap: float | None) -> Cell:
    return "none below 1" if overlap is None else overlap


def pictures(result: Result, kin: Sequence[Result] = ()) -> list[Picture]:
    levels = result["levels"]
    curves = [
        Line(name, list(zip(levels, values, strict=True)), marks=True)
        for name, values in result["probability"].items()
    ]
    for style, (name, fit) in enumerate(result["fit"].items(), 1):
        if fit["slope"] is not None:
            curves.append(
                Line(
                    f"{name}, fitted", fitted(fit, min(levels), max(levels)), thin=True, style=style
                )
            )
    what = words(result["element"])
    common: dict[str, Any] = {"x_label": f"overlap of {what}", "x_form": _percent}
    drawn = [
        lines(
            curves,
            caption=(
                f"Probability that two sub-collections rank the runs alike, by overlap of {what}; "
                f"dotted: the lines fitted below full overlap"
            ),
            y_label="P(o)",
            y_low=0,
            y_high=1,
            **common,
        )
    ]
    taus = [
        Line(name, list(zip(levels, values, strict=True)), marks=True)
        for name, values in result["mean_tau"].items()
    ]
    threshold = [(result["threshold"], f"threshold {result['threshold']:g}")]
    reason = "Tau is undefined throughout: all runs are tied on the sub-collections."
    drawn.append(
        lines(
            taus,
            caption="Mean tau-b by overlap",
            y_label="tau-b",
            horizontal=threshold,
            reason=reason,
            **common,
        )
    )
    return drawn + least_radar(result, kin)


def fitted(fit: Mapping[str, float], first: float, last: float) -> list[tuple[float, float | None]]:
    """The two ends of a fitted line, within probabilities: where it leaves 0 to 1 it is not
    drawn."""
    slope, intercept = fit["slope"], fit["intercept"]
    if slope:
        crossings = sorted(((0 - intercept) / slope, (1 - intercept) / slope))
        first, last = max(first, crossings[0]), min(last, crossings[1])
    elif not 0 <= intercept <= 1:
        return []
    return [(o, slope * o + intercept) for o in (first, last)] if first <= last else []


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def least_radar(result: Result, kin: Sequence[Result]) -> list[Picture]:
    """Figure 2: over the elements where three or more have been computed on the same input, else
    over the measures; none is 100 %. With fewer than three axes there is no radar: the table says
    it all."""
    every = {one["element"]: one for one in [*kin, result]}
    measures = list(result["probability"])
    caption = "Least overlap from which the rankings always agree; 100 % where there is none below"

    def least(one: Result, measure: str) -> float:
        value = one["minimum_overlap"].get(measure)
        return 1.0 if value is None else float(value)

    if len(every) >= 3:
        elements = sorted(every)
        shared = [m for m in measures if all(m in one["probability"] for one in every.values())]
        series = [
            (measure, [least(every[element], measure) for element in elements])
            for measure in shared
        ]
        return [
            radar(
                [words(element) for element in elements],
                series,
                caption=caption,
                high=1.0,
                form=_percent,
            )
        ]
    if len(measures) < 3:
        return []
    series = [(words(result["element"]), [least(result, m) for m in measures])]
    return [radar(measures, series, caption=caption, high=1.0, form=_percent)]


KIND = ReportKind(
    name="stability",
    place=90,
    title="Stability of the collection",
    sentence=(
        "Does the ranking survive when documents, topics or assessments change? Overlap curves "
        "and the least overlap needed."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    beside_others=True,
    subject=subject,
    written=(WrittenFile("docids.txt", documents_are_wanted, document_list),),
)
