"""Calls of commands as from a script: the JSON that they print, or their error."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.commands import call_command


def answer(command: str, *arguments: object) -> tuple[dict[str, Any], str]:
    """Run a command with --json. Returns (the JSON object that it prints, the text on standard
    error)."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), "--json", stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def refused(command: str, *arguments: object) -> str:
    """Return the text on standard error of a command that must end with status 2 and print nothing
    on standard output."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(command, *map(str, arguments), "--json", stdout=out, stderr=err)
    assert ended.value.code == 2
    assert out.getvalue() == ""
    return err.getvalue()
