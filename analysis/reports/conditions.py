"""The conditions of a bootstrap side by side: a measure on a topic subset under qrels (Craswell et al. 2021, Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class NotPossible(Exception):
    """What was asked for cannot be computed; the message says why."""


@dataclass(frozen=True)
class Files:
    """The files that stand for what was chosen. runs: paths; qrels: (name, path); others: name -> path."""

    runs: Sequence[str]
    qrels: Sequence[tuple[str, str]]
    others: Mapping[str, str]

    def lists(self, folder: str) -> dict[str, str]:
        """Uploaded lists by their names without folder and suffix."""
        return {
            name.removeprefix(f"{folder}/").removesuffix(".txt"): path
            for name, path in self.others.items()
            if name.startswith(f"{folder}/")
        }


def crossed(measures: Sequence[str], files: Files) -> list[str]:
    """Arguments for each measure under each qrels, on all topics and on each topic subset."""
    subsets = {"": "", **files.lists("topics")}
    return [
        f"--condition={measure} {name}{f' {subset}' if subset else ''}={measure},{path}{f',{topics}' if topics else ''}"
        for name, path in files.qrels
        for subset, topics in subsets.items()
        for measure in measures
    ]


def written(text: str, files: Files) -> list[str]:
    """Arguments for lines `name = measure, qrels[, topic subset[, lowest relevant grade]]`. Raises NotPossible, with the line."""
    qrels, subsets = dict(files.qrels), files.lists("topics")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, _, rest = line.partition("=")
        parts = [part.strip() for part in rest.split(",")]
        if not name.strip() or not 2 <= len(parts) <= 4 or not all(parts[:2]):
            raise NotPossible(f"condition {number}, {line.strip()!r}: expected name = measure, qrels, topic subset, lowest relevant grade")
        measure, judged, subset, level = [*parts, "", ""][:4]
        if judged not in qrels:
            raise NotPossible(f"condition {number}: no qrels called {judged!r} are chosen; chosen are {', '.join(qrels)}")
        if subset and subset not in subsets:
            there = f"there are {', '.join(subsets)}" if subsets else "none was uploaded"
            raise NotPossible(f"condition {number}: no topic subset is called {subset!r}; {there}")
        values = [measure, qrels[judged], subsets.get(subset, ""), level]
        while not values[-1]:
            values.pop()
        found.append(f"--condition={name.strip()}={','.join(values)}")
    return found
