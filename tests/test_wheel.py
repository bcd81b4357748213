"""The wheel holds everything, and what it installs works in an environment of its own, far from the
repository.

The environment sees the packages of the one that runs the tests, so that nothing is fetched;
`assay` itself comes from the wheel."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from config import wheel_backend
from tests.analysis.commands.ranked_files import GOOD, QRELS, files
from tests.installation import Installation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).parent / "uv"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    return folder / wheel_backend.build_wheel(str(folder))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    place = next(folder.glob("lib/python*/site-packages"))
    (place / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return folder


def called(
    environment: Path, cwd: Path, code: str, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DJANGO_", "ASSAY_", "PYTHON"))
    }
    command = [str(environment / "bin" / "python"), "-c", code, *words]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**kept, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


COMMAND = """
import sys
from importlib.metadata import entry_points
assay, = entry_points(group="console_scripts", name="assay")
sys.argv[0] = "assay"
assay.load()()
"""
"""What the script `assay` does that installers write."""


def test_every_file_of_the_program_is_in_the_wheel_below_one_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.partition("/")[0] for name in names} == {"assay", "assay-0.1.0.dist-info"}
    tracked = subprocess.run(
        ["git", "ls-files", *wheel_backend.INSIDE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")
    assert [
        name for name in tracked if name and (ROOT / name).exists() and f"assay/{name}" not in names
    ] == []
    assert {
        *(
            "assay/templates/base.html",
            "assay/static/js/judge/judging.js",
            "assay/pooling/migrations/0001_initial.py",
        ),
        *(
            "assay/annotation/demo/topics.py",
            "assay/docs/commands.md",
            "assay/manage.py",
            "assay/cli/main.py",
        ),
    } <= names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_record_of_the_wheel_tells_each_file_by_size_and_digest(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        told = {
            row[0]: row[1:]
            for row in csv.reader(
                io.StringIO(archive.read("assay-0.1.0.dist-info/RECORD").decode())
            )
        }
        assert set(told) == set(archive.namelist())
        for name in archive.namelist():
            data = archive.read(name)
            sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert told[name] in ([f"sha256={sha}", str(len(data))], ["", ""]), name


def test_the_same_sources_make_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert (tmp_path / wheel_backend.build_wheel(str(tmp_path))).read_bytes() == wheel.read_bytes()


def test_what_the_wheel_needs_is_what_requirements_in_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read("assay-0.1.0.dist-info/METADATA").decode().splitlines()
    needed = [
        line.removeprefix("Requires-Dist: ")
        for line in lines
        if line.startswith("Requires-Dist") and "; extra ==" not in line
    ]
    assert lines.index("Provides-Extra: s3") + 1 == lines.index(
        'Requires-Dist: django-storages[s3]>=1.14.6,<2; extra == "s3"'
    )
    assert 'Requires-Dist: mozilla-django-oidc>=5.0.2,<6; extra == "oidc"' in lines
    assert [line for line in lines if line.startswith("Requires-Dist") and ",<" not in line] == []
    assert any(line.startswith("numpy>=2") for line in needed)
    assert {"Author: The Assay maintainers", "Classifier: Framework :: Django :: 5.2"} <= set(lines)
    assert "Django>=5.2,<5.3" in needed
    assert len(needed) == sum(
        not line.startswith("#")
        for line in (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
        if line
    )


def test_evaluating_works_far_from_the_repository(environment: Path, tmp_path: Path) -> None:
    """By hand: topic 1 has relevant a (2) and c (1) at ranks 1 and 2: AP 1; topic 2 has a at 1: 1;
    topic 3 has none: 0."""
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    done = called(
        environment, tmp_path, COMMAND, "evaluate", qrels, good, "--measures", "AP", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["qrels"]["qrels"]["good"]["AP"] == pytest.approx(2 / 3)
    told = called(environment, tmp_path, COMMAND, "--version").stdout
    assert told.startswith("Assay 0.1.0 (Django ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.txt", "qrels.txt"]


def test_a_module_of_ones_own_called_analysis_does_not_come_between(
    environment: Path, tmp_path: Path
) -> None:
    for name in ("analysis", "config"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')\n", encoding="utf-8")
    done = called(
        environment,
        tmp_path,
        "import assay; from assay.measures.measures import parse_measures; print(parse_measures('AP')[0])",
    )
    assert done.stdout == "AP\n", done.stderr
    (tmp_path / "analysis.py").write_text("", encoding="utf-8")
    late = called(environment, tmp_path, "import analysis, assay")
    assert "a module called 'analysis' has been imported from" in late.stderr
    assert "import assay first" in late.stderr


def test_up_serves_pages_and_static_files_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    with Installation(
        tmp_path / "data", cwd=empty, program=[str(environment / "bin" / "python"), "-c", COMMAND]
    ) as assay:
        page = urllib.request.urlopen(assay.url + "/sign-in", timeout=20).read().decode()
        style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
        assert style.startswith("/static/css/")
        assert urllib.request.urlopen(assay.url + style, timeout=20).status == 200
    assert list(empty.iterdir()) == []


def test_data_of_an_installed_program_lie_in_the_folder_of_the_person(
    environment: Path, tmp_path: Path
) -> None:
    code = "import assay; from config import settings; print(settings.DATA_DIR); print(settings.COMMAND)"
    done = called(environment, tmp_path, code, XDG_DATA_HOME=str(tmp_path / "share"))
    assert done.stdout.splitlines() == [str(tmp_path / "share" / "assay"), "assay"], done.stderr


@pytest.mark.skipif(not UV.exists(), reason="uv is not in this environment")
def test_uv_builds_and_installs_it_without_a_network(tmp_path: Path) -> None:
    def uv(*words: str) -> None:
        done = subprocess.run(
            [str(UV), "--offline", "--no-cache", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr

    uv("build", "--out-dir", str(tmp_path / "dist"))
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (made,) = (tmp_path / "dist").glob("*.whl")
    uv(
        "pip",
        "install",
        "--no-deps",
        "--python",
        str(tmp_path / "env" / "bin" / "python"),
        str(made),
    )
    others = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "assay", "help", "evaluate"],
        cwd=tmp_path,
        env=others,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: assay evaluate ")
