"""Names of the program as its files say them, and what of them is still to be mended (docs/decisions/0008-one-meaning-a-word.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pooling", "annotation", "analysis", "config", "assay")
WORDLESS = {"found", "there", "several", "ours"}
"""Words that say how a value came, and not what it is."""


def python_files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")) if not {"migrations", "commands"} & set(path.parts[:-1]))


def classes() -> dict[str, set[str]]:
    """name -> the files that have a class of that name at their top level. Commands are apart: Django calls each Command."""
    places: dict[str, set[str]] = {}
    for path in python_files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))
    return places


def bound(node: ast.AST) -> set[str]:
    """Names that are given to something within the node: variables, parameters, functions."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    names |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return names | {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef)}


def without_noun() -> set[str]:
    """file:name of every name in the program that stands in WORDLESS."""
    used = set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                used |= {f"{path.relative_to(ROOT)}:{name}" for name in bound(ast.parse(path.read_text(encoding="utf-8"))) & WORDLESS}
    return used
