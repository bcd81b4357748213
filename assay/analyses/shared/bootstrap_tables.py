"""Tables and charts of ranks on bootstrap samples."""

from __future__ import annotations

from collections.abc import Mapping

from assay.analyses.shared.run_charts import MAX_RUNS, format_numbered_name, numbering_note
from assay.analyses.shared.score_tables import result_conditions
from assay.charts.matrices import matrix_chart
from assay.charts.points import DrawnInterval, conditions_chart, interval_chart
from assay.charts.svg import Picture
from assay.comparison.bootstrap_sentences import (
    LABEL_NOISE_CAVEAT,
    format_beaten_by,
    format_possible_ranks,
    label_noise_rows,
    multiple_comparisons_note,
    sort_by_expected_rank,
)
from assay.number_words import format_count
from assay.results import Values
from assay.tabular import Cell, Table, format_rank

MAX_CONDITIONS = 6
"""Number of conditions that colours and shapes distinguish."""
CONDITIONS_HEIGHT = 640.0
"""Pixels for the rows of the chart of conditions, which is then less than a page high."""


def result_tables(result: Values) -> list[Table]:
    made = []
    for number, (name, condition) in enumerate(result_conditions(result).items(), 1):
        tags = sort_by_expected_rank(condition)
        header = [
            "run",
            "score",
            "expected rank",
            "best",
            "worst",
            "2.5%",
            "97.5%",
            "may be",
            "significantly worse than (uncorrected)",
        ]
        rows: list[list[Cell]] = [
            [
                tag,
                condition["observed"][tag],
                condition["expected_rank"][tag],
                *(
                    format_rank(rank)
                    for rank in (
                        condition["best_rank"][tag],
                        condition["worst_rank"][tag],
                        *condition["interval"][tag],
                    )
                ),
            ]
            + [format_possible_ranks(condition, tag), format_beaten_by(condition, tag, most=None)]
            for tag in tags
        ]
        over = f"{format_count(condition['topics'], 'topic')}, {format_count(condition['trials'], 'sample')}."
        made.append(
            Table(
                f"ranks-{number}",
                f"Ranks by {name}",
                header,
                rows,
                f"{over} {multiple_comparisons_note(condition)}".rstrip(),
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
                f"Rank probabilities by {name}",
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
                f"Pairwise wins by {name}",
                ["run", *tags],
                beats,
                f"Share of samples in which the run of the row beats the run of the column. {over}",
            )
        )
    return made


def labels_table(key: str, name: str, condition: Values) -> Table:
    """Return the table of ranks under resampled labels."""
    drawn = condition["labels"]
    rows: list[list[Cell]] = [
        [row[0], row[1], format_rank(row[2]), format_rank(row[3]), *row[4:]]
        for row in label_noise_rows(condition, sort_by_expected_rank(condition))
    ]
    header = ["run", "expected rank", "best", "worst", "expected rank", "2.5%", "97.5%", "may be"]
    heads = (("", 1), ("labels resampled", 3), ("labels and topics", 4))
    note = (
        f"{format_count(drawn['labellings'], 'labelling')} of {format_count(drawn['pairs'], 'pair')}, "
        f"{format_count(drawn['topics'], 'topic')}. {LABEL_NOISE_CAVEAT}"
    )
    return Table(
        key,
        f"Label noise by {name}",
        header,
        rows,
        note,
        heads=heads,
        digits=(None, 2, None, None, 2, 1, 1, None),
    )


def result_charts(result: Values) -> list[Picture]:
    drawn = []
    conditions = result_conditions(result)
    for name, one in conditions.items():
        if one.get("no_verdict"):
            continue
        tags = sort_by_expected_rank(one)[:MAX_RUNS]
        places = sorted(one["rank_share"][tags[0]], key=int)
        values = [[one["rank_share"][tag][place] for place in places] for tag in tags]
        drawn.append(
            matrix_chart(
                tags,
                places,
                values,
                caption=(f"Rank probabilities by {name}"),
                row_label="run",
                column_label="rank",
                high=1.0,
                form=lambda v: f"{v:.2f}",
                written=len(tags) <= 14,
            )
        )
    if 1 < len(conditions) <= MAX_CONDITIONS:
        drawn.insert(0, _conditions_chart(conditions))
    elif len(conditions) > 1:
        rows = [
            DrawnInterval(*row) for row in group_conditions_by_run(conditions, 30 * len(conditions))
        ]
        caption = f"Expected ranks by condition (95% CI){numbering_note(list(conditions))}"
        drawn.insert(
            0,
            interval_chart(
                rows, caption=caption, x_label="rank (1 is the best)", what="run · condition"
            ),
        )
    return drawn


def _conditions_chart(conditions: Mapping[str, Values]) -> Picture:
    """Draw the ranks of the first runs, with one interval per condition."""
    most = int(CONDITIONS_HEIGHT / (11 * len(conditions) + 8))
    tags = sort_by_expected_rank(next(iter(conditions.values())))
    caption = "Expected ranks by condition (95% CI)"
    if len(tags) > most:
        caption += f"; the first {most} of {len(tags)} runs"
    return conditions_chart(
        [
            (
                tag,
                [
                    DrawnInterval(
                        name,
                        one["expected_rank"].get(tag),
                        *one.get("rank_interval", {}).get(tag, (None, None)),
                    )
                    for name, one in conditions.items()
                ],
            )
            for tag in tags[:most]
        ],
        styles=range(1, len(conditions) + 1),
        caption=caption,
        x_label="rank (1 is the best)",
        row_label="run",
        what="condition",
    )


def group_conditions_by_run(
    conditions: Mapping[str, Values], most: int
) -> list[tuple[str, float | None, float | None, float | None]]:
    """Return (run and number of the condition, expected rank, lowest and highest rank that it may
    have), grouped by run.

    most: maximum number of rows. A run is included with all its rows or not at all.
    """
    tags = sort_by_expected_rank(next(iter(conditions.values())))[: max(most // len(conditions), 1)]
    return [
        (
            format_numbered_name(tag, i, len(conditions)),
            one["expected_rank"].get(tag),
            *one.get("rank_interval", {}).get(tag, (None, None)),
        )
        for tag in tags
        for i, one in enumerate(conditions.values(), 1)
    ]
