"""Simple readers of runs and qrels, a second implementation with which the fast readers are
compared."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
WHITE = " \t\x0b\x0c\r"


class Refused(Exception):
    def __init__(self, lines: list[int]) -> None:
        super().__init__(lines)
        self.lines = lines


def tokens(line: str) -> list[str]:
    return [token for token in re.split(f"[{WHITE}]+", line) if token]


def read_run(text: str) -> dict[str, list[tuple[str, float]]]:
    """Read a run as topic -> [(document, score)] in trec_eval's order. An invalid file is refused
    with its wrong lines."""
    run: dict[str, dict[str, float]] = {}
    wrong = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        cells = tokens(line)
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 6 or not NUMBER.fullmatch(cells[4]) or not math.isfinite(float(cells[4])):
            wrong.append(number)
            continue
        topic, _, document, _, score, _ = cells
        if document in run.setdefault(topic, {}):
            wrong.append(number)
            continue
        run[topic][document] = float(score)
    if wrong or not any(run.values()):
        raise Refused(wrong)
    return {
        topic: sorted(
            ranking.items(), key=lambda pair: (pair[1], pair[0].encode("utf-8")), reverse=True
        )
        for topic, ranking in run.items()
        if ranking
    }


def read_qrels(text: str) -> dict[str, list[tuple[str, int]]]:
    """Read qrels as topic -> [(document, grade)], by document."""
    qrels: dict[str, dict[str, int]] = {}
    wrong = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        cells = tokens(line)
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 4 or not re.fullmatch(r"[+-]?[0-9]{1,9}(\.00?)?", cells[3], re.ASCII):
            wrong.append(number)
            continue
        topic, _, document, grade = cells
        grade = grade.partition(".")[0]
        if qrels.setdefault(topic, {}).get(document, int(grade)) != int(grade):
            wrong.append(number)
            continue
        qrels[topic][document] = int(grade)
    if wrong or not any(qrels.values()):
        raise Refused(wrong)
    return {
        topic: sorted(grades.items(), key=lambda pair: pair[0].encode("utf-8"))
        for topic, grades in qrels.items()
        if grades
    }
