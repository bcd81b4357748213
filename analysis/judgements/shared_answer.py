"""One answer for all processes of an installation: one of them computes it, everybody gets it for a
moment.

Answers are small files of the data folder, since a write into the database would stand in the way
of those who judge."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.models import Campaign
from assay.atomic_files import write_bytes_atomically

log = logging.getLogger(__name__)
clock = time.time
"""Seconds since 1970: processes have no other clock in common."""


@dataclass(frozen=True)
class CachedAnswer:
    """value: what JSON can hold. made_at: when its computing began; changed_at: since when it has
    been the same (seconds since 1970)."""

    value: Any
    made_at: float
    changed_at: float

    def is_young(self, seconds: float) -> bool:
        """Also of a clock that was set back nothing is believed."""
        return 0 <= clock() - self.made_at <= seconds


def cache_folder() -> Path:
    return Path(settings.DATA_DIR) / "live"


def cached_files(campaign: Campaign) -> list[Path]:
    """All files here that are of this campaign: their names begin with its number."""
    return list(cache_folder().glob(f"{campaign.pk}-*"))


def campaign_identity(campaign: Campaign) -> str:
    """Row ids are used again after a database has been replaced; this is not."""
    return f"{campaign.pk} {campaign.slug} {campaign.created_at.isoformat()}"


def write_atomically(path: Path, write: Callable[[Any], object]) -> None:
    """`write(file)` into a file that appears complete or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with write_bytes_atomically(path, private=True) as file:
        write(file)


def get_or_compute(
    name: str, campaign: Campaign, compute: Callable[[], Any], *, fresh: float, waiting: float
) -> CachedAnswer:
    """The answer of this name, at most `fresh` seconds old, or computed now.

    While somebody else computes, the last answer is given if it is not older than `waiting`
    seconds; else it is waited for."""
    path, key = _answer_path(name, campaign), campaign_identity(campaign)
    last = _load_answer(path, key)
    if last is not None and last.is_young(fresh):
        return last
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        log.warning(
            "figures cannot be shared in %s; every process computes its own",
            path.parent,
            exc_info=True,
        )
        return _compute_answer(last, compute)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if last is not None and last.is_young(waiting):
                return last
            fcntl.flock(lock, fcntl.LOCK_EX)
        newer = _load_answer(path, key)
        if newer is not None and newer != last:
            return newer  # of a moment ago: computed while this process waited
        answer = _compute_answer(last, compute)
        text = json.dumps(
            {
                "of": key,
                "made_at": answer.made_at,
                "changed_at": answer.changed_at,
                "value": answer.value,
            }
        )
        try:
            write_atomically(path, lambda file: file.write(text.encode()))
        except OSError:
            log.warning("figures cannot be kept in %s", path, exc_info=True)
        return answer
    finally:
        os.close(lock)


def get_last_answer(name: str, campaign: Campaign) -> CachedAnswer | None:
    """The answer of this name that was kept last, however old; None where there is none."""
    return _load_answer(_answer_path(name, campaign), campaign_identity(campaign))


def clear_cache() -> None:
    """For tests and benchmarks."""
    for path in cache_folder().glob("*.json"):
        path.unlink(missing_ok=True)


def _answer_path(name: str, campaign: Campaign) -> Path:
    return cache_folder() / f"{campaign.pk}-{name}.json"


def _compute_answer(last: CachedAnswer | None, compute: Callable[[], Any]) -> CachedAnswer:
    moment = clock()
    value = json.loads(json.dumps(compute()))  # as everybody else will read it
    same = last is not None and last.value == value and last.changed_at <= moment
    return CachedAnswer(value, moment, last.changed_at if same and last is not None else moment)


def _load_answer(path: Path, key: str) -> CachedAnswer | None:
    try:
        stored = json.loads(path.read_bytes())
        return (
            CachedAnswer(stored["value"], stored["made_at"], stored["changed_at"])
            if stored["of"] == key
            else None
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
