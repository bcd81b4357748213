"""`manage.py submissions FILE`: who submitted how often, and how the best of a group fares in
private (Craswell et al. 2021)."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import dataclass, replace
from typing import Any

from assay.analyses.shared.institutions import read_institutions, taken
from assay.cli.base import BadInput, FileCommand, distinct_tags, text_table
from assay.comparison.submissions import LIMIT, Submission, records
from assay.formats.leaderboards import SUBMISSIONS, read_leaderboard
from assay.formats.opening import lines
from assay.options import Checked, add_options, option

WIDTH = 40
"""Characters of a group's name that the table shows; teams are long lists of people."""


@dataclass(frozen=True)
class Options(Checked):
    limit: int = option(LIMIT, "Submissions a month that a group may make", least=1)


class Command(FileCommand):
    help = (
        "Submissions by group: number, number a month, breaches of the limit, best public rank "
        "and that run's private ranks."
    )
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            metavar="FILE",
            help="tag, date, group, public score, private score or ranks, one run a line",
        )
        add_options(parser, Options)
        parser.add_argument(
            "--ranks",
            metavar="FILE",
            help="JSON file printed by `assay check bootstrap --json`, with private ranks",
        )
        parser.add_argument(
            "--condition",
            metavar="NAME",
            help="name of the private condition, with --ranks (default: the only one)",
        )
        parser.add_argument(
            "--until", default="", metavar="DATE", help="leave out what is later, as in 2021-02-01"
        )
        parser.add_argument(
            "--institutions",
            metavar="FILE",
            help="group and institution, with a header: teams that are counted as one",
        )
        parser.add_argument(
            "--score-column", metavar="NAME", help="the header of the column of public scores"
        )

    def compute(
        self,
        *,
        file: str,
        limit: int,
        ranks: str | None,
        condition: str | None,
        score_column: str | None,
        until: str,
        institutions: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        rows = read_leaderboard(
            file,
            columns=SUBMISSIONS,
            required=("tag", "date", "group", "score"),
            score_column=score_column,
        )
        rows = taken(
            rows,
            institutions={} if institutions is None else read_institutions(institutions),
            until=until,
        )
        if not rows:
            raise BadInput(f"{file}: nothing was submitted until {until}")
        tags, _ = distinct_tags(row.tag for row in rows)
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
            for row, tag in zip(rows, tags, strict=True)
        ]
        if ranks is not None:
            submissions = self.ranked(submissions, ranks, condition)
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
            for group, record in records(submissions, limit=limit).items()
        }

    def ranked(
        self, submissions: list[Submission], path: str, name: str | None
    ) -> list[Submission]:
        """With the observed scores and expected ranks of a bootstrap as private ones."""
        try:
            printed = json.loads("\n".join(text for _, text in lines(path)))
            conditions = {
                key: value
                for key, value in printed.items()
                if isinstance(value, dict) and "expected_rank" in value
            }
        except (ValueError, AttributeError):
            raise BadInput(f"{path}: not what `bootstrap --json` prints") from None
        if name is None and len(conditions) != 1:
            raise BadInput(
                f"{path}: {len(conditions)} conditions ({', '.join(conditions)}); choose one with --condition"
            )
        chosen = next(iter(conditions)) if name is None else name
        if chosen not in conditions:
            raise BadInput(f"{path}: no condition {chosen}; there are {', '.join(conditions)}")
        bootstrapped = conditions[chosen]
        if absent := [
            one.tag for one in submissions if one.tag not in bootstrapped["expected_rank"]
        ]:
            self.warn(
                f"{path}: no ranks for {', '.join(absent[:5])}{' ...' if len(absent) > 5 else ''}"
            )
        return [
            replace(
                one,
                private_score=bootstrapped["observed"].get(one.tag, float("nan")),
                expected_private_rank=bootstrapped["expected_rank"].get(one.tag, float("nan")),
            )
            for one in submissions
        ]

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return text_table(
            [
                "group",
                "submissions",
                "most in a month",
                "breaches",
                "best run",
                "public rank",
                "private rank",
                "expected private rank",
            ],
            [
                [
                    group if len(group) <= WIDTH else group[: WIDTH - 1] + "…",
                    of_group["submissions"],
                    max(of_group["per_month"].values()),
                    " ".join(of_group["breaches"]) or "-",
                    of_group["best"],
                    *(
                        of_group[key]
                        for key in (
                            "best_public_rank",
                            "its_private_rank",
                            "its_expected_private_rank",
                        )
                    ),
                ]
                for group, of_group in result.items()
            ],
        )
