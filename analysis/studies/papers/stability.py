"""The study of whether the ranking of systems survives changes of the collection: all four elements
of the multi-element protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.studies.study import (
    Figure,
    PartLeftOut,
    Section,
    Study,
    StudyPart,
    setting,
    settings_from,
)
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import (
    EVALUATION_KEYS,
    EVALUATION_SETTING_KEYS,
    QRELS_KEY,
    RUNS_KEY,
    make_figures,
    prefix_tables,
    qrels_and_runs_arguments,
)
from assay.analyses.shared.stability_tables import (
    clip_fitted_line,
    format_missing_overlap,
    format_shared,
    get_similarity,
    name_element,
)
from assay.analyses.stability import Options
from assay.charts.lines import Line, line_chart
from assay.charts.panels import panel_chart
from assay.charts.points import radar_chart
from assay.measures.subcollections import ELEMENTS, JOINT
from assay.number_words import format_count
from assay.results import Result
from assay.tabular import Cell, Table

PANEL = 400.0
"""Width of a panel in pixels. Two panels side by side fill a printed page."""


def run_stability(context: StudyContext, element: str) -> Result:
    varied = element.split("+")
    given = context.options(
        "overlaps", "measures", "pairs", "min_tau", "similarity", "also", *EVALUATION_KEYS
    )
    if "documents" in varied and context.has("docids"):
        given["docids"] = context.file("docids")
    if "assessments" in varied and context.value("per_topic_quota"):
        given["per_topic_quota"] = True
    if context.value("export"):
        given["export"] = context.scratch_file(element_key(element))
        given |= context.options(export_qrels="folds")
    return context.run(
        "stability", **qrels_and_runs_arguments(context), element=element, **given, deltas=True
    )


def element_key(element: str) -> str:
    """Return the part of file names that stands for an element, or for two elements varied
    together."""
    return element.replace("+", "-and-")


def list_exported_files(context: StudyContext, element: str, result: Result) -> dict[str, bytes]:
    """Return the files with the sampled sub-collections as content by name below `data/`. Empty
    unless they are requested."""
    folder = Path(context.scratch_file(element_key(element)))
    return {
        f"{element_key(element)}/{name}": (folder / name).read_bytes()
        for name in result.get("exported", [])
    }


def make_element_section(context: StudyContext, element: str) -> Section:
    """Make the section for one element of the protocol, or for two elements that are varied
    together."""
    result = run_stability(context, element)
    tables = [
        *prefix_tables(result.tables(), element_key(element), title=f", {name_element(element)}"),
        deltas_table(result),
    ]
    tables += [threshold_table(result)] if "at" in result else []
    said = [result["note"][:1].upper() + result["note"][1:] + "."] if "note" in result else []
    files = list_exported_files(context, element, result)
    said += (
        [
            (
                f"Sub-collections drawn are in `data/{element_key(element)}`: one digit per "
                "pair, 1 in the first, 2 in the second, 3 in both."
            )
        ]
        if files
        else []
    )
    kept = {key: value for key, value in result.items() if key not in ("deltas", "exported")}
    return Section(
        tables, make_figures(result.charts()[:2], element_key(element)), said, kept, files
    )


def make_joint_section(context: StudyContext) -> Section:
    """Make the section of pairs of elements that are varied together, to show their joint
    effect."""
    if not context.has("joint"):
        raise PartLeftOut(
            "`joint` takes pairs of elements to vary together, as in documents+topics"
        )
    chosen = str(context.value("joint")).split()
    if unknown := [one for one in chosen if one not in JOINT]:
        raise PartLeftOut(
            f"unknown elements in `joint`: {', '.join(unknown)}; choose from {', '.join(JOINT)}"
        )
    sections = [make_element_section(context, element) for element in chosen]
    results = {element: run_stability(context, element) for element in chosen}
    caption = "P(o) of two elements that share o at once"
    drawn = Figure(
        "joint",
        caption,
        panel_chart(
            [
                (name_element(element), stability_curves(result))
                for element, result in results.items()
            ],
            caption=caption,
        ),
    )
    return Section(
        [table for one in sections for table in one.tables],
        [drawn, *(figure for one in sections for figure in one.figures)],
        list(dict.fromkeys(text for one in sections for text in one.words)),
        {element: one.values for element, one in zip(chosen, sections, strict=True)},
        {name: data for one in sections for name, data in one.files.items()},
    )


def requested_elements(context: StudyContext) -> list[str]:
    chosen = (context.value("elements") or " ".join(ELEMENTS)).split()
    if unknown := [one for one in chosen if one not in ELEMENTS]:
        raise PartLeftOut(
            f"unknown `elements`: {', '.join(unknown)}; choose from {', '.join(ELEMENTS)}"
        )
    return chosen


def element_section_maker(element: str) -> Callable[[StudyContext], Section]:
    def make(context: StudyContext) -> Section:
        if element not in requested_elements(context):
            raise PartLeftOut(f"`elements` does not include {element}")
        return make_element_section(context, element)

    return make


def deltas_table(result: Result) -> Table:
    """Return a table of all similarities, so that readers can apply another threshold."""
    rows: list[list[Cell]] = [
        [measure, level, shared, number, tau]
        for measure, levels in result["deltas"].items()
        for level, shared, taus in zip(
            result["levels"],
            [format_shared(result, k) for k in range(len(levels))],
            levels,
            strict=True,
        )
        for number, tau in enumerate(taus, 1)
    ]
    element = result["element"]
    return Table(
        f"{element_key(element)}-deltas",
        f"Delta of sub-collections, {name_element(element)}",
        ["measure", "overlap", "shared", "pair", get_similarity(result)],
        rows,
    )


def threshold_table(result: Result) -> Table:
    rows: list[list[Cell]] = []
    for threshold, at_threshold in {f"{result['threshold']:g}": result, **result["at"]}.items():
        for measure, fit in at_threshold["fit"].items():
            rows.append(
                [
                    float(threshold),
                    measure,
                    fit["slope"],
                    fit["intercept"],
                    format_missing_overlap(at_threshold["minimum_overlap"][measure]),
                ]
            )
    element = result["element"]
    header = ["threshold", "measure", "slope", "intercept", "least overlap with P = 1"]
    return Table(
        f"{element_key(element)}-thresholds",
        f"Other thresholds, {name_element(element)}",
        header,
        rows,
        digits=(2, None, 3, 3, 3),
    )


def make_all_elements_section(context: StudyContext) -> Section:
    """Make the paper's Figure 1 with one panel per element, its Figure 2 over all elements, and one
    table for both."""
    results = {element: run_stability(context, element) for element in requested_elements(context)}
    rows: list[list[Cell]] = []
    for element, result in results.items():
        for measure, fit in result["fit"].items():
            least = format_missing_overlap(result["minimum_overlap"][measure])
            rows.append(
                [
                    name_element(element),
                    result["population"],
                    result["size"],
                    measure,
                    fit["slope"],
                    fit["intercept"],
                    least,
                ]
            )
    pairs, threshold, similarity = (
        next(iter(results.values()))[key] for key in ("pairs", "threshold", "similarity")
    )
    note = (
        f"P(o): share of {format_count(pairs, 'pair')} of sub-collections whose rankings have "
        f"a {similarity} of at least {threshold:g}. The line is fitted below o = 1."
    )
    header = [
        "element",
        "population",
        "each",
        "measure",
        "slope",
        "intercept",
        "least overlap with P = 1",
    ]
    ruled = frozenset(k for k in range(1, len(rows)) if rows[k][0] != rows[k - 1][0])
    heads = (("", 1), ("size", 2), ("", 1), ("line through P(o)", 2), ("", 1))
    table = Table(
        "elements",
        "Stability over all elements",
        header,
        rows,
        note,
        heads=heads,
        digits=(None, None, None, None, 3, 3, 3),
        ruled=ruled,
    )
    caption = "Equal rankings by overlap"
    figures = [
        Figure(
            "elements",
            caption,
            panel_chart(
                [(name_element(e), stability_curves(r)) for e, r in results.items()],
                caption=caption,
            ),
        )
    ]
    if max(len(results), len(next(iter(results.values()))["minimum_overlap"])) >= 3:
        figures.append(joint_radar(results))
    return Section(
        [table],
        figures,
        values={element: result["minimum_overlap"] for element, result in results.items()},
    )


def stability_curves(result: Result) -> str:
    """Draw the panel of Figure 1 for one element."""
    levels = result["levels"]
    series = [
        Line(name, list(zip(levels, values, strict=True)), marks=True)
        for name, values in result["probability"].items()
    ]
    for style, (name, fit) in enumerate(result["fit"].items(), 1):
        if fit["slope"] is not None:
            series.append(
                Line(
                    f"{name}, fitted",
                    clip_fitted_line(fit, min(levels), max(levels)),
                    thin=True,
                    style=style,
                )
            )
    return line_chart(
        series,
        caption=name_element(result["element"]),
        x_label="overlap o",
        y_label="P(o)",
        y_low=0,
        y_high=1,
        x_form=format_percent,
        x_at=[0.2, 0.4, 0.6, 0.8, 1.0],
        width=PANEL,
        height=240,
    )


def format_percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def joint_radar(results: dict[str, Result]) -> Figure:
    """Draw Figure 2 of the paper: one line per element over the measures, or with fewer than three
    measures, one line per measure over the elements."""
    caption = "Least overlap for equal rankings"
    measures = list(next(iter(results.values()))["minimum_overlap"])
    elements = [name_element(element) for element in results]

    def least(result: Result, measure: str) -> float:
        value: Any = result["minimum_overlap"][measure]
        return 1.0 if value is None else float(value)

    of_element = [[least(result, measure) for measure in measures] for result in results.values()]
    if len(measures) >= 3:
        axes, series = measures, list(zip(elements, of_element, strict=True))
    else:
        of_measure = [list(values) for values in zip(*of_element, strict=True)]
        axes, series = elements, list(zip(measures, of_measure, strict=True))
    drawn = radar_chart(axes, series, caption=caption, high=1.0, form=format_percent)
    return Figure("least-overlap", caption, drawn)


STUDY = Study(
    name="stability",
    group="trust",
    title="How stable is the ranking when the collection changes?",
    source="the multi-element protocol for TREC-COVID",
    sentence=(
        "How often two halves of a collection rank systems alike, by the share of documents, "
        "topics or assessments they have in common."
    ),
    keys=(
        QRELS_KEY,
        RUNS_KEY,
        setting("measures", "text", "Space-separated measures (AP Rprec Bpref nDCG)."),
        setting(
            "elements", "text", "Space-separated: documents topics assessments positive (all)."
        ),
        *settings_from(
            Options, "overlaps", "pairs", "min_tau", "similarity", "also", "per_topic_quota"
        ),
        setting(
            "docids",
            "file",
            "Document IDs of the collection, one per line (default: those of runs and qrels).",
        ),
        setting(
            "joint", "text", "Pairs of elements to vary together, as in documents+topics (none)."
        ),
        setting(
            "export",
            "flag",
            "Write the documents, topics and assessments of each sub-collection.",
        ),
        setting(
            "folds",
            "whole",
            "Number of pairs at each overlap whose sub-collections are also written as qrels, topics and documents, with export.",
            least=1,
        ),
        *EVALUATION_SETTING_KEYS,
    ),
    parts=(
        StudyPart("elements", "All elements", make_all_elements_section),
        *(
            StudyPart(element, name_element(element).capitalize(), element_section_maker(element))
            for element in ELEMENTS
        ),
        StudyPart("joint", "Pairs of elements", make_joint_section),
    ),
)
