"""What completes `assay` in a shell, made from the parsers of all commands: `assay completion
bash`."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.cli import server
from assay.cli.command_list import FURTHER, command_files, described, loaded


class Option(NamedTuple):
    """names: -h and --help. choices: the only values, () for any. takes_value: whether something
    follows."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool


class Completed(NamedTuple):
    """first: the only words that may follow the command's name, () for any."""

    name: str
    help: str
    options: list[Option]
    first: tuple[str, ...] = ()


def all_commands() -> list[Completed]:
    """Every command of ours with its options, in the order of the alphabet."""
    os.environ.setdefault(
        "ASSAY_SECRET_KEY", secrets.token_hex()
    )  # nothing is signed here, and no data folder is made for it
    server.set_up()
    completed = []
    for name, path in command_files().items():
        about = described(path)
        parser = loaded(name).create_parser("assay", name)
        places = [action for action in parser._actions if not action.option_strings]
        first = tuple(str(choice) for choice in places[0].choices or ()) if places else ()
        completed.append(
            Completed(
                name,
                about.help,
                [option_of(action) for action in parser._actions if shown(action)],
                first,
            )
        )
    return completed


def shown(action: argparse.Action) -> bool:
    return bool(action.option_strings) and action.help != argparse.SUPPRESS


def option_of(action: argparse.Action) -> Option:
    choices = tuple(str(choice) for choice in action.choices or ())
    text = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    return Option(tuple(action.option_strings), text, choices, action.nargs != 0)


def words_further() -> list[str]:
    return ["completion", "help", "version"]


def bash(commands: Sequence[Completed]) -> str:
    names = " ".join([*(command.name for command in commands), *words_further()])
    values = [
        f'    "{command.name} {name}") words="{" ".join(option.choices)}" ;;'
        for command in commands
        for option in command.options
        for name in option.names
        if option.choices
    ]
    values += [
        f'    "{command.name} {command.name}") words="{" ".join(command.first)}" ;;'
        for command in commands
        if command.first
    ]
    options = [
        f'      {command.name}) words="{" ".join(name for option in command.options for name in option.names)}" ;;'
        for command in commands
    ]
    return "\n".join(
        [
            "# assay completion bash > ~/.local/share/bash-completion/completions/assay",
            "_assay() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            '  if [ "$COMP_CWORD" -eq 1 ]; then',
            f'    COMPREPLY=($(compgen -W "{names}" -- "$current")); return',
            "  fi",
            '  case "${COMP_WORDS[1]} $before" in',
            *values,
            '    "completion completion") words="bash zsh fish" ;;',
            f'    "help help") words="{names}" ;;',
            "  esac",
            '  if [ -z "$words" ] && [ "${current:0:1}" = "-" ]; then',
            '    case "${COMP_WORDS[1]}" in',
            *options,
            "    esac",
            "  fi",
            "  COMPREPLY=()",
            '  [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -o bashdefault -F _assay assay",
        ]
    )


def zsh(commands: Sequence[Completed]) -> str:
    def plain(text: str) -> str:
        return (
            text.replace("'", "’")
            .replace("[", "(")
            .replace("]", ")")
            .replace(":", ";")
            .replace("\\", "")
        )

    lines = [
        "#compdef assay",
        "# assay completion zsh > a folder of $fpath, called _assay",
        "_assay() {",
        "  local -a names",
        "  names=(",
    ]
    lines += [f"    '{command.name}:{plain(command.help)}'" for command in commands]
    lines += [
        f"    '{word.split()[0]}:{plain(text)}'"
        for word, text in FURTHER.items()
        if word.split()[0] in words_further()
    ]
    lines += [
        "  )",
        "  if (( CURRENT == 2 )); then _describe command names; return; fi",
        '  local command="$words[2]"',
    ]
    lines += ["  shift words; (( CURRENT-- ))", '  case "$command" in']
    for command in commands:
        lines.append(f"    {command.name}) _arguments -s \\")
        for option in command.options:
            value = (
                ""
                if not option.takes_value
                else f":value:({' '.join(option.choices)})"
                if option.choices
                else ":value:_files"
            )
            lines += [f"      '*{name}[{plain(option.help)}]{value}' \\" for name in option.names]
        lines += [f"      '1:word:({' '.join(command.first)})' \\"] if command.first else []
        lines.append("      '*:file:_files' ;;")
    lines += [
        "    completion) _values shell bash zsh fish ;;",
        "    help) _describe command names ;;",
        "  esac",
        "}",
        '_assay "$@"',
    ]
    return "\n".join(lines)


def fish(commands: Sequence[Completed]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# assay completion fish > ~/.config/fish/completions/assay.fish"]
    lines += [
        f"complete -c assay -n __fish_use_subcommand -x -a {command.name} -d {quoted(command.help)}"
        for command in commands
    ]
    lines += [
        f"complete -c assay -n __fish_use_subcommand -x -a {word}" for word in words_further()
    ]
    for command in commands:
        for option in command.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = (
                f" -x -a {quoted(' '.join(option.choices))}"
                if option.choices
                else " -r"
                if option.takes_value
                else ""
            )
            lines.append(
                f"complete -c assay -n '__fish_seen_subcommand_from {command.name}' "
                f"{names}{value} -d {quoted(option.help)}"
            )
        if command.first:
            lines.append(
                f"complete -c assay -n '__fish_seen_subcommand_from {command.name}' -a "
                f"{quoted(' '.join(command.first))}"
            )
    lines.append(
        "complete -c assay -n '__fish_seen_subcommand_from completion' -x -a 'bash zsh fish'"
    )
    return "\n".join(lines)


SHELLS: dict[str, Callable[[Sequence[Completed]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def script(words: Sequence[str]) -> str:
    """words: the name of a shell. Raises SystemExit for another one."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise SystemExit(
            f"assay: completion is there for {', '.join(SHELLS)}, for example: assay completion bash"
        )
    return SHELLS[words[0]](all_commands())
