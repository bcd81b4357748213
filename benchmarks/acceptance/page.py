"""docs/evidence/sampling.md from the figures that are kept: what was asked for beside what was found."""

from __future__ import annotations

import json
import math
from pathlib import Path

TEXT = """# What sampling, ordering and machines bring

The figures that these methods were asked to reach, beside those found here; written by `make acceptance`, never tuned: what is missed is shown as
missed. How everything is computed stands in
[methods/sampling.md](../reference/methods/sampling.md).
Figures were asked for on sets X, Y and Z, too; those are not among our data, so their rows are for others
to fill.

| | asked for | found | reached |
|---|---|---|---|
{rows}

A2, B1 and B4 are held by tests: `tests/assay/pools/test_batches.py` (the order of files and rows), `tests/assay/sampling/test_estimates.py` (frozen
outputs of sample_eval and trec_eval), `tests/analysis/publishing/test_sampled_campaigns.py`
(every estimate recomputed in plain Python from the five columns that a campaign exports, to 1e-12).

## A1: relevant first, recall

Share of the relevant among the first 20 and 30 % of the pool, in planned batches of 250, without and with a tenth of each batch drawn for audit;
level by level beside it.

{relevant_first}

## B2, B3: intervals of differences for new topics

Topics drawn with repetition and a fresh sample for each simulation; share of the 95 % intervals of up to 300 pairs of systems that hold the
difference of all topics wholly judged. Naive: what was not drawn counts as not relevant.

{coverage}

## C1: when the variance rule stops

{sampled_stop}

Significant with the wrong sign is out of all comparisons. Coverage is that of the best system's differences to the next four, chosen from the same
data; beside it the same with everything judged. *Significant differences seen*: of those that full judging of the same topics shows as significant, how
many were significant at the stop. *Narrowed by more*: of the differences that were let go because judging the rest narrows their interval by at most a
fifth, how many it narrowed by more; at most 5% is claimed. The bound costs judgements. With the estimate in its place .51, .60 and .40 of dl21, clef15
and robust03 were judged at the stop, but of the intervals that were let go for this alone 33%, 9% and 14% were narrowed by more (100 replays each).

More is judged than was asked for (.55). Part of that is the bound, part is how often one looks: a look at each twentieth of the pool, twice as often as
campaigns may, stops sooner, and where less than 15 % of a stratum would be left it is finished, so that a look at .6 has judged .63.

## C2: when the rule of decisions stops

Random 80 % of the topics and up to 16 runs in each simulation; looks at each twelfth of the pool. Wrong: called *before* though the other is better
by more than .01, or *equal* though more than .02 apart.

{ordered_stop}

## D1, D2: people corrected by a machine

{corrections_text}

{corrections}

## The judges of LLMJudge, by usefulness

25 topics, 4,423 pairs that people and each of 33 machine judges have labelled. *Worth*: with its labels on every pair, how many times their number people's
judgements are worth, 1 / (1 - ρ²), on relevant or not (from grade 2) with a 95 % interval over topics, and on the grades. This is for correcting people, not
for verdicts: the error is a property of the topic (last column: standard deviation over topics of its share of relevant less people's).

{judges}

## E1: late runs

Each group left out of the pool in turn; mean absolute error of nDCG@10 over its runs, with the holes as 0 and at what unique finds were worth. The
fill is shown to people only up to three holes a topic.

{late_runs}
"""


def share(value: float | None) -> str:
    return (
        "–"
        if value is None or math.isnan(value)
        else f"{value:.3f}".removeprefix("0")
        if 0 <= value < 1
        else f"{value:.3f}"
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]
    )


def commands(rows: list[dict]) -> str:
    return "\n".join(f"    manage.py {line}" for line in dict.fromkeys(row["line"] for row in rows))


def relevant_first(rows: list[dict]) -> str:
    cells = [
        [
            row["set"],
            str(row["pairs"]),
            row["audit"],
            *(share(row["recall"][b]) for b in ("0.2", "0.3")),
            *(share(row["level"][b]) for b in ("0.2", "0.3")),
        ]
        for row in rows
    ]
    return (
        table(["set", "pairs", "audit", "20 %", "30 %", "level by level, 20 %", "30 %"], cells)
        + "\n\n"
        + commands(rows)
    )


def coverage(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        for budget, at_budget in row["budgets"].items():
            for name, one in at_budget["measures"].items():
                figures = [
                    f"{one['bias']:+.3f}",
                    *(share(one[key]) for key in ("coverage", "half_width", "tau")),
                ]
                cells.append(
                    [row["set"], str(row["simulations"]), f"{float(budget):.0%}", name, *figures]
                )
    return (
        table(
            ["set", "simulations", "judged", "measure", "bias", "coverage", "half-width", "tau"],
            cells,
        )
        + "\n\n"
        + commands(rows)
    )


def sampled_stop(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        stop = row["stopping"]
        wrong = f"{stop['wrong_sign']} of {stop['comparisons']}"
        figures = [
            share(stop[key]) for key in ("share_judged", "coverage", "coverage_full", "best_right")
        ]
        seen, narrowed = (
            f"{stop['seen']} of {stop['significant_full']}",
            f"{stop['narrowed_by_more']} of {stop['let_go_for_narrowing']}",
        )
        cells.append(
            [
                row["set"],
                str(row["simulations"]),
                *figures,
                f"{stop['mean_loss']:.4f}, {stop['greatest_loss']:.4f}",
                wrong,
                seen,
                narrowed,
            ]
        )
    header = [
        "set",
        "simulations",
        "judged at stop",
        "coverage",
        "coverage, all judged",
        "best right",
        "loss: mean, greatest",
        "wrong sign",
    ]
    header += ["significant differences seen", "narrowed by more"]
    return table(header, cells) + "\n\n" + commands(rows)


def ordered_stop(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        stop = row["stopping"]
        figures = [
            share(stop["share_judged"]),
            share(stop["best_right"]),
            f"{stop['mean_loss']:.4f}",
        ]
        cells.append(
            [
                row["set"],
                row["order"],
                str(row["simulations"]),
                *figures,
                f"{stop['wrong_by_more_than_.01']} of {stop['pairs']}",
            ]
        )
    return (
        table(
            [
                "set",
                "order",
                "simulations",
                "judged at stop",
                "best right",
                "mean loss",
                "pairs wrong",
            ],
            cells,
        )
        + "\n\n"
        + commands(rows)
    )


def corrections(rows: list[dict]) -> str:
    names = {
        "people": "people, strata by votes",
        "corrected": "corrected",
        "shuffled": "corrected by shuffled labels",
    }
    cells = []
    for row in rows:
        for name, text in names.items():
            gain = f"{row['gain']:.2f}" if name == "corrected" else ""
            cells.append(
                [
                    f"{row['share']:.0%}",
                    text,
                    share(row["coverage"][name]),
                    share(row["half_width"][name]),
                    gain,
                    share(row["shown"][name]),
                ]
            )
    return table(
        ["judged", "estimate", "coverage", "half-width", "variance gain", "intervals shown"], cells
    )


def judges(rows: list[dict]) -> str:
    cells = []
    for place, row in enumerate(rows, start=1):
        figures = [
            *(share(row[key]) for key in ("sensitivity", "specificity", "share", "topic_bias"))
        ]
        interval = "–" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        cells.append(
            [
                str(place),
                row["judge"],
                f"{row['gain']:.2f}",
                interval,
                f"{row['gain_graded']:.2f}",
                *figures,
            ]
        )
    header = [
        "",
        "judge",
        "worth",
        "interval",
        "worth, grades",
        "sensitivity",
        "specificity",
        "calls relevant",
        "bias by topic",
    ]
    return table(header, cells) + "\n\n" + commands(rows)


def late_runs(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        figures = [
            *(share(row[key]) for key in ("zero", "filled", "ratio")),
            f"{share(row['ratio_few'])} ({row['runs_few']})",
        ]
        cells.append(
            [
                row["set"],
                str(row["groups"]),
                str(row["runs"]),
                *figures,
                f"{row['outside']} of {row['topics']}",
            ]
        )
    return table(
        [
            "set",
            "groups",
            "runs",
            "error, holes 0",
            "error, filled",
            "ratio",
            "ratio up to 3 holes (runs)",
            "topics outside the bounds",
        ],
        cells,
    )


def verdicts(kept: dict[str, list[dict]]) -> list[list[str]]:
    """A row for each figure of SAMPLING 8 that can be measured here."""
    by = {name: {row["set"]: row for row in rows if "set" in row} for name, rows in kept.items()}
    rows = [*of_coverage(kept, by["coverage"])]
    for name in ("dl21", "clef15"):
        stop = by["sampled_stop"][name]["stopping"]
        wrong, off = (
            stop["wrong_sign"] / stop["comparisons"],
            stop["coverage"] - stop["coverage_full"],
        )
        good = (
            stop["share_judged"] <= 0.55
            and off >= -0.03
            and wrong <= 0.01
            and stop["mean_loss"] <= 0.004
        )
        words = (
            f"{share(stop['share_judged'])}; {off:+.3f}; {share(wrong)}; {stop['mean_loss']:.4f}"
        )
        rows.append(
            [
                f"C1 {name}",
                "judged ≤ .55; coverage within .03; wrong sign ≤ .01; mean loss ≤ .004",
                words,
                yes(good),
            ]
        )
    wrong, pairs = (
        sum(row["stopping"][key] for row in kept["ordered_stop"])
        for key in ("wrong_by_more_than_.01", "pairs")
    )
    asked = "pairs of the best five wrong by more than .01: ≤ 1 % on X and Y; judged ≤ .45 on X"
    rows.append(
        [
            "C2",
            asked,
            f"{wrong} of {pairs} on our sets",
            f"{yes(wrong <= 0.01 * pairs)}; X, Y not here",
        ]
    )
    rows += of_corrections(kept["corrections"])
    for name, most in (("dl21", 0.5), ("robust03", 0.7)):
        row = by["late_runs"][name]
        words = f"{share(row['ratio'])}; {row['outside']} of {row['topics']} topics outside"
        asked = f"filled: error ≤ {share(most)} of zero's; bounds hold the truth"
        rows.append([f"E1 {name}", asked, words, yes(row["ratio"] <= most and not row["outside"])])
    return rows


def of_coverage(kept: dict[str, list[dict]], by_set: dict[str, dict]) -> list[list[str]]:
    recall = ", ".join(
        f"{row['set']} {share(row['recall']['0.3'])}"
        for row in kept["relevant_first"]
        if row["audit"] == "0"
    )
    covered = {
        b: one["measures"]["HT-nDCG@10"]["coverage"] for b, one in by_set["dl21"]["budgets"].items()
    }
    deep = by_set["robust03"]["budgets"]["0.2"]["measures"]["xinfAP"]
    words = (
        ", ".join(f"{float(b):.0%} {share(v)}" for b, v in covered.items())
        + f" in {by_set['dl21']['simulations']} simulations"
    )
    good = deep["coverage"] >= 0.93 and abs(deep["bias"]) < 0.01
    xinfap = f"{share(deep['coverage'])}, {deep['bias']:+.3f} in {by_set['robust03']['simulations']} simulations"
    return [
        ["A1", "recall at 30 %: .44 X, .48 Y, .58 Z", recall, "X, Y, Z not here"],
        [
            "B2",
            "HT-nDCG@10 on dl21: coverage ≥ .93 in 1,000 simulations",
            words,
            f"{yes(min(covered.values()) >= 0.93)}; X, Y not here",
        ],
        ["B3", "xinfAP on robust03 at 20 %: coverage ≥ .93, bias under .01", xinfap, yes(good)],
    ]


def of_corrections(rows: list[dict]) -> list[list[str]]:
    least, gains = min(row["coverage"]["corrected"] for row in rows), [row["gain"] for row in rows]
    words = f"least {share(least)}; {', '.join(f'{gain:.2f}' for gain in gains)}"
    first = [
        "D1",
        "coverage ≥ .93 at 5, 10, 20 %; variance gain ≥ 1.5",
        words,
        yes(least >= 0.93 and min(gains) >= 1.5),
    ]
    least, widest = (
        min(row["coverage"]["shuffled"] for row in rows),
        max(row["width_shuffled"] for row in rows),
    )
    words = f"least {share(least)}; widest {widest:.3f}"
    second = [
        "D2",
        "shuffled labels: coverage ≥ .93, width ≤ 1.05 of people alone",
        words,
        yes(least >= 0.93 and widest <= 1.05),
    ]
    return [first, second]


def yes(reached: bool) -> str:
    return "yes" if reached else "**no**"


SETTING = """TREC DL 2023, people's grades and GPT-4's of the same 22,327 pairs; 60 differences of P@10 between made systems (the pairs reranked, ten
noisy by people's grades, ten by the machine's). Strata: four bands of votes, or votes × the machine's grade for *corrected*. The variance gain is
that of stratified PPI++ over people sampled by votes; since the systems are made, and half of them follow the machine, it is that of this
construction: a pilot must tell it elsewhere. {n} simulations (1,000 were asked for)."""


def write(folder: Path) -> None:
    parts = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }
    kept = {name: part["rows"] for name, part in parts.items()}
    makers = (relevant_first, coverage, sampled_stop, ordered_stop, corrections, judges, late_runs)
    if missing := [make.__name__ for make in makers if make.__name__ not in kept]:
        print(f"not written: no figures of {', '.join(missing)} yet")
        return
    made = {make.__name__: make(kept[make.__name__]) for make in makers}
    rows = "\n".join("| " + " | ".join(row) + " |" for row in verdicts(kept))
    text = TEXT.format(
        rows=rows, corrections_text=SETTING.format(n=parts["corrections"]["simulations"]), **made
    )
    (folder.parent / "sampling.md").write_text(text, encoding="utf-8")
