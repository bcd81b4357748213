"""The wheel holds everything, and what it installs works in environments of its own, far from the
repository: the library with numpy and scipy alone, the server with what the tests have.

Nothing is fetched: the environments see packages of the one that runs the tests, and `assay` comes
from the wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from tests.analysis.commands.ranked_files import GOOD, QRELS, files
from tests.installation import Installation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = Path(sysconfig.get_path("purelib"))
UV = Path(sys.executable).parent / "uv"
SERVER = (
    *("analysis", "annotation", "config", "docs", "locale", "pooling", "static", "templates"),
    "manage.py",
)
"""What is in the folder `assay/_server` of the wheel."""


def built(target: str, folder: Path) -> Path:
    """target: wheel or sdist."""
    words = [sys.executable, "-m", "hatchling", "build", "--target", target]
    subprocess.run([*words, "--directory", str(folder)], cwd=ROOT, check=True, timeout=200)
    (made,) = folder.iterdir()
    return made


def tracked(*places: str) -> set[str]:
    """Files of the repository in these places, or all."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *places]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("dist"))


def environment_with(wheel: Path, folder: Path, packages: Path) -> Path:
    """A virtual environment with the wheel in it, which sees a folder of packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    place = next(folder.glob("lib/python*/site-packages"))
    (place / "others.pth").write_text(f"{packages}\n", encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return folder


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With everything that the tests have: as `assay-ir[server]`."""
    return environment_with(wheel, tmp_path_factory.mktemp("server") / "env", PACKAGES)


@pytest.fixture(scope="module")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With numpy and scipy and nothing else."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "packages").mkdir()
    for package in ("numpy", "scipy"):
        for path in PACKAGES.glob(f"{package}*"):
            if path.name in (package, f"{package}.libs"):
                (folder / "packages" / path.name).symlink_to(path)
    return environment_with(wheel, folder / "env", folder / "packages")


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
    info = {name for name in names if name.startswith("assay_ir-0.2.0.dist-info/")}
    server = {f"assay/_server/{name}" for name in tracked(*SERVER)}
    assert names - info == tracked("assay") | server
    assert {"assay/py.typed", "assay/_server/templates/base.html"} <= names


def test_the_source_archive_holds_what_a_checkout_holds(tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == tracked() | {"PKG-INFO"}


def test_the_same_sources_make_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert built("wheel", tmp_path).read_bytes() == wheel.read_bytes()


def test_the_library_needs_no_django_and_the_server_is_an_extra(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read("assay_ir-0.2.0.dist-info/METADATA").decode().splitlines()
    needed = [
        line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist")
    ]
    always = [line for line in needed if "; extra == " not in line]
    assert "numpy<3,>=2.3" in always
    assert "django" not in "".join(always)
    assert {
        "django<5.3,>=5.2; extra == 'server'",
        "django-storages[s3]<2,>=1.14.6; extra == 's3'",
        "mozilla-django-oidc<6,>=5.0.2; extra == 'oidc'",
    } <= set(needed)
    assert {"Name: assay-ir", "Author: The Assay maintainers", "Classifier: Typing :: Typed"} <= {
        *lines
    }


AP_OF_GOOD = 2 / 3
"""By hand: topic 1 has relevant a (2) and c (1) at ranks 1 and 2: AP 1; topic 2 has a at 1: 1;
topic 3 has none: 0."""


def test_numpy_and_scipy_are_enough_to_evaluate(library: Path, tmp_path: Path) -> None:
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    done = called(library, tmp_path, COMMAND, "evaluate", qrels, good, "--measures", "AP", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["qrels"]["qrels"]["good"]["AP"] == pytest.approx(AP_OF_GOOD)
    code = "import sys, assay; print(assay.evaluate(*sys.argv[1:], 'AP').means.item())"
    done = called(library, tmp_path, code, qrels, good)
    assert float(done.stdout) == pytest.approx(AP_OF_GOOD), done.stderr
    assert called(library, tmp_path, COMMAND, "--version").stdout.startswith("Assay 0.2.0 (Python ")


@pytest.mark.parametrize("words", [["up"], ["study", "tripjudge"], ["evaluate", "--campaign", "a"]])
def test_without_the_server_its_commands_say_how_to_install_it(
    library: Path, tmp_path: Path, words: list[str]
) -> None:
    done = called(library, tmp_path, COMMAND, *words)
    assert done.returncode != 0
    assert done.stderr.endswith(
        'the server is not installed here. To install it: pip install "assay-ir[server]"\n'
    )
    listing = called(library, tmp_path, COMMAND).stdout
    assert "\n  evaluate " in listing
    assert "\n  up " not in listing
    assert 'pip install "assay-ir[server]"' in listing


def test_evaluating_works_far_from_the_repository(environment: Path, tmp_path: Path) -> None:
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    done = called(
        environment, tmp_path, COMMAND, "evaluate", qrels, good, "--measures", "AP", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["qrels"]["qrels"]["good"]["AP"] == pytest.approx(AP_OF_GOOD)
    told = called(environment, tmp_path, COMMAND, "--version").stdout
    assert told.startswith("Assay 0.2.0 (Django ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.txt", "qrels.txt"]


def test_modules_called_as_the_apps_are_stay_those_of_the_notebook(
    environment: Path, tmp_path: Path
) -> None:
    for name in ("analysis", "annotation", "config", "pooling"):
        (tmp_path / f"{name}.py").write_text(f"print('my {name}')\n", encoding="utf-8")
    code = "import assay; assay.evaluate; import analysis, annotation, config, pooling"
    done = called(environment, tmp_path, code)
    assert done.stdout.splitlines() == ["my analysis", "my annotation", "my config", "my pooling"]


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


def test_web_server_and_worker_find_the_apps_where_the_documentation_says(
    environment: Path, tmp_path: Path
) -> None:
    """docs/how-to/deploy.md, "From the wheel": the folder is put on PYTHONPATH by the unit."""
    code = "from assay.cli.server import SERVER_FOLDER; print(SERVER_FOLDER)"
    home = called(environment, tmp_path, code).stdout.strip()
    assert home == str(next(environment.glob("lib/python*/site-packages")) / "assay" / "_server")
    settings = {"PYTHONPATH": home, "ASSAY_DATA_DIR": str(tmp_path / "data")}
    run = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
    for words in (
        ["gunicorn", "config.wsgi:application", "--check-config"],
        ["celery", "-A", "config", "report"],
    ):
        done = called(environment, tmp_path, run, *words, **settings)
        assert done.returncode == 0, done.stderr


def test_data_of_an_installed_program_lie_in_the_folder_of_the_person(
    environment: Path, tmp_path: Path
) -> None:
    code = (
        "from assay.cli import server; server.add_to_path(); "
        "from config import settings; print(settings.DATA_DIR); print(settings.COMMAND)"
    )
    done = called(environment, tmp_path, code, XDG_DATA_HOME=str(tmp_path / "share"))
    assert done.stdout.splitlines() == [str(tmp_path / "share" / "assay"), "assay"], done.stderr


@pytest.mark.skipif(not UV.exists(), reason="uv is not in this environment")
def test_uv_builds_and_installs_it(tmp_path: Path) -> None:
    """With the hatchling of this environment, so that nothing is fetched."""

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

    python = str(tmp_path / "env" / "bin" / "python")
    uv(
        *("build", "--no-build-isolation", "--python", sys.executable),
        *("--out-dir", str(tmp_path / "dist")),
    )
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (made,) = (tmp_path / "dist").glob("*.whl")
    uv("pip", "install", "--no-deps", "--python", python, str(made))
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "assay", "help", "evaluate"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: assay evaluate ")
