"""Tables and charts of the stability of rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.charts.lines import Line, line_chart
from assay.charts.points import radar_chart
from assay.charts.svg import Picture
from assay.labels.intervals import share_interval
from assay.number_words import format_count
from assay.results import Values
from assay.significant_digits import share_standard_error
from assay.tabular import Cell, Table


def name_element(element: str) -> str:
    """Return the name of an element of a test collection for titles and captions."""
    return " and ".join(
        "relevant assessments" if one == "positive" else one for one in element.split("+")
    )


def result_tables(result: Values) -> list[Table]:
    names, similarity = list(result["probability"]), get_similarity(result)
    mean = "tau" if similarity == "tau-b" else similarity
    rows: list[list[Cell]] = [
        [
            level,
            format_shared(result, i),
            *(result[key][name][i] for key in ("probability", "mean_tau") for name in names),
        ]
        for i, level in enumerate(result["levels"])
    ]
    summary: list[list[Cell]] = [
        [
            name,
            *(result["fit"][name][key] for key in ("slope", "intercept")),
            format_missing_overlap(result["minimum_overlap"][name]),
            sum(result["undefined"][name]),
        ]
        for name in names
    ]
    parts = result.get("parts") or {result["element"]: result}
    sizes = " and ".join(
        f"{part['size']:,} of {part['population']:,} {name_element(element)}"
        for element, part in parts.items()
    )
    over = f"{sizes} in each sub-collection, {format_count(result['pairs'], 'pair')} at each level."
    error = (
        f"Standard error of a share of one half: {share_standard_error(0.5, result['pairs']):.2g}."
    )
    filtered = f" {result['note'][:1].upper()}{result['note'][1:]}." if "note" in result else ""
    return [
        Table(
            "summary",
            "Least overlap for equal rankings",
            ["measure", "slope", "intercept", "least overlap with P = 1", "undefined taus"],
            summary,
            f"Slope and intercept: of the line through P(o) below full overlap. {over}",
        ),
        Table(
            "levels",
            "Equal rankings by overlap",
            [
                "overlap",
                "shared",
                *(f"P {name}" for name in names),
                *(f"{mean} {name}" for name in names),
            ],
            rows,
            f"P: share of pairs whose {similarity} is at least {result['threshold']:g}; {mean}: its mean. {over} {error}{filtered}",
        ),
        *make_interval_table(result),
    ]


def make_interval_table(result: Values) -> list[Table]:
    """Return the table of the intervals of P(o), without full overlap, where P is 1 by
    construction."""
    names, pairs = list(result["probability"]), result["pairs"]
    rows: list[list[Cell]] = [
        [
            level,
            *(
                bound
                for name in names
                for bound in share_interval(pairs, round(pairs * result["probability"][name][i]))
            ),
        ]
        for i, level in enumerate(result["levels"])
        if level < 1
    ]
    table = Table(
        "intervals",
        "Confidence intervals of P(o)",
        ["overlap", *["2.5%", "97.5%"] * len(names)],
        rows,
        f"95% CI (Clopper-Pearson) of the share among all pairs of sub-collections, from "
        f"{format_count(pairs, 'pair')} at each level.",
        heads=(("", 1), *((name, 2) for name in names)),
        digits=(None, *[2] * (2 * len(names))),
    )
    return [table] if rows else []


def get_similarity(result: Values) -> str:
    """Return the name of the similarity of rankings in a result. Results of version 0.1.0 used
    tau-b."""
    return str(result.get("similarity", "tau-b"))


def format_shared(result: Values, level: int) -> Cell:
    """Return the number of elements shared at this level, or both numbers if two elements vary."""
    if "parts" in result:
        return ", ".join(f"{part['shared'][level]:,}" for part in result["parts"].values())
    return int(result["shared"][level])


def format_missing_overlap(overlap: float | None) -> Cell:
    return "none below 1" if overlap is None else overlap


def result_charts(result: Values, related_results: Sequence[Values] = ()) -> list[Picture]:
    levels = result["levels"]
    curves = [
        Line(name, list(zip(levels, values, strict=True)), marks=True)
        for name, values in result["probability"].items()
    ]
    for style, (name, fit) in enumerate(result["fit"].items(), 1):
        if fit["slope"] is not None:
            curves.append(
                Line(
                    f"{name}, fitted",
                    clip_fitted_line(fit, min(levels), max(levels)),
                    thin=True,
                    style=style,
                )
            )
    what = name_element(result["element"])
    common: dict[str, Any] = {"x_label": f"overlap of {what}", "x_form": _percent}
    drawn = [
        line_chart(
            curves,
            caption=(f"Equal rankings by overlap of {what}"),
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
        line_chart(
            taus,
            caption=f"Mean {get_similarity(result)} by overlap",
            y_label=get_similarity(result),
            horizontal=threshold,
            reason=reason,
            **common,
        )
    )
    return drawn + min_overlap_radar(result, related_results)


def clip_fitted_line(
    fit: Mapping[str, float], first: float, last: float
) -> list[tuple[float, float | None]]:
    """Return the two ends of a fitted line, clipped to probabilities from 0 to 1."""
    slope, intercept = fit["slope"], fit["intercept"]
    if slope:
        crossings = sorted(((0 - intercept) / slope, (1 - intercept) / slope))
        first, last = max(first, crossings[0]), min(last, crossings[1])
    elif not 0 <= intercept <= 1:
        return []
    return [(o, slope * o + intercept) for o in (first, last)] if first <= last else []


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def min_overlap_radar(result: Values, related_results: Sequence[Values]) -> list[Picture]:
    """Draw the radar chart of minimum overlaps: over the elements if three or more were computed on
    the same input, otherwise over the measures. An undefined overlap is drawn at 100%. Fewer than
    three axes give no chart."""
    every = {one["element"]: one for one in [*related_results, result]}
    measures = list(result["probability"])
    caption = "Least overlap for equal rankings"

    def min_overlap(one: Values, measure: str) -> float:
        value = one["minimum_overlap"].get(measure)
        return 1.0 if value is None else float(value)

    if len(every) >= 3:
        elements = sorted(every)
        shared = [m for m in measures if all(m in one["probability"] for one in every.values())]
        series = [
            (measure, [min_overlap(every[element], measure) for element in elements])
            for measure in shared
        ]
        return [
            radar_chart(
                [name_element(element) for element in elements],
                series,
                caption=caption,
                high=1.0,
                form=_percent,
            )
        ]
    if len(measures) < 3:
        return []
    series = [(name_element(result["element"]), [min_overlap(result, m) for m in measures])]
    return [radar_chart(measures, series, caption=caption, high=1.0, form=_percent)]
