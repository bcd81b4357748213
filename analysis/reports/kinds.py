"""What can be asked: each kind of report is a command with the choices that a person has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.reports.conditions import Files, NotPossible, crossed, written
from analysis.reports.options import (
    BOOTSTRAP,
    COMPARE,
    COMPARE_RUNS,
    EVALUATE,
    LEADERBOARD,
    OVERLAP,
    REUSABILITY,
    SPLIT_HALF,
    STABILITY,
    SUBMISSIONS,
    Field,
    arguments_of,
    named,
)


@dataclass(frozen=True)
class Kind:
    """name: of the command. qrels: how many are chosen, least and most (0: any number); click_qrels: a second choice, of those that
    come from clicks. pair: two runs, in an order. least_runs: fewer make no answer. arguments: files and options -> the command's.
    others: names of the files that the worker writes beside runs and qrels."""

    name: str
    title: str
    sentence: str
    fields: tuple[Field, ...]
    arguments: Callable[[Files, Mapping[str, Any]], list[str]]
    qrels: tuple[int, int] = (1, 1)
    qrels_label: str = "Qrels"
    click_qrels: bool = False
    private_qrels: bool = False
    least_runs: int = 1
    pair: bool = False
    seeded: bool = True
    pieces: bool = False
    measures: str = ""
    others: tuple[str, ...] = field(default=())

    @property
    def shown_fields(self) -> tuple[Field, ...]:
        return self.fields


def _all(*chosen: Field) -> Callable[[Files, Mapping[str, Any]], list[str]]:
    return lambda files, options: [files.qrels[0][1], *files.runs, *arguments_of(chosen, options)]


def _named(pair: tuple[str, str]) -> str:
    return f"{pair[0]}={pair[1]}"


def _evaluate(files: Files, options: Mapping[str, Any]) -> list[str]:
    further = [f"--qrels={_named(pair)}" for pair in files.qrels[1:]]
    return [_named(files.qrels[0]), *files.runs, *further, *arguments_of(EVALUATE, options)]


def _compare_rankings(files: Files, options: Mapping[str, Any]) -> list[str]:
    return [*files.runs, *(f"--qrels={_named(pair)}" for pair in files.qrels), *arguments_of(COMPARE, options)]


def _label_overlap(files: Files, options: Mapping[str, Any]) -> list[str]:
    found = [f"--judged={files.qrels[0][1]}", "--clicks", *(_named(pair) for pair in files.qrels[1:])]
    if "pool.tsv" in files.others:
        found += [f"--pool={files.others['pool.tsv']}", *arguments_of(named(OVERLAP, "top"), options)]
    return found + arguments_of(named(OVERLAP, "threshold"), options)


def _leaderboard(files: Files, options: Mapping[str, Any]) -> list[str]:
    order = [f"--order={files.others['order.tsv']}"] if "order.tsv" in files.others else []
    return [files.qrels[0][1], *files.runs, *order, *arguments_of(LEADERBOARD, options)]


def _bootstrap(files: Files, options: Mapping[str, Any]) -> list[str]:
    given = str(options.get("measures") or "RR@100")
    rest = arguments_of([one for one in BOOTSTRAP if one.name not in ("measures", "topic_lists", "conditions")], options)
    head = [files.qrels[0][1], *files.runs]
    if options.get("conditions"):
        return [*head, *written(str(options["conditions"]), files), *rest]
    if len(files.qrels) == 1 and not files.lists("topics"):
        return [*head, f"--measures={given}", *rest]
    return [*head, *crossed(given.split(), files), *rest]


def _stability(files: Files, options: Mapping[str, Any]) -> list[str]:
    rest = arguments_of([one for one in _without_default(STABILITY) if one.name not in ("documents", "docids")], options)
    if options.get("documents"):
        if "docids.txt" not in files.others:
            raise NotPossible("choose the file with the list of the collection's documents")
        if options.get("element") != "documents":
            raise NotPossible("the collection's documents are drawn from only when documents vary")
        rest.append(f"--docids={files.others['docids.txt']}")
    return [files.qrels[0][1], *files.runs, *rest]


def _reusability(files: Files, options: Mapping[str, Any]) -> list[str]:
    groups = [f"--groups={files.others['groups.tsv']}"] if options.get("by_group") and "groups.tsv" in files.others else []
    chosen = [one for one in REUSABILITY if one.name != "by_group"]
    return [files.qrels[0][1], *files.runs, *groups, *arguments_of(chosen, options)]


def _submissions(files: Files, options: Mapping[str, Any]) -> list[str]:
    found = [files.others["submissions.tsv"], *arguments_of(named(SUBMISSIONS, "limit"), options)]
    if "ranks.json" in files.others:
        found += [f"--ranks={files.others['ranks.json']}", *arguments_of(named(SUBMISSIONS, "condition"), options)]
    return found


def _without_default(chosen: tuple[Field, ...]) -> tuple[Field, ...]:
    """The element has no default in the command: it is always given."""
    return tuple(Field(**{**one.__dict__, "default": ""}) if one.name == "element" else one for one in chosen)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "compare_rankings",
            "Rankings under several qrels",
            "Do two kinds of judgements rank systems alike? Kendall's tau with its interval, swapped and tied pairs.",
            COMPARE,
            _compare_rankings,
            qrels=(2, 0),
            least_runs=2,
        ),
        Kind(
            "label_overlap",
            "Labels against clicks",
            "How many judged pairs have a click label, and how often the two agree or contradict each other.",
            OVERLAP,
            _label_overlap,
            qrels_label="Judgements",
            click_qrels=True,
            least_runs=0,
            seeded=False,
            others=("pool.tsv",),
        ),
        Kind(
            "evaluate",
            "Scores of runs",
            "Measures of runs under one or more qrels, means and each topic.",
            EVALUATE,
            _evaluate,
            qrels=(1, 0),
            seeded=False,
        ),
        Kind(
            "compare_runs",
            "Two runs by outcome",
            "Is run B better than run A? Topics answered by neither, one or both, with tests and a verdict.",
            COMPARE_RUNS,
            lambda files, options: [files.qrels[0][1], *files.runs, *arguments_of(COMPARE_RUNS, options)],
            pair=True,
            least_runs=2,
            seeded=False,
        ),
        Kind(
            "leaderboard",
            "Leaderboard over time",
            "The chain of runs that were the state of the art, and whether each step is significant.",
            LEADERBOARD,
            _leaderboard,
            seeded=False,
            others=("order.tsv",),
        ),
        Kind(
            "bootstrap",
            "Certainty of the ranks",
            "Each run's rank over bootstrap samples of the topics: probabilities, interval, who beats whom; several qrels side by side.",
            BOOTSTRAP,
            _bootstrap,
            qrels=(1, 0),
            pieces=True,
        ),
        Kind(
            "split_half",
            "Two halves of the topics",
            "How often tests on two halves of the topics agree about pairs of runs.",
            SPLIT_HALF,
            _all(*SPLIT_HALF),
            least_runs=2,
            pieces=True,
        ),
        Kind(
            "submissions",
            "Submissions by group",
            "Who submitted how often, and how the best of a group under public qrels fares under private ones.",
            SUBMISSIONS,
            _submissions,
            qrels_label="Public qrels",
            private_qrels=True,
            seeded=False,
            others=("submissions.tsv", "ranks.json"),
        ),
        Kind(
            "stability",
            "Stability of the collection",
            "Does the ranking survive when documents, topics or assessments change? Overlap curves and the least overlap needed.",
            STABILITY,
            _stability,
            least_runs=2,
            pieces=True,
            others=("docids.txt",),
        ),
        Kind(
            "reusability",
            "Reusability of the pool",
            "Would a system that did not take part be judged fairly, and was the pool deep enough?",
            REUSABILITY,
            _reusability,
            least_runs=2,
            pieces=True,
            others=("groups.tsv",),
        ),
    )
}
