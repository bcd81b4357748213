"""The context in which a study's parts are made: its inputs, and commands, each run once."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from analysis.studies.settings import StudySettings
from analysis.studies.study import PartLeftOut
from analysis.systems.running import Analysis, NotComputable
from assay.analyses.shared.measures import InMemoryInputs
from assay.calls import command_words
from assay.charts.svg import Picture
from assay.cli.base import BadInput
from assay.cli.command_list import command_name, load_command
from assay.column_types import RunColumns
from assay.formats.runs import read_run
from assay.formats.streams import strip_suffixes
from assay.results import Result, Values


@dataclass(frozen=True)
class StudySystem:
    """How a run is shown in a study. short: its name in figures. group: its group in tables, or
    empty. colour: a number from 1, or 0 if none is chosen. place: its position in `systems`."""

    name: str
    short: str
    group: str = ""
    colour: int = 0
    place: int = 0


CACHE_BYTES = 100 << 20
"""Maximum size in bytes of (compressed) run files whose runs are kept in memory."""


class StudyContext:
    """The inputs of one study, and the commands that its parts run.

    warnings: warnings of all commands. commands: command lines run since `begin`, relative to the
    folder of the TOML file. scratch: a folder for files that one command writes and another reads.
    """

    def __init__(self, settings: StudySettings, *, scratch: str, processes: int = 1) -> None:
        self.settings, self.processes, self.scratch = settings, processes, scratch
        self.warnings: list[str] = []
        self.commands: list[str] = []
        self._runs: dict[str, RunColumns] = {}
        self._done: dict[tuple[str, ...], Result] = {}

    @property
    def seed(self) -> int:
        return int(self.settings.values["seed"])

    def value(self, name: str) -> Any:
        return self.settings.values[name]

    def has(self, name: str) -> bool:
        return self.settings.values[name] not in (None, [], {})

    def file(self, name: str) -> str | None:
        name_given = self.settings.values[name]
        return None if name_given is None else self.settings.path(name_given)

    def files(self, name: str) -> list[str]:
        """Return the paths of the input `name`, which takes several files. Runs are in the order of
        `systems`."""
        paths = [self.settings.path(one) for one in self.settings.values[name] or []]
        if name == "runs" and self.has("systems"):
            return sorted(paths, key=lambda path: self._systems[path].place)
        return paths

    def named(self, name: str) -> dict[str, str]:
        """Return the paths of the input `name`, a table of named files, by name."""
        return {
            key: self.settings.path(path)
            for key, path in (self.settings.values[name] or {}).items()
        }

    def need(self, *names: str, why: str = "") -> None:
        """Raise PartLeftOut, naming the missing inputs, unless all of these inputs are given."""
        missing = [name for name in names if not self.has(name)]
        if missing:
            raise PartLeftOut(
                f"needs {' and '.join(f'`{name}`' for name in missing)}{f': {why}' if why else ''}"
            )

    def scratch_file(self, name: str) -> str:
        return os.path.join(self.scratch, name)

    def plain(self, text: str) -> str:
        """Remove the folders of input files from the text."""
        for folder in (self.scratch, self.settings.folder):
            text = text.replace(f"{folder}/", "") if folder else text
        return text

    def run(self, command: str, **arguments: Any) -> Result:
        """Run a command with these inputs and options, and return its JSON object. Raises
        PartLeftOut with the command's reason if the result cannot be computed."""
        loaded = load_command(command)
        words = command_words(loaded, arguments)
        key = (command, *words)
        said = shlex.join(["assay", *command_name(command).split(), *map(self.plain, words)])
        if said not in self.commands:
            self.commands.append(said)
        if key not in self._done:
            try:
                seed = {"seed": self.seed} if loaded.takes_seed else {}
                analysis = Analysis(command, {**arguments, **seed}, stored=self._stored())
                if analysis.command.takes_processes:
                    analysis.options["processes"] = self.processes
                self._done[key] = Result(
                    analysis.compute(),
                    loaded.tables,
                    loaded.charts and partial(self._draw, loaded.charts),
                )
            except NotComputable as error:
                raise PartLeftOut(f"`{command}` refused: {self.plain(str(error))}") from None
            for text in analysis.warnings:
                self.warn(text)
        return self._done[key]

    def _draw(self, charts: Callable[[Values], list[Picture]], values: Values) -> list[Picture]:
        return charts(self.shorten(values))

    def shorten(self, value: Any) -> Any:
        """Replace the names of systems in a text by their short names, for figures."""
        shorter = {one.name: one.short for one in self.systems if one.short != one.name}
        return rename_texts(value, shorter) if shorter else value

    def _stored(self) -> InMemoryInputs | None:
        """Return the runs as in-memory inputs, under the names of their systems, so that all
        commands share one reading. None if the runs are too large for this and commands read the
        files themselves."""
        if not self.settings.values.get("runs"):
            return None
        if not self._fits_memory and not self.has("systems"):
            return None
        return InMemoryInputs(
            runs={path: partial(self._named_run, path) for path in self._run_paths}, qrels={}
        )

    def read_runs(self) -> list[RunColumns]:
        """Return the runs under the names of their systems, in the order of `systems`."""
        return [self._named_run(path) for path in self.files("runs")]

    @property
    def _run_paths(self) -> list[str]:
        return [self.settings.path(one) for one in self.settings.values["runs"] or []]

    @cached_property
    def _fits_memory(self) -> bool:
        return sum(os.path.getsize(path) for path in self._run_paths) <= CACHE_BYTES

    def _named_run(self, path: str) -> RunColumns:
        return replace(self._run(path), tag=self._systems[path].name)

    def _run(self, path: str) -> RunColumns:
        if path in self._runs:
            return self._runs[path]
        run = read_run(path, lenient=bool(self.settings.values.get("lenient")))
        if self._fits_memory:
            self._runs[path] = run
        return run

    @property
    def systems(self) -> list[StudySystem]:
        """Return how each of the `runs` is shown, in the order of `systems`."""
        if not self.settings.values.get("runs"):
            return []
        return sorted(self._systems.values(), key=lambda one: one.place)

    @cached_property
    def _systems(self) -> dict[str, StudySystem]:
        """Return how each run is shown, by path. An entry in `systems` is found by tag or file
        name. Without one, the name is the tag, or the file's name if several runs have the tag.
        Raises BadInput."""
        given: dict[str, Any] = {
            key: {"name": words} if isinstance(words, str) else words
            for key, words in (self.value("systems") or {}).items()
        }
        places = {key: place for place, key in enumerate(given)}
        tags = {path: self._run(path).tag for path in self._run_paths}
        counts = Counter(tags.values())
        shown, used = {}, set()
        for path, tag in tags.items():
            keys = [os.path.basename(path), strip_suffixes(path)]
            keys += [tag] if counts[tag] == 1 else []
            key = next((key for key in keys if key in given), "")
            used.add(key)
            words = given.get(key, {})
            name = words.get("name") or (tag if counts[tag] == 1 else keys[1])
            shown[path] = StudySystem(
                name,
                words.get("short") or name,
                words.get("group", ""),
                words.get("colour", 0),
                places.get(key, len(places)),
            )
        if unknown := [key for key in given if key not in used]:
            raise BadInput(
                f"`systems`: no run has the tag or file name {', '.join(unknown)}; "
                f"expected tags or file names of `runs`, such as {next(iter(tags.values()), '')}"
            )
        for names in ([one.name for one in shown.values()], [one.short for one in shown.values()]):
            if given and (twice := [name for name, n in Counter(names).items() if n > 1]):
                raise BadInput(
                    f"`systems`: several runs are called {', '.join(twice)}; use distinct names"
                )
        return shown

    @cached_property
    def pooled_runs(self) -> frozenset[str]:
        """Return the names of the runs that made the pool. Raises BadInput if such a run is
        unknown."""
        pooled = frozenset[str](self.value("pooled") or ())
        if pooled and self.settings.values.get("runs"):
            names = [one.name for one in self.systems]
            if unknown := sorted(pooled.difference(names)):
                raise BadInput(
                    f"`pooled`: unknown run {', '.join(unknown)}; expected names of runs as "
                    f"in tables: {', '.join(names)}"
                )
        return pooled

    @property
    def pooled_files(self) -> list[str]:
        """Return the paths of the runs that made the pool. Raises BadInput if such a run is
        unknown."""
        pooled = self.pooled_runs
        return [path for path in self.files("runs") if self._systems[path].name in pooled]

    def options(self, *names: str, **keys: str) -> dict[str, Any]:
        """Return those inputs of the study that are options of a command. Options without a value
        are left out, so that the command's default applies. keys: option -> input, if they have
        different names."""
        named = {name: name for name in names} | keys
        return {
            name: value
            for name, key in named.items()
            if (value := self.value(key)) not in (None, False)
        }

    def warn(self, message: str) -> None:
        text = self.plain(message)
        if text not in self.warnings:
            self.warnings.append(text)

    def begin(self) -> None:
        self.commands = []


def rename_texts(value: Any, names: Mapping[str, str]) -> Any:
    """Replace all texts that equal a key of `names` in nested dictionaries (including their keys),
    lists and tuples."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {rename_texts(k, names): rename_texts(v, names) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(rename_texts(one, names) for one in value)
    return value
