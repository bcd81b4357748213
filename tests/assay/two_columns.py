"""Typesetting of tables in two columns of the size of ACM's conference papers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HEAD = r"""\documentclass[twocolumn]{article}
\pdfcompresslevel=0 \pdfobjcompresslevel=0 \hfuzz=2pt \extrafloats{200}
\setlength{\textwidth}{506pt}\setlength{\columnsep}{24pt}\setlength{\textheight}{656pt}
\setlength{\oddsidemargin}{-20pt}\setlength{\topmargin}{-50pt}
\usepackage{array,booktabs}\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\begin{document}
"""


def typeset(folder: Path, tables: str) -> bytes:
    """Typeset a document and return the PDF. Fails at errors, lines that are over 2 points too
    wide, and floats that are higher than the page."""
    tables = re.sub(r"(?<=\\end{table}\n)|(?<=\\end{table\*}\n)", r"\\clearpage\n", tables)
    (folder / "paper.tex").write_text(f"{HEAD}{tables}\\end{{document}}\n", encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    told = made.stdout.decode(errors="replace")
    assert made.returncode == 0, told[-1500:]
    assert re.findall(r"Overfull|Float too large", told) == []
    return (folder / "paper.pdf").read_bytes()


def font_sizes(pdf: bytes) -> set[float]:
    """Return the sizes of the fonts in an uncompressed PDF, in points of TeX. None is below 7."""
    sizes = {round(float(size) * 72.27 / 72, 1) for size in re.findall(rb"/F\d+ ([\d.]+) Tf", pdf)}
    assert min(sizes) >= 7.0
    return sizes
