"""Tables and charts of LLM judges compared with human judgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.analyses.shared.llm_answers import format_contradictions
from assay.analyses.shared.run_charts import MAX_RUNS
from assay.analyses.shared.score_tables import result_conditions
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.natural_order import natural_sort_key
from assay.results import Values
from assay.tabular import Cell, Table

KAPPAS = {
    "kappa": "kappa",
    "weighted_kappa": "weighted kappa",
    "binary_kappa": "binary kappa",
}
ESTIMATE_TITLES = {
    "people": "humans alone",
    "corrected": "corrected (PPI++)",
    "cross_fitted": "corrected, cross-fitted",
}


def result_tables(result: Values) -> list[Table]:
    made: list[Table] = []
    for number, (name, condition) in enumerate(result_conditions(result).items(), 1):
        made += [agreement_table(number, name, condition)]
        made += [
            one(number, name, condition["agreement"]) for one in (confusion_table, topics_table)
        ]
        if condition.get("related"):
            rows: list[list[Cell]] = [
                [
                    tag,
                    why,
                    *(
                        place
                        for systems in condition["systems"].values()
                        for place in systems["related"][tag]
                    ),
                ]
                for tag, why in condition["related"].items()
            ]
            header = [
                "system",
                "why",
                *(
                    f"rank by {who}, {measure}"
                    for measure in condition["systems"]
                    for who in ("humans", name)
                ),
            ]
            note = f"Circular: {name} must not judge these systems; its labels of them are not evidence."
            made.append(
                Table(f"related-{number}", f"Systems related to {name}", header, rows, note)
            )
        if "refused" in condition:
            made.append(
                Table(
                    f"refused-{number}",
                    f"No correction by {name}",
                    ["what is missing"],
                    [[condition["refused"]]],
                )
            )
        for place, (measure, systems) in enumerate(condition["systems"].items(), 1):
            made += [
                systems_table(f"{number}-{place}", name, measure, systems),
                rankings_table(f"{number}-{place}", name, measure, systems),
            ]
    return made


def agreement_table(number: int, name: str, condition: Mapping[str, Any]) -> Table:
    one = condition["agreement"]
    rows: list[list[Cell]] = [
        [
            "labels by humans and by the LLM judge",
            one["pairs"],
            *(cell for key in KAPPAS for cell in (one[key], *one["intervals"][key])),
        ]
    ]
    if people := one.get("people"):
        for words, key in (
            ("one human judgement and the LLM judge", "one_and_llm"),
            ("two human judgements", "among_themselves"),
        ):
            rows.append(
                [words, people["pairs"], *(cell for kappa in KAPPAS for cell in people[key][kappa])]
            )
    header = [
        "labels of one pair",
        "pairs",
        *(f"{words}{end}" for words in KAPPAS.values() for end in ("", " from", " to")),
    ]
    note = (
        "Each pair is weighted by the inverse of its inclusion probability, so that kappa "
        "holds for the pool. The 95% CI is computed over topics, and left out if its coverage would be too low."
    )
    without = [
        f" No confidence interval of {KAPPAS[key]}: {reason}."
        for key, reason in one.get("undefined", {}).items()
    ]
    return Table(
        f"agreement-{number}", f"Agreement with {name}", header, rows, note + "".join(without)
    )


def confusion_table(number: int, name: str, one: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [[grade, *row] for grade, row in enumerate(one["confusion"])]
    return Table(
        f"confusion-{number}",
        f"Grades by humans and {name}",
        ["humans", *(f"{name}: {g}" for g in range(len(rows)))],
        rows,
    )


def topics_table(number: int, name: str, one: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [topic, agreement["pairs"], agreement["binary_kappa"]]
        for topic, agreement in one["by_topic"].items()
    ]
    return Table(
        f"topics-{number}",
        f"Agreement with {name} by topic",
        ["topic", "pairs", "binary kappa"],
        rows,
    )


def systems_table(key: str, name: str, measure: str, systems: Mapping[str, Any]) -> Table:
    ways = [way for way in ESTIMATE_TITLES if way in systems]
    rows: list[list[Cell]] = [
        [
            tag,
            *(cell for way in ways for cell in systems[way][tag]),
            systems["llm_alone"][tag],
            systems.get("undefined", {}).get(tag, ""),
        ]
        for tag in systems["people"]
    ]
    header = [
        "run",
        *(f"{ESTIMATE_TITLES[way]}{end}" for way in ways for end in ("", " from", " to")),
        f"{name} alone",
        "why no CI",
    ]
    note = (
        "95% CI for these topics. Scores by the LLM judge alone do not support a verdict. "
        "The correction is valid only if its labels were frozen before the sample was drawn, "
        "humans did not see them, and no system compared here was built on it."
    )
    if "contradictions" in systems:
        note = f"{format_contradictions(systems['contradictions'])} {note}"
    if "gain" in systems:
        worth = systems["gain"]
        note += " " + (
            "The effective sample-size gain is undefined."
            if worth is None
            else f"Effective sample-size gain: {worth:.2f}."
        )
    return Table(
        f"systems-{key}", f"{measure} by humans and corrected by {name}", header, rows, note
    )


def rankings_table(key: str, name: str, measure: str, systems: Mapping[str, Any]) -> Table:
    half = systems["halves"]
    rows: list[list[Cell]] = [
        [
            "humans and LLM judge, all topics",
            systems["tau_llm_alone"],
            systems["tau_llm_alone_top5"],
        ],
        [
            "humans on one half of the topics, humans on the other (noise ceiling)",
            half["people"],
            half["best_people"],
        ],
        [
            "LLM judge on one half of the topics, humans on the other",
            half["llm"],
            half["best_llm"],
        ],
    ]
    if "tau_llm_alone_others" in systems:
        rows.append(
            [
                "humans and LLM judge, without related systems",
                systems["tau_llm_alone_others"],
                None,
            ]
        )
    note = (
        "Kendall's tau-b between rankings; halves: mean over random splits. A verdict would "
        "need a high tau among the best five."
    )
    return Table(
        f"rankings-{key}",
        f"Rankings by {measure}",
        ["rankings", "tau, all systems", "tau, best five by humans"],
        rows,
        note,
    )


def sort_system_estimates(
    systems: Mapping[str, Any], name: str
) -> list[tuple[str, float | None, float | None, float | None]]:
    """Return each system's estimates by people alone and corrected, in descending order by people
    alone."""
    ways = [way for way in ("people", "cross_fitted") if way in systems]
    order = sorted(
        systems["people"],
        key=lambda tag: (-(systems["people"][tag][0] or 0.0), natural_sort_key(tag)),
    )
    words = {"people": "humans", "cross_fitted": f"Agreement of rankings with {name}"}
    return [(f"{tag}, {words[way]}", *systems[way][tag]) for tag in order for way in ways]


def result_charts(result: Values) -> list[Picture]:
    made = []
    for name, condition in result_conditions(result).items():
        for measure, systems in condition["systems"].items():
            caption = f"Human and corrected {measure}, {name}"
            rows = [
                DrawnInterval(*row, note="too few judged pairs")
                for row in sort_system_estimates(systems, name)[:MAX_RUNS]
            ]
            made.append(
                interval_chart(
                    rows,
                    caption=caption,
                    x_label=measure,
                    what="run",
                    reason="No run has a defined score.",
                )
            )
    return made
