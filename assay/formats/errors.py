"""Errors of files that people give us.

FormatError      all problems found in one file (what readers raise)
  .problems      the first 50 as Problem(line, problem, expected, text)
  .count         how many there were
"""

from __future__ import annotations

from typing import NamedTuple

MAX_SHOWN = 50
"""How many problems of one file are kept and shown; the rest is counted."""


class FileProblem(NamedTuple):
    """One mistake in a file. `line` counts from 1; None where the file as a whole is wrong."""

    line: int | None
    problem: str
    expected: str
    text: str = ""


class FormatError(Exception):
    """A file that cannot be read: where, what is wrong, what was expected."""

    def __init__(self, file: str, problems: list[FileProblem], count: int | None = None) -> None:
        self.file = file
        self.count = len(problems) if count is None else count
        self.problems = problems[:MAX_SHOWN]
        super().__init__("\n".join(self.lines()))

    @classmethod
    def single(
        cls, file: str, line: int | None, problem: str, expected: str, text: str = ""
    ) -> FormatError:
        return cls(file, [FileProblem(line, problem, expected, text)])

    def lines(self) -> list[str]:
        """`file:line: what is wrong, what was expected`, one a problem, and the count of the
        rest."""
        shown = [
            f"{_make_printable(self.file)}:{p.line or 1}: {_make_printable(p.problem)}, expected {p.expected}"
            + (f": {_shorten(p.text)}" if p.text else "")
            for p in self.problems
        ]
        if self.count > len(self.problems):
            shown.append(
                f"{self.file}: {self.count - len(self.problems)} more problems, {self.count} in all"
            )
        return shown


def _make_printable(text: str) -> str:
    """The text on one line, without what a terminal would obey."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in text)


def _shorten(text: str, length: int = 160) -> str:
    """The line's text, short enough for a terminal."""
    return _make_printable(text if len(text) <= length else text[:length] + "…")
