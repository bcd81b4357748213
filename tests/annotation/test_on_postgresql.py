"""The rules of scheduling and of standings hold on PostgreSQL, too, whose claims are other SQL: the
same tests, run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.postgresql
@pytest.mark.timeout(900)
def test_scheduling_and_standings_pass_their_tests_on_postgresql(postgresql_url):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/annotation/services/judging/test_scheduling.py",
        "tests/annotation/services/people/test_exclusion.py",
        "tests/annotation/services/judging/test_held_back.py",
        "tests/annotation/services/judging/test_judging.py",
        "tests/annotation/services/judging/test_assignment.py",
        "tests/annotation/api/test_cost.py",
        "tests/pooling/api/test_repeats.py",
        "tests/pooling/test_verify_figures.py",
        "tests/test_metrics.py",
        "-m",
        "not slow",
        # not collected otherwise: it needs this database
        "tests/annotation/services/judging/claims_on_postgresql.py",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--create-db",
    ]
    env = {
        **os.environ,
        "ASSAY_TEST_DATABASE_URL": postgresql_url,
        "DJANGO_SETTINGS_MODULE": "tests.settings_postgresql",
    }
    for name in [name for name in env if name.startswith("PYTEST_")]:
        del env[name]
    done = subprocess.run(
        [*command, "--ds", "tests.settings_postgresql"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
