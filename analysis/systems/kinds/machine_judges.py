"""What are a machine's labels worth beside people's? (SAMPLING 5)"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.rows import counted_table
from analysis.models import Report
from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, NotPossible, ReportKind, Result
from analysis.systems.options import LEVEL, SCORES, given_of, measures_field
from analysis.systems.written_files import WrittenFile, chosen_runs, tab_separated
from annotation.models import Campaign
from annotation.selectors import machines
from assay.analyses.shared.machine_answers import contradiction_words
from assay.analyses.shared.pictures import MOST_RUNS
from assay.analyses.shared.score_tables import conditions_of
from assay.charts.points import DrawnInterval, intervals
from assay.charts.svg import Picture
from assay.cli.base import jsonable
from assay.natural import natural
from assay.tabular import Cell, Table
from pooling.models import Run
from pooling.platform.jobs import Refused, Work

LABELS, ABOUT, JUDGEMENTS = "machine-labels.tsv", "machines.json", "judgements.tsv"
KAPPAS = {
    "kappa": "kappa",
    "weighted_kappa": "weighted kappa",
    "binary_kappa": "kappa on two grades",
}
WAYS = {
    "people": "people alone",
    "corrected": "corrected (PPI++)",
    "cross_fitted": "corrected, cross-fitted",
}
FIELDS = (measures_field("P@10 DCG@10"), LEVEL, SCORES)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    if not files.qrels[0][1].endswith(PREL):
        raise NotPossible(
            "people's labels have to be those of this campaign's sampled pool; choose them as qrels"
        )
    return {
        "prel": files.qrels[0][1],
        "runs": files.runs,
        "machines": files.others[LABELS],
        "about": files.others[ABOUT],
        "judgements": files.others[JUDGEMENTS],
        **given_of(FIELDS, options),
    }


def wanted(parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None) -> bool:
    """Refused where nothing could be valid, with what is missing."""
    if campaign is None:
        raise Refused(_("machine judges belong to a campaign; ask on its page Systems"))
    if not machines.frozen_of(campaign):
        raise Refused(
            _(
                "no machine judge of this campaign is frozen; let one label the whole pool on the "
                "page Machines and freeze it"
            )
        )
    if not is_sampled(campaign):
        says = _(
            "people's judgements can be corrected only where they are a sample with known "
            "chances, and this campaign's pool is not sampled; draw "
            "a sampled pool from the same runs after the machine is frozen"
        )
        raise Refused(says)
    return True


def labels_table(report: Report, work: Work) -> str:
    assert report.campaign is not None
    rows = [
        (judge.name, topic, document, grade)
        for judge in machines.frozen_of(report.campaign)
        for (topic, document), grade in sorted(machines.labels_of(judge).items())
    ]
    return tab_separated(["machine", "topic", "document", "grade"], rows)


def about_machines(report: Report, work: Work) -> str:
    """As in a release, with the tags of runs whose group was named as related."""
    campaign = report.campaign
    assert campaign is not None
    sentences = []
    for judge in machines.frozen_of(campaign):
        named = {one.strip().casefold() for one in judge.related.split(",") if one.strip()}
        tags = [
            run.tag
            for run in chosen_runs(report)
            if {run.tag.casefold(), run.group.casefold()} & named
        ]
        sentences.append(machines.described(judge) | {"related": tags})
    return json.dumps(jsonable(sentences), ensure_ascii=False, indent=1) + "\n"


def judgements_table(report: Report, work: Work) -> str:
    assert report.campaign is not None
    table = counted_table(report.campaign)
    rows = [
        (
            table.topics[table.pair_topic[pair]],
            table.documents[table.pair_document[pair]],
            table.annotators[annotator],
            grade,
        )
        for pair, annotator, grade in zip(
            table.pair.tolist(), table.annotator.tolist(), table.grade.tolist(), strict=True
        )
    ]
    return tab_separated(["topic", "document", "annotator", "grade"], rows)


def tables(result: Result) -> list[Table]:
    made: list[Table] = []
    for number, (name, condition) in enumerate(conditions_of(result).items(), 1):
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
                    f"place by {who}, {measure}"
                    for measure in condition["systems"]
                    for who in ("people", name)
                ),
            ]
            note = (
                f"Circular: {name} may not judge these systems; what it says of them says nothing."
            )
            made.append(
                Table(f"related-{number}", f"Systems related to {name}", header, rows, note)
            )
        if "refused" in condition:
            made.append(
                Table(
                    f"refused-{number}",
                    f"People are not corrected by {name}",
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
            "people's labels and the machine's",
            one["pairs"],
            *(cell for key in KAPPAS for cell in (one[key], *one["intervals"][key])),
        ]
    ]
    if people := one.get("people"):
        for words, key in (
            ("one person's judgement and the machine's", "one_and_machine"),
            ("two people's judgements", "among_themselves"),
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
        "Each pair is weighted by one over its chance to be drawn, to speak of the pool. Ranges: "
        "95 % over topics, none where they would not cover."
    )
    without = [
        f" No interval of {KAPPAS[key]}: {reason}."
        for key, reason in one.get("undefined", {}).items()
    ]
    return Table(
        f"agreement-{number}", f"Agreement with {name}", header, rows, note + "".join(without)
    )


def confusion_table(number: int, name: str, one: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [[grade, *row] for grade, row in enumerate(one["confusion"])]
    return Table(
        f"confusion-{number}",
        f"Grades by people and by {name}",
        ["people", *(f"{name}: {g}" for g in range(len(rows)))],
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
        ["topic", "pairs", "kappa on two grades"],
        rows,
    )


def systems_table(key: str, name: str, measure: str, systems: Mapping[str, Any]) -> Table:
    ways = [way for way in WAYS if way in systems]
    rows: list[list[Cell]] = [
        [
            tag,
            *(cell for way in ways for cell in systems[way][tag]),
            systems["machine_alone"][tag],
            systems.get("undefined", {}).get(tag, ""),
        ]
        for tag in systems["people"]
    ]
    header = [
        "run",
        *(f"{WAYS[way]}{end}" for way in ways for end in ("", " from", " to")),
        f"{name} alone",
        "why no range",
    ]
    note = "Ranges are for these topics, 95 %. The machine's scores alone are no verdict."
    if "contradictions" in systems:
        note = f"{contradiction_words(systems['contradictions'])} {note}"
    if "gain" in systems:
        worth = systems["gain"]
        note += " " + (
            "Its worth is undefined."
            if worth is None
            else f"With its labels people's judgements are worth {worth:.2f} times their number here."
        )
    return Table(
        f"systems-{key}", f"{measure} by people, and corrected by {name}", header, rows, note
    )


def rankings_table(key: str, name: str, measure: str, systems: Mapping[str, Any]) -> Table:
    half = systems["halves"]
    rows: list[list[Cell]] = [
        [
            "people and machine, all topics",
            systems["tau_machine_alone"],
            systems["tau_machine_alone_top5"],
        ],
        [
            "people on half of the topics, people on the other (the noise ceiling)",
            half["people"],
            half["best_people"],
        ],
        [
            "machine on half of the topics, people on the other",
            half["machine"],
            half["best_machine"],
        ],
    ]
    if "tau_machine_alone_others" in systems:
        rows.append(
            [
                "people and machine, without related systems",
                systems["tau_machine_alone_others"],
                None,
            ]
        )
    note = (
        "Kendall's tau-b between rankings; halves: mean over random splits. Among the best five "
        "alone it is what a verdict would need."
    )
    return Table(
        f"rankings-{key}",
        f"Rankings by {measure}",
        ["rankings", "tau, all systems", "tau, best five by people"],
        rows,
        note,
    )


def rows_of(
    systems: Mapping[str, Any], name: str
) -> list[tuple[str, float | None, float | None, float | None]]:
    """Each system by people alone and by people corrected, the best by people first."""
    ways = [way for way in ("people", "cross_fitted") if way in systems]
    order = sorted(
        systems["people"], key=lambda tag: (-(systems["people"][tag][0] or 0.0), natural(tag))
    )
    words = {"people": "people", "cross_fitted": f"with {name}"}
    return [(f"{tag}, {words[way]}", *systems[way][tag]) for tag in order for way in ways]


def pictures(result: Result) -> list[Picture]:
    made = []
    for name, condition in conditions_of(result).items():
        for measure, systems in condition["systems"].items():
            caption = (
                f"{measure} by people alone and corrected by {name}, cross-fitted, with 95 % "
                f"ranges for these topics"
            )
            rows = [
                DrawnInterval(*row, note="too little is judged")
                for row in rows_of(systems, name)[:MOST_RUNS]
            ]
            made.append(
                intervals(
                    rows,
                    caption=caption,
                    x_label=measure,
                    what="run",
                    reason="No run has a defined score.",
                )
            )
    return made


KIND = ReportKind(
    name="machine_judges",
    place=120,
    title="A machine beside people",
    sentence=(
        "How far machine labels agree with people, how both rank systems, and people's estimates "
        "corrected by the machine."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels_label="People's labels of the sampled pool",
    estimates=True,
    written=(
        WrittenFile(LABELS, wanted, labels_table),
        WrittenFile(ABOUT, wanted, about_machines),
        WrittenFile(JUDGEMENTS, wanted, judgements_table),
    ),
)
