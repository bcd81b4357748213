"""Tests that share something expensive run in one process."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.xdist_group("a group")
PROCESSES: set[int] = set()


def test_the_id_of_a_test_ends_with_its_group_where_processes_share_the_tests(
    request: pytest.FixtureRequest,
) -> None:
    shared = hasattr(request.config, "workerinput")
    assert request.node.nodeid.endswith("@a group") == shared


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_group_has_one_process(n: int, record_property) -> None:
    PROCESSES.add(os.getpid())
    assert len(PROCESSES) == 1
