"""Settings of the tests for a PostgreSQL server: `pytest --ds tests.settings_postgresql`. With
`--reuse-db` the tests use the database in the address itself."""

import os
import sys

import dj_database_url

from tests.settings import *  # noqa: F403

_server = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
DATABASES = {"default": dj_database_url.parse(_server)}
DATABASES["default"]["TEST"] = {
    "NAME": DATABASES["default"]["NAME"]
    if "--reuse-db" in sys.argv
    else f"assay_tests_{os.getpid()}"
}
