"""The version of this program, which is defined only in pyproject.toml."""

from __future__ import annotations

import importlib.metadata
import tomllib
from functools import cache
from pathlib import Path


@cache
def program_version() -> str:
    """Return the version of the checkout that runs, or of the installed package."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if project.exists():
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    return importlib.metadata.version("assay-ir")
