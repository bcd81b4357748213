"""Call commands from code, with values instead of text as inputs and options."""

from __future__ import annotations

from argparse import Action, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from assay.cli.base import FileCommand


def declared_arguments(command: FileCommand) -> dict[str, Action]:
    """Return the arguments and options of a command by name, in the order of its help."""
    return {one.dest: one for one in command.create_parser("assay", "").declared}


def complete_options(command: FileCommand, given_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a command as its parser would: the given values, and defaults for the
    rest.

    Raises TypeError for an unknown or missing option, and ValueError for a value that the parser
    would refuse.
    """
    declared = declared_arguments(command)
    if unknown := [name for name in given_options if name not in declared]:
        raise TypeError(f"unknown option {unknown[0]!r}; choose from {', '.join(declared)}")
    missing = [
        name
        for name, action in declared.items()
        if name not in given_options and action.required and action.nargs not in ("?", "*")
    ]
    if missing:
        raise TypeError(f"missing options: {', '.join(missing)}")
    return {
        name: read_value(action, given_options[name])
        if name in given_options
        else default_value(action)
        for name, action in declared.items()
    }


def default_value(action: Action) -> Any:
    """Return the value of an option that was not given."""
    text = isinstance(action.default, str) and callable(action.type)
    return action.type(action.default) if text else action.default  # type: ignore[misc, operator]


def read_value(action: Action, value: Any) -> Any:
    """Convert a value as the command's parser does. Raises ValueError if the parser would refuse
    it."""
    if action.nargs == 0 and value not in (None, False, True):
        raise ValueError(f"{action.dest}: expected True or False, not {value!r}")
    if action.nargs == 0 or value is None or value is False:
        return value
    if isinstance(value, (list, tuple)):
        single = action.nargs is None and not _is_repeated(action)
        return value if single else [_read_one(action, one) for one in value]
    return _read_one(action, value)


def _read_one(action: Action, value: Any) -> Any:
    read = action.type
    if callable(read) and isinstance(value, (str, int, float)):
        try:
            value = read(value if isinstance(value, str) else _to_text(value))
        except (ArgumentTypeError, ValueError) as error:
            raise ValueError(f"{action.dest}: {error}") from None
    if action.choices is not None and value not in action.choices:
        expected = ", ".join(map(repr, action.choices))
        raise ValueError(f"{action.dest}: expected one of {expected}, not {value!r}")
    return value


def command_words(command: FileCommand, given_options: Mapping[str, Any]) -> list[str]:
    """Return the words that a user would type after the command's name for the same call."""
    words: list[str] = []
    options: list[str] = []
    declared = declared_arguments(command)
    for name, action in declared.items():
        if not action.option_strings and name in given_options:
            words += _to_words(given_options[name])
    for name, value in given_options.items():
        action = declared[name]
        if not action.option_strings or value is None or value is False:
            continue
        flag = action.option_strings[-1]
        if action.nargs == 0:
            options.append(flag)
        elif _is_repeated(action):
            options += [f"{flag}={_to_text(one)}" for one in value]
        elif action.nargs is None:
            options.append(f"{flag}={_to_text(value)}")
        else:
            options += [flag, *_to_words(value)]
    return words + options


def _is_repeated(action: Action) -> bool:
    return type(action).__name__ == "_AppendAction"


def _to_words(value: Any) -> list[str]:
    return [_to_text(one) for one in (value if isinstance(value, (list, tuple)) else [value])]


def _to_text(value: Any) -> str:
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
