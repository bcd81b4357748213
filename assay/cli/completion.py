"""What completes `assay` in a shell, made by shtab from the parsers of all commands: `assay
completion bash`."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Sequence

import shtab

from assay.cli import server
from assay.cli.command_list import FURTHER, command_files, described, loaded

SHELLS = ("bash", "zsh", "fish")


def parser_of_all() -> argparse.ArgumentParser:
    """One parser with every command of ours as a command of its own, in the order of the
    alphabet."""
    os.environ.setdefault(
        "ASSAY_SECRET_KEY", secrets.token_hex()
    )  # nothing is signed here, and no data folder is made for it
    if server.is_installed():
        server.set_up()
    whole = argparse.ArgumentParser(prog="assay")
    commands = whole.add_subparsers()
    for name, path in command_files().items():
        parser = loaded(name).create_parser("assay", name)
        own = commands.add_parser(name, help=described(path).help, parents=[parser], add_help=False)
        for action in own._actions:
            if action.choices is None and action.nargs != 0:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    words = {"completion SHELL": SHELLS, "help COMMAND": [*command_files()], "version": []}
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
