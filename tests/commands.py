"""Commands by name, both those on files and those of an installation. They replace Django's
functions of the same names."""

from __future__ import annotations

from typing import Any

from django.core import management

from assay.cli.command_list import find_command_files, load_command, module_name

LIBRARY = "assay"


def get_commands() -> dict[str, str]:
    """Return the app of each command by name, `assay` for commands on files."""
    ours = {
        name: LIBRARY
        for name, path in find_command_files().items()
        if module_name(path).startswith("assay.")
    }
    return {**management.get_commands(), **ours}


def load_command_class(app: str, name: str) -> Any:
    return load_command(name) if app == LIBRARY else management.load_command_class(app, name)


def call_command(name: str, /, *arguments: Any, **options: Any) -> Any:
    """Call a command. options: by the names that the command uses, in addition to typed
    arguments."""
    if get_commands().get(name) != LIBRARY:
        return management.call_command(name, *arguments, **options)
    command = load_command(name)
    parsed = command.create_parser("assay", name).parse_args([str(word) for word in arguments])
    return command.execute(**{**vars(parsed), **options})
