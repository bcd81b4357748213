"""Figures take longer than all else: only modules that say so draw them (`DRAWS_FIGURES =
True`)."""

from __future__ import annotations

import pytest

from analysis.systems import figures


@pytest.fixture(autouse=True)
def without_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not getattr(request.module, "DRAWS_FIGURES", False):
        monkeypatch.setattr(figures, "drawn", lambda kind, result: {})
