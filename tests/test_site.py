"""The documentation site builds without a warning and loads nothing from the network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.setting_list import DEFAULTS
from tests.commands import get_commands
from tests.documented import DOCS

pytestmark = pytest.mark.xdist_group("site")  # built once
APPS = {"pooling", "annotation", "analysis", "config", "assay"}
WITHOUT_ARGUMENTS = {"worker"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-j",
            "2",
            str(DOCS),
            str(folder),
        ],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_every_page_is_built_and_found_by_search(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        assert (site / name).with_suffix(".html").exists(), name
        assert f'"{name}"' in index


@pytest.mark.long
def test_pages_load_nothing_from_the_network(site: Path) -> None:
    loads = re.compile(
        r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)"'
        r"|url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)"
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 40
    for page in pages:
        for found in loads.findall(page.read_text(encoding="utf-8")):
            assert not re.match(r"(https?:)?//", "".join(found)), f"{page.name}: {found}"


@pytest.mark.long
def test_the_page_of_commands_has_a_list_of_arguments_for_each_command(site: Path) -> None:
    source = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    commands = {name for name, app in get_commands().items() if app in APPS}
    assert len(commands) > 40
    assert set(re.findall(r":::\{command\} (\w+)\n", source)) == commands
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert page.count("assay-options") == len(commands) - len(WITHOUT_ARGUMENTS)


@pytest.mark.long
def test_the_page_of_the_api_lists_its_operations(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    assert "GET /api/v1/to-do/" in text
    assert len(re.findall(r"(?m)^(?:GET|POST|PUT|PATCH|DELETE) /api/", text)) > 80


@pytest.mark.long
def test_the_page_of_settings_lists_each_with_its_default(site: Path) -> None:
    page = (site / "reference" / "settings.html").read_text(encoding="utf-8")
    rows = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"(?s)<tr.*?</tr>", page)]
    assert [row for row in rows if "ASSAY_SESSION_DAYS" in row and " 14 " in row]
    names = {re.findall(r"ASSAY_([A-Z_]+)", row)[0] for row in rows if "ASSAY_" in row}
    assert names == set(DEFAULTS)
