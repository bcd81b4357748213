"""The locked packages: exact, with digests, under licences that we can live with, and alive by what
they say of themselves.

Whether one has a known fault is asked of a list in the network: `make audit` (docs/explanation/security.md),
which no test can do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata

import pytest

from tests.documented import DOCS

ROOT = DOCS.parent
LOCKED = sorted(path.name for path in ROOT.glob("requirements*.txt"))
PIN = re.compile(r"([a-z0-9]+(?:[._-][a-z0-9]+)*)(\[[a-z0-9,_-]+\])?==([0-9][\w.!+-]*)( ; .+)?")
PERMISSIVE = {
    *(
        "MIT",
        "MIT License",
        "MIT-0",
        "MIT-CMU",
        "BSD",
        "BSD License",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSD 3-Clause",
        "0BSD",
        "ISC License (ISCL)",
        "Zlib",
    ),
    *(
        "Apache-2.0",
        "Apache Software License",
        "PSF-2.0",
        "Python Software Foundation License",
        "CNRI-Python",
        "CC0-1.0",
        "DFSG approved",
    ),
}
BY_FILE = {"LGPL-3.0-only", "MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"}
"""Oblige who changes the package, not who uses it."""
ALTERNATIVES = {
    "docutils": {"Public Domain", "GNU General Public License (GPL)"},
}
"""Further licences of single files: of docutils only its Emacs mode is under the GPL. Development
only."""
NAMED = {"krippendorff": "GPL-3.0-or-later"}
"""Of which README says what it means."""
WITHOUT_WORDS = {"axe-playwright-python": "MIT License"}
"""Whose metadata name no licence: the first line of the file that comes with it."""
STATED_ELSEWHERE = {"mlcroissant": "Apache-2.0"}
"""Whose package names no licence: that of conda-forge's recipe. Development only."""
AT_REST = {"click-plugins": "celery needs it; one module of eighty lines, finished"}
"""Say of themselves that nobody works on them."""


def blocks(name: str) -> Iterator[tuple[str, list[str]]]:
    """Each requirement with the options that follow it."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", "")
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            head, *options = re.split(r"\s+(?=--)", line.strip())
            yield head, options


def pins() -> dict[str, str]:
    """Name -> version, of all files together."""
    return {
        match[1]: match[3]
        for name in LOCKED
        for head, _ in blocks(name)
        if (match := PIN.fullmatch(head))
    }


def licences(name: str) -> set[str]:
    told = metadata.metadata(name)
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in told.get_all("Classifier", [])
        if line.startswith("License")
    ]
    words = told["License-Expression"] or " AND ".join(classifiers) or told["License"] or ""
    return {
        word.strip(" ()") if word.count("(") != word.count(")") else word
        for word in re.split(r" (?:AND|OR) ", words)
        if word
    }


@pytest.mark.parametrize("name", LOCKED)
def test_every_package_is_locked_to_one_version_and_its_digests(name):
    found = list(blocks(name))
    assert found
    assert [head for head, _ in found if not PIN.fullmatch(head)] == []
    for head, options in found:
        assert options, f"{head} has no digest"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", option) for option in options), head


def test_a_package_has_one_version_in_all_files():
    versions: dict[str, set[str]] = {}
    for name in LOCKED:
        for head, _ in blocks(name):
            match = PIN.fullmatch(head)
            assert match
            versions.setdefault(match[1], set()).add(match[3])
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def declared() -> dict[str, list[str]]:
    """The dependencies of the library ("") and those of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def bounds(requirement: str) -> tuple[str, str, str]:
    """Name, lowest version, first version that is too new."""
    match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+),<([\d.]+)", requirement)
    assert match, f"{requirement} has no upper bound"
    name, least, below = match.groups()
    return name.lower(), least, below


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


TRIED = {"python-terrier": "1.1.2"}
"""Not locked, because only users of its extra install it: the version with which
tests/assay/test_pyterrier_datasets.py was run."""


@pytest.mark.parametrize("extra", declared())
def test_every_dependency_has_an_upper_bound_that_the_locked_version_keeps(extra):
    """The wheel takes these lines: without bounds, it would install versions that nobody has
    tried."""
    locked = pins() | TRIED
    for line in declared()[extra]:
        name, least, below = bounds(line)
        assert numbers(least) <= numbers(locked[name]) < numbers(below), line


def test_the_server_is_locked_without_what_only_tests_and_lint_need():
    server = {PIN.fullmatch(head)[1] for head, _ in blocks("requirements.txt")}  # type: ignore[index]
    assert {bounds(line)[0] for extra in ("", "server") for line in declared()[extra]} <= server
    assert server.isdisjoint({"pytest", "mypy", "ruff"})


def installed() -> list[str]:
    """Everything that the program, the tests and lint need."""
    wanted = {PIN.fullmatch(head)[1] for head, _ in blocks("requirements-dev.txt")}  # type: ignore[index]
    there = {re.sub(r"[-_.]+", "-", dist.name).lower() for dist in metadata.distributions()}
    assert wanted - there == set()
    return sorted(wanted)


def test_what_is_installed_is_what_is_locked():
    locked = pins()
    assert {
        name: metadata.version(name)
        for name in installed()
        if metadata.version(name) != locked[name]
    } == {}


def test_every_licence_is_one_of_those_that_are_allowed():
    strange = {}
    for name in installed():
        if name in WITHOUT_WORDS:
            files = [path for path in metadata.files(name) or [] if path.name.startswith("LICEN")]
            assert files[0].read_text().strip().startswith(WITHOUT_WORDS[name])
            continue
        found = licences(name) - ALTERNATIVES.get(name, set())
        if not found and name in STATED_ELSEWHERE:
            found = {STATED_ELSEWHERE[name]}
        if not found or found - PERMISSIVE - BY_FILE - {NAMED.get(name, "")}:
            strange[name] = found
    assert strange == {}
    runtime = {PIN.fullmatch(head)[1] for head, _ in blocks("requirements.txt")}  # type: ignore[index]
    assert not runtime & ALTERNATIVES.keys()
    assert {name for name in runtime if licences(name) & BY_FILE} == {
        "psycopg",
        "psycopg-binary",
        "shtab",
    }
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme and licence in readme for name, licence in NAMED.items())


def test_nothing_says_of_itself_that_nobody_works_on_it():
    inactive = {
        name
        for name in installed()
        if "Development Status :: 7 - Inactive" in metadata.metadata(name).get_all("Classifier", [])
    }
    assert inactive == set(AT_REST)


def test_an_extra_is_installed_in_the_version_that_was_tested_or_a_later_one():
    locked = pins()
    for extra in ("s3", "oidc"):
        for line in declared()[extra]:
            name, least, _ = bounds(line)
            assert locked[name] == least, line
