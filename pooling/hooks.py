"""Functions that annotation and analysis register, so that pooling does not import these apps.

Each list is filled once when the apps are ready, in annotation/apps.py and analysis/apps.py. The
docstrings state who registers, and in which transaction the functions are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pooling.models import Collection, Job, Pool, Run
from pooling.platform.jobs import ClaimedJob


class FrozenLabels(NamedTuple):
    """The labels of a frozen LLM judge, which can no longer change. judge: its name,
    campaign/judge. grade_of: by topic ID and document ID."""

    judge: str
    model: str
    digest: str
    frozen_at: str
    n_grades: int
    grade_of: Mapping[tuple[str, str], int]


class LlmSource(NamedTuple):
    """Access to LLM judges.

    judges: (name, label) of a collection's frozen judges that a user may use for sampling. labels:
    the labels of the judge with this name. None as the user means the administrator of the
    installation. Raises Refused.
    """

    judges: Callable[[Collection, Any], list[tuple[str, str]]]
    labels: Callable[[Collection, str, Any], FrozenLabels]


on_extended: list[Callable[[Pool, ClaimedJob], None]] = []
"""Campaigns add the pool's new pairs. Called in the job after the entries are committed, and again
after a worker's death, so a function must add only what is missing. `work.write_in_batches` writes in
small transactions."""

on_texts: list[Callable[[Pool, ClaimedJob], None]] = []
"""Campaigns assign pairs that now have a text. Called in the job after texts were linked to entries
without text. It may be called repeatedly and without new texts."""

on_preview: list[Callable[[Pool, int], list[dict[str, Any]]]] = []
"""Dashboards return what a number of additional pairs costs each campaign, as rows for the page.
Read-only."""

before_taking_back: list[Callable[[Pool, Sequence[int]], None]] = []
"""Campaigns release these entries (rows), or raise Refused if they were judged. Called in the
transaction that removes the entries."""

on_renamed: list[Callable[[Run | Pool, str, Any], None]] = []
"""Campaigns record (renamed object, old name, user) in their audit log. Called in the transaction
of the renaming."""

on_decided: list[Callable[[Collection, Any], None]] = []
"""Campaigns react to a manager (collection, user) who removed or restored topics. Called in the
transaction of the decision."""

labels_so_far: list[Callable[[Pool], Mapping[int, bool]]] = []
"""Campaigns return whether the current label of each judged entry (row) is relevant. Called while a
batch is planned, before the transaction that stores it. Read-only."""

llm_sources: list[LlmSource] = []
"""Campaigns provide the labels of LLM judges for sampling. Read-only."""

job_readers: list[Callable[[Any, Job], bool]] = []
"""Campaigns add their rule: (user, job) -> whether the user may see and cancel it. Read-only."""

further_files: list[Callable[[Collection], list[str]]] = []
"""Analysis returns its stored files of a collection, which are deleted with it. Called before the
transaction that deletes the collection. Read-only."""

upkeep: list[Callable[[], Sequence[Job]]] = []
"""Periodic work: campaigns plan batches and send messages of webhooks, analysis completes reports,
sends to-do emails and checks for events of webhooks. Every worker calls these functions every few
seconds and queues the jobs that they return. They must be fast and safe to call concurrently."""

before_deleting_campaign: list[Callable[[Any], Callable[[], None]]] = []
"""Analysis returns a function that deletes its files of a campaign (row). Called in the transaction
that deletes the campaign. The returned function is called after its commit."""
