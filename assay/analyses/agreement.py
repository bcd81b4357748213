"""`manage.py agreement JUDGEMENTS`: how far the annotators agree."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import numpy as np

from assay.analyses.shared.as_json import annotator_json, scale_json
from assay.analyses.shared.judged_files import add_judgement_options, dropped_rows, read_judged
from assay.cli.base import FileCommand, positive, text_table
from assay.counts import counted
from assay.digits import text_of
from assay.labels.agreement.bands import CAVEAT, band
from assay.labels.agreement.report import agreement_report

FIGURES = {
    "mean_kappa": "mean kappa against the label",
    "chance_floor": "the same by chance",
    "mean_kappa_others": "mean kappa against the label of the others",
    "mean_pairwise_kappa": "mean kappa of two annotators",
    "mean_pairwise_kappa_weighted": "the same, weighted by common pairs",
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
"""Figures that have a word beside them."""


class Command(FileCommand):
    help = "Agreement between annotators: Cohen's kappa, Krippendorff's alpha, Fleiss' kappa, percent agreement."

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser)
        parser.add_argument(
            "--min-common",
            type=positive,
            default=10,
            metavar="N",
            help="two annotators are compared from so many common pairs on (default 10)",
        )
        parser.add_argument(
            "--bootstrap",
            type=positive,
            default=1000,
            metavar="N",
            help="ignored; the interval is no longer a bootstrap",
        )

    def compute(
        self, *, min_common: int, min_judgements: int, seed: int, **options: Any
    ) -> dict[str, Any]:
        table, dropped, threshold, campaign, _ = read_judged(self, options)
        report = agreement_report(
            table,
            threshold=threshold,
            rng=np.random.default_rng(seed),
            min_common=min_common,
            min_judgements=min_judgements,
        )
        result = {
            "graded": scale_json(report.graded),
            "binary": scale_json(report.binary),
            "annotators": {person.name: annotator_json(person) for person in report.annotators},
            "pairs": report.n_pairs,
            "labelled_pairs": report.n_labelled,
            "judgements": report.n_judgements,
            "dropped": dropped_rows(dropped),
            "threshold": threshold,
        }
        if campaign is not None and (
            apart := self.stored_campaigns().agreement_by_entry(campaign, table)
        ):
            result["by_entry"] = apart
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        graded, binary = result["graded"], result["binary"]
        rows: list[list[Any]] = []
        for name, text in FIGURES.items():
            words = [
                (band(scale[name]) or "") if name in KAPPAS else "" for scale in (graded, binary)
            ]
            known = [
                text_of(scale[name], scale["chance_floor_error"])
                if name == "chance_floor"
                else scale[name]
                for scale in (graded, binary)
            ]
            rows.append([text, known[0], words[0], known[1], words[1]])
        for bound, text in enumerate(("alpha, lower bound (95 %)", "alpha, upper bound (95 %)")):
            rows.append([text, graded["alpha_ci"][bound], "", binary["alpha_ci"][bound], ""])
        intervals = [
            f"{scale}: alpha has an interval over {result[scale]['alpha_ci_unit']}"
            if result[scale]["alpha_ci"][0] is not None and not result[scale]["alpha_ci_reason"]
            else f"{scale}: alpha has no interval: {result[scale]['alpha_ci_reason']}"
            for scale in ("graded", "binary")
        ]
        people = [
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
        apart = [
            f"alpha (ordinal) of pairs {row['name']}: "
            + (
                f"none, {row['reason']}"
                if row["alpha"] is None
                else f"{row['alpha']:.3f}, {row['pairs']} pairs"
            )
            for row in result.get("by_entry", [])
        ]
        reasons = [
            f"{scale}: {FIGURES[name]} is undefined: {why}"
            for scale in ("graded", "binary")
            for name, why in result[scale]["reasons"].items()
            if name in FIGURES
        ]
        return "\n".join(
            [
                f"{counted(result['judgements'], 'judgement')} of "
                f"{counted(result['pairs'], 'pair')} by {counted(len(people), 'annotator')}; "
                f"kappa linearly weighted and "
                "alpha ordinal on the full scale",
                "",
                text_table(["", "graded", "", "binary", ""], rows),
                CAVEAT,
                *apart,
                *reasons,
                *intervals,
                "",
                text_table(
                    ["annotator", "judgements", "graded", "others", "binary", "others"], people
                ),
            ]
        )
