"""Reading of the TOML file that names a study's inputs. Its paths are relative to its folder.

settings = read_settings("study.toml", study)  # FormatError with file and line
settings.values["runs"]  # ["runs/bm25.run", ...], relative to settings.folder
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from analysis.studies.study import Study, setting
from assay.charts.print_files import FONTS
from assay.formats.errors import FileProblem, FormatError
from assay.formats.toml_text import read_toml
from assay.options import DeclaredOption

TWO_COLUMN, ONE_COLUMN = "two-column", "one-column"
COMMON_KEYS = (
    setting("title", "text", "Title of the report."),
    setting("seed", "whole", "Random seed.", 0, least=0),
    setting(
        "simulated",
        "flag",
        "Judgements or clicks are simulated. The report says so at the top.",
    ),
    setting(
        "layout",
        "text",
        "Columns of the paper for which LaTeX tables are made.",
        TWO_COLUMN,
        choices=(TWO_COLUMN, ONE_COLUMN),
    ),
    setting("font", "text", "Font of the figures (default: DejaVu Sans).", choices=tuple(FONTS)),
    setting("pooled", "texts", "Runs that made the pool, by their names in tables, to be marked."),
    setting(
        "systems",
        "systems",
        'Names of the runs in tables and figures, in their order: tag or file name = "Name", or a '
        "table with name, short (for figures), group and colour (1 to 6).",
    ),
)


SYSTEM_KEYS = {"name": str, "short": str, "group": str, "colour": int}
N_COLOURS = 6
"""Number of colours of series in charts."""


@dataclass(frozen=True)
class StudySettings:
    """A study's parsed TOML file. folder: base of the paths, "" for the working directory. values:
    by key, with defaults for missing keys."""

    folder: str
    values: dict[str, Any]
    text: str

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def keys_by_name(study: Study) -> dict[str, DeclaredOption]:
    return {key.name: key for key in (*COMMON_KEYS, *study.keys)}


def read_settings(path: str, study: Study) -> StudySettings:
    """Read and check a study's TOML file. Raises FormatError with all problems: invalid TOML,
    unknown keys and missing files."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FormatError.single(path, None, "a byte that is not UTF-8", "UTF-8") from None
    reader = _Reader(path, text, study)
    values = reader.values(read_toml(path, text))
    if reader.problems:
        raise FormatError(path, reader.problems)
    return StudySettings(reader.folder, values, text)


def check_values(study: Study, values: Mapping[str, Any]) -> None:
    """Raise FormatError for invalid values of a study's keys, naming each key."""
    reader = _Reader("", "", study)
    reader.values(dict(values))
    if reader.problems:
        raise FormatError("options", reader.problems)


class _Reader:
    def __init__(self, path: str, text: str, study: Study) -> None:
        self.lines, self.study = text.splitlines(), study
        self.folder, self.name = os.path.split(path)
        self.problems: list[FileProblem] = []

    def values(self, said: dict[str, Any]) -> dict[str, Any]:
        keys = keys_by_name(self.study)
        said = dict(said)
        asked = said.pop("study", self.study.name)
        if asked != self.study.name:
            self.add("study", f"the file is for the study {asked!r}", self.study.name)
        for name in said:
            if name not in keys:
                near = get_close_matches(name, keys, 1)
                self.add(
                    name,
                    f"unknown key {name!r}",
                    f"{near[0]!r}" if near else f"one of {', '.join(keys)}",
                )
        return {
            name: self.value(key, said[name]) if name in said else key.default
            for name, key in keys.items()
        }

    def add(self, name: str, problem: str, expected: str) -> None:
        pattern = re.compile(rf"\s*(\[\s*)?(\"?){re.escape(name)}\2\s*(=|\])")
        line = next(
            (number for number, text in enumerate(self.lines, 1) if pattern.match(text)), None
        )
        self.problems.append(
            FileProblem(line, problem, expected, self.lines[line - 1] if line else "")
        )

    def value(self, key: DeclaredOption, value: Any) -> Any:
        value_read = getattr(self, f"_{key.kind}")(key, value)
        if key.values and value_read is not None and value_read not in key.values:
            self.add(key.name, f"{key.name} = {value!r}", f"one of {', '.join(key.values)}")
        return value_read

    def _file(self, key: DeclaredOption, value: Any) -> str | None:
        if not isinstance(value, str) or not value:
            self.add(key.name, f"{key.name} is not text", "the path of a file")
            return None
        if not os.path.isfile(os.path.join(self.folder, value)):
            self.add(
                key.name,
                f"the file {value} does not exist",
                f"a path relative to the folder of {self.name}",
            )
        return value

    def _files(self, key: DeclaredOption, value: Any) -> list[str]:
        patterns = [value] if isinstance(value, str) else value
        if not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
            self.add(
                key.name,
                f"{key.name} is not a list of texts",
                'paths or patterns, such as ["runs/*.run"]',
            )
            return []
        paths: list[str] = []
        for pattern in patterns:
            names = sorted(
                glob.glob(pattern, root_dir=self.folder or None, recursive=True), key=os.fsencode
            )
            files = [name for name in names if os.path.isfile(os.path.join(self.folder, name))]
            if not files:
                self.add(
                    key.name,
                    f"no file matches {pattern}",
                    f"a path or pattern relative to the folder of {self.name}",
                )
            paths += [name for name in files if name not in paths]
        return paths

    def _named(self, key: DeclaredOption, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not value:
            self.add(key.name, f"{key.name} is not a table of files", "name = path, one per line")
            return {}
        return {
            name: self._file(setting(name, "file", ""), path) or "" for name, path in value.items()
        }

    def _names(self, key: DeclaredOption, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(
            isinstance(words, str) for words in value.values()
        ):
            self.add(key.name, f"{key.name} is not a table of words", "name = words, one per line")
            return {}
        return value

    def _systems(self, key: DeclaredOption, value: Any) -> dict[str, Any]:
        """Check the table `systems`, whose values are names or tables of words, and report each
        problem with its line."""
        if not isinstance(value, dict):
            return self._names(key, value)
        for name, words in value.items():
            if isinstance(words, str):
                continue
            if not isinstance(words, dict) or not words or not words.keys() <= SYSTEM_KEYS.keys():
                self.add(
                    name,
                    f"{name} is neither a name nor a table of {', '.join(SYSTEM_KEYS)}",
                    f'"{name}" = {{ name = "Name", group = "Re-ranking" }}',
                )
            elif wrong := [one for one in words if type(words[one]) is not SYSTEM_KEYS[one]]:
                expected = "a whole number" if "colour" in wrong else "text"
                self.add(name, f"{wrong[0]} = {words[wrong[0]]!r}", expected)
            elif not 1 <= words.get("colour", 1) <= N_COLOURS:
                self.add(name, f"colour = {words['colour']}", f"a number from 1 to {N_COLOURS}")
        return value

    def _whole(self, key: DeclaredOption, value: Any) -> int | None:
        return self._number(key, value, whole=True)

    def _number(self, key: DeclaredOption, value: Any, *, whole: bool = False) -> Any:
        right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not right or (key.about.least is not None and value < key.about.least):
            at_least = "" if key.about.least is None else f" of at least {key.about.least:g}"
            self.add(
                key.name,
                f"{key.name} = {value!r}",
                f"a {'whole ' if whole else ''}number{at_least}",
            )
            return None
        return value

    def _text(self, key: DeclaredOption, value: Any) -> str | None:
        if not isinstance(value, str):
            self.add(key.name, f"{key.name} is not text", "text between quotation marks")
            return None
        return value

    def _texts(self, key: DeclaredOption, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.add(key.name, f"{key.name} is not a list of texts", '["one", "two"]')
            return []
        return value

    def _flag(self, key: DeclaredOption, value: Any) -> bool:
        if not isinstance(value, bool):
            self.add(key.name, f"{key.name} = {value!r}", "true or false")
        return bool(value)
