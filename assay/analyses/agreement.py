"""Measure inter-annotator agreement."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.counted_judgements import CountedJudgements
from assay.analyses.shared.json_values import annotator_json, scale_json
from assay.analyses.shared.judged_files import (
    JudgementOptions,
    add_judgement_options,
    count_dropped_rows,
    read_judged,
)
from assay.cli.base import FileCommand
from assay.labels.agreement.interpretation import CAVEAT, interpretation_label
from assay.labels.agreement.report import make_agreement_report
from assay.number_words import format_count
from assay.options import option
from assay.results import Values
from assay.significant_digits import format_with_error
from assay.tabular import Cell, Table

MEASURES = {
    "mean_kappa": "mean kappa with the label",
    "chance_floor": "chance-level agreement",
    "mean_kappa_others": "mean kappa with the label of the others",
    "mean_pairwise_kappa": "mean pairwise kappa",
    "mean_pairwise_kappa_weighted": "mean pairwise kappa, weighted by common pairs",
    "alpha": "Krippendorff's alpha",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "fleiss": "Fleiss' kappa",
    "ac1": "Gwet's AC1",
    "percent": "agreeing pairs of judgements",
}
KAPPAS = {
    "mean_kappa",
    "mean_kappa_others",
    "mean_pairwise_kappa",
    "mean_pairwise_kappa_weighted",
    "fleiss",
}
"""Measures with an interpretation label."""
SCALES = ("graded", "binary")


@dataclass(frozen=True)
class Options(JudgementOptions):
    min_common: int = option(
        10,
        "Common pairs",
        help="minimum number of pairs that two annotators must share for a kappa",
        least=1,
    )


def compute(judged: CountedJudgements, options: Options, *, seed: int = 0) -> Values:
    """Measure agreement on all grades (`graded`) and on binary relevance (`binary`).

    seed: for the permutations for chance-level agreement. Undefined values are NaN, with the reason
    in `reasons`."""
    report = make_agreement_report(
        judged.table,
        min_relevant=judged.min_relevant,
        rng=np.random.default_rng(seed),
        min_common=options.min_common,
        min_judgements=options.min_judgements,
    )
    return {
        "graded": scale_json(report.graded),
        "binary": scale_json(report.binary),
        "annotators": {person.name: annotator_json(person) for person in report.annotators},
        "pairs": report.n_pairs,
        "labelled_pairs": report.n_labelled,
        "judgements": report.n_judgements,
        "dropped": count_dropped_rows(judged.dropped),
        "min_relevant": judged.min_relevant,
    }


def result_tables(result: Values) -> list[Table]:
    made = [measures_table(result)]
    if apart := result.get("by_entry"):
        entries: list[list[Cell]] = [
            [row["name"], row["alpha"], row.get("pairs"), row.get("reason") or ""] for row in apart
        ]
        header = ["pairs", "alpha", "number", "why undefined"]
        note = "Krippendorff's alpha, ordinal."
        made.append(Table("by-entry", "Agreement by selection", header, entries, note))
    people: list[list[Cell]] = [
        [
            name,
            row["judgements"],
            row["kappa_graded"],
            row["kappa_graded_others"],
            row["kappa_binary"],
            row["kappa_binary_others"],
        ]
        for name, row in result["annotators"].items()
    ]
    header = ["annotator", "judgements", "graded", "graded, others", "binary", "binary, others"]
    note = "Kappa of each annotator with the label, and with the label of the others."
    made.append(Table("annotators", "Agreement by annotator", header, people, note))
    return made


def measures_table(result: Values) -> Table:
    rows: list[list[Cell]] = []
    for name, text in MEASURES.items():
        row: list[Cell] = [text]
        for scale in SCALES:
            value = result[scale][name]
            if name == "chance_floor":
                value = format_with_error(value, result[scale]["chance_floor_error"])
            row += [value, (interpretation_label(value) or "") if name in KAPPAS else ""]
        rows.append(row)
    for bound, text in enumerate(("alpha, lower bound (95% CI)", "alpha, upper bound (95% CI)")):
        row = [text]
        for scale in SCALES:
            row += [result[scale]["alpha_ci"][bound], ""]
        rows.append(row)
    header = ["measure", "graded", "graded in words", "binary", "binary in words"]
    return Table("measures", "Inter-annotator agreement", header, rows, format_note(result))


def format_note(result: Values) -> str:
    """Return the table's note: what the measures are computed over, the confidence intervals, and
    the reasons for undefined values."""
    sentences = [
        f"{format_count(result['judgements'], 'judgement')} of {format_count(result['pairs'], 'pair')} by "
        f"{format_count(len(result['annotators']), 'annotator')}; kappa linearly weighted and alpha "
        "ordinal on the full scale.",
        CAVEAT,
    ]
    for scale in SCALES:
        one = result[scale]
        sentences += [
            f"{scale}: {MEASURES[name]} is undefined: {why}."
            for name, why in one["reasons"].items()
            if name in MEASURES
        ]
        has_interval = one["alpha_ci"][0] is not None and not one["alpha_ci_reason"]
        sentences.append(
            f"{scale}: confidence interval of alpha over {one['alpha_ci_unit']}."
            if has_interval
            else f"{scale}: no confidence interval of alpha: {one['alpha_ci_reason']}."
        )
    return " ".join(sentences)


class Command(FileCommand):
    help = (
        "Measure inter-annotator agreement: Cohen's kappa, Krippendorff's alpha, Fleiss' kappa, "
        "and percent agreement."
    )
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser, Options)

    def compute(self, *, seed: int, **option_values: Any) -> Values:
        judged = read_judged(self, option_values)
        result = compute(judged, Options.from_mapping(option_values), seed=seed)
        if judged.campaign is not None and (
            apart := self.stored_campaigns().compute_agreement_by_entry(
                judged.campaign, judged.table
            )
        ):
            result["by_entry"] = apart
        return result
