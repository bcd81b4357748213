"""Read and write pool files: Assay's table, FiRA's judgement pairs and trectools' pools (which
Relevation reads too)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import IO

import numpy as np
from numpy.typing import NDArray

from assay.formats.delimited import (
    DOCUMENT_NAMES,
    TOPIC_NAMES,
    DelimitedRow,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.streams import Source
from assay.pools.depth import MAX_DEPTH, PooledPairs

HEADER = ("topic", "document", "best_rank", "priority", "runs")
HEADER_LINE = "\t".join(HEADER) + "\n"
CONTRIBUTION_PATTERN = re.compile(r"(.+?):([1-9]\d{0,4})(?:,|$)")


def can_read_back_tag(tag: str) -> bool:
    """Return whether a pool file that names this run is read back as written."""
    return CONTRIBUTION_PATTERN.findall(f"{tag}:1,{tag}:2") == [(tag, "1"), (tag, "2")]


def read_pool(
    path: Source,
    *,
    name: str | None = None,
    max_bytes: int | None = None,
    topics: Container[str] | None = None,
    whose: str = "the topics",
) -> PooledPairs:
    """Read the pairs of a pool file in file order, which is the judging order.

    The first line determines the format: Assay's header `topic document best_rank priority runs`
    (the last three are optional), FiRA's `query_id doc_id priority` (a number or `all`), or
    trectools' `topic Q0 document 0 0 trectools`. A missing best rank is 0. The depth is the deepest
    best rank, or 1 + the highest priority. topics: the only topic IDs allowed, called `whose` in
    messages.

    Raises FormatError for a wrong number of columns, an empty ID, a rank or priority that is not a
    whole number, a repeated pair, or a file without pairs.
    """
    table = DelimitedTable(path, name=name, delimiter="\t", quoting=False, max_bytes=max_bytes)
    mistakes = FileProblems(table.name)
    names = normalise_names(table.first.cells)
    topic, document = find_column(names, TOPIC_NAMES), find_column(names, DOCUMENT_NAMES)
    headed = topic is not None and document is not None
    rows = list(table)
    if not headed:
        cells = table.first.cells if len(table.first.cells) > 1 else table.first.cells[0].split()
        if len(cells) not in (4, 6) or cells[1].lower() not in ("q0", "0"):
            raise FormatError.single(
                table.name,
                table.first.line,
                "the column topic or document is missing",
                "a header `topic document best_rank priority runs`",
                table.delimiter.join(table.first.cells),
            )
        rows, topic, document = [table.first, *rows], 0, 2
        names = [""] * len(cells)
        if len(table.first.cells) == 1:
            rows = [DelimitedRow(row.line, row.cells[0].split()) for row in rows]
    best, priority, runs = (find_column(names, (column,)) for column in HEADER[2:])
    if topics is not None:
        _check_topics(rows, int(topic or 0), topics, whose, mistakes)
    return _make_pool(
        rows, len(names), int(topic or 0), int(document or 0), best, priority, runs, mistakes
    )


def _check_topics(
    rows: list[DelimitedRow],
    column: int,
    topics: Container[str],
    whose: str,
    mistakes: FileProblems,
) -> None:
    for line, cells in rows:
        topic = cells[column].strip() if column < len(cells) else ""
        if topic and topic not in topics:
            mistakes.add(
                line, f"topic {topic} is not in {whose}", "an existing topic", "\t".join(cells)
            )


def _make_pool(
    rows: list[DelimitedRow],
    n_columns: int,
    topic: int,
    document: int,
    best: int | None,
    priority: int | None,
    runs: int | None,
    mistakes: FileProblems,
) -> PooledPairs:
    seen: dict[tuple[str, str], int] = {}
    tags: dict[str, int] = {}
    bests, priorities, everyone = [], [], []
    contributions: list[list[tuple[int, int]]] = []
    for line, cells in rows:
        text = "\t".join(cells)
        if len(cells) != n_columns:
            mistakes.add(
                line, f"{len(cells)} columns", f"{n_columns} columns as in the header", text
            )
            continue
        pair = (cells[topic].strip(), cells[document].strip())
        if not all(pair):
            mistakes.add(line, "an empty ID", "IDs of a topic and a document", text)
            continue
        if pair in seen:
            mistakes.add(
                line,
                f"duplicate document {pair[1]} for topic {pair[0]} (first in line {seen[pair]})",
                "each pair once",
                text,
            )
            continue
        rank = _parse_number(cells[best] if best is not None else "0")
        to_all = priority is not None and cells[priority].strip() == "all"
        value = 0 if to_all else _parse_number(cells[priority] if priority is not None else "0")
        given = cells[runs].strip() if runs is not None else ""
        tags_and_ranks = CONTRIBUTION_PATTERN.findall(given)
        if rank is None or value is None or rank > MAX_DEPTH:
            mistakes.add(
                line,
                "the rank or priority is not a whole number in range",
                f"whole numbers, and a rank of at most {MAX_DEPTH}",
                text,
            )
            continue
        if (
            given and "".join(f"{tag}:{place}," for tag, place in tags_and_ranks) != f"{given},"
        ) or any(int(place) > MAX_DEPTH for _, place in tags_and_ranks):
            mistakes.add(
                line, f"{given!r} is not a list of runs with ranks", "tag:rank,tag:rank", text
            )
            continue
        seen[pair] = line
        bests.append(rank or min((int(place) for _, place in tags_and_ranks), default=0))
        priorities.append(value)
        everyone.append(to_all)
        contributions.append(
            [(tags.setdefault(tag, len(tags)), int(place)) for tag, place in tags_and_ranks]
        )
    if not seen and not mistakes.count:
        mistakes.add(None, "no pairs", "at least one row below the header")
    mistakes.raise_if_any()
    ranks = np.zeros((len(seen), len(tags)), np.int16)
    for row, found_runs in enumerate(contributions):
        for run, place in found_runs:
            ranks[row, run] = place
    return make_pool(list(seen), bests, priorities, everyone, tags=list(tags), ranks=ranks)


def make_pool(
    pairs: Sequence[tuple[str, str]],
    best_rank: Sequence[int],
    priority: Sequence[int],
    everyone: Sequence[bool],
    *,
    tags: list[str] | None = None,
    ranks: NDArray[np.int16] | None = None,
) -> PooledPairs:
    """Make a pool of distinct (topic, document) pairs in the given order. The depth is the deepest
    rank, or 1 + the highest priority."""
    names = sorted({topic for topic, _ in pairs}, key=lambda topic: topic.encode("utf-8"))
    index = {name: i for i, name in enumerate(names)}
    if ranks is None:
        ranks = np.zeros((len(pairs), 0), np.int16)
    depth = max(max(best_rank), 1 + max(priority), int(ranks.max()) if ranks.size else 0, 1)
    return PooledPairs(
        depth=min(depth, MAX_DEPTH),
        tags=tags or [],
        topics=names,
        topic=np.array([index[t] for t, _ in pairs], np.int32),
        documents=np.array([d.encode("utf-8") for _, d in pairs]),
        best_rank=np.array(best_rank, np.int32),
        priority=np.array(priority, np.int32),
        ranks=ranks,
        everyone=np.array(everyone, bool),
    )


def sort_pool(pool: PooledPairs) -> PooledPairs:
    """Sort a pool: pairs for all annotators first, then by descending priority. The sort is
    stable."""
    return pool.select_rows(np.lexsort((np.arange(len(pool)), -pool.priority, ~pool.everyone)))


def _parse_number(cell: str) -> int | None:
    text = cell.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def format_pool_line(
    topic: str, document: str, best_rank: int, priority: int, runs: Iterable[tuple[str, int]]
) -> str:
    """Format one line of a pool file. runs: (tag, rank)."""
    return f"{topic}\t{document}\t{best_rank}\t{priority}\t{','.join(f'{tag}:{rank}' for tag, rank in runs)}\n"


def write_pool(pool: PooledPairs, out: IO[str]) -> None:
    """Write the pool, best pairs first, tab-separated with the header `topic document best_rank
    priority runs`. Runs are written as `tag:rank,tag:rank`."""
    out.write(HEADER_LINE)
    out.writelines(
        format_pool_line(pair.topic, pair.document, pair.best_rank, pair.priority, pair.runs)
        for pair in pool
    )
