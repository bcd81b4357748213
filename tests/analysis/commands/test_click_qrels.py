from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import files, printed

LOG = "session\ttopic\tdocument\trank\tclicked\ns1\tt\ta\t1\t0\ns1\tt\tb\t2\t1\ns1\tt\tc\t3\t0\ns2\tt\ta\t1\t0\ns2\tt\td\t2\t0\n"
CLICKS = "session\tquery_id\trank\tdoc_id\ns1\tt\t2\tb\ns2\tt\t0\t\n"
SHOWN = "query_id\trank\tdoc_id\nt\t1\ta\nt\t2\tb\nt\t3\tc\n"


def test_dctr_labels_everything_shown(tmp_path: Path) -> None:
    target = tmp_path / "qrels.txt"
    result = run("click_qrels", *files(tmp_path, log=LOG), "--output", str(target))
    assert (result["pairs"], result["labels"]) == (4, {"0": 3, "1": 0, "2": 0, "3": 1})
    assert target.read_text() == "t 0 a 0\nt 0 b 3\nt 0 c 0\nt 0 d 0\n"


def test_raw_labels_what_was_clicked_or_passed_over(tmp_path: Path) -> None:
    target = tmp_path / "qrels.txt"
    result = run("click_qrels", *files(tmp_path, log=LOG), "--model", "raw", "--output", str(target))
    assert (result["pairs"], result["labels"]) == (2, {"0": 1, "1": 1})
    assert target.read_text() == "t 0 a 0\nt 0 b 1\n"


def test_clicks_and_rankings_shown_may_be_two_files(tmp_path: Path) -> None:
    clicks, shown = files(tmp_path, clicks=CLICKS, shown=SHOWN)
    target = tmp_path / "qrels.txt"
    run("click_qrels", clicks, "--shown", shown, "--thresholds", "0.04,0.6", "--output", str(target))
    assert target.read_text() == "t 0 a 0\nt 0 b 2\nt 0 c 0\n"


def test_the_table_shows_grades_and_shares(tmp_path: Path) -> None:
    out, _ = printed("click_qrels", *files(tmp_path, log=LOG))
    assert out.startswith("dctr: 4 pairs of 1 topics from 1 clicks in 2 sessions")
    assert ["0", "3", "0.7500"] in [line.split() for line in out.splitlines()]


@pytest.mark.parametrize("rates", ["0.3,0.04", "0.04,0.04", "x", "", "0.1,2", "nan"])
def test_thresholds_must_be_ascending_rates(tmp_path: Path, rates: str) -> None:
    with pytest.raises(CommandError, match="ascending rates"):
        run("click_qrels", *files(tmp_path, log=LOG), "--thresholds", rates)


def test_a_wrong_row_is_refused_with_its_line_and_no_file_is_left(tmp_path: Path) -> None:
    (log,) = files(tmp_path, log=LOG + "s3\tt\ta\tfirst\t1\n")
    target = tmp_path / "qrels.txt"
    status, out, err = refused("click_qrels", log, "--output", str(target))
    assert (status, out) == (2, "")
    assert err.startswith(f"{log}:7: ")
    assert not target.exists()


@pytest.mark.data
@pytest.mark.parametrize(("model", "labels"), [("dctr", {"0": 1094, "1": 757, "2": 612, "3": 163}), ("raw", {"0": 648, "1": 1532})])
def test_the_simulated_log_of_nfcorpus_gives_the_expected_labels(
    data_folder: Path, tmp_path: Path, model: str, labels: dict[str, int]
) -> None:
    folder = data_folder / "nfcorpus" / "sim-clicks"
    target = tmp_path / "qrels.txt"
    arguments = [str(folder / "clicks.tsv.gz"), "--shown", str(folder / "shown.tsv.gz"), "--model", model, "--output", str(target)]
    result = run("click_qrels", *arguments)
    assert (result["labels"], result["topics"], result["sessions"]) == (labels, 277, 30_000)
    assert sorted(target.read_text().splitlines()) == sorted((folder / f"expected.qrels.{model}.txt").read_text().splitlines())
