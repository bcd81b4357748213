"""Files of documents to compare."""

from __future__ import annotations

import io

import pytest

from assay.formats.battles import read_document_battles
from assay.formats.errors import FormatError
from assay.pools.battles import DocumentBattle


def read(text: str) -> list[DocumentBattle]:
    return read_document_battles(io.BytesIO(text.encode()), name="pairs.tsv")


def test_rows_are_battles_in_their_order_and_systems_of_a_pair_are_joined() -> None:
    header = "topic\ta\tb\tsystem_a\tsystem_b\n"
    assert read(header + "1\td1\td2\tx\ty\n1\td1\td2\tx\tz\n2\td3\td1\ty\tx\n") == [
        DocumentBattle("1", "d1", "d2", 1, (("x", "y"), ("x", "z"))),
        DocumentBattle("2", "d3", "d1", 1, (("y", "x"),)),
    ]
    assert read("1 d1 d2\n1 d2 d1\n") == [
        DocumentBattle("1", "d1", "d2"),
        DocumentBattle("1", "d2", "d1"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 d1\n", "pairs.tsv:1: 2 columns, expected topic a b"),
        ("1 d1 d2\n1 d1 d1\n", "pairs.tsv:2: d1 against itself, expected two different documents"),
        ("1 d1 d2\n1 d1 d2\n", "pairs.tsv:2: duplicate row, expected each pair once per order"),
        ("topic a b\n", "pairs.tsv:1: no pairs, expected rows topic a b"),
    ],
)
def test_a_wrong_row_is_reported_with_its_line(text: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        read(text)
    assert said in str(error.value)
