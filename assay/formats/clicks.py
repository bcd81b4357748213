"""Read click logs and count them per (topic, document).

read_clicks(path) -> ClickCounts               one file: session topic document rank clicked
read_clicks(path, shown=path) -> ClickCounts   clicks (session, topic, rank, document; rank 0 for
                                               no click) and the rankings shown
read_packed_clicks(path) -> ClickCounts        both files in one zip archive
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from assay.formats.archives import ARCHIVE_ERRORS, make_damaged_archive_error, open_zip
from assay.formats.delimited import (
    DOCUMENT_NAMES,
    TOPIC_NAMES,
    DelimitedRow,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.streams import Source, display_name
from assay.number_words import format_count


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """Counts of a click log per pair shown, ordered by the bytes of topic and document.

    topics, documents: distinct IDs. topic, document: int32 (n), index into these lists.
    impressions: int64 (n), sessions in which the pair was shown. clicks: int64 (n), sessions with
    at least one click on the pair. skipped: int64 (n), sessions in which the pair was shown above a
    clicked document and not clicked. last: int64 (n), sessions in which no lower-ranked document
    was clicked than the pair. n_sessions: distinct sessions, including those without a click.

    Per pair and rank at which it was shown: rank_pair: int32 (m), index of the pair. rank: int32
    (m), from 1. rank_impressions, rank_clicks: int64 (m), sessions as above.
    """

    topics: list[str]
    documents: list[str]
    topic: NDArray[np.int32]
    document: NDArray[np.int32]
    impressions: NDArray[np.int64]
    clicks: NDArray[np.int64]
    skipped: NDArray[np.int64]
    last: NDArray[np.int64]
    rank_pair: NDArray[np.int32]
    rank: NDArray[np.int32]
    rank_impressions: NDArray[np.int64]
    rank_clicks: NDArray[np.int64]
    n_sessions: int
    warnings: list[str] = field(default_factory=list)
    name: str = ""

    def __len__(self) -> int:
        return len(self.topic)


class ClickTally:
    """Counter of a click log. For each pair of topic and document it holds [impressions, clicks,
    skipped, last], and [impressions, clicks] by rank."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], list[int]] = {}
        self.ranks: dict[tuple[str, str], dict[int, list[int]]] = {}

    def add_session(self, topic: str, ranking: dict[str, int], clicked: set[str]) -> None:
        """Add a session.

        ranking: the rank of each document shown. clicked: the documents clicked.
        """
        last = max((ranking[document] for document in clicked), default=0)
        for document, rank in ranking.items():
            pair = (topic, document)
            count = self.pairs.setdefault(pair, [0, 0, 0, 0])
            at_rank = self.ranks.setdefault(pair, {}).setdefault(rank, [0, 0])
            count[0] += 1
            at_rank[0] += 1
            if document in clicked:
                count[1] += 1
                count[3] += rank == last
                at_rank[1] += 1
            elif rank < last:
                count[2] += 1

    def build_counts(self, name: str, n_sessions: int, warnings: list[str]) -> ClickCounts:
        pairs = sorted(
            self.pairs, key=lambda pair: (pair[0].encode("utf-8"), pair[1].encode("utf-8"))
        )
        topics = {topic: i for i, topic in enumerate(dict.fromkeys(topic for topic, _ in pairs))}
        documents = {
            document: i
            for i, document in enumerate(dict.fromkeys(document for _, document in pairs))
        }
        counts = np.array([self.pairs[pair] for pair in pairs], np.int64).reshape(len(pairs), 4)
        by_rank = np.array(
            [
                (number, rank, *self.ranks[pair][rank])
                for number, pair in enumerate(pairs)
                for rank in sorted(self.ranks[pair])
            ],
            np.int64,
        ).reshape(-1, 4)
        return ClickCounts(
            topics=list(topics),
            documents=list(documents),
            topic=np.array([topics[t] for t, _ in pairs], np.int32),
            document=np.array([documents[d] for _, d in pairs], np.int32),
            impressions=counts[:, 0],
            clicks=counts[:, 1],
            skipped=counts[:, 2],
            last=counts[:, 3],
            rank_pair=by_rank[:, 0].astype(np.int32),
            rank=by_rank[:, 1].astype(np.int32),
            rank_impressions=by_rank[:, 2],
            rank_clicks=by_rank[:, 3],
            n_sessions=n_sessions,
            warnings=warnings,
            name=name,
        )


def read_clicks(
    path: Source,
    *,
    shown: Source | None = None,
    name: str | None = None,
    shown_name: str | None = None,
    max_bytes: int | None = None,
) -> ClickCounts:
    """Read the counts of a click log.

    A single file has one row per document shown: `session topic document rank clicked` (clicked is
    0 or 1). With `shown`, the log has one row per click (`session query_id rank doc_id`, with rank
    0 and no document for a session without a click), and `shown` has the ranking that all sessions
    of a topic saw (`query_id rank doc_id`). Columns are found by their header. A session may have
    several topics. Each topic counts separately.

    Raises FormatError with all problems: missing columns, a wrong number of columns, an empty ID, a
    rank that is not a whole number (from 1 for documents shown), `clicked` other than 0 and 1, a
    repeated document or rank among the documents that a session saw for a topic, or a click on a
    document, topic or rank that is not in `shown`.
    """
    if shown is None:
        return _read_one_file(path, name, max_bytes)
    return _read_two_files(path, shown, name, shown_name, max_bytes)


def find_packed_clicks(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Return the names of the click log and of the rankings in a zip archive of just these two
    files, or None for another archive."""
    try:
        with open_zip(path, display_name(path)) as archive:
            member_by_form: dict[bool, str] = {}
            files = [info.filename for info in archive.infolist() if not info.is_dir()]
            for name in files if len(files) == 2 else []:
                with archive.open(name) as file:
                    table = DelimitedTable(BytesIO(file.readline(MAX_HEADER)), name=name)
                names = normalise_names(table.first.cells)
                if all(
                    find_column(names, wanted) is not None
                    for wanted in (TOPIC_NAMES, RANK, DOCUMENT_NAMES)
                ):
                    member_by_form[find_column(names, SESSION) is not None] = name
    except (*ARCHIVE_ERRORS, FormatError, OSError, ValueError, IndexError):
        # the last two: offsets before the start of the archive, undecodable or missing names
        return None
    return (member_by_form[True], member_by_form[False]) if len(member_by_form) == 2 else None


def read_packed_clicks(
    path: str | os.PathLike[str], *, max_bytes: int | None = None
) -> ClickCounts:
    """Read the counts of a zip archive that `find_packed_clicks` recognises.

    max_bytes: maximum unpacked size of each file. Raises FormatError as `read_clicks` does.
    """
    names = find_packed_clicks(path)
    if names is None:
        raise ValueError(
            f"{path} must contain two files: a click log and the rankings shown to users"
        )
    clicks, shown = names
    file_name = display_name(path)
    try:
        with (
            open_zip(path, file_name) as archive,
            archive.open(clicks) as log,
            archive.open(shown) as rankings,
        ):
            return read_clicks(
                cast(BinaryIO, log),
                shown=cast(BinaryIO, rankings),
                name=clicks,
                shown_name=shown,
                max_bytes=max_bytes,
            )
    except ARCHIVE_ERRORS as error:
        raise make_damaged_archive_error(file_name, error) from None


MAX_HEADER = 1 << 16


def _find_columns(table: DelimitedTable, *wanted: tuple[str, ...]) -> list[int]:
    names = normalise_names(table.first.cells)
    places = [find_column(names, options) for options in wanted]
    missing = [options[0] for options, place in zip(wanted, places, strict=True) if place is None]
    if missing:
        header = table.delimiter.join(table.first.cells)
        expected = "a header with " + ", ".join(options[0] for options in wanted)
        raise FormatError.single(
            table.name, table.first.line, f"no column {', '.join(missing)}", expected, header
        )
    return [place for place in places if place is not None]


def _check_row(
    row: DelimitedRow, table: DelimitedTable, rank: int, ids: Iterable[int], mistakes: FileProblems
) -> bool:
    text = table.delimiter.join(row.cells)
    if len(row.cells) != len(table.first.cells):
        mistakes.add(
            row.line,
            f"{len(row.cells)} columns",
            f"{len(table.first.cells)} columns as in the header",
            text,
        )
    elif not (
        row.cells[rank].strip().isascii()
        and row.cells[rank].strip().isdigit()
        and len(row.cells[rank]) < 10
    ):
        mistakes.add(
            row.line, f"rank {row.cells[rank]!r} is not a whole number", "a rank such as 1", text
        )
    elif not all(row.cells[k].strip() for k in ids):
        mistakes.add(row.line, "an empty ID", "a session, a topic and a document", text)
    else:
        return False
    return True


SESSION, RANK, CLICKED = (
    ("session", "session_id", "sessionid"),
    ("rank", "position"),
    ("clicked", "click", "is_clicked"),
)


class _ClickSessions:
    """The ranks shown and the documents clicked in each session, by topic."""

    def __init__(self, mistakes: FileProblems) -> None:
        self.seen: dict[tuple[str, str], None] = {}
        self.shown: dict[tuple[str, str], dict[str, int]] = {}
        self.clicked: dict[tuple[str, str], set[str]] = {}
        self.mistakes = mistakes

    @property
    def n_sessions(self) -> int:
        return len({session for session, _ in self.seen})

    def check(self) -> None:
        if not self.seen and not self.mistakes.count:
            self.mistakes.add(None, "no sessions", "at least one row below the header")
        self.mistakes.raise_if_any()


def _read_one_file(path: Source, name: str | None, max_bytes: int | None) -> ClickCounts:
    table = DelimitedTable(path, name=name, max_bytes=max_bytes)
    session, topic, document, rank, clicked = _find_columns(
        table, SESSION, TOPIC_NAMES, DOCUMENT_NAMES, RANK, CLICKED
    )
    mistakes = FileProblems(table.name)
    sessions = _ClickSessions(mistakes)
    for row in table:
        if _check_row(row, table, rank, (session, topic, document), mistakes):
            continue
        cells, text = [cell.strip() for cell in row.cells], table.delimiter.join(row.cells)
        key, place = (cells[session], cells[topic]), int(cells[rank])
        sessions.seen[key] = None
        ranking = sessions.shown.setdefault(key, {})
        if cells[clicked] not in ("0", "1") or not place:
            mistakes.add(
                row.line,
                f"invalid rank {place} or clicked {cells[clicked]!r}",
                "a rank of at least 1, and clicked 0 or 1",
                text,
            )
        elif cells[document] in ranking or place in ranking.values():
            mistakes.add(
                row.line,
                f"duplicate document or rank in session {key[0]}",
                "one document per rank",
                text,
            )
        else:
            ranking[cells[document]] = place
            if cells[clicked] == "1":
                sessions.clicked.setdefault(key, set()).add(cells[document])
    sessions.check()
    counts = ClickTally()
    for key in sessions.seen:
        counts.add_session(key[1], sessions.shown[key], sessions.clicked.get(key, set()))
    return counts.build_counts(table.name, sessions.n_sessions, [])


def _read_two_files(
    path: Source, shown: Source, name: str | None, shown_name: str | None, max_bytes: int | None
) -> ClickCounts:
    rankings = _read_rankings(shown, shown_name, max_bytes)
    table = DelimitedTable(path, name=name, max_bytes=max_bytes)
    session, topic, rank, document = _find_columns(
        table, SESSION, TOPIC_NAMES, RANK, DOCUMENT_NAMES
    )
    mistakes = FileProblems(table.name)
    sessions = _ClickSessions(mistakes)
    for row in table:
        if _check_row(row, table, rank, (session, topic), mistakes):
            continue
        cells, text = [cell.strip() for cell in row.cells], table.delimiter.join(row.cells)
        ranking, place = rankings.get(cells[topic]), int(cells[rank])
        if ranking is None:
            mistakes.add(
                row.line,
                f"topic {cells[topic]} was not shown",
                "a topic of the rankings shown",
                text,
            )
        elif place and ranking.get(cells[document]) != place:
            where = ranking.get(cells[document])
            problem = f"document {cells[document]!r} was not shown at rank {place} of topic {cells[topic]}"
            mistakes.add(
                row.line,
                problem,
                f"rank {where}" if where else "a document of the ranking shown",
                text,
            )
        elif not place and cells[document]:
            mistakes.add(
                row.line, "rank 0 with a document", "no document if nothing was clicked", text
            )
        else:
            key = (cells[session], cells[topic])
            sessions.seen[key] = None
            if place:
                sessions.clicked.setdefault(key, set()).add(cells[document])
    sessions.check()
    counts = ClickTally()
    for key in sessions.seen:
        counts.add_session(key[1], rankings[key[1]], sessions.clicked.get(key, set()))
    unseen = len(rankings) - len({topic for _, topic in sessions.seen})
    warnings = (
        [
            (
                f"{format_count(unseen, 'topic')} of the rankings shown "
                f"{'has' if unseen == 1 else 'have'} no session and "
                f"{'is' if unseen == 1 else 'are'} left out"
            )
        ]
        if unseen
        else []
    )
    return counts.build_counts(table.name, sessions.n_sessions, warnings)


def _read_rankings(
    shown: Source, name: str | None, max_bytes: int | None
) -> dict[str, dict[str, int]]:
    table = DelimitedTable(shown, name=name, max_bytes=max_bytes)
    topic, rank, document = _find_columns(table, TOPIC_NAMES, RANK, DOCUMENT_NAMES)
    mistakes = FileProblems(table.name)
    rankings: dict[str, dict[str, int]] = {}
    places: set[tuple[str, int]] = set()
    for row in table:
        if _check_row(row, table, rank, (topic, document), mistakes):
            continue
        cells, text = [cell.strip() for cell in row.cells], table.delimiter.join(row.cells)
        ranking, place = rankings.setdefault(cells[topic], {}), int(cells[rank])
        if cells[document] in ranking or (cells[topic], place) in places or not place:
            mistakes.add(
                row.line,
                f"rank {place} of topic {cells[topic]} is 0, or its rank or document is a duplicate",
                "one document per rank, starting from rank 1",
                text,
            )
            continue
        ranking[cells[document]] = place
        places.add((cells[topic], place))
    if not rankings and not mistakes.count:
        mistakes.add(None, "no rankings", "at least one row below the header")
    mistakes.raise_if_any()
    return rankings
