"""Studies, one paper a file, each with a `STUDY`; the command and the documents find it by
itself."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from analysis.studies.study import Study

STUDY_NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get_study(name: str) -> Study:
    """KeyError for a name that is not in NAMES."""
    if name not in STUDY_NAMES:
        raise KeyError(name)
    study: Study = importlib.import_module(f"{__name__}.{name}").STUDY
    return study
