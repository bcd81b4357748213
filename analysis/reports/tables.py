"""A command's answer as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from analysis.reports.tabular import Cell, Table

Result = dict[str, Any]


def tables_of(kind: str, result: Result) -> list[Table]:
    """The tables of a kind's answer, the most important first."""
    return TABLES[kind](result)


def _conditions(result: Result) -> dict[str, Any]:
    return {name: found for name, found in result.items() if isinstance(found, dict)}


def scores_table(means: dict[str, dict[str, dict[str, float | None]]], key: str = "scores") -> Table:
    names = list(means)
    tags = list(means[names[0]])
    columns = [(name, measure) for name in names for measure in means[name][tags[0]]] if tags else []
    header = ["run", *(f"{measure}" if len(names) == 1 else f"{measure} ({name})" for name, measure in columns)]
    return Table(key, "Scores of runs", header, [[tag, *(means[name][tag][measure] for name, measure in columns)] for tag in tags])


def evaluate(result: Result) -> list[Table]:
    tables = [scores_table(result["qrels"])]
    counts = []
    for name, found in result["topics"].items():
        for tag, averaged in found["averaged"].items():
            counts.append([name, tag, found["qrels"], found["without_relevant"], averaged, found["missing"][tag], found["ignored"][tag]])
    header = [
        "qrels",
        "run",
        "topics of the qrels",
        "without relevant documents",
        "averaged over",
        "missing from the run",
        "of the run, not in the qrels",
    ]
    tables.append(Table("topics", "What the means are over", header, counts))
    for number, (name, by_run) in enumerate(result.get("per_topic", {}).items(), 1):
        rows: list[list[Cell]] = []
        measures: list[str] = []
        for tag, by_measure in by_run.items():
            measures = list(by_measure)
            rows += [[tag, topic, *(by_measure[m].get(topic) for m in measures)] for topic in by_measure[measures[0]]]
        tables.append(Table(f"per-topic-{number}", f"Each topic under {name}", ["run", "topic", *measures], rows))
    return tables


def compare_rankings(result: Result) -> list[Table]:
    names = list(result["qrels"])
    rows: list[list[Cell]] = []
    swaps: list[list[Cell]] = []
    for measure in result["tau"]:
        for a, b in combinations(names, 2):
            low, high = result["interval"][measure][a][b] or (None, None)
            swapped = result["swaps"][measure][a][b]
            tied = [result["tied"][measure][name] for name in (a, b)]
            taus = [result[key][measure][a][b] for key in ("tau", "tau_a", "tau_ap")]
            rows.append([measure, a, b, taus[0], low, high, *taus[1:], len(swapped), *tied, result["topics"][a][b]])
            swaps += [[measure, a, b, first, second] for first, second in swapped]
    header = [
        "measure",
        "qrels A",
        "qrels B",
        "tau-b",
        "2.5 %",
        "97.5 %",
        "tau-a",
        "tau-ap",
        "swapped pairs",
        "tied under A",
        "tied under B",
        "shared topics",
    ]
    note = (
        "Tau-ap: A is the reference. From 0.9 two qrels are read as equivalent (Voorhees)."
        " The interval is the percentile bootstrap over the topics that both share."
    )
    return [
        Table("correlations", "Correlation of the rankings", header, rows, note),
        scores_table(result["qrels"]),
        Table("swaps", "Swapped pairs of runs", ["measure", "qrels A", "qrels B", "higher under A", "higher under B"], swaps),
    ]


def label_overlap(result: Result) -> list[Table]:
    rows: list[list[Cell]] = []
    counts: list[list[Cell]] = []
    labels: list[str] = []
    for found in result.values():
        labels += [label for label in found["relevant"] if label not in labels]
    for name, found in result.items():
        rows += [[name, kind, *(found[kind].get(label) for label in labels)] for kind in ("relevant", "irrelevant")]
        keys = ("pairs", "agree", "disagree", "both", "judged_only", "clicked_only", "contradicting")
        counts.append([name, *(found[key] for key in keys)])
    words = [label if label == "unlabelled" else f"click label {label}" for label in labels]
    return [
        Table("shares", "Click labels of judged pairs", ["click qrels", "judged", *words], rows, "Shares of all pairs considered."),
        Table(
            "counts",
            "Agreement",
            ["click qrels", "pairs", "agree", "disagree", "in both", "judged only", "clicked only", "contradicting"],
            counts,
        ),
    ]


def _verdict_cells(row: Result) -> list[Cell]:
    verdict = row["verdict"]
    return ["yes" if verdict[key] else "no" for key in ("better", "significantly_better", "do_no_harm")]


COMPARED = ["A", "B", "mean RR A", "mean RR B", "difference", "rank-sum p", "signed-rank p", "t p"]
OUTCOMES = [
    "A",
    "B",
    "neither",
    "A only",
    "B only",
    "both",
    "binomial p",
    "ESL A",
    "ESL B",
    "signed-rank p",
    "t p",
    "RR A",
    "RR B",
    "RR signed-rank p",
    "RR t p",
]
VERDICTS = ["A", "B", "better", "significantly better", "better, doing no harm", "because", "disagreements"]


def _comparisons(rows: Sequence[Result], prefix: str = "", words: str = "") -> list[Table]:
    mrr, outcomes, verdicts = [], [], []
    for row in rows:
        pair: list[Cell] = [row["a"], row["b"]]
        means = row["mrr"]
        mrr.append([*pair, means["a"], means["b"], means["difference"], means["wrs"], means["wsr"], means["t"]])
        shares = [row["outcomes"][name] for name in ("neither", "a_only", "b_only", "both")]
        both = [row[key][part] for key in ("esl", "rr") for part in ("a", "b", "wsr", "t")]
        outcomes.append([*pair, *shares, row["binomial"], *both])
        verdicts.append([*pair, *_verdict_cells(row), "; ".join(row["verdict"]["because"]), "; ".join(row["verdict"]["disagreements"])])
    note = "P-values are raw; a correction acts on the verdicts. Differences are B minus A."
    return [
        Table(
            f"{prefix}outcomes",
            f"Outcomes{words}",
            OUTCOMES,
            outcomes,
            f"Shares of topics; ESL and RR over the topics that both answer. {note}",
        ),
        Table(f"{prefix}means", f"Mean reciprocal rank{words}", COMPARED, mrr, note),
        Table(f"{prefix}verdicts", f"Is B better than A?{words}", VERDICTS, verdicts),
    ]


def compare_runs(result: Result) -> list[Table]:
    return _comparisons([result])


def leaderboard(result: Result) -> list[Table]:
    header = ["run", "date", "group", "score", "baseline", "state of the art", "marked", "description"]
    rows = [
        [
            r["tag"],
            r["date"] or "",
            r["group"],
            r["score"],
            *("yes" if r[key] else "no" for key in ("baseline", "sota", "highlighted")),
            r["description"],
        ]
        for r in result["runs"]
    ]
    tables = [Table("runs", "All runs", header, rows)]
    unique = {(row["a"], row["b"]): row for key in ("vs_previous", "vs_first", "vs_last") for row in result.get(key, [])}
    if unique:
        tables += _comparisons(list(unique.values()), words=" along the chain")
    if "order" in result:
        tables.append(Table("order", "Order by displacement", ["place", "run"], [[i, tag] for i, tag in enumerate(result["order"], 1)]))
    return tables


def bootstrap(result: Result) -> list[Table]:
    tables = []
    for number, (name, found) in enumerate(_conditions(result).items(), 1):
        tags = ranked(found)
        header = ["run", "score", "expected rank", "best", "worst", "2.5 %", "97.5 %", "significantly worse than"]
        rows: list[list[Cell]] = [
            [
                tag,
                found["observed"][tag],
                *(found[key][tag] for key in ("expected_rank", "best_rank", "worst_rank")),
                *found["interval"][tag],
            ]
            + [", ".join(found["significantly_worse"].get(tag, []))]
            for tag in tags
        ]
        over = f"{found['topics']} topics, {found['trials']:,} samples."
        tables.append(Table(f"ranks-{number}", f"Ranks by {name}", header, rows, over))
        places = sorted(found["rank_share"][tags[0]], key=int)
        share_rows: list[list[Cell]] = [[tag, *(found["rank_share"][tag][place] for place in places)] for tag in tags]
        tables.append(Table(f"places-{number}", f"Probability of each rank by {name}", ["run", *places], share_rows, over))
        beats: list[list[Cell]] = [[a, *("" if a == b else found["beats"].get(a, {}).get(b) for b in tags)] for a in tags]
        tables.append(Table(f"beats-{number}", f"How often the row's run beats the column's by {name}", ["run", *tags], beats, over))
    return tables


def ranked(found: Result) -> list[str]:
    return sorted(found["observed"], key=lambda tag: (found["expected_rank"][tag], tag))


TESTS = {"sign": "sign", "wrs": "rank-sum", "wsr": "signed-rank", "t": "t"}


def split_half(result: Result) -> list[Table]:
    tables = []
    for number, (measure, found) in enumerate(_conditions(result).items(), 1):
        rows: list[list[Cell]] = []
        for which in ("mean", "median"):
            rows += [[which, TESTS.get(test, test), *rates.values()] for test, rates in found[which].items()]
        rates_named = list(next(iter(found["mean"].values())))
        tied = "undefined" if found["tied_medians"] is None else f"{100 * found['tied_medians']:.1f} %"
        note = f"{found['splits']} splits of {found['topics']} topics, alpha {found['alpha']:g}; halves with equal medians: {tied}."
        tables.append(Table(f"agreement-{number}", f"Agreement of halves by {measure}", ["compared by", "test", *rates_named], rows, note))
    return tables


def submissions(result: Result) -> list[Table]:
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
            found["submissions"],
            max(found["per_month"].values()),
            ", ".join(found["breaches"]),
            found["best"] or "",
            *(found[key] for key in ("best_public_rank", "its_private_rank", "its_expected_private_rank")),
        ]
        for group, found in _conditions(result).items()
    ]
    return [Table("groups", "Submissions by group", header, rows)]


def stability(result: Result) -> list[Table]:
    names = list(result["probability"])
    rows: list[list[Cell]] = [
        [level, result["shared"][i], *(result[key][name][i] for key in ("probability", "mean_tau") for name in names)]
        for i, level in enumerate(result["levels"])
    ]
    summary: list[list[Cell]] = [
        [
            name,
            *(result["fit"][name][key] for key in ("slope", "intercept")),
            none_below(result["minimum_overlap"][name]),
            sum(result["undefined"][name]),
        ]
        for name in names
    ]
    sizes = f"{result['size']:,} of {result['population']:,} {words(result['element'])}"
    over = f"{sizes} in each sub-collection, {result['pairs']} pairs at each level."
    return [
        Table(
            "summary",
            "Line through P(o) and least overlap",
            ["measure", "slope", "intercept", "least overlap with P = 1", "undefined taus"],
            summary,
            over,
        ),
        Table(
            "levels",
            "Probability of equal rankings by overlap",
            ["overlap", "shared", *(f"P {name}" for name in names), *(f"tau {name}" for name in names)],
            rows,
            f"P: share of pairs whose tau-b is at least {result['threshold']:g}; tau: its mean. {over}",
        ),
    ]


def none_below(overlap: float | None) -> Cell:
    return "none below 1" if overlap is None else overlap


def words(element: str) -> str:
    return "relevant assessments" if element == "positive" else element


def reusability(result: Result) -> list[Table]:
    units, depths = result["leave_out"], result["depth"]
    some = next(iter(units.values()), None) or next(iter(depths.values()))
    names = list(some["tau"])
    left: list[list[Cell]] = []
    runs: list[list[Cell]] = []
    for unit, found in units.items():
        row: list[Cell] = [unit, found["pairs"]]
        for name in names:
            scores = [run["score_change"][name] for run in found["runs"].values()]
            ranks = [abs(run["rank_change"][name]) for run in found["runs"].values() if run["rank_change"][name] is not None]
            known = [score for score in scores if score is not None]
            row += [found["tau"][name], max(known, key=abs) if known else None, max(ranks) if ranks else None]
        left.append(row)
        runs += [
            [unit, tag, *(run[key][name] for name in names for key in ("score_change", "rank_change"))]
            for tag, run in found["runs"].items()
        ]
    heads = [f"{what} {name}" for name in names for what in ("tau", "score change", "rank change")]
    by_depth: list[list[Cell]] = [
        [int(depth), found["pairs"], *(value for name in names for value in (found["tau"][name], found["mean_abs_change"][name]))]
        for depth, found in depths.items()
    ]
    over = f"Pool of depth {result['pool_depth']}, qrels of {result['qrels_pairs']:,} pairs, {result['topics']} topics."
    return [
        Table(
            "left-out", "One left out of the pool", ["left out", "pairs dropped", *heads], left, f"The largest change of any run. {over}"
        ),
        Table(
            "depths",
            "Shallower pools",
            ["depth", "pairs", *(f"{what} {n}" for n in names for what in ("tau", "mean change"))],
            by_depth,
            over,
        ),
        Table(
            "runs",
            "Changes of each run",
            ["left out", "run", *(f"{what} {name}" for name in names for what in ("score", "rank"))],
            runs,
            "New minus old.",
        ),
    ]


TABLES: dict[str, Callable[[Result], list[Table]]] = {
    "evaluate": evaluate,
    "compare_rankings": compare_rankings,
    "label_overlap": label_overlap,
    "compare_runs": compare_runs,
    "leaderboard": leaderboard,
    "bootstrap": bootstrap,
    "split_half": split_half,
    "submissions": submissions,
    "stability": stability,
    "reusability": reusability,
}
