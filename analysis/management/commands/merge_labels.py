"""Command `assay release merge CAMPAIGN`: add the labels of a top-up campaign to those of its release,
and report what changed."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from analysis.commandline.stored_campaigns import get_campaign
from analysis.systems import reports, top_ups
from analysis.systems.inputs import InputFile
from analysis.systems.written_files import format_tsv
from assay.cli.base import BadInput, DatabaseCommand, write_text_atomically
from assay.comparison.label_additions import compare_added_labels
from assay.comparison.unjudged_documents import iterate_grades
from assay.formats.qrels import write_qrels
from assay.measures.measures import parse_measures
from assay.tabular import Table
from pooling.platform.jobs import Refused

COLUMNS = ("topic", "document", "grade", "source")


class Command(DatabaseCommand):
    help = (
        "Add the labels of a top-up campaign to those of its release, with their sources, and "
        "report what changed."
    )
    makes_data_file = True
    writes = ("output", "sources")
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "campaign", metavar="CAMPAIGN", help="slug of the campaign that `release judge` created"
        )
        parser.add_argument(
            "--sources",
            metavar="FILE",
            help="output table of the merged labels: topic, document, grade, source",
        )

    def compute(
        self, *, campaign: str, sources: str | None, output: str | None, **options: Any
    ) -> dict[str, Any]:
        made = get_campaign(campaign)
        report = top_ups.get_report_of_top_up(made)
        if report is None or report.result is None:
            raise BadInput(
                f"{campaign} is not a top-up campaign; create one with `assay release judge`"
            )
        try:
            before, after, origins = top_ups.merge_labels(report)
            runs = [
                reports.load_run(one)
                for one in map(InputFile.from_json, report.inputs)
                if one.kind == "run"
            ]
        except Refused as error:
            raise BadInput(str(error)) from None
        result, asked = report.result, report.parameters["options"]
        changes = compare_added_labels(
            runs,
            before,
            after,
            parse_measures(asked["measures"]),
            min_relevant=asked["min_relevant"],
            cutoff=result["cutoff"],
        )
        rows = sorted((*row, origins[row[:2]]) for row in iterate_grades(after) if row[2] >= 0)
        if output:
            with write_text_atomically(output) as out:
                write_qrels(after, out)
        if sources:
            with write_text_atomically(sources) as out:
                out.write(format_tsv(COLUMNS, rows))
        by_source = Counter(source for *_, source in rows)
        return {
            "campaign": made.slug,
            "run": result["run"],
            "cutoff": result["cutoff"],
            "labels": {
                "before": sum(grade >= 0 for *_, grade in iterate_grades(before)),
                "after": len(rows),
                "by_source": dict(by_source),
            },
            "systems": {
                change.tag: {
                    "scores": change.scores,
                    "ranks": change.ranks,
                    "unjudged": change.unjudged,
                }
                for change in changes
            },
        }

    def tables(self, result: dict[str, Any]) -> list[Table]:
        labels = result["labels"]
        added = labels["after"] - labels["before"]
        head = ["system"]
        measures = list(next(iter(result["systems"].values()))["scores"])
        for name in measures:
            head += [f"{name} before", f"{name} after", "rank before", "rank after"]
        k = result["cutoff"]
        rows = []
        for tag, system in result["systems"].items():
            cells = [cell for m in measures for cell in (*system["scores"][m], *system["ranks"][m])]
            rows.append([tag, *cells, *system["unjudged"]])
        return [
            Table(
                "labels",
                "Labels by source",
                ["source", "labels"],
                [[name, n] for name, n in sorted(labels["by_source"].items())],
                f"{added:,} labels were added to {labels['before']:,}.",
            ),
            Table(
                "systems",
                f"Systems before and after the labels for {result['run']} were added",
                [*head, f"unjudged to rank {k} before", f"unjudged to rank {k} after"],
                rows,
                "Unjudged documents count as not relevant. Equal scores share the best rank.",
            ),
        ]
