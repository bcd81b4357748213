"""Columns of decimal numbers, read with array operations on eight digits at once, exactly as float() and int() read them."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pooling.formats.cells import WORD, Rows, U, take_bytes

ZEROS = U(0x3030303030303030)
DOTS = U(0x2E2E2E2E2E2E2E2E)
LOW = U(0x7F7F7F7F7F7F7F7F)
HIGH = U(0x8080808080808080)
OVER_NINE = U(0x7676767676767676)
PAIRS = U(0x000000FF000000FF)
EXACT = U(1 << 53)
POWERS = 10.0 ** np.arange(23)
EXTENDED = np.finfo(np.longdouble).nmant == 63
"""The machine's long double has 64 bits of mantissa (x86)."""
LONG_POWERS = np.cumprod(np.concatenate(([1], np.full(27, 10))).astype(np.longdouble))


@cache
def _keep_last(width: int) -> NDArray[np.uint64]:
    """Row n: words that keep the last n bytes of `width`. -> uint64 (width / 8, width + 1)"""
    keep = np.arange(width)[None, :] >= width - np.arange(width + 1)[:, None]
    return np.ascontiguousarray((keep * np.uint8(255)).astype(np.uint8).view(WORD).T)


def _eight_digits(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The number that eight bytes 0..9 write, the first byte being the most significant digit."""
    pairs = digits * U(10)
    pairs += digits >> U(8)
    low = pairs >> U(16)
    low &= PAIRS
    low *= U(0x0000271000000001)
    pairs &= PAIRS
    pairs *= U(0x000F424000000064)
    pairs += low
    pairs >>= U(32)
    return pairs


def _like_the_first(rows: Rows, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The numbers where all have as many decimals as the first one, at most 8, and at most 7 digits before the point; else None."""
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
    keep = _keep_last(8)[0]
    part = take_bytes(rows.text, ends - 8, 8)[:, 0]
    part &= keep[n_decimals]
    part ^= ZEROS & keep[n_decimals]
    kept = keep.take(lengths)
    whole = take_bytes(rows.text, points - 8, 8)[:, 0]
    whole &= kept
    kept &= ZEROS
    whole ^= kept
    if (((part + OVER_NINE) | part | (whole + OVER_NINE) | whole) & HIGH).any():
        return None
    mantissa = _eight_digits(whole)
    mantissa *= U(10**n_decimals)
    mantissa += _eight_digits(part)
    return mantissa.astype(np.float64) / POWERS[n_decimals]


def numbers(rows: Rows, column: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column of decimal numbers, exactly as float() reads them. -> (float64 (n), readable and finite: bool (n))

    Refused although float() takes them: underscores between digits, inf, nan.
    Plain decimals of up to 19 digits: mantissa as an integer, divided once by a power of ten. Both are exact in double when the
    mantissa is at most 2**53 and the power at most 10**22, so the one division rounds correctly (Clinger 1990); beyond that in
    long double, except where its result lies half way between two doubles.
    """
    starts, ends = rows.places(column)
    n = len(starts)
    if n == 0:
        return np.empty(0), np.empty(0, bool)
    alike = _like_the_first(rows, starts, ends)
    if alike is not None:
        return alike, np.ones(n, bool)
    negative = rows.text[starts] == ord("-")
    lengths = ends - starts
    if signed := bool(negative.any()):
        lengths = lengths - negative
    width = min(max(-(-int(lengths.max()) // 8) * 8, 8), 24)
    quick = (lengths > 0) & (lengths <= width)
    taken = take_bytes(rows.text, ends - width, width)
    keep = _keep_last(width)[:, np.minimum(lengths, width)]
    n_words = width // 8
    words = [(taken[:, k] & keep[k]) | (ZEROS & ~keep[k]) for k in range(n_words)]
    n_decimals = np.zeros(n, np.uint64)
    n_dots = np.zeros(n, np.uint8)
    later = np.zeros(n, bool)
    for k in range(n_words - 1, -1, -1):
        x = words[k] ^ DOTS
        dots = ~(((x & LOW) + LOW) | x) & HIGH
        here = dots != 0
        if here.any():
            n_here = np.bitwise_count(dots)
            n_dots += n_here
            below = (dots >> U(7)) - U(1)
            n_decimals += here * (U(8 * (n_words - 1 - k) + 7) - (np.bitwise_count(below) >> np.uint8(3)))
            shifts = here | later
        elif later.any():
            below, shifts = np.full(n, ~U(0)), later
        else:
            continue
        above = ~((dots << U(1)) - U(1))
        into = words[k - 1] >> U(56) if k else U(0x30)
        closed = (words[k] & above) | ((words[k] & below) << U(8)) | into
        words[k] = np.where(shifts, closed, words[k])
        later = shifts
    mantissa = np.zeros(n, np.uint64)
    for k in range(n_words):
        digits = words[k] ^ ZEROS
        quick &= (((digits + OVER_NINE) | digits) & HIGH) == 0
        if n_words == 3 and k == 0:
            value = _eight_digits(digits)
            quick &= value < U(1844)
            mantissa = value
        else:
            mantissa = mantissa * U(100_000_000) + _eight_digits(digits) if k else _eight_digits(digits)
    quick &= (n_dots <= 1) & (lengths > n_dots)
    small = mantissa <= EXACT
    decimals = np.minimum(n_decimals, U(22)).astype(np.intp)
    result = mantissa.astype(np.float64) / POWERS.take(decimals)
    if not small.all():
        large = np.flatnonzero(quick & ~small)
        if EXTENDED:
            wide = mantissa[large].astype(np.longdouble) / LONG_POWERS.take(n_decimals[large].astype(np.intp))
            result[large] = wide.astype(np.float64)
            half_way = (wide.view(WORD)[::2] & U(0x7FF)) == U(0x400)
            quick[large[half_way]] = False
        else:
            quick[large] = False
    quick &= n_decimals <= U(22)
    if signed:
        np.negative(result, out=result, where=negative)
    if quick.all():
        return result, quick
    readable = quick
    for row in np.flatnonzero(~quick).tolist():
        token = rows.token(row, column)
        try:
            number = float(token)
        except ValueError:
            number = np.nan
        result[row] = number
        readable[row] = np.isfinite(number) and b"_" not in token
    return result, readable


KEEP_FOUR = np.array([0, 0xFF000000, 0xFFFF0000, 0xFFFFFF00, 0xFFFFFFFF], np.uint32)
"""Entry n keeps the last n of four bytes."""


def integers(rows: Rows, column: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column of whole numbers that fit 32 bits. -> (int64 (n), readable: bool (n))"""
    starts, ends = rows.places(column)
    if len(starts) == 0:
        return np.empty(0, np.int64), np.empty(0, bool)
    lengths = ends - starts
    if int(lengths.max()) <= 4:
        keep4 = KEEP_FOUR.take(lengths)
        windows = np.ndarray((len(rows.text) - 3,), "V4", rows.text, strides=(1,))
        four = windows[ends - 4].view("<u4")
        four &= keep4
        keep4 &= np.uint32(0x30303030)
        four ^= keep4
        if not (((four + np.uint32(0x76767676)) | four) & np.uint32(0x80808080)).any():
            four = four * np.uint32(10) + (four >> np.uint32(8))
            four = (four & np.uint32(0xFF)) * np.uint32(100) + ((four >> np.uint32(16)) & np.uint32(0xFF))
            return four.astype(np.int64), np.ones(len(four), bool)
    keep = _keep_last(8)[0].take(np.minimum(lengths, 8))
    digits = (take_bytes(rows.text, ends - 8, 8)[:, 0] & keep) ^ (ZEROS & keep)
    quick = (lengths <= 8) & ((((digits + OVER_NINE) | digits) & HIGH) == 0)
    result = _eight_digits(digits).astype(np.int64)
    for row in np.flatnonzero(~quick).tolist():
        token = rows.token(row, column)
        body = token[1:] if token[:1] in (b"-", b"+") else token
        if body.isdigit() and len(body) < 20 and -(2**31) <= int(token) < 2**31:
            result[row], quick[row] = int(token), True
    return result, quick
