"""Errors in uploaded and imported files.

FormatError      all problems of one file (raised by readers)
  .problems      the first 50 as FileProblem(line, problem, expected, text)
  .count         the total number
"""

from __future__ import annotations

from typing import NamedTuple

MAX_SHOWN = 50
"""Maximum number of problems per file that are kept and shown. The rest is counted."""


class FileProblem(NamedTuple):
    """One problem in a file. line: from 1, or None if it concerns the whole file."""

    line: int | None
    problem: str
    expected: str
    text: str = ""


class FormatError(Exception):
    """Error for a file that cannot be read, with the line of each problem, its description and what
    was expected."""

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
        """Return one `file:line: problem, expected ...` per problem, and the number of problems not
        shown."""
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
    """Return the text on one line without characters that control a terminal."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in text)


def _shorten(text: str, length: int = 160) -> str:
    """Shorten a line's text for display in a terminal."""
    return _make_printable(text if len(text) <= length else text[:length] + "…")
