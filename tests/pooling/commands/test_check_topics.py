"""manage.py check_topics on plain files."""

from __future__ import annotations

import io
import json

import pytest

from tests.commands import call_command

TOPICS = "1\tHeart failure\n2\t#1 or #2\n3\theart  FAILURE\n4\theart-failure\n5\tfailure heart\n6\tother\n"


def run(*arguments) -> tuple[dict, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("check_topics", *map(str, arguments), "--json", stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("exact", {"2": "no text", "3": "duplicate"}),
        ("punctuation", {"2": "no text", "3": "duplicate", "4": "duplicate"}),
        ("suspect", {"2": "no text", "3": "duplicate", "4": "duplicate", "5": "suspect"}),
    ],
)
def test_kept_and_removed_are_all_topics_and_reasons_follow_the_level(tmp_path, match, expected):
    path = tmp_path / "topics.tsv"
    path.write_text(TOPICS)
    result, _ = run(path, "--match", match)
    assert {r["topic"]: r["reason"] for r in result["removed"]} == expected
    assert result["kept"] + len(result["removed"]) == 6
    assert result["removed"][1] == {
        "topic": "3",
        "text": "heart FAILURE",
        "reason": "duplicate",
        "same_as": "1",
    }
    assert result["seed"] == 0


def test_both_lists_are_written(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text(TOPICS)
    run(path, "--keep", tmp_path / "keep.tsv", "--removed", tmp_path / "removed.tsv")
    assert (
        tmp_path / "keep.tsv"
    ).read_text() == "1\tHeart failure\n4\theart-failure\n5\tfailure heart\n6\tother\n"
    assert (
        (tmp_path / "removed.tsv").read_text()
        == "topic\ttext\treason\tsame_as\n2\t#1 or #2\tno text\t\n3\theart FAILURE\tduplicate\t1\n"
    )
    again, _ = run(tmp_path / "keep.tsv")
    assert (again["kept"], again["removed"]) == (4, [])


def test_without_json_a_person_reads_a_table(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text(TOPICS)
    out = io.StringIO()
    call_command("check_topics", str(path), stdout=out)
    assert "4 topics to keep, 2 to remove (exact)." in out.getvalue()


def test_bad_input_ends_with_status_2_and_nothing_on_standard_output(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("1\ta\n1\tb\nno tab\n")
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as stop:
        call_command(
            "check_topics", str(path), "--keep", str(tmp_path / "keep.tsv"), stdout=out, stderr=err
        )
    assert stop.value.code == 2
    assert out.getvalue() == ""
    lines = err.getvalue().splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:2", f"{path}:3"]
    assert not (tmp_path / "keep.tsv").exists()


def test_a_missing_file_is_one_sentence(tmp_path):
    err = io.StringIO()
    with pytest.raises(SystemExit) as stop:
        call_command("check_topics", str(tmp_path / "none"), stdout=io.StringIO(), stderr=err)
    assert stop.value.code == 2
    assert err.getvalue().strip() == f"{tmp_path / 'none'}: No such file or directory"
