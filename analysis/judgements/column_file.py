"""A campaign's columns in a file of the data folder, so that a new process does not read every row
of the database.

The file is only a beginning: what has come since is read from the database as with columns in
memory (analysis.judgements.live), and a file that does not belong to the database as it is now is
not used. It can be deleted at any time."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.pairs import PairColumns
from analysis.judgements.rows import ID_LISTS, JudgementRows
from analysis.judgements.shared_answer import cache_folder, campaign_identity, write_atomically
from annotation.models import AuditEvent, Campaign, Judgement

log = logging.getLogger(__name__)
FORMAT = 4
MIN_ROWS = 5000
"""Rows and pairs: fewer are read from the database as quickly."""
PAIR_COLUMNS = (
    "ids",
    "topic",
    "document",
    "priority",
    "rank",
    "position",
    "kind",
    "gold",
    "words",
    "asked_more",
    "beyond_depth",
)
ROW_COLUMNS = (
    "judgement",
    "pair",
    "member",
    "annotator",
    "grade",
    "active",
    "idle",
    "hidden",
    "judged_at",
    "standing",
    "guideline",
)
"""The rows' other columns are those of their pairs."""


@dataclass(frozen=True, eq=False)
class CachedColumns:
    """audit, settled: as in `Live`."""

    rows: JudgementRows
    pairs: PairColumns
    audit: int
    settled: int


def column_file_path(campaign: Campaign) -> Path:
    return cache_folder() / f"{campaign.pk}-columns.npz"


def write_columns(
    campaign: Campaign, rows: JudgementRows, pairs: PairColumns, *, audit: int, settled: int
) -> None:
    """Nothing happens to small campaigns, where another process is at it, and where the disk is
    full."""
    if len(rows) + len(pairs) < MIN_ROWS or not len(rows):
        return
    path = column_file_path(campaign)
    meta = {
        "format": FORMAT,
        "of": campaign_identity(campaign),
        "audit": audit,
        "settled": settled,
        "marks": _validity_marks(campaign, rows),
    }
    arrays: dict[str, NDArray[Any]] = {"meta": _pack_json(meta)}
    for name in ("topics", "documents"):
        arrays[name] = _pack_json(getattr(pairs, name))
    arrays["annotators"], arrays["judges"] = _pack_json(rows.annotators), _pack_json(rows.judges)
    arrays |= {f"pairs_{name}": getattr(pairs, name) for name in PAIR_COLUMNS} | {
        f"rows_{name}": getattr(rows, name) for name in ROW_COLUMNS
    }
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_atomically(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
    except OSError:
        log.warning("the columns of %s cannot be kept in %s", campaign.slug, path, exc_info=True)


def load_cached_columns(campaign: Campaign, *, audit: int) -> CachedColumns | None:
    """What the file holds, if it is of this campaign and no audited change has come since."""
    try:
        with np.load(column_file_path(campaign), allow_pickle=False) as arrays:
            meta = _unpack_json(arrays["meta"])
            if (
                meta["format"] != FORMAT
                or meta["of"] != campaign_identity(campaign)
                or meta["audit"] != audit
            ):
                return None
            if not _marks_match(campaign, meta["marks"]):
                return None
            columns = {name: arrays[name] for name in arrays.files if name != "meta"}
        topics, documents, annotators, judges = (_unpack_json(columns[name]) for name in ID_LISTS)
        pairs = PairColumns(
            topics=topics,
            documents=documents,
            **{name: columns[f"pairs_{name}"] for name in PAIR_COLUMNS},
        )
        own = {name: columns[f"rows_{name}"] for name in ROW_COLUMNS}
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    at = pairs.index_of(own["pair"])
    of_pairs = {name: getattr(pairs, name)[at] for name in ("topic", "document", "gold", "words")}
    rows = JudgementRows(
        topics=topics, documents=documents, annotators=annotators, judges=judges, **own, **of_pairs
    )
    return CachedColumns(rows, pairs, meta["audit"], meta["settled"])


def _validity_marks(campaign: Campaign, rows: JudgementRows) -> list[Any]:
    """The newest judgement and the newest event as nobody else has them: both exist in the database
    to which the file belongs."""
    newest = int(rows.judgement[-1])
    key = Judgement.objects.filter(pk=newest).values_list("key", flat=True).first()
    event = (
        AuditEvent.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", "at").first()
    )
    return [newest, str(key), event[0] if event else 0, event[1].isoformat() if event else ""]


def _marks_match(campaign: Campaign, marks: list[Any]) -> bool:
    newest, key, event, at = marks
    if str(Judgement.objects.filter(pk=newest).values_list("key", flat=True).first()) != key:
        return False
    known = (
        AuditEvent.objects.filter(campaign=campaign, pk=event).values_list("at", flat=True).first()
    )
    return (known.isoformat() if known else "") == at


def _pack_json(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _unpack_json(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())
