"""Which of the systems of one collection are really better (METHODS 14): the results section of a
system paper."""

from __future__ import annotations

from analysis.studies.bench import Bench
from analysis.studies.study import Figure, Section, SettingKey, Study, StudyPart
from analysis.studies.words import QRELS, READ, READING, RUNS, pictured, prefixed, runs_under, slug
from analysis.systems.kind import Result
from analysis.systems.kinds.bootstrap import KIND as BOOTSTRAP
from assay.analyses.shared.comparison_tables import (
    differences_picture,
    means_table,
    measures_of,
    noise_picture,
    noise_table,
    pairs_table,
    planning_picture,
    planning_table,
)
from assay.analyses.shared.planning_tables import depths_picture, depths_table, labels_table
from assay.comparison.system_comparison import FAMILIES


def compared(bench: Bench) -> Result:
    given = bench.options("measures", "against", "family", "trials", "alpha", *READ)
    groups = {"topic_groups": bench.file("topic_groups")} if bench.has("topic_groups") else {}
    return bench.run("compare_systems", **runs_under(bench), **given, **groups)


def main_table(bench: Bench) -> Section:
    result = compared(bench)
    measures = measures_of(result)
    table = means_table("scores", "Effectiveness of the systems", measures, result["settings"])
    told = ("verdict", "means", "groups", "topics")
    values = {measure: {key: one[key] for key in told} for measure, one in measures.items()}
    words = [one["verdict"] for one in measures.values() if one["verdict"]]
    return Section(tables=[table], words=[*words, *undefined(result)], values=values)


def undefined(result: Result) -> list[str]:
    return [f"{name}: {reason}." for name, reason in result.get("undefined", {}).items()]


def differences(bench: Bench) -> Section:
    result = compared(bench)
    tables, figures = [], []
    for measure, of_measure in measures_of(result).items():
        if not of_measure["pairs"]:
            continue
        tables.append(
            pairs_table(
                f"differences-{slug(measure)}",
                f"Differences by {measure}",
                of_measure,
                result["settings"],
            )
        )
        figures.append(
            Figure(
                f"differences-{slug(measure)}",
                f"Mean differences by {measure}",
                differences_picture(measure, of_measure),
            )
        )
    return Section(
        tables,
        figures,
        undefined(result),
        {m: {"pairs": f["pairs"]} for m, f in measures_of(result).items()},
    )


def by_group(bench: Bench) -> Section:
    bench.need("topic_groups", why="a file of topics and their groups")
    result = compared(bench)
    by_measure = measures_of(result)
    names = list(next(iter(by_measure.values()))["by_group"])
    tables = [
        means_table(
            f"scores-{slug(name)}",
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
    return Section(tables, words=undefined(result), values=values)


def ranks(bench: Bench) -> Section:
    judged = bench.file("judgements")
    noise = {"judgements": judged, **bench.options("scale", "label_trials")} if judged else {}
    result = bench.run(
        "bootstrap", **runs_under(bench), **bench.options("measures", *READ), **noise
    )
    tables = [table for table in BOOTSTRAP.tables(result) if not table.key.startswith("beats")]
    pictures = BOOTSTRAP.pictures(result)
    conditions = {
        name: one
        for name, one in result.items()
        if isinstance(one, dict) and "expected_rank" in one
    }
    told = ("expected_rank", "rank_interval", "interval", "labels")
    values = {
        name: {key: one[key] for key in told if key in one} for name, one in conditions.items()
    }
    return Section(prefixed(tables, "certainty"), pictured(pictures, "ranks"), values=values)


def planning(bench: Bench) -> Section:
    judged = bench.file("judgements")
    noise = {"judgements": judged, **bench.options("scale", "label_trials")} if judged else {}
    result = bench.run(
        "plan_study",
        **runs_under(bench),
        **bench.options("measures", "power", "alpha", "difference", "depths", *READ),
        **noise,
    )
    table = planning_table("planning", result)
    further = (
        noise_table("noise", result),
        labels_table("judgements-a-pair", result),
        depths_table("depths", result),
    )
    drawn = {
        "planning": planning_picture(result),
        "noise": noise_picture(result),
        "depths": depths_picture(result),
    }
    figures = [figure for name, pictures in drawn.items() for figure in pictured(pictures, name)]
    said = (
        []
        if judged
        else [
            "What more judgements a pair would buy needs `judgements`, the single ones of which the qrels were made."
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
        "Which systems are really better: means, every pair tested, groups, certainty of the "
        "ranks, and what the next study needs."
    ),
    keys=(
        QRELS,
        RUNS,
        SettingKey(
            "measures",
            "text",
            "Space-separated measures (nDCG@10 AP); of a campaign at most at its judged depth.",
            "nDCG@10 AP",
        ),
        SettingKey(
            "against",
            "text",
            "The tag of a run that all others are compared with; all (default): every pair.",
        ),
        SettingKey(
            "family",
            "text",
            "Correction for multiple comparisons: none, bonferroni, holm (default), max (randomised Tukey HSD).",
            choices=FAMILIES,
        ),
        SettingKey(
            "trials", "whole", "Random changes of signs beyond 20 topics (100000).", least=1
        ),
        SettingKey("alpha", "number", "Level of tests and letters (0.05).", least=0),
        SettingKey(
            "topic_groups",
            "file",
            "Topic and group, tab-separated: everything within each group, too.",
        ),
        SettingKey("power", "number", "Of the planned study (0.8).", least=0),
        SettingKey("difference", "number", "That the planned study is to find (0.05).", least=0),
        SettingKey("depths", "text", "Of pools whose worth is told (1,2,3,5,10,20,50,100)."),
        SettingKey(
            "judgements",
            "file",
            "The single judgements of which the qrels were made: how much of a difference is noise of labels.",
        ),
        SettingKey("scale", "whole", "Number of grades of these judgements (4).", least=2),
        SettingKey("label_trials", "whole", "Labellings drawn from them (200).", least=1),
        *READING,
    ),
    parts=(
        StudyPart("scores", "Effectiveness", main_table),
        StudyPart("differences", "Every pair tested", differences),
        StudyPart("groups", "By topic group", by_group),
        StudyPart("ranks", "Certainty of the ranks", ranks),
        StudyPart("planning", "What the next study needs", planning),
    ),
)
