"""`manage.py rank_machines QRELS --machine NAME=QRELS...` or `--table FILE`: machine judges in the
order of their use, by pairs that people judged."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from typing import Any

import numpy as np

from assay.analyses.shared.measures import one_qrels
from assay.cli.base import BadInput, FileCommand, named_file, positive, text_table
from assay.column_types import QrelsColumns
from assay.counts import counted
from assay.formats.label_table import read_label_table
from assay.formats.machine_labels import read_machine_qrels
from assay.labels.usefulness import Usefulness, usefulness
from assay.measures.packing import TopicDocumentPairs, index_of

FEWEST_PAIRS = 200
"""So many pairs tell a correlation to about ±.1 (SAMPLING 9)."""


class Command(FileCommand):
    help = (
        "Rank machine judges by how much of people's work their labels would save, from the pairs "
        "that people judged, too."
    )
    counts_labels_only = True
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "qrels",
            metavar="QRELS",
            nargs="?",
            help="human labels; a pilot of about 200 pairs is enough",
        )
        parser.add_argument(
            "--machine",
            action="append",
            default=[],
            metavar="NAME=QRELS",
            help="a machine's labels",
        )
        parser.add_argument(
            "--table",
            metavar="FILE",
            help="table with header instead of both: topic, document, human grade, one column per LLM judge",
        )
        parser.add_argument(
            "--level",
            type=positive,
            default=1,
            metavar="N",
            help="lowest relevant grade (default 1)",
        )
        parser.add_argument(
            "--scale",
            type=positive,
            metavar="GRADE",
            help="highest grade (default: that of people); machine labels outside are left out",
        )

    def compute(
        self,
        *,
        qrels: str | None,
        machine: list[str],
        table: str | None,
        level: int,
        scale: int | None,
        **options: Any,
    ) -> dict[str, Any]:
        if (table is None) == (qrels is None or not machine) or (
            table is not None and (qrels is not None or machine)
        ):
            raise BadInput(
                "give what people judged and --machine NAME=QRELS for each machine, or a --table with a column for each"
            )
        people, labels_of = (
            self.of_table(table) if table is not None else self.of_files(str(qrels), machine)
        )
        highest = scale or int(people.grades.max(initial=0))
        machines = {
            name: self.of_machine(people, labels, name, level, highest)
            for name, labels in labels_of.items()
        }
        order = sorted(
            machines,
            key=lambda name: (math.isnan(machines[name]["gain"]), -machines[name]["gain"], name),
        )
        return {
            "level": level,
            "machines": {name: machines[name] for name in order},
            "order": order,
        }

    def of_files(
        self, qrels: str, machine: list[str]
    ) -> tuple[QrelsColumns, dict[str, QrelsColumns]]:
        people, labels_of = one_qrels(self, qrels), {}
        for text in machine:
            name, path = named_file(text)
            if name in labels_of:
                raise BadInput(f"two machines are called {name}; name them, as in first={path}")
            labels_of[name] = one_qrels(self, path, name, read=read_machine_qrels)
        return people, labels_of

    def of_table(self, path: str) -> tuple[QrelsColumns, dict[str, QrelsColumns]]:
        columns = read_label_table(path)
        return columns.pop(next(iter(columns))), columns

    def of_machine(
        self, people: QrelsColumns, labels: QrelsColumns, name: str, level: int, highest: int
    ) -> dict[str, Any]:
        topic = np.repeat(np.arange(len(people.topics)), np.diff(people.offsets))
        rows = index_of(labels).find(TopicDocumentPairs(people.topics, topic, people.documents))
        grades = np.where(rows >= 0, labels.grades[rows] if len(labels) else -1, -1)
        judged = people.grades >= 0
        both = judged & (grades >= 0) & (grades <= highest)
        outside = int((judged & (grades > highest)).sum())
        if not both.any():
            raise BadInput(
                f"{labels.name}: no pair that people judged has a label by {name}; are ids of "
                f"topics and documents spelled alike?"
            )
        if outside:
            self.warn(
                f"{name}: {counted(outside, 'label')} above {highest} {'is' if outside == 1 else 'are'} left out"
            )
        if (n := int(both.sum())) < FEWEST_PAIRS:
            self.warn(
                f"{name}: {counted(n, 'pair')} with both labels; about {FEWEST_PAIRS} tell the use of a machine"
            )
        use = usefulness(
            people.grades[both].astype(np.int64),
            grades[both].astype(np.int64),
            topic[both],
            level=level,
        )
        result = use._asdict() | {
            "interval": use.interval.bounds,
            "outside": outside,
            "missing": int((judged & (grades < 0)).sum()),
        }
        without = f"no interval: {use.interval.reason}" if use.interval.reason else ""
        if reasons := "; ".join(filter(None, (why_no_worth(use), without))):
            result["undefined"] = reasons
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        columns = (
            "gain",
            "gain_graded",
            "sensitivity",
            "specificity",
            "share",
            "people_share",
            "topic_bias",
        )
        rows = [
            [name, one["pairs"], one["gain"], *one["interval"], *(one[key] for key in columns[1:])]
            for name, one in result["machines"].items()
        ]
        header = [
            "machine",
            "pairs",
            "worth",
            "from",
            "to",
            "worth, graded",
            "sensitivity",
            "specificity",
            "calls relevant",
            "people do",
            "bias by topic",
        ]
        return (
            text_table(header, rows)
            + "".join(
                f"\n{name}: {one['undefined']}"
                for name, one in result["machines"].items()
                if "undefined" in one
            )
            + "\n\nWorth 1.5: with this machine's labels on every pair, 100 pairs judged by "
            "people tell as much as 150 would without. Only as a correction "
            "of people (machine_judges); its labels alone are no verdict, and no machine may "
            "judge a system that was built on it."
        )


def why_no_worth(use: Usefulness) -> str:
    """Why the worth on relevant or not is no number; empty where it is one."""
    if math.isnan(use.gain):
        return (
            f"people call {'all' if use.people_share else 'none'} of the pairs relevant, and "
            f"nothing is there to be told apart"
        )
    return (
        "people and machine agree on every pair, and so many pairs set its worth no limit"
        if math.isinf(use.gain)
        else ""
    )
