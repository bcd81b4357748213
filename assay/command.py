"""The command `assay` (and manage.py): a command on plain files is run as it stands, all others by Django.

Every module in a `management/commands` folder of the four apps is a command. What its file says about itself (class, help) is read
without importing it, so that a list of all commands costs nothing and a command on files starts without Django."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.places import HOME, PACKAGES

ON_FILES = {"FileCommand", "PiecewiseCommand", "OfCampaign", "ByTopicGroup"}
"""Base classes of commands that need no Django to begin with."""
LEAST_COLUMN = 20


class CommandHelp(NamedTuple):
    """help: one sentence. on_files: whether it runs without Django."""

    name: str
    app: str
    help: str
    on_files: bool


def command_files() -> dict[str, Path]:
    """name -> file, in the order of the alphabet."""
    files = [path for app in PACKAGES for path in (HOME / app / "management" / "commands").glob("*.py")]
    return {path.stem: path for path in sorted(files, key=lambda path: path.stem) if not path.stem.startswith("_")}


def described(path: Path) -> CommandHelp:
    """What the file of a command says about itself."""
    bases: set[str] = set()
    text = ""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == "Command":
            bases = {ast.unparse(base) for base in node.bases}
            for inner in node.body:
                if isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]) == "help":
                    text = str(ast.literal_eval(inner.value))
    return CommandHelp(path.stem, path.parents[2].name, text, bool(bases) and bases <= ON_FILES)


def told_version() -> str:
    import importlib.metadata

    from pooling.version import program_version

    return f"Assay {program_version()} (Django {importlib.metadata.version('django')}, Python {sys.version.partition(' ')[0]})"


def listing() -> str:
    """All commands with one line each."""
    rows = [described(path) for path in command_files().values()]
    width = max(LEAST_COLUMN, *(len(row.name) for row in rows))
    parts = ["usage: assay COMMAND ...", "", "On plain files, without a database or a server (most take --campaign, too):"]
    parts += [f"  {row.name:<{width}} {row.help}" for row in rows if row.on_files]
    parts += ["", "Of an installation:"]
    parts += [f"  {row.name:<{width}} {row.help}" for row in rows if not row.on_files]
    parts += ["", "Further:"]
    parts += [f"  {name:<{width}} {text}" for name, text in FURTHER.items()]
    return "\n".join(parts)


FURTHER = {
    "completion SHELL": "Print what makes bash, zsh or fish complete commands and options.",
    "help COMMAND": "Arguments and options of a command.",
    "version": "The version of this program.",
    "migrate, shell, ...": "Every command of Django, too; `assay help --django` lists them.",
}


def main(words: Sequence[str] | None = None) -> None:
    """words: program, command, arguments. Raises SystemExit."""
    words = list(sys.argv if words is None else words)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        answer(Path(words[0]).name, words[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has read enough, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter's own flush at the end would tell of it
        raise SystemExit(1) from None


def answer(program: str, rest: list[str]) -> None:
    """rest: command and arguments."""
    if rest in (["--version"], ["version"]):
        print(told_version())
    elif program != "manage.py" and rest in ([], ["help"], ["--help"], ["-h"]):
        print(listing())
    elif rest[:1] == ["completion"]:
        from assay.completion import script

        print(script(rest[1:]))
    else:
        run(program, ["help"] if rest == ["help", "--django"] else rest)


def run(program: str, words: list[str]) -> None:
    """words: command and arguments."""
    if words[:1] == ["help"] and len(words) == 2:
        words = [words[1], "--help"]
    name = words[0].replace("-", "_") if words else ""
    path = command_files().get(name)
    try:
        if path is not None and (about := described(path)).on_files:
            module = importlib.import_module(f"{about.app}.management.commands.{name}")
            module.Command().run_from_argv([program, name, *words[1:]])
        else:
            run_by_django(program, [name if path is not None else words[0], *words[1:]] if words else [])
    except KeyboardInterrupt:
        raise SystemExit("assay: stopped") from None


def run_by_django(program: str, words: list[str]) -> None:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018  reads the settings now, where a wrong one can be told in a sentence
        execute_from_command_line([program, *words])
    except ImproperlyConfigured as error:
        raise SystemExit(f"assay: {error}") from None
