"""`manage.py leaderboard QRELS RUN... --order FILE`: the records of a leaderboard and whether they
are significant."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.first_ranks import FirstRanks, add_verdict_options, first_ranks
from assay.analyses.shared.reading import TOPICS, Reading
from assay.cli.base import BadInput, ProgressLine, distinct_tags, text_table
from assay.comparison.equal_runs import BOARDS, chain_pairs, equal_boards
from assay.comparison.leaderboard import (
    BoardEntry,
    Point,
    by_date,
    chain,
    comparisons,
    order_by_displacement,
    points,
)
from assay.comparison.outcomes import Comparison, compare
from assay.comparison.significance import CORRECTIONS, why_no_verdict
from assay.comparison.verdict_words import (
    DISPLACEMENT,
    LOOKED_AT_OFTEN,
    UNPAIRED,
    equal_boards_words,
    verdict_word,
)
from assay.comparison.verdicts import as_json, judge
from assay.counts import counted
from assay.digits import p_text as p
from assay.formats.leaderboards import ORDER, BoardRow, read_leaderboard
from assay.options import add_options

PRECISIONS = ("float64", "float32")


class Command(ByTopicGroup, OfCampaign):
    help = (
        "The chain of runs that were the state of the art, compared as Lin et al. do; with "
        "--scores FILE the chain alone."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", nargs="?", metavar="QRELS")
        parser.add_argument("runs", nargs="*", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--order",
            metavar="FILE",
            help="tag, date, group, baseline (0/1), description of each run; without: as given",
        )
        parser.add_argument(
            "--scores",
            default="float64",
            metavar="FILE",
            help=(
                "tag, date, group, score of each run in place of QRELS and RUN; or float64 or "
                "float32, the precision of scores in runs"
            ),
        )
        parser.add_argument(
            "--score-column",
            metavar="NAME",
            help="with --scores FILE: the header of the column that counts",
        )
        parser.add_argument(
            "--baselines",
            default="",
            metavar="TAGS",
            help="organisers' baselines, separated by commas, beside those marked",
        )
        parser.add_argument(
            "--until", default="", metavar="DATE", help="leave out what is later, as in 2021-04-30"
        )
        parser.add_argument(
            "--highlight",
            default="",
            metavar="WORD",
            help="mark runs whose description holds this word",
        )
        parser.add_argument(
            "--lenient",
            action="store_true",
            help="accept extra columns, and runs of three columns (topic, document, rank)",
        )
        add_verdict_options(parser, CORRECTIONS)
        add_options(parser, Reading, *TOPICS)

    def compute(self, **options: Any) -> dict[str, Any]:
        if options["scores"] in PRECISIONS and not (
            options["qrels"] is None and Path(options["scores"]).exists()
        ):
            return self.compared(**options)
        if options["qrels"] is not None:
            raise BadInput("--scores FILE stands in place of QRELS and RUN, give one or the other")
        rows = read_leaderboard(
            options["scores"],
            required=("tag", "date", "score"),
            score_column=options["score_column"],
        )
        tags, _ = distinct_tags(row.tag for row in rows)
        entries = [
            entry(row, tag, row.numbers["score"]) for row, tag in zip(rows, tags, strict=True)
        ]
        return board(self.chosen(entries, **options), options["highlight"])

    def compared(
        self, *, qrels: str | None, runs: Sequence[str], order: str | None, **options: Any
    ) -> dict[str, Any]:
        if qrels is None or not runs:
            raise BadInput("QRELS and at least one RUN are needed, or --scores FILE")
        first = first_ranks(self, qrels, runs, options)
        if order is None:
            entries = [
                BoardEntry(tag, f"{i:06}", mrr)
                for i, (tag, mrr) in enumerate(zip(first.tags, first.mrr.tolist(), strict=True))
            ]
        else:
            entries = self.dated(order, first)
        entries = self.chosen(entries, **options)
        if order is None:  # without dates a baseline was there before all runs
            entries = [replace(one, date="") if one.is_baseline else one for one in entries]
        result = board(entries, options["highlight"])
        if order is None:
            for run in result["runs"]:
                run["date"] = None
        return {
            **result,
            **self.rows(entries, result["chain"], first, **options),
            "topics_with_several_relevant": first.n_several,
        }

    def dated(self, order: str, first: FirstRanks) -> list[BoardEntry]:
        rows: dict[str, BoardRow] = {}
        for row in read_leaderboard(order, columns=ORDER):
            if row.tag in rows:
                raise BadInput(f"{order}: the run {row.tag} is there twice")
            rows[row.tag] = row
        if absent := [tag for tag in first.tags if tag not in rows]:
            raise BadInput(
                f"{order}: no line for the run{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
            )
        if unknown := sorted(set(rows) - set(first.tags)):
            self.warn(
                f"{order}: {counted(len(unknown), 'run', 'was', 'were')} not given: "
                f"{', '.join(unknown[:5])}{' ...' if len(unknown) > 5 else ''}"
            )
        return [
            entry(rows[tag], tag, mrr)
            for tag, mrr in zip(first.tags, first.mrr.tolist(), strict=True)
        ]

    def chosen(
        self, entries: list[BoardEntry], *, baselines: str, until: str, **options: Any
    ) -> list[BoardEntry]:
        """The entries that count, organisers' baselines marked."""
        named = {tag for tag in baselines.split(",") if tag}
        if unknown := named - {one.tag for one in entries}:
            raise BadInput(f"no run is called {', '.join(sorted(unknown))} (--baselines)")
        kept = [replace(one, is_baseline=one.is_baseline or one.tag in named) for one in entries]
        return [one for one in kept if not until or one.date[:10] <= until.replace("/", "-")]

    def rows(
        self, entries: list[BoardEntry], tags: list[str], first: FirstRanks, **options: Any
    ) -> dict[str, Any]:
        """The comparisons of the chain, and the linear order of all runs."""
        place = {tag: i for i, tag in enumerate(first.tags)}
        lists = (
            comparisons(tags)
            if tags
            else {name: [] for name in ("vs_first", "vs_previous", "vs_last")}
        )
        in_order = [point.entry.tag for point in points(entries)]
        pairs = [(a, b) for j, b in enumerate(in_order) for a in in_order[:j]]
        compared: dict[tuple[str, str], Comparison] = {}
        with ProgressLine("comparing runs", len(pairs)) as progress:
            for a, b in pairs:
                compared[a, b] = compare(first.ranks[place[a]], first.ranks[place[b]])
                progress.step()
        how = {name: options[name] for name in ("alpha", "decide", "correction")}
        own = chain_pairs(tags)
        family = options["family"] or len(own)
        if family < len(own):
            raise BadInput(f"--family {family}: the chain alone has {len(own)} comparisons")
        verdicts = dict(
            zip(own, judge([compared[pair] for pair in own], **how, family=family), strict=True)
        )
        named = Named(entries, tags)
        table = {
            name: [{**named.pair(a, b), **as_json(compared[a, b], verdicts[a, b])} for a, b in rows]
            for name, rows in lists.items()
        }
        later_wins = {}
        all_pairs = max(family, len(pairs))
        for (a, b), judged in zip(
            pairs, judge([compared[pair] for pair in pairs], **how, family=all_pairs), strict=True
        ):
            later_wins[b, a] = judged.verdict.do_no_harm is True
            later_wins[a, b] = judged.mirrored.do_no_harm is True
        order = order_by_displacement(in_order, lambda a, b: later_wins[a, b])
        why = why_no_verdict(first.ranks.shape[1])
        displacement = {
            "order": order.tags,
            "cycles": order.cycles,
            "against": [list(pair) for pair in order.against],
        }
        return {
            **table,
            **(dict.fromkeys(displacement) if why else displacement),
            "labels": named.labels,
            "family": family,
            "correction": options["correction"],
            "no_verdict": why,
            "equal_boards": self.equal_boards(entries, first, **options) if own else None,
        }

    def equal_boards(
        self, entries: list[BoardEntry], first: FirstRanks, **options: Any
    ) -> dict[str, Any]:
        """By correction: how often boards of equal runs have a record that is said to be better
        than the first."""
        place = {tag: i for i, tag in enumerate(first.tags)}
        entries = by_date(entries)
        ranks = first.ranks[[place[one.tag] for one in entries]]
        how = {
            "alpha": options["alpha"],
            "decide": options["decide"],
            "rng": np.random.default_rng(options["seed"]),
            "family": options["family"],
        }
        with ProgressLine("boards of equal runs", BOARDS) as progress:
            return {
                name: asdict(rates)
                for name, rates in equal_boards(ranks, entries, **how, step=progress.step).items()
            }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        score = {run["tag"]: run["score"] for run in result["runs"]}
        parts = [
            text_table(
                ["", "record", "date", "group", "score"],
                [
                    [f"R{i}", run["tag"], run["date"] or "-", shortened(run["group"]), run["score"]]
                    for i, run in enumerate((run for run in result["runs"] if run["sota"]), 1)
                ],
            )
        ]
        rows = {
            (row["a"], row["b"]): row
            for name in ("vs_first", "vs_previous", "vs_last")
            for row in result.get(name, [])
        }
        if rows:
            parts.extend(paper_tables(list(rows.values())))
            parts.append(equal_boards_words(result))
        if result.get("no_verdict"):
            parts.append(f"No verdict: {result['no_verdict']}.")
        if result.get("order"):
            order = ", ".join(f"{tag} ({score[tag]:.4f})" for tag in result["order"])
            parts.append(f"order by displacement: {order}\n{DISPLACEMENT}")
            parts.extend("no order among " + ", ".join(cycle) for cycle in result["cycles"])
        return "\n\n".join(
            [*parts, LOOKED_AT_OFTEN] if "order" in result and options.get("campaign") else parts
        )


class Named:
    """Runs of the chain as the papers name them (R1, R2, ...), with their groups."""

    def __init__(self, entries: list[BoardEntry], tags: Sequence[str]) -> None:
        self.labels = {tag: f"R{i}" for i, tag in enumerate(tags, 1)}
        self.groups = {one.tag: one.group for one in entries}

    def pair(self, a: str, b: str) -> dict[str, str]:
        sides = (("a", a), ("b", b))
        labels = {f"{side}_label": self.labels[tag] for side, tag in sides}
        return {
            "a": a,
            "b": b,
            **labels,
            **{f"{side}_group": self.groups[tag] for side, tag in sides},
        }


def shortened(group: str) -> str:
    """Names of groups may be lists of authors; JSON has them whole."""
    return group if 0 < len(group) <= 30 else f"{group[:29].rstrip()}…" if group else "-"


def entry(row: BoardRow, tag: str, score: float) -> BoardEntry:
    return BoardEntry(tag, row.date, score, row.group, row.is_baseline, row.description)


def board(entries: list[BoardEntry], highlight: str) -> dict[str, Any]:
    """The chain, and every run for the picture over time."""
    return {
        "chain": chain(entries),
        "runs": [point_json(point) for point in points(entries, highlight=highlight)],
    }


def point_json(point: Point) -> dict[str, Any]:
    one = point.entry
    return {
        "tag": one.tag,
        "date": one.date,
        "group": one.group,
        "score": one.score,
        "baseline": one.is_baseline,
        "sota": point.is_sota,
        "highlighted": point.is_highlighted,
        "description": one.description,
    }


def paper_tables(rows: list[dict[str, Any]]) -> list[str]:
    """Table 1, Table 2 and the verdicts, one comparison a line; p-values are raw, verdicts are
    corrected."""

    def percent(share: float) -> str:
        return f"{100 * share:.0f} %"

    def words(verdict: dict[str, Any]) -> list[str]:
        return [
            verdict_word(verdict[key]) for key in ("better", "significantly_better", "do_no_harm")
        ]

    is_corrected = rows[0]["correction"] != "none"
    tests, outcomes, verdicts = [], [], []
    for row in rows:
        pair = [f"{row['a_label']} {row['a']}", f"{row['b_label']} {row['b']}"]
        mrr, esl, rr, shares, verdict = (
            row["mrr"],
            row["esl"],
            row["rr"],
            row["outcomes"],
            row["verdict"],
        )
        tests.append([*pair, mrr["difference"], p(mrr["wrs"]), p(mrr["wsr"]), p(mrr["t"])])
        outcomes.append(
            [
                *pair,
                *(percent(shares[name]) for name in ("neither", "a_only", "b_only", "both")),
                esl["a"],
                esl["b"],
                p(esl["wsr"]),
                p(esl["t"]),
            ]
            + [rr["a"], rr["b"], p(rr["wsr"]), p(rr["t"])]
        )
        tested = [
            p(row["binomial"]),
            *(
                [p(row["corrected"][key]) for key in ("binomial", "esl_wsr", "esl_t")]
                if is_corrected
                else []
            ),
        ]
        verdicts.append(
            [
                *pair,
                *tested,
                *words(verdict),
                *words(verdict["by_rr"]),
                len(verdict["disagreements"]),
            ]
        )
    after = (
        ["binomial, corrected", "ESL WSR, corrected", "ESL t, corrected"] if is_corrected else []
    )
    return [
        "mean RR\n"
        + text_table(["A", "B", "difference", "WRS p", "WSR p", "t p"], tests)
        + f"\nWRS: {UNPAIRED}",
        "outcomes\n"
        + text_table(
            [
                "A",
                "B",
                "neither",
                "A only",
                "B only",
                "both",
                "ESL A",
                "ESL B",
                "WSR p",
                "t p",
                "RR A",
                "RR B",
                "WSR p",
                "t p",
            ],
            outcomes,
        ),
        "is B better than A?\n"
        + text_table(
            [
                "A",
                "B",
                "binomial p",
                *after,
                "better",
                "significantly",
                "no harm",
                "by RR: better",
                "significantly",
                "no harm",
                "disagreements",
            ],
            verdicts,
        ),
    ]
