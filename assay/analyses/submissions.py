"""Count submissions per group, and compare public with private ranks (Craswell et al. 2021)."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.analyses.shared.institutions import read_institutions, select_submissions
from assay.analyses.shared.score_tables import result_conditions
from assay.charts.bars import bar_chart
from assay.charts.points import ScatterPoint, scatter_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, FileCommand, Warn, make_tags_distinct
from assay.comparison.submissions import MONTHLY_LIMIT, Submission, make_records
from assay.formats.leaderboards import SUBMISSION_COLUMNS, BoardRow, read_leaderboard
from assay.formats.streams import iterate_lines
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table


@dataclass(frozen=True)
class Options(CheckedOptions):
    limit: int = option(
        MONTHLY_LIMIT,
        "Submissions per month",
        help="maximum number of submissions per group and month",
        hint="More of them in one month are reported as a breach.",
        least=1,
    )
    until: str = option(
        "",
        "Last day",
        help="last day that counts, such as 2021-02-01 (default: no limit)",
        hint="Later submissions are left out.",
        metavar="DATE",
        kind="date",
    )
    private_condition: str = option(
        "",
        "Private condition",
        help="name of the private condition in the --ranks file (default: the only condition)",
        hint="As the report of expected ranks names it. Leave empty if it has only one.",
        metavar="NAME",
    )


def compute(
    rows: Sequence[BoardRow],
    options: Options,
    *,
    institutions: Mapping[str, str] | None = None,
    ranks: Values | None = None,
    warn: Warn,
) -> Values:
    """Count the submissions of each group by month, and rank its best public run by the private
    scores.

    institutions: {group: institution that it counts as}. ranks: a condition of `bootstrap`, which
    gives the private scores and expected ranks. Ranks are None without private scores. Raises
    BadInput if there are no submissions up to the last day.
    """
    kept = select_submissions(rows, institutions=institutions or {}, until=options.until)
    if not kept:
        raise BadInput(f"no submission is dated {options.until} or earlier (--until)")
    tags, _ = make_tags_distinct(row.tag for row in kept)
    submissions = [
        Submission(
            tag=tag,
            date=row.date,
            group=row.group,
            public_score=row.numbers["score"],
            private_score=row.numbers["private_score"],
            private_rank=row.numbers["private_rank"],
            expected_private_rank=row.numbers["expected_private_rank"],
        )
        for row, tag in zip(kept, tags, strict=True)
    ]
    if ranks is not None:
        if absent := [one.tag for one in submissions if one.tag not in ranks["expected_rank"]]:
            warn(f"--ranks: no rank for {', '.join(absent[:5])}{' ...' if len(absent) > 5 else ''}")
        submissions = [
            replace(
                one,
                private_score=ranks["observed"].get(one.tag, float("nan")),
                expected_private_rank=ranks["expected_rank"].get(one.tag, float("nan")),
            )
            for one in submissions
        ]
    return {
        group: {
            "submissions": record.submissions,
            "per_month": record.per_month,
            "breaches": record.breaches,
            "best": record.best_tag,
            "best_public_rank": record.best_public_rank,
            "its_private_rank": record.its_private_rank,
            "its_expected_private_rank": record.its_expected_private_rank,
        }
        for group, record in make_records(submissions, limit=options.limit).items()
    }


def result_tables(result: Values) -> list[Table]:
    header = [
        "group",
        "submissions",
        "most in a month",
        "months over the limit",
        "best run",
        "public rank",
        "private rank",
        "expected private rank",
    ]
    rows: list[list[Cell]] = [
        [
            group,
            of_group["submissions"],
            max(of_group["per_month"].values()),
            ", ".join(of_group["breaches"]),
            of_group["best"] or "",
            *(
                of_group[key]
                for key in ("best_public_rank", "its_private_rank", "its_expected_private_rank")
            ),
        ]
        for group, of_group in result_conditions(result).items()
    ]
    return [Table("groups", "Submissions by group", header, rows)]


def result_charts(result: Values) -> list[Picture]:
    groups = result_conditions(result)
    spots = [
        ScatterPoint(
            group,
            of_group["best_public_rank"],
            of_group["its_private_rank"],
            int(bool(of_group["breaches"])),
            group,
        )
        for group, of_group in groups.items()
        if of_group["best_public_rank"] is not None and of_group["its_private_rank"] is not None
    ]
    caption = "Public and private rank of each group's best run"
    return [
        bar_chart(
            list(groups),
            [of_group["submissions"] for of_group in groups.values()],
            caption="Submissions of each group",
            unit="submissions",
            what="group",
        ),
        scatter_chart(
            spots,
            kinds=["group", "group over the limit"],
            caption=caption,
            x_label="public rank",
            y_label="private rank",
            y_down=True,
        ),
    ]


class Command(FileCommand):
    help = (
        "Report submissions by group: their number in total and per month, breaches of the "
        "limit, the best public rank, and the private ranks of the same run."
    )
    takes_seed = False
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            metavar="FILE",
            help="table with one run per row: tag, date, group, public score, and private score or ranks",
        )
        add_options(parser, Options)
        parser.add_argument(
            "--ranks",
            metavar="FILE",
            help="output of `assay check bootstrap --json`, for private ranks",
        )
        parser.add_argument(
            "--institutions",
            metavar="FILE",
            help=(
                "table of group and institution, with a header; groups of the same institution "
                "count as one group"
            ),
        )
        parser.add_argument(
            "--score-column", metavar="NAME", help="header of the column with public scores"
        )

    def compute(
        self,
        *,
        file: str,
        ranks: str | None,
        score_column: str | None,
        institutions: str | None,
        **option_values: Any,
    ) -> Values:
        options = Options.from_mapping(option_values)
        rows = read_leaderboard(
            file,
            columns=SUBMISSION_COLUMNS,
            required=("tag", "date", "group", "score"),
            score_column=score_column,
        )
        return compute(
            rows,
            options,
            institutions=None if institutions is None else read_institutions(institutions),
            ranks=None if ranks is None else read_ranks(ranks, options.private_condition),
            warn=self.warn,
        )


def read_ranks(path: str, name: str) -> Values:
    """Read one condition from the output of `assay check bootstrap --json`. name: empty for the
    only one."""
    try:
        printed = json.loads("\n".join(text for _, text in iterate_lines(path)))
        conditions = {
            key: value
            for key, value in printed.items()
            if isinstance(value, dict) and "expected_rank" in value
        }
    except (ValueError, AttributeError):
        raise BadInput(f"{path}: not the output of `assay check bootstrap --json`") from None
    if not name and len(conditions) != 1:
        raise BadInput(
            f"{path}: {len(conditions)} conditions ({', '.join(conditions)}); choose one with --private-condition"
        )
    chosen: Values | None = conditions.get(name or next(iter(conditions)))
    if chosen is None:
        raise BadInput(f"{path}: unknown condition {name}; choose from {', '.join(conditions)}")
    return chosen
