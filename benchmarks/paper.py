r"""`make paper`: make the studies of docs/evidence/paper on the collections of ASSAY_TEST_DATA, and
typeset docs/evidence/paper/paper.tex with their tables, figures, numbers and paragraphs.

    python -m benchmarks.paper [FOLDER]    default: var/paper; keeps the studies there for reading

Writes docs/evidence/paper/paper.pdf, and FOLDER/everything.pdf with all tables and figures of all
studies, for inspection. Fails at errors of LaTeX and at lines over 2 points too wide.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.reproduction import ROOT, make_study_folder

PAPER_DIR = ROOT / "docs" / "evidence" / "paper"
HEAD = r"""\documentclass[twocolumn]{article}
\hfuzz=2pt \extrafloats{200}
\setlength{\textwidth}{506pt}\setlength{\columnsep}{24pt}\setlength{\textheight}{656pt}
\setlength{\oddsidemargin}{-20pt}\setlength{\topmargin}{-50pt}
\usepackage[T1]{fontenc}\usepackage{mathptmx}\usepackage{array,booktabs,graphicx}
\begin{document}
"""
FLOATS_PER_CLEARPAGE = 4


def typeset(folder: Path, name: str) -> list[str]:
    """Typeset FOLDER/NAME.tex, twice so that references are right. Returns the lines that are over
    2 points too wide. Raises RuntimeError with the end of the log."""
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    for _ in range(2):
        made = subprocess.run(
            command, cwd=folder, capture_output=True, check=False, env=environment
        )
        log = made.stdout.decode(errors="replace")
        if made.returncode:
            raise RuntimeError(log[-1500:])
    return re.findall(r"Overfull .*|Float too large.*", log)


def write_everything(folder: Path, studies: list[Path]) -> None:
    """Write everything.tex, with all tables, and all figures in the width of a column."""
    lines = [HEAD]
    for study in studies:
        lines.append(rf"\clearpage\section*{{{study.name}}}")
        tables = sorted(
            path for path in (study / "tables").glob("*.tex") if path.stat().st_size < 100_000
        )
        lines += [rf"\input{{{path.relative_to(folder)}}}\clearpage" for path in tables]
        for number, path in enumerate(sorted((study / "figures").glob("*-column.pdf")), 1):
            name = path.stem.replace("_", r"\_")
            lines.append(
                rf"\begin{{figure}}\includegraphics{{{path.relative_to(folder)}}}"
                rf"\caption{{{name}}}\end{{figure}}"
                + (r"\clearpage" if number % FLOATS_PER_CLEARPAGE == 0 else "")
            )
    (folder / "everything.tex").write_text("\n".join([*lines, r"\end{document}", ""]), "utf-8")


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    data = os.environ.get("ASSAY_TEST_DATA")
    if not data:
        sys.stderr.write(
            "ASSAY_TEST_DATA is not set to the folder of real collections; no paper was made.\n"
        )
        return 2
    if shutil.which("pdflatex") is None:
        sys.stderr.write("pdflatex is not installed; no paper was made.\n")
        return 2
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "var" / "paper").resolve()
    shutil.rmtree(folder / "work", ignore_errors=True)
    studies = []
    for path in sorted(PAPER_DIR.glob("*.toml")):
        print(f"study {path.stem}", flush=True)
        work = folder / "work" / path.stem
        work.mkdir(parents=True)
        study = make_study_folder(path.stem, data=Path(data).resolve(), work=work, files=PAPER_DIR)
        shutil.rmtree(folder / path.stem, ignore_errors=True)
        studies.append(study.rename(folder / path.stem))
    shutil.rmtree(folder / "work")
    return build(folder, studies)


def build(folder: Path, studies: list[Path]) -> int:
    """Typeset the paper, and the document with all tables and figures, from the studies in the
    folder."""
    shutil.copy(PAPER_DIR / "paper.tex", folder)
    write_everything(folder, studies)
    wide = [f"{name}: {line}" for name in ("paper", "everything") for line in typeset(folder, name)]
    sys.stderr.writelines(f"{line}\n" for line in wide)
    shutil.copy(folder / "paper.pdf", PAPER_DIR)
    print(f"{(PAPER_DIR / 'paper.pdf').relative_to(ROOT)} and {folder / 'everything.pdf'}")
    return 1 if wide else 0


if __name__ == "__main__":
    raise SystemExit(main())
