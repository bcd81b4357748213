"""The study of whether improvements over the state of the art are significant: tables and figure of
Lin et al. on a leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.studies.study import PartLeftOut, Section, Study, StudyPart, setting, settings_from
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import (
    EVALUATION_SETTING_KEYS,
    QRELS_KEY,
    RUNS_KEY,
    make_figures,
    qrels_and_runs_arguments,
)
from assay.analyses.leaderboard import Options
from assay.analyses.shared.verdict_tables import (
    comparison_tables,
    displacement_table,
    p_value_or_none,
)
from assay.comparison.significance import mark_uncorrected
from assay.comparison.verdict_sentences import describe_equal_boards
from assay.number_words import format_count
from assay.results import Result
from assay.tabular import Cell, Table

COMPARISON_LISTS = {
    "vs_first": "against the first",
    "vs_previous": "against the one before",
    "vs_last": "the last three",
}
OPTION_KEYS = (
    "baselines",
    "until",
    "highlight",
    "cutoff",
    "alpha",
    "decide",
    "correction",
    "family_size",
    "min_relevant",
    "missing_topics",
    "lenient",
)


def run_board(context: StudyContext) -> Result:
    """Run the leaderboard analysis for Figure 1, on a table of scores if one is given, otherwise on
    runs. The table may contain more runs than there are files. Raises PartLeftOut."""
    if context.has("table"):
        return context.run(
            "leaderboard",
            scores=context.file("table"),
            **context.options("score_column", "baselines", "until", "highlight"),
        )
    if not context.has("runs"):
        context.need(
            "table", why="`qrels` and `runs`, or a table of scores (tag, date, group, score)"
        )
    return run_leaderboard(context)


def run_leaderboard(context: StudyContext) -> Result:
    """Run the leaderboard analysis on run files. Raises PartLeftOut if they are missing."""
    order = {"metadata": context.file("order")} if context.has("order") else {}
    return context.run(
        "leaderboard", **qrels_and_runs_arguments(context), **order, **context.options(*OPTION_KEYS)
    )


def run_comparison(context: StudyContext) -> Result:
    if not context.has("runs"):
        raise PartLeftOut("needs `qrels` and `runs`: a table of scores has no topics to test on")
    leaderboard = run_leaderboard(context)
    if not leaderboard["vs_previous"]:
        raise PartLeftOut("the chain has fewer than two runs, so there is nothing to compare")
    return leaderboard


def make_board_over_time(context: StudyContext) -> Section:
    leaderboard = run_board(context)
    runs = {run["tag"]: run for run in leaderboard["runs"]}
    rows: list[list[Cell]] = [
        [f"R{number}", tag, runs[tag]["date"] or "", runs[tag]["group"], runs[tag]["score"]]
        for number, tag in enumerate(leaderboard["chain"], 1)
    ]
    after = "; ".join(
        f"{name} {context.value(name)}" for name in ("baselines", "until") if context.value(name)
    )
    note = (
        f"Chosen from {format_count(len(runs), 'run')}{f' ({after})' if after else ''}. Each run in "
        "the table scored higher than all earlier runs. Of runs with the same date, only the best "
        "is considered."
    )
    chain = Table(
        "chain",
        "State-of-the-art runs",
        ["", "run", "date", "group", "score"],
        rows,
        note,
        digits=(None, None, None, None, 3),
    )
    everything = [table for table in leaderboard.tables() if table.key == "runs"]
    return Section(
        [chain, *everything],
        make_figures(leaderboard.charts()[:1], "over-time"),
        values={"chain": leaderboard["chain"], "runs": len(runs)},
    )


def iterate_comparisons(
    context: StudyContext, leaderboard: Result
) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield the comparisons of two runs in the order of the paper's two tables, as (list, row,
    whether the row starts the list). With `paper_rows`, only those of the paper, each pair once."""
    seen: set[tuple[str, str]] = set()
    for key, words in COMPARISON_LISTS.items():
        rows = leaderboard[key]
        if context.value("paper_rows"):
            rows = [] if key == "vs_previous" else rows
            rows = [row for row in rows if (row["a"], row["b"]) not in seen]
            seen |= {(row["a"], row["b"]) for row in rows}
        for number, row in enumerate(rows):
            yield words, row, number == 0


def has_groups(leaderboard: Result) -> bool:
    return any(run["group"] for run in leaderboard["runs"])


def make_mean_tests(context: StudyContext) -> Section:
    leaderboard = run_comparison(context)
    rows: list[list[Cell]] = []
    ruled, bold = set(), set()
    grouped = has_groups(leaderboard)
    n_names = 5 if grouped else 3
    for words, row, begins in iterate_comparisons(context, leaderboard):
        if begins:
            ruled.add(len(rows))
        means = row["mrr"]
        tests = [means[test] for test in ("wrs", "wsr", "t")]
        bold |= {
            (len(rows), n_names + 1 + k)
            for k, p in enumerate(tests)
            if p is not None and p < get_alpha(context)
        }
        rows.append(
            [
                words,
                *name_pair(row, grouped=grouped),
                means["difference"],
                *map(p_value_or_none, tests),
            ]
        )
    note = (
        f"Differences of mean RR at {context.value('cutoff') or 100}, B - A; raw p, in bold "
        f"below {get_alpha(context):g}. WRS (rank-sum, unpaired) requires an ordinal scale; WSR "
        "(signed-rank) and t require an interval scale, which RR arguably lacks."
    )
    groups = ["group A", "group B"] if grouped else []
    header = ["compared", "A", "B", *groups, "difference", "WRS p", "WSR p", "t p"]
    table = Table(
        "table-1",
        mark_uncorrected("Tests of differences in mean RR", "none"),
        header,
        rows,
        note,
        digits=(*[None] * n_names, 4),
        bold=frozenset(bold),
        ruled=frozenset(ruled),
    )
    return Section(
        [table],
        values={
            key: [{"a": row["a"], "b": row["b"], **row["mrr"]} for row in leaderboard[key]]
            for key in COMPARISON_LISTS
        },
    )


def name_pair(row: Mapping[str, Any], *, grouped: bool) -> list[Cell]:
    """Return the names of two runs as R1 to Rn, and their groups if the leaderboard has groups."""
    groups = [row["a_group"], row["b_group"]] if grouped else []
    return [row["a_label"], row["b_label"], *groups]


def get_alpha(context: StudyContext) -> float:
    return float(context.value("alpha") or 0.05)


def make_outcomes(context: StudyContext) -> Section:
    leaderboard = run_comparison(context)
    rows: list[list[Cell]] = []
    ruled, bold = set(), set()
    grouped = has_groups(leaderboard)
    n_names = 5 if grouped else 3
    for words, row, begins in iterate_comparisons(context, leaderboard):
        if begins:
            ruled.add(len(rows))
        shares = [row["outcomes"][name] for name in ("neither", "a_only", "b_only", "both")]
        both: list[Cell] = []
        for key in ("esl", "rr"):
            both += [
                row[key]["a"],
                row[key]["b"],
                p_value_or_none(row[key]["wsr"]),
                p_value_or_none(row[key]["t"]),
            ]
        rows.append(
            [
                words,
                *name_pair(row, grouped=grouped),
                *shares,
                p_value_or_none(row["binomial"]),
                *both,
            ]
        )
        for column in (n_names + k for k in (4, 7, 8, 11, 12)):
            if isinstance(p := rows[-1][column], float) and p < get_alpha(context):
                bold.add((len(rows) - 1, column))
    heads = (
        ("", n_names),
        ("(1)", 1),
        ("(2)", 2),
        ("(3)", 1),
        ("(2)", 1),
        ("ESL where both answer", 4),
        ("RR where both answer", 4),
    )
    header = [
        "compared",
        "A",
        "B",
        *(["group A", "group B"] if grouped else []),
        "neither",
        "A only",
        "B only",
        "both",
        "binomial p",
        *("A", "B", "WSR p", "t p") * 2,
    ]
    note = (
        "Shares of topics by which run answers them down to rank "
        f"{context.value('cutoff') or 100}; expected search length (rank of the answer) and RR "
        "if both do; raw p."
    )
    digits = (*[None] * n_names, 3, 3, 3, 3, None, 2, 2, None, None, 3, 3)
    table = Table(
        "table-2",
        mark_uncorrected("Outcomes, expected search length and RR", "none"),
        header,
        rows,
        note,
        heads=heads,
        digits=digits,
        bold=frozenset(bold),
        ruled=frozenset(ruled),
    )
    values = {
        key: [
            {name: row[name] for name in ("a", "b", "outcomes", "binomial", "esl", "rr")}
            for row in leaderboard[key]
        ]
        for key in COMPARISON_LISTS
    }
    return Section(
        [table],
        make_figures(leaderboard.charts()[1:], "outcomes"),
        several_relevant_note(leaderboard),
        values,
    )


def several_relevant_note(leaderboard: Result) -> list[str]:
    n = leaderboard.get("topics_with_several_relevant") or 0
    return (
        [
            (
                f"{format_count(n, 'topic', 'has', 'have')} several relevant documents. The "
                "framework is defined for one, so the first that a run retrieves counts."
            )
        ]
        if n
        else []
    )


def make_verdicts(context: StudyContext) -> Section:
    leaderboard = run_comparison(context)
    unique = {(row["a"], row["b"]): row for key in COMPARISON_LISTS for row in leaderboard[key]}
    tables = [
        table
        for table in comparison_tables(
            list(unique.values()),
            words=" along the chain",
            rates=describe_equal_boards(leaderboard),
        )
        if table.key == "verdicts"
    ]
    tables.append(displacement_table(leaderboard))
    said = [
        f"No order among {', '.join(cycle)}: each is displaced by another in a cycle."
        for cycle in leaderboard["cycles"]
    ]
    values = {
        "order": leaderboard["order"],
        "cycles": leaderboard["cycles"],
        "family_size": leaderboard["family_size"],
        "correction": leaderboard["correction"],
    }
    values["verdicts"] = [
        {"a": row["a"], "b": row["b"], **row["verdict"]} for row in unique.values()
    ]
    return Section(tables, words=said, values=values)


STUDY = Study(
    name="sota",
    group="leaderboards",
    title="Significant improvements over the state of the art?",
    source="Lin, Campos, Craswell, Mitra, Yilmaz: Significant Improvements over the State of the Art?, SIGIR 2021",
    sentence="Which runs led a leaderboard, and whether each step was significant.",
    keys=(
        QRELS_KEY,
        RUNS_KEY,
        setting(
            "order",
            "file",
            "Tag, date, group, baseline (0/1) and description of each run. Default: runs in the order given.",
        ),
        setting(
            "table",
            "file",
            "Table of scores (tag, date, group, score) for the chain and Figure 1, without or next to qrels and runs.",
        ),
        setting("score_column", "text", "Header of the score column of `table`."),
        setting(
            "paper_rows",
            "flag",
            "Only the paper's rows of Tables 1 and 2: against the first, and the last three.",
        ),
        *settings_from(
            Options,
            *("baselines", "until", "highlight", "cutoff", "alpha"),
            *("decide", "correction", "family_size"),
        ),
        *(key for key in EVALUATION_SETTING_KEYS if key.name != "precision"),
    ),
    parts=(
        StudyPart("board", "Figure 1: the leaderboard over time", make_board_over_time),
        StudyPart("means", "Table 1: tests of mean RR", make_mean_tests),
        StudyPart("outcomes", "Table 2: outcomes, ESL and RR", make_outcomes),
        StudyPart("verdicts", "Is B better than A?", make_verdicts),
    ),
)
