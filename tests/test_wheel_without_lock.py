"""The wheel installed as a person installs it, with the newest packages that its bounds allow, on
the oldest and the newest Python at hand.

The lock file plays no part. Packages come from the index that uv is configured for, or from its
cache."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.analysis.commands.ranked_files import GOOD, QRELS, files
from tests.conftest import absent
from tests.test_wheel import built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("wheel without lock"),
    pytest.mark.timeout(900),
]

OLDEST = (3, 11)
UV = Path(sys.executable).parent / "uv"
UNREACHABLE = re.compile(
    (
        "dns error|failed to lookup address|error sending request|Could not connect|Connection "
        "refused|operation timed out|network was disabled"
    ),
    re.IGNORECASE,
)
"""What uv says if there is no network: no fault of the wheel."""


def interpreters() -> dict[tuple[int, int], str]:
    """(major, minor) -> a Python of it that runs: of this process, of PATH, of uv and of pyenv."""
    folders = [
        *map(Path, os.environ.get("PATH", "").split(os.pathsep)),
        *Path.home().glob(".pyenv/versions/*/bin"),
    ]
    paths = [
        sys.executable,
        *(
            str(path)
            for folder in folders
            for path in sorted(folder.glob("python3.*"))
            if re.fullmatch(r"python3\.\d+", path.name)
        ),
    ]
    if UV.exists():
        listed = subprocess.run(
            [str(UV), "python", "list", "--only-installed", "--output-format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        paths += [
            one["path"]
            for one in json.loads(listed.stdout or "[]")
            if one.get("implementation") == "cpython"
        ]
    told: dict[tuple[int, int], str] = {}
    for path in dict.fromkeys(paths):
        asked = subprocess.run(
            [path, "-c", "import sys, venv; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0:
            major, minor = map(int, asked.stdout.split())
            told.setdefault((major, minor), path)
    return told


@pytest.fixture(scope="module", params=["oldest", "newest"])
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A virtual environment with the wheel and what the library needs, nothing of this repository:
    `pip install assay-ir`."""
    if not UV.exists():
        absent(
            "pythons",
            "uv is not in this environment, so no wheel is installed without the lock file",
        )
    known = interpreters()
    version = OLDEST if request.param == "oldest" else max(known)
    if version not in known or (request.param == "newest" and version <= OLDEST):
        has = ", ".join(".".join(map(str, one)) for one in sorted(known))
        absent("pythons", f"there is no {request.param} Python to install the wheel on, only {has}")
    folder = tmp_path_factory.mktemp("without-lock")
    wheel = built("wheel", folder / "dist")
    uv("venv", "--python", known[version], str(folder / "env"))
    uv("pip", "install", "--python", str(folder / "env"), str(wheel))
    yield folder / "env"
    shutil.rmtree(folder / "env")  # half a gigabyte


@pytest.fixture(scope="module")
def server(environment: Path) -> Path:
    """The same environment with the server: `pip install "assay-ir[server]"`."""
    (wheel,) = (environment.parent / "dist").iterdir()
    uv("pip", "install", "--python", str(environment), f"{wheel}[server]")
    return environment


def uv(*words: str) -> None:
    """Run uv; the test is skipped loudly if the index of packages cannot be reached."""
    done = subprocess.run(
        [str(UV), *words],
        env={**os.environ, "UV_SYSTEM_CERTS": "1"},  # as config/install.py installs
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        absent(
            "index",
            "the index of packages cannot be reached, so no wheel is installed without the lock "
            f"file: {done.stderr[-300:]}",
        )
    assert done.returncode == 0, done.stderr


def called(environment: Path, cwd: Path, *words: str) -> str:
    """Standard output of a program of the environment, far from the repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DJANGO_", "ASSAY_", "PYTHON"))
    }
    command = [str(environment / "bin" / words[0]), *words[1:]]
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**kept, "ASSAY_DATA_DIR": str(cwd / "data")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_evaluates_and_is_imported(environment: Path, tmp_path: Path) -> None:
    """By hand: topic 1 has relevant a (2) and c (1) at ranks 1 and 2: AP 1; topic 2 has a at 1: 1;
    topic 3 has none: 0."""
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    told = json.loads(
        called(
            environment, tmp_path, "assay", "evaluate", qrels, good, "--measures", "AP", "--json"
        )
    )
    assert told["qrels"]["qrels"]["good"]["AP"] == pytest.approx(2 / 3)
    code = "import sys, assay; print(assay.evaluate(*sys.argv[1:], 'AP').means.item())"
    assert float(called(environment, tmp_path, "python", "-c", code, qrels, good)) == pytest.approx(
        2 / 3
    )


EVERY_MODULE = """
import importlib, pkgutil, sys, assay
names = [m.name for m in pkgutil.walk_packages(assay.__path__, "assay.")]
for name in names:
    if "._server" not in name and name not in ("assay.__main__", "assay.pyterrier_datasets"):
        importlib.import_module(name)
print(len(names), "django" in sys.modules, importlib.util.find_spec("django"))
"""


def test_every_module_of_the_library_is_imported_without_the_server(
    environment: Path, tmp_path: Path
) -> None:
    n, *rest = called(environment, tmp_path, "python", "-c", EVERY_MODULE).split()
    assert int(n) > 100
    assert rest == ["False", "None"]
    assert "complete" in called(environment, tmp_path, "assay", "completion", "bash")


def test_the_server_makes_the_database_of_an_empty_installation(
    server: Path, tmp_path: Path
) -> None:
    assert "Applying annotation.0001_initial... OK" in called(server, tmp_path, "assay", "migrate")
    assert "[ ]" not in called(server, tmp_path, "assay", "showmigrations")
    assert "no issues" in called(server, tmp_path, "assay", "check")
