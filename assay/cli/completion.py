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
from assay.cli.command_list import FURTHER, NAMES, command_files, described, loaded, near_commands

SHELLS = ("bash", "zsh", "fish")


def parser_of_all() -> argparse.ArgumentParser:
    """One parser with every command of ours as a subcommand."""
    os.environ.setdefault(
        "ASSAY_SECRET_KEY", secrets.token_hex()
    )  # nothing is signed here, and no data folder is made for it
    if server.is_installed():
        server.set_up()
    whole = argparse.ArgumentParser(prog="assay")
    commands = whole.add_subparsers()
    first_words: dict[str, Any] = {}
    files = command_files()
    for name, module in NAMES.items():
        if module not in files:
            continue
        first, _, second = name.partition(" ")
        if second and first not in first_words:
            first_words[first] = commands.add_parser(
                first, help=", ".join(near_commands([first])), add_help=False
            ).add_subparsers()
        own = (first_words[first] if second else commands).add_parser(
            second or first,
            help=described(files[module]).help,
            parents=[loaded(module).create_parser("assay", name)],
            add_help=False,
        )
        for action in own._actions:
            if action.choices is None and action.nargs != 0:
                action.complete = shtab.FILE  # type: ignore[union-attr]
    words = {
        "completion SHELL": SHELLS,
        "help COMMAND": sorted({name.split()[0] for name in NAMES}),
        "version": [],
    }
    for usage, choices in words.items():
        parser = commands.add_parser(usage.split()[0], help=FURTHER[usage], add_help=False)
        if choices:
            parser.add_argument("word", choices=choices)
    return whole


def script(words: Sequence[str]) -> str:
    """words: the name of a shell. Raises SystemExit for another one."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise SystemExit(
            f"assay: completion is there for {', '.join(SHELLS)}, for example: assay completion bash"
        )
    return shtab.complete(parser_of_all(), shell=words[0])
