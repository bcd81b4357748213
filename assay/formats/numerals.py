"""Parse columns of decimal numbers with array operations on eight digits at a time, with exactly
the results of float() and int().

A word is eight bytes of text in little-endian order: the first character is the lowest byte, so a
shift to the right moves towards the start of the text. A token is taken with its end at the end of
its words, and the bytes before it are overwritten by "0". Operations on a word must not carry from
one byte into the next, except from bytes of tokens that are refused anyway.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.formats.cells import WORD_TYPE, TokenRows, U, take_bytes

ZEROS = U(0x3030303030303030)
"""Eight times the character "0". A digit xor this byte is its value."""
DOTS = U(0x2E2E2E2E2E2E2E2E)
LOW = U(0x7F7F7F7F7F7F7F7F)
HIGH = U(0x8080808080808080)
OVER_NINE = U(0x7676767676767676)
"""Adding this sets the high bit of every byte from 10 to 127."""
PAIRS = U(0x000000FF000000FF)
MAX_EXACT = U(1 << 53)
"""Whole numbers up to this one are exact in double precision."""
POWERS = 10.0 ** np.arange(23)
"""All powers of ten that are exact in double precision: 5**22 < 2**53 < 5**23."""
HAS_EXTENDED_PRECISION = np.finfo(np.longdouble).nmant == 63
"""Whether long double has a mantissa of 64 bits (x86)."""
LONG_POWERS = np.cumprod(np.concatenate(([1], np.full(27, 10))).astype(np.longdouble))
"""All powers of ten that are exact with 64 bits: 5**27 < 2**64 < 5**28."""
BEYOND_64_BITS = U(1844)
"""Limit for the eight digits before sixteen others. Below it, all 24 digits are less than 2**64 =
18446744073709551616."""


@cache
def _suffix_masks(width: int) -> NDArray[np.uint64]:
    """Return masks whose row n keeps the last n of `width` bytes: uint64 (width / 8, width + 1)."""
    keep = np.arange(width)[None, :] >= width - np.arange(width + 1)[:, None]
    return np.ascontiguousarray((keep * np.uint8(255)).astype(np.uint8).view(WORD_TYPE).T)


def _parse_eight_digits(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the number written by eight bytes with values 0 to 9. The first byte is the most
    significant digit.

    Three multiplications replace eight: every other byte becomes ten times itself plus its
    neighbour (at most 99, so it stays a byte). A product with two factors in its halves then adds
    two such pairs in its upper half.
    """
    pairs = digits * U(10)
    pairs += digits >> U(8)
    low = pairs >> U(16)
    low &= PAIRS  # the second and the fourth pair
    low *= U(0x0000271000000001)  # upper half: 10,000 times the second + the fourth
    pairs &= PAIRS  # the first and the third pair
    pairs *= U(0x000F424000000064)  # upper half: 1,000,000 times the first + 100 times the third
    pairs += low
    pairs >>= U(32)
    return pairs


def _has_non_digit(digits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return whether a byte of the word is not a value from 0 to 9: it has its high bit set, or
    adding OVER_NINE sets it."""
    return (((digits + OVER_NINE) | digits) & HIGH) != 0


def _parse_uniform(
    rows: TokenRows, starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Parse numbers that all have as many decimals as the first one (at most 8) and at most 7
    digits before the point. Otherwise return None.

    A system's scores are usually printed this way. The position of the point is then known and need
    not be searched.
    """
    first = rows.text[starts[0] : ends[0]].tobytes()
    _, point, decimals = first.partition(b".")
    n_decimals = len(decimals)
    if not point or not 1 <= n_decimals <= 8:
        return None
    points = ends - (n_decimals + 1)
    if not (rows.text[points] == ord(".")).all():
        return None
    lengths = points - starts
    if not 0 <= int(lengths.min()) <= int(lengths.max()) <= 7:
        return None
    keep = _suffix_masks(8)[0]
    part = take_bytes(rows.text, ends - 8, 8)[:, 0]
    part &= keep[n_decimals]
    part ^= ZEROS & keep[n_decimals]
    kept = keep.take(lengths)
    whole = take_bytes(rows.text, points - 8, 8)[:, 0]
    whole &= kept
    kept &= ZEROS
    whole ^= kept
    if (
        ((part + OVER_NINE) | part | (whole + OVER_NINE) | whole) & HIGH
    ).any():  # checks both words at once
        return None
    mantissa = _parse_eight_digits(whole)
    mantissa *= U(10**n_decimals)
    mantissa += _parse_eight_digits(part)
    return mantissa.astype(np.float64) / POWERS[n_decimals]


def parse_numbers(rows: TokenRows, column: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Parse a column of decimal numbers, exactly as float() reads them.

    Underscores between digits, inf and nan are refused although float() accepts them. Plain
    decimals of up to 19 digits are read as an integer mantissa that is divided once by a power of
    ten. Both are exact in double precision if the mantissa is at most 2**53 and the power at most
    10**22, so the division rounds correctly (Clinger 1990). Beyond that, long double is used,
    except if its result lies half way between two doubles. Returns (float64 (n), readable and
    finite: bool (n)).
    """
    starts, ends = rows.token_positions(column)
    n = len(starts)
    if n == 0:
        return np.empty(0), np.empty(0, bool)
    alike = _parse_uniform(rows, starts, ends)
    if alike is not None:
        return alike, np.ones(n, bool)
    negative = rows.text[starts] == ord("-")
    lengths = ends - starts - negative
    width = min(max(-(-int(lengths.max()) // 8) * 8, 8), 24)
    words, n_dots, n_decimals = _remove_points(_token_suffixes(rows, ends, lengths, width))
    mantissa, readable = _parse_mantissa(words)
    readable &= (lengths > 0) & (lengths <= width) & (n_dots <= 1) & (lengths > n_dots)
    result = _scale_mantissa(mantissa, n_decimals, readable)
    np.negative(result, out=result, where=negative)
    for row in np.flatnonzero(~readable).tolist():
        result[row], readable[row] = _parse_with_float(rows.token(row, column))
    return result, readable


def _token_suffixes(
    rows: TokenRows, ends: NDArray[np.intp], lengths: NDArray[np.intp], width: int
) -> list[NDArray[np.uint64]]:
    """Return the last `lengths` bytes before each end, padded with "0" in front: width / 8 words,
    each uint64 (n)."""
    taken = take_bytes(rows.text, ends - width, width)
    keep = _suffix_masks(width)[:, np.minimum(lengths, width)]
    return [(taken[:, k] & keep[k]) | (ZEROS & ~keep[k]) for k in range(width // 8)]


def _remove_points(
    words: list[NDArray[np.uint64]],
) -> tuple[list[NDArray[np.uint64]], NDArray[np.uint8], NDArray[np.uint64]]:
    """Remove the decimal point from the words and move what precedes it up by one byte.

        -> (words, changed in place; number of points: uint8 (n); bytes after the point: uint64 (n))

    The results are valid for tokens with at most one point.
    """
    n, n_words = len(words[0]), len(words)
    n_decimals = np.zeros(n, np.uint64)
    n_dots = np.zeros(n, np.uint8)
    moved = np.zeros(n, bool)  # rows whose point is in a later word: this whole word moves up
    for k in range(n_words - 1, -1, -1):
        x = words[k] ^ DOTS
        dots = ~(((x & LOW) + LOW) | x) & HIGH  # the high bit of each byte that is 0 in x
        here = dots != 0
        if not here.any() and not moved.any():
            continue
        n_here = np.bitwise_count(dots)
        n_dots += n_here
        # all bits of the bytes before the point, or of the whole word without a point
        before = (dots >> U(7)) - U(1)
        # all bits of the bytes after the point, or none without a point
        behind = ~((dots << U(1)) - U(1))
        n_decimals += here * (
            U(8 * (n_words - 1 - k) + 7) - (np.bitwise_count(before) >> np.uint8(3))
        )
        last_of_previous = words[k - 1] >> U(56) if k else U(0x30)
        closed = (words[k] & behind) | ((words[k] & before) << U(8)) | last_of_previous
        moved |= here
        words[k] = np.where(moved, closed, words[k])
    return words, n_dots, n_decimals


def _parse_mantissa(
    words: list[NDArray[np.uint64]],
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the whole number written by one to three words of digits.

    Returns (uint64 (n), whether all characters are digits and the number fits: bool (n)).
    """
    mantissa = np.zeros(len(words[0]), np.uint64)
    fits = np.ones(len(words[0]), bool)
    for k, word in enumerate(words):
        digits = word ^ ZEROS
        fits &= ~_has_non_digit(digits)
        value = _parse_eight_digits(digits)
        if len(words) == 3 and k == 0:
            fits &= value < BEYOND_64_BITS
        mantissa = mantissa * U(100_000_000) + value if k else value
    return mantissa, fits


def _scale_mantissa(
    mantissa: NDArray[np.uint64], n_decimals: NDArray[np.uint64], readable: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return mantissa / 10**n_decimals. `readable` is cleared in place for quotients that might not
    be the nearest double."""
    readable &= n_decimals < len(POWERS)
    decimals = np.minimum(n_decimals, U(len(POWERS) - 1)).astype(np.intp)
    result = mantissa.astype(np.float64) / POWERS.take(decimals)
    large = np.flatnonzero(readable & (mantissa > MAX_EXACT))
    if not len(large):
        return result
    if not HAS_EXTENDED_PRECISION:
        readable[large] = False
        return result
    wide = mantissa[large].astype(np.longdouble) / LONG_POWERS.take(decimals[large])
    result[large] = wide.astype(np.float64)
    # A long double has 11 more bits than a double. Rounding twice can only be wrong if these bits
    # are exactly one half.
    half_way = (wide.view(WORD_TYPE)[::2] & U(0x7FF)) == U(0x400)
    readable[large[half_way]] = False
    return result


def _parse_with_float(token: bytes) -> tuple[float, bool]:
    """Return (number, whether it is finite and has no underscores), using float() itself."""
    try:
        number = float(token)
    except ValueError:
        return float("nan"), False
    return number, bool(np.isfinite(number)) and b"_" not in token


KEEP_FOUR = np.array([0, 0xFF000000, 0xFFFF0000, 0xFFFFFF00, 0xFFFFFFFF], np.uint32)
"""Entry n keeps the last n of four bytes."""
ZEROS_FOUR, OVER_NINE_FOUR, HIGH_FOUR = (
    np.uint32(0x30303030),
    np.uint32(0x76767676),
    np.uint32(0x80808080),
)


def parse_integers(rows: TokenRows, column: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Parse a column of whole numbers that fit 32 bits. Returns (int64 (n), readable: bool (n))."""
    starts, ends = rows.token_positions(column)
    if len(starts) == 0:
        return np.empty(0, np.int64), np.empty(0, bool)
    lengths = ends - starts
    if int(lengths.max()) <= 4 and (small := _parse_short_numbers(rows, ends, lengths)) is not None:
        return small, np.ones(len(small), bool)
    keep = _suffix_masks(8)[0].take(np.minimum(lengths, 8))
    digits = (take_bytes(rows.text, ends - 8, 8)[:, 0] & keep) ^ (ZEROS & keep)
    quick = (lengths <= 8) & ~_has_non_digit(digits)
    result = _parse_eight_digits(digits).astype(np.int64)
    for row in np.flatnonzero(~quick).tolist():
        token = rows.token(row, column)
        body = token[1:] if token[:1] in (b"-", b"+") else token
        if body.isdigit() and len(body) < 20 and -(2**31) <= int(token) < 2**31:
            result[row], quick[row] = int(token), True
    return result, quick


def parse_whole_numbers(
    rows: TokenRows, column: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
    """Parse a column as `parse_integers` does, and accept `2.0` and `2.00` as 2.

    Returns (int64 (n), readable: bool (n), number of cells written with decimals).
    """
    result, readable = parse_integers(rows, column)
    if readable.all():
        return result, readable, 0
    _, ends = rows.token_positions(column)
    zero = rows.text[ends - 1] == ord("0")
    written = (
        ~readable
        & zero
        & (
            (rows.text[ends - 2] == ord("."))
            | ((rows.text[ends - 2] == ord("0")) & (rows.text[ends - 3] == ord(".")))
        )
    )
    values, finite = parse_numbers(rows, column)
    written &= finite & (np.abs(values) < 2**31)
    result[written] = values[written].astype(np.int64)
    return result, readable | written, int(np.count_nonzero(written))


def _parse_short_numbers(
    rows: TokenRows, ends: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.int64] | None:
    """Parse grades and ranks in half the memory of words, or return None if a character is not a
    digit.

    lengths: 0 to 4 each.
    """
    keep = KEEP_FOUR.take(lengths)
    windows = np.ndarray((len(rows.text) - 3,), "V4", rows.text, strides=(1,))
    digits = windows[ends - 4].view("<u4")
    digits &= keep
    keep &= ZEROS_FOUR
    digits ^= keep
    if (((digits + OVER_NINE_FOUR) | digits) & HIGH_FOUR).any():
        return None
    pairs = digits * np.uint32(10) + (digits >> np.uint32(8))
    return (
        (pairs & np.uint32(0xFF)) * np.uint32(100) + ((pairs >> np.uint32(16)) & np.uint32(0xFF))
    ).astype(np.int64)
