"""Figures take longer than all else; the tests of pages draw them."""

from __future__ import annotations

import pytest

from analysis import figures


@pytest.fixture(autouse=True)
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "drawn", lambda kind, result: {})
