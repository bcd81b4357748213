"""The rules of scheduling and of statuses, exports, releases and imports hold on PostgreSQL, too,
whose claims are other SQL and whose order of texts is another: the same tests, run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import filled_database

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    *(
        f"tests/annotation/services/{name}.py"
        for name in (
            "judging/test_scheduling",
            "people/test_exclusion",
            "judging/test_held_back",
            "judging/test_judging",
            "judging/test_assignment",
            "judging/claims_on_postgresql",  # not collected otherwise: it needs this database
        )
    ),
    "tests/annotation/api/test_cost.py",
    "tests/pooling/api/test_repeats.py",
    "tests/pooling/test_verify_figures.py",
    "tests/test_metrics.py",
    *(f"tests/analysis/publishing/test_{name}.py" for name in ("releases", "exports", "import")),
]


@pytest.mark.long
@pytest.mark.postgresql
@pytest.mark.timeout(900)
def test_scheduling_statuses_and_releases_pass_their_tests_on_postgresql(postgresql_url):
    command = [sys.executable, "-m", "pytest", *FILES, "-m", "not slow", "-q", "-x"]
    command += ["-p", "no:cacheprovider", "--reuse-db", "--ds", "tests.settings_postgresql"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["DJANGO_SETTINGS_MODULE"] = "tests.settings_postgresql"
    with filled_database(postgresql_url) as url:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=env | {"ASSAY_TEST_DATABASE_URL": url},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
