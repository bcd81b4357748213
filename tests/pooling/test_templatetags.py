"""Moments as people read them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from pooling.templatetags.pooling import ago, ahead


@pytest.mark.parametrize(
    ("seconds", "past", "future"),
    [
        (0, "just now", "in less than a minute"),
        (50, "just now", "in less than a minute"),
        (61, "1\xa0minute ago", "in 1\xa0minute"),
        (3600 + 305, "1\xa0hour, 5\xa0minutes ago", "in 1\xa0hour, 5\xa0minutes"),
    ],
)
def test_no_moment_is_zero_minutes_away(monkeypatch, seconds, past, future):
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert ago(now - timedelta(seconds=seconds)) == past
    assert ahead(now + timedelta(seconds=seconds)) in (future, future.replace("5\xa0minutes", "4\xa0minutes"))
