"""Names defined in the program's source files (docs/decisions/0008-one-meaning-per-name.md)."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pooling", "annotation", "analysis", "config", "assay")
WORDLESS = {"found", "there", "several", "ours"}
"""Words that describe how a value was obtained instead of what it is."""


@functools.cache
def tree(path: Path) -> ast.Module:
    """Parse a file once for all tests of a process, which only read the syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def parsed_files() -> Iterator[tuple[Path, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT), tree(path)


def named_by_contract(path: Path, node: ast.ClassDef) -> bool:
    """Return whether a contract prescribes the class's name: Django's for a command's Command and
    for a class that replaces the one of the same name that it extends, or Assay's for each
    analysis's Options and Result."""
    extended = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    return node.name in extended or (
        (
            node.name == "Command"
            and path.parts[-3:-1] in {("management", "commands"), ("assay", "analyses")}
        )
        or (node.name in {"Options", "Result"} and path.parts[-3:-1] == ("assay", "analyses"))
    )


def classes() -> dict[str, set[str]]:
    """Return the files that define a top-level class of each name, without names that a contract
    prescribes."""
    places: dict[str, set[str]] = {}
    for path, module in parsed_files():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not named_by_contract(path, node):
                places.setdefault(node.name, set()).add(str(path))
    return places


def bound(module: ast.AST) -> set[str]:
    """Return the names that a module binds: variables, attributes, parameters and functions."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def without_noun() -> set[str]:
    """Return file:name of every name in the program that is listed in WORDLESS."""
    return {
        f"{path}:{name}" for path, module in parsed_files() for name in bound(module) & WORDLESS
    }


def renamed_classes() -> set[str]:
    """Return "file: Class as Name" for every class of the program that a file imports under another
    name."""
    ours = set(classes())
    renamed = set()
    for path, module in parsed_files():
        for node in ast.walk(module):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").partition(".")[0] in FOLDERS
            ):
                renamed |= {
                    f"{path}: {one.name} as {one.asname}"
                    for one in node.names
                    if one.asname and one.name in ours
                }
    return renamed
