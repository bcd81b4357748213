"""How certain each run's place is (Craswell et al. 2021); conditions side by side: a measure on a
topic subset under qrels (Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.systems.kind import AnalysisFiles, NotComputable, ReportKind
from analysis.systems.options import (
    EVALUATION_KEYS,
    ReportField,
    changed_options,
    list_named_fields,
    measures_field,
    report_fields,
)
from analysis.systems.written_files import JUDGEMENTS, SINGLE_JUDGEMENTS
from assay.analyses.bootstrap import DEFAULT_MEASURE, Options
from assay.analyses.shared.bootstrap_tables import pictures, tables
from assay.comparison.bootstrap import BootstrapTally
from assay.measures.measures import split_condition

FIELDS = (
    measures_field(DEFAULT_MEASURE, graded="nDCG@10"),
    *report_fields(Options, "trials", "show"),
    ReportField(
        "topic_lists",
        "Topic subsets",
        "lists",
        "",
        hint="Files with one topic id a line, such as public.txt and private.txt.",
    ),
    ReportField(
        "conditions",
        "Conditions",
        "conditions",
        "",
        hint="One per line: name = measure, qrels, topic subset, lowest relevant grade. The last two are optional. "
        "Leave empty for each measure under each qrels, on all topics and on each topic subset.",
    ),
    ReportField(
        "judgements",
        "Ranks under resampled labels",
        "yes",
        False,
        hint="Resamples the campaign's judgements within their pairs, for fixed topics and together "
        "with topics.",
    ),
    *report_fields(Options, "scale", "label_trials", *EVALUATION_KEYS),
)
NOT_PLAIN = ("measures", "topic_lists", "conditions", "judgements", "scale", "label_trials")


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    rest = changed_options([one for one in FIELDS if one.name not in NOT_PLAIN], options)
    if JUDGEMENTS in files.others:
        rest |= {
            "judgements": files.others[JUDGEMENTS],
            **changed_options(list_named_fields(FIELDS, "scale", "label_trials"), options),
        }
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    measures = str(options.get("measures") or DEFAULT_MEASURE)
    if options.get("conditions"):
        given["conditions"] = parse_conditions(str(options["conditions"]), files)
    elif len(files.qrels) > 1 or files.lists("topics"):
        given["conditions"] = cross_conditions(measures.split(), files)
    else:
        given["measures"] = measures
    return {**given, **rest}


def cross_conditions(measures: Sequence[str], files: AnalysisFiles) -> list[str]:
    """Conditions: each measure under each qrels, on all topics and on each topic subset."""
    subsets = {"": "", **files.lists("topics")}
    return [
        f"{measure} {name}{f' {subset}' if subset else ''}={measure},{path}{f',{topics}' if topics else ''}"
        for name, path in files.qrels
        for subset, topics in subsets.items()
        for measure in measures
    ]


def parse_conditions(text: str, files: AnalysisFiles) -> list[str]:
    """Conditions of lines `name = measure, qrels[, topic subset[, lowest relevant grade]]`. Raises
    NotPossible, with the line."""
    qrels, subsets = dict(files.qrels), files.lists("topics")
    conditions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, rest = split_condition(line)
        parts = [part.strip() for part in rest.split(",")]
        if not name.strip() or not 2 <= len(parts) <= 4 or not all(parts[:2]):
            raise NotComputable(
                f"condition {number}, {line.strip()!r}: expected name = measure, qrels, topic "
                f"subset, lowest relevant grade"
            )
        measure, judged, subset, level = [*parts, "", ""][:4]
        if judged not in qrels:
            raise NotComputable(
                f"condition {number}: no qrels called {judged!r} are chosen; chosen are {', '.join(qrels)}"
            )
        if subset and subset not in subsets:
            uploaded = f"there are {', '.join(subsets)}" if subsets else "none was uploaded"
            raise NotComputable(
                f"condition {number}: no topic subset is called {subset!r}; {uploaded}"
            )
        values = [measure, qrels[judged], subsets.get(subset, ""), level]
        while not values[-1]:
            values.pop()
        conditions.append(f"{name.strip()}={','.join(values)}")
    return conditions


KIND = ReportKind(
    name="bootstrap",
    place=60,
    title="Certainty of the ranks",
    sentence=(
        "Each run's rank over bootstrap samples of the topics: probabilities, interval, who beats "
        "whom; several qrels side by side."
    ),
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    qrels=(1, 0),
    pieces=True,
    piece=BootstrapTally,
    written=(SINGLE_JUDGEMENTS,),
)
