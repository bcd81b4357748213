"""All commands with what they say about themselves, read without importing them.

Every module of `assay/analyses` with a class Command is a command, and every module in a
`management/commands` folder of the server's apps. The file's class and help are read as text, so
that a list of all commands costs nothing and a command on files starts without Django."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any, NamedTuple

from assay.cli.server import HOME, HOW_TO_INSTALL, PACKAGE, PACKAGES, is_installed

ON_FILES = {"FileCommand", "PiecewiseCommand", "OfCampaign", "ByTopicGroup"}
"""Base classes of commands that need no Django to begin with."""
LEAST_COLUMN = 20


class CommandHelp(NamedTuple):
    """module: with its dots. help: one sentence. on_files: whether it runs without Django."""

    name: str
    module: str
    help: str
    on_files: bool


def command_files() -> dict[str, Path]:
    """name -> file, in alphabetical order; those of the server only if it is installed."""
    files = [
        *(PACKAGE / "analyses").glob("*.py"),
        *(
            path
            for app in (PACKAGES if is_installed() else ())
            for path in (HOME / app / "management" / "commands").glob("*.py")
        ),
    ]
    return {
        path.stem: path
        for path in sorted(files, key=lambda path: path.stem)
        if not path.stem.startswith("_")
    }


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
    home = PACKAGE.parent if path.is_relative_to(PACKAGE / "analyses") else HOME
    module = ".".join(path.relative_to(home).with_suffix("").parts)
    return CommandHelp(path.stem, module, text, bool(bases) and bases <= ON_FILES)


def loaded(name: str) -> Any:
    """The command of this name; one of the server only after Django is set up."""
    return importlib.import_module(described(command_files()[name]).module).Command()


FURTHER = {
    "completion SHELL": "Print what makes bash, zsh or fish complete commands and options.",
    "help COMMAND": "Arguments and options of a command.",
    "version": "The version of this program.",
    "migrate, shell, ...": "Every command of Django, too; `assay help --django` lists them.",
}


def listing() -> str:
    """All commands with one line each."""
    rows = [described(path) for path in command_files().values()]
    width = max(LEAST_COLUMN, *(len(row.name) for row in rows))
    parts = [
        "usage: assay COMMAND ...",
        "",
        "On plain files, without a database or a server (most take --campaign, too):",
    ]
    parts += [f"  {row.name:<{width}} {row.help}" for row in rows if row.on_files]
    parts += ["", "Of an installation:"]
    parts += [f"  {row.name:<{width}} {row.help}" for row in rows if not row.on_files]
    if not is_installed():
        parts += [f"  The server is not installed here. To install it: {HOW_TO_INSTALL}"]
    parts += ["", "Further:"]
    parts += [f"  {name:<{width}} {text}" for name, text in FURTHER.items()]
    return "\n".join(parts)
