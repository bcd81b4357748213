"""Functions that run a command on a small file of judgements, written for these tests."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tests.analysis.commands.called import answer
from tests.commands import call_command

ROWS = """topic,document,annotator,grade,seconds,judged_at,excluded,gold
t1,d1,a,3,20,2021-02-15T01:00:00Z,0,0
t1,d1,b,0,30,2021-02-15T02:00:00Z,0,0
t1,d1,c,2,40,2021-02-15T13:00:00Z,0,0
t1,d1,a,0,25,2021-02-15T14:00:00Z,0,0
t1,d2,a,2,10,2021-02-16T01:00:00Z,0,0
t1,d2,b,2,0.5,2021-02-16T02:00:00Z,0,0
t1,d2,c,1,50,2021-02-16T03:00:00Z,0,0
t2,d1,a,2,60,2021-02-16T13:00:00Z,0,1
t2,d1,b,3,60,2021-02-16T14:00:00Z,0,1
t2,d1,d,0,60,2021-02-16T15:00:00Z,1,1
t2,d3,c,1,,2021-02-17T01:00:00Z,0,0
"""
"""Counted: t1 d1: 0 0 2; t1 d2: 2 1; t2 d1: 2 3; t2 d3: 1. Repeated 1, too fast 1, excluded 1."""

POOL = """topic\tdocument\tbest_rank\tpriority\truns
t1\td1\t1\t9\tA:1,B:2
t2\td1\t1\t9\tA:1
t1\td2\t2\t8\tA:2
t2\td3\t3\t7\tB:3
"""


def written(folder: Path, text: str = ROWS, name: str = "judgements.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(command: str, *arguments: str) -> dict[str, Any]:
    """Run the command and return the JSON object that it prints."""
    return answer(command, *arguments)[0]


def refused(command: str, *arguments: str) -> tuple[int, str, str]:
    """Run the command and return (exit status, standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(command, *arguments, "--json", stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()
