"""What completes `assay` in a shell, made by shtab from the parsers of all commands: `assay
completion bash`."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Sequence
from typing import Any

import shtab

from assay.cli import server
from assay.cli.command_list import (
    COMMAND_MODULES,
    EXTRA_COMMANDS,
    find_command_files,
    load_command,
    read_command_help,
    suggest_commands,
)

SHELLS = ("bash", "zsh", "fish")


def make_full_parser() -> argparse.ArgumentParser:
    """One parser with every command of ours as a subcommand."""
    os.environ.setdefault(
        "ASSAY_SECRET_KEY", secrets.token_hex()
    )  # nothing is signed here, and no data folder is made for it
    if server.is_installed():
        server.set_up_django()
    whole = argparse.ArgumentParser(prog="assay")
    commands = whole.add_subparsers()
    first_words: dict[str, Any] = {}
    files = find_command_files()
    for name, module in COMMAND_MODULES.items():
        if module not in files:
            continue
        first, _, second = name.partition(" ")
        if second and first not in first_words:
            first_words[first] = commands.add_parser(
                first, help=", ".join(suggest_commands([first])), add_help=False
            ).add_subparsers()
        own = (first_words[first] if second else commands).add_parser(
            second or first,
            help=read_command_help(files[module]).help,
            parents=[load_command(module).create_parser("assay", name)],
            add_help=False,
        )
        for action in own._actions:
            if action.choices is None and action.nargs != 0:
                action.complete = shtab.FILE  # type: ignore[union-attr]
    words = {
        "completion SHELL": SHELLS,
        "help COMMAND": sorted({name.split()[0] for name in COMMAND_MODULES}),
        "version": [],
    }
    for usage, choices in words.items():
        parser = commands.add_parser(usage.split()[0], help=EXTRA_COMMANDS[usage], add_help=False)
        if choices:
            parser.add_argument("word", choices=choices)
    return whole


def completion_script(words: Sequence[str]) -> str:
    """words: the name of a shell. Raises SystemExit for another one."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise SystemExit(
            f"assay: completion is there for {', '.join(SHELLS)}, for example: assay completion bash"
        )
    return shtab.complete(make_full_parser(), shell=words[0])
