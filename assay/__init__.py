"""Assay: create reliable relevance judgements, and evaluate and compare systems with them.

`import assay` provides the functions in docs/reference/library.md. The command line is `assay`.
Modules are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.library import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("assay.version").program_version()
    if name == "measures":
        return importlib.import_module("assay.measures")
    library = importlib.import_module("assay.library") if not name.startswith("_") else None
    if library is None or name not in library.__all__:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(library, name)


def __dir__() -> list[str]:
    return [*importlib.import_module("assay.library").__all__, "measures", "__version__"]
