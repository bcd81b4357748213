"""What the apps above pooling add to it, since pooling imports neither.

Each list is filled once, when the apps are ready, in annotation/apps.py and analysis/apps.py, and
says who listens and in which transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pooling.models import Collection, Job, Pool, Run
from pooling.platform.jobs import ClaimedJob


class FrozenLabels(NamedTuple):
    """A machine's labels, which cannot change any more. judge: by which it is named,
    campaign/judge. grade_of: by topic id and document id."""

    judge: str
    model: str
    digest: str
    frozen_at: str
    n_grades: int
    grade_of: Mapping[tuple[str, str], int]


class MachineSource(NamedTuple):
    """judges: (name, words) of the frozen machine judges of a collection that somebody may draw by.
    labels: of the one of this name, for whom anybody (None: whoever runs the installation) may draw
    by them; Refused otherwise."""

    judges: Callable[[Collection, Any], list[tuple[str, str]]]
    labels: Callable[[Collection, str, Any], FrozenLabels]


on_extended: list[Callable[[Pool, ClaimedJob], None]] = []
"""Campaigns add the pool's new pairs. Called inside the job, after the entries are committed, and
again after a worker's death, so it adds what is missing and nothing else. `work.in_batches` writes
in small transactions."""

on_texts: list[Callable[[Pool, ClaimedJob], None]] = []
"""Campaigns serve pairs that have a text now. Called inside the job, after texts were linked to
entries that had none. It may be called again, and when nothing is new."""

on_preview: list[Callable[[Pool, int], list[dict[str, Any]]]] = []
"""Dashboards say what so many further pairs cost each campaign, as rows for the page. Only reads."""

before_taking_back: list[Callable[[Pool, Sequence[int]], None]] = []
"""Campaigns release these entries (rows), or raise Refused where they were judged. Called in the
transaction that removes the entries."""

on_renamed: list[Callable[[Run | Pool, str, Any], None]] = []
"""Campaigns note (what has another name now, the name before, who gave it) in their audit trail.
Called in the transaction of the renaming."""

on_decided: list[Callable[[Collection, Any], None]] = []
"""Campaigns follow a manager (collection, who) who removed or restored topics. Called in the
transaction of the decision."""

labels_so_far: list[Callable[[Pool], Mapping[int, bool]]] = []
"""Campaigns say of entries (rows) that were judged whether their label so far is relevant. Called
when a batch is planned, before the transaction that stores it. Only reads."""

machine_sources: list[MachineSource] = []
"""Campaigns keep the labels of machines by which a pool may be drawn. Only reads."""

job_readers: list[Callable[[Any, Job], bool]] = []
"""Campaigns add their rule (user, job) -> may see and cancel it. Only reads."""

further_files: list[Callable[[Collection], list[str]]] = []
"""Analysis names its files of a collection in the storage, which go with it. Called before the
transaction that deletes the collection. Only reads."""

upkeep: list[Callable[[], Sequence[Job]]] = []
"""Work that is due by itself: campaigns plan batches, analysis closes reports and mails what is to
do. Each worker calls these every few seconds and sends the jobs that they return. Quick, and
harmless when several workers call it at once."""

before_deleting_campaign: list[Callable[[Any], Callable[[], None]]] = []
"""Analysis names its files of a campaign (its row) and returns what removes them. Called in the
transaction that deletes the campaign; what is returned is called after its commit."""
