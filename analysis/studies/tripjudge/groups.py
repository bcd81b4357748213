"""The TripJudge study by groups of topics (Head, Torso, Tail, or any column), and the annotators'
survey."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.studies.published import TRIPJUDGE_SURVEY
from analysis.studies.study import Figure, PartLeftOut, Section
from analysis.studies.study_context import StudyContext
from analysis.studies.tripjudge.campaign import (
    COUNT_LABELS,
    DECISION_WORDS,
    decision_chart,
    decision_rows,
    grade_rows,
    group_key,
    group_suffix,
    kappa_chart,
    label_word,
    run_campaign_statistics,
)
from analysis.studies.tripjudge.inputs import (
    EVALUATION_OPTION_KEYS,
    LABEL_KEYS,
    compares_with_paper,
    grade_name,
    judged_qrels_argument,
    judgement_arguments,
    label_file,
    list_scales,
    optional_click_qrels,
    ratio_or_none,
    write_group_files,
)
from analysis.studies.tripjudge.systems import (
    run_label_overlap,
    run_ranking_comparison,
    share_rows,
    tau_rows,
)
from assay.analyses.label_overlap import agreement_chart
from assay.formats.delimited import DelimitedTable, FileProblems, find_column, normalise_names
from assay.formats.qrels import read_qrels
from assay.tabular import Cell, Table

Files = dict[str, str]
"""Path of a file of topic IDs, by group."""


def make_groups(context: StudyContext) -> Section:
    """Make each table and figure that the inputs allow for each group of topics. The survey is not
    about topics and is left out."""
    files = write_group_files(context)
    made = Section()
    if context.has("judgements"):
        statistics = {
            name: run_campaign_statistics(context, only=path) for name, path in files.items()
        }
        made.tables.append(statistics_table(context, statistics))
        made.values.update(
            {
                name: {key: one[key] for key in COUNT_LABELS if key != "documents"}
                for name, one in statistics.items()
            }
        )
        add_decisions(context, files, made)
        add_agreement(context, files, made)
        made.tables.extend(times_tables(context, statistics))
    else:
        made.tables.append(label_table(context, files))
    add_systems(context, files, made)
    add_clicks(context, files, made)
    return made


def statistics_table(context: StudyContext, statistics: dict[str, Any]) -> Table:
    keys = [key for key in COUNT_LABELS if key != "documents"]
    rows: list[list[Cell]] = [
        [COUNT_LABELS[key], *(one[key] for one in statistics.values())] for key in keys
    ]
    graded = [grade_rows(context, one) for one in statistics.values()]
    rows += [[lines[0][0], *(line[1] for line in lines)] for lines in zip(*graded, strict=True)]
    digits = (None, *[2] * len(statistics))
    return Table(
        "table-1-groups",
        "Campaign statistics by topic group",
        ["", *statistics],
        rows,
        digits=digits,
        ruled=frozenset({len(keys)}),
    )


def add_decisions(context: StudyContext, files: Files, section: Section) -> None:
    rows: list[list[Cell]] = []
    ruled = set()
    for name, path in files.items():
        aggregated = context.run(
            "aggregate", **judgement_arguments(context, only=path), **context.options("method")
        )
        ruled.add(len(rows))
        for scale, words in list_scales(context):
            rows += [
                [name, *row] for row in decision_rows(context, scale, words, aggregated[scale])
            ]
            if aggregated["pairs"]:
                section.figures.append(
                    decision_chart(context, scale, words, aggregated[scale], group=name)
                )
    section.tables.append(labels_by_group(rows, ruled, [*DECISION_WORDS.values()]))


def labels_by_group(rows: list[list[Cell]], ruled: set[int], decided: list[str]) -> Table:
    return Table(
        "figure-1-groups",
        f"Labels{' by decision' if decided else ''}, by topic group",
        ["group", "scale", "label", "pairs", "share", *decided],
        rows,
        "Share of each label in its group"
        + (", divided by how it was decided." if decided else "."),
        heads=(("", 5), ("of which by", len(decided))) if decided else (),
        digits=(None, None, None, None, *[3] * (1 + len(decided))),
        ruled=frozenset(ruled),
    )


def label_table(context: StudyContext, files: Files) -> Table:
    """Return a table of the shares of labels by group, for a study without judgements."""
    rows: list[list[Cell]] = []
    ruled = set()
    for name, path in files.items():
        with open(path, encoding="utf-8") as file:
            inside = set(file.read().split("\n"))
        ruled.add(len(rows))
        for scale, words in list_scales(context):
            if not context.has(LABEL_KEYS[scale]):
                continue
            qrels = read_qrels(label_file(context, scale))
            kept = np.repeat(
                [topic in inside for topic in qrels.topics], np.diff(qrels.offsets)
            ) & (qrels.grades >= 0)
            values, counts = np.unique(qrels.grades[kept], return_counts=True)
            total = int(counts.sum())
            shares = zip(values.tolist(), counts.tolist(), strict=True)
            rows += [
                [name, words, label_word(context, scale, str(value)), n, ratio_or_none(n, total)]
                for value, n in shares
            ]
            rows.append([name, words, "all", total, ratio_or_none(total, total)])
    return labels_by_group(rows, ruled, [])


def add_agreement(context: StudyContext, files: Files, section: Section) -> None:
    rows: list[list[Cell]] = []
    for name, path in files.items():
        answer = context.run("agreement", **judgement_arguments(context, only=path))
        for scale, words in list_scales(context):
            one = answer[scale]
            quartiles = one["kappa_quartiles"]
            rows.append(
                [
                    name,
                    words,
                    one["mean_kappa"],
                    *quartiles,
                    one["chance_floor"],
                    one["mean_kappa_others"],
                    one["alpha"],
                    *one["alpha_ci"],
                ]
            )
            section.figures.append(kappa_chart(answer, scale, words, group=name))
    header = [
        "group",
        "scale",
        "mean",
        "25%",
        "median",
        "75%",
        "chance level",
        "with the others",
        "alpha",
        "2.5%",
        "97.5%",
    ]
    heads = (("", 2), ("kappa with the label", 5), ("", 4))
    section.tables.append(
        Table(
            "figure-2-groups",
            "Agreement by topic group",
            header,
            rows,
            heads=heads,
            digits=(None, None, *[2] * 9),
        )
    )


def times_tables(context: StudyContext, statistics: dict[str, Any]) -> Iterator[Table]:
    """Yield tables by group if times are known: judgements per half day, and mean seconds by day
    and grade."""
    spans = {
        name: dict(one["per_12h"]) for name, one in statistics.items() if one["per_12h"] is not None
    }
    if spans:
        starts = sorted({start for counts in spans.values() for start in counts})
        rows: list[list[Cell]] = [
            [start, *(counts.get(start, 0) for counts in spans.values())] for start in starts
        ]
        yield Table(
            "per-12h-groups", "Judgements per half day (UTC) by topic group", ["from", *spans], rows
        )
    timed = {
        name: one["daily_seconds"]
        for name, one in statistics.items()
        if one["daily_seconds"] is not None
    }
    if timed:
        grades = list(next(iter(statistics.values()))["grades"])
        names = [grade_name(context, grade) for grade in grades]
        days: list[list[Cell]] = [
            [name, day, *(means[grade] for grade in grades)]
            for name, daily in timed.items()
            for day, means in daily
        ]
        title = "Mean time by topic group, day and grade"
        yield Table(
            "daily-seconds-groups",
            title,
            ["group", "day", *names],
            days,
            digits=(None, None, *[1] * len(names)),
        )


def add_systems(context: StudyContext, files: Files, section: Section) -> None:
    """Add the comparison of systems (Tables 2 and 3) within each group, if there are runs."""
    if not context.has("runs"):
        return
    rows: list[list[Cell]] = []
    taus: list[list[Cell]] = []
    header: list[str] = []
    clicked = optional_click_qrels(context)
    for name, path in files.items():
        try:
            evaluated: Any = context.run(
                "evaluate",
                judged=judged_qrels_argument(context),
                runs=context.files("runs"),
                qrels=[f"{one}={file}" for one, file in clicked.items()],
                measures=context.value("ranking_measures"),
                only_topics=path,
                **context.options(*EVALUATION_OPTION_KEYS),
            )
        except PartLeftOut:
            continue  # the topics of the group have no labels
        for qrels, by_run in evaluated["qrels"].items():
            for tag, means in by_run.items():
                header = ["group", "qrels", "run", *means]
                rows.append([name, qrels, tag, *means.values()])
        if clicked:
            taus += [
                [name, *row]
                for row in tau_rows(context, run_ranking_comparison(context, only=path))
            ]
    if rows:
        digits = (None, None, None, *[3] * (len(header) - 3))
        section.tables.append(
            Table("table-2-groups", "Effectiveness by topic group", header, rows, digits=digits)
        )
    if taus:
        columns = [
            "group",
            "measure",
            "qrels",
            "tau of the means",
            "2.5%",
            "97.5%",
            "tau-ap",
            *(["authors' script"] if compares_with_paper(context) else []),
        ]
        title = "Kendall's tau by topic group"
        cells = [row[: len(columns)] for row in taus]
        digits = (None, None, None, *[3] * (len(columns) - 3))
        section.tables.append(Table("table-3-groups", title, columns, cells, digits=digits))


def add_clicks(context: StudyContext, files: Files, section: Section) -> None:
    """Add the comparison with clicks (Figure 3) within each group, if there are clicks."""
    if not optional_click_qrels(context):
        return
    rows: list[dict[str, Cell]] = []
    columns: dict[str, None] = {}
    for name, path in files.items():
        try:
            overlap = run_label_overlap(context, only=path)
        except PartLeftOut:
            continue  # the topics of the group have no labels
        header, shares = share_rows(overlap)
        columns |= dict.fromkeys(header)
        rows += [dict(zip(["group", *header], [name, *row], strict=True)) for row in shares]
        caption = f"{group_suffix(name)}{context.value('name')} and click labels: shares of all judged pairs"
        section.figures.append(
            Figure(f"figure-3{group_key(name)}", caption, agreement_chart(overlap))
        )
    label_columns = sorted(
        (name for name in columns if name.startswith("label ")),
        key=lambda name: int(name.split()[1]),
    )
    header = [
        "group",
        "click qrels",
        "judged",
        "no label",
        *label_columns,
        "agree",
        "disagree",
        "contradicting pairs",
    ]
    if rows:
        cells = [[row.get(name) for name in header] for row in rows]
        digits = (None, None, None, *[3] * (len(header) - 4), None)
        section.tables.append(
            Table(
                "figure-3-groups",
                "Judgements and clicks by topic group",
                header,
                cells,
                digits=digits,
            )
        )


def make_survey(context: StudyContext) -> Section:
    context.need("survey", why="survey answers, one row per answer")
    table = DelimitedTable(context.file("survey") or "")
    names = normalise_names(table.first.cells)
    question, answer = find_column(names, ("question",)), find_column(names, ("answer",))
    mistakes = FileProblems(table.name)
    if answer is None:
        mistakes.add(
            table.first.line,
            "no column answer",
            "a header with question and answer",
            "\t".join(table.first.cells),
        )
        mistakes.raise_if_any()
    counts: dict[str, Counter[str]] = {}
    for line, cells in table:
        if len(cells) != len(names):
            mistakes.add(
                line,
                f"{len(cells)} columns",
                f"{len(names)} columns as in the header",
                "\t".join(cells),
            )
        elif text := cells[answer or 0].strip():
            counts.setdefault(cells[question].strip() if question is not None else "", Counter())[
                text
            ] += 1
    mistakes.raise_if_any()
    rows: list[list[Cell]] = []
    for asked, answers in counts.items():
        for text, n in sorted(answers.items(), key=lambda item: (-item[1], item[0])):
            rows.append([asked, text, n, n / answers.total(), TRIPJUDGE_SURVEY.get(text)])
    if not rows:
        raise PartLeftOut("`survey` contains no answers")
    header = ["question", "answer", "n", "share"]
    if compares_with_paper(context):
        header.append("TripJudge")
    made = Table(
        "survey",
        "Survey answers",
        header,
        [row[: len(header)] for row in rows],
        "Empty answers are left out.",
        digits=(None, None, None, 2, 2)[: len(header)],
    )
    return Section([made], values={asked: dict(answers) for asked, answers in counts.items()})
