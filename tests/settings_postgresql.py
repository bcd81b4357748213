"""The tests' settings on a PostgreSQL server: `pytest --ds tests.settings_postgresql`."""

import os

import dj_database_url

from tests.settings import *  # noqa: F403

_server = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
DATABASES = {"default": dj_database_url.parse(_server)}
DATABASES["default"]["TEST"] = {"NAME": f"assay_tests_{os.getpid()}"}
