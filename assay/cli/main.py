"""Entry point of `assay` and manage.py. Commands on plain files are run directly, all others by
Django."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from assay.cli import server
from assay.cli.command_list import (
    COMMAND_MODULES,
    find_command,
    find_command_files,
    format_command_list,
    load_command,
    read_command_help,
    suggest_commands,
)


def version_text() -> str:
    from assay.version import program_version

    python = f"Python {sys.version.partition(' ')[0]}"
    try:
        return f"Assay {program_version()} (Django {metadata.version('django')}, {python})"
    except metadata.PackageNotFoundError:
        return f"Assay {program_version()} ({python})"


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command line. argv: program, command, arguments. Raises SystemExit."""
    argv = list(sys.argv if argv is None else argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        run_command_line(Path(argv[0]).name, argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        # otherwise the interpreter's last flush would report an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def run_command_line(program: str, rest: list[str]) -> None:
    """Run a command, or show the list of commands if none is given. rest: command and its
    arguments."""
    if rest in (["--version"], ["version"]):
        print(version_text())
    elif program != "manage.py" and rest in ([], ["help"], ["--help"], ["-h"]):
        print(format_command_list())
    elif rest[:1] == ["completion"]:
        from assay.cli.completion import completion_script

        print(completion_script(rest[1:]))
    else:
        run_command(program, ["help"] if rest == ["help", "--django"] else rest)


def run_command(program: str, argv: list[str]) -> None:
    """Run one command. argv: command and arguments."""
    if argv[:1] == ["help"] and argv[1:] not in ([], ["--django"]):
        argv = [*argv[1:], "--help"]
    command = find_command(argv)
    if (
        command is None
        and (near := suggest_commands(argv))
        and argv[0] not in COMMAND_MODULES
        and not server.is_django_command(argv[0])
    ):
        raise SystemExit(f"assay: unknown command {argv[0]!r}. Did you mean: {', '.join(near)}?")
    try:
        if command is None:
            server.run_by_django(program, argv)
            return
        name, module, rest = command
        path = find_command_files().get(module)
        if path is None or (about := read_command_help(path)).on_files:
            if path is not None and not about.module.startswith("assay."):
                server.add_to_path()
            load_command(module).run_from_argv([program, name, *rest])
        else:
            server.run_server_command(program, name, module, rest)
    except KeyboardInterrupt:
        raise SystemExit("assay: stopped") from None
