from __future__ import annotations

from typing import Any

import pytest

from tests import openapi


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Check every API response in these tests against the OpenAPI document. Returns the list of
    (operation ID, response) so far."""
    return openapi.hold_answers(monkeypatch)
