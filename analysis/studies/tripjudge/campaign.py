"""The campaign: Table 1, Figure 1 (labels and how they were decided), Figure 2 (kappa), time of
judging."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.studies.bench import Bench
from analysis.studies.published import (
    TRIPJUDGE_DECISIONS,
    TRIPJUDGE_GRADES,
    TRIPJUDGE_KAPPA,
    TRIPJUDGE_STATISTICS,
)
from analysis.studies.study import Figure, PartLeftOut, Section
from analysis.studies.tripjudge.inputs import (
    SCALES,
    grade_name,
    judgements,
    labels,
    n_grades,
    pool,
    share,
)
from analysis.studies.words import slug
from assay.charts.bars import bars, histogram, stacked
from assay.charts.lines import Line, lines
from assay.counts import counted
from assay.formats.qrels import read_qrels
from assay.tabular import Cell, Table

COUNTS = {
    "topics": "queries",
    "documents": "documents in the collection",
    "pairs": "judged pairs",
    "labelled_pairs": "labelled pairs",
    "judgements": "judgements",
    "per_pair": "judgements per judged pair",
    "per_labelled_pair": "judgements per labelled pair",
    "annotators": "annotators",
    "per_annotator": "judgements per annotator",
    "complete_depth": "pool complete to rank",
    "relevant_share": "relevant share of labels, 2 grades",
}
DECISION_WORDS = {
    "unanimous": "full agreement",
    "majority": "majority",
    "lowest_grade": "lowest grade",
}


def statistics_of(bench: Bench, *, only: str | None = None) -> dict[str, Any]:
    return bench.run(
        "campaign_stats",
        **judgements(bench, only=only),
        **pool(bench),
        **bench.options("documents"),
    )


def campaign_in_numbers(bench: Bench) -> Section:
    statistics = statistics_of(bench)
    rows: list[list[Cell]] = [
        [words, statistics[key], TRIPJUDGE_STATISTICS.get(key)] for key, words in COUNTS.items()
    ]
    rows += grade_rows(bench, statistics)
    note = (
        "In the published column judgements and annotators are those before the topics were "
        "cleaned, queries and pairs those after it; "
        "their quotient is no mean of anything."
    )
    table = Table(
        "table-1",
        "Statistics of the annotation campaign",
        ["", "here", "TripJudge"],
        rows,
        note,
        digits=(None, 2, 2),
        ruled=frozenset({len(COUNTS)}),
    )
    return Section(
        [table],
        words=[*statistics["warnings"], *dropped(statistics)],
        values={key: statistics[key] for key in (*COUNTS, "grades")},
    )


def grade_rows(bench: Bench, statistics: Mapping[str, Any]) -> list[list[Cell]]:
    """Count, share and mean time of each grade, with the paper's where it has as many grades."""
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
            rows.append([f"{grade_name(bench, grade)}: {words}", row[key], theirs])
    return rows


def dropped(statistics: Mapping[str, Any]) -> list[str]:
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


def labels_and_decisions(bench: Bench) -> Section:
    if not bench.has("judgements"):
        return label_shares(bench)
    aggregated = bench.run("aggregate", **judgements(bench), **bench.options("method"))
    rows: list[list[Cell]] = []
    figures = []
    ruled = set()
    for scale, words in SCALES:
        one = aggregated[scale]
        ruled.add(len(rows))
        rows += decision_rows(bench, scale, words, one) + published_row(bench, scale, words)
        figures.append(decision_picture(bench, scale, words, one))
    header = ["scale", "label", "pairs", "share", *DECISION_WORDS.values()]
    note = (
        "Share of each label, and within it of each way by which it was decided; TripJudge: full "
        "agreement 20 %, lowest grade 22 % on 4 grades, "
        "48 % and 2 % on 2 grades."
    )
    table = Table(
        "figure-1",
        "Labels and how they were decided",
        header,
        rows,
        note,
        heads=(("", 4), ("of which by", 3)),
        digits=(None, None, None, 3, 3, 3, 3),
        ruled=frozenset(ruled),
    )
    values = {
        scale: {key: aggregated[scale][key] for key in ("labels", "decisions", "cross")}
        for scale, _ in SCALES
    }
    return Section(
        [table],
        figures,
        [
            f"{counted(aggregated['pairs'], 'labelled pair')}; "
            f"{counted(aggregated['dropped']['too_few'], 'pair', 'has', 'have')} too few judgements for a label."
        ],
        values,
    )


def decision_rows(bench: Bench, scale: str, words: str, one: Mapping[str, Any]) -> list[list[Cell]]:
    total = sum(one["labels"].values())
    rows: list[list[Cell]] = []
    for label, n in one["labels"].items():
        decided = (
            [share(one["cross"][label][key], n) for key in DECISION_WORDS]
            if one["cross"]
            else [None] * len(DECISION_WORDS)
        )
        rows.append([words, label_word(bench, scale, label), n, share(n, total), *decided])
    decisions = one["decisions"] or {}
    rows.append(
        [
            words,
            "all",
            total,
            share(total, total),
            *(share(decisions[key], total) if decisions else None for key in DECISION_WORDS),
        ]
    )
    return rows


def published_row(bench: Bench, scale: str, words: str) -> list[list[Cell]]:
    """The paper's, where it has as many grades."""
    if scale == "graded" and n_grades(bench) != 4:
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


def label_word(bench: Bench, scale: str, label: str) -> str:
    return grade_name(bench, label) if scale == "graded" else ("irrelevant", "relevant")[int(label)]


def decision_picture(
    bench: Bench, scale: str, words: str, one: Mapping[str, Any], *, group: str = ""
) -> Figure:
    names = [label_word(bench, scale, label) for label in one["labels"]] + ["all"]
    if one["cross"]:
        series = [
            (
                text,
                [
                    *(float(one["cross"][label][key]) for label in one["labels"]),
                    float(one["decisions"][key]),
                ],
            )
            for key, text in DECISION_WORDS.items()
        ]
    else:
        series = [
            ("labels", [*map(float, one["labels"].values()), float(sum(one["labels"].values()))])
        ]
    total = sum(one["labels"].values())
    caption = (
        f"{in_group(group)}Labels on {words} and how they were decided, as shares of each label; "
        f"n: pairs with it, of {total:,}"
    )
    return Figure(
        f"figure-1-{scale}{key_of_group(group)}",
        caption,
        stacked(names, series, caption=caption, what="label", written=True),
    )


def in_group(group: str) -> str:
    return f"{group}: " if group else ""


def key_of_group(group: str) -> str:
    return f"-{slug(group)}" if group else ""


def label_shares(bench: Bench) -> Section:
    """Without judgements: how often each label is given; how it was decided is not known."""
    rows: list[list[Cell]] = []
    figures = []
    values: dict[str, Any] = {}
    reasons = []
    for scale, words in SCALES:
        try:
            qrels = read_qrels(labels(bench, scale))
        except PartLeftOut as reason:
            reasons.append(f"On {words}: {reason}.")
            continue
        grades, counts = np.unique(qrels.grades[qrels.grades >= 0], return_counts=True)
        n_of_label = {
            str(grade): n for grade, n in zip(grades.tolist(), counts.tolist(), strict=True)
        }
        total = sum(n_of_label.values())
        rows += [
            [words, label_word(bench, scale, label), n, share(n, total)]
            for label, n in n_of_label.items()
        ]
        caption = (
            f"Labels on {words}, {counted(total, 'pair')} of {counted(len(qrels.topics), 'topic')}"
        )
        names = [label_word(bench, scale, label) for label in n_of_label]
        figures.append(
            Figure(
                f"figure-1-{scale}",
                caption,
                bars(
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
        "How they were decided needs single judgements.",
        digits=(None, None, None, 3),
    )
    return Section([table], figures, reasons, values)


AGREEMENT = {
    "mean_kappa": "mean kappa against the label",
    "chance_floor": "the same by chance",
    "mean_kappa_others": "mean kappa against the label of the others",
    "mean_pairwise_kappa": "mean kappa of two annotators",
    "mean_pairwise_kappa_weighted": "the same, weighted by common pairs",
    "alpha": "Krippendorff's alpha",
    "fleiss": "Fleiss' kappa",
    "percent": "agreeing pairs of judgements",
}


def agreement_of_annotators(bench: Bench) -> Section:
    agreement = bench.run("agreement", **judgements(bench))
    rows: list[list[Cell]] = [
        [
            words,
            *(agreement[scale][key] for scale, _ in SCALES),
            *(TRIPJUDGE_KAPPA[scale] if key == "mean_kappa" else None for scale, _ in SCALES),
        ]
        for key, words in AGREEMENT.items()
    ]
    for place, words in enumerate(
        ("kappa, first quartile", "kappa, median", "kappa, third quartile")
    ):
        published = (0.50, None, 0.70)[place]
        rows.insert(
            2 + place,
            [
                words,
                *(agreement[scale]["kappa_quartiles"][place] for scale, _ in SCALES),
                published,
                published,
            ],
        )
    header = ["", *(words for _, words in SCALES), *(words for _, words in SCALES)]
    note = (
        "Kappa is linearly weighted and alpha ordinal on all grades. "
        "Against the label an annotator's own vote counts, so that chance alone reaches the second row. "
        + " ".join(interval_words(words, agreement[scale]) for scale, words in SCALES)
    )
    table = Table(
        "figure-2",
        "Agreement",
        header,
        rows,
        note,
        heads=(("", 1), ("here", 2), ("TripJudge", 2)),
        digits=(None, 2, 2, 2, 2),
    )
    figures = [kappa_picture(agreement, scale, words) for scale, words in SCALES]
    values = {
        scale: {
            key: agreement[scale][key]
            for key in (*AGREEMENT, "kappa_quartiles", "alpha_ci", "undefined")
        }
        for scale, _ in SCALES
    }
    reasons = [
        f"{AGREEMENT.get(key, key)}, {words}: {why}."
        for scale, words in SCALES
        for key, why in agreement[scale]["reasons"].items()
    ]
    return Section([table], figures, reasons, values)


def interval_words(words: str, scale: Mapping[str, Any]) -> str:
    low, high = scale["alpha_ci"]
    if low is None:
        return f"Alpha on {words} has no interval: {scale['alpha_ci_reason']}."
    return f"Alpha on {words}: 95 % interval {low:.2f} to {high:.2f} over {scale['alpha_ci_unit']}."


def kappa_picture(
    agreement: Mapping[str, Any], scale: str, words: str, *, group: str = ""
) -> Figure:
    kappas = [row[f"kappa_{scale}"] for row in agreement["annotators"].values()]
    defined = [kappa for kappa in kappas if kappa is not None]
    one = agreement[scale]
    caption = (
        f"{in_group(group)}Kappa against the label on {words}, {counted(len(defined), 'annotator')}"
    )
    if len(defined) < len(kappas):
        caption += f"; of {len(kappas) - len(defined)} it is undefined"
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
    picture = histogram(
        counts,
        edges,
        caption=caption,
        x_label="Cohen's kappa",
        unit="annotators",
        vertical=marks,
        reason="Kappa is undefined for every annotator.",
    )
    return Figure(f"figure-2-{scale}{key_of_group(group)}", caption, picture)


def times(bench: Bench) -> Section:
    """Per half day, mean time by grade and day, mean time by topic."""
    statistics = statistics_of(bench)
    if (
        statistics["per_12h"] is None
        and statistics["daily_seconds"] is None
        and not timed_topics(statistics)
    ):
        raise PartLeftOut("needs times: the columns seconds and judged_at of the judgements")
    tables, figures = [], []
    if statistics["per_12h"] is not None:
        labels = [start[5:13].replace("T", " ") for start, _ in statistics["per_12h"]]
        caption = "Judgements per 12 hours (UTC)"
        tables.append(
            Table(
                "per-12h",
                caption,
                ["from", "judgements"],
                [[start, n] for start, n in statistics["per_12h"]],
            )
        )
        picture = bars(
            labels,
            [float(n) for _, n in statistics["per_12h"]],
            caption=caption,
            unit="judgements",
            what="from",
        )
        figures.append(Figure("per-12h", caption, picture))
    if statistics["daily_seconds"] is not None:
        names = [grade_name(bench, grade) for grade in statistics["grades"]]
        days = [day for day, _ in statistics["daily_seconds"]]
        rows: list[list[Cell]] = [
            [day, *(means[grade] for grade in statistics["grades"])]
            for day, means in statistics["daily_seconds"]
        ]
        caption = "Mean seconds of a judgement by day and grade"
        tables.append(
            Table(
                "daily-seconds",
                caption,
                ["day", *names],
                rows,
                "A grade that suddenly takes no time is a sign of judging at random.",
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
                lines(
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
    if topics := timed_topics(statistics):
        tables.append(
            Table(
                "topic-seconds",
                "Mean seconds of a judgement by topic",
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


def timed_topics(statistics: Mapping[str, Any]) -> list[list[Cell]]:
    rows: list[list[Cell]] = [
        [topic, row["n"], row["mean_seconds"]]
        for topic, row in statistics["topic_seconds"].items()
        if row["mean_seconds"] is not None
    ]
    return sorted(rows, key=lambda row: (-float(row[2] or 0), str(row[0])))
