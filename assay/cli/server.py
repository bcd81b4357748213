"""Where the server stands, if one is installed: `pip install "assay-ir[server]"`.

The library imports nothing of it. In a checkout its packages (pooling, annotation, analysis,
config) stand beside `assay`; in a wheel they are in the folder `assay/_server`, which the server's
processes, and commands that read its database, put at the front of the places where Python looks
for modules. A notebook that only computes does without."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
HOME = PACKAGE / "_server" if (PACKAGE / "_server").is_dir() else PACKAGE.parent
"""The folder with pooling, annotation, analysis, config, templates and static."""
PACKAGES = ("pooling", "annotation", "analysis", "config")
DATABASE = "analysis.commandline.database"


def make_importable() -> None:
    """For this process and those that it starts."""
    places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
    if HOME.parent == PACKAGE and str(HOME) not in places:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HOME), *filter(None, places)])


def database() -> Any:
    """The module that opens the database of the installation. Raises ModuleNotFoundError where
    there is no server."""
    make_importable()
    return importlib.import_module(DATABASE)


def set_up() -> None:
    """Django with the server's apps."""
    make_importable()
    import django

    django.setup()


def run_by_django(program: str, words: list[str]) -> None:
    """Raises SystemExit where the server is not installed or not set up."""
    make_importable()
    try:
        from django.conf import settings
    except ModuleNotFoundError:
        raise SystemExit(
            f"assay: {' '.join(words[:1])} is no command on files, and the server is not installed "
            'here: pip install "assay-ir[server]"'
        ) from None
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018  reads the settings now, where a wrong one can be told in a sentence
        execute_from_command_line([program, *words])
    except ImproperlyConfigured as error:
        raise SystemExit(f"assay: {error}") from None
