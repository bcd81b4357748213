"""`make paper`. The studies themselves are those of tests/test_reproduction.py, with other keys."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from analysis.studies.papers import STUDY_NAMES
from benchmarks import paper
from tests.conftest import absent

TEX = (paper.PAPER_DIR / "paper.tex").read_text("utf-8")
STUDIES = sorted(path.stem for path in paper.PAPER_DIR.glob("*.toml"))


def test_all_five_studies_are_in_the_paper() -> None:
    assert {name.partition("-")[0] for name in STUDIES} == set(STUDY_NAMES)
    included = re.findall(r"[{]([\w-]+)/(?:tables|figures|words|macros)", TEX)
    assert set(included) == set(STUDIES)


def test_without_pdflatex_or_data_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_TEST_DATA", "")
    assert paper.main() == 2
    assert "ASSAY_TEST_DATA is not set" in capsys.readouterr().err
    monkeypatch.setenv("ASSAY_TEST_DATA", "/nowhere")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert paper.main() == 2
    assert "pdflatex is not installed" in capsys.readouterr().err


def test_too_wide_lines_and_errors_are_reported(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no paper was typeset")
    body = r"\noindent\rule{600pt}{1pt}\end{document}"
    (tmp_path / "wide.tex").write_text(paper.HEAD + body, encoding="utf-8")
    assert [line.split(" (")[0] for line in paper.typeset(tmp_path, "wide")] == [r"Overfull \hbox"]
    (tmp_path / "wrong.tex").write_text(paper.HEAD + r"\nocommand\end{document}", encoding="utf-8")
    with pytest.raises(RuntimeError, match="Undefined control sequence"):
        paper.typeset(tmp_path, "wrong")
