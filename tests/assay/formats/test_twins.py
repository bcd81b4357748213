"""The fast readers against slow ones, on random files made of what real and broken files are made
of."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest

from assay.formats import cells, numerals
from assay.formats.errors import FormatError
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run

from . import naive

TOPICS = ["1", "2", "051", "t-3", "topic.with.a.long.name", "é"]
DOCUMENTS = [
    "d",
    "D",
    "d1",
    "d10",
    "d9",
    "document-1",
    "document-10",
    "a-much-longer-document-id-0001",
    "a-much-longer-document-id-0002",
    "日本",
]
SCORES = [
    "1",
    "1.0",
    "2",
    "-1",
    "0.1",
    "0.10000000001",
    "1e-3",
    "12.345678",
    "12.345678901234567",
    "9007199254740993",
    "3.",
    ".5",
    "+7",
    "-0",
]
BROKEN = ["nan", "inf", "1_0", "x", "1e999", "--", "0x1", "1.2.3", "１"]
SEPARATORS = [" ", "\t", "  ", " \t", "\x0b", "\x0c"]


def random_run(rng: random.Random, *, n_lines: int, broken: float, regular: bool) -> str:
    lines = []
    for _ in range(n_lines):
        row = [
            rng.choice(TOPICS),
            "Q0",
            rng.choice(DOCUMENTS) + rng.choice(["", "", str(rng.randrange(2000))]),
            str(rng.randrange(9)),
        ]
        row += [
            rng.choice(SCORES)
            if rng.random() < 0.5
            else repr(rng.uniform(-1, 1) * 10 ** rng.randrange(-8, 9)),
            "tag",
        ]
        if rng.random() < broken:
            kind = rng.randrange(4)
            if kind == 0:
                row[4] = rng.choice(BROKEN)
            elif kind == 1:
                row = row[: rng.randrange(7)]
            elif kind == 2:
                row += ["more"]
            elif rng.random() < 0.5:
                row[0] = "#" + row[0]
            else:
                row[2] = "#"
        if regular:
            lines.append(" ".join(row))
        else:
            lines.append(
                rng.choice(["", "", " "])
                + "".join(cell + rng.choice(SEPARATORS) for cell in row).rstrip(
                    " \t\x0b\x0c" * rng.randrange(2)
                )
            )
    return "\n".join(lines) + rng.choice(["", "\n", "\r\n", "\n\n"])


@pytest.mark.parametrize("seed", range(60))
def test_runs_are_read_as_a_slow_reader_reads_them(seed):
    rng = random.Random(seed)
    text = random_run(
        rng,
        n_lines=rng.choice([1, 3, 20, 300]),
        broken=rng.choice([0, 0, 0.02]),
        regular=rng.random() < 0.5,
    )
    if rng.random() < 0.2:
        text = text.replace("\n", "\r\n")
    try:
        expected = naive.read_run(text)
    except naive.Refused as error_found:
        refused = error_found
        expected = None
    if expected is None:
        with pytest.raises(FormatError) as error:
            read_run(io.BytesIO(text.encode()))
        assert error.value.count == max(len(refused.lines), 1)
        assert (
            [p.line for p in error.value.problems] == (refused.lines[:50] or [None])
            if error.value.count <= 50
            else True
        )
        return
    run = read_run(io.BytesIO(text.encode()))
    got = {
        topic: list(
            zip(
                [d.decode() for d in run.documents[run.rows(i)].tolist()],
                run.scores[run.rows(i)].tolist(),
                strict=True,
            )
        )
        for i, topic in enumerate(run.topics)
    }
    assert got == expected
    assert list(got) == list(expected)


@pytest.mark.parametrize("seed", range(40))
def test_qrels_are_read_as_a_slow_reader_reads_them(seed):
    rng = random.Random(1000 + seed)
    lines = []
    for _ in range(rng.choice([1, 5, 400])):
        row = [
            rng.choice(TOPICS),
            rng.choice(["0", "Q0", "x"]),
            rng.choice(DOCUMENTS) + str(rng.randrange(200)),
            rng.choice(["0", "1", "2", "-1", "+3"]),
        ]
        if rng.random() < 0.01:
            row[3] = rng.choice(["1.0", "0.00", "1.5", "x", "", "1_0", "nan"])
        lines.append(rng.choice(["", "", "", "# a comment "]) + rng.choice(SEPARATORS).join(row))
    text = "\n".join(lines) + "\n"
    try:
        expected = naive.read_qrels(text)
    except naive.Refused as error_found:
        refused = error_found
        expected = None
    if expected is None:
        with pytest.raises(FormatError) as error:
            read_qrels(io.BytesIO(text.encode()))
        assert error.value.count == max(len(refused.lines), 1)
        return
    qrels = read_qrels(io.BytesIO(text.encode()))
    got = {
        topic: list(
            zip(
                [d.decode() for d in qrels.documents[qrels.rows(i)].tolist()],
                qrels.grades[qrels.rows(i)].tolist(),
                strict=True,
            )
        )
        for i, topic in enumerate(qrels.topics)
    }
    assert got == expected


def rows_of_one_column(texts: list[str]) -> cells.TokenRows:
    rows, _, _ = cells.find_rows(
        "".join(f"{text}\n" for text in texts).encode(),
        1,
        1,
        cells.ProblemList(),
        expected="a number",
    )
    return rows


def read_numbers(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    return numerals.parse_numbers(rows_of_one_column(texts), 0)


@pytest.mark.parametrize("seed", range(10))
def test_two_hundred_thousand_numbers_are_read_to_the_last_bit_as_float_does(seed):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(10_000):
        n, places = int(rng.integers(1, 23)), int(rng.integers(0, 22))
        digits = "".join(map(str, rng.integers(0, 10, n)))
        texts.append(
            ("-" if rng.random() < 0.2 else "")
            + (
                digits[: max(n - places, 0)] + "." + digits[max(n - places, 0) :]
                if places
                else digits
            )
        )
    values = rng.standard_normal(10_000) * 10.0 ** rng.integers(-12, 12, 10_000)
    texts += [repr(float(v)) for v in values]
    texts = [text if text not in (".", "-.") else "0" for text in texts]
    found, readable = read_numbers(texts)
    assert readable.all()
    expected = np.array([float(text) for text in texts])
    assert found.tobytes() == expected.tobytes()


def test_numbers_half_way_between_two_doubles_round_to_even_as_float_does():
    rng = np.random.default_rng(7)
    texts = []
    for _ in range(3000):
        low = float(rng.integers(1, 2**30)) / 2.0 ** int(rng.integers(0, 4))
        for exact in (
            (2**53) + 2 * int(rng.integers(0, 1000)) + 1,
            (2**54) + 4 * int(rng.integers(0, 1000)) + 2,
        ):
            texts += [str(exact), f"{exact}.0", f"{exact}.5"[:24]]
        texts.append(repr(low))
    found, readable = read_numbers(texts)
    assert readable.all()
    assert found.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "18439999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "18449999999999999999",
        "000018449999999999999999",
    ],
)
def test_whole_numbers_about_two_to_the_64_are_read_as_float_does_and_never_wrap(text):
    """As 64 bits without a sign the last two would be 3.3e15."""
    found, readable = read_numbers([text])
    assert readable.all()
    assert found.tolist() == [float(text)]


def test_whole_numbers_are_read_to_the_ends_of_32_bits_and_none_beyond():
    texts = ["2147483647", "2147483648", "-2147483648", "-2147483649", "+2147483647"]
    found, readable = numerals.parse_integers(rows_of_one_column(texts), 0)
    assert readable.tolist() == [True, False, True, False, True]
    assert found[readable].tolist() == [2**31 - 1, -(2**31), 2**31 - 1]


@pytest.mark.parametrize("seed", range(5))
def test_read_numbers_accepts_exactly_the_valid_finite_numbers(seed):
    rng = random.Random(seed)
    texts = [
        "".join(rng.choice("0123456789.-+eE_naif") for _ in range(rng.randrange(1, 12)))
        for _ in range(4000)
    ]
    texts += [
        rng.choice(["", "-", "+"])
        + str(rng.randrange(100))
        + rng.choice(["", ".", ".5", "..", "-", "e5"])
        for _ in range(2000)
    ]
    found, readable = read_numbers(texts)
    for text, value, is_number in zip(texts, found.tolist(), readable.tolist(), strict=True):
        valid = bool(naive.NUMBER.fullmatch(text)) and abs(float(text)) < float("inf")
        assert is_number == valid, text
        if valid:
            assert value == float(text), text
