"""Write files that other tools read: topics, judgements for FiRA, Quepid and crowd-kit, and the
complete table of judgements.

Machine-readable formats are written unchanged. `spreadsheet=True` escapes cells that a spreadsheet
would read as formulas.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any, NamedTuple

from assay.formats.delimited import escape_formula
from assay.formats.topics import TopicRecord
from assay.pools.topic_checks import ProposedRemoval

FIRA_LEVELS = (
    "0_NOT_RELEVANT",
    "1_TOPIC_RELEVANT_DOES_NOT_ANSWER",
    "2_GOOD_ANSWER",
    "3_PERFECT_ANSWER",
)
FIRA_COLUMNS = (
    "id",
    "relevanceLevel",
    "relevanceCharacterRanges",
    "rotate",
    "mode",
    "durationUsedToJudgeMs",
    "judgedAtUnixTS",
    "documentId",
    "queryId",
    "userId",
)
CANNOT_JUDGE = "cannot judge"
RAW_COLUMNS = (
    "campaign",
    "qid",
    "docid",
    "annotator",
    "grade",
    "label",
    "cannot_judge_reason",
    "spans",
    "active_ms",
    "idle_ms",
    "hidden_ms",
    "total_ms",
    "served_at",
    "judged_at",
    "guideline_version",
    "lease_id",
    "device",
    "revision",
    "excluded",
    "exclusion_reason",
    "status",
    "kind",
    "gold",
    "late",
    "after_deadline",
    "server_ms",
    "note",
)


class RawJudgement(NamedTuple):
    """One revision of one judgement, with the values that exports need.

    spans: (start, end) character positions in the stored text, end exclusive. grade: None if the
    annotator could not judge. Times are None if they are unknown. answers: to further questions by
    key, None for "cannot judge".
    """

    campaign: str
    qid: str
    docid: str
    annotator: str
    grade: int | None
    label: str = ""
    cannot_judge_reason: str = ""
    spans: Sequence[tuple[int, int]] = ()
    active_ms: int | None = None
    idle_ms: int | None = None
    hidden_ms: int | None = None
    total_ms: int | None = None
    served_at: datetime | None = None
    judged_at: datetime | None = None
    guideline_version: str = ""
    lease_id: str = ""
    device: str = ""
    revision: int = 1
    excluded: bool = False
    exclusion_reason: str = ""
    status: str = ""
    kind: str = ""
    gold: bool = False
    late: bool = False
    after_deadline: bool = False
    server_ms: int | None = None
    note: str = ""
    answers: Mapping[str, int | None] = {}


def _flatten(text: str) -> str:
    """Return the text on one line, for formats without quoting."""
    return " ".join(text.split())


def format_time(moment: datetime | None) -> str:
    """Format a time in UTC with milliseconds, or return an empty string for None."""
    return (
        ""
        if moment is None
        else moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


def write_topics(topics: Iterable[TopicRecord], out: IO[str]) -> None:
    """Write `id<TAB>text` without a header."""
    out.writelines(f"{topic.topic}\t{_flatten(topic.text)}\n" for topic in topics)


def write_removed_topics(removed: Iterable[ProposedRemoval], out: IO[str]) -> None:
    """Write `topic text reason same_as`, tab-separated with this header."""
    out.write("topic\ttext\treason\tsame_as\n")
    out.writelines(f"{r.topic}\t{_flatten(r.text)}\t{r.reason}\t{r.same_as}\n" for r in removed)


def write_raw_judgements(
    judgements: Iterable[RawJudgement],
    out: IO[str],
    *,
    spreadsheet: bool = False,
    questions: Sequence[str] = (),
) -> None:
    """Write the complete table, one row per revision, tab-separated with a header. questions: keys
    of further questions, each of which has a column `answer_KEY` at the end.

    Texts with tabs, quotes or line ends are quoted. `excluded` is 1 if the row does not count for
    labels, and `exclusion_reason` states why.
    """
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    rows.writerow([*RAW_COLUMNS, *(f"answer_{key}" for key in questions)])
    for j in judgements:
        texts = [*format_raw_cells(j), *(format_answer(j.answers, key) for key in questions)]
        rows.writerow([escape_formula(cell) for cell in texts] if spreadsheet else texts)


def format_answer(answers: Mapping[str, int | None], key: str) -> str:
    """Return the answer as text: empty if there is none, CANNOT_JUDGE if it cannot be judged."""
    if key not in answers:
        return ""
    return CANNOT_JUDGE if answers[key] is None else str(answers[key])


def format_raw_cells(j: RawJudgement) -> list[str]:
    """Return the cells of RAW_COLUMNS as text."""
    spans = ";".join(f"{begin}-{end}" for begin, end in j.spans)
    cells = [
        j.campaign,
        j.qid,
        j.docid,
        j.annotator,
        j.grade,
        j.label,
        j.cannot_judge_reason,
        spans,
        j.active_ms,
        j.idle_ms,
        j.hidden_ms,
        j.total_ms,
        format_time(j.served_at),
        format_time(j.judged_at),
        j.guideline_version,
        j.lease_id,
        j.device,
        j.revision,
        int(j.excluded),
        j.exclusion_reason,
        j.status,
        j.kind,
        int(j.gold),
        int(j.late),
        int(j.after_deadline),
        j.server_ms,
        j.note,
    ]
    return ["" if cell is None else str(cell) for cell in cells]


def write_fira_judgements(judgements: Iterable[RawJudgement], out: IO[str]) -> int:
    """Write FiRA's export, tab-separated, with inclusive ends of ranges.

    Returns the number of judgements left out because they have no grade or a grade above FiRA's
    four.
    """
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    rows.writerow(FIRA_COLUMNS)
    left_out = 0
    for number, j in enumerate(judgements, 1):
        if j.grade is None or not 0 <= j.grade < len(FIRA_LEVELS):
            left_out += 1
            continue
        ranges = (
            ";".join(f"{begin}-{end - 1}" for begin, end in j.spans if end > begin)
            or "<no ranges selected>"
        )
        mode = "SCORING_AND_SELECT_SPANS" if j.spans else "PLAIN_RELEVANCE_SCORING"
        seconds = "" if j.judged_at is None else int(j.judged_at.timestamp())
        duration = j.active_ms if j.active_ms is not None else j.total_ms
        rows.writerow(
            [
                number,
                FIRA_LEVELS[j.grade],
                ranges,
                "false",
                mode,
                "" if duration is None else duration,
                seconds,
                j.docid,
                j.qid,
                j.annotator,
            ]
        )
    return left_out


def write_crowdkit(judgements: Iterable[RawJudgement], out: IO[str]) -> None:
    """Write crowd-kit's `task,worker,label`. A task is the topic's ID, a space and the document's
    ID."""
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("task", "worker", "label"))
    rows.writerows(
        (f"{j.qid} {j.docid}", j.annotator, j.grade) for j in judgements if j.grade is not None
    )


class BookPair(NamedTuple):
    """A query and document of a Quepid book.

    judgements: (annotator's email or name, grade or None if not rateable, explanation).
    """

    query_text: str
    doc_id: str
    position: int | None = None
    document_fields: Mapping[str, str] = {}
    information_need: str = ""
    notes: str = ""
    judgements: Sequence[tuple[str, int | None, str]] = ()


def make_quepid_book(
    name: str, pairs: Iterable[BookPair], *, grades: Sequence[str]
) -> dict[str, Any]:
    """Return a Quepid book for `json.dump`. grades: the names of the scale's grades, from 0."""
    return {
        "name": name,
        "show_rank": False,
        "support_implicit_judgements": False,
        "scale": list(range(len(grades))),
        "scale_with_labels": {str(grade): label for grade, label in enumerate(grades)},
        "query_doc_pairs": [
            {
                "query_text": pair.query_text,
                "doc_id": pair.doc_id,
                "position": pair.position,
                "document_fields": dict(pair.document_fields),
                "information_need": pair.information_need,
                "notes": pair.notes,
                "options": {},
                "judgements": [
                    {
                        "rating": grade,
                        "unrateable": grade is None,
                        "judge_later": False,
                        "user_email": annotator,
                        "explanation": explanation,
                    }
                    for annotator, grade, explanation in pair.judgements
                ],
            }
            for pair in pairs
        ],
    }


def write_quepid_book(
    name: str, pairs: Iterable[BookPair], out: IO[str], *, grades: Sequence[str]
) -> None:
    json.dump(make_quepid_book(name, pairs, grades=grades), out, ensure_ascii=False, indent=1)
    out.write("\n")


def write_quepid_snapshot(
    rows: Iterable[tuple[str, str, int]],
    out: IO[str],
    *,
    name: str,
    time: datetime,
    case: int = 1,
    spreadsheet: bool = False,
) -> None:
    """Write a run as Quepid's snapshot CSV from (query text, document, position)."""
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")
    )
    for query, document, position in rows:
        cells = [name, format_time(time), str(case), query, document, str(position)]
        table.writerow([escape_formula(cell) for cell in cells] if spreadsheet else cells)
