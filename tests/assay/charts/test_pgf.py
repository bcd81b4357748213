"""Charts as TikZ pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.charts import bars, points
from assay.charts.pgf import render_pgf
from assay.charts.print_files import MAX_INCHES, lay_out_figure
from tests.assay.charts.test_print_files import pictures
from tests.assay.two_columns import HEAD
from tests.conftest import absent


def test_a_bar_is_filled_and_hatched_in_points_of_the_page() -> None:
    """The wide form has 560 pixels, so a pixel is 7 * 72.27 / 560 points."""
    figure = bars.stacked_bar_chart(
        ["50 % & more"], [("one", [1.0]), ("two", [1.0])], caption="c", what="x"
    )
    lines = render_pgf(figure, inches=7.0).decode().splitlines()
    assert lines[1].startswith(r"\begin{tikzpicture}[x=0.9034pt,y=-0.9034pt")
    assert any(line.endswith(r"{50 \% \& more};") for line in lines)
    fills = [line for line in lines if line.startswith(r"\fill[fill={rgb,255:red,0;green,103;")]
    assert len(fills) == 2  # the bar, and its swatch in the legend
    assert sum("pattern=north east lines" in line for line in lines) == 2


def test_every_picture_is_typeset_within_its_width(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no TikZ picture was typeset")
    if not subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True, check=False).stdout:
        absent("latex", "TikZ is not installed, so no TikZ picture was typeset")
    drawn = [
        f"\n\n\\noindent {render_pgf(figure, inches=inches).decode()}"
        for figure in pictures().values()
        for inches in (3.3, 6.9)
    ]
    head = HEAD.replace("twocolumn", "11pt").replace(
        r"\begin{document}", r"\usepackage{tikz}\usetikzlibrary{patterns}\begin{document}"
    )
    (tmp_path / "a.tex").write_text(head + "".join(drawn) + r"\end{document}", encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    told = made.stdout.decode(errors="replace")
    assert made.returncode == 0, told[-1500:]
    assert re.findall(r"Overfull \\hbox", told) == []


@pytest.mark.parametrize(("n", "close"), [(5, False), (30, True), (60, None)])
def test_high_figures_are_set_closer_down_to_the_usual_distances(
    n: int, close: bool | None
) -> None:
    """Rows of 24 pixels: 30 are 9.8 inches high at 80 pixels per inch, 60 over 14 even at 100."""
    rows = [points.DrawnInterval(f"r{k}", 0.5, 0.4, 0.6) for k in range(n)]
    figure = points.interval_chart(rows, caption="c", x_label="x", what="run")
    layout = lay_out_figure(figure, 7.0)
    assert (layout.height_inches > MAX_INCHES + 1e-9) == (close is None)
    assert (layout.pixels_per_inch > 80) == (close is not False)
