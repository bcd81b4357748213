"""Documents from the docstrings of the installed Python standard library.

Python modules are parsed and never imported, because some imports have side effects. Compiled
modules are imported if they are on a list of harmless ones.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

EXCLUDED_MODULES = {
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "site-packages",
    "__pycache__",
    "turtledemo",
    "ensurepip",
    "_pyrepl",
    "idle_test",
    "pydoc_data",
}
COMPILED_MODULES = [
    *[
        "math",
        "cmath",
        "itertools",
        "_bisect",
        "_heapq",
        "_collections",
        "_functools",
        "_operator",
        "_random",
        "_struct",
        "_csv",
    ],
    *[
        "_json",
        "_pickle",
        "_datetime",
        "_decimal",
        "zlib",
        "binascii",
        "array",
        "select",
        "_socket",
        "time",
        "unicodedata",
        "_io",
    ],
    *[
        "builtins",
        "sys",
        "gc",
        "marshal",
        "errno",
        "signal",
        "_statistics",
        "_zoneinfo",
        "mmap",
        "pwd",
        "grp",
        "resource",
        "fcntl",
    ],
]
MIN_CHARACTERS = 60
"""Shorter docstrings contain too little to be judged."""


class CorpusEntry(NamedTuple):
    """One document: dotted name, kind (module, class, function, method), signature or heading, and
    docstring."""

    document: str
    kind: str
    title: str
    text: str
    module: str


def read_standard_library() -> list[CorpusEntry]:
    """Return a document per documented name of the Python standard library, ordered by name."""
    entries = {
        entry.document: entry for entry in [*iterate_compiled_modules(), *iterate_source_modules()]
    }
    return [entries[name] for name in sorted(entries)]


def iterate_source_modules() -> Iterator[CorpusEntry]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if EXCLUDED_MODULES.intersection(parts) or any(
            part.startswith("config-") for part in parts
        ):
            continue
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if any(part.startswith("_") for part in module.split(".")) or not module:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        yield from _iterate_documented(tree, module, module)


def _iterate_documented(
    node: ast.Module | ast.ClassDef, name: str, module: str
) -> Iterator[CorpusEntry]:
    if isinstance(node, ast.Module) and (text := _clean_docstring(ast.get_docstring(node))):
        yield CorpusEntry(name, "module", f"module {name}", text, module)
    for child in node.body:
        if not isinstance(
            child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ) or child.name.startswith("_"):
            continue
        full = f"{name}.{child.name}"
        text = _clean_docstring(ast.get_docstring(child))
        if isinstance(child, ast.ClassDef):
            if text:
                yield CorpusEntry(full, "class", f"class {full}", text, module)
            yield from _iterate_documented(child, full, module)
        elif text:
            kind = "method" if isinstance(node, ast.ClassDef) else "function"
            yield CorpusEntry(full, kind, f"{full}({ast.unparse(child.args)})", text, module)


def iterate_compiled_modules() -> Iterator[CorpusEntry]:
    for name in COMPILED_MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        public = name.removeprefix("_")
        for attribute, value in sorted(vars(module).items()):
            if attribute.startswith("_") or not (
                inspect.isroutine(value) or inspect.isclass(value)
            ):
                continue
            text = _clean_docstring(inspect.getdoc(value))
            if text:
                kind = "class" if inspect.isclass(value) else "function"
                yield CorpusEntry(
                    f"{public}.{attribute}", kind, f"{kind} {public}.{attribute}", text, public
                )


def _clean_docstring(docstring: str | None) -> str:
    text = (docstring or "").strip()
    return text if len(text) >= MIN_CHARACTERS else ""
