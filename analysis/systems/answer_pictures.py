"""Charts and tables of the Results page: scores with confidence intervals, p-values of all pairs,
and scores at each tenth of the judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.analyses.shared.run_charts import MAX_RUNS
from assay.charts.lines import Line, line_chart
from assay.charts.matrices import matrix_chart
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.comparison.leading_system import ALPHA
from assay.comparison.significance import no_verdict_reason
from assay.significant_digits import format_p
from assay.tabular import Cell, Table

MAX_IN_MATRIX = 24
"""Maximum number of runs in the matrix, best first. More names would not be readable."""
MAX_LINES = 6
P_VALUE_CLASSES = (
    (0.0, "p < 0.001"),
    (0.001, "p < 0.01"),
    (0.01, "p < 0.05"),
    (0.05, "not significant"),
)


def scores_chart(answer: Mapping[str, Any]) -> Picture:
    systems = answer["systems"][:MAX_RUNS]
    p_values = [None, *(answer["holm"][0] if answer["holm"] else [])]
    opposed = [False, *(answer["opposed"][0] if answer["opposed"] else [])]
    rows = [
        DrawnInterval(
            *(one["tag"], one["mean"], one["low"], one["high"], "", one["least"], one["most"]),
            texts=("–" if p is None else format_p(p),),
            is_grey=p is not None and p < ALPHA and not is_opposed,
        )
        for one, p, is_opposed in zip(systems, p_values, opposed, strict=False)
    ]
    what = "Estimated mean" if answer["estimated"] else "Mean"
    caption = f"{what} {answer['measure']} by run"
    if len(answer["systems"]) > MAX_RUNS:
        caption += f"; the best {MAX_RUNS} of {len(answer['systems'])}"
    meanings = (
        f"{what.lower()} (grey: significantly lower than the first, Holm correction)"
        if any(row.is_grey for row in rows)
        else what.lower(),
        "95% CI, for new topics",
        "score bounds",
    )
    return interval_chart(
        rows,
        caption=caption,
        x_label=f"mean {answer['measure']}",
        what="runs",
        form=lambda v: f"{v:.3f}",
        meanings=meanings,
        reason="No topic has a label yet.",
        columns=("mean", "p (Holm)"),
    )


def pairs_chart(answer: Mapping[str, Any]) -> Picture:
    """Draw the p-values of all pairs of runs as a matrix. It is symmetric, so that each row is
    complete for its run."""
    tags = [one["tag"] for one in answer["systems"][:MAX_IN_MATRIX]]
    values: list[list[float | None]] = [[None] * len(tags) for _ in tags]
    for i, row in enumerate(answer["holm"][: len(tags)]):
        for k, p in enumerate(row[: len(tags) - i - 1]):
            values[i][i + 1 + k] = values[i + 1 + k][i] = p
    caption = "Significant differences (Holm correction)"
    if len(answer["systems"]) > len(tags):
        caption += f" over all runs; shown are the best {len(tags)} of {len(answer['systems'])}"
    return matrix_chart(
        tags,
        tags,
        values,
        caption=caption,
        row_label="run",
        column_label="against",
        form=format_p,
        written=len(tags) <= 12,
        classes=P_VALUE_CLASSES,
        reason=f"No tests: {answer['untested']}."
        if answer["untested"]
        else "There is only one run.",
    )


def interim_checks_chart(answer: Mapping[str, Any]) -> Picture:
    """Plot the scores of the current best runs over the interim checks. Sampled pools have none,
    because their stages are evaluated as a whole."""
    checks: Sequence[Mapping[str, Any]] = answer["interim_checks"]
    tags = [one["tag"] for one in answer["systems"][:MAX_LINES]]
    series = [
        Line(tag, [(100 * check["share"], check["means"][k]) for check in checks], marks=True)
        for k, tag in enumerate(tags)
    ]
    caption = f"Mean {answer['measure']} during judging"
    if len(answer["systems"]) > len(tags):
        caption += f": the best {len(tags)} runs of now"
    return line_chart(
        series,
        caption=caption,
        x_label="% of required judgements",
        y_label=f"mean {answer['measure']}",
        y_form=lambda v: f"{v:.3f}",
        x_form=lambda v: f"{v:.0f}",
    )


def scores_table(answer: Mapping[str, Any]) -> Table:
    """Return the table of scores. Columns that are undefined for every run are left out."""
    header = ["run", f"mean {answer['measure']}", "2.5%", "97.5%"]
    keys = ["tag", "mean", "low", "high"]
    for key, words in (("unjudged", "unjudged"), ("least", "least"), ("most", "most")):
        if any(one[key] is not None for one in answer["systems"]):
            keys.append(key)
            header.append(words)
    rows: list[list[Cell]] = [[one[key] for key in keys] for one in answer["systems"]]
    note = (
        (
            "Unjudged: share of the documents that the measure uses. Bounds: lowest and "
            "highest mean over all grades of the unjudged documents."
        )
        if "unjudged" in keys
        else ""
    )
    return Table("scores", f"Runs by {answer['measure']}", header, rows, note)


def rank_history_table(answer: Mapping[str, Any]) -> Table:
    """Return a table with the rank of each run at each interim check. Tied runs share the best of
    their ranks."""
    checks: Sequence[Mapping[str, Any]] = answer["interim_checks"]
    header = ["run", *(f"{100 * check['share']:.0f}%" for check in checks)]
    columns = [[_rank_of_mean(mean, check["means"]) for mean in check["means"]] for check in checks]
    rows: list[list[Cell]] = [
        [one["tag"], *(column[k] for column in columns)] for k, one in enumerate(answer["systems"])
    ]
    note = "Based on the latest revision of each judgement. " + "; ".join(
        f"{100 * check['share']:.0f}%: {check['judgements']:,} judgements, {check['topics']:,} topics with a label"
        for check in checks
    )
    return Table("places", "Rank of each run during judging", header, rows, note + ".")


def _rank_of_mean(mean: float | None, means: Sequence[float | None]) -> int | None:
    return (
        None
        if mean is None
        else 1 + sum(other is not None and round(other, 10) > round(mean, 10) for other in means)
    )


def describe_leader_history(answer: Mapping[str, Any]) -> str:
    """Say in one sentence since when the leading run has led. Empty with fewer than two interim
    checks, or if no run is leading."""
    checks = answer["interim_checks"]
    if len(checks) < 2 or no_verdict_reason(answer["topics"]):
        return ""
    leading = [_rank_of_mean(check["means"][0], check["means"]) == 1 for check in checks]
    since = len(leading)
    while since and leading[since - 1]:
        since -= 1
    leader = answer["systems"][0]["tag"]
    if since == 0:
        return f"{leader} has led at each of {len(checks)} checks."
    if since == len(checks) - 1:
        return f"The lead of {leader} is recent: another run led at {100 * checks[-2]['share']:.0f}% of the judgements."
    return f"{leader} has led since {100 * checks[since]['share']:.0f}% of the judgements."
