from __future__ import annotations

import math
from io import StringIO
from pathlib import Path

import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.test_stability import written
from tests.assay.measures.small_collections import Small
from tests.commands import call_command

SMALL = Small(
    {"1": {"a": 1, "b": 1, "c": 0, "d": 1}},
    {
        "one": {"1": {"a": 3, "c": 2, "d": 1}},
        "two": {"1": {"b": 3, "a": 2}},
        "three": {"1": {"c": 2, "x": 1}},
    },
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(SMALL, tmp_path)


def test_the_answer_has_the_keys_of_the_contract_and_the_numbers_of_the_hand(
    files: list[str],
) -> None:
    found, _ = answer("reusability", *files, "--depth", 2, "--measures", "AP P@1")
    assert list(found["leave_out"]) == ["one", "two", "three"]
    assert list(found["depth"]) == ["1", "2"]
    # depth 2: one has a c, two b a, three c x: only b is of one run alone (x is not judged)
    assert [found["leave_out"][tag]["pairs"] for tag in ("one", "two", "three")] == [0, 1, 0]
    assert [found["depth"][depth]["pairs"] for depth in ("1", "2")] == [3, 3]
    two = found["leave_out"]["two"]
    assert set(two) == {"pairs", "tau", "runs"}
    # without b two's AP falls from 2/3 to (1/2)/2, and one's rises from 5/9 to (1 + 2/3)/2
    assert two["runs"]["two"]["score_change"]["AP"] == pytest.approx(1 / 4 - 2 / 3)
    assert two["runs"]["one"]["score_change"]["AP"] == pytest.approx(5 / 6 - 5 / 9)
    assert (two["runs"]["two"]["rank_change"]["AP"], two["runs"]["one"]["rank_change"]["AP"]) == (
        1,
        -1,
    )
    assert two["tau"]["AP"] == pytest.approx(1 / 3)
    # depth 1 and 2: d is gone: one 1/2, two 1, three 0
    assert found["depth"]["2"]["mean_abs_change"]["AP"] == pytest.approx((1 / 18 + 1 / 3) / 3)


def test_groups_are_left_out_as_wholes(files: list[str], tmp_path: Path) -> None:
    table = tmp_path / "groups.tsv"
    table.write_text("tag\tgroup\none\tnorth\nthree\tnorth\nabsent\tsouth\n")
    found, warnings = answer(
        "reusability", *files, "--depth", 1, "--measures", "AP", "--groups", table
    )
    assert {unit: left["pairs"] for unit, left in found["leave_out"].items()} == {
        "north": 2,
        "two": 1,
    }
    assert "no line for two; each counts as its own group" in warnings
    assert "1 run is not among the run files: absent" in warnings


def test_a_run_in_two_groups_is_refused(files: list[str], tmp_path: Path) -> None:
    table = tmp_path / "groups.csv"
    table.write_text("one,north\none,south\n")
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(
            "reusability", *files, "--groups", str(table), "--json", stdout=out, stderr=err
        )
    assert (ended.value.code, out.getvalue()) == (2, "")
    assert "the run one is in two groups, north and south" in err.getvalue()


def test_groups_of_other_runs_are_refused(files: list[str], tmp_path: Path) -> None:
    table, err = tmp_path / "groups.csv", StringIO()
    table.write_text("four,north\nfive,south\n")
    with pytest.raises(SystemExit) as ended:
        call_command("reusability", *files, "--groups", str(table), stdout=StringIO(), stderr=err)
    assert ended.value.code == 2
    assert "contains none of the runs; its tags are four, five" in err.getvalue()


def test_any_number_of_processes_gives_the_same(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.comparison.reusability.CHUNK_COLUMNS", 2)
    assert answer("reusability", *files)[0] == answer("reusability", *files, "--processes", 2)[0]


def test_one_run_has_changes_but_no_tau(files: list[str]) -> None:
    found, _ = answer("reusability", *files[:2], "--depth", 1, "--measures", "AP")
    assert found["leave_out"]["one"]["tau"]["AP"] is None
    assert "tau is undefined" in found["undefined"]
    assert found["leave_out"]["one"]["pairs"] == 1


def test_the_table_names_runs_and_depths(files: list[str]) -> None:
    out = StringIO()
    call_command(
        "reusability", *files, "--depth", "2", "--measures", "AP", stdout=out, stderr=StringIO()
    )
    assert "Pool of depth 2, qrels of 4 pairs, 1 topic." in out.getvalue()
    assert "three" in out.getvalue()


def test_what_a_run_left_out_would_be_told_as_a_late_run(files: list[str]) -> None:
    """Depth 2: two has b and a, and b is its alone. With discount d = 1/log2(3): judged it has the
    ideal; b a hole, a at rank 2 over the ideal of a and d.

    Expected: of the documents that one of the others alone has there, a is judged: e = (1 + .3) /
    (1 + 1)."""
    found, _ = answer("reusability", *files, "--depth", 2, "--measures", "AP", "--as-unpooled")
    late = found["unpooled"]["runs"]["two"]
    d = 1 / math.log2(3)
    assert (found["unpooled"]["cutoff"], late["left_out"], late["unjudged"], late["judged"]) == (
        2,
        "two",
        1,
        1,
    )
    assert late["unjudged_as_0"] == pytest.approx(d / (1 + d))
    assert late["bounds"] == pytest.approx([d / (1 + d), 1])
    assert late["expected"] == pytest.approx((0.65 + d) / (1 + d))
    one = found["unpooled"]["runs"]["one"]
    assert (one["unjudged"], one["bounds"]) == (0, [one["judged"]] * 2), "nothing is its alone"
    assert "unpooled" not in answer("reusability", *files, "--depth", 2, "--measures", "AP")[0]
    out = StringIO()
    call_command(
        "reusability",
        *files,
        "--depth",
        "2",
        "--measures",
        "AP",
        "--as-unpooled",
        stdout=out,
        stderr=StringIO(),
    )
    assert "nDCG@2 judged" in out.getvalue()


def test_a_run_without_a_score_is_said_and_hides_no_change_of_the_others(
    files: list[str], tmp_path: Path
) -> None:
    """Over the topics that a run has: `apart` has none of the qrels'. Whatever its place, the
    changes are those of the three others alone."""
    apart = tmp_path / "apart.run"
    apart.write_text("7 Q0 a 1 3 apart\n")
    qrels, *runs = files
    alone, _ = answer("reusability", *files, "--depth", 2, "--measures", "AP")
    for given in ([str(apart), *runs], [*runs, str(apart)]):
        arguments = (
            "reusability",
            qrels,
            *given,
            "--depth",
            2,
            "--measures",
            "AP",
            "--missing-topics",
            "skip",
        )
        found, _ = answer(*arguments)
        assert found["undefined"].startswith(
            "apart has no topic in common with the qrels and therefore no score"
        )
        two = found["leave_out"]["two"]["runs"]
        assert two["apart"] == {"score_change": {"AP": None}, "rank_change": {"AP": None}}
        assert {tag: two[tag] for tag in alone["leave_out"]} == alone["leave_out"]["two"]["runs"]
        out = StringIO()
        call_command(*map(str, arguments), stdout=out, stderr=StringIO())
        row = next(line.split() for line in out.getvalue().splitlines() if line.startswith("two "))
        assert (float(row[3]), float(row[4])) == (pytest.approx(1 / 4 - 2 / 3, abs=1e-4), 1), (
            "of two itself, which falls from 2/3 to 1/4 and by a place"
        )
        assert "apart has no topic in common with the qrels" in out.getvalue()


def test_topics_without_relevant_documents_are_left_out_when_asked_for(
    files: list[str], tmp_path: Path
) -> None:
    """Topic 2 has none, and counts 0 for each run: with it every change of a mean is halved."""
    qrels = tmp_path / "two.qrels"
    qrels.write_text(Path(files[0]).read_text() + "2 0 z 0\n")
    asked = ("--depth", 2, "--measures", "AP")
    one, half = (
        answer("reusability", *files, *asked)[0],
        answer("reusability", qrels, *files[1:], *asked)[0],
    )
    assert half["leave_out"]["two"]["runs"]["two"]["score_change"]["AP"] == pytest.approx(
        (1 / 4 - 2 / 3) / 2
    )
    assert answer("reusability", qrels, *files[1:], *asked, "--only-with-relevant")[0] == one
    assert "no document of any topic has grade 2 or higher" in refused(
        "reusability", qrels, *files[1:], *asked, "--only-with-relevant", "--min-relevant", 2
    )
