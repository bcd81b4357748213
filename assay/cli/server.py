"""Locate the server and check whether its dependencies are installed.

The library imports nothing of the server. In a checkout the server's packages (pooling, annotation,
analysis, config) are next to `assay`, and in a wheel they are in the folder `assay/_server`. The
server's processes, and commands that read its database, add that folder to Python's module search
path. A notebook that only computes does not need it.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.cli.examples import example_text

PACKAGE = Path(__file__).resolve().parents[1]
SERVER_FOLDER = PACKAGE / "_server" if (PACKAGE / "_server").is_dir() else PACKAGE.parent
"""Folder that contains pooling, annotation, analysis, config, templates and static."""
PACKAGES = ("pooling", "annotation", "analysis", "config")
DATABASE = "analysis.commandline.database"
REQUIRED_MODULES = ("django", "rest_framework", "celery", "gunicorn")
INSTALL_HINT = 'pip install "assay-ir[server]"'


@cache
def is_installed() -> bool:
    """Return whether the dependencies of the extra `server` are installed."""
    return all(find_spec(name) for name in REQUIRED_MODULES)


def add_to_path() -> None:
    """Add the server to the module search path of this process and its children."""
    places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(SERVER_FOLDER) not in sys.path:
        sys.path.insert(0, str(SERVER_FOLDER))
    if SERVER_FOLDER.parent == PACKAGE and str(SERVER_FOLDER) not in places:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SERVER_FOLDER), *filter(None, places)])


def load_database_module() -> Any:
    """Return the module that opens the installation's database. The server must be installed."""
    add_to_path()
    return importlib.import_module(DATABASE)


def set_up_django() -> None:
    """Set up Django with the server's apps."""
    add_to_path()
    import django

    django.setup()


def is_django_command(name: str) -> bool:
    """Return whether Django or another installed app has a command of this name."""
    if not is_installed():
        return False
    load_settings([name])
    import django
    from django.core.management import get_commands

    django.setup()  # get_commands needs the list of apps
    return name in get_commands()


def run_by_django(program: str, argv: list[str]) -> None:
    """Run one of Django's commands. Raises SystemExit if the server is not installed or not set
    up."""
    load_settings(argv[:1])
    from django.core.management import execute_from_command_line

    execute_from_command_line([program, *argv])


def run_server_command(program: str, name: str, module: str, arguments: list[str]) -> None:
    """Run one of the server's commands under its name. Raises SystemExit as `run_by_django`
    does."""
    load_settings([name])
    import django
    from django.core.management import load_command_class
    from django.core.management.base import CommandParser, handle_default_options

    parser = CommandParser(add_help=False, allow_abbrev=False)
    for option in ("--settings", "--pythonpath"):
        parser.add_argument(option)
    handle_default_options(parser.parse_known_args(arguments)[0])
    django.setup()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import get_commands

    try:
        command = load_command_class(get_commands()[module], module)
        if {"-h", "--help"} & set(arguments):
            asked = command.create_parser(program, name)
            asked.epilog = example_text(name)
            asked.print_help()
        else:
            command.run_from_argv([program, name, *arguments])
    except ImproperlyConfigured as error:
        raise SystemExit(f"assay: {error}") from None


def load_settings(argv: list[str]) -> None:
    """Load the settings. Raises SystemExit with the reason if that fails."""
    if not is_installed():
        raise SystemExit(
            f"assay: {' '.join(argv[:1])} is not a command of the library, and the server is "
            f"not installed here. To install it: {INSTALL_HINT}"
        )
    add_to_path()
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    try:
        settings.INSTALLED_APPS  # noqa: B018 - read now, to report invalid settings in one sentence
    except ImproperlyConfigured as error:
        raise SystemExit(f"assay: {error}") from None
