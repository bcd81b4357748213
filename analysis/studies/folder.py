"""The folder of a study, written completely or not at all.

report.html report.md macros.tex study.toml study.json SHA256SUMS
tables/NAME.tex .csv .json
figures/NAME.pdf .svg .png .pgf .tex .csv NAME-column.pdf .pgf
words/PART.tex
data/NAME    for parts with other files
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.studies.macros import render_macros, render_words
from analysis.studies.report import render_html, render_markdown
from analysis.studies.settings import ONE_COLUMN, TWO_COLUMN
from analysis.studies.study_creation import (
    COLUMN_INCHES,
    TEXT_INCHES,
    MadePart,
    MadeStudy,
    fits_page,
)
from assay.charts.pgf import render_pgf
from assay.charts.print_files import EmptyFigure, render_files
from assay.cli.base import BadInput, to_json_types
from assay.paper_tables import to_paper_latex
from assay.tabular import Table, to_csv, to_latex

SUMS, ABOUT = "SHA256SUMS", "study.json"
LAYOUTS: dict[str, Callable[[Table], str]] = {TWO_COLUMN: to_paper_latex, ONE_COLUMN: to_latex}
"""Functions that write tables as LaTeX, by the value of the key `layout`."""


def refuse_target(target: Path, *, replace: bool) -> None:
    """Raise BadInput unless the study can be written to this folder: it does not exist, is empty,
    or contains an unchanged study and `replace` is set."""
    if not target.exists():
        return
    if not target.is_dir() or (any(target.iterdir()) and not (target / ABOUT).exists()):
        raise BadInput(
            f"{target} exists and is not a study folder; choose another folder with --output"
        )
    if any(target.iterdir()) and not replace:
        raise BadInput(
            f"{target} already contains a study; add --replace to overwrite it, or choose another folder with --output"
        )
    if own := [name for name in _files_in(target) if name not in _read_checksums(target)]:
        raise BadInput(
            f"{target} contains files that were not written by a study ({', '.join(own[:3])}); move them, "
            "or choose another folder with --output"
        )


def is_study_input(path: Path) -> bool:
    """Return whether the TOML file is in the `inputs` folder of an existing study. Its inputs are
    then copied when the study is made again."""
    return (
        path.resolve().parent.name == "inputs" and (path.resolve().parent.parent / ABOUT).exists()
    )


def _files_in(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name != SUMS
    )


def _read_checksums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def write_study_folder(
    study: MadeStudy, target: Path, *, inputs: Path | None = None, replace: bool = False
) -> dict[str, Any]:
    """Write a study to its folder and return the command's result. inputs: a folder to move to
    `inputs`. Raises BadInput."""
    target = Path(os.path.realpath(target))  # keep a symbolic link and write to its target
    refuse_target(target, replace=replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        written = _write_parts(study, temporary)
        if inputs is not None:
            shutil.copytree(inputs, temporary / "inputs")
        about = {
            "study": study.study.name,
            "title": study.title,
            "source": study.study.source,
            "command": study.command,
            "seed": study.settings.values["seed"],
            "parameters": study.parameters(),
            "versions": study.versions(),
            "inputs": [
                {"key": key, "path": path, "bytes": size, "sha256": digest}
                for key, path, size, digest in study.inputs
            ],
            "parts": written,
            "left_out": {name: reason for name, (_, reason) in study.left_out.items()},
            "warnings": study.warnings,
        }
        _write_text(
            temporary / ABOUT,
            json.dumps(to_json_types(about), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        )
        tables = [table for one in study.parts for table in one.section.tables]
        _write_text(temporary / "macros.tex", render_macros(tables))
        _write_text(temporary / "study.toml", study.settings.text)
        _write_text(temporary / "report.html", render_html(study))
        _write_text(temporary / "report.md", render_markdown(study))
        sums = "".join(
            f"{hashlib.sha256((temporary / name).read_bytes()).hexdigest()}  {name}\n"
            for name in _files_in(temporary)
        )
        _write_text(temporary / SUMS, sums)
        _set_default_permissions(temporary)
        _replace_folder(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return to_json_types(about)  # type: ignore[no-any-return]


def _write_parts(study: MadeStudy, folder: Path) -> dict[str, Any]:
    for name in ("tables", "figures"):
        (folder / name).mkdir()
    to_tex = LAYOUTS[study.settings.values["layout"]]
    font = study.settings.values["font"]
    return {
        one.part.name: {
            "files": _write_part(one, folder, to_tex, font),
            "values": one.section.values,
        }
        for one in study.parts
    }


def _write_part(
    one: MadePart, folder: Path, to_tex: Callable[[Table], str], font: str | None
) -> list[str]:
    files = {}
    for table in one.section.tables:
        files[f"tables/{table.key}.tex"] = to_tex(table).encode()
        files[f"tables/{table.key}.csv"] = to_csv(table).encode()
        files[f"tables/{table.key}.json"] = (
            json.dumps(to_json_types(table.to_json()), ensure_ascii=False, indent=1) + "\n"
        ).encode()
    for figure in one.section.figures:
        try:
            files |= {
                f"figures/{figure.key}.{kind}": data
                for kind, data in render_files(
                    figure.picture, titled=False, inches=TEXT_INCHES, font=font
                ).items()
            }
            files[f"figures/{figure.key}.pgf"] = render_pgf(figure.picture, inches=TEXT_INCHES)
            if fits_page(figure, COLUMN_INCHES):
                column = render_files(
                    figure.picture, titled=False, inches=COLUMN_INCHES, kinds=("pdf",), font=font
                )
                files[f"figures/{figure.key}-column.pdf"] = column["pdf"]
                pgf = render_pgf(figure.picture, inches=COLUMN_INCHES)
                files[f"figures/{figure.key}-column.pgf"] = pgf
        except EmptyFigure:
            continue  # the report gives the reason why the figure is missing
        numbers = figure.picture.table(figure.key)
        files[f"figures/{figure.key}.tex"] = to_tex(numbers).encode()
        files[f"figures/{figure.key}.csv"] = to_csv(numbers).encode()
    if one.section.words:
        files[f"words/{one.part.name}.tex"] = render_words(one.section.words).encode()
    files |= {f"data/{name}": data for name, data in one.section.files.items()}
    for name, data in files.items():
        if (folder / name).exists():
            raise ValueError(f"two parts of a study write {name}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return list(files)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _set_default_permissions(folder: Path) -> None:
    """Give the folder and its files default permissions. Temporary folders are only readable by
    their owner."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def _replace_folder(temporary: Path, target: Path) -> None:
    """Replace an existing study folder by the new one. The old one is kept until the new one is in
    place."""
    if not target.exists():
        temporary.rename(target)
        return
    shutil.copymode(target, temporary)
    old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.old."))
    target.rename(old / "study")
    temporary.rename(target)
    shutil.rmtree(old)
