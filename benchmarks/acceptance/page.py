"""Write docs/evidence/sampling.md from the stored results: required and found values."""

from __future__ import annotations

import json
import math
from pathlib import Path

from assay.cli.command_list import command_name

PAGE_TEXT = """# Sampling, prioritised pools and LLM judges

This page compares the methods of [sampled and prioritised pools](../reference/methods/sampling.md) with targets that were set before they were
implemented. Targets for three collections that could not be obtained are left out. All results come from replays of public test collections, where
every judgement is known. `make acceptance` writes the page. Nothing was tuned, and missed targets are shown as missed.

| target | required | found | reached |
|---|---|---|---|
{rows}

Tests check three more properties: the order of files and rows has no effect (`tests/assay/pools/test_batches.py`), estimates equal those of
sample_eval and trec_eval (`tests/assay/sampling/test_estimates.py`), and each estimate can be recomputed from the five exported columns to 1e-12
(`tests/analysis/publishing/test_sampled_campaigns.py`).

## Recall of prioritised pools

The table gives the share of relevant documents among the first 20% and 30% of the pool, in planned batches of 250, without and with a tenth of each
batch drawn as audit sample, and for the order by rank (level by level).

{relevant_first}

## Confidence intervals from sampled pools

Each simulation draws topics with replacement and a new sample. *coverage* is the share of the 95% confidence intervals of up to 300 pairs of systems
that contain the difference of all topics judged completely. *Naive* counts unsampled documents as not relevant.

{coverage}

## Stopping rule for sampled pools

{sampled_stop}

*wrong sign* counts significant differences with the wrong sign among all comparisons. *coverage* refers to the differences of the best system from
the next four, chosen from the same data; the next column is the same with everything judged. *significant differences seen*: of the differences that
complete judging shows as significant, those that were significant at the stop. *narrowed by more*: of the differences given up because judging the
rest would narrow their interval by at most a fifth, those narrowed by more; the rule claims at most 5%. The upper bound costs judgements: with the
estimate instead, .51, .60 and .40 of dl21, clef15 and robust03 were judged at the stop, but 33%, 9% and 14% of these intervals were narrowed by more
(100 replays each).

More is judged than the required .55. One reason is the bound, another the number of checks: a check at each twentieth of the pool, twice as often as
campaigns allow, stops sooner. If less than 15% of a stratum would be left, it is finished, so a check at .6 has judged .63.

## Stopping rule for pools judged in order

Each simulation uses a random 80% of the topics and up to 16 runs, with a check at each twelfth of the pool. A decision is wrong if a system is called
*before* another that is better by more than .01, or *equal* to one that is more than .02 apart.

{ordered_stop}

## Human judgements corrected by an LLM judge

{corrections_text}

{corrections}

## The LLM judges of LLMJudge by sample-size gain

25 topics and 4,423 pairs have labels by people and by each of 33 LLM judges. *gain* is 1 / (1 - ρ²): with an LLM label for every pair, human
judgements count as this many times their number, on relevant or not (from grade 2) with a 95% confidence interval over topics, and on the grades. The
gain is for correcting human estimates, not for ranking systems by LLM labels: errors belong to topics (last column: standard deviation over topics of
the share called relevant minus that of people).

{judges}

## New runs: error of the imputed score

Each group is left out of the pool in turn. The table gives the mean absolute error of nDCG@10 over its runs, with unjudged documents as 0 and with
the imputed score. Assay shows the imputed score only up to three unjudged documents per topic.

{late_runs}
"""


def format_share(value: float | None) -> str:
    return (
        "–"
        if value is None or math.isnan(value)
        else f"{value:.3f}".removeprefix("0")
        if 0 <= value < 1
        else f"{value:.3f}"
    )


def format_table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]
    )


def commands_text(rows: list[dict]) -> str:
    lines = dict.fromkeys(tuple(row["line"].split(" ", 1)) for row in rows)
    return "\n".join(f"    assay {command_name(module)} {rest}" for module, rest in lines)


def relevant_first(rows: list[dict]) -> str:
    cells = [
        [
            row["set"],
            str(row["pairs"]),
            row["audit"],
            *(format_share(row["recall"][b]) for b in ("0.2", "0.3")),
            *(format_share(row["level"][b]) for b in ("0.2", "0.3")),
        ]
        for row in rows
    ]
    return (
        format_table(["set", "pairs", "audit", "20%", "30%", "by rank, 20%", "30%"], cells)
        + "\n\n"
        + commands_text(rows)
    )


def coverage(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        for budget, at_budget in row["budgets"].items():
            for name, one in at_budget["measures"].items():
                figures = [
                    f"{one['bias']:+.3f}",
                    *(format_share(one[key]) for key in ("coverage", "half_width", "tau")),
                ]
                cells.append(
                    [row["set"], str(row["simulations"]), f"{float(budget):.0%}", name, *figures]
                )
    return (
        format_table(
            ["set", "simulations", "judged", "measure", "bias", "coverage", "half-width", "tau"],
            cells,
        )
        + "\n\n"
        + commands_text(rows)
    )


def sampled_stop(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        stop = row["stopping"]
        wrong = f"{stop['wrong_sign']} of {stop['comparisons']}"
        figures = [
            format_share(stop[key])
            for key in ("share_judged", "coverage", "coverage_full", "best_right")
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
    return format_table(header, cells) + "\n\n" + commands_text(rows)


def ordered_stop(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        stop = row["stopping"]
        figures = [
            format_share(stop["share_judged"]),
            format_share(stop["best_right"]),
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
        format_table(
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
        + commands_text(rows)
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
                    format_share(row["coverage"][name]),
                    format_share(row["half_width"][name]),
                    gain,
                    format_share(row["shown"][name]),
                ]
            )
    return format_table(
        ["judged", "estimate", "coverage", "half-width", "variance gain", "intervals shown"], cells
    )


def judges(rows: list[dict]) -> str:
    cells = []
    for place, row in enumerate(rows, start=1):
        figures = [
            *(
                format_share(row[key])
                for key in ("sensitivity", "specificity", "share", "topic_bias")
            )
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
        "gain",
        "interval",
        "gain, grades",
        "sensitivity",
        "specificity",
        "calls relevant",
        "bias by topic",
    ]
    return format_table(header, cells) + "\n\n" + commands_text(rows)


def late_runs(rows: list[dict]) -> str:
    cells = []
    for row in rows:
        figures = [
            *(format_share(row[key]) for key in ("zero", "filled", "ratio")),
            f"{format_share(row['ratio_few'])} ({row['runs_few']})",
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
    return format_table(
        [
            "set",
            "groups",
            "runs",
            "error, unjudged as 0",
            "error, imputed",
            "ratio",
            "ratio up to 3 unjudged (runs)",
            "topics outside the bounds",
        ],
        cells,
    )


def verdict_rows(kept: dict[str, list[dict]]) -> list[list[str]]:
    """Return one row per target."""
    by = {name: {row["set"]: row for row in rows if "set" in row} for name, rows in kept.items()}
    rows = [*coverage_rows(kept, by["coverage"])]
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
        words = f"{format_share(stop['share_judged'])}; {off:+.3f}; {format_share(wrong)}; {stop['mean_loss']:.4f}"
        rows.append(
            [
                f"stopping, sampled, {name}",
                "judged ≤ .55; coverage within .03; wrong sign ≤ .01; mean loss ≤ .004",
                words,
                format_reached(good),
            ]
        )
    wrong, pairs = (
        sum(row["stopping"][key] for row in kept["ordered_stop"])
        for key in ("wrong_by_more_than_.01", "pairs")
    )
    asked = "pairs of the best five wrong by more than .01: ≤ 1%"
    rows.append(
        [
            "stopping, in order",
            asked,
            f"{wrong} of {pairs}",
            format_reached(wrong <= 0.01 * pairs),
        ]
    )
    rows += correction_rows(kept["corrections"])
    for name, most in (("dl21", 0.5), ("robust03", 0.7)):
        row = by["late_runs"][name]
        words = f"{format_share(row['ratio'])}; {row['outside']} of {row['topics']} topics outside"
        asked = f"error of the imputed score ≤ {format_share(most)} of that with 0; bounds contain the truth"
        rows.append(
            [
                f"new runs, {name}",
                asked,
                words,
                format_reached(row["ratio"] <= most and not row["outside"]),
            ]
        )
    return rows


def coverage_rows(kept: dict[str, list[dict]], by_set: dict[str, dict]) -> list[list[str]]:
    recall = ", ".join(
        f"{row['set']} {format_share(row['recall']['0.3'])}"
        for row in kept["relevant_first"]
        if row["audit"] == "0"
    )
    covered = {
        b: one["measures"]["HT-nDCG@10"]["coverage"] for b, one in by_set["dl21"]["budgets"].items()
    }
    deep = by_set["robust03"]["budgets"]["0.2"]["measures"]["xinfAP"]
    words = (
        ", ".join(f"{float(b):.0%} {format_share(v)}" for b, v in covered.items())
        + f" in {by_set['dl21']['simulations']} simulations"
    )
    good = deep["coverage"] >= 0.93 and abs(deep["bias"]) < 0.01
    xinfap = f"{format_share(deep['coverage'])}, {deep['bias']:+.3f} in {by_set['robust03']['simulations']} simulations"
    return [
        ["recall at 30%", "no target for these collections", recall, "–"],
        [
            "intervals, HT-nDCG@10 on dl21",
            "coverage ≥ .93 in 1,000 simulations",
            words,
            format_reached(min(covered.values()) >= 0.93),
        ],
        [
            "intervals, xinfAP on robust03 at 20%",
            "coverage ≥ .93, bias under .01",
            xinfap,
            format_reached(good),
        ],
    ]


def correction_rows(rows: list[dict]) -> list[list[str]]:
    least, gains = min(row["coverage"]["corrected"] for row in rows), [row["gain"] for row in rows]
    words = f"least {format_share(least)}; {', '.join(f'{gain:.2f}' for gain in gains)}"
    first = [
        "correction by an LLM judge",
        "coverage ≥ .93 at 5, 10, 20%; variance gain ≥ 1.5",
        words,
        format_reached(least >= 0.93 and min(gains) >= 1.5),
    ]
    least, widest = (
        min(row["coverage"]["shuffled"] for row in rows),
        max(row["width_shuffled"] for row in rows),
    )
    words = f"least {format_share(least)}; widest {widest:.3f}"
    second = [
        "correction by shuffled labels",
        "coverage ≥ .93, width ≤ 1.05 of people alone",
        words,
        format_reached(least >= 0.93 and widest <= 1.05),
    ]
    return [first, second]


def format_reached(reached: bool) -> str:
    return "yes" if reached else "**no**"


SETTING = """TREC DL 2023 has grades by people and by GPT-4 for the same 22,327 pairs. The targets are 60 differences of P@10 between constructed systems (the
pairs reranked, ten noisy versions by human grades and ten by GPT-4's). Strata are four bands of votes, or votes × GPT-4's grade for *corrected*. The
variance gain compares stratified PPI++ with human judgements sampled by votes. It holds for this construction, in which half of the systems follow
GPT-4; elsewhere, measure it on a pilot. There are {n} simulations (1,000 were required)."""


def write_page(folder: Path) -> None:
    parts = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }
    kept = {name: part["rows"] for name, part in parts.items()}
    makers = (relevant_first, coverage, sampled_stop, ordered_stop, corrections, judges, late_runs)
    if missing := [make.__name__ for make in makers if make.__name__ not in kept]:
        print(f"not written: no figures of {', '.join(missing)} yet")
        return
    made = {make.__name__: make(kept[make.__name__]) for make in makers}
    rows = "\n".join("| " + " | ".join(row) + " |" for row in verdict_rows(kept))
    text = PAGE_TEXT.format(
        rows=rows,
        corrections_text=SETTING.format(n=parts["corrections"]["simulations"]),
        **made,
    )
    (folder.parent / "sampling.md").write_text(text, encoding="utf-8")
