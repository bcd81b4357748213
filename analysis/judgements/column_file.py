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
from analysis.judgements.rows import LISTS, JudgementRows
from analysis.judgements.shared_answer import folder, identity, write_whole
from annotation.models import AuditEvent, Campaign, Judgement

log = logging.getLogger(__name__)
FORMAT = 4
SMALLEST = 5000
"""Rows and pairs: fewer are read from the database as quickly."""
OF_PAIRS = (
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
OF_ROWS = (
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
class Kept:
    """audit, settled: as in `Live`."""

    rows: JudgementRows
    pairs: PairColumns
    audit: int
    settled: int


def path_of(campaign: Campaign) -> Path:
    return folder() / f"{campaign.pk}-columns.npz"


def write(
    campaign: Campaign, rows: JudgementRows, pairs: PairColumns, *, audit: int, settled: int
) -> None:
    """Nothing happens to small campaigns, where another process is at it, and where the disk is
    full."""
    if len(rows) + len(pairs) < SMALLEST or not len(rows):
        return
    path = path_of(campaign)
    meta = {
        "format": FORMAT,
        "of": identity(campaign),
        "audit": audit,
        "settled": settled,
        "marks": _marks(campaign, rows),
    }
    arrays: dict[str, NDArray[Any]] = {"meta": _packed(meta)}
    for name in ("topics", "documents"):
        arrays[name] = _packed(getattr(pairs, name))
    arrays["annotators"], arrays["judges"] = _packed(rows.annotators), _packed(rows.judges)
    arrays |= {f"pairs_{name}": getattr(pairs, name) for name in OF_PAIRS} | {
        f"rows_{name}": getattr(rows, name) for name in OF_ROWS
    }
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_whole(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
    except OSError:
        log.warning("the columns of %s cannot be kept in %s", campaign.slug, path, exc_info=True)


def load(campaign: Campaign, *, audit: int) -> Kept | None:
    """What the file holds, if it is of this campaign and no audited change has come since."""
    try:
        with np.load(path_of(campaign), allow_pickle=False) as arrays:
            meta = _unpacked(arrays["meta"])
            if (
                meta["format"] != FORMAT
                or meta["of"] != identity(campaign)
                or meta["audit"] != audit
            ):
                return None
            if not _holds(campaign, meta["marks"]):
                return None
            columns = {name: arrays[name] for name in arrays.files if name != "meta"}
        topics, documents, annotators, judges = (_unpacked(columns[name]) for name in LISTS)
        pairs = PairColumns(
            topics=topics,
            documents=documents,
            **{name: columns[f"pairs_{name}"] for name in OF_PAIRS},
        )
        own = {name: columns[f"rows_{name}"] for name in OF_ROWS}
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    at = pairs.index_of(own["pair"])
    of_pairs = {name: getattr(pairs, name)[at] for name in ("topic", "document", "gold", "words")}
    rows = JudgementRows(
        topics=topics, documents=documents, annotators=annotators, judges=judges, **own, **of_pairs
    )
    return Kept(rows, pairs, meta["audit"], meta["settled"])


def _marks(campaign: Campaign, rows: JudgementRows) -> list[Any]:
    """The newest judgement and the newest event as nobody else has them: both exist in the database
    to which the file belongs."""
    newest = int(rows.judgement[-1])
    key = Judgement.objects.filter(pk=newest).values_list("key", flat=True).first()
    event = (
        AuditEvent.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", "at").first()
    )
    return [newest, str(key), event[0] if event else 0, event[1].isoformat() if event else ""]


def _holds(campaign: Campaign, marks: list[Any]) -> bool:
    newest, key, event, at = marks
    if str(Judgement.objects.filter(pk=newest).values_list("key", flat=True).first()) != key:
        return False
    known = (
        AuditEvent.objects.filter(campaign=campaign, pk=event).values_list("at", flat=True).first()
    )
    return (known.isoformat() if known else "") == at


def _packed(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _unpacked(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())
