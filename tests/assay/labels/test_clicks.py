from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts, read_clicks
from assay.formats.qrels import write_qrels
from assay.labels.clicks import make_click_labels
from tests.assay.comparison.rankings_by_hand import Grades, grades_by_topic


def log(folder: Path, *rows: str) -> ClickCounts:
    file = folder / "log.tsv"
    file.write_text(
        "session\ttopic\tdocument\trank\tclicked\n"
        + "".join(row.replace(" ", "\t") + "\n" for row in rows)
    )
    return read_clicks(str(file))


def labels(qrels: QrelsColumns) -> Grades:
    return grades_by_topic(qrels)


def test_raw_is_1_for_clicked_and_0_for_passed_over_above_a_click(tmp_path: Path) -> None:
    counts = log(
        tmp_path, "s1 t a 1 0", "s1 t b 2 1", "s1 t c 3 0", "s2 t a 1 0", "s2 t d 2 0", "s3 u a 1 0"
    )
    assert labels(make_click_labels(counts, "raw")) == {"t": {"a": 0, "b": 1}}


def test_raw_is_1_for_a_document_passed_over_once_and_clicked_once(tmp_path: Path) -> None:
    assert labels(
        make_click_labels(log(tmp_path, "s1 t a 1 0", "s1 t b 2 1", "s2 t a 1 1"), "raw")
    ) == {"t": {"a": 1, "b": 1}}


def test_dctr_grades_are_ranges_of_clicks_per_impression(tmp_path: Path) -> None:
    def shown(document: str, n_clicks: int, n_shown: int) -> list[str]:
        return [f"{document}{i} t {document} 1 {int(i < n_clicks)}" for i in range(n_shown)]

    rows = [
        *shown("never", 0, 5),
        *shown("low", 1, 26),
        *shown("on4", 1, 25),
        *shown("above4", 2, 49),
        *shown("on30", 3, 10),
        *shown("above30", 4, 13),
        *shown("all", 2, 2),
    ]
    expected = {"never": 0, "low": 1, "on4": 1, "above4": 2, "on30": 2, "above30": 3, "all": 3}
    counts = log(tmp_path, *rows)
    assert labels(make_click_labels(counts)) == {"t": expected}
    assert labels(make_click_labels(counts, thresholds=[0.5])) == {
        "t": expected | {"above4": 1, "on30": 1, "above30": 1, "all": 2}
    }


def test_thresholds_must_ascend(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ascend"):
        make_click_labels(log(tmp_path, "s1 t a 1 1"), thresholds=[0.3, 0.04])


@pytest.mark.data
@pytest.mark.parametrize(("model", "n_pairs"), [("dctr", 2626), ("raw", 2180)])
def test_the_simulated_log_of_nfcorpus_gives_the_expected_qrels(
    data_folder: Path, model: str, n_pairs: int
) -> None:
    folder = data_folder / "nfcorpus" / "sim-clicks"
    counts = read_clicks(str(folder / "clicks.tsv.gz"), shown=str(folder / "shown.tsv.gz"))
    assert (counts.n_sessions, int(counts.clicks.sum())) == (30_000, 19_245)
    qrels = make_click_labels(counts, model)
    out = io.StringIO()
    write_qrels(qrels, out)
    expected = (folder / f"expected.qrels.{model}.txt").read_text().splitlines()
    assert len(qrels) == n_pairs
    assert sorted(out.getvalue().splitlines()) == sorted(expected)
