"""Draw battles between the systems that answered each topic."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from assay.analyses.shared.answer_results import index_answers
from assay.cli.base import BadInput, FileCommand, write_text_atomically
from assay.formats.answers import GeneratedAnswer, read_answers
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.pools.battles import DrawnBattle, draw_battles
from assay.results import Values
from assay.tabular import Cell, Table

COLUMNS = [
    *("battle", "round", "repeat_of", "topic", "system_a", "system_b", "shown_left"),
    *("tokens_a", "tokens_b", "citations_a", "citations_b", "winner"),
]


@dataclass(frozen=True)
class Options(CheckedOptions):
    rounds: int = option(
        1,
        "Rounds",
        help="number of rounds; in each, every system meets two others on each topic (default: 1)",
        least=1,
    )
    repeated: float = option(
        0.1,
        "Repeated battles",
        help="share of battles shown again with exchanged sides, which measures position bias "
        "(default: 0.1)",
        least=0,
        most=1,
    )


def compute(battles: Sequence[DrawnBattle], systems: Mapping[str, Sequence[str]]) -> Values:
    """Count the battles in total, by round and by system. systems: by topic."""
    by_system = Counter(name for one in battles for name in (one.left, one.right))
    names = sorted({name for of_topic in systems.values() for name in of_topic})
    return {
        "battles": len(battles),
        "repeated": sum(1 for one in battles if one.repeat_of),
        "topics": len({one.topic for one in battles}),
        "by_round": dict(Counter(one.round for one in battles)),
        "by_system": {name: by_system[name] for name in names},
    }


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [[name, n] for name, n in result["by_system"].items()]
    battles = format_count(result["battles"], "battle")
    note = (
        f"{battles} on {format_count(result['topics'], 'topic')}, of which {result['repeated']} "
        "repeat an earlier one with exchanged sides."
    )
    return [Table("systems", "Battles by system", ["system", "battles"], rows, note)]


def write_battles(
    battles: Sequence[DrawnBattle],
    answers: Mapping[tuple[str, str], GeneratedAnswer],
    out: IO[str],
) -> None:
    """Write the battles as a tab-separated table with an empty column `winner`. system_a is the
    left system of the first showing. answers: by (system, topic)."""
    table = csv.writer(out, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    for one in battles:
        a, b = (one.right, one.left) if one.repeat_of else (one.left, one.right)
        shown = [answers[a, one.topic], answers[b, one.topic]]
        lengths = [*(of.n_words for of in shown), *(of.n_citations for of in shown)]
        left = "a" if a == one.left else "b"
        number = [one.number, one.round, one.repeat_of or ""]
        table.writerow([*number, one.topic, a, b, left, *lengths, ""])


class Command(FileCommand):
    help = (
        "Draw battles between systems: which two answers to a topic are compared, in which order "
        "and on which sides."
    )
    makes_data_file = True
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "answers", nargs="+", metavar="ANSWERS", help="files of answers (JSON lines)"
        )
        add_options(parser, Options)

    def compute(
        self, *, answers: list[str], seed: int, output: str | None, **option_values: Any
    ) -> Values:
        options = Options.from_mapping(option_values)
        by_answer = index_answers(one for path in answers for one in read_answers(path))
        systems: dict[str, list[str]] = {}
        for run, topic in by_answer:
            systems.setdefault(topic, []).append(run)
        if alone := sum(1 for names in systems.values() if len(names) < 2):
            have = format_count(alone, "topic", "has", "have")
            self.warn(f"{have} an answer from only one system and therefore no battle")
        if alone == len(systems):
            raise BadInput("no topic has answers from two systems")
        battles = draw_battles(
            systems,
            rounds=options.rounds,
            repeated=options.repeated,
            rng=np.random.default_rng(seed),
        )
        if output:
            with write_text_atomically(output) as out:
                write_battles(battles, by_answer, out)
        return compute(battles, systems)
