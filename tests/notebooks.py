"""Execution of a notebook's code cells in plain Python, with the output of each."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [
        cell
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]


def shown(source: str, names: dict[str, Any]) -> str:
    """Run a cell and return what it prints and the value of its last expression, as in Jupyter.
    names: the session's variables, which are changed."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(repr(value))
    return out.getvalue()


def stored(cell: dict[str, Any]) -> str:
    """Return the outputs stored in the notebook for the cell, as text."""
    parts = (
        "".join(output.get("text", [])) or "".join(output["data"]["text/plain"]) + "\n"
        for output in cell["outputs"]
    )
    return "".join(parts)
