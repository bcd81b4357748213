"""Builds the wheel and the source archive (PEP 517), with Python alone: building needs no network
and no further package.

In the wheel everything stands below one package, `assay`
(docs/decisions/0006-one-package-in-the-wheel.md): the four apps, templates, static files, documents
and manage.py go where `assay/` stands in the wheel as they stand beside it in the repository."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
INSIDE = (
    "analysis",
    "annotation",
    "config",
    "docs",
    "locale",
    "pooling",
    "static",
    "templates",
    "manage.py",
)
"""What becomes part of the package `assay`."""
SOURCES = (
    *(
        *INSIDE,
        "assay",
        "benchmarks",
        "tests",
        "Makefile",
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    ),
    *(
        "SECURITY.md",
        "CITATION.cff",
        "LICENSE",
        "requirements.txt",
        "requirements-dev.txt",
    ),
)
LEFT_OUT = {
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
    ".hypothesis",
    ".DS_Store",
}
MOMENT = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archives, so that the same sources make the same bytes."""


def project() -> dict[str, Any]:
    metadata: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return metadata


def dependencies() -> list[str]:
    needed: list[str] = project()["dependencies"]
    return needed


def files_of(name: str) -> Iterator[tuple[str, Path]]:
    """(path from the root of the repository, file) of a file or of all files of a folder."""
    place = ROOT / name
    paths = sorted(place.rglob("*")) if place.is_dir() else [place]
    for path in paths:
        inner = path.relative_to(ROOT)
        if path.is_file() and not LEFT_OUT & set(inner.parts) and path.suffix != ".pyc":
            yield inner.as_posix(), path


def metadata() -> str:
    of = project()
    head = [
        *(
            "Metadata-Version: 2.4",
            f"Name: {of['name']}",
            f"Version: {of['version']}",
            f"Summary: {of['description']}",
        ),
        *(f"Author: {one['name']}" for one in of["authors"]),
        f"Keywords: {','.join(of['keywords'])}",
        *(f"Classifier: {one}" for one in of["classifiers"]),
        *(
            f"License-Expression: {of['license']}",
            "License-File: LICENSE",
            f"Requires-Python: {of['requires-python']}",
        ),
        *(f"Requires-Dist: {one}" for one in dependencies()),
        *(
            line
            for extra, needed in of["optional-dependencies"].items()
            for line in (
                f"Provides-Extra: {extra}",
                *(f'Requires-Dist: {one}; extra == "{extra}"' for one in needed),
            )
        ),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (ROOT / of["readme"]).read_text(encoding="utf-8")


def entry_points() -> str:
    return "[console_scripts]\n" + "".join(
        f"{name} = {place}\n" for name, place in project()["scripts"].items()
    )


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: object = None
) -> str:
    """-> the name of the file made in the folder"""
    of = project()
    contents = {name: path.read_bytes() for name, path in files_of("assay")}
    for part in INSIDE:
        contents |= {f"assay/{name}": path.read_bytes() for name, path in files_of(part)}
    info = f"{of['name']}-{of['version']}.dist-info"
    contents[f"{info}/METADATA"] = metadata().encode()
    contents[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    contents[f"{info}/entry_points.txt"] = entry_points().encode()
    contents[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(
        f"{name},sha256={digest(data)},{len(data)}\n" for name, data in contents.items()
    )
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"{of['name']}-{of['version']}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, data in contents.items():
            entry = zipfile.ZipInfo(inner, MOMENT)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def digest(data: bytes) -> str:
    """As RECORD has it: SHA-256 in URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """-> the name of the file made in the folder"""
    of = project()
    stem = f"{of['name']}-{of['version']}"
    with tarfile.open(
        Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT
    ) as archive:
        contents = {inner: path.read_bytes() for part in SOURCES for inner, path in files_of(part)}
        for inner, data in {**contents, "PKG-INFO": metadata().encode()}.items():
            entry = tarfile.TarInfo(f"{stem}/{inner}")
            entry.size, entry.mode = len(data), 0o755 if inner == "manage.py" else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return f"{stem}.tar.gz"
