"""The campaign by groups of topics (Head, Torso, Tail, or any column), and what annotators said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis.commandline.topic_groups import groups_of_topics
from analysis.studies.bench import Bench
from analysis.studies.published import TRIPJUDGE_SURVEY
from analysis.studies.study import PartLeftOut, Section
from analysis.studies.tripjudge.campaign import COUNTS, grade_rows, statistics_of
from analysis.studies.tripjudge.inputs import HOW, SCALES, click_qrels, judged_qrels, judgements, share
from analysis.studies.words import slug
from analysis.systems.tabular import Cell, Table
from pooling.formats.delimited import DelimitedTable as Delimited
from pooling.formats.delimited import FileMistakes, column_names, find_column


def group_files(bench: Bench) -> dict[str, str]:
    """Group -> a file of its topics, of those that are judged."""
    bench.need("topic_groups", why="a file of topics and their groups")
    topics = list(statistics_of(bench)["topic_seconds"])
    path_of = {}
    for name, members in groups_of_topics(bench, bench.file("topic_groups") or "", topics).items():
        path_of[name] = bench.scratch_file(f"{slug(name)}.topics")
        with open(path_of[name], "w", encoding="utf-8") as out:
            out.writelines(f"{topic}\n" for topic, inside in zip(topics, members.tolist(), strict=True) if inside)
    if not path_of:
        raise PartLeftOut("no judged topic is in a group of `topic_groups`")
    return path_of


def by_group(bench: Bench) -> Section:
    files = group_files(bench)
    statistics = {name: statistics_of(bench, only=path) for name, path in files.items()}
    keys = [key for key in COUNTS if key != "documents"]
    rows: list[list[Cell]] = [[COUNTS[key], *(one[key] for one in statistics.values())] for key in keys]
    graded = [grade_rows(bench, one) for one in statistics.values()]
    rows += [[lines[0][0], *(line[1] for line in lines)] for lines in zip(*graded, strict=True)]
    tables = [
        Table(
            "table-1-groups",
            "Statistics of the campaign by topic group",
            ["", *files],
            rows,
            digits=(None, *[2] * len(files)),
            ruled=frozenset({len(keys)}),
        ),
        decisions_table(bench, files),
        agreement_table(bench, files),
    ]
    if systems := systems_table(bench, files):
        tables.append(systems)
    return Section(tables, values={name: {key: one[key] for key in keys} for name, one in statistics.items()})


def decisions_table(bench: Bench, files: dict[str, str]) -> Table:
    rows: list[list[Cell]] = []
    for name, path in files.items():
        aggregated = bench.run("aggregate", *judgements(bench, only=path), *bench.options("method"))
        for scale, words in SCALES:
            one = aggregated[scale]
            decided = one["decisions"] or {}
            rows.append(
                [
                    name,
                    words,
                    aggregated["pairs"],
                    *(share(decided.get(key), aggregated["pairs"]) if decided else None for key in ("unanimous", "majority", "lowest_grade")),
                ]
            )
    header = ["group", "scale", "labelled pairs", "full agreement", "majority", "lowest grade"]
    return Table(
        "figure-1-groups",
        "How labels were decided, by topic group",
        header,
        rows,
        "Shares of the labelled pairs.",
        digits=(None, None, None, 3, 3, 3),
    )


def agreement_table(bench: Bench, files: dict[str, str]) -> Table:
    rows: list[list[Cell]] = []
    for name, path in files.items():
        agreement = bench.run("agreement", *judgements(bench, only=path))
        for scale, words in SCALES:
            one = agreement[scale]
            rows.append([name, words, one["mean_kappa"], one["chance_floor"], one["mean_kappa_others"], one["alpha"], *one["alpha_ci"]])
    header = ["group", "scale", "kappa against the label", "by chance", "against the others", "alpha", "2.5 %", "97.5 %"]
    return Table("figure-2-groups", "Agreement by topic group", header, rows, digits=(None, None, *[2] * 6))


def systems_table(bench: Bench, files: dict[str, str]) -> Table | None:
    """Table 2 within each group, where there are runs."""
    if not bench.has("runs"):
        return None
    try:
        clicks = click_qrels(bench)
    except PartLeftOut:
        clicks = {}
    rows: list[list[Cell]] = []
    header: list[str] = []
    for name, path in files.items():
        try:
            evaluated: Any = bench.run(
                "evaluate", judged_qrels(bench), *bench.files("runs"), *(f"--qrels={one}={file}" for one, file in clicks.items()),
                f"--measures={bench.value('ranking_measures')}", f"--only-topics={path}", *bench.options(*HOW),
            )  # fmt: skip
        except PartLeftOut:
            continue  # its topics have no label
        for qrels, by_run in evaluated["qrels"].items():
            for tag, means in by_run.items():
                header = ["group", "qrels", "run", *means]
                rows.append([name, qrels, tag, *means.values()])
    return (
        Table("table-2-groups", "Effectiveness by topic group", header, rows, digits=(None, None, None, *[3] * (len(header) - 3)))
        if rows
        else None
    )


def survey(bench: Bench) -> Section:
    bench.need("survey", why="what annotators said of the campaign, one row an answer")
    table = Delimited(bench.file("survey") or "")
    names = column_names(table.first.cells)
    question, answer = find_column(names, ("question",)), find_column(names, ("answer",))
    mistakes = FileMistakes(table.name)
    if answer is None:
        mistakes.add(table.first.line, "no column answer", "a header with question and answer", "\t".join(table.first.cells))
        mistakes.raise_any()
    counts: dict[str, Counter[str]] = {}
    for line, cells in table:
        if len(cells) != len(names):
            mistakes.add(line, f"{len(cells)} columns", f"{len(names)} columns as in the header", "\t".join(cells))
        elif text := cells[answer or 0].strip():
            counts.setdefault(cells[question].strip() if question is not None else "", Counter())[text] += 1
    mistakes.raise_any()
    rows: list[list[Cell]] = []
    for asked, answers in counts.items():
        for text, n in sorted(answers.items(), key=lambda item: (-item[1], item[0])):
            rows.append([asked, text, n, n / answers.total(), TRIPJUDGE_SURVEY.get(text)])
    if not rows:
        raise PartLeftOut("`survey` has no answer")
    made = Table(
        "survey",
        "What annotators said",
        ["question", "answer", "n", "share", "TripJudge"],
        rows,
        "Empty answers are left out.",
        digits=(None, None, None, 2, 2),
    )
    return Section([made], values={asked: dict(answers) for asked, answers in counts.items()})
