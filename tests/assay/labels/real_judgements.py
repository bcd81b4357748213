"""Published sets of raw judgements as label tables. Their files do not have the format that
commands read."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path

from assay.labels.labels import LabelTable, make_label_table


def _table(rows: Iterable[tuple[str, str, str, int]], n_grades: int) -> LabelTable:
    """Create a label table from (topic, document, annotator, grade). If an annotator has judged a
    pair twice, the last row counts."""
    last = {(topic, document, annotator): grade for topic, document, annotator, grade in rows}
    ids: list[dict[str, int]] = [{}, {}, {}]
    index = [[names.setdefault(key[i], len(names)) for key in last] for i, names in enumerate(ids)]
    return make_label_table(
        topics=list(ids[0]),
        documents=list(ids[1]),
        annotators=list(ids[2]),
        topic=index[0],
        document=index[1],
        annotator=index[2],
        grade=list(last.values()),
        n_grades=n_grades,
    )


def ws_zhou_2012(folder: Path) -> LabelTable:
    """Read a set with five grades, counted from 0. All pairs belong to one made-up topic, because
    an item is a query with a page."""
    with gzip.open(folder / "ws-zhou2012" / "labels.txt.gz", "rt") as lines:
        return _table(
            (("ws", item, worker, int(label) - 1) for item, worker, label in map(str.split, lines)),
            5,
        )


def trec_crowd_2011(folder: Path) -> LabelTable:
    with gzip.open(folder / "trec-crowd-2011" / "judgements.tsv.gz", "rt", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return _table(
            ((row["topic"], row["docno"], row["worker"], int(row["label"])) for row in rows), 2
        )


def llmjudge_2024(folder: Path, *, only_the_scale: bool) -> LabelTable:
    """Read the labels of 33 LLM judges. The three labels outside the scale (5, 5, 10) are left out,
    or kept as grades 5 and 10 of a scale of eleven."""
    with gzip.open(folder / "llmjudge-2024" / "labels_wide.tsv.gz", "rt", newline="") as lines:
        reader = csv.reader(lines, delimiter="\t")
        judges = next(reader)[3:]
        rows = [
            (row[0], row[1], judge, int(label))
            for row in reader
            for judge, label in zip(judges, row[3:], strict=True)
        ]
    return _table(
        [row for row in rows if row[3] <= 3] if only_the_scale else rows,
        4 if only_the_scale else 11,
    )
