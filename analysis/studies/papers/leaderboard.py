"""The study of whether a leaderboard can be trusted: tables and figures of Craswell et al.
(2021)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
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
    RUNS_KEY,
    make_figures,
    prefix_tables,
    slugify_name,
)
from analysis.systems.inputs import AnalysisFiles
from analysis.systems.kinds import cross_conditions, parse_conditions
from analysis.systems.running import NotComputable
from analysis.systems.written_files import format_tsv
from assay.analyses import bootstrap, leaderboard, split_half, submissions
from assay.analyses.shared.institutions import select_submissions
from assay.analyses.shared.score_tables import best_cells, result_conditions
from assay.charts.lines import Line, line_chart
from assay.charts.panels import panel_chart
from assay.charts.points import DrawnInterval, ScatterPoint, conditions_chart, scatter_chart
from assay.cli.base import BadInput
from assay.comparison.bootstrap_sentences import sort_by_expected_rank
from assay.comparison.near_identical import DEPTH, MIN_OVERLAP, find_similar_runs
from assay.comparison.submissions import mean_ranks
from assay.formats.leaderboards import SUBMISSION_COLUMNS as COLUMNS
from assay.formats.leaderboards import BoardRow, read_leaderboard
from assay.number_words import format_count
from assay.results import Result
from assay.tabular import Cell, Table, format_rank

MAX_GROUPS = 4
"""Number of groups whose submissions are plotted over time."""
PANEL = 400.0
MAX_KEY_RUNS = 6
"""Maximum number of runs in Figure 4, and their number without `key_runs`."""
N_KEY_RUNS = 3
N_FIRST = 5
"""Number of ranks in Tables 1 and 2 of the paper."""


def make_boards(context: StudyContext) -> Section:
    context.need("boards", why="tables of scores by name (tag, date, group, score)")
    aliases = context.value("institutions") or {}
    tables, figures, values = [], [], {}
    for name, path, baselines in iterate_boards(context):
        board = context.run(
            "leaderboard",
            scores=path,
            baselines=baselines,
            **context.options("score_column", "until", "highlight"),
        )
        runs = {run["tag"]: run for run in board["runs"]}
        rows: list[list[Cell]] = [
            [
                n,
                tag,
                runs[tag]["date"],
                aliases.get(runs[tag]["group"], runs[tag]["group"]),
                runs[tag]["score"],
            ]
            for n, tag in enumerate(board["chain"], 1)
        ]
        title = f"Records of the leaderboard {name}"
        tables.append(
            Table(
                f"records-{slugify_name(name)}",
                title,
                ["", "run", "date", "group", "score"],
                rows,
                digits=(None, None, None, None, 3),
            )
        )
        figures += make_figures(board.charts()[:1], f"figure-1-{slugify_name(name)}")
        values[name] = {"runs": len(runs), "chain": board["chain"]}
    return Section(tables, figures, values=values)


def iterate_boards(context: StudyContext) -> Iterator[tuple[str, str, str]]:
    """Yield each leaderboard as (name, path, its tags among `baselines`). Raises BadInput for a tag
    that no leaderboard has."""
    named = [tag for tag in str(context.value("baselines") or "").split(",") if tag]
    paths = context.named("boards")
    tags = (
        {name: {row.tag for row in read_leaderboard(path)} for name, path in paths.items()}
        if named
        else {}
    )
    if unknown := [tag for tag in named if not any(tag in of_board for of_board in tags.values())]:
        raise BadInput(f"`baselines`: no leaderboard has a run called {', '.join(unknown)}")
    for name, path in paths.items():
        yield name, path, ",".join(tag for tag in named if tag in tags[name])


def run_bootstrap(context: StudyContext) -> Result:
    context.need("qrels", "runs")
    qrels = list(context.named("qrels").items())
    files = AnalysisFiles(
        context.files("runs"),
        qrels,
        {f"topics/{name}.txt": path for name, path in context.named("topic_lists").items()},
    )
    measures = str(context.value("measures")).split()
    try:
        conditions = (
            parse_conditions(context.value("conditions"), files)
            if context.value("conditions")
            else cross_conditions(measures, files)
        )
    except NotComputable as error:
        raise PartLeftOut(f"`conditions`: {error}") from None
    return context.run(
        "bootstrap",
        qrels=qrels[0][1],
        runs=files.runs,
        conditions=conditions,
        **context.options("trials", *EVALUATION_KEYS),
    )


def make_certainty(context: StudyContext) -> Section:
    """Make Tables 1 and 2 and Figure 3 of the paper, on the certainty of ranks."""
    result = run_bootstrap(context)
    tables, values = [], {}
    conditions = result_conditions(result)
    slugs = slugify_conditions(list(conditions))
    for (name, condition), slug in zip(conditions.items(), slugs, strict=True):
        tags = sort_by_expected_rank(condition)[:N_FIRST]
        places = [
            str(place)
            for place in range(1, min(N_FIRST, len(condition["rank_share"][tags[0]])) + 1)
        ]
        rows: list[list[Cell]] = [
            [tag, *(condition["rank_share"][tag].get(place, 0.0) for place in places)]
            for tag in tags
        ]
        over = f"{format_count(condition['trials'], 'sample')} of {format_count(condition['topics'], 'topic')}"
        note = (
            f"Share of {over} in which the run has the rank; the first {len(tags)} of "
            f"{len(condition['observed'])} runs."
        )
        tables.append(
            Table(
                f"top-{slug}",
                f"Probability of each rank by {name}",
                ["run", *places],
                rows,
                note,
                heads=(("", 1), ("rank", len(places))),
                digits=(None, *[2] * len(places)),
                bold=best_cells(rows, range(1, len(places) + 1)),
            )
        )
        values[name] = {
            key: condition[key]
            for key in (
                "observed",
                "expected_rank",
                "rank_interval",
                "interval",
                "best_rank",
                "worst_rank",
            )
        }
    for table in result.tables():
        kind, _, number = table.key.rpartition("-")
        if kind != "beats":
            tables.append(replace(table, key=f"certainty-{kind}-{slugs[int(number) - 1]}"))
    pictures = result.charts()[1:] if len(conditions) > 1 else result.charts()
    drawn = [
        slug
        for slug, one in zip(slugs, conditions.values(), strict=True)
        if not one.get("no_verdict")
    ]
    figures = [
        Figure(f"figure-3-{slug}", picture.caption, picture)
        for slug, picture in zip(drawn, pictures, strict=True)
    ]
    return Section(tables, figures, values=values)


def slugify_conditions(names: Sequence[str]) -> list[str]:
    """Return the part of file names that stands for each condition. Names that become equal are
    numbered."""
    slugs = [slugify_name(name) for name in names]
    return [
        slug if slugs.count(slug) == 1 else f"{slug}-{number}"
        for number, slug in enumerate(slugs, 1)
    ]


def make_conditions(context: StudyContext) -> Section:
    """Make Figure 4 of the paper, and a table of each run's result under all conditions."""
    by_condition = result_conditions(run_bootstrap(context))
    if len(by_condition) < 2:
        raise PartLeftOut(
            "needs at least two conditions: several `measures`, `qrels` or `topic_lists`, or `conditions`"
        )
    tags = sort_by_expected_rank(next(iter(by_condition.values())))
    rows: list[list[Cell]] = []
    for tag in tags:
        expected = [one["expected_rank"][tag] for one in by_condition.values()]
        beaten = sum(bool(one["significantly_worse"].get(tag)) for one in by_condition.values())
        rows.append([tag, *expected, min(expected), max(expected), beaten])
    header = ["run", *by_condition, "best", "worst", "conditions in which a run beats it"]
    heads = (("", 1), ("expected rank", len(by_condition)), ("over the conditions", 3))
    table = Table(
        "figure-4",
        "Expected ranks by condition",
        header,
        rows,
        "The last column counts significant differences of the measure (uncorrected).",
        heads=heads,
        digits=(None, *[1] * (len(by_condition) + 2), None),
    )
    return Section(
        [table],
        [key_runs_chart(context, by_condition, choose_key_runs(context, tags))],
        values={"conditions": list(by_condition)},
    )


def choose_key_runs(context: StudyContext, tags: Sequence[str]) -> list[str]:
    """Return the runs shown in Figure 4, by default the first ones. Raises BadInput."""
    chosen: list[str] = context.value("key_runs") or list(tags[:N_KEY_RUNS])
    if unknown := [tag for tag in chosen if tag not in tags]:
        raise BadInput(
            f"`key_runs`: unknown run {', '.join(unknown)}; expected names of runs as in "
            f"tables: {', '.join(tags)}"
        )
    if len(chosen) > MAX_KEY_RUNS:
        raise BadInput(f"`key_runs`: {len(chosen)} runs; expected at most {MAX_KEY_RUNS}")
    return chosen


def key_runs_chart(
    context: StudyContext, by_condition: Mapping[str, Any], tags: Sequence[str]
) -> Figure:
    systems = {one.name: one for one in context.systems}
    colours = [systems[tag].colour for tag in tags]
    left = [colour for colour in range(1, MAX_KEY_RUNS + 1) if colour not in colours]
    rows = [
        (
            name,
            [
                DrawnInterval(
                    systems[tag].short, one["expected_rank"][tag], *one["rank_interval"][tag]
                )
                for tag in tags
            ],
        )
        for name, one in by_condition.items()
    ]
    caption = (
        "Expected rank of key runs over samples of topics under each condition, and the ranks that "
        "they may have (95% CI)"
    )
    return Figure(
        "figure-4",
        caption,
        conditions_chart(
            rows,
            styles=[colour or left.pop(0) for colour in colours],
            caption=caption,
            x_label="rank (1 is the best)",
            row_label="condition",
            what="run",
        ),
    )


def make_split_half(context: StudyContext) -> Section:
    context.need("qrels", "runs")
    tables, figures, values = [], [], {}
    for name, path in context.named("qrels").items():
        result = context.run(
            "split_half",
            qrels=path,
            runs=context.files("runs"),
            measures=context.value("measures"),
            **context.options("splits", "alpha", *EVALUATION_KEYS),
        )
        tables += prefix_tables(result.tables(), f"halves-{slugify_name(name)}", title=f", {name}")
        figures += make_figures(result.charts(), f"table-4-{slugify_name(name)}")
        values[name] = result_conditions(result)
    return Section(tables, figures, values=values)


def make_similar_runs(context: StudyContext) -> Section:
    """List pairs of runs that differ by very small changes. The paper's rules allow only one of
    them."""
    context.need("runs")
    similar = find_similar_runs(context.read_runs())
    rows: list[list[Cell]] = [[one.a, one.b, one.overlap, one.same, one.topics] for one in similar]
    header = ["run", "other run", "common documents", "equal rankings", "topics"]
    note = (
        f"Pairs that share at least {100 * MIN_OVERLAP:.0f}% of the first {DEPTH} documents, on "
        f"average over topics. Equal rankings: share of topics with the same first {DEPTH} in the "
        "same order."
    )
    table = Table(
        "similar-runs",
        "Nearly identical runs",
        header,
        rows,
        note,
        digits=(None, None, 3, 3, None),
    )
    n_runs = len({tag for one in similar for tag in (one.a, one.b)})
    said = (
        f"{format_count(len(similar), 'pair')} of runs ({format_count(n_runs, 'run')}) are nearly "
        "identical, so their ranks are not independent."
        if similar
        else "No two runs are nearly identical."
    )
    values = {"pairs": [one._asdict() for one in similar]}
    return Section([table] if similar else [], words=[said], values=values)


def read_submissions(context: StudyContext) -> list[BoardRow]:
    """Read the submissions up to a date, with groups replaced by their institutions. Raises
    PartLeftOut."""
    context.need(
        "submissions",
        why="a table of all submissions (tag, date, group, public score, private score)",
    )
    rows = read_leaderboard(
        context.file("submissions") or "",
        columns=COLUMNS,
        required=("tag", "date", "group", "score"),
        score_column=context.value("score_column"),
    )
    return select_submissions(
        rows, institutions=context.value("institutions") or {}, until=context.value("until") or ""
    )


def make_submissions(context: StudyContext) -> Section:
    rows = read_submissions(context)
    path = context.scratch_file("submissions.tsv")
    numbers = ("score", "private_score", "private_rank", "expected_private_rank")
    with open(path, "w", encoding="utf-8") as out:
        lines = [
            [
                row.tag,
                row.date,
                row.group,
                *("" if (x := row.numbers[key]) != x else repr(x) for key in numbers),
            ]
            for row in rows
        ]
        out.write(
            format_tsv(
                [
                    "tag",
                    "date",
                    "group",
                    "score",
                    "private score",
                    "private rank",
                    "expected private rank",
                ],
                lines,
            )
        )
    answer = context.run("submissions", file=path, **context.options("limit"))
    tables = [*answer.tables(), submissions_table(rows)]
    until = context.value("until")
    said = [
        f"{len(rows):,} submissions{f' until {until}' if until else ''}, {len(result_conditions(answer)):,} groups."
    ]
    figures = make_figures(answer.charts(), "submissions")
    if private := [
        row for row in rows if row.numbers["private_score"] == row.numbers["private_score"]
    ]:
        figures += [submissions_chart(private), *score_time_charts(private)]
    return Section(prefix_tables(tables, "submissions"), figures, said, result_conditions(answer))


def submissions_table(rows: Sequence[BoardRow]) -> Table:
    """Return a table of submissions by group and date. The group with the most submissions is
    first."""
    counts = Counter(row.group for row in rows)
    public, private = (
        mean_ranks([row.numbers[key] for row in rows]).tolist()
        for key in ("score", "private_score")
    )
    cells: list[list[Cell]] = [
        [
            row.group,
            row.tag,
            row.date[:10],
            none_if_nan(row.numbers["score"]),
            format_rank(none_if_nan(a)),
            none_if_nan(row.numbers["private_score"]),
            format_rank(none_if_nan(b)),
        ]
        for row, a, b in zip(rows, public, private, strict=True)
    ]
    cells.sort(key=lambda cell: (-counts[str(cell[0])], str(cell[0]), str(cell[2]), str(cell[1])))
    ruled = frozenset(k for k in range(1, len(cells)) if cells[k][0] != cells[k - 1][0])
    header = ["group", "run", "date", "score", "rank", "score", "rank"]
    note = "Ranks among all of these submissions (1 is the best). Equal scores share the mean rank."
    heads = (("", 3), ("public", 2), ("private", 2))
    digits = (None, None, None, 3, None, 3, None)
    return Table(
        "every",
        "Public and private scores by group",
        header,
        cells,
        note,
        heads=heads,
        digits=digits,
        ruled=ruled,
    )


def none_if_nan(value: float) -> float | None:
    return None if value != value else value


def score_time_charts(rows: Sequence[BoardRow]) -> list[Figure]:
    """Plot the public and private scores of all submissions over time, one chart for each of the
    groups with the most submissions."""
    counts = Counter(row.group for row in rows)
    groups = [
        group for group, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 1
    ][:MAX_GROUPS]
    if not groups:
        return []
    caption = "Scores by group over time"
    drawn = [
        (group, group_label([row for row in rows if row.group == group], group)) for group in groups
    ]
    return [
        Figure(
            "groups-over-time",
            f"{caption}; the {len(groups)} with the most submissions",
            panel_chart(drawn, caption=caption),
        )
    ]


def group_label(rows: Sequence[BoardRow], group: str) -> str:
    days = sorted(
        (
            float(date.fromisoformat(row.date[:10]).toordinal()),
            row.numbers["score"],
            row.numbers["private_score"],
        )
        for row in rows
    )
    series = [
        Line("public", [(day, score) for day, score, _ in days], marks=True),
        Line("private", [(day, score) for day, _, score in days], marks=True),
    ]
    return line_chart(
        series,
        caption=group,
        x_label="date",
        y_label="score",
        dates=True,
        width=PANEL,
        height=220,
    )


def submissions_chart(rows: Sequence[BoardRow]) -> Figure:
    """Plot all submissions. The groups with the most submissions have their own marks."""
    counts = {
        group: sum(row.group == group for row in rows) for group in {row.group for row in rows}
    }
    groups = sorted(counts, key=lambda group: (-counts[group], group))[:5]
    spots = [
        ScatterPoint(
            row.tag,
            row.numbers["score"],
            row.numbers["private_score"],
            groups.index(row.group) + 1 if row.group in groups else 0,
        )
        for row in rows
    ]
    caption = "Public and private scores of submissions"
    drawn = scatter_chart(
        spots,
        kinds=["other groups", *groups],
        caption=caption,
        x_label="public score",
        y_label="private score",
    )
    return Figure("every-submission", caption, drawn)


STUDY = Study(
    name="leaderboard",
    group="leaderboards",
    title="Can the leaderboard be trusted?",
    source=(
        "Craswell, Mitra, Yilmaz, Campos, Lin: MS MARCO: Benchmarking Ranking Models in the "
        "Large-Data Regime, SIGIR 2021"
    ),
    sentence=(
        "The leaderboard over time, the certainty of its ranks under several conditions and "
        "on halves of the topics, and submissions by group."
    ),
    keys=(
        setting("boards", "named", "Tables of scores by name (tag, date, group, score): Figure 1."),
        setting("score_column", "text", "Header of the score column that counts."),
        setting(
            "baselines",
            "text",
            "Tags of organisers' baselines, separated by commas, in addition to those marked in the tables.",
        ),
        *settings_from(leaderboard.Options, "highlight"),
        setting("until", "text", "Leave out later submissions, as in 2021-02-01."),
        setting("qrels", "named", "Qrels by name; the first are those of the leaderboard."),
        RUNS_KEY,
        setting(
            "topic_lists",
            "named",
            "Topic subsets by name (one ID per line), such as public and private.",
        ),
        setting(
            "measures",
            "text",
            "Space-separated measures (RR@100); also NCG@100, nDCG@10 and others.",
            "RR@100",
        ),
        setting(
            "conditions",
            "text",
            (
                "One per line: name = measure, qrels, topic subset, minimum relevant grade. "
                "Default: all measures, qrels and subsets."
            ),
        ),
        setting("key_runs", "texts", "Runs in Figure 4, by their names (the first three)."),
        *settings_from(bootstrap.Options, "trials"),
        *settings_from(split_half.Options, "splits", "alpha"),
        setting(
            "submissions",
            "file",
            "All submissions: tag, date, group, public score, private score or ranks.",
        ),
        *settings_from(submissions.Options, "limit"),
        setting("institutions", "names", "Group = institution, to count several groups as one."),
        *EVALUATION_SETTING_KEYS,
    ),
    parts=(
        StudyPart("boards", "Figure 1: leaderboards over time", make_boards),
        StudyPart("certainty", "Tables 1, 2 and Figure 3: certainty of the ranks", make_certainty),
        StudyPart("conditions", "Figure 4: conditions compared", make_conditions),
        StudyPart("halves", "Table 4: two halves of the topics", make_split_half),
        StudyPart("submissions", "Submissions by group", make_submissions),
        StudyPart("similar", "Nearly identical runs", make_similar_runs),
    ),
)
