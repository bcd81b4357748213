"""How certain each run's place is (Craswell et al. 2021); conditions side by side: a measure on a
topic subset under qrels (Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.systems.kind import Files, NotPossible, ReportKind, Result
from analysis.systems.options import READING, Field, fields_of, given_of, measures_field, named
from analysis.systems.written_files import JUDGEMENTS, SINGLE_JUDGEMENTS
from assay.analyses.bootstrap import Options
from assay.analyses.shared.pictures import MOST_RUNS, key_of, numbered
from assay.analyses.shared.score_tables import conditions_of
from assay.charts.matrices import matrix
from assay.charts.points import DrawnInterval, intervals
from assay.charts.svg import Picture
from assay.comparison.bootstrap import BootstrapTally
from assay.comparison.bootstrap_words import (
    LABELS_DRAWN,
    beaten_by,
    by_expected_rank,
    label_rows,
    many_comparisons,
    may_be,
)
from assay.counts import counted
from assay.measures.measures import name_of_condition
from assay.tabular import Cell, Table, place

FIELDS = (
    measures_field("RR@100", graded="nDCG@10"),
    *fields_of(Options, "trials"),
    Field(
        "show",
        "Report these runs only",
        "tags",
        "",
        hint="All runs are ranked, whichever are shown; none chosen: all.",
    ),
    Field(
        "topic_lists",
        "Topic subsets",
        "lists",
        "",
        hint="Files with one topic id a line, such as public.txt and private.txt.",
    ),
    Field(
        "conditions",
        "Conditions side by side",
        "conditions",
        "",
        hint="One a line: name = measure, qrels, topic subset, lowest relevant grade; the last two may be left out. "
        "Empty: each measure under each qrels, on all topics and on each topic subset.",
    ),
    Field(
        "judgements",
        "With the noise of labels",
        "yes",
        False,
        hint=(
            "Of a campaign's own labels: its judgements are drawn anew within their pairs, with "
            "the topics as they are and together with them."
        ),
    ),
    Field("scale", "Grades of these judgements", "scale", 4, least=2, most=100),
    Field("label_trials", "Labellings drawn", "whole", 200, least=2, most=100_000),
    *READING,
)
NOT_PLAIN = ("measures", "topic_lists", "conditions", "judgements", "scale", "label_trials")


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    rest = given_of([one for one in FIELDS if one.name not in NOT_PLAIN], options)
    if JUDGEMENTS in files.others:
        rest |= {
            "judgements": files.others[JUDGEMENTS],
            **given_of(named(FIELDS, "scale", "label_trials"), options),
        }
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    measures = str(options.get("measures") or "RR@100")
    if options.get("conditions"):
        given["conditions"] = written_conditions(str(options["conditions"]), files)
    elif len(files.qrels) > 1 or files.lists("topics"):
        given["conditions"] = crossed(measures.split(), files)
    else:
        given["measures"] = measures
    return {**given, **rest}


def crossed(measures: Sequence[str], files: Files) -> list[str]:
    """Conditions: each measure under each qrels, on all topics and on each topic subset."""
    subsets = {"": "", **files.lists("topics")}
    return [
        f"{measure} {name}{f' {subset}' if subset else ''}={measure},{path}{f',{topics}' if topics else ''}"
        for name, path in files.qrels
        for subset, topics in subsets.items()
        for measure in measures
    ]


def written_conditions(text: str, files: Files) -> list[str]:
    """Conditions of lines `name = measure, qrels[, topic subset[, lowest relevant grade]]`. Raises
    NotPossible, with the line."""
    qrels, subsets = dict(files.qrels), files.lists("topics")
    conditions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, rest = name_of_condition(line)
        parts = [part.strip() for part in rest.split(",")]
        if not name.strip() or not 2 <= len(parts) <= 4 or not all(parts[:2]):
            raise NotPossible(
                f"condition {number}, {line.strip()!r}: expected name = measure, qrels, topic "
                f"subset, lowest relevant grade"
            )
        measure, judged, subset, level = [*parts, "", ""][:4]
        if judged not in qrels:
            raise NotPossible(
                f"condition {number}: no qrels called {judged!r} are chosen; chosen are {', '.join(qrels)}"
            )
        if subset and subset not in subsets:
            uploaded = f"there are {', '.join(subsets)}" if subsets else "none was uploaded"
            raise NotPossible(
                f"condition {number}: no topic subset is called {subset!r}; {uploaded}"
            )
        values = [measure, qrels[judged], subsets.get(subset, ""), level]
        while not values[-1]:
            values.pop()
        conditions.append(f"{name.strip()}={','.join(values)}")
    return conditions


def tables(result: Result) -> list[Table]:
    made = []
    for number, (name, condition) in enumerate(conditions_of(result).items(), 1):
        tags = by_expected_rank(condition)
        header = [
            "run",
            "score",
            "expected rank",
            "best",
            "worst",
            "2.5 %",
            "97.5 %",
            "may be",
            "significantly worse than",
        ]
        rows: list[list[Cell]] = [
            [
                tag,
                condition["observed"][tag],
                condition["expected_rank"][tag],
                *(
                    place(rank)
                    for rank in (
                        condition["best_rank"][tag],
                        condition["worst_rank"][tag],
                        *condition["interval"][tag],
                    )
                ),
            ]
            + [may_be(condition, tag), beaten_by(condition, tag, most=None)]
            for tag in tags
        ]
        over = f"{counted(condition['topics'], 'topic')}, {counted(condition['trials'], 'sample')}."
        made.append(
            Table(
                f"ranks-{number}",
                f"Ranks by {name}",
                header,
                rows,
                f"{over} {many_comparisons(condition)}".rstrip(),
            )
        )
        if condition.get("labels"):
            made.append(labels_table(f"labels-{number}", name, condition))
        places = sorted(condition["rank_share"][tags[0]], key=int)
        share_rows: list[list[Cell]] = [
            [tag, *(condition["rank_share"][tag][place] for place in places)] for tag in tags
        ]
        made.append(
            Table(
                f"places-{number}",
                f"Probability of each rank by {name}",
                ["run", *places],
                share_rows,
                over,
            )
        )
        beats: list[list[Cell]] = [
            [a, *("" if a == b else condition["beats"].get(a, {}).get(b) for b in tags)]
            for a in tags
        ]
        made.append(
            Table(
                f"beats-{number}",
                f"How often the row's run beats the column's by {name}",
                ["run", *tags],
                beats,
                over,
            )
        )
    return made


def labels_table(key: str, name: str, condition: Result) -> Table:
    """Ranks with the noise of labels."""
    drawn = condition["labels"]
    rows: list[list[Cell]] = [
        [row[0], row[1], place(row[2]), place(row[3]), *row[4:]]
        for row in label_rows(condition, by_expected_rank(condition))
    ]
    header = ["run", "expected rank", "best", "worst", "expected rank", "2.5 %", "97.5 %", "may be"]
    heads = (("", 1), ("labels drawn anew", 3), ("labels and topics", 4))
    note = (
        f"{counted(drawn['labellings'], 'labelling')} of {counted(drawn['pairs'], 'pair')}, "
        f"{counted(drawn['topics'], 'topic')}. {LABELS_DRAWN}"
    )
    return Table(
        key,
        f"Ranks with the noise of labels by {name}",
        header,
        rows,
        note,
        heads=heads,
        digits=(None, 2, None, None, 2, 1, 1, None),
    )


def pictures(result: Result) -> list[Picture]:
    drawn = []
    conditions = conditions_of(result)
    for name, one in conditions.items():
        if one.get("no_verdict"):
            continue
        tags = by_expected_rank(one)[:MOST_RUNS]
        places = sorted(one["rank_share"][tags[0]], key=int)
        values = [[one["rank_share"][tag][place] for place in places] for tag in tags]
        drawn.append(
            matrix(
                tags,
                places,
                values,
                caption=(
                    f"Probability of each rank by {name}: {counted(one['topics'], 'topic')}, "
                    f"{counted(one['trials'], 'sample')}"
                ),
                row_label="run",
                column_label="rank",
                high=1.0,
                form=lambda v: f"{v:.2f}",
                written=len(tags) <= 14,
            )
        )
    if len(conditions) > 1:
        rows = [DrawnInterval(*row) for row in side_by_side(conditions, 30 * len(conditions))]
        caption = (
            f"Expected rank over samples of topics, and the ranks that each run may have (95 %), "
            f"conditions side by side{key_of(list(conditions))}"
        )
        drawn.insert(
            0,
            intervals(
                rows, caption=caption, x_label="rank (1 is the best)", what="run · condition"
            ),
        )
    return drawn


def side_by_side(
    conditions: Mapping[str, Result], most: int
) -> list[tuple[str, float | None, float | None, float | None]]:
    """(run and number of the condition, expected rank, the ranks that it may have), run by run; at
    most so many rows, runs whole."""
    tags = by_expected_rank(next(iter(conditions.values())))[: max(most // len(conditions), 1)]
    return [
        (
            numbered(tag, i, len(conditions)),
            one["expected_rank"].get(tag),
            *one.get("rank_interval", {}).get(tag, (None, None)),
        )
        for tag in tags
        for i, one in enumerate(conditions.values(), 1)
    ]


KIND = ReportKind(
    name="bootstrap",
    place=60,
    title="Certainty of the ranks",
    sentence=(
        "Each run's rank over bootstrap samples of the topics: probabilities, interval, who beats "
        "whom; several qrels side by side."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels=(1, 0),
    pieces=True,
    piece=BootstrapTally,
    written=(SINGLE_JUDGEMENTS,),
)
