"""A cache of campaigns' judgements as columns. It reads only new rows from the database, so that
pages do not read all rows again.

Judgements are only ever added. Any change of existing ones or of pairs (exclusions, settings, the
pool) adds a row to the audit log, after which everything is read again. Snapshots are immutable, so
the statistics of one page are consistent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
from django.db.models import Max
from django.utils import timezone
from numpy.typing import NDArray

from analysis.judgements.pairs import QUALIFICATION, PairColumns, read_pairs
from analysis.judgements.rows import (
    ID_LISTS,
    NO_GRADE,
    STATUSES,
    JudgementRows,
    refuse_preferences,
    to_seconds,
)
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign, Judgement, Membership
from assay.labels.annotator_types import LABELLING_TYPES
from assay.labels.labels import LabelTable

T = TypeVar("T")
REFRESH = 3
"""Seconds between two requests of statistics by an open page."""
FRESH_SECONDS = 1.5
"""Seconds for which a snapshot is reused, unless a manager changes something. With REFRESH and the
time of a request, statistics on a page are at most five seconds old."""
FRESH_SECONDS_LARGE = 6.5
"""The same for a large campaign, whose statistics take long to compute and are at most ten seconds
old."""
LARGE_ROWS, LARGE_PEOPLE = 50_000, 500
AGE_SHOWN_AFTER_SECONDS = 3.0
"""Age in seconds from which a page shows the age of its statistics."""
FEW_ROWS = 400
"""Maximum number of rows that are queried by ID. More are read as a range after the settled ID."""
clock = time.monotonic
SETTLED_SECONDS = 30.0
"""Seconds after which every transaction that took an ID has ended. Until then, missing IDs are
looked up again."""
MAX_ROWS = 2_000_000
"""Maximum number of judgements and pairs cached per process. The least recently used campaigns are
dropped. One campaign is always kept."""
HARMLESS_ACTIONS = (
    *(
        AuditAction.JOINED,
        AuditAction.INVITED,
        AuditAction.WITHDREW_AN_INVITATION,
        AuditAction.CONSENTED,
    ),
    *(
        AuditAction.WROTE_GUIDELINES,
        AuditAction.EXPORTED,
        AuditAction.SENT_A_MESSAGE,
        AuditAction.WROTE_A_NOTE,
    ),
    AuditAction.REMINDED_AN_ANNOTATOR,
    *(AuditAction.PASSED_THE_QUALIFICATION, AuditAction.FAILED_THE_QUALIFICATION),
    *(AuditAction.ADMITTED_AN_ANNOTATOR, AuditAction.ALLOWED_ANOTHER_ATTEMPT),
    *(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION),
    *(
        AuditAction.OPENED,
        AuditAction.PAUSED,
        AuditAction.RESUMED,
        AuditAction.CLOSED,
        AuditAction.PAUSED_AN_ANNOTATOR,
        AuditAction.RESUMED_AN_ANNOTATOR,
    ),
    *(AuditAction.SAVED_A_RECIPE, AuditAction.DELETED_A_RECIPE, AuditAction.BUILT_A_RELEASE),
    *(AuditAction.RENAMED_THE_POOL, AuditAction.RENAMED_A_RUN),
)
"""Audited actions that change neither judgements nor pairs, so that nothing is read again."""
JUDGEMENT_ACTIONS = (AuditAction.EXCLUDED_AN_ANNOTATOR, AuditAction.INCLUDED_AN_ANNOTATOR_AGAIN)
"""Audited actions that change judgements, but no pair's type, rank or position, so that pairs are
not read again."""
COLUMNS = (
    "pk",
    "pair_id",
    "membership_id",
    "grade",
    "active_ms",
    "idle_ms",
    "hidden_ms",
    "judged_at",
    "status",
    "guideline_version",
)


@dataclass(frozen=True, eq=False)
class CampaignSnapshot:
    """A campaign's judgements and pairs at one point in time, with cached results computed from
    them.

    audit: number of audited changes that may affect judgements. read_at: monotonic seconds.
    members: annotator index by row ID of the membership. settled: ID up to which no row can be
    missing. pending: when the ID that becomes settled next was seen, in monotonic seconds, and that
    ID. computed: (dependency, value) by name, shared with its lock between successive snapshots.
    """

    rows: JudgementRows
    pairs: PairColumns
    audit: int
    read_at: float
    members: dict[int, int]
    settled: int
    pending: tuple[float, int]
    computed: dict[str | tuple[str, object], tuple[Any, Any]] = field(default_factory=dict)
    computing: threading.RLock = field(default_factory=threading.RLock)

    def derived(
        self,
        name: str | tuple[str, object],
        compute: Callable[[], T],
        *,
        depends_on: object = None,
    ) -> T:
        """Return the result of `compute`, cached until `depends_on` (by default the judgements)
        changes. Concurrent callers wait for one computation."""
        basis = self.rows if depends_on is None else depends_on
        with self.computing:
            known = self.computed.get(name)
            if known is None or known[0] != basis:
                known = self.computed[name] = (basis, compute())
            return known[1]  # type: ignore[no-any-return]

    @property
    def newest(self) -> int:
        """Return the ID of the newest judgement in the snapshot, 0 if there is none."""
        return int(self.rows.judgement[-1]) if len(self.rows) else 0

    @property
    def is_large(self) -> bool:
        return len(self.rows) >= LARGE_ROWS or len(self.rows.annotators) >= LARGE_PEOPLE

    @property
    def age_s(self) -> float:
        return clock() - self.read_at

    @property
    def as_of(self) -> datetime | None:
        """Return when the snapshot was read, or None if it is recent enough to be shown as current."""
        return (
            timezone.now() - timedelta(seconds=self.age_s)
            if self.age_s >= AGE_SHOWN_AFTER_SECONDS
            else None
        )

    @property
    def pair(self) -> NDArray[np.int64]:
        """Return for each judgement the index of its pair in `pairs`. Shape (n,)."""
        return self.derived("pair", lambda: self.pairs.index_of(self.rows.pair))

    def table(self, n_grades: int) -> LabelTable:
        """Return the counted judgements as a label table. It equals `rows_to_label_table(rows)`,
        but is built faster from the known order of the pairs."""
        return self.derived("table", lambda: self._table(n_grades))

    @property
    def table_pairs(self) -> NDArray[np.int64]:
        """Return the index in `pairs` of each pair of the label table, of shape (n_pairs of the
        table,)."""
        return self.derived("pairs of the table", lambda: self.pairs.order[self._judged_places])

    @property
    def _judged_places(self) -> NDArray[np.int64]:
        """Return the positions of the pairs with a counted judgement, in the order of topic and
        document ID."""
        judged = np.zeros(len(self.pairs), dtype=bool)
        judged[self.pairs.place[self.pair[self.rows.counts]]] = True
        return np.flatnonzero(judged)

    def _table(self, n_grades: int) -> LabelTable:
        rows, pairs = self.rows, self.pairs
        kept = np.flatnonzero(rows.counts)
        judged = self.table_pairs
        number = np.full(len(pairs), -1, dtype=np.int64)
        number[judged] = np.arange(len(judged))
        pair = number[self.pair[kept]]
        used = np.unique(rows.annotator[kept]).tolist()
        used.sort(key=rows.annotators.__getitem__)
        annotators = np.zeros(max(len(rows.annotators), 1), dtype=np.int64)
        annotators[used] = np.arange(len(used))
        annotator = annotators[rows.annotator[kept]]
        order = np.argsort(pair * max(len(used), 1) + annotator, kind="stable")
        topics, pair_topic = _used_ids(pairs.topics, pairs.topic[judged])
        documents, pair_document = _used_ids(pairs.documents, pairs.document[judged])
        kept = kept[order]
        return LabelTable(
            topics=topics,
            documents=documents,
            annotators=[rows.annotators[i] for i in used],
            pair_topic=pair_topic,
            pair_document=pair_document,
            pair=pair[order].astype(np.int32),
            annotator=annotator[order].astype(np.int32),
            grade=rows.grade[kept],
            seconds=rows.active[kept],
            judged_at=rows.judged_at[kept],
            n_grades=n_grades,
        )


def _used_ids(ids: list[str], index: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int32]]:
    """Remove unused IDs. Returns the used ones in their order, and each row's index into them."""
    used = np.zeros(len(ids), dtype=bool)
    used[index] = True
    number = np.cumsum(used) - 1
    return [ids[i] for i in np.flatnonzero(used).tolist()], number[index].astype(np.int32)


@dataclass(eq=False)
class _Kept:
    """A campaign's entry in the cache: its newest snapshot. lock: held while a new one is read."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    snapshot: CampaignSnapshot | None = None

    @property
    def size(self) -> int:
        return len(self.snapshot.rows) + len(self.snapshot.pairs) if self.snapshot else 0


_snapshots: dict[tuple[str, int], _Kept] = {}
_snapshots_lock = threading.Lock()


def get_snapshot(campaign: Campaign, *, fresh: float | None = None) -> CampaignSnapshot:
    """Return a campaign's judgements, including the last change by a manager, from the cache if
    possible.

    fresh: maximum age in seconds, by default FRESH_SECONDS or FRESH_SECONDS_LARGE. Only one thread
    reads, and others wait for it.
    """
    kept = _find_kept(campaign)
    with kept.lock:
        known = kept.snapshot
        if known is not None and fresh is not None and known.age_s < fresh:
            return known
        # determined before the rows are read, so that later changes are read again rather than
        # missed
        moment, audit = clock(), _count_audit_events(campaign)
        if known is None:
            kept.snapshot = _read_all_rows(campaign, moment, audit)
        elif audit != known.audit:
            kept.snapshot = _read_changed_rows(campaign, known, moment, audit)
        elif fresh is not None or known.age_s >= _fresh_seconds(known):
            kept.snapshot = _read_new_rows(campaign, known, moment)
        assert kept.snapshot is not None
        return kept.snapshot


def _fresh_seconds(earlier: CampaignSnapshot) -> float:
    return FRESH_SECONDS_LARGE if earlier.is_large else FRESH_SECONDS


def _find_kept(campaign: Campaign) -> _Kept:
    """Return the campaign's cache entry. If the cache exceeds MAX_ROWS, the least recently used
    entries are dropped."""
    key = (str(Judgement.objects.db), campaign.pk)
    with _snapshots_lock:
        kept = _snapshots[key] = _snapshots.pop(key, _Kept())  # now the last in order of use
        while len(_snapshots) > 1 and sum(one.size for one in _snapshots.values()) > MAX_ROWS:
            del _snapshots[next(iter(_snapshots))]
    return kept


def expire_caches() -> None:
    """Drop all cached snapshots, for tests and benchmarks."""
    for kept in _snapshots.values():
        if kept.snapshot is not None:
            kept.snapshot = replace(kept.snapshot, read_at=-1e9)


def _count_audit_events(campaign: Campaign) -> int:
    """Count the audited changes that may affect judgements. Their highest ID is not enough, because
    a transaction with a lower ID may commit later."""
    return AuditEvent.objects.filter(campaign=campaign).exclude(action__in=HARMLESS_ACTIONS).count()


def _newest_judgement_id() -> int:
    return Judgement.objects.aggregate(n=Max("pk"))["n"] or 0


def _read_all_rows(
    campaign: Campaign, moment: float, audit: int, pairs: PairColumns | None = None
) -> CampaignSnapshot:
    """Read all judgements of a campaign. pairs: the pairs read before, if they are unchanged."""
    refuse_preferences(campaign)
    top = _newest_judgement_id()
    pairs = read_pairs(campaign) if pairs is None else pairs
    members: dict[int, int] = {}
    rows = _append_new_rows(campaign, None, pairs, members, after=0)
    if rows is None:  # pairs were added after the pairs were read
        return _read_all_rows(campaign, moment, audit)
    # Rows of transactions that were open during this read have IDs not far below the newest, so
    # a margin of 1,000 rows is read again.
    settled = int(rows.judgement[max(0, len(rows) - 1000)]) - 1 if len(rows) else 0
    return CampaignSnapshot(
        rows, pairs, audit, moment, members, settled=settled, pending=(moment, top)
    )


def _read_changed_rows(
    campaign: Campaign, earlier: CampaignSnapshot, moment: float, audit: int
) -> CampaignSnapshot:
    """Read all judgements after an audited change, and the pairs if the change may affect them."""
    changes = (
        AuditEvent.objects.filter(campaign=campaign)
        .exclude(action__in=HARMLESS_ACTIONS)
        .order_by("-pk")
    )
    actions = set(changes.values_list("action", flat=True)[: audit - earlier.audit + 20])
    pairs = earlier.pairs if actions <= set(JUDGEMENT_ACTIONS) else None
    fresh = _read_all_rows(campaign, moment, audit, pairs)
    return replace(fresh, computed=earlier.computed, computing=earlier.computing)


def _read_new_rows(
    campaign: Campaign, earlier: CampaignSnapshot, moment: float
) -> CampaignSnapshot:
    """Read the judgements added since the snapshot, and return the new snapshot."""
    top, members, rows = _newest_judgement_id(), dict(earlier.members), earlier.rows
    if top > earlier.settled:
        topped_up = _append_new_rows(campaign, rows, earlier.pairs, members, after=earlier.settled)
        if topped_up is None:  # a judgement of a newly added pair
            fresh = _read_all_rows(campaign, moment, earlier.audit)
            return replace(fresh, computed=earlier.computed, computing=earlier.computing)
        rows = topped_up
    settled, pending = earlier.settled, earlier.pending
    if moment - pending[0] > SETTLED_SECONDS:
        settled, pending = pending[1], (moment, top)
    return replace(
        earlier, rows=rows, members=members, read_at=moment, settled=settled, pending=pending
    )


def _append_new_rows(
    campaign: Campaign,
    earlier: JudgementRows | None,
    pairs: PairColumns,
    members: dict[int, int],
    *,
    after: int,
) -> JudgementRows | None:
    """Return `earlier` extended by the judgements with IDs above `after`. If there are none, `earlier`
    itself is returned.

    Returns None if a judgement belongs to an unknown pair. New annotators are added to `members`.
    """
    judgements = Judgement.objects.filter(
        membership__campaign=campaign, pair__removed=False, current=True, pk__gt=after
    )
    judgements = judgements.filter(membership__annotator_type__in=LABELLING_TYPES)
    if earlier is not None:
        seen = earlier.judgement[np.searchsorted(earlier.judgement, after) :]
        # of all campaigns, because reading only numbers is faster than filtering by campaign
        ids = np.array(
            Judgement.objects.filter(pk__gt=after).values_list("pk", flat=True), dtype=np.int64
        )
        unseen = ids[~np.isin(ids, seen)]
        if not len(unseen):
            return earlier
        if len(unseen) <= FEW_ROWS:
            judgements = judgements.filter(pk__in=unseen.tolist())
    columns: list[Any] = list(
        zip(*judgements.order_by("pk").values_list(*COLUMNS).iterator(chunk_size=5000), strict=True)
    ) or [()] * len(COLUMNS)
    judgement, pair, member = (np.array(column, dtype=np.int64) for column in columns[:3])
    index = np.minimum(np.searchsorted(pairs.ids, pair), max(len(pairs) - 1, 0))
    if len(pair) and (not len(pairs) or (pairs.ids[index] != pair).any()):
        return None
    kept = pairs.kind[index] != QUALIFICATION
    if earlier is not None:
        kept &= ~np.isin(judgement, earlier.judgement[np.searchsorted(earlier.judgement, after) :])
        if not kept.any():
            return earlier
    new = np.flatnonzero(kept)
    annotators, judges = (
        (list(earlier.annotators), list(earlier.judges)) if earlier is not None else ([], [])
    )
    unknown = sorted(set(member[new].tolist()) - members.keys())
    for pk, pseudonym, kind in Membership.objects.filter(pk__in=unknown).values_list(
        "pk", "pseudonym", "annotator_type"
    ):
        members[pk] = len(annotators)
        annotators.append(pseudonym)
        judges.append(kind)
    place = {name: i for i, name in enumerate(STATUSES)}
    index, member = index[new], member[new]
    rows = JudgementRows(
        topics=pairs.topics,
        documents=pairs.documents,
        annotators=annotators,
        judges=judges,
        judgement=judgement[new],
        pair=pair[new],
        member=member,
        topic=pairs.topic[index],
        document=pairs.document[index],
        annotator=np.array([members[pk] for pk in member.tolist()], dtype=np.int32),
        grade=np.array(
            [NO_GRADE if grade is None else grade for grade in columns[3]], dtype=np.int16
        )[new],
        active=to_seconds(columns[4])[new],
        idle=to_seconds(columns[5])[new],
        hidden=to_seconds(columns[6])[new],
        judged_at=np.array([moment.timestamp() for moment in columns[7]], dtype=np.float64)[new],
        status=np.array([place[status] for status in columns[8]], dtype=np.int8)[new],
        gold=pairs.gold[index],
        guideline=np.array(columns[9], dtype=np.int32)[new],
        words=pairs.words[index],
    )
    return rows if earlier is None else _merge_rows(earlier, rows)


def _merge_rows(earlier: JudgementRows, later: JudgementRows) -> JudgementRows:
    """Merge two sets of judgements by ascending ID. A later one replaces an earlier one of the same
    annotator and pair."""
    kept = np.ones(len(earlier), dtype=bool)
    candidates = np.flatnonzero(np.isin(earlier.pair, later.pair))
    revised = {
        (pair, member): judgement
        for pair, member, judgement in zip(
            later.pair.tolist(), later.member.tolist(), later.judgement.tolist(), strict=True
        )
    }
    for row in candidates.tolist():
        if (int(earlier.pair[row]), int(earlier.member[row])) in revised:
            kept[row] = False
    arrays: dict[str, Any] = {
        f.name: np.concatenate([getattr(earlier, f.name)[kept], getattr(later, f.name)])
        for f in fields(JudgementRows)
        if f.name not in ID_LISTS
    }
    joined = replace(later, **arrays)
    return (
        joined
        if (np.diff(joined.judgement) > 0).all()
        else joined.where(np.argsort(joined.judgement))
    )
