"""Judgement columns kept in the process and topped up, so that a page of figures does not read
every row again.

Judgements are only ever added; what changes old ones, or the pairs (exclusions, settings, the
pool), leaves a row in the audit trail, and then everything is read anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from analysis.judgements import column_file as files
from analysis.judgements.pairs import QUALIFICATION, PairColumns, read_pairs
from analysis.judgements.rows import ID_LISTS, NO_GRADE, STATUSES, JudgementRows, to_seconds
from analysis.judgements.shared_answer import clear_cache
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign, Judgement, Membership
from assay.labels.judges import LABELLING_KINDS
from assay.labels.labels import LabelTable

T = TypeVar("T")
PAGE_FRESH_SECONDS = 5.0
"""Seconds that live figures on a page are old at most, from the reading of the database until the
page shows newer ones."""
REFRESH = 3
"""Seconds after which a page asks again."""
FRESH_SECONDS = 1.5
"""Seconds for which what was read is good enough."""
WAIT_SECONDS = 1.8
"""Seconds for which it still is while somebody reads anew. With REFRESH, and 0.2 s for the way, not
more than SHOWN."""
BACKGROUND_ROWS = 2000
"""Judgements that have come since the columns were kept in a file, beyond which they are kept anew
(or a fiftieth of all, if more)."""
FEW_ROWS = 400
"""Rows that are asked for one by one; more are read with all that come after the settled ones."""
clock = time.monotonic
SETTLED_SECONDS = 30.0
"""Seconds after which no transaction that has taken an id is still uncommitted; until then ids are
looked at again."""
MAX_CAMPAIGNS = 8
"""Campaigns kept in one process."""
HARMLESS_ACTIONS = (
    *(
        AuditAction.JOINED,
        AuditAction.INVITED,
        AuditAction.REVOKED_AN_INVITATION,
        AuditAction.CONSENTED,
    ),
    *(
        AuditAction.WROTE_GUIDELINES,
        AuditAction.EXPORTED,
        AuditAction.WROTE_A_MESSAGE,
        AuditAction.WROTE_A_NOTE,
    ),
    AuditAction.REMINDED_AN_ANNOTATOR,
    *(AuditAction.PASSED_THE_QUALIFICATION, AuditAction.FAILED_THE_QUALIFICATION),
    *(AuditAction.LET_IN_WITHOUT_QUALIFICATION, AuditAction.LET_TRY_THE_QUALIFICATION_AGAIN),
    *(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION),
    *(
        AuditAction.OPENED,
        AuditAction.PAUSED,
        AuditAction.RESUMED,
        AuditAction.CLOSED,
        AuditAction.PAUSED_AN_ANNOTATOR,
        AuditAction.RESUMED_AN_ANNOTATOR,
    ),
    *(AuditAction.WROTE_A_RECIPE, AuditAction.DELETED_A_RECIPE, AuditAction.BUILT_A_RELEASE),
    *(AuditAction.RENAMED_THE_POOL, AuditAction.RENAMED_A_RUN),
)
"""Audited actions that change neither judgements nor pairs."""
JUDGEMENT_ACTIONS = (AuditAction.EXCLUDED_AN_ANNOTATOR, AuditAction.INCLUDED_AN_ANNOTATOR_AGAIN)
"""Audited actions that change judgements, but no pair's kind, rank or place."""
COLUMNS = (
    "pk",
    "pair_id",
    "membership_id",
    "grade",
    "active_ms",
    "idle_ms",
    "hidden_ms",
    "judged_at",
    "standing",
    "guideline_version",
)


@dataclass
class CampaignSnapshot:
    """What is known of a campaign.

    newest: id of its newest judgement. audit: number of audited changes that may touch judgements.
    read_at: monotonic seconds. members: row id of a membership -> index of its annotator. top: the
    highest id of any judgement when last read; settled: the id up to which nothing can be missing;
    pending: the next one, and when it was seen. saved: rows in the file of the campaign. page,
    deed: what `page_rows` shows, and the manager's deed before it."""

    rows: JudgementRows
    pairs: PairColumns
    newest: int
    audit: int
    read_at: float
    members: dict[int, int]
    settled: int
    pending: tuple[float, int]
    saved: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    computing: threading.RLock = field(default_factory=threading.RLock)
    values: dict[str, tuple[JudgementRows, Any]] = field(default_factory=dict)
    memory: dict[tuple[str, object], tuple[Any, Any]] = field(default_factory=dict)
    page: CampaignSnapshot | None = None
    deed: int = 0

    def derived(self, name: str, compute: Callable[[], T]) -> T:
        """`compute()` of the rows as they are now, remembered until they change; managers who ask
        at once wait for one."""
        with self.computing:
            known = self.values.get(name)
            if known is None or known[0] is not self.rows:
                rows = self.rows
                known = self.values[name] = (rows, compute())
            return known[1]  # type: ignore[no-any-return]

    def remembered(
        self, name: tuple[str, object], depends_on: object, compute: Callable[[], T]
    ) -> T:
        """`compute()`, remembered as long as `depends_on` is equal: for parts that most new
        judgements leave as they are."""
        with self.computing:
            known = self.memory.get(name)
            if known is None or known[0] != depends_on:
                known = self.memory[name] = (depends_on, compute())
            return known[1]  # type: ignore[no-any-return]

    @property
    def age_s(self) -> float:
        return clock() - self.read_at

    @property
    def pair(self) -> NDArray[np.int64]:
        """(n) of each row the index of its pair in `pairs`."""
        return self.derived("pair", lambda: self.pairs.index_of(self.rows.pair))

    def table(self, n_grades: int) -> LabelTable:
        """The counted judgements: the same as `table_of` the rows, made from the order of the pairs
        that is known already."""
        return self.derived("table", lambda: self._table(n_grades))

    @property
    def table_pairs(self) -> NDArray[np.int64]:
        """(n_pairs of the table) the index in `pairs` of each pair of `table`."""
        return self.derived("pairs of the table", lambda: self.pairs.order[self._judged_places])

    @property
    def _judged_places(self) -> NDArray[np.int64]:
        """Places, in the order of the pairs, of those with a counted judgement."""
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
    """The ids in use, in their order, and the index into them."""
    used = np.zeros(len(ids), dtype=bool)
    used[index] = True
    number = np.cumsum(used) - 1
    return [ids[i] for i in np.flatnonzero(used).tolist()], number[index].astype(np.int32)


_snapshots: dict[tuple[str, int], CampaignSnapshot] = {}
_first_reads: dict[tuple[str, int], threading.Lock] = {}
_snapshots_lock = threading.Lock()


def get_snapshot(campaign: Campaign, *, fresh: float | None = None) -> CampaignSnapshot:
    """The campaign's judgements, at most `fresh` (FRESH) seconds old. One thread reads; the others
    get what there was, or wait."""
    fresh = FRESH_SECONDS if fresh is None else fresh
    key = _snapshot_key(campaign)
    live = _find_snapshot(key)
    if live is None:
        with _snapshots_lock:
            first = _first_reads.setdefault(key, threading.Lock())
        with first:
            live = _find_snapshot(key) or _read_snapshot(campaign, key)
    if live.age_s < fresh:
        return live
    if not live.lock.acquire(blocking=False):
        if live.age_s < max(fresh, WAIT_SECONDS if fresh else 0.0):
            return live
        live.lock.acquire()
    try:
        if live.age_s >= fresh:
            _refresh_snapshot(campaign, live)
    finally:
        live.lock.release()
    return live


def get_last_snapshot(campaign: Campaign) -> CampaignSnapshot | None:
    """What was read of the campaign last, however old."""
    return _find_snapshot(_snapshot_key(campaign))


def _snapshot_key(campaign: Campaign) -> tuple[str, int]:
    return str(Judgement.objects.db), campaign.pk


def _find_snapshot(key: tuple[str, int]) -> CampaignSnapshot | None:
    with _snapshots_lock:
        live = _snapshots.pop(key, None)
        if live is not None:
            _snapshots[key] = live  # the most recently used is last
    return live


def _read_snapshot(campaign: Campaign, key: tuple[str, int]) -> CampaignSnapshot:
    """From the file, if there is one that fits; else everything is read."""
    fresh = _load_snapshot(campaign) or _save_snapshot(campaign, _read_all_rows(campaign))
    with _snapshots_lock:
        _snapshots[key] = fresh
        while len(_snapshots) > MAX_CAMPAIGNS:
            _snapshots.pop(next(iter(_snapshots)))
    return fresh


def _load_snapshot(campaign: Campaign) -> CampaignSnapshot | None:
    moment, audit, top = clock(), _count_audit_events(campaign), _newest_judgement_id()
    kept = files.load_cached_columns(campaign, audit=audit)
    if kept is None:
        return None
    rows = kept.rows
    people, first = np.unique(rows.member, return_index=True)
    members = dict(zip(people.tolist(), rows.annotator[first].tolist(), strict=True))
    live = CampaignSnapshot(
        rows,
        kept.pairs,
        _newest_row_id(rows),
        audit,
        moment,
        members,
        settled=kept.settled,
        pending=(moment, top),
        saved=len(rows),
    )
    _refresh_snapshot(campaign, live)
    return live


def _save_snapshot(campaign: Campaign, live: CampaignSnapshot) -> CampaignSnapshot:
    files.write_columns(campaign, live.rows, live.pairs, audit=live.audit, settled=live.settled)
    live.saved = len(live.rows)
    return live


def expire_caches() -> None:
    """Let the next question read again, whatever is kept: for tests and benchmarks."""
    with _snapshots_lock:
        for live in _snapshots.values():
            live.read_at, live.page = -1e9, None
    clear_cache()


def _count_audit_events(campaign: Campaign) -> int:
    """A count, since a transaction with a lower id may end after one with a higher id."""
    return AuditEvent.objects.filter(campaign=campaign).exclude(action__in=HARMLESS_ACTIONS).count()


def _newest_judgement_id() -> int:
    return Judgement.objects.aggregate(n=Max("pk"))["n"] or 0


def _read_all_rows(campaign: Campaign, pairs: PairColumns | None = None) -> CampaignSnapshot:
    moment, audit, top = (
        clock(),
        _count_audit_events(campaign),
        _newest_judgement_id(),
    )  # before the rows: what comes in between is read again, not missed
    pairs = read_pairs(campaign) if pairs is None else pairs
    members: dict[int, int] = {}
    rows = _append_new_rows(campaign, None, pairs, members, after=0)
    if rows is None:  # pairs were added after these were read
        return _read_all_rows(campaign)
    return CampaignSnapshot(
        rows,
        pairs,
        _newest_row_id(rows),
        audit,
        moment,
        members,
        settled=_safe_watermark(rows),
        pending=(moment, top),
    )


def _safe_watermark(rows: JudgementRows) -> int:
    """An id well below the newest: what was written by transactions that were under way during the
    first reading comes after it."""
    return int(rows.judgement[max(0, len(rows) - 1000)]) - 1 if len(rows) else 0


def _newest_row_id(rows: JudgementRows) -> int:
    return int(rows.judgement[-1]) if len(rows) else 0


def _refresh_snapshot(campaign: Campaign, live: CampaignSnapshot) -> None:
    moment, audit, top = clock(), _count_audit_events(campaign), _newest_judgement_id()
    if audit != live.audit:
        changed = (
            AuditEvent.objects.filter(campaign=campaign)
            .exclude(action__in=HARMLESS_ACTIONS)
            .order_by("-pk")
        )
        known = set(changed.values_list("action", flat=True)[: audit - live.audit + 20]) <= set(
            JUDGEMENT_ACTIONS
        )
        _refresh_under_lock(
            live,
            _load_snapshot(campaign)
            or _save_snapshot(campaign, _read_all_rows(campaign, live.pairs if known else None)),
        )
    elif top > live.settled:
        members = dict(live.members)
        rows = _append_new_rows(campaign, live.rows, live.pairs, members, after=live.settled)
        if rows is None:
            _refresh_under_lock(live, _save_snapshot(campaign, _read_all_rows(campaign)))
            return
        if rows is not live.rows:
            live.rows, live.members, live.newest = rows, members, _newest_row_id(rows)
    if moment - live.pending[0] > SETTLED_SECONDS:
        live.settled, live.pending = live.pending[1], (moment, top)
    live.read_at = moment
    if len(live.rows) - live.saved > max(BACKGROUND_ROWS, len(live.rows) // 50):
        _save_snapshot(campaign, live)


def _refresh_under_lock(live: CampaignSnapshot, fresh: CampaignSnapshot) -> None:
    for name in (
        "pairs",
        "rows",
        "members",
        "newest",
        "audit",
        "settled",
        "pending",
        "read_at",
        "saved",
    ):
        setattr(live, name, getattr(fresh, name))


def _append_new_rows(
    campaign: Campaign,
    known: JudgementRows | None,
    pairs: PairColumns,
    members: dict[int, int],
    *,
    after: int,
) -> JudgementRows | None:
    """`known` with the judgements above the id `after`; `known` itself if there is none new, None
    if one is of an unknown pair.

    members is added to.
    """
    judgements = Judgement.objects.filter(
        membership__campaign=campaign, pair__removed=False, current=True, pk__gt=after
    )
    judgements = judgements.filter(membership__judge_kind__in=LABELLING_KINDS)
    if known is not None:
        seen = known.judgement[np.searchsorted(known.judgement, after) :]
        # of all campaigns: numbers alone are read faster than those of one campaign are chosen
        ids = np.array(
            Judgement.objects.filter(pk__gt=after).values_list("pk", flat=True), dtype=np.int64
        )
        unseen = ids[~np.isin(ids, seen)]
        if not len(unseen):
            return known
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
    if known is not None:
        kept &= ~np.isin(judgement, known.judgement[np.searchsorted(known.judgement, after) :])
        if not kept.any():
            return known
    new = np.flatnonzero(kept)
    annotators, judges = (
        (list(known.annotators), list(known.judges)) if known is not None else ([], [])
    )
    unknown = sorted(set(member[new].tolist()) - members.keys())
    for pk, pseudonym, kind in Membership.objects.filter(pk__in=unknown).values_list(
        "pk", "pseudonym", "judge_kind"
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
        standing=np.array([place[standing] for standing in columns[8]], dtype=np.int8)[new],
        gold=pairs.gold[index],
        guideline=np.array(columns[9], dtype=np.int32)[new],
        words=pairs.words[index],
    )
    return rows if known is None else _merge_rows(known, rows)


def _merge_rows(known: JudgementRows, later: JudgementRows) -> JudgementRows:
    """Both, by ascending id; a later row takes the place of an earlier one of the same annotator
    and pair."""
    kept = np.ones(len(known), dtype=bool)
    candidates = np.flatnonzero(np.isin(known.pair, later.pair))
    revised = {
        (pair, member): judgement
        for pair, member, judgement in zip(
            later.pair.tolist(), later.member.tolist(), later.judgement.tolist(), strict=True
        )
    }
    for row in candidates.tolist():
        if (int(known.pair[row]), int(known.member[row])) in revised:
            kept[row] = False
    arrays: dict[str, Any] = {
        f.name: np.concatenate([getattr(known, f.name)[kept], getattr(later, f.name)])
        for f in fields(JudgementRows)
        if f.name not in ID_LISTS
    }
    joined = replace(later, **arrays)
    return (
        joined
        if (np.diff(joined.judgement) > 0).all()
        else joined.where(np.argsort(joined.judgement))
    )
