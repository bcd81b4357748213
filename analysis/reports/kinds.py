"""What can be asked: each kind of report is a command with the choices that a person has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.core.subcollections import ELEMENTS

MEASURES = "AP nDCG nDCG@10 RR@10 R@100 Judged@10"


@dataclass(frozen=True)
class Field:
    """An option of the command. kind: whole, number, text, yes, choice, date; a default that is left as it is gives no argument."""

    name: str
    label: str
    kind: str = "text"
    default: Any = ""
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


@dataclass(frozen=True)
class Files:
    """The files that stand for what was chosen. runs: paths; qrels: (name, path); others: name -> path."""

    runs: Sequence[str]
    qrels: Sequence[tuple[str, str]]
    others: Mapping[str, str]


def arguments_of(fields: Sequence[Field], options: Mapping[str, Any]) -> list[str]:
    """Options that differ from their defaults, as arguments."""
    found = []
    for one in fields:
        value = options.get(one.name, one.default)
        if value == one.default or value is None or value == "":
            continue
        found.append(one.flag if one.kind == "yes" else f"{one.flag}={_text(value)}")
    return found


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


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


LEVEL = Field("level", "Lowest relevant grade", "whole", 1, least=1, hint="For all measures but nDCG.")
TOPICS = Field(
    "topics",
    "Topics",
    "choice",
    "complete",
    (("complete", "all of the qrels, 0 where a run has none"), ("intersection", "those that the run has too")),
)
WITH_RELEVANT = Field("only_with_relevant", "Leave out topics without relevant documents", "yes", False)
ALPHA = Field("alpha", "Significant means p below", "number", 0.05, least=0, most=1)


def measures(default: str) -> Field:
    return Field("measures", "Measures", "measures", default, hint="Names between blanks, such as AP nDCG@10 RR@10 R@100 Bpref Judged@10.")


VERDICT = (
    Field("cutoff", "Answered up to rank", "whole", 100, least=1, hint="A topic is answered by a relevant document up to this rank."),
    ALPHA,
    Field("decide", "Test where both runs answer", "choice", "wsr", (("wsr", "signed-rank test"), ("t", "t-test"))),
)


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
        found += [f"--pool={files.others['pool.tsv']}", *arguments_of(OVERLAP[:1], options)]
    return found + arguments_of(OVERLAP[1:], options)


def _leaderboard(files: Files, options: Mapping[str, Any]) -> list[str]:
    order = [f"--order={files.others['order.tsv']}"] if "order.tsv" in files.others else []
    return [files.qrels[0][1], *files.runs, *order, *arguments_of(LEADERBOARD, options)]


def _bootstrap(files: Files, options: Mapping[str, Any]) -> list[str]:
    given = str(options.get("measures") or "RR@100")
    rest = arguments_of(BOOTSTRAP[1:], options)
    if len(files.qrels) == 1:
        return [files.qrels[0][1], *files.runs, f"--measures={given}", *rest]
    conditions = [f"--condition={measure} {name}={measure},{path}" for name, path in files.qrels for measure in given.split()]
    return [files.qrels[0][1], *files.runs, *conditions, *rest]


def _reusability(files: Files, options: Mapping[str, Any]) -> list[str]:
    groups = [f"--groups={files.others['groups.tsv']}"] if options.get("by_group") and "groups.tsv" in files.others else []
    chosen = [one for one in REUSABILITY if one.name != "by_group"]
    return [files.qrels[0][1], *files.runs, *groups, *arguments_of(chosen, options)]


def _submissions(files: Files, options: Mapping[str, Any]) -> list[str]:
    return [files.others["submissions.tsv"], *arguments_of([one for one in SUBMISSIONS if one.name == "limit"], options)]


EVALUATE = (measures(MEASURES), LEVEL, TOPICS, WITH_RELEVANT, Field("per_topic", "Also the value of every topic", "yes", False))
COMPARE = (
    measures(MEASURES),
    Field("bootstrap", "Bootstrap samples for the interval", "whole", 1000, least=0, most=100_000),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
OVERLAP = (
    Field(
        "top", "Best rank in the pool up to", "whole", 4, least=1, hint="Counts only the top of the campaign's pool; only with a campaign."
    ),
    Field("threshold", "Lowest relevant judged grade", "whole", 1, least=1),
)
RUNS_FIELDS = (*VERDICT, Field("correction", "Correction", "choice", "none", (("none", "none"), ("bonferroni", "Bonferroni"))))
COMPARE_RUNS = (
    *RUNS_FIELDS,
    Field("family", "Comparisons in all", "whole", "", least=1, hint="For Bonferroni: how many comparisons are made in all."),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
LEADERBOARD = (
    *VERDICT,
    Field("correction", "Correction", "choice", "none", (("none", "none"), ("bonferroni", "Bonferroni"), ("holm", "Holm"))),
    Field("until", "Leave out what is later than", "date", ""),
    Field("highlight", "Mark runs whose description holds", "text", ""),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
BOOTSTRAP = (
    measures("RR@100"),
    Field("trials", "Samples of the topics", "whole", 1000, least=1, most=1_000_000),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
SPLIT_HALF = (
    measures("RR@100"),
    Field("splits", "Random splits", "whole", 100, least=1, most=100_000),
    ALPHA,
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
STABILITY = (
    Field(
        "element",
        "What is varied",
        "choice",
        "documents",
        tuple((name, "relevant assessments" if name == "positive" else name) for name in ELEMENTS),
    ),
    measures("AP Rprec Bpref nDCG"),
    Field(
        "overlaps",
        "Overlaps in percent",
        "text",
        "",
        hint="first:last:step or 10,50,100; empty: 5:100:5, for topics every number of shared topics.",
    ),
    Field("pairs", "Pairs of sub-collections at each level", "whole", 50, least=1, most=100_000),
    Field("threshold", "Rankings agree from a tau of", "number", 0.9, least=0, most=1),
    Field("per_topic_quota", "Draw half of each topic's assessments", "yes", False, hint="Assessments only; else half of all."),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
REUSABILITY = (
    measures(MEASURES),
    Field("depth", "Depth of the pool", "whole", 10, least=1, most=1000),
    Field("by_group", "Leave out whole groups", "yes", False, hint="As the runs' groups say; a run without one is a group of its own."),
    LEVEL,
    TOPICS,
    WITH_RELEVANT,
)
SUBMISSIONS = (
    Field("measure", "Measure", "measure", "RR@100"),
    Field("limit", "Submissions a month that a group may make", "whole", 2, least=1),
    LEVEL,
)


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
            others=("submissions.tsv",),
        ),
        Kind(
            "stability",
            "Stability of the collection",
            "Does the ranking survive when documents, topics or assessments change? Overlap curves and the least overlap needed.",
            STABILITY,
            _all(*_without_default(STABILITY)),
            least_runs=2,
            pieces=True,
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
