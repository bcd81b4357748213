"""Read and write judgements of a sampled pool in TREC's prel format: five columns `topic 0 document
stratum grade`, with -1 for unjudged pairs.

Every pair of the pool has a line, so the size of each stratum, and with it each inclusion
probability, follows from the file. If sampled pairs have no grade, a comment above the lines gives
the number of pairs drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.formats.delimited import FileProblems
from assay.formats.qrels import make_qrels
from assay.formats.streams import Source, display_name, iterate_lines, strip_suffixes

FIVE_COLUMNS = "5 columns: topic 0 document stratum grade"
CROSS_TOPIC_PREFIX = "*"
"""First character of the name of a stratum that spans all topics. Other strata belong to one topic.
"""
UNJUDGED = -1
MAX_GRADE = 2**31 - 1
WHOLE_PATTERN = re.compile(r"([+-]?[0-9]{1,10})(?:\.00?)?")
DRAWN_PATTERN = re.compile(r"# drawn: ([0-9]{1,10})\b")


@dataclass(frozen=True, eq=False)
class SampledQrels:
    """A sampled pool with its judgements.

    qrels: every pair of the pool. A negative grade means unjudged. stratum: int32 (n_rows), index
    into strata for each row of the qrels. strata: names `topic/stratum`, or `*stratum` for strata
    that span all topics. drawn: number of pairs drawn, or None if unknown.
    """

    qrels: QrelsColumns
    stratum: NDArray[np.int32]
    strata: list[str]
    drawn: int | None = None
    warnings: list[str] = field(default_factory=list)


def read_prel(path: Source, *, name: str | None = None) -> SampledQrels:
    """Read a prel file.

    Blank lines and lines that begin with # are skipped, except `# drawn: N`. A grade 2.0 is read as
    2. The same stratum name in two topics means two strata, unless it begins with *.

    Raises FormatError with all problems: a wrong number of columns, a grade that is not a whole
    number, a repeated pair, or an empty file.
    """
    file_name = display_name(path)
    mistakes = FileProblems(file_name)
    seen: dict[tuple[str, str], tuple[int, str, int]] = {}
    drawn: int | None = None
    for number, text in iterate_lines(path, name=file_name):
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            if (told := DRAWN_PATTERN.match(text)) is not None:
                drawn = int(told[1])
            continue
        if len(cells) != 5:
            hint = "; plain qrels have 4 columns and no strata" if len(cells) == 4 else ""
            mistakes.add(number, f"{len(cells)} columns{hint}", FIVE_COLUMNS, text)
            continue
        topic, _, document, stratum, grade = cells
        if (first := seen.get((topic, document))) is not None:
            mistakes.add(
                number,
                f"duplicate document {document} for topic {topic} (first in line {first[2]})",
                "each pair once",
                text,
            )
            continue
        whole = WHOLE_PATTERN.fullmatch(grade)
        # as for qrels: int() alone would read 1_0 as 10
        value = int(whole[1]) if whole else MAX_GRADE + 1
        if abs(value) > MAX_GRADE:
            mistakes.add(
                number,
                f"{grade!r} is not a grade",
                "a whole number, -1 if not judged",
                text,
            )
            continue
        seen[topic, document] = (
            value,
            stratum if stratum.startswith(CROSS_TOPIC_PREFIX) else f"{topic}/{stratum}",
            number,
        )
    if not seen and not mistakes.count:
        mistakes.add(None, "no lines with grades", f"at least one line of {FIVE_COLUMNS}")
    mistakes.raise_if_any()
    qrels = make_qrels(
        strip_suffixes(file_name) if name is None else name,
        ((t, d, g) for (t, d), (g, _, _) in seen.items()),
    )
    return _add_strata(qrels, {pair: stratum for pair, (_, stratum, _) in seen.items()}, drawn)


def _add_strata(
    qrels: QrelsColumns, stratum_of: dict[tuple[str, str], str], drawn: int | None
) -> SampledQrels:
    names: dict[str, int] = {}
    stratum = np.empty(len(qrels), np.int32)
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for row, document in enumerate(qrels.documents[rows].tolist(), start=rows.start):
            stratum[row] = names.setdefault(stratum_of[topic, document.decode("utf-8")], len(names))
    return SampledQrels(qrels, stratum, list(names), drawn)


def write_prel(prel: SampledQrels, out: IO[str]) -> None:
    """Write the prel sorted by the bytes of topic and document, so that equal input gives equal
    bytes."""
    qrels = prel.qrels
    graded = int((qrels.grades >= 0).sum())
    if prel.drawn is not None and prel.drawn != graded:
        out.write(f"# drawn: {prel.drawn}, with a grade when this was written: {graded}\n")
    for index in sorted(range(len(qrels.topics)), key=lambda i: qrels.topics[i].encode("utf-8")):
        rows, topic = qrels.rows(index), qrels.topics[index]
        columns = (
            qrels.documents[rows].tolist(),
            prel.stratum[rows].tolist(),
            qrels.grades[rows].tolist(),
        )
        for document, stratum, grade in zip(*columns, strict=True):
            name = prel.strata[stratum].removeprefix(f"{topic}/")
            out.write(f"{topic} 0 {document.decode('utf-8')} {name} {max(grade, UNJUDGED)}\n")


def make_prel(
    name: str, rows: list[tuple[str, str, str, int]], *, drawn: int | None = None
) -> SampledQrels:
    """Make a SampledQrels from (topic, document, stratum, grade). Raises ValueError for a repeated
    pair."""
    qrels = make_qrels(name, ((topic, document, grade) for topic, document, _, grade in rows))
    return _add_strata(
        qrels, {(topic, document): stratum for topic, document, stratum, _ in rows}, drawn
    )
