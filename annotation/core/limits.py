"""Limits of a campaign's numeric settings, for its forms and its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.number_words import format_count

MIN_VALUES = {
    "judgements_per_pair": 1,
    "lease_minutes": 1,
    "lease_window": 1,
    "block_length": 1,
    "band": 1,
    "gold_every": 2,
    "idle_seconds": 5,
}
MAX_SMALL_INTEGER = 32_767
"""Largest value of a small integer column: in minutes, more than three weeks."""
MAX_VALUES = {
    **dict.fromkeys(
        (
            "min_relevant",
            "grace_minutes",
            "closing_hours",
            "pause_after_fast",
            "idle_seconds",
            "lease_minutes",
            "block_length",
        ),
        MAX_SMALL_INTEGER,
    ),
    **dict.fromkeys(
        ("band", "spans_from", "gold_every", "min_common", "min_partners"), MAX_SMALL_INTEGER
    ),
    **dict.fromkeys(("target_per_annotator", "daily_limit", "truncate_words"), 1_000_000),
    **dict.fromkeys(("min_active_seconds", "expected_seconds"), 86_400),
    "judgements_per_pair": 50,
    "lease_window": 10,
}
BOUND_REASONS = {"lease_window": "pairs loaded ahead are not available to other annotators"}


def find_time_contradictions(settings: Mapping[str, Any]) -> list[str]:
    """Return messages about times that contradict each other, each with a fix. settings: all
    settings of a campaign."""
    least, idle, expected = (
        float(settings[name]) for name in ("min_active_seconds", "idle_seconds", "expected_seconds")
    )
    lease, said = 60 * settings["lease_minutes"], []
    if least >= idle:
        said.append(
            f"Judgements under {least:g} s do not count, but the timer stops after {idle:g} s of "
            "inactivity, so an annotator who only reads could never reach the minimum. Set the "
            "minimum active time below the inactivity timeout."
        )
    if expected < least:
        said.append(
            f"A judgement is expected to take {expected:g} s, but judgements under {least:g} s do "
            "not count, so most would be discarded. Lower the minimum active time, or raise the "
            "expected time."
        )
    if lease < idle:
        said.append(
            f"A pair is reserved for {format_count(settings['lease_minutes'], 'minute')} and then "
            f"assigned to others before the inactivity timeout of {idle:g} s ends. Raise the "
            "reservation time, or lower the timeout."
        )
    if settings["pause_after_fast"] and not least:
        said.append(
            "Annotators are paused after too-fast judgements, but there is no minimum active time. "
            "Set a minimum active time, or turn the pause off."
        )
    return said


def find_problems(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Check numeric settings against their limits. Returns problems as (name of the setting,
    message). Empty values are not checked here."""
    sentences = [
        (name, f"The value must be at least {least}.")
        for name, least in MIN_VALUES.items()
        if settings.get(name) is not None and settings[name] < least
    ]
    for name, most in MAX_VALUES.items():
        if (settings.get(name) or 0) > most:
            sentences.append(
                (
                    name,
                    f"The value must be at most {most:,}"
                    f"{': ' + BOUND_REASONS[name] if name in BOUND_REASONS else ''}.",
                )
            )
    if not 0 <= (settings.get("qualification_pass") or 0) <= 1:
        sentences.append(("qualification_pass", "The value must be from 0 to 1."))
    if {"min_common", "min_partners"} <= set(settings) and bool(settings["min_common"]) != bool(
        settings["min_partners"]
    ):
        sentences.append(("min_partners", "Annotation overlap requires both numbers, or neither."))
    return sentences
