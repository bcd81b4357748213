"""Modules that the master of the web server has loaded itself. Whoever it begins has them from it,
at a reload too: those that have changed meanwhile are new only when the web server is started
anew."""

from __future__ import annotations

import functools
import hashlib
import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"pooling", "annotation", "analysis", "config", "assay"}


def _digest(path: str) -> str:
    """Empty where the file is not there any more."""
    try:
        return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
    except OSError:
        return ""


@functools.cache
def loaded() -> dict[str, str]:
    """Those of this program that this process had loaded when it was asked first: path below its
    root -> digest of the file"""
    files = (
        Path(file)
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None))
    )
    paths = sorted(str(file.relative_to(ROOT)) for file in files if file.is_relative_to(ROOT))
    return {path: _digest(path) for path in paths if path.partition("/")[0] in PACKAGES}


def changed() -> list[str]:
    """Their paths."""
    return [path for path, digest in loaded().items() if _digest(path) != digest]


def tell(log: logging.Logger) -> None:
    """For the master, at its start and at each reload."""
    if paths := changed():
        log.warning(
            "%s changed since the web server was started, and a reload keeps what they were: start it anew",
            ", ".join(paths),
        )
