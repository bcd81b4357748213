"""Read tables separated by white space in large blocks: find tokens and extract them as fixed-width
bytes (`numerals` extracts numbers).

Lines that do not fit the fast method are read by a slower one with the same result.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.formats.errors import MAX_SHOWN, FileProblem
from assay.number_words import format_count

PAD = 32
"""Free bytes before and after the text, so that a word can be read at the end of any token."""

MAX_ID_BYTES = 1024
"""Maximum length in bytes of a topic or document ID."""

BLANK_OR_COMMENT_PATTERN = re.compile(rb"(?:\s*+#[^\n]*+\n)*+\s*+")
COMMENT_PATTERN = re.compile(rb"^[^\S\n]*+#", re.MULTILINE)

WORD_TYPE = np.dtype("<u8")
U = np.uint64

np.empty(1 << 24, np.uint8)
# Allocating and freeing this block once makes glibc keep blocks of its size in the heap (the mmap
# threshold is dynamic) instead of requesting zeroed pages for each of the arrays below.


class ProblemList:
    """The first 50 problems of a file, and the number of all."""

    def __init__(self) -> None:
        self.first: list[FileProblem] = []
        self.count = 0

    def add(self, line: int | None, problem: str, expected: str, text: str = "") -> None:
        self.count += 1
        if len(self.first) < MAX_SHOWN:
            self.first.append(FileProblem(line, problem, expected, text))

    def count_more(self, n: int) -> None:
        self.count += n

    def refuse(
        self, wrong: NDArray[np.bool_], rows: TokenRows, column: int, problem: str, expected: str
    ) -> None:
        """Record a problem for the tokens of a column in the rows where `wrong` is true."""
        places = np.flatnonzero(wrong)
        shown = places[: max(MAX_SHOWN - len(self.first), 0)]
        for row in shown.tolist():
            token = rows.token(row, column)[:80].decode("utf-8", "replace")
            self.add(int(rows.lines[row]), f"{token!r} {problem}", expected, rows.line_text(row))
        self.count_more(len(places) - len(shown))


class TokenRows:
    """The valid lines of one block, as positions of their tokens.

    text: uint8, the block between `PAD` line ends on either side. lines: int64 (n_rows). before,
    ends: intp (n_rows, n_columns), the position before each token, and its end.
    """

    def __init__(
        self,
        raw: bytes,
        text: NDArray[np.uint8],
        before: NDArray[np.intp],
        ends: NDArray[np.intp],
        lines: NDArray[np.int64] | range,
    ) -> None:
        self.raw, self.text, self._before, self._ends, self._lines = raw, text, before, ends, lines

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def n_columns(self) -> int:
        return self._ends.shape[1]

    @property
    def lines(self) -> NDArray[np.int64] | range:
        """Return the line number of each row."""
        return self._lines

    def token_positions(self, column: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the start and end positions in `text` of a column's tokens."""
        return self._before[:, column] + 1, np.ascontiguousarray(self._ends[:, column])

    def token(self, row: int, column: int) -> bytes:
        return self.raw[
            int(self._before[row, column]) + 1 - PAD : int(self._ends[row, column]) - PAD
        ]

    def line_text(self, row: int) -> str:
        at = int(self._before[row, 0]) + 1 - PAD
        begin, end = self.raw.rfind(b"\n", 0, at) + 1, self.raw.index(b"\n", at)
        return self.raw[begin : min(end, begin + 4096)].decode("utf-8", "replace")

    def find_longer_tokens(self, column: int, bound: int) -> NDArray[np.bool_]:
        return self._ends[:, column] - self._before[:, column] - 1 > bound

    def exclude_rows(self, bad: NDArray[np.bool_]) -> TokenRows:
        good = ~bad
        return TokenRows(
            self.raw,
            self.text,
            self._before[good],
            self._ends[good],
            np.asarray(self._lines, np.int64)[good],
        )


def find_first_content(block: bytes) -> tuple[int, int, int]:
    """Find the first line that is neither blank nor a comment.

    Returns (position of its first byte, n_blank, n_comments before it).
    """
    skipped = BLANK_OR_COMMENT_PATTERN.match(block)
    at = block.rfind(b"\n", 0, skipped.end() if skipped else 0) + 1
    n_comments = len(COMMENT_PATTERN.findall(block, 0, at))
    return at, block.count(b"\n", 0, at) - n_comments, n_comments


def skipped_comments_note(n: int) -> list[str]:
    """Return the note on skipped lines that begin with #, if there are any."""
    return (
        [
            f"{format_count(n, 'comment line')} (beginning with #) {'was' if n == 1 else 'were'} skipped"
        ]
        if n
        else []
    )


def find_rows(
    block: bytes,
    first_line: int,
    n_columns: int,
    problems: ProblemList,
    *,
    expected: str,
    n_lines: int | None = None,
    more_columns: bool = False,
    comments: bool = False,
) -> tuple[TokenRows, int, int]:
    """Find the lines of `block` that have `n_columns` tokens.

    Other lines are recorded as problems. more_columns: allow more columns, which are ignored.
    comments: skip lines whose first character after white space is #. n_lines: number of lines of
    the block, if known. Returns (rows, n_blank, n_comments).
    """
    text = np.empty(len(block) + 2 * PAD, np.uint8)
    text[:PAD] = 10
    text[-PAD:] = 10
    inner = text[PAD:-PAD]
    inner[:] = np.frombuffer(block, np.uint8)
    if n_lines is None:
        n_lines = int(np.count_nonzero(inner == 10))
    regular = _find_regular_tokens(text, inner, n_lines, n_columns)
    if regular is not None and not (
        comments and b"#" in block and (text[regular[0][:, 0] + 1] == ord("#")).any()
    ):
        return TokenRows(block, text, *regular, range(first_line, first_line + n_lines)), 0, 0
    white = (inner == 32) | ((inner >= 9) & (inner <= 13))
    edges = np.flatnonzero(white[1:] != white[:-1]) + 1 + PAD
    if len(white) and not white[0]:
        edges = np.concatenate(([PAD], edges))
    all_starts, all_ends = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(inner == 10) + PAD
    counts = np.diff(np.searchsorted(all_starts, newlines), prepend=0)
    first = np.cumsum(counts) - counts
    blank = counts == 0
    n_comments = 0
    if comments and len(all_starts):
        hashed = np.zeros(n_lines, bool)
        hashed[~blank] = text[all_starts[first[~blank]]] == ord("#")
        counts = np.where(hashed, 0, counts)
        n_comments = int(hashed.sum())
    good = counts >= n_columns if more_columns else counts == n_columns
    wrong = np.flatnonzero(~good & (counts > 0))
    room = max(MAX_SHOWN - len(problems.first), 0)
    for at in wrong[:room]:
        begin = int(newlines[at - 1]) + 1 - PAD if at else 0
        line = block[begin : min(int(newlines[at]) - PAD, begin + 4096)].decode("utf-8", "replace")
        n = int(counts[at])
        problems.add(first_line + int(at), f"{n} column{'s' if n != 1 else ''}", expected, line)
    problems.count_more(max(len(wrong) - room, 0))
    if good.all() and len(all_starts) == n_lines * n_columns:
        before, ends = (
            (all_starts - 1).reshape(n_lines, n_columns),
            all_ends.reshape(n_lines, n_columns),
        )
    else:
        chosen = first[good][:, None] + np.arange(n_columns)
        before = all_starts[chosen] - 1 if len(chosen) else np.empty((0, n_columns), np.intp)
        ends = all_ends[chosen] if len(chosen) else np.empty((0, n_columns), np.intp)
    return (
        TokenRows(block, text, before, ends, np.flatnonzero(good).astype(np.int64) + first_line),
        int(blank.sum()),
        n_comments,
    )


def _find_regular_tokens(
    text: NDArray[np.uint8], inner: NDArray[np.uint8], n_lines: int, n_columns: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return (position before each token, its end) if every line has `n_columns` tokens with one
    space or tab between them. Otherwise return None."""
    if not n_lines or inner[0] <= 32:
        return None
    white = inner <= 32
    n_white = int(np.count_nonzero(white))
    if n_white != n_lines * n_columns:
        return None
    n_spaces, n_tabs = int(np.count_nonzero(inner == 32)), int(np.count_nonzero(inner == 9))
    if n_spaces + n_tabs + n_lines != n_white or (white[1:] & white[:-1]).any():
        return None
    places = np.empty(n_white + 1, np.intp)
    places[0] = PAD - 1
    np.add(np.flatnonzero(white), PAD, out=places[1:])
    ends = places[1:].reshape(n_lines, n_columns)
    if not (text[ends[:, -1]] == 10).all():
        return None
    return places[:-1].reshape(n_lines, n_columns), ends


@cache
def _prefix_masks(width: int) -> NDArray[np.uint64]:
    """Return masks whose row n keeps the first n of `width` bytes: uint64 (width + 1, width / 8).

    width is at most MAX_ID_BYTES.
    """
    keep = np.arange(width)[None, :] < np.arange(width + 1)[:, None]
    return (keep * np.uint8(255)).astype(np.uint8).view(WORD_TYPE)


def take_bytes(text: NDArray[np.uint8], places: NDArray[np.intp], width: int) -> NDArray[np.uint64]:
    """Return `width` bytes from each position: uint64 (n, width / 8)."""
    if len(text) < width:
        text = np.concatenate((text, np.zeros(width, np.uint8)))
    last = len(text) - width
    windows = np.ndarray((last + 1,), f"V{width}", text, strides=(1,))
    if len(places) and places[-1] > last:
        padded = np.concatenate((text, np.zeros(width, np.uint8)))
        windows = np.ndarray((len(text),), f"V{width}", padded, strides=(1,))
    return windows[places].view(WORD_TYPE).reshape(len(places), width // 8)


def take_column(rows: TokenRows, column: int) -> NDArray[np.uint64]:
    """Return the tokens of a column as words of eight bytes, padded with NUL: uint64 (n_rows, width
    / 8)."""
    starts, ends = rows.token_positions(column)
    lengths = ends - starts
    longest, shortest = (int(lengths.max()), int(lengths.min())) if len(lengths) else (1, 1)
    width = -(-longest // 8) * 8
    words = take_bytes(rows.text, starts, width)
    if shortest < width:
        masks = _prefix_masks(width)
        if shortest == longest:
            words &= masks[longest]
        elif width == 8:
            words &= masks[:, 0].take(lengths)[:, None]
        else:
            words &= masks.take(lengths, axis=0)
    return words


def find_constant(rows: TokenRows, column: int) -> bytes | None:
    """Return the token that all rows share in this column, or None if they differ."""
    starts, ends = rows.token_positions(column)
    length = int(ends[0] - starts[0])
    if length > 4 * 8 or not (ends - starts == length).all():
        return None
    width = -(-length // 8) * 8
    words = take_bytes(rows.text, starts, width)
    words &= _prefix_masks(width)[length]
    return rows.token(0, column) if (words == words[0]).all() else None


def to_byte_strings(words: NDArray[np.uint64]) -> NDArray[np.bytes_]:
    """View words as a bytes array (dtype S) on the same memory."""
    width = words.shape[1] * 8
    return np.ascontiguousarray(words).view(f"S{width}").reshape(len(words))


def find_changes(words: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the rows whose token differs from the row before, always including row 0: intp."""
    if len(words) == 0:
        return np.empty(0, np.intp)
    different = words[1:, 0] != words[:-1, 0]
    for k in range(1, words.shape[1]):
        different |= words[1:, k] != words[:-1, k]
    return np.concatenate(([0], np.flatnonzero(different) + 1))
