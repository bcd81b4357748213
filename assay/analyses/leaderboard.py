"""Find the records of a leaderboard and test whether they are significant (Lin et al. 2021)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.first_ranks import (
    FirstRanks,
    VerdictOptions,
    correction_option,
    read_first_ranks,
)
from assay.analyses.shared.measures import iterate_runs, read_one_qrels
from assay.analyses.shared.run_charts import outcome_bar_chart
from assay.analyses.shared.verdict_tables import comparison_tables as comparison_tables
from assay.analyses.shared.verdict_tables import displacement_table
from assay.charts.points import ScatterPoint, scatter_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, ProgressLine, Warn, make_tags_distinct
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.equal_runs import N_BOARDS, list_chain_pairs, simulate_equal_boards
from assay.comparison.leaderboard import (
    BoardEntry,
    BoardPoint,
    list_board_points,
    list_comparisons,
    list_records,
    order_by_displacement,
    sort_by_date,
)
from assay.comparison.outcomes import RunComparison, compare_ranks
from assay.comparison.significance import CORRECTIONS, no_verdict_reason
from assay.comparison.verdict_sentences import REPEATED_TESTING_NOTE, describe_equal_boards
from assay.comparison.verdicts import judge_comparisons, to_json
from assay.formats.leaderboards import ORDER_COLUMNS, BoardRow, read_leaderboard
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Table


@dataclass(frozen=True)
class Options(VerdictOptions):
    correction: str = correction_option("holm", *CORRECTIONS)
    baselines: str = option(
        "",
        "Organisers' baselines",
        help=(
            "comma-separated tags of the organisers' baselines, in addition to runs marked as "
            "baselines"
        ),
        hint="A record has to beat the baselines submitted before it.",
        metavar="TAGS",
        kind="tags",
        more={"marked": "baseline"},
    )
    until: str = option(
        "",
        "Latest date",
        help="latest submission date of the runs to include, such as 2021-04-30",
        metavar="DATE",
        kind="date",
    )
    highlight: str = option(
        "",
        "Mark runs whose description contains",
        help="word for highlighting all runs with this word in their description",
        metavar="WORD",
    )


def compute(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    submitted: Sequence[BoardRow] | None = None,
    seed: int = 0,
    warn: Warn,
    part: bool = False,
) -> Values:
    """Find the chain of runs that were the state of the art by mean RR, and compare them.

    submitted: one row per run (tag, date, group, baseline, description). Without it, runs are in
    the order given and have no dates. seed: for the leaderboards of equal runs. part: the qrels are
    limited to a group of topics. Without enough topics, order and verdicts are undefined, with a
    reason. Raises BadInput for a run without a row, an unknown baseline, or a number of comparisons
    below that of the chain. Source: Lin et al. (2021)."""
    first = read_first_ranks(qrels, runs, options, warn=warn, part=part)
    if submitted is None:
        entries = [
            BoardEntry(tag, f"{i:06}", mrr)
            for i, (tag, mrr) in enumerate(zip(first.tags, first.mrr.tolist(), strict=True))
        ]
    else:
        entries = make_dated_entries(submitted, first, warn)
    entries = select_entries(entries, options)
    if submitted is None:  # without dates, baselines precede all runs
        entries = [replace(one, date="") if one.is_baseline else one for one in entries]
    result = make_board(entries, options.highlight)
    if submitted is None:
        for run in result["runs"]:
            run["date"] = None
    return {
        **result,
        **compare_chain(entries, result["chain"], first, options, seed),
        "topics_with_several_relevant": first.n_several,
    }


def compute_scores(rows: Sequence[BoardRow], options: Options) -> Values:
    """Find the chain of runs that were the state of the art by their published scores.

    Raises BadInput for an unknown baseline."""
    tags, _ = make_tags_distinct(row.tag for row in rows)
    entries = [
        make_entry(row, tag, row.numbers["score"]) for row, tag in zip(rows, tags, strict=True)
    ]
    return make_board(select_entries(entries, options), options.highlight)


def make_dated_entries(
    submitted: Sequence[BoardRow], first: FirstRanks, warn: Warn
) -> list[BoardEntry]:
    rows: dict[str, BoardRow] = {}
    for row in submitted:
        if row.tag in rows:
            raise BadInput(f"--metadata: duplicate run {row.tag}, expected one row per run")
        rows[row.tag] = row
    if absent := [tag for tag in first.tags if tag not in rows]:
        raise BadInput(f"--metadata: no row for {', '.join(absent)}, expected one row per run")
    if unknown := sorted(set(rows) - set(first.tags)):
        warn(
            f"--metadata: {format_count(len(unknown), 'run', 'is', 'are')} not among the run "
            f"files: {', '.join(unknown[:5])}{' ...' if len(unknown) > 5 else ''}"
        )
    return [
        make_entry(rows[tag], tag, mrr)
        for tag, mrr in zip(first.tags, first.mrr.tolist(), strict=True)
    ]


def select_entries(entries: list[BoardEntry], options: Options) -> list[BoardEntry]:
    """Return the entries that count, with the organisers' baselines marked."""
    named = {tag for tag in options.baselines.split(",") if tag}
    if unknown := named - {one.tag for one in entries}:
        raise BadInput(
            f"--baselines: unknown runs {', '.join(sorted(unknown))}; "
            f"choose from {', '.join(one.tag for one in entries)}"
        )
    kept = [replace(one, is_baseline=one.is_baseline or one.tag in named) for one in entries]
    until = options.until.replace("/", "-")
    return [one for one in kept if not until or one.date[:10] <= until]


def compare_chain(
    entries: list[BoardEntry],
    tags: list[str],
    first: FirstRanks,
    options: Options,
    seed: int,
) -> Values:
    """Return the comparisons of the chain, and the linear order of all runs."""
    place = {tag: i for i, tag in enumerate(first.tags)}
    lists = (
        list_comparisons(tags)
        if tags
        else {name: [] for name in ("vs_first", "vs_previous", "vs_last")}
    )
    in_order = [point.entry.tag for point in list_board_points(entries)]
    pairs = [(a, b) for j, b in enumerate(in_order) for a in in_order[:j]]
    compared: dict[tuple[str, str], RunComparison] = {}
    with ProgressLine("comparing runs", len(pairs)) as progress:
        for a, b in pairs:
            compared[a, b] = compare_ranks(first.ranks[place[a]], first.ranks[place[b]])
            progress.step()
    how = {name: getattr(options, name) for name in ("alpha", "decide", "correction")}
    own = list_chain_pairs(tags)
    family = options.family_size or len(own)
    if family < len(own):
        raise BadInput(
            f"--family-size {family} is less than the {len(own)} comparisons of the chain, "
            f"expected at least {len(own)}"
        )
    verdicts = dict(
        zip(
            own,
            judge_comparisons([compared[pair] for pair in own], **how, family=family),
            strict=True,
        )
    )
    named = ChainNames(entries, tags)
    table = {
        name: [{**named.pair(a, b), **to_json(compared[a, b], verdicts[a, b])} for a, b in rows]
        for name, rows in lists.items()
    }
    later_wins = {}
    all_pairs = max(family, len(pairs))
    for (a, b), judged in zip(
        pairs,
        judge_comparisons([compared[pair] for pair in pairs], **how, family=all_pairs),
        strict=True,
    ):
        later_wins[b, a] = judged.verdict.do_no_harm is True
        later_wins[a, b] = judged.mirrored.do_no_harm is True
    order = order_by_displacement(in_order, lambda a, b: later_wins[a, b])
    why = no_verdict_reason(first.ranks.shape[1])
    displacement = {
        "order": order.tags,
        "cycles": order.cycles,
        "against": [list(pair) for pair in order.against],
    }
    return {
        **table,
        **(dict.fromkeys(displacement) if why else displacement),
        "labels": named.labels,
        "family_size": family,
        "correction": options.correction,
        "no_verdict": why,
        "equal_boards": simulate_boards(entries, first, options, seed) if own else None,
    }


def simulate_boards(
    entries: list[BoardEntry], first: FirstRanks, options: Options, seed: int
) -> Values:
    """Estimate, for each correction, how often a leaderboard of equal runs has a record with the
    verdict "better than the first"."""
    place = {tag: i for i, tag in enumerate(first.tags)}
    entries = sort_by_date(entries)
    ranks = first.ranks[[place[one.tag] for one in entries]]
    how: Any = {
        "alpha": options.alpha,
        "decide": options.decide,
        "rng": np.random.default_rng(seed),
        "family": options.family_size,
    }
    with ProgressLine("boards of equal runs", N_BOARDS) as progress:
        return {
            name: asdict(rates)
            for name, rates in simulate_equal_boards(
                ranks, entries, **how, step=progress.step
            ).items()
        }


class ChainNames:
    """Short names of a leaderboard's record runs as in Lin et al. (2021): R1, R2, ..., with their
    groups."""

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


def make_entry(row: BoardRow, tag: str, score: float) -> BoardEntry:
    return BoardEntry(tag, row.date, score, row.group, row.is_baseline, row.description)


def make_board(entries: list[BoardEntry], highlight: str) -> Values:
    """Return the chain, and every run for the chart over time."""
    return {
        "chain": list_records(entries),
        "runs": [
            describe_point(point) for point in list_board_points(entries, highlight=highlight)
        ],
    }


def describe_point(point: BoardPoint) -> Values:
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


def result_tables(result: Values) -> list[Table]:
    header = [
        "run",
        "date",
        "group",
        "score",
        "record",
        "baseline",
        "marked",
        "description",
    ]
    record = {tag: f"R{number}" for number, tag in enumerate(result["chain"], 1)}
    rows = [
        [
            r["tag"],
            r["date"] or "",
            r["group"],
            r["score"],
            record.get(r["tag"], ""),
            *("yes" if r[key] else "no" for key in ("baseline", "highlighted")),
            r["description"],
        ]
        for r in result["runs"]
    ]
    note = "Records are R1, R2 and so on: the runs that were the state of the art."
    made = [Table("runs", "All runs", header, rows, note)]
    unique = {
        (row["a"], row["b"]): row
        for key in ("vs_previous", "vs_first", "vs_last")
        for row in result.get(key, [])
    }
    if unique:
        why = f"No verdict: {result['no_verdict']}." if result["no_verdict"] else ""
        rates = " ".join(filter(None, (describe_equal_boards(result), why)))
        made += comparison_tables(list(unique.values()), words=" along the chain", rates=rates)
    if result.get("order"):
        made.append(displacement_table(result))
    return made


def _parse_day(text: str) -> float | None:
    try:
        return float(date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        return None


def result_charts(result: Values) -> list[Picture]:
    kinds = ["run", "state of the art", "baseline", "marked by its description"]
    record = {tag: f"R{number}" for number, tag in enumerate(result["chain"], 1)}
    spots = []
    has_dates = all(run["date"] and _parse_day(run["date"]) is not None for run in result["runs"])
    for number, run in enumerate(result["runs"], 1):
        kind = 1 if run["sota"] else 2 if run["baseline"] else 3 if run["highlighted"] else 0
        x = _parse_day(run["date"]) if has_dates else float(number)
        if x is not None and run["score"] is not None:
            spots.append(
                ScatterPoint(
                    run["tag"] + (", marked" if run["highlighted"] else ""),
                    x,
                    run["score"],
                    kind,
                    record.get(run["tag"], ""),
                )
            )
    drawn = [
        scatter_chart(
            spots,
            kinds=kinds,
            caption="Scores over time" if has_dates else "Scores in the order given",
            x_label="submitted" if has_dates else "number",
            y_label="mean RR" if "vs_previous" in result else "score",
            x_form=lambda x: f"{x:g}",
            dates=has_dates,
        )
    ]
    rows = result.get("vs_previous", [])
    if rows:
        drawn.append(outcome_bar_chart(rows, "Topics by outcome along the chain"))
    return drawn


class Command(TopicGroupCommand, CampaignCommand):
    help = (
        "Find the chain of state-of-the-art runs, and compare them with the method of Lin et al. "
        "(2021). With --scores FILE, only find the chain."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", nargs="?", metavar="QRELS", help="qrels file")
        parser.add_argument("runs", nargs="*", metavar="RUN", help="run files")
        add_campaign_options(parser)
        parser.add_argument(
            "--metadata",
            metavar="FILE",
            help=(
                "table with the tag, date, group, baseline (0 or 1) and description of each run "
                "(default: runs in the given order)"
            ),
        )
        parser.add_argument(
            "--scores",
            metavar="FILE",
            help="table with the tag, date, group and score of each run, instead of QRELS and RUN",
        )
        parser.add_argument(
            "--score-column",
            metavar="NAME",
            help="header of the score column (with --scores)",
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        qrels: str | None,
        runs: Sequence[str],
        metadata: str | None,
        scores: str | None,
        score_column: str | None,
        seed: int,
        **option_values: Any,
    ) -> Values:
        if scores is not None:
            if qrels is not None:
                raise BadInput(
                    "--scores FILE cannot be combined with QRELS and RUN; give one or the other"
                )
            rows = read_leaderboard(
                scores, required=("tag", "date", "score"), score_column=score_column
            )
            return compute_scores(rows, Options.from_mapping(option_values))
        if qrels is None or not runs:
            raise BadInput(
                "missing QRELS and RUN; give QRELS and at least one RUN, or --scores FILE"
            )
        if option_values["campaign"]:
            self.note(REPEATED_TESTING_NOTE)
        return compute(
            read_one_qrels(self, qrels),
            iterate_runs(self, runs, option_values),
            Options.from_mapping(option_values),
            submitted=None
            if metadata is None
            else list(read_leaderboard(metadata, columns=ORDER_COLUMNS)),
            seed=seed,
            warn=self.warn,
            part=self.only_these is not None,
        )
