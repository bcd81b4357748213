"""Judgements of a sampled pool: five columns, with strata."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.formats.errors import FormatError
from assay.formats.prel import read_prel, write_prel

LINES = "1 0 b low 2\n1 0 a low -1\n2 0 a *all 0\n1 0 c *all 1\n2 0 b low -1\n"


def test_a_stratum_belongs_to_its_topic_unless_it_begins_with_a_star(tmp_path: Path) -> None:
    (tmp_path / "pool.prel").write_text("# made by hand\n\n" + LINES)
    prel = read_prel(tmp_path / "pool.prel")
    assert prel.qrels.topics == ["1", "2"]
    assert prel.qrels.documents.tolist() == [b"a", b"b", b"c", b"a", b"b"]
    assert prel.qrels.grades.tolist() == [-1, 2, 1, 0, -1]
    assert [prel.strata[k] for k in prel.stratum] == ["1/low", "1/low", "*all", "*all", "2/low"]


def test_what_is_written_reads_back_and_is_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "pool.prel").write_text(LINES)
    first = io.StringIO()
    write_prel(read_prel(tmp_path / "pool.prel"), first)
    assert (
        first.getvalue() == "1 0 a low -1\n1 0 b low 2\n1 0 c *all 1\n2 0 a *all 0\n2 0 b low -1\n"
    )
    (tmp_path / "again.prel").write_text(first.getvalue())
    second = io.StringIO()
    write_prel(read_prel(tmp_path / "again.prel"), second)
    assert second.getvalue() == first.getvalue()


def test_every_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.prel").write_text(
        "1 0 a low 1\n1 0 a 1\n1 0 a low 0\n1 0 b low x\n1 0 c low 1 more\n"
    )
    with pytest.raises(FormatError) as error:
        read_prel(tmp_path / "bad.prel")
    assert [line.split(":")[1] for line in error.value.lines()] == ["2", "3", "4", "5"]
    assert "plain qrels have 4 columns" in error.value.lines()[0]
    assert "first in line 1" in error.value.lines()[1]
    assert "'x' is not a grade" in error.value.lines()[2]
    assert "6 columns" in error.value.lines()[3]


@pytest.mark.parametrize("grade", ["1_0", "١", "1.5", "1e0", "0x1", "99999999999"])
def test_a_grade_is_read_as_in_qrels_and_nothing_else_is_one(tmp_path: Path, grade: str) -> None:
    """int() alone reads 1_0 as 10."""
    (tmp_path / "bad.prel").write_text(f"1 0 a low {grade}\n")
    with pytest.raises(FormatError, match="is not a grade"):
        read_prel(tmp_path / "bad.prel")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.prel").write_text("# nothing\n")
    with pytest.raises(FormatError, match="no lines with grades"):
        read_prel(tmp_path / "empty.prel")
