"""Quepid's own tables: exact headers, empty where nothing is known, read back by our reader of
ratings."""

from __future__ import annotations

import io

from assay.formats.delimited import escape_formula
from assay.formats.quepid import read_ratings
from assay.formats.quepid_tables import (
    CaseQuery,
    RatedPair,
    write_detailed,
    write_general,
    write_ratings,
)

PAIRS = [
    RatedPair("red, shoes", "d1", 1, 'A "title"', 3),
    RatedPair("red, shoes", "=d2", 2, "", 0),
    RatedPair("hats", "d1", 1),
]


def test_ratings_are_quepids_basic_export_and_are_read_back():
    out = io.StringIO()
    write_ratings(PAIRS, out)
    assert out.getvalue() == 'query,docid,rating\n"red, shoes",d1,3\n"red, shoes",=d2,0\nhats,d1,\n'
    found = read_ratings(io.BytesIO(out.getvalue().encode()))
    assert (found.topics, found.documents.tolist(), found.grades.tolist()) == (
        ["red, shoes"],
        [b"=d2", b"d1"],
        [0, 3],
    )


def test_the_detailed_export():
    out = io.StringIO()
    write_detailed(PAIRS, out, case="Shoes", safe=escape_formula)
    assert out.getvalue().splitlines() == [
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating",
        ',Shoes,1,"red, shoes",d1,1,"A ""title""",3',
        ',Shoes,1,"red, shoes",\'=d2,2,,0',
        ",Shoes,1,hats,d1,1,,",
    ]


def test_the_general_export_has_no_score_rather_than_0():
    out = io.StringIO()
    write_general([CaseQuery("hats", 2, "hats to wear")], out, case="Shoes")
    assert out.getvalue().splitlines() == [
        "Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options",
        ",Shoes,1,hats,,,2,hats to wear,,",
    ]
