"""The campaign part of the TripJudge study: Table 1, Figure 1 (labels and their decisions), Figure
2 (kappa) and judging times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.studies.published import (
    TRIPJUDGE_DECISIONS,
    TRIPJUDGE_GRADES,
    TRIPJUDGE_KAPPA,
    TRIPJUDGE_STATISTICS,
)
from analysis.studies.study import Figure, PartLeftOut, Section
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import slugify_name
from analysis.studies.tripjudge.inputs import (
    SCALE_NAMES,
    compares_with_paper,
    grade_name,
    judgement_arguments,
    label_file,
    list_scales,
    n_grades,
    pool_arguments,
    ratio_or_none,
)
from assay.charts.bars import bar_chart, histogram_chart, stacked_bar_chart
from assay.charts.lines import Line, line_chart
from assay.formats.qrels import read_qrels
from assay.number_words import format_count
from assay.tabular import Cell, Table

COUNT_LABELS = {
    "topics": "queries",
    "documents": "documents in the collection",
    "pairs": "judged pairs",
    "labelled_pairs": "labelled pairs",
    "judgements": "judgements",
    "per_pair": "judgements per judged pair",
    "per_labelled_pair": "judgements per labelled pair",
    "annotators": "annotators",
    "per_annotator": "judgements per annotator",
    "mean_seconds": "mean seconds per judgement",
    "complete_depth": "pool complete to rank",
    "relevant_share": "relevant share of labels, 2 grades",
}
DECISION_WORDS = {
    "unanimous": "full agreement",
    "majority": "majority",
    "lowest_grade": "lowest grade",
}


def run_campaign_statistics(context: StudyContext, *, only: str | None = None) -> dict[str, Any]:
    return context.run(
        "campaign_stats",
        **judgement_arguments(context, only=only),
        **pool_arguments(context),
        **context.options(n_documents="documents"),
    )


def make_campaign_numbers(context: StudyContext) -> Section:
    statistics = run_campaign_statistics(context)
    rows: list[list[Cell]] = [
        [words, statistics[key], TRIPJUDGE_STATISTICS.get(key)]
        for key, words in COUNT_LABELS.items()
        if key != "mean_seconds" or statistics[key] is not None
    ]
    n_counts = len(rows)
    rows += grade_rows(context, statistics)
    header, note = ["", "value"], ""
    if compares_with_paper(context):
        header = ["", "here", "TripJudge"]
        note = (
            "In the published column, judgements and annotators were counted before topics "
            "were cleaned, but queries and pairs afterwards. Their quotient is therefore not a mean."
        )
    table = Table(
        "table-1",
        "Campaign statistics",
        header,
        [row[: len(header)] for row in rows],
        note,
        digits=(None, 2, 2)[: len(header)],
        ruled=frozenset({n_counts}),
    )
    return Section(
        [table],
        words=[*statistics["warnings"], *describe_dropped(statistics)],
        values={key: statistics[key] for key in (*COUNT_LABELS, "grades")},
    )


def grade_rows(context: StudyContext, statistics: Mapping[str, Any]) -> list[list[Cell]]:
    """Return one row per grade: count, share and mean time, with the published values if the scale
    has as many grades."""
    rows: list[list[Cell]] = []
    for number, (grade, row) in enumerate(statistics["grades"].items()):
        published = (
            TRIPJUDGE_GRADES[number]
            if len(statistics["grades"]) == len(TRIPJUDGE_GRADES)
            else (None, None, None)
        )
        for key, words, theirs in zip(
            ("n", "share", "mean_seconds"),
            ("judgements", "share", "mean seconds"),
            published,
            strict=True,
        ):
            rows.append([f"{grade_name(context, grade)}: {words}", row[key], theirs])
    return rows


def describe_dropped(statistics: Mapping[str, Any]) -> list[str]:
    reasons = {
        "too_fast": "too fast",
        "excluded": "excluded",
        "repeated": "repeated (the last one counts)",
        "gold": "of gold pairs",
    }
    said = [
        f"{statistics['dropped'][key]:,} {words}"
        for key, words in reasons.items()
        if statistics["dropped"].get(key)
    ]
    return [f"Judgements that do not count: {', '.join(said)}."] if said else []


def make_labels_and_decisions(context: StudyContext) -> Section:
    if not context.has("judgements"):
        return make_label_shares(context)
    aggregated = context.run(
        "aggregate", **judgement_arguments(context), **context.options("method")
    )
    rows: list[list[Cell]] = []
    figures = []
    ruled = set()
    for scale, words in list_scales(context):
        one = aggregated[scale]
        ruled.add(len(rows))
        rows += decision_rows(context, scale, words, one)
        rows += published_rows(context, scale, words)
        figures.append(decision_chart(context, scale, words, one))
        figures.append(decision_chart(context, scale, words, one, shares=False))
    header = ["scale", "label", "pairs", "share", *DECISION_WORDS.values()]
    note = "Share of each label, divided by how it was decided."
    if compares_with_paper(context):
        note += (
            " TripJudge: full agreement 20%, lowest grade 22% on 4 grades, 48% and 2% on 2 grades."
        )
    table = Table(
        "figure-1",
        "Labels by decision",
        header,
        rows,
        note,
        heads=(("", 4), ("of which by", 3)),
        digits=(None, None, None, 3, 3, 3, 3),
        ruled=frozenset(ruled),
    )
    values = {
        scale: {key: aggregated[scale][key] for key in ("labels", "decisions", "cross")}
        for scale, _ in SCALE_NAMES
    }
    return Section(
        [table],
        figures,
        [
            f"{format_count(aggregated['pairs'], 'labelled pair')}; "
            f"{format_count(aggregated['dropped']['too_few'], 'pair', 'has', 'have')} too few "
            "judgements for a label."
        ],
        values,
    )


def decision_rows(
    context: StudyContext, scale: str, words: str, one: Mapping[str, Any]
) -> list[list[Cell]]:
    total = sum(one["labels"].values())
    rows: list[list[Cell]] = []
    for label, n in one["labels"].items():
        decided = (
            [ratio_or_none(one["cross"][label][key], n) for key in DECISION_WORDS]
            if one["cross"]
            else [None] * len(DECISION_WORDS)
        )
        rows.append(
            [words, label_word(context, scale, label), n, ratio_or_none(n, total), *decided]
        )
    decisions = one["decisions"] or {}
    rows.append(
        [
            words,
            "all",
            total,
            ratio_or_none(total, total),
            *(
                ratio_or_none(decisions[key], total) if decisions else None
                for key in DECISION_WORDS
            ),
        ]
    )
    return rows


def published_rows(context: StudyContext, scale: str, words: str) -> list[list[Cell]]:
    """Return the values that TripJudge published, if the scale has as many grades."""
    if not compares_with_paper(context) or (scale == "graded" and n_grades(context) != 4):
        return []
    return [
        [
            words,
            "all, TripJudge",
            None,
            None,
            *(TRIPJUDGE_DECISIONS[scale].get(key) for key in DECISION_WORDS),
        ]
    ]


def label_word(context: StudyContext, scale: str, label: str) -> str:
    return (
        grade_name(context, label) if scale == "graded" else ("irrelevant", "relevant")[int(label)]
    )


def decision_chart(
    context: StudyContext,
    scale: str,
    words: str,
    one: Mapping[str, Any],
    *,
    group: str = "",
    shares: bool = True,
) -> Figure:
    """Draw how labels were decided, as shares of each label and of all labels, or as numbers of
    pairs."""
    labels = list(one["labels"])
    names = [label_word(context, scale, label) for label in labels] + (["all"] if shares else [])
    cross, whole = one["cross"], one["decisions"]
    series = [
        (
            text,
            [
                *(float(cross[label][key]) for label in labels),
                *([float(whole[key])] if shares else []),
            ],
        )
        for key, text in DECISION_WORDS.items()
        if cross
    ]
    total = sum(one["labels"].values())
    if not cross:
        values = [*map(float, one["labels"].values()), *([float(total)] if shares else [])]
        series = [("labels", values)]
    measured = "shares of each label" if shares else "numbers of pairs"
    caption = (
        f"{group_suffix(group)}Labels on {words} by decision, as {measured}; n: pairs with it, of "
        f"{total:,}"
    )
    counted = "" if shares else "-counts"
    return Figure(
        f"figure-1-{scale}{counted}{group_key(group)}",
        caption,
        stacked_bar_chart(
            names, series, caption=caption, what="label", shares=shares, written=shares
        ),
    )


def group_suffix(group: str) -> str:
    return f"{group}: " if group else ""


def group_key(group: str) -> str:
    return f"-{slugify_name(group)}" if group else ""


def make_label_shares(context: StudyContext) -> Section:
    """Make the section with the shares of labels for a study without judgements, so without
    decisions."""
    rows: list[list[Cell]] = []
    figures = []
    values: dict[str, Any] = {}
    reasons = []
    for scale, words in list_scales(context):
        try:
            qrels = read_qrels(label_file(context, scale))
        except PartLeftOut as reason:
            reasons.append(f"On {words}: {reason}.")
            continue
        grades, counts = np.unique(qrels.grades[qrels.grades >= 0], return_counts=True)
        n_of_label = {
            str(grade): n for grade, n in zip(grades.tolist(), counts.tolist(), strict=True)
        }
        total = sum(n_of_label.values())
        rows += [
            [words, label_word(context, scale, label), n, ratio_or_none(n, total)]
            for label, n in n_of_label.items()
        ]
        caption = f"Labels on {words}, {format_count(total, 'pair')} of {format_count(len(qrels.topics), 'topic')}"
        names = [label_word(context, scale, label) for label in n_of_label]
        figures.append(
            Figure(
                f"figure-1-{scale}",
                caption,
                bar_chart(
                    names,
                    [float(n) for n in n_of_label.values()],
                    caption=caption,
                    unit="pairs",
                    what="label",
                ),
            )
        )
        values[scale] = {"labels": n_of_label, "topics": len(qrels.topics)}
    if not rows:
        raise PartLeftOut("needs `judgements`, `labels` or `binary_labels`")
    table = Table(
        "figure-1",
        "Labels",
        ["scale", "label", "pairs", "share"],
        rows,
        "The ways in which labels were decided need individual judgements.",
        digits=(None, None, None, 3),
    )
    return Section([table], figures, reasons, values)


AGREEMENT_LABELS = {
    "mean_kappa": "mean kappa with the label",
    "chance_floor": "chance-level kappa with the label",
    "mean_kappa_others": "mean kappa with the label of the others",
    "mean_pairwise_kappa": "mean pairwise kappa",
    "mean_pairwise_kappa_weighted": "mean pairwise kappa, weighted by common pairs",
    "alpha": "Krippendorff's alpha",
    "fleiss": "Fleiss' kappa",
    "percent": "agreeing pairs of judgements",
}


def make_agreement(context: StudyContext) -> Section:
    agreement = context.run("agreement", **judgement_arguments(context))
    scales = list_scales(context)
    rows: list[list[Cell]] = [
        [
            words,
            *(agreement[scale][key] for scale, _ in scales),
            *(TRIPJUDGE_KAPPA[scale] if key == "mean_kappa" else None for scale, _ in scales),
        ]
        for key, words in AGREEMENT_LABELS.items()
    ]
    for place, words in enumerate(
        ("kappa, first quartile", "kappa, median", "kappa, third quartile")
    ):
        published = (0.50, None, 0.70)[place]
        rows.insert(
            2 + place,
            [
                words,
                *(agreement[scale]["kappa_quartiles"][place] for scale, _ in scales),
                published,
                published,
            ],
        )
    header = ["", *(words for _, words in scales)]
    heads: tuple[tuple[str, int], ...] = ()
    if compares_with_paper(context):
        header += [words for _, words in scales]
        heads = (("", 1), ("here", 2), ("TripJudge", 2))
    note = (
        "Kappa is linearly weighted and alpha ordinal on all grades. The label includes an "
        "annotator's own vote, so chance alone gives the values of the second row. "
        + " ".join(describe_interval(words, agreement[scale]) for scale, words in scales)
    )
    table = Table(
        "figure-2",
        "Agreement",
        header,
        [row[: len(header)] for row in rows],
        note,
        heads=heads,
        digits=(None, 2, 2, 2, 2)[: len(header)],
    )
    figures = [kappa_chart(agreement, scale, words) for scale, words in scales]
    values = {
        scale: {
            key: agreement[scale][key]
            for key in (*AGREEMENT_LABELS, "kappa_quartiles", "alpha_ci", "undefined")
        }
        for scale, _ in SCALE_NAMES
    }
    reasons = [
        f"{AGREEMENT_LABELS.get(key, key)}, {words}: {why}."
        for scale, words in scales
        for key, why in agreement[scale]["reasons"].items()
    ]
    return Section([table], figures, reasons, values)


def describe_interval(words: str, scale: Mapping[str, Any]) -> str:
    low, high = scale["alpha_ci"]
    if low is None:
        return f"Alpha on {words} has no confidence interval: {scale['alpha_ci_reason']}."
    return f"Alpha on {words}: 95% CI {low:.2f} to {high:.2f} over {scale['alpha_ci_unit']}."


def kappa_chart(agreement: Mapping[str, Any], scale: str, words: str, *, group: str = "") -> Figure:
    kappas = [row[f"kappa_{scale}"] for row in agreement["annotators"].values()]
    defined = [kappa for kappa in kappas if kappa is not None]
    one = agreement[scale]
    caption = f"{group_suffix(group)}Kappa with the label on {words}, {format_count(len(defined), 'annotator')}"
    if len(defined) < len(kappas):
        caption += f"; undefined for {len(kappas) - len(defined)}"
    lowest = math.floor(min([*defined, one["chance_floor"] or 0.0, 0.0]) * 10) / 10
    edges = [round(lowest + step / 20, 2) for step in range(round((1 - lowest) * 20) + 1)]
    counts = np.histogram(defined, edges)[0].tolist() if defined else []
    marks: list[tuple[float, str]] = []
    quartiles: Sequence[float | None] = one["kappa_quartiles"]
    named = (
        ("chance", one["chance_floor"]),
        ("first quartile", quartiles[0]),
        ("mean", one["mean_kappa"]),
        ("third quartile", quartiles[2]),
    )
    marks = [(value, f"{name} {value:.2f}") for name, value in named if value is not None]
    picture = histogram_chart(
        counts,
        edges,
        caption=caption,
        x_label="Cohen's kappa",
        unit="annotators",
        vertical=marks,
        reason="Kappa is undefined for every annotator.",
    )
    return Figure(f"figure-2-{scale}{group_key(group)}", caption, picture)


def make_times(context: StudyContext) -> Section:
    """Make the section on judging times: judgements per half day, mean time by grade and day, and
    mean time by topic."""
    statistics = run_campaign_statistics(context)
    if (
        statistics["per_12h"] is None
        and statistics["daily_seconds"] is None
        and not topic_time_rows(statistics)
    ):
        raise PartLeftOut("needs the columns `seconds` and `judged_at` in `judgements`")
    tables, figures = [], []
    if statistics["per_12h"] is not None:
        labels = [start[5:13].replace("T", " ") for start, _ in statistics["per_12h"]]
        caption = "Judgements per half day (UTC)"
        tables.append(
            Table(
                "per-12h",
                caption,
                ["from", "judgements"],
                [[start, n] for start, n in statistics["per_12h"]],
            )
        )
        picture = bar_chart(
            labels,
            [float(n) for _, n in statistics["per_12h"]],
            caption=caption,
            unit="judgements",
            what="from",
        )
        figures.append(Figure("per-12h", caption, picture))
    if statistics["daily_seconds"] is not None:
        names = [grade_name(context, grade) for grade in statistics["grades"]]
        days = [day for day, _ in statistics["daily_seconds"]]
        rows: list[list[Cell]] = [
            [day, *(means[grade] for grade in statistics["grades"])]
            for day, means in statistics["daily_seconds"]
        ]
        caption = "Mean time by day and grade"
        tables.append(
            Table(
                "daily-seconds",
                caption,
                ["day", *names],
                rows,
                "A grade whose time suddenly drops can be a sign of random judging.",
                digits=(None, *[1] * len(names)),
            )
        )
        series = [
            Line(name, [(float(i), row[1 + k]) for i, row in enumerate(rows)], marks=True)  # type: ignore[misc]
            for k, name in enumerate(names)
        ]
        figures.append(
            Figure(
                "daily-seconds",
                caption,
                line_chart(
                    series,
                    caption=caption,
                    x_label="day",
                    y_label="seconds",
                    y_low=0,
                    x_at=[float(i) for i in range(len(days))],
                    x_form=lambda x: days[round(x)][5:] if 0 <= round(x) < len(days) else "",
                ),
            )
        )
    if topics := topic_time_rows(statistics):
        tables.append(
            Table(
                "topic-seconds",
                "Mean time by topic",
                ["topic", "judgements", "mean seconds"],
                topics,
                "Longest first.",
                digits=(None, None, 1),
            )
        )
    return Section(
        tables,
        figures,
        values={"per_12h": statistics["per_12h"], "daily_seconds": statistics["daily_seconds"]},
    )


def topic_time_rows(statistics: Mapping[str, Any]) -> list[list[Cell]]:
    rows: list[list[Cell]] = [
        [topic, row["n"], row["mean_seconds"]]
        for topic, row in statistics["topic_seconds"].items()
        if row["mean_seconds"] is not None
    ]
    return sorted(rows, key=lambda row: (-float(row[2] or 0), str(row[0])))
