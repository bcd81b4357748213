"""Read groups of topics (such as head, torso and tail, or any column) from a file of topics and
groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assay.formats.delimited import (
    TOPIC_NAMES,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.number_words import format_count

GROUP_NAMES = ("group", "topic_group", "band", "class")


class WarningSink(Protocol):
    """Anything that shows warnings, such as a command."""

    def warn(self, message: str) -> None: ...


def read_topic_groups(
    command: WarningSink, path: str, topics: Sequence[str], *, column: str | None = None
) -> dict[str, NDArray[np.bool_]]:
    """Return {group: bool (n_topics)} in the order of the file.

    A header is recognised by its names. Without one, the first two columns are topics and groups.
    column: name of the column of groups. The file must then have a header, with a known name of the
    column of topics. Topics missing from the file belong to no group, with a warning. Raises
    FormatError for a topic in two groups or a row with one column.
    """
    table = DelimitedTable(path)
    mistakes = FileProblems(table.name)
    names = normalise_names(table.first.cells)
    topic, group = find_column(names, TOPIC_NAMES), find_column(names, GROUP_NAMES)
    rows = list(table)
    if column is not None:
        group = find_column(names, normalise_names([column]))
        if topic is None or group is None:
            problem = f"no column {column}" if group is None else "no column of topics"
            mistakes.add(
                table.first.line,
                problem,
                f"a header with topic and {column}",
                "\t".join(table.first.cells),
            )
            mistakes.raise_if_any()
    if topic is None or group is None:
        rows, topic, group = [table.first, *rows], 0, 1
    place = {name: index for index, name in enumerate(topics)}
    of_topic: dict[str, str] = {}
    for line, cells in rows:
        if len(cells) <= max(topic, group) or not cells[topic].strip() or not cells[group].strip():
            mistakes.add(
                line,
                f"{len(cells)} column{'' if len(cells) == 1 else 's'}, or an empty one",
                "a topic and its group",
                "\t".join(cells),
            )
            continue
        name, value = cells[topic].strip(), cells[group].strip()
        if of_topic.setdefault(name, value) != value:
            mistakes.add(
                line,
                f"topic {name} is in both groups {of_topic[name]} and {value}",
                "one group per topic",
                "\t".join(cells),
            )
    mistakes.raise_if_any()
    members: dict[str, NDArray[np.bool_]] = {}
    for name, value in of_topic.items():
        if name in place:
            members.setdefault(value, np.zeros(len(topics), bool))[place[name]] = True
    if absent := [name for name in topics if name not in of_topic]:
        said = f"{format_count(len(absent), 'topic')} of the qrels {'is' if len(absent) == 1 else 'are'} in no group"
        command.warn(f"{path}: {said}: {', '.join(absent[:5])}{' ...' if len(absent) > 5 else ''}")
    return members
