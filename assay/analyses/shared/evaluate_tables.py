"""Tables and charts of the scores of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.analyses.shared.run_charts import MAX_RUNS, format_numbered_name, numbering_note
from assay.analyses.shared.score_tables import scores_table
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.natural_order import natural_sort_key
from assay.results import Values
from assay.tabular import Cell, Table

NO_TOPIC_REASON = "no topic of the run counts under these qrels"
INTERVALS_NOTE = (
    "95% confidence interval of the mean over all topics of this kind, by Student's t over the "
    "topics that count, wider if scores are skewed. The mean over as many new topics varies more. "
    "Intervals do not compare two runs."
)
ESTIMATES_NOTE = (
    "Estimates with the 95% confidence interval of the mean over all topics of this kind. The mean "
    "over a few new topics varies more. These topics: 95% confidence interval of the mean if the "
    "whole pool were judged, only for measures that are sums over pairs."
)
ASSISTED_NOTE = (
    "Estimates assisted by a regression of the labels on the ranks of the runs, fitted in five "
    "folds that leave out the pairs they predict."
)


def estimate_tables(result: Values) -> list[Table]:
    """Return the tables of a sampled pool: estimated means with confidence intervals, and the
    sample."""
    made = []
    for number, (name, means) in enumerate(result["qrels"].items(), 1):
        rows: list[list[Cell]] = []
        for tag, of_measure in means.items():
            these = result.get("these_topics", {}).get(name, {}).get(tag, {})
            rows += [
                [
                    tag,
                    measure,
                    value,
                    *result["interval"][name][tag][measure],
                    *these.get(measure, (None, None)),
                    missing_interval_reason(result, name, tag, measure),
                ]
                for measure, value in of_measure.items()
            ]
        columns = [
            "run",
            "measure",
            "mean",
            "from",
            "to",
            "95% CI from",
            "95% CI to",
            "why no CI",
        ]
        note = " ".join(
            [
                ESTIMATES_NOTE,
                *(f"{words}." for words in result.get("caution", {}).get(name, {}).values()),
            ]
        )
        made.append(Table(f"estimates-{number}", f"Estimates under {name}", columns, rows, note))
        if name in result.get("rank_model", {}):
            made.append(assisted_table(f"helped-{number}", name, result["rank_model"][name]))
        pool, topics = result["pool"][name], result["topics"][name]
        cells: list[Cell] = [
            name,
            topics["qrels"],
            pool["pairs"],
            pool.get("drawn"),
            pool["judged"],
            pool["strata"],
        ]
        made.append(
            Table(
                f"sample-{number}",
                "Sample",
                ["pool", "topics", "pairs", "drawn", "judged", "strata"],
                [cells],
            )
        )
    return made


def missing_interval_reason(result: Values, name: str, tag: str, measure: str) -> str:
    """Return the reason for a missing interval. Reports of older versions have one reason per
    measure."""
    of_run = result.get("interval_reason", {}).get(name, {}).get(tag, {}).get(measure)
    reason = of_run or result.get("undefined", {}).get(name, {}).get(measure, "")
    these = result.get("these_topics_reason", {}).get(name, {}).get(tag, {}).get(measure, "")
    return "; ".join(
        dict.fromkeys(
            one for one in (reason, f"95% CI {these}" if these and these != reason else "") if one
        )
    )


def assisted_table(key: str, name: str, helped: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [
            tag,
            measure,
            one["value"],
            *one["interval"],
            *one["these_topics"],
            one.get("undefined", ""),
        ]
        for tag, of_measure in helped.items()
        for measure, one in of_measure.items()
    ]
    columns = [
        "run",
        "measure",
        "mean",
        "from",
        "to",
        "95% CI from",
        "95% CI to",
        "why no CI",
    ]
    return Table(key, f"Estimates with the rank model under {name}", columns, rows, ASSISTED_NOTE)


def is_estimate(result: Values) -> bool:
    """Return whether the scores are estimates from a sampled pool."""
    return "pool" in result


def interval_bounds(
    result: Values, name: str, tag: str, measure: str
) -> tuple[float | None, float | None]:
    """Return the bounds of the confidence interval, (None, None) for a report of an older
    version."""
    low, high = result.get("interval", {}).get(name, {}).get(tag, {}).get(measure, (None, None))
    return low, high


def intervals_table(result: Values) -> Table:
    rows: list[list[Cell]] = []
    for name, by_run in result["qrels"].items():
        for tag, means in by_run.items():
            reasons = result["interval_reason"][name][tag]
            rows += [
                [name, tag, m, mean, *interval_bounds(result, name, tag, m), reasons.get(m, "")]
                for m, mean in means.items()
            ]
    return Table(
        "intervals",
        "Confidence intervals of means",
        ["qrels", "run", "measure", "mean", "from", "to", "why no CI"],
        rows,
        INTERVALS_NOTE,
    )


def topics_table(topics_by_qrels: Mapping[str, Any]) -> Table:
    counts: list[list[Cell]] = []
    for name, topics in topics_by_qrels.items():
        for tag, averaged in topics["averaged"].items():
            counts.append(
                [
                    name,
                    tag,
                    topics["qrels"],
                    topics["without_relevant"],
                    averaged,
                    topics["missing"][tag],
                    topics["ignored"][tag],
                ]
            )
    header = [
        "qrels",
        "run",
        "topics of the qrels",
        "without relevant documents",
        "averaged over",
        "missing in the run",
        "in the run, not in the qrels",
    ]
    return Table("topics", "Topics counted", header, counts)


def result_tables(result: Values) -> list[Table]:
    if is_estimate(result):
        return estimate_tables(result)
    made = [scores_table(result["qrels"])]
    if "interval" in result:
        made.append(intervals_table(result))
    made.append(topics_table(result["topics"]))
    for number, (name, by_run) in enumerate(result.get("per_topic", {}).items(), 1):
        rows: list[list[Cell]] = []
        measures: list[str] = []
        for tag, by_measure in by_run.items():
            measures = list(by_measure)
            rows += [
                [tag, topic, *(by_measure[m].get(topic) for m in measures)]
                for topic in sorted(by_measure[measures[0]], key=natural_sort_key)
            ]
        made.append(
            Table(
                f"per-topic-{number}",
                f"Scores per topic under {name}",
                ["run", "topic", *measures],
                rows,
            )
        )
    return made


def estimate_charts(result: Values) -> list[Picture]:
    drawn = []
    for name, means in result["qrels"].items():
        for measure in next(iter(means.values()), {}):
            rows = []
            for tag in tags_by_mean(means, measure)[:MAX_RUNS]:
                low, high = result["interval"][name][tag][measure]
                rows.append(
                    DrawnInterval(
                        tag,
                        means[tag][measure],
                        low,
                        high,
                        missing_interval_reason(result, name, tag, measure),
                    )
                )
            caption = f"Estimated mean {measure} (95% CI)"
            drawn.append(
                interval_chart(
                    rows,
                    caption=caption,
                    x_label=f"mean {measure}",
                    what="run",
                    low=0.0,
                    reason="No run has a defined score.",
                )
            )
    return drawn


def interval_caption(result: Values, measure: str) -> str:
    """Return the caption's part about the confidence intervals: that they are shown, or why not."""
    if "interval" not in result:
        return ""
    shown = [
        interval_bounds(result, name, tag, measure)[0] is not None
        for name, by_run in result["qrels"].items()
        for tag in by_run
    ]
    reasons = {
        by_run[tag][measure]
        for name, by_run in result.get("interval_reason", {}).items()
        for tag in by_run
        if measure in by_run[tag] and result["qrels"][name][tag][measure] is not None
    }
    if not any(shown):  # reports of estimates give the reasons elsewhere
        return (
            f"; no confidence interval: {reasons.pop()}"
            if len(reasons) == 1
            else "; no confidence intervals (reasons in the table below)"
            if reasons
            else ""
        )
    missing = "" if not reasons else " if there is one (reasons in the table below)"
    return f", with 95% CI over topics{missing}"


def result_charts(result: Values) -> list[Picture]:
    if is_estimate(result):
        return estimate_charts(result)
    first_to_last = list(result["qrels"].items())
    first = first_to_last[0][1]
    tags = list(first)
    measures = list(first[tags[0]])
    drawn = []
    for measure in measures:
        rows = [
            DrawnInterval(
                format_numbered_name(tag, i, len(first_to_last)),
                by_run[tag][measure],
                *interval_bounds(result, name, tag, measure),
                NO_TOPIC_REASON,
            )
            for tag in tags_by_mean(first, measure)[:MAX_RUNS]
            for i, (name, by_run) in enumerate(first_to_last, 1)
        ]
        least = min(
            [0.0, *(end for row in rows for end in (row.value, row.low) if end is not None)]
        )
        caption = f"Mean {measure}{interval_caption(result, measure)}{numbering_note(list(result['qrels']))}"
        label = axis_label(result, measure)
        drawn.append(
            interval_chart(
                rows,
                caption=caption,
                x_label=label,
                what="run",
                low=least,
                reason="No run has a defined score.",
            )
        )
    return drawn


def axis_label(result: Values, measure: str) -> str:
    """Return the label of the axis. It explains the lines, because printed charts have no
    caption."""
    return f"mean {measure}" + (
        ", 95% CI over topics" if "95% CI" in interval_caption(result, measure) else ""
    )


def tags_by_mean(by_run: Mapping[str, Mapping[str, float | None]], measure: str) -> list[str]:
    """Return the tags in descending order of their means, ties by name, undefined means last."""

    def place(tag: str) -> tuple[bool, float, Any]:
        value = by_run[tag][measure]
        return value is None, -(value or 0.0), natural_sort_key(tag)

    return sorted(by_run, key=place)
