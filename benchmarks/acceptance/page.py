"""Writer of docs/evidence/sampling.md: required and measured values, from the stored results."""

from __future__ import annotations

import json
import math
from pathlib import Path

from assay.cli.command_list import command_name

PAGE_TEXT = """# Sampling, prioritised pools and LLM judges

Use this page to decide how far you can trust the methods for [sampled and prioritised pools](../reference/methods/sampling.md). All results are
replays of public test collections, in which every judgement is known. The required values were set before the methods were implemented, and no method
was tuned to reach them. The table of targets includes targets that were missed. It does not include targets for three collections that could not be
obtained.

`make acceptance` computes the results and writes this page. The commands below the tables repeat the replays.

| collection | data | topics | runs |
|---|---|---|---|
| dl21 | TREC 2021 deep learning track, passage ranking; minimum relevant grade 2 | 53 | 63 |
| robust03 | TREC 2003 robust track, pool of depth 100 | 100 | 17 |
| clef15 | CLEF eHealth 2015, runs cut at rank 100, pool of depth 100 | 66 | 68 |
| nfcorpus | NFCorpus (test topics), pool of depth 30; unjudged pairs have the lowest grade | 325 | 10 |

## Targets

| method | required | result | reached |
|---|---|---|---|
{rows}

Tests verify three further properties:

- The order of files and rows does not affect the results (`tests/assay/pools/test_batches.py`).
- The estimates match those of sample_eval and trec_eval (`tests/assay/sampling/test_estimates.py`).
- The five exported columns are sufficient to compute each estimate within 1e-12 (`tests/analysis/publishing/test_sampled_campaigns.py`).

## Recall of prioritised pools

The table shows the recall of relevant documents after 20% and 30% of the pool have been judged. The order is either *most likely relevant first*, in
batches of 250 pairs, or *by rank*. *Audit* is the share of each batch that is drawn at random.

{relevant_first}

## Confidence intervals from sampled pools

Each simulation draws topics with replacement and a new sample of pairs. The estimates `HT-nDCG@10` and `xinfAP` use the sampling probabilities. For
comparison, `nDCG@10` and `AP` treat unsampled documents as non-relevant.

- *judged*: share of the pool that is sampled
- *bias*: mean error of the score
- *coverage*: share of the 95% confidence intervals that contain the true difference, for up to 300 pairs of systems. The true difference is the
  difference over all topics with complete judgements
- *half-width*: mean half-width of these intervals
- *tau*: Kendall's tau between the estimated and the true ranking of systems

{coverage}

## Stopping rule for sampled pools

Each simulation compares the best system with the next four systems after each tenth of the pool, or after each twentieth in the last row.

- *judged at stop*: mean share of the pool that has been judged when the rule allows judging to stop
- *coverage*: coverage of the 95% confidence intervals of the differences at the stop. *coverage, all judged* is the coverage after complete judging.
  Both values are affected by the selection of the best systems from the same data
- *best right*: share of simulations in which the best system at the stop is the best system of the complete pool
- *loss*: difference in nDCG@10 between the best system of the complete pool and the best system at the stop, as mean and maximum
- *wrong sign*: number of comparisons with a significant difference of the wrong sign, out of all comparisons
- *significant differences found*: number of differences that are significant at the stop, out of those that are significant after complete judging
- *narrowed by more*: number of intervals that complete judging would shorten by more than the rule states (19%), out of the intervals that met this
  condition of the rule. The rule allows 5%

{sampled_stop}

On dl21 and clef15, the share judged at the stop exceeds the required .55 for three reasons:

- The rule uses an upper bound. With the estimate instead of its bound, the share judged at the stop was .51 on dl21, .60 on clef15 and .40 on
  robust03. However, complete judging then narrowed 33%, 9% and 14% of the intervals by more than the rule states (100 simulations each).
- The number of checks is limited. With a check after each twentieth of the pool, twice as often as campaigns allow, judging stops earlier.
- If less than 15% of a stratum would remain, the whole stratum is judged. At a check planned at .6, the share judged is therefore .63.

## Stopping rule for pools judged in order

Each simulation uses a random 80% of the topics and up to 16 runs, with a check after each twelfth of the pool. A decision about a pair of systems is
wrong in two cases: it ranks a system *above* another system that is better by more than .01, or it calls two systems *equal* whose scores differ by
more than .02. Scores are nDCG@10.

{ordered_stop}

## Human judgements corrected by an LLM judge

{corrections_text}

{corrections}

## LLM judges by effective sample-size gain

The collection of the LLMJudge challenge has 25 topics and 4,423 pairs, with human labels and labels from 33 LLM judges.

- *gain*: effective sample-size gain 1 / (1 - ρ²) on two grades (relevant from grade 2), with its 95% confidence interval over topics. If every pair
  has an LLM label, n human judgements are worth n times the gain
- *gain, grades*: the gain on all grades
- *sensitivity*, *specificity*: shares of the relevant and of the non-relevant pairs (by human labels) that the judge labels correctly
- *labelled relevant*: share of pairs that the judge labels relevant
- *bias by topic*: standard deviation over topics of the difference between the shares that the judge and humans label relevant

The gain applies to estimates from human judgements that are corrected by LLM labels. It does not show how well LLM labels alone rank systems, because
the errors of LLM labels depend on the topic.

{judges}

## Imputed scores of new runs

The simulation leaves each group of runs out of the pool in turn. The table shows two mean absolute errors of nDCG@10 over the runs of the group: if
unjudged documents count as non-relevant, and with the imputed score. *Ratio* is the second error divided by the first. Assay shows the imputed score
only for runs with at most three unjudged documents per topic, and the column *ratio, up to 3 unjudged* includes only these runs. The last column
counts combinations of run and topic whose true score is outside the score bounds.

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
            f"{row['pairs']:,}",
            row["audit"],
            *(format_share(row["recall"][b]) for b in ("0.2", "0.3")),
            *(format_share(row["level"][b]) for b in ("0.2", "0.3")),
        ]
        for row in rows
    ]
    return (
        format_table(
            [
                "collection",
                "pairs",
                "audit",
                "recall at 20%",
                "at 30%",
                "by rank, at 20%",
                "at 30%",
            ],
            cells,
        )
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
                    [row["set"], f"{row['simulations']:,}", f"{float(budget):.0%}", name, *figures]
                )
    return (
        format_table(
            [
                "collection",
                "simulations",
                "judged",
                "measure",
                "bias",
                "coverage",
                "half-width",
                "tau",
            ],
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
                row["set"].replace("looks at twentieths", "checks at twentieths"),
                f"{row['simulations']:,}",
                *figures,
                f"{stop['mean_loss']:.4f}, {stop['greatest_loss']:.4f}",
                wrong,
                seen,
                narrowed,
            ]
        )
    header = [
        "collection",
        "simulations",
        "judged at stop",
        "coverage",
        "coverage, all judged",
        "best right",
        "loss: mean, maximum",
        "wrong sign",
    ]
    header += ["significant differences found", "narrowed by more"]
    return format_table(header, cells) + "\n\n" + commands_text(rows)


ORDERS = {"level": "by rank", "relevant": "most likely relevant first"}


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
                ORDERS[row["order"]],
                f"{row['simulations']:,}",
                *figures,
                f"{stop['wrong_by_more_than_.01']} of {stop['pairs']}",
            ]
        )
    return (
        format_table(
            [
                "collection",
                "order",
                "simulations",
                "judged at stop",
                "best right",
                "mean loss",
                "wrong decisions",
            ],
            cells,
        )
        + "\n\n"
        + commands_text(rows)
    )


def corrections(rows: list[dict]) -> str:
    names = {
        "people": "human judgements, strata by votes",
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
        "95% CI",
        "gain, grades",
        "sensitivity",
        "specificity",
        "labelled relevant",
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
                f"{row['outside']} of {row['topics']:,}",
            ]
        )
    return format_table(
        [
            "collection",
            "groups",
            "runs",
            "error, unjudged as non-relevant",
            "error, imputed",
            "ratio",
            "ratio, up to 3 unjudged (runs)",
            "outside the bounds",
        ],
        cells,
    )


def verdict_rows(kept: dict[str, list[dict]]) -> list[list[str]]:
    """Return the rows of the table of targets, one per target."""
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
        words = (
            f"share judged {format_share(stop['share_judged'])}; coverage {off:+.3f}; "
            f"wrong sign {format_share(wrong)}; mean loss {stop['mean_loss']:.4f}"
        )
        rows.append(
            [
                f"stopping rule for sampled pools, {name}",
                "share judged ≤ .55; coverage at most .03 below complete judging; wrong sign ≤ .01; mean loss ≤ .004",
                words,
                format_reached(good),
            ]
        )
    wrong, pairs = (
        sum(row["stopping"][key] for row in kept["ordered_stop"])
        for key in ("wrong_by_more_than_.01", "pairs")
    )
    asked = "wrong decisions about the best five systems ≤ 1%"
    rows.append(
        [
            "stopping rule for pools judged in order",
            asked,
            f"{wrong} of {pairs:,}",
            format_reached(wrong <= 0.01 * pairs),
        ]
    )
    rows += correction_rows(kept["corrections"])
    for name, most in (("dl21", 0.5), ("robust03", 0.7)):
        row = by["late_runs"][name]
        words = f"ratio {format_share(row['ratio'])}; {row['outside']} of {row['topics']:,} outside the bounds"
        asked = f"ratio of errors ≤ {format_share(most)}; all true scores within the bounds"
        rows.append(
            [
                f"imputed scores of new runs, {name}",
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
        ", ".join(f"{format_share(v)} at {float(b):.0%} judged" for b, v in covered.items())
        + f" in {by_set['dl21']['simulations']:,} simulations"
    )
    good = deep["coverage"] >= 0.93 and abs(deep["bias"]) < 0.01
    xinfap = f"coverage {format_share(deep['coverage'])}, bias {deep['bias']:+.3f} in {by_set['robust03']['simulations']} simulations"
    return [
        ["recall at 30% of a prioritised pool", "no target for these collections", recall, "–"],
        [
            "confidence intervals of HT-nDCG@10, dl21",
            "coverage ≥ .93 in 1,000 simulations",
            words,
            format_reached(min(covered.values()) >= 0.93),
        ],
        [
            "confidence intervals of xinfAP at 20% judged, robust03",
            "coverage ≥ .93, absolute bias < .01",
            xinfap,
            format_reached(good),
        ],
    ]


def correction_rows(rows: list[dict]) -> list[list[str]]:
    least, gains = min(row["coverage"]["corrected"] for row in rows), [row["gain"] for row in rows]
    words = f"coverage at least {format_share(least)}; gains {', '.join(f'{gain:.2f}' for gain in gains)}"
    first = [
        "correction by an LLM judge",
        "coverage ≥ .93 and variance gain ≥ 1.5 at 5, 10 and 20% judged",
        words,
        format_reached(least >= 0.93 and min(gains) >= 1.5),
    ]
    least, widest = (
        min(row["coverage"]["shuffled"] for row in rows),
        max(row["width_shuffled"] for row in rows),
    )
    words = f"coverage at least {format_share(least)}; ratio of widths at most {widest:.3f}"
    second = [
        "correction by shuffled labels",
        "coverage ≥ .93, intervals at most 1.05 times as wide as from human judgements alone",
        words,
        format_reached(least >= 0.93 and widest <= 1.05),
    ]
    return [first, second]


def format_reached(reached: bool) -> str:
    return "yes" if reached else "**no**"


SETTING = """The TREC 2023 deep learning track has human grades and GPT-4 grades for the same 22,327 pairs. The simulation estimates 60 differences in
P@10 between constructed systems. Each system is a noisy order of the pairs: ten systems follow human grades, and ten follow GPT-4's grades. Strata
are four ranges of votes or, for *corrected*, combinations of these ranges with GPT-4's grades. *Shuffled labels* are GPT-4's labels, assigned to
random pairs.

The variance gain is the variance of estimates from human judgements sampled by votes, divided by the variance of stratified PPI++ (prediction-powered
inference). It holds only for this construction, in which half of the systems follow GPT-4. For other systems, measure the gain in a pilot. There were
{n} simulations (1,000 were required)."""


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
        corrections_text=SETTING.format(n=f"{parts['corrections']['simulations']:,}"),
        **made,
    )
    (folder.parent / "sampling.md").write_text(text, encoding="utf-8")
