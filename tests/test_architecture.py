"""The laws of the file tree: who may import whom, and that pure code stays pure. Nested imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = {"pooling": {"annotation", "analysis", "config"}, "annotation": {"analysis", "config"}, "analysis": {"config"}}
"""app -> what it may not import (config -> analysis -> annotation -> pooling)."""
FRAMEWORK = {"django", "celery", "kombu", "rest_framework", "redis", "psycopg", "config"}
PURE = [*ROOT.glob("*/core"), ROOT / "pooling" / "formats"]
LONGEST = 400
"""Lines of a file beyond which it should be split by noun."""


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "migrations" not in path.parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import in the file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("app", APPS)
def test_no_app_imports_against_the_arrow(app: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files(ROOT / app)
        for line, name in imports(path)
        if name.partition(".")[0] in APPS[app]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", PURE, ids=lambda p: str(p.relative_to(ROOT)))
def test_pure_code_knows_neither_framework_nor_chance(folder: Path) -> None:
    wrong = []
    for path in python_files(folder):
        for line, name in imports(path):
            if name.partition(".")[0] in FRAMEWORK or name == "random" or name.startswith("random."):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            dotted = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if dotted in {"np.random.seed", "np.random.shuffle", "np.random.rand", "np.random.choice", "datetime.now", "timezone.now", "time.time"}:
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} uses {dotted}")
    assert not wrong, "\n".join(wrong)


def test_pure_code_of_an_app_imports_only_pure_code() -> None:
    wrong = []
    for folder in PURE:
        for path in python_files(folder):
            for line, name in imports(path):
                parts = name.split(".")
                if parts[0] in APPS and len(parts) > 1 and parts[1] not in {"core", "formats"}:
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_services_do_not_import_tasks_or_doors() -> None:
    wrong = []
    for app in APPS:
        for path in python_files(ROOT / app / "services"):
            for line, name in imports(path):
                if name.startswith(tuple(f"{other}.{door}" for other in APPS for door in ("tasks", "views", "api", "urls", "forms"))):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_file_has_grown_out_of_hand() -> None:
    long = {}
    for app in [*APPS, "config"]:
        for path in python_files(ROOT / app):
            n = len(path.read_text(encoding="utf-8").splitlines())
            if n > LONGEST:
                long[str(path.relative_to(ROOT))] = n
    assert not long, f"split these by noun (at most {LONGEST} lines): {long}"


def test_the_repository_names_no_path_of_a_machine() -> None:
    import subprocess

    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    needle = "/" + "work" + "/"
    wrong = []
    for name in listed:
        path = ROOT / name
        if path.suffix in {".png", ".gz", ".ico", ".woff2", ".zip"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if needle in text or "/" + "root/" in text:
            wrong.append(name)
    assert not wrong
