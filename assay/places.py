"""Where the program stands: beside this package in a checkout, within it where a wheel has been
installed.

A wheel holds everything below the one package `assay`, so that it brings no module called `config`
or `analysis` into a place that it shares with others. The program's own imports (`from
analysis.core import ...`) are the same in both: a finder knows these four names."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
HOME = HERE if (HERE / "pooling").is_dir() else HERE.parent
"""The folder with pooling, annotation, analysis, config, templates and static."""
PACKAGES = ("pooling", "annotation", "analysis", "config")


class Finder:
    """Leads the names of the program's packages to HOME; all others are none of its business."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in PACKAGES:
            return None
        folder = HOME / name
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def make_importable() -> None:
    """Before all other ways of finding modules: an `analysis.py` in the folder where somebody works
    is not ours. ImportError if one is imported already."""
    for name in PACKAGES:
        other = sys.modules.get(name)
        if other is not None and getattr(other, "__file__", None) != str(
            HOME / name / "__init__.py"
        ):
            raise ImportError(
                f"a module called {name!r} has been imported from {getattr(other, '__file__', None) or 'elsewhere'}; "
                "Assay has a package of this name: import assay first, or call your module something else"
            )
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
