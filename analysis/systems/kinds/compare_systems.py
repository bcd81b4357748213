"""Which systems are really better, on any measure, every pair tested? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, ReportKind, Result, refuse_rank_model
from analysis.systems.options import (
    RANK_MODEL,
    READING,
    Field,
    fields_of,
    given_of,
    sampled_options,
)
from assay.analyses.compare_systems import Options
from assay.analyses.shared.comparison_tables import (
    differences_picture,
    helped_table,
    means_table,
    measures_of,
    pairs_table,
    these_topics_table,
)
from assay.charts.svg import Picture
from assay.tabular import Table

GROUPS = "topic_groups.txt"
FIELDS = (
    *fields_of(Options, "measures"),
    Field(
        "against",
        "Compare",
        "tag",
        "all",
        (("all", "every pair of runs"),),
        hint="Or every run with this one: signs in place of letters.",
    ),
    *fields_of(Options, "family", "trials", "alpha"),
    Field(
        "topic_groups",
        "Groups of topics",
        "rows",
        "",
        hint="A file of topic and group, tab-separated: the same within each group, too.",
    ),
    *READING,
    RANK_MODEL,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if GROUPS in files.others:
        given["topic_groups"] = files.others[GROUPS]
    chosen = [one for one in FIELDS if not one.uploaded]
    if files.qrels[0][1].endswith(PREL):
        return {
            **given,
            "sampled": True,
            **given_of(chosen, sampled_options(options, FIELDS[0])),
        }
    refuse_rank_model(options)
    return {**given, **given_of(chosen, options)}


def tables(result: Result) -> list[Table]:
    answers, settings = measures_of(result), result["settings"]
    means = means_table("scores", "Effectiveness of the systems", answers, settings)
    verdicts = [
        one["verdict"] for one in answers.values() if one.get("verdict")
    ]  # reports of earlier versions have none
    made = [replace(means, note=" ".join([*verdicts, means.note]))]
    for number, (measure, one) in enumerate(answers.items(), 1):
        made.append(pairs_table(f"pairs-{number}", f"Every pair by {measure}", one, settings))
    for number, name in enumerate(next(iter(answers.values())).get("by_group", {}), 1):
        within = {measure: one["by_group"][name] for measure, one in answers.items()}
        made.append(
            means_table(
                f"scores-group-{number}",
                f"Effectiveness on the topics of group {name}",
                within,
                settings,
            )
        )
    if "pool" in result:
        pool = result["pool"]
        by_pair = (
            make(measure, answer)
            for measure, answer in answers.items()
            for make in (these_topics_table, helped_table)
        )
        made += [one for one in by_pair if one is not None]
        made.append(
            Table(
                "sample",
                "The sample",
                ["pairs", "judged", "strata"],
                [[pool["pairs"], pool["judged"], pool["strata"]]],
            )
        )
    return made


def pictures(result: Result) -> list[Picture]:
    return [
        differences_picture(measure, one)
        for measure, one in measures_of(result).items()
        if one["pairs"]
    ]


KIND = ReportKind(
    name="compare_systems",
    place=45,
    title="Systems compared by any measure",
    sentence=(
        "Which systems are really better? Every pair tested, with intervals, effects, corrected "
        "p-values and letters."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    estimates=True,
)
