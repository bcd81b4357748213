"""The study for the results section of a system paper: which systems of one collection differ
significantly (docs/reference/methods/systems.md)."""

from __future__ import annotations

from analysis.studies.study import Figure, Section, Study, StudyPart, setting, settings_from
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import (
    EVALUATION_KEYS,
    EVALUATION_SETTING_KEYS,
    QRELS_KEY,
    RUNS_KEY,
    make_figures,
    prefix_tables,
    qrels_and_runs_arguments,
    slugify_name,
)
from assay.analyses import compare_systems, plan_study
from assay.analyses.shared.comparison_tables import (
    differences_chart,
    means_table,
    noise_chart,
    noise_table,
    pairs_table,
    planning_chart,
    planning_table,
    result_measures,
)
from assay.analyses.shared.planning_tables import depths_chart, depths_table, labels_table
from assay.results import Result


def run_comparison(context: StudyContext) -> Result:
    given = context.options(
        "measures", "against", "correction", "permutations", "alpha", *EVALUATION_KEYS
    )
    groups = {"topic_groups": context.file("topic_groups")} if context.has("topic_groups") else {}
    return context.run("compare_systems", **qrels_and_runs_arguments(context), **given, **groups)


def make_main_table(context: StudyContext) -> Section:
    result = run_comparison(context)
    measures = result_measures(result)
    table = means_table("scores", "Effectiveness of the systems", measures, result["settings"])
    told = ("verdict", "means", "groups", "topics")
    values = {measure: {key: one[key] for key in told} for measure, one in measures.items()}
    words = [one["verdict"] for one in measures.values() if one["verdict"]]
    return Section(tables=[table], words=[*words, *undefined_notes(result)], values=values)


def undefined_notes(result: Result) -> list[str]:
    return [f"{name}: {reason}." for name, reason in result.get("undefined", {}).items()]


def make_differences(context: StudyContext) -> Section:
    result = run_comparison(context)
    tables, figures = [], []
    for measure, of_measure in result_measures(result).items():
        if not of_measure["pairs"]:
            continue
        tables.append(
            pairs_table(
                f"differences-{slugify_name(measure)}",
                f"Differences by {measure}",
                of_measure,
                result["settings"],
            )
        )
        figures.append(
            Figure(
                f"differences-{slugify_name(measure)}",
                f"Mean differences by {measure}",
                differences_chart(measure, context.shorten(of_measure)),
            )
        )
    return Section(
        tables,
        figures,
        undefined_notes(result),
        {m: {"pairs": f["pairs"]} for m, f in result_measures(result).items()},
    )


def make_group_tables(context: StudyContext) -> Section:
    context.need("topic_groups", why="a file of topics and their groups")
    result = run_comparison(context)
    by_measure = result_measures(result)
    names = list(next(iter(by_measure.values()))["by_group"])
    tables = [
        means_table(
            f"scores-{slugify_name(name)}",
            f"Effectiveness on {name} topics",
            {m: one["by_group"][name] for m, one in by_measure.items()},
            result["settings"],
        )
        for name in names
    ]
    values = {
        name: {
            m: {"means": one["by_group"][name]["means"], "topics": one["by_group"][name]["topics"]}
            for m, one in by_measure.items()
        }
        for name in names
    }
    return Section(tables, words=undefined_notes(result), values=values)


def make_ranks(context: StudyContext) -> Section:
    judged = context.file("judgements")
    noise = {"judgements": judged, **context.options("grades", "label_trials")} if judged else {}
    result = context.run(
        "bootstrap",
        **qrels_and_runs_arguments(context),
        **context.options("measures", *EVALUATION_KEYS),
        **noise,
    )
    tables = [table for table in result.tables() if not table.key.startswith("beats")]
    pictures = result.charts()
    conditions = {
        name: one
        for name, one in result.items()
        if isinstance(one, dict) and "expected_rank" in one
    }
    told = ("expected_rank", "rank_interval", "interval", "labels")
    values = {
        name: {key: one[key] for key in told if key in one} for name, one in conditions.items()
    }
    return Section(
        prefix_tables(tables, "certainty"), make_figures(pictures, "ranks"), values=values
    )


def make_planning(context: StudyContext) -> Section:
    judged = context.file("judgements")
    noise = {"judgements": judged, **context.options("grades", "label_trials")} if judged else {}
    result = context.run(
        "plan_study",
        **qrels_and_runs_arguments(context),
        **context.options("measures", "power", "alpha", "difference", "depths", *EVALUATION_KEYS),
        **noise,
    )
    table = planning_table("planning", result)
    further = (
        noise_table("noise", result),
        labels_table("judgements-a-pair", result),
        depths_table("depths", result),
    )
    drawn = {
        "planning": planning_chart(result),
        "noise": noise_chart(result),
        "depths": depths_chart(result),
    }
    figures = [
        figure for name, pictures in drawn.items() for figure in make_figures(pictures, name)
    ]
    said = (
        []
        if judged
        else [
            "The value of additional judgements needs `judgements`, the individual judgements behind the qrels."
        ]
    )
    values = {
        str(row[0]): {"topics_needed": row[4], "smallest_difference": row[6]} for row in table.rows
    }
    return Section([table, *(one for one in further if one is not None)], figures, said, values)


STUDY = Study(
    name="comparison",
    title="Systems compared",
    source="Smucker, Allan and Carterette 2007; Carterette 2012; Sakai 2014, 2018",
    sentence=(
        "Which systems are better: means, tests of every pair, groups, certainty of the "
        "ranks, and the sample size of the next study."
    ),
    keys=(
        QRELS_KEY,
        RUNS_KEY,
        setting(
            "measures",
            "text",
            "Space-separated measures (nDCG@10 AP). For a campaign, cutoffs are at most its judged depth.",
            "nDCG@10 AP",
        ),
        *settings_from(compare_systems.Options, "against", "correction", "permutations", "alpha"),
        setting(
            "topic_groups",
            "file",
            "Topic and group, tab-separated, to compare each group of topics separately too.",
        ),
        *settings_from(
            plan_study.Options, "power", "difference", "depths", "grades", "label_trials"
        ),
        setting(
            "judgements",
            "file",
            "The individual judgements behind the qrels, to measure label noise.",
        ),
        *EVALUATION_SETTING_KEYS,
    ),
    parts=(
        StudyPart("scores", "Effectiveness", make_main_table),
        StudyPart("differences", "Pairwise tests", make_differences),
        StudyPart("groups", "By topic group", make_group_tables),
        StudyPart("ranks", "Certainty of the ranks", make_ranks),
        StudyPart("planning", "Power analysis", make_planning),
    ),
)
