"""Bounds of a campaign's numbers, for its forms and its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEAST = {"judgements_per_pair": 1, "lease_minutes": 1, "lease_window": 1, "block_length": 1, "band": 1, "gold_every": 2, "idle_seconds": 5}
MOST = {"judgements_per_pair": 50, "lease_window": 10}
WHY = {"lease_window": "what is leased ahead is kept from the others"}


def problems(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with settings that were given, as (name, sentence). Empty ones are somebody else's business."""
    sentences = [(name, f"At least {least}.") for name, least in LEAST.items() if settings.get(name) is not None and settings[name] < least]
    for name, most in MOST.items():
        if (settings.get(name) or 0) > most:
            sentences.append((name, f"At most {most}{': ' + WHY[name] if name in WHY else ''}."))
    if not 0 <= (settings.get("qualification_pass") or 0) <= 1:
        sentences.append(("qualification_pass", "A share from 0 to 1."))
    if {"min_common", "min_partners"} <= set(settings) and bool(settings["min_common"]) != bool(settings["min_partners"]):
        sentences.append(("min_partners", "Planned overlap needs both numbers, or neither."))
    return sentences
