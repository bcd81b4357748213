"""What a kind of report is: a command with the choices that a person has, and how its answer is
shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.systems.options import ReportField
from analysis.systems.written_files import WrittenFile
from assay.charts.svg import Picture
from assay.tabular import Table

Result = dict[str, Any]
"""A command's JSON object."""


class NotComputable(Exception):
    """What was asked for cannot be computed; the message says why."""


def refuse_rank_model(options: Mapping[str, Any]) -> None:
    """For labels that are no sampled pool. Raises NotPossible."""
    if options.get("rank_model"):
        raise NotComputable(
            "the rank model helps estimates from a sampled pool, and the labels that were chosen "
            "are not of one; leave it out"
        )


@dataclass(frozen=True)
class AnalysisFiles:
    """The files that stand for what was chosen. runs: paths; qrels: (name, path); others: name ->
    path; tags: of the runs, in their order."""

    runs: Sequence[str]
    qrels: Sequence[tuple[str, str]]
    others: Mapping[str, str]
    tags: Sequence[str] = ()

    def lists(self, folder: str) -> dict[str, str]:
        """Uploaded lists by their names without folder and suffix."""
        return {
            name.removeprefix(f"{folder}/").removesuffix(".txt"): path
            for name, path in self.others.items()
            if name.startswith(f"{folder}/")
        }


def format_named_file(pair: tuple[str, str]) -> str:
    """(name, path) as commands take it."""
    return f"{pair[0]}={pair[1]}"


@dataclass(frozen=True)
class ReportKind:
    """name: of the command. place: among the kinds on the pages, ascending. given: files and
    options -> the inputs and options of the command by name.

    tables, pictures: the command's answer as tables and as pictures (`<figure>` strings with a text
    alternative), the most important first; `assay.charts.print_files` makes files for print of the
    same pictures. beside_others: pictures take the answers about the same input, too.

    qrels: how many are chosen, least and most (0: any number); click_qrels: a second choice, of
    those that come from clicks; private_qrels: one more. pair: two runs, in an order. least_runs:
    fewer make no answer. written: files that the worker writes beside runs and qrels. pieces: its
    command is a `PiecewiseCommand`; piece: the dataclass of a piece's result, None for plain
    values. estimates: its command estimates from a sampled pool. counts_labels_only: what is
    unjudged plays no part in it. Other kinds refuse the labels of a campaign on a sampled pool.
    subject: options -> what a report is about, for its title. topped_up: of a kind whose answer
    names the pairs (`order`) whose judging would settle it, of which a campaign can be made: the
    answer that follows -> what has become of it."""

    name: str
    place: int
    title: str
    sentence: str
    fields: tuple[ReportField, ...]
    given: Callable[[AnalysisFiles, Mapping[str, Any]], dict[str, Any]]
    tables: Callable[[Result], list[Table]]
    pictures: Callable[..., list[Picture]]
    qrels: tuple[int, int] = (1, 1)
    qrels_label: str = "Qrels"
    click_qrels: bool = False
    private_qrels: bool = False
    least_runs: int = 1
    pair: bool = False
    seeded: bool = True
    pieces: bool = False
    piece: type | None = None
    beside_others: bool = False
    estimates: bool = False
    counts_labels_only: bool = False
    subject: Callable[[Mapping[str, Any]], str] = lambda options: ""
    written: tuple[WrittenFile, ...] = ()
    topped_up: Callable[[Result], str] | None = None

    @property
    def least_qrels(self) -> int:
        """Of all choices of qrels together."""
        return self.qrels[0] + self.click_qrels + self.private_qrels

    def written_file(self, name: str) -> WrittenFile:
        return next(one for one in self.written if one.name == name)
