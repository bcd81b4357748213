"""Paper studies, one module per paper with a constant `STUDY`. The command and the documentation
find them by their module names."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from analysis.studies.study import Study

STUDY_NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get_study(name: str) -> Study:
    """Return the study with this name. Raises KeyError for a name that is not in STUDY_NAMES."""
    if name not in STUDY_NAMES:
        raise KeyError(name)
    study: Study = importlib.import_module(f"{__name__}.{name}").STUDY
    return study
