"""Tables of comparisons of two runs (Lin et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison.significance import CORRECTION_NAMES, mark_uncorrected
from assay.comparison.verdict_sentences import DISPLACEMENT_NOTE, UNPAIRED_NOTE, format_verdict
from assay.results import Values
from assay.significant_digits import PValue
from assay.tabular import Cell, Table


def _verdict_cells(row: Values) -> list[Cell]:
    verdict = row["verdict"]
    return [
        format_verdict(of[key])
        for of in (verdict, verdict["by_rr"])
        for key in ("better", "significantly_better", "do_no_harm")
    ]


def p_value_or_none(value: float | None) -> PValue | None:
    return None if value is None else PValue(value)


COMPARED_COLUMNS = [
    "A",
    "B",
    "mean RR A",
    "mean RR B",
    "difference",
    "rank-sum p (unpaired)",
    "signed-rank p",
    "t p",
]
OUTCOME_COLUMNS = [
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
CORRECTED_COLUMNS = ["binomial p, corrected", "ESL signed-rank p, corrected", "ESL t p, corrected"]
BETTER_COLUMNS = ["better", "significantly better", "better, doing no harm"]
VERDICT_COLUMNS = [
    *BETTER_COLUMNS,
    *(f"{name} by RR" for name in BETTER_COLUMNS),
    "because",
    "disagreements",
]


def comparison_tables(rows: Sequence[Values], words: str = "", rates: str = "") -> list[Table]:
    """Return the tables of outcomes, mean reciprocal ranks and verdicts. rows: results of `compare
    runs`. rates: note on the error rates of verdicts."""
    mrr, outcomes, verdicts = [], [], []
    correction = rows[0].get("correction", "none")
    is_corrected = correction != "none"
    has_groups = any(row.get("a_group") or row.get("b_group") for row in rows)
    header = [
        "A",
        "B",
        *(["group of A", "group of B"] if has_groups else []),
        *(CORRECTED_COLUMNS if is_corrected else []),
        *VERDICT_COLUMNS,
    ]
    for row in rows:
        pair: list[Cell] = [row["a"], row["b"]]
        means = row["mrr"]
        tests = [p_value_or_none(means[test]) for test in ("wrs", "wsr", "t")]
        mrr.append([*pair, means["a"], means["b"], means["difference"], *tests])
        shares = [row["outcomes"][name] for name in ("neither", "a_only", "b_only", "both")]
        both = [
            part
            for key in ("esl", "rr")
            for part in (
                row[key]["a"],
                row[key]["b"],
                p_value_or_none(row[key]["wsr"]),
                p_value_or_none(row[key]["t"]),
            )
        ]
        outcomes.append([*pair, *shares, p_value_or_none(row["binomial"]), *both])
        after = (
            [p_value_or_none(row["corrected"][key]) for key in ("binomial", "esl_wsr", "esl_t")]
            if is_corrected
            else []
        )
        named = [
            f"{row[f'{side}_label']} {row[side]}" if f"{side}_label" in row else row[side]
            for side in "ab"
        ]
        groups = [row["a_group"], row["b_group"]] if has_groups else []
        reasons = ["; ".join(row["verdict"][key]) for key in ("because", "disagreements")]
        verdicts.append([*named, *groups, *after, *_verdict_cells(row), *reasons])
    note = "P-values are raw. Differences are B minus A."
    return [
        Table(
            "outcomes",
            mark_uncorrected(f"Outcomes{words}", "none"),
            OUTCOME_COLUMNS,
            outcomes,
            f"Shares of topics. Means of ESL and RR over the topics that both answer. {note}",
        ),
        Table(
            "means",
            mark_uncorrected(f"Mean reciprocal rank{words}", "none"),
            COMPARED_COLUMNS,
            mrr,
            f"{note} {UNPAIRED_NOTE}",
        ),
        Table(
            "verdicts",
            mark_uncorrected(f"Is B better than A?{words}", correction),
            header,
            verdicts,
            rates,
        ),
    ]


def displacement_table(result: Values) -> Table:
    """Return the table of the linear order of a leaderboard's runs, with an explanation."""
    score = {run["tag"]: run["score"] for run in result["runs"]}
    rows: list[list[Cell]] = [
        [place, tag, score[tag]] for place, tag in enumerate(result["order"], 1)
    ]
    without = [f"No order among {', '.join(cycle)}." for cycle in result["cycles"]]
    tested = f"Tests of all pairs of runs: {CORRECTION_NAMES[result['correction']]}."
    note = " ".join([DISPLACEMENT_NOTE, tested, *without])
    return Table(
        "order",
        mark_uncorrected("Order by displacement", result["correction"]),
        ["place", "run", "score"],
        rows,
        note,
    )
