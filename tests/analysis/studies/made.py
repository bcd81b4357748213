"""Functions that make a study from small files and read its folder."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from tests.analysis.commands.judged_file import refused, run


def study_of(folder: Path, name: str, text: str, **files: str) -> Path:
    """Make a study and return its folder. The inputs are the text of the TOML file and the texts of
    other files (by name without `.txt`)."""
    inputs = folder / "inputs"
    inputs.mkdir(exist_ok=True)
    for file, content in files.items():
        (inputs / f"{file}.txt").write_text(content, encoding="utf-8")
    (inputs / "study.toml").write_text(text, encoding="utf-8")
    run("study", name, str(inputs / "study.toml"), "--output", str(folder / "out"), "--replace")
    return folder / "out"


def refusal(folder: Path, name: str, text: str) -> str:
    """Return the error message for a study that cannot be made. Nothing must be written."""
    (folder / "study.toml").write_text(text, encoding="utf-8")
    status, out, err = refused(
        "study", name, str(folder / "study.toml"), "--output", str(folder / "out")
    )
    assert (status, out) == (2, "")
    assert not (folder / "out").exists()
    return err


def table(out: Path, key: str) -> list[dict[str, str]]:
    with (out / "tables" / f"{key}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def json_table(out: Path, key: str) -> dict[str, Any]:
    """Read a table of the study: title, header, rows and note, with heads, bold cells and marks if
    there are any."""
    found: dict[str, Any] = json.loads((out / "tables" / f"{key}.json").read_text(encoding="utf-8"))
    return found


def about(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "study.json").read_text(encoding="utf-8"))
    return found


def drawn(out: Path, key: str) -> list[list[str]]:
    """Return the numbers of a figure as shown in the report: its header, then its rows. Panels
    follow each other."""
    page = (out / "report.html").read_text(encoding="utf-8")
    end = page.index(f">figures/{key}: ")
    figure = page[page.rindex('<figure class="figure">', 0, end) : end]
    rows = re.findall(r"<tr>(.*?)</tr>", figure, re.DOTALL)
    return [
        [
            unescape(re.sub(r"<.*?>", "", cell))
            for cell in re.findall(r"<t[hd][^>]*?(?:/>|>(.*?)</t[hd]>)", row, re.DOTALL)
        ]
        for row in rows
    ]
