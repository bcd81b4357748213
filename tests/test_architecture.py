"""The laws of the file tree: who may import whom, and that pure code stays pure. Nested imports
count too."""

from __future__ import annotations

import ast
import contextlib
import functools
import graphlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests import names

pytestmark = pytest.mark.xdist_group("architecture")  # each file is parsed once
ROOT = Path(__file__).resolve().parent.parent
APPS = {
    "pooling": {"annotation", "analysis", "config"},
    "annotation": {"analysis", "config"},
    "analysis": {"config"},
}
"""app -> what it may not import (config -> analysis -> annotation -> pooling)."""
FRAMEWORK = {"django", "celery", "kombu", "rest_framework", "redis", "psycopg", "config"}
SUBPACKAGES = {
    "judgements": set(),
    "dashboard": {"judgements"},
    "publishing": {"judgements"},
    "commandline": {"judgements", "publishing"},
    "systems": {"judgements", "commandline"},
    "studies": {"judgements", "publishing", "commandline", "systems"},
    "results": {"judgements", "dashboard", "systems"},
}
"""subpackage of analysis -> subpackages that it may import. All may import the shared modules: core,
charts, models."""
SHARED = {"models"}
ENTRY_POINTS = {
    "views",
    "api",
    "api_urls",
    "urls",
    "forms",
    "tasks",
    "worker",
    "management",
    "admin",
    "templatetags",
    "apps",
}
"""Names of files or folders through which requests, commands, jobs and settings come in; a longer
name begins with one (forms_campaign)."""
WITHOUT_ENTRY_POINTS = {"judgements", "commandline"}
"""Subpackages that serve others and have no entry point of their own."""
WRITING = {
    "save",
    "create",
    "bulk_create",
    "bulk_update",
    "get_or_create",
    "update_or_create",
    "delete",
}
"""Methods of rows that selectors do not call."""
LIBRARY = (
    "formats",
    "pools",
    "measures",
    "labels",
    "comparison",
    "sampling",
    "campaigns",
    "charts",
)
"""Packages of the library."""
PURE = [*ROOT.glob("*/core"), *(ROOT / "assay" / name for name in LIBRARY)]
LONG_FILE = 300
"""Lines of a file beyond which a reader asks whether it holds two nouns. A note, not a limit."""
MOST_STATEMENTS = 50
STRAIGHT = {
    "tests/annotation/api/test_judging_schema.py:short_run": "one call of each address, in their order",
    "tests/browser/test_end_to_end.py:test_from_files_to_qrels_with_two_annotators": (
        "one story from the first file to the qrels"
    ),
    "tests/browser/test_judging_trial.py:test_a_manager_tries_the_page_from_the_terms_to_the_end_and_nothing"
    "_is_stored": "one story from the terms to the end",
    "tests/browser/test_setting_up.py:test_from_files_to_an_open_campaign_in_at_most_fifteen_actions": (
        "one story from the files to the campaign"
    ),
    "tests/pages.py:prepare": "one line for each thing that a page needs",
}
"""file:function that may be longer, with the reason: a list from top to bottom in which nothing is
decided."""


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "migrations" not in path.parts)


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """(line, dotted name) of every import in the file, wherever it stands."""
    named: list[tuple[int, str]] = []
    for node in ast.walk(names.tree(path)):
        if isinstance(node, ast.Import):
            named += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            named.append((node.lineno, node.module))
            named += ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    return named


@pytest.mark.parametrize("app", APPS)
def test_no_app_imports_against_the_arrow(app: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files(ROOT / app)
        for line, name in imports(path)
        if name.partition(".")[0] in APPS[app]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_library_imports_no_app_and_no_framework() -> None:
    """Where the server stands is known to one module, which asks for it by name."""
    asks = ROOT / "assay" / "cli" / "server.py"
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files(ROOT / "assay")
        for line, name in imports(path)
        if name.partition(".")[0] in {*APPS, *FRAMEWORK}
        and not (path == asks and name.startswith("django"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", PURE, ids=lambda p: str(p.relative_to(ROOT)))
def test_pure_code_knows_neither_framework_nor_chance(folder: Path) -> None:
    wrong = []
    for path in python_files(folder):
        for line, name in imports(path):
            if (
                name.partition(".")[0] in FRAMEWORK
                or name == "random"
                or name.startswith("random.")
            ):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
        for node in ast.walk(names.tree(path)):
            dotted = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if dotted in {
                "np.random.seed",
                "np.random.shuffle",
                "np.random.rand",
                "np.random.choice",
                "datetime.now",
                "timezone.now",
                "time.time",
            }:
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} uses {dotted}")
    assert not wrong, "\n".join(wrong)


def test_pure_code_of_an_app_imports_only_pure_code() -> None:
    wrong = []
    for folder in PURE:
        for path in python_files(folder):
            for line, name in imports(path):
                parts = name.split(".")
                if parts[0] in APPS and len(parts) > 1 and parts[1] != "core":
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def is_entry_point(parts: tuple[str, ...]) -> bool:
    """parts: of a dotted name or a path, from the app on."""
    return any(
        part.removesuffix(".py") in ENTRY_POINTS or part.startswith(("api_", "forms_", "urls_"))
        for part in parts[1:]
    )


def app_files(app: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for path in python_files(ROOT / app):
        yield path, path.relative_to(ROOT).parts


def test_only_entry_points_import_entry_points() -> None:
    """Entry points are files or folders of certain names. `job_registry` of an app
    imports what registers kinds of jobs."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for app in APPS
        for path, parts in app_files(app)
        if not is_entry_point(parts) and parts[1:] != ("job_registry.py",)
        for line, name in imports(path)
        if name.partition(".")[0] in APPS and is_entry_point(tuple(name.split(".")))
    ]
    assert not wrong, "\n".join(wrong)


def test_analysis_is_made_of_subpackages() -> None:
    folders = {
        path.name
        for path in (ROOT / "analysis").iterdir()
        if path.is_dir() and any(path.rglob("*.py"))
    }
    assert folders == {*SUBPACKAGES, "management", "migrations", "templatetags"}


@pytest.mark.parametrize("subpackage", SUBPACKAGES)
def test_a_subpackage_imports_only_the_subpackages_that_it_may(subpackage: str) -> None:
    allowed = {subpackage, *SUBPACKAGES[subpackage], *SHARED}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files(ROOT / "analysis" / subpackage)
        for line, name in imports(path)
        if name.startswith("analysis.") and name.split(".")[1] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(SHARED))
def test_shared_modules_import_no_subpackage(name: str) -> None:
    place = ROOT / "analysis" / name
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in (python_files(place) if place.is_dir() else [place.with_suffix(".py")])
        for line, imported in imports(path)
        if imported.startswith("analysis.") and imported.split(".")[1] in SUBPACKAGES
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("subpackage", sorted(WITHOUT_ENTRY_POINTS))
def test_a_subpackage_that_serves_others_has_no_entry_points(subpackage: str) -> None:
    found_entry_points = [
        path
        for path in python_files(ROOT / "analysis" / subpackage)
        if is_entry_point(path.relative_to(ROOT / "analysis").parts)
    ]
    assert not found_entry_points


def test_selectors_only_read() -> None:
    """Files and folders called selectors, and the subpackage of judgements."""
    wrong = []
    for app in APPS:
        for path, parts in app_files(app):
            if not {"selectors", "selectors.py"} & set(parts) and parts[:2] != (
                "analysis",
                "judgements",
            ):
                continue
            for node in ast.walk(names.tree(path)):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in WRITING
                ):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} calls {node.func.attr}")
    assert not wrong, "\n".join(wrong)


def begins_with(node: ast.expr) -> str:
    """The name that a chain of attributes and calls begins with: Judgement of
    Judgement.objects.filter(...).update."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def test_analysis_writes_no_table_of_the_lower_apps() -> None:
    """Their rows are made and changed by their own services."""
    wrong = []
    for path in python_files(ROOT / "analysis"):
        tree = names.tree(path)
        lower = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module in {"annotation.models", "pooling.models", "django.contrib.auth.models"}
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in WRITING | {"update"} and begins_with(node.func) in lower:
                wrong.append(
                    f"{path.relative_to(ROOT)}:{node.lineno} writes {ast.unparse(node.func)}"
                )
    assert not wrong, "\n".join(wrong)


def test_long_files_are_listed_in_a_note() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for app in [*APPS, "config", "assay"]
        for path in python_files(ROOT / app)
    }
    longest = sorted((n, name) for name, n in lengths.items() if n > LONG_FILE)[::-1]
    print(f"{len(longest)} of {len(lengths)} files have more than {LONG_FILE} lines:")
    print("\n".join(f"{n:5} {name}" for n, name in longest))
    assert lengths


def test_no_function_has_grown_out_of_hand() -> None:
    long = {}
    for folder in ("pooling", "annotation", "analysis", "config", "assay", "benchmarks", "tests"):
        for path in python_files(ROOT / folder):
            for node in ast.walk(names.tree(path)):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if (node.end_lineno or 0) - node.lineno >= MOST_STATEMENTS:  # one a line at most
                    statements = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1
                    if statements > MOST_STATEMENTS:
                        long[f"{path.relative_to(ROOT)}:{node.name}"] = statements
    assert set(long) == set(STRAIGHT), (
        f"cut what has more than {MOST_STATEMENTS} statements where a reader would, "
        f"or give its reason: {long}"
    )


def test_a_class_has_its_name_to_itself() -> None:
    """One word for one thing: whoever reads a name need not ask which of two is meant
    (docs/developing.md, Words)."""
    shared = {name: sorted(files) for name, files in names.classes().items() if len(files) > 1}
    assert not shared, f"call the newer one what it is of (ReleasePlan, not Plan): {shared}"


def test_a_class_keeps_its_name_where_it_is_imported() -> None:
    assert not names.renamed_classes()


def test_a_name_says_what_it_holds() -> None:
    wordless = names.without_noun()
    assert not wordless, (
        f"name it after what it holds (a job, the mistakes, n_relevant), not how it came: {sorted(wordless)}"
    )


def test_the_repository_names_no_path_of_a_machine() -> None:
    import subprocess

    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
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


def imports_that_run(path: Path) -> Iterator[str]:
    """Dotted names of all imports at the head of the file and inside functions, except those for
    type hints alone (`if TYPE_CHECKING:`)."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if (
            isinstance(node, ast.If)
            and ast.unparse(node.test).removeprefix("typing.") == "TYPE_CHECKING"
        ):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.parts[: -node.level] if node.level else ()
            module = ".".join([*package, *(node.module or "").split(".")]).strip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)
        waiting += ast.iter_child_nodes(node)


def circle_of_modules(root: Path, folders: Iterable[str]) -> list[str]:
    """Modules of which each imports the next and the last is the first again; empty if there are
    none.

    A package counts by its `__init__.py`, and only if a name of that file is imported.
    """
    files = [path.relative_to(root) for folder in folders for path in python_files(root / folder)]
    modules = {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in files
    }
    leads: dict[str, set[str]] = {}
    with contextlib.chdir(root):
        for name, path in modules.items():
            named = (
                one if one in modules else one.rpartition(".")[0] for one in imports_that_run(path)
            )
            leads[name] = {one for one in named if one in modules and one != name}
    try:
        graphlib.TopologicalSorter(leads).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_module_leads_back_to_itself() -> None:
    """Such modules cannot be read, moved or loaded one without the other; an import inside a
    function only hides it."""
    circle = circle_of_modules(ROOT, [*APPS, "config", "assay"])
    assert not circle, " -> ".join(circle)


@pytest.mark.parametrize(
    ("line", "circle"),
    [
        ("from app import first", True),
        ("import app.first", True),
        ("from app.first import x", True),
        ("from .. import app", False),
        ("from . import first", True),
        ("from .first import x", True),
        ("def later():\n    from app.first import x", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.first import X", False),
        ("from app import other", False),
    ],
)
def test_a_circle_of_modules_is_found_in_every_form_of_import(
    tmp_path: Path, line: str, circle: bool
) -> None:
    (tmp_path / "app").mkdir()
    for name, text in (
        ("__init__", ""),
        ("first", "import app.second\nx = 1\n"),
        ("second", f"{line}\n"),
        ("other", "x = 1\n"),
    ):
        (tmp_path / "app" / f"{name}.py").write_text(text)
    assert set(circle_of_modules(tmp_path, ["app"])) == (
        {"app.first", "app.second"} if circle else set()
    )


def circle_of_scripts(folder: Path) -> list[str]:
    """Modules of which each imports the next, whether at once or later, and the last is the first
    again; empty where there are none."""
    pattern = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.{1,2}/[\w./-]+\.js)["']""")
    scripts = {path.resolve(): path.read_text(encoding="utf-8") for path in folder.rglob("*.js")}
    leads = {
        path: [(path.parent / name).resolve() for name in pattern.findall(text)]
        for path, text in scripts.items()
    }
    assert {one for targets in leads.values() for one in targets} <= set(scripts), (
        "an import leads nowhere"
    )
    try:
        graphlib.TopologicalSorter(leads).prepare()
    except graphlib.CycleError as error:
        return [str(path.relative_to(folder.resolve())) for path in reversed(error.args[1])]
    return []


def test_no_script_leads_back_to_itself() -> None:
    """Static files get names with the digest of their content, imports included: a circle of
    imports has none, and nothing starts."""
    circle = circle_of_scripts(ROOT / "static" / "js")
    assert not circle, " -> ".join(circle)


def test_a_circle_of_scripts_is_found_also_through_another_folder_and_by_an_import_later_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "judge").mkdir()
    (tmp_path / "words.js").write_text('export const t = () => import("./judge/page.js");\n')
    (tmp_path / "judge" / "page.js").write_text(
        "import { grade } from './grades.js';\nimport \"../words.js\";\n"
    )
    (tmp_path / "judge" / "grades.js").write_text("export const grade = 1;\n")
    assert sorted(set(circle_of_scripts(tmp_path))) == ["judge/page.js", "words.js"]
    (tmp_path / "words.js").write_text("export const t = () => null;\n")
    assert circle_of_scripts(tmp_path) == []
