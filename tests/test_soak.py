"""Faults in a whole installation while people judge, in their short forms; `make soak` has all of
them and gives them time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import absent
from tests.installation import ROOT
from tests.soak.faults import FAULTS
from tests.soak.place import N_JOB, Place
from tests.soak.servers import POSTGRESQL, Unavailable
from tests.soak.trial import Outcome, judge, tried

SQLITE = [
    *["web-worker-killed", "background-killed", "second-up", "sqlite-locked"],
    *["handles-used-up", "memory-limited", "aborted-clients"],
]
POSTGRES = ["postgresql-killed", "postgresql-away"]


@pytest.fixture(scope="module")
def on_sqlite() -> Iterator[Place]:
    with Place("sqlite") as place:
        yield place
    assert place.processes() == []


@pytest.fixture
def on_its_own_clock() -> Iterator[Place]:
    try:
        with Place("sqlite", frozenset({"clock"})) as place:
            yield place
    except Unavailable as error:
        absent("clock", str(error))
    assert place.processes() == []


@pytest.fixture(scope="module")
def on_postgresql() -> Iterator[Place]:
    if not POSTGRESQL:
        absent(
            "postgresql", "its programs are not where Debian puts them, so no cluster can be made"
        )
    with Place("postgresql") as place:
        yield place
    assert place.processes() == []


def held(name: str, place: Place) -> None:
    outcome = tried(FAULTS[name], place, short=True)
    assert outcome.complaints == [], f"{outcome.line()}\n{place.log_end()}"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("soak on sqlite")
@pytest.mark.parametrize("name", SQLITE)
def test_nothing_is_lost_on_sqlite(on_sqlite: Place, name: str):
    held(name, on_sqlite)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_lost_and_nobody_is_refused_when_the_machines_clock_is_set_back(
    on_its_own_clock: Place,
):
    held("clock-back", on_its_own_clock)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.postgresql
@pytest.mark.xdist_group("soak on postgresql")
@pytest.mark.parametrize("name", POSTGRES)
def test_nothing_is_lost_on_postgresql(on_postgresql: Place, name: str):
    held(name, on_postgresql)


def looked(**other: Any) -> dict[str, Any]:
    sound = {
        "keys": ["a", "b"],
        "more_than_needed": 0,
        "twice": 0,
        "jobs": {"f": ["done", 1, ""]},
        "imported": N_JOB,
        "faults": [],
    }
    return sound | other


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        (looked(), None),
        (looked(keys=["a", "other"]), "1 accepted and not stored"),
        (looked(more_than_needed=2), "2 judged too often"),
        (looked(twice=1), "1 judged too often"),
        (looked(jobs={"f": ["done", 2, ""]}, imported=7), "7 documents of the job are stored"),
        (looked(jobs={"f": ["failed", 3, "the worker died"]}, imported=0), None),
        (looked(jobs={"f": ["failed", 3, ""]}, imported=0), "the job of f hangs"),
        (looked(jobs={"f": ["done", 1, ""], "g": ["running", 1, ""]}), "the job of g hangs"),
        (
            looked(faults=["soak: pair 3 has one slot too many"]),
            "verify: soak: pair 3 has one slot too many",
        ),
    ],
)
def test_what_must_not_be_is_a_complaint(facts: dict[str, Any], complaint: str | None):
    outcome = Outcome("a fault", "sqlite", normal_after=1.0)
    judge(outcome, facts, ["a", "b"], "f")
    assert outcome.complaints == ([complaint] if complaint else [])
    assert outcome.line().endswith(f"| {complaint or 'held'} |")


def test_who_is_not_answered_again_is_a_complaint():
    outcome = Outcome("a fault", "sqlite")
    judge(outcome, looked(), ["a"], "f")
    assert outcome.complaints == ["not everybody was answered again within 60 s"]


def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.soak", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_faults_are_listed_and_another_name_is_refused():
    assert asked("--list", "--database", "sqlite").stdout.splitlines() == [
        f"{one.name} (sqlite)" for one in FAULTS.values() if "sqlite" in one.databases
    ]
    refused = asked("no-such-fault")
    assert refused.returncode == 2
    assert "no fault is called no-such-fault; there are web-worker-killed" in refused.stderr
