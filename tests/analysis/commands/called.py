"""A command called as a script would: its JSON, or its refusal."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.commands import call_command


def answer(command: str, *arguments: object) -> tuple[dict[str, Any], str]:
    """-> (the JSON object that it prints, what it says on standard error)"""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), "--json", stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def refused(command: str, *arguments: object) -> str:
    """What standard error says when the command ends with status 2; nothing may stand on standard
    output."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(command, *map(str, arguments), "--json", stdout=out, stderr=err)
    assert ended.value.code == 2
    assert out.getvalue() == ""
    return err.getvalue()
