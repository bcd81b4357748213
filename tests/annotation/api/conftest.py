from __future__ import annotations

from typing import Any

import pytest

from tests import openapi


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Every answer that a test here gets is held to the API's document; (operation id, answer) of
    each so far."""
    return openapi.hold_answers(monkeypatch)
