from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def in_own_storage(own_storage):
    """Give each test of services its own folder of stored files."""
