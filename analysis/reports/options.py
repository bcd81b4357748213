"""The options of each kind of report, as its form shows them and as its command takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.core.subcollections import ELEMENTS

MEASURES = "AP nDCG nDCG@10 RR@10 R@100 Judged@10"


@dataclass(frozen=True)
class Field:
    """An option of the command. A default that is left as it is gives no argument.

    kind: whole, number, text, yes, choice, date, measure, measures, lines (several), tags (of runs, with commas between), pool or
    report (of the collection, by id), list and lists (uploaded files with one id a line; `ask_for_report` keeps them, not the options).
    """

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


def arguments_of(fields: Sequence[Field], options: Mapping[str, Any]) -> list[str]:
    """Options that differ from their defaults, as arguments."""
    found = []
    for one in fields:
        value = options.get(one.name, one.default)
        if value == one.default or value is None or value == "":
            continue
        found.append(one.flag if one.kind == "yes" else f"{one.flag}={_text(value)}")
    return found


def named(fields: Sequence[Field], *names: str) -> list[Field]:
    return [one for one in fields if one.name in names]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


LEVEL = Field("level", "Lowest relevant grade", "whole", 1, least=1, hint="For all measures but nDCG.")
TOPICS = Field(
    "topics",
    "Topics",
    "choice",
    "complete",
    (("complete", "all of the qrels, 0 where a run has none"), ("intersection", "those that the run has too")),
)
WITH_RELEVANT = Field("only_with_relevant", "Leave out topics without relevant documents", "yes", False)
SCORES = Field(
    "scores",
    "Scores of runs are compared",
    "choice",
    "float64",
    (("float64", "in double precision, as trec_eval 10"), ("float32", "in single precision, as trec_eval 9 and pytrec_eval")),
)
READING = (LEVEL, TOPICS, WITH_RELEVANT, SCORES)
"""Of every kind that computes measures of runs."""
ALPHA = Field("alpha", "Significant means p below", "number", 0.05, least=0, most=1)


def measures(default: str) -> Field:
    return Field("measures", "Measures", "measures", default, hint="Names between blanks, such as AP nDCG@10 RR@10 R@100 Bpref Judged@10.")


VERDICT = (
    Field("cutoff", "Answered up to rank", "whole", 100, least=1, hint="A topic is answered by a relevant document up to this rank."),
    ALPHA,
    Field("decide", "Test where both runs answer", "choice", "wsr", (("wsr", "signed-rank test"), ("t", "t-test"))),
)


EVALUATE = (measures(MEASURES), *READING, Field("per_topic", "Also the value of every topic", "yes", False))
COMPARE = (
    measures(MEASURES),
    Field("bootstrap", "Bootstrap samples for the interval", "whole", 1000, least=0, most=100_000),
    *READING,
)
OVERLAP = (
    Field(
        "pool", "Pool", "pool", "", hint="Only pairs at its top count; without one all judged pairs. A campaign's own pool unless chosen."
    ),
    Field("top", "Best rank in the pool up to", "whole", 4, least=1, hint="Empty: all judged pairs, whatever the pool."),
    Field("threshold", "Lowest relevant judged grade", "whole", 1, least=1),
)
RUNS_FIELDS = (*VERDICT, Field("correction", "Correction", "choice", "none", (("none", "none"), ("bonferroni", "Bonferroni"))))
COMPARE_RUNS = (
    *RUNS_FIELDS,
    Field("family", "Comparisons in all", "whole", "", least=1, hint="For Bonferroni: how many comparisons are made in all."),
    *READING,
)
LEADERBOARD = (
    *VERDICT,
    Field("correction", "Correction", "choice", "none", (("none", "none"), ("bonferroni", "Bonferroni"), ("holm", "Holm"))),
    Field("baselines", "Organisers' baselines", "tags", "", hint="The chain begins with the first run that beats them all."),
    Field("until", "Leave out what is later than", "date", ""),
    Field("highlight", "Mark runs whose description holds", "text", ""),
    *READING,
)
BOOTSTRAP = (
    measures("RR@100"),
    Field("trials", "Samples of the topics", "whole", 1000, least=1, most=1_000_000),
    Field("show", "Report these runs only", "tags", "", hint="All runs are ranked, whichever are shown; none chosen: all."),
    Field("topic_lists", "Topic subsets", "lists", "", hint="Files with one topic id a line, such as public.txt and private.txt."),
    Field(
        "conditions",
        "Conditions side by side",
        "lines",
        "",
        hint="One a line: name = measure, qrels, topic subset, lowest relevant grade; the last two may be left out. "
        "Empty: each measure under each qrels, on all topics and on each topic subset.",
    ),
    *READING,
)
SPLIT_HALF = (
    measures("RR@100"),
    Field("splits", "Random splits", "whole", 100, least=1, most=100_000),
    ALPHA,
    *READING,
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
    Field(
        "documents",
        "Documents",
        "choice",
        "",
        (("", "those of runs and qrels"), ("imported", "those imported into the collection"), ("list", "those of the list below")),
        hint="What is drawn from when documents vary.",
    ),
    Field("docids", "List of the collection's documents", "list", "", hint="A file with one document id a line."),
    Field("per_topic_quota", "Draw half of each topic's assessments", "yes", False, hint="Assessments only; else half of all."),
    *READING,
)
REUSABILITY = (
    measures(MEASURES),
    Field("depth", "Depth of the pool", "whole", 10, least=1, most=1000),
    Field("by_group", "Leave out whole groups", "yes", False, hint="As the runs' groups say; a run without one is a group of its own."),
    *READING,
)
SUBMISSIONS = (
    Field("measure", "Measure", "measure", "RR@100"),
    Field("limit", "Submissions a month that a group may make", "whole", 2, least=1),
    Field("ranks", "Expected private ranks", "report", "", hint="From a finished report on the certainty of the ranks."),
    Field("condition", "Its private condition", "text", "", hint="As that report names it; not needed where it has only one."),
    LEVEL,
)
