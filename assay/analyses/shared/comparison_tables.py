"""Tables and charts of `compare systems` and `plan study`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.analyses.shared.score_tables import best_cells
from assay.analyses.shared.verdict_tables import p_value_or_none
from assay.charts.lines import Line, line_chart
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.comparison.bootstrap_sentences import CAVEAT
from assay.comparison.significance import CORRECTION_NAMES, mark_uncorrected
from assay.comparison.system_comparison import detectable_difference, interval_width
from assay.comparison.verdict_sentences import describe_constant_differences, make_groups_column
from assay.results import Values
from assay.tabular import Cell, Table

MAX_PAIRS = 20
"""Maximum number of rows of a chart. The table has all."""
TEST_COLUMNS = (
    ("t", "t p"),
    ("wsr", "signed-rank p"),
    ("sign", "sign p"),
    ("randomisation", "permutation p"),
)


def result_measures(result: Values) -> dict[str, Any]:
    return {
        name: answer
        for name, answer in result.items()
        if isinstance(answer, dict) and "means" in answer
    }


def means_table(
    key: str, title: str, answer: Mapping[str, Any], settings: Mapping[str, Any]
) -> Table:
    """Return one row per run, in descending order of the first measure. The best is bold, with
    letters or daggers by the corrected tests."""
    measures = list(answer)
    first = answer[measures[0]]["means"]
    tags = sorted(first, key=lambda tag: (-(first[tag] if first[tag] is not None else -1), tag))
    against = settings["against"]
    header, heads = ["run"], [("", 1)]
    columns = {measure: make_groups_column(answer[measure]) for measure in measures}
    for measure in measures:
        header += ["mean", columns[measure][0]] if against == "all" else ["mean"]
        heads.append((measure, len(header) - sum(n for _, n in heads)))
    rows: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for number, tag in enumerate(tags):
        row: list[Cell] = [tag]
        for measure in measures:
            if sign := significance_mark(answer[measure], tag, settings):
                marks[number, len(row)] = sign
            row += [
                answer[measure]["means"][tag],
                *([columns[measure][1][tag]] if against == "all" else []),
            ]
        rows.append(row)
    numbers = [k for k, name in enumerate(header) if name == "mean"]
    if against != "all":
        header, heads = ["run", *measures], []
    over = ", ".join(f"{n}" for n in sorted({one["topics"] for one in answer.values()}))
    why = sorted({one["no_verdict"] for one in answer.values() if one.get("no_verdict")})
    note = f"Means over {over} topics. " + (
        f"No verdict: {'; '.join(why)}." if why else describe_test(settings)
    )
    return Table(
        key,
        mark_uncorrected(title, settings["correction"]),
        header,
        rows,
        note,
        heads=tuple(heads),
        bold=best_cells(rows, numbers),
        marks=marks,
    )


def describe_test(settings: Mapping[str, Any]) -> str:
    test = {"randomisation": "the paired permutation test", "t": "the paired t-test"}[
        settings["letters_by"]
    ]
    family = CORRECTION_NAMES[settings["correction"]]
    if settings["against"] == "all":
        return (
            "Best in bold. Runs that share a letter do not differ significantly at "
            f"{settings['alpha']:g} by {test} ({family})."
        )
    return f"Best in bold. † better, ‡ worse than {settings['against']} at {settings['alpha']:g} by {test} ({family})."


def significance_mark(answer: Mapping[str, Any], tag: str, settings: Mapping[str, Any]) -> str:
    """Return † for runs significantly better than the run that all are compared with, ‡ for
    significantly worse ones, and an empty string if every pair is compared."""
    if settings["against"] == "all":
        return ""
    for row in answer["pairs"]:
        if row["b"] == tag:
            return "" if not row["different"] else "†" if row["difference"] > 0 else "‡"
    return ""


def pairs_table(
    key: str, title: str, answer: Mapping[str, Any], settings: Mapping[str, Any]
) -> Table:
    tested = TEST_COLUMNS if "tests" not in settings else TEST_COLUMNS[:1]
    held = [
        (test, words)
        for test, words in tested
        if settings["correction"] != "max" or test == "randomisation"
    ]
    held = [] if settings["correction"] == "none" else held
    reasons = any(row["interval_reason"] for row in answer["pairs"])
    header = [
        "A",
        "B",
        "B - A",
        "2.5%",
        "97.5%",
        *(["why no CI"] if reasons else []),
        "effect",
        "from",
        "to",
        "wins",
        "ties",
        "losses",
    ]
    header += [words for _, words in (*tested, *held)]
    rows: list[list[Cell]] = [
        [
            row["a"],
            row["b"],
            row["difference"],
            *row["interval"],
            *([row["interval_reason"]] if reasons else []),
        ]
        + [row["effect"], *row.get("effect_interval", (None, None))]
        + [row["wins"], row["ties"], row["losses"]]
        + [p_value_or_none(row[test]) for test, _ in tested]
        + [p_value_or_none(row["corrected"][test]) for test, _ in held]
        for row in answer["pairs"]
    ]
    decided = range(len(header) - len(held or tested), len(header))
    bold = {
        (number, k)
        for number, row in enumerate(rows)
        for k in decided
        if isinstance(p := row[k], float) and p < settings["alpha"]
    }
    heads = [
        ("", 2),
        ("difference", 4 if reasons else 3),
        ("effect", 3),
        ("topics of B", 3),
        ("raw", len(tested)),
    ]
    heads += [(f"corrected ({settings['correction']})", len(held))] if held else []
    verdict = f"In bold: {'corrected ' if held else ''}p-values below {settings['alpha']:g}. "
    if answer["no_verdict"]:
        bold, verdict = set(), f"No verdict: {answer['no_verdict']}. "
    note = (
        f"Over {answer['topics']} topics. Effect size: Cohen's d_z (mean / SD of the "
        "differences), with its 95% CI. "
    )
    note += verdict + describe_constant_differences({"": answer})
    if settings["correction"] == "none" and len(rows) > 1:
        note += "With uncorrected p-values of many pairs, expect false positives. "
    randomised = f"Permutation test: {settings['permutations']:,} sign-flip permutations, or all if there are fewer."
    note += randomised if "tests" not in settings else f"{settings['tests'].capitalize()}."
    return Table(
        key,
        mark_uncorrected(title, settings["correction"]),
        header,
        rows,
        note,
        heads=tuple(heads),
        bold=frozenset(bold),
    )


def fixed_topics_table(measure: str, answer: Mapping[str, Any]) -> Table | None:
    """Return the confidence intervals, for the same topics, of the differences that complete
    judging of a sampled pool would give. None if the measure is not a sum over pairs."""
    rows: list[list[Cell]] = [
        [
            row["a"],
            row["b"],
            row["difference"],
            *row["these_topics"],
            row.get("these_topics_reason", ""),
        ]
        for row in answer["pairs"]
        if "these_topics" in row
    ]
    if not rows:
        return None
    key = re.sub(r"\W+", "-", measure).strip("-").lower()
    note = (
        "95% CI of the difference if the whole pool were judged, from the variance of the "
        "sample alone."
    )
    return Table(
        f"these-topics-{key}",
        f"Differences on these topics by {measure}",
        ["A", "B", "B - A", "from", "to", "why no CI"],
        rows,
        note,
    )


def assisted_table(measure: str, answer: Mapping[str, Any]) -> Table | None:
    """Return the differences estimated from a sampled pool with the rank model, or None if it was
    not requested."""
    helped = [
        (row["a"], row["b"], row["rank_model"]) for row in answer["pairs"] if "rank_model" in row
    ]
    if not helped:
        return None
    rows: list[list[Cell]] = [
        [a, b, one["difference"], *one["interval"], *one["these_topics"], one.get("undefined", "")]
        for a, b, one in helped
    ]
    key = re.sub(r"\W+", "-", measure).strip("-").lower()
    note = (
        "Estimates assisted by a regression of the labels on the ranks of the runs, fitted "
        "in five folds that leave out the pairs they predict."
    )
    columns = [
        "A",
        "B",
        "B - A",
        "from",
        "to",
        "these topics from",
        "these topics to",
        "why no CI",
    ]
    return Table(
        f"helped-{key}", f"Differences with the rank model by {measure}", columns, rows, note
    )


def largest_differences(
    pairs: Sequence[Mapping[str, Any]], most: int
) -> Sequence[Mapping[str, Any]]:
    """Return the pairs in their order, or, if there are more than `most`, those with the largest
    differences in descending order."""
    return (
        pairs
        if len(pairs) <= most
        else sorted(pairs, key=lambda row: -abs(row["difference"]))[:most]
    )


def differences_chart(measure: str, answer: Mapping[str, Any]) -> Picture:
    pairs: Sequence[Mapping[str, Any]] = answer["pairs"]
    caption = f"Mean differences by {measure}, B - A (95% CI)"
    if len(pairs) > MAX_PAIRS:
        pairs = largest_differences(pairs, MAX_PAIRS)
        caption += f"; the {MAX_PAIRS} greatest"
    rows = [
        DrawnInterval(f"{row['b']} - {row['a']}", row["difference"], *row["interval"])
        for row in pairs
    ]
    return interval_chart(
        rows,
        caption=caption,
        x_label=f"difference of {measure}",
        what="pair",
        reference=(0.0, ""),
        form=lambda v: f"{v:.3f}",
    )


def defined_plans(result: Values) -> dict[str, Any]:
    """Return the plans of `plan study` for measures with a defined variance."""
    return {
        measure: one
        for measure, one in result.items()
        if isinstance(one, dict) and one.get("variance")
    }


def planning_table(key: str, result: Values) -> Table:
    settings = result["settings"]
    rows: list[list[Cell]] = [
        [measure, one["topics"], one["variance"]["median"], one["variance"]["highest"]]
        + [one[name] for name in ("topics_needed", "topics_needed_highest", "smallest_difference")]
        for measure, one in defined_plans(result).items()
    ]
    header = [
        "measure",
        "topics here",
        "median pair",
        "highest",
        "topics needed",
        "for the largest",
        "detectable here",
    ]
    goal = (
        f"a difference of {settings['difference']:g}"
        if settings["width"] is None
        else f"a 95% CI of width {settings['width']:g}"
    )
    title = f"Topics needed for {goal}"
    note = (
        f"Paired t-test at {settings['alpha']:g}, power {settings['power']:g}, from estimated "
        "variances of the differences (–: more than a million topics, or undefined). "
        "Detectable here: the smallest true difference that the current topics detect with this power, for the median pair."
    )
    return Table(
        key, title, header, rows, note, heads=(("", 2), ("variance of the difference", 2), ("", 3))
    )


CURVE_POINTS = 40
"""Number of points of a planning curve."""


def planning_curves(result: Values) -> dict[str, list[tuple[float, float | None]]]:
    """Return by measure (number of topics, smallest detectable difference), or the width of the
    difference's confidence interval if a width was requested."""
    plans, settings = defined_plans(result), result["settings"]
    needed = [
        one[name] for one in plans.values() for name in ("topics", "topics_needed") if one[name]
    ]
    most = min(max([*needed, 20]) * 3 // 2, 5000)
    at = sorted({round(10 * (most / 10) ** (k / (CURVE_POINTS - 1))) for k in range(CURVE_POINTS)})
    power, alpha = settings["power"], settings["alpha"]

    def seen(sd: float, n: int) -> float:
        return (
            interval_width(sd, n, alpha=alpha)
            if settings["width"]
            else detectable_difference(sd, n, target_power=power, alpha=alpha)
        )

    return {
        measure: [(float(n), seen(math.sqrt(one["variance"]["median"]), n)) for n in at]
        for measure, one in plans.items()
    }


def planning_labels(result: Values) -> tuple[str, str, float]:
    """Return (caption, label of the y axis, requested value)."""
    settings = result["settings"]
    if settings["width"]:
        return (
            "Width of the confidence interval by topics",
            "width of the CI",
            settings["width"],
        )
    caption = "Detectable difference by topics"
    return caption, "smallest difference", settings["difference"]


def planning_chart(result: Values) -> list[Picture]:
    """Return the chart, or an empty list if no variance is defined."""
    curves = planning_curves(result)
    if not curves:
        return []
    caption, label, wanted = planning_labels(result)
    here = sorted({one["topics"] for one in defined_plans(result).values()})
    return [
        line_chart(
            [Line(measure, points) for measure, points in curves.items()],
            caption=caption,
            x_label="topics",
            y_label=label,
            y_low=0.0,
            horizontal=[(wanted, f"wanted: {wanted:g}")],
            vertical=[(float(n), f"topics here: {n}") for n in here],
            y_form=lambda v: f"{v:.3g}",
            x_form=lambda v: f"{v:.0f}",
        )
    ]


def label_noise_by_measure(result: Values) -> dict[str, Any]:
    """Return label noise by measure, empty if it was not requested."""
    return {
        measure: one["labels"]
        for measure, one in defined_plans(result).items()
        if one.get("labels")
    }


def noise_table(key: str, result: Values) -> Table | None:
    """Return the label noise, now and with other numbers of judgements per pair, or None if it was
    not requested."""
    noise = label_noise_by_measure(result)
    if not noise:
        return None
    numbers = list(next(iter(noise.values()))["per_pair"])
    rows: list[list[Cell]] = [
        [
            measure,
            labels["topics"],
            labels["as_judged"],
            *labels["per_pair"].values(),
            labels["tau"],
        ]
        for measure, labels in noise.items()
    ]
    header = ["measure", "by topics", "by labels", *numbers, "tau"]
    note = (
        "Standard errors of a difference for the median pair of systems. By topics: from the "
        "variance over topics. By labels: from judgements resampled within pairs, for the "
        f"current and other numbers of judgements per pair. {CAVEAT} Tau is the mean "
        "correlation of the ranking with the rankings under resampled labels."
    )
    return Table(
        key,
        "Label noise",
        header,
        rows,
        note,
        heads=(("", 1), ("standard error", 2), ("judgements per pair", len(numbers)), ("", 1)),
    )


def noise_chart(result: Values) -> list[Picture]:
    """Return the chart of the standard error due to labels by judgements per pair, or an empty list
    if it was not requested."""
    noise = label_noise_by_measure(result)
    if not noise:
        return []
    series = [
        Line(measure, [(float(n), error) for n, error in labels["per_pair"].items()], marks=True)
        for measure, labels in noise.items()
    ]
    at = [float(n) for n in next(iter(noise.values()))["per_pair"]]
    caption = "Standard error by judgements per pair"
    return [
        line_chart(
            series,
            caption=caption,
            x_label="judgements per pair",
            y_label="standard error",
            y_low=0.0,
            x_at=at,
            y_form=lambda v: f"{v:.4f}",
        )
    ]
