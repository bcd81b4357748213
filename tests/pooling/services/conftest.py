from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def in_own_storage(own_storage):
    """No test of the services touches another's files."""
