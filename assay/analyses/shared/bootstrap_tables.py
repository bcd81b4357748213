"""Tables and charts of ranks on bootstrap samples."""

from __future__ import annotations

from collections.abc import Mapping

from assay.analyses.shared.pictures import MOST_RUNS, key_of, numbered
from assay.analyses.shared.score_tables import conditions_of
from assay.charts.matrices import matrix
from assay.charts.points import DrawnInterval, intervals
from assay.charts.svg import Picture
from assay.comparison.bootstrap_words import (
    LABELS_DRAWN,
    beaten_by,
    by_expected_rank,
    label_rows,
    many_comparisons,
    may_be,
)
from assay.counts import counted
from assay.results import Values
from assay.tabular import Cell, Table, place


def tables(result: Values) -> list[Table]:
    made = []
    for number, (name, condition) in enumerate(conditions_of(result).items(), 1):
        tags = by_expected_rank(condition)
        header = [
            "run",
            "score",
            "expected rank",
            "best",
            "worst",
            "2.5%",
            "97.5%",
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
    """Return the ranks under resampled labels."""
    drawn = condition["labels"]
    rows: list[list[Cell]] = [
        [row[0], row[1], place(row[2]), place(row[3]), *row[4:]]
        for row in label_rows(condition, by_expected_rank(condition))
    ]
    header = ["run", "expected rank", "best", "worst", "expected rank", "2.5%", "97.5%", "may be"]
    heads = (("", 1), ("labels resampled", 3), ("labels and topics", 4))
    note = (
        f"{counted(drawn['labellings'], 'labelling')} of {counted(drawn['pairs'], 'pair')}, "
        f"{counted(drawn['topics'], 'topic')}. {LABELS_DRAWN}"
    )
    return Table(
        key,
        f"Ranks under resampled labels by {name}",
        header,
        rows,
        note,
        heads=heads,
        digits=(None, 2, None, None, 2, 1, 1, None),
    )


def pictures(result: Values) -> list[Picture]:
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
            f"Expected rank over samples of topics, and the ranks that each run may have (95%), "
            f"by condition{key_of(list(conditions))}"
        )
        drawn.insert(
            0,
            intervals(
                rows, caption=caption, x_label="rank (1 is the best)", what="run · condition"
            ),
        )
    return drawn


def side_by_side(
    conditions: Mapping[str, Values], most: int
) -> list[tuple[str, float | None, float | None, float | None]]:
    """Return (run and number of the condition, expected rank, lowest and highest rank that it may
    have), run by run. most: number of rows; a run keeps all its rows."""
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
