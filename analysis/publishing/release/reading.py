"""Readers for untrusted releases. Nothing is unpacked to disk, and every problem is reported with
its position.

    # complete, all parts listed and checksums correct, otherwise FormatError
    with open_release(path, name="release.zip") as release:
        release.about  # campaign.json
        for row in release.judgements(scale={0, 1}): ...
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any

from analysis.publishing.contents import OPINION, REMARK
from analysis.publishing.release import version_1
from analysis.publishing.release.collection_files import (
    CLICK_FOLDER,
    CLICKS,
    COLLECTION_FILE_PATTERN,
    RUN_FOLDER,
    RUNS,
)
from analysis.publishing.release.parts import (
    ANSWERS,
    CHECKSUMS_FILE,
    FILE_NAMES,
    FORMAT,
    GUIDELINES,
    LLM_JUDGES,
    LLM_LABELS,
    PARTS,
    PARTS_BY_NAME,
    QUESTION_QRELS,
    VERSION,
)
from annotation.core.limits import MAX_VALUES
from annotation.models import Feedback, Judgement, Membership, Pair
from annotation.services.campaigns.restoring import (
    AnnotatorRow,
    FeedbackRow,
    JudgementRow,
    PairRow,
    RevisionKey,
    RulingRow,
)
from annotation.services.llm_judges.restoring import LlmLabelRow
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.archives import ARCHIVE_ERRORS, make_damaged_archive_error, open_zip
from assay.formats.delimited import DelimitedRow, DelimitedTable, FileProblems
from assay.formats.errors import FormatError
from assay.formats.exports import CANNOT_JUDGE
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.streams import PeekableStream, iterate_lines
from assay.labels.annotator_types import AnnotatorType
from assay.pools.pool_kinds import MAX_STAGE, SelectionMethod
from pooling.services.restoring import ClickRow, DrawRow, RunRow, StratumRow

MAX_BYTES = 4_000_000_000
"""Maximum unpacked bytes of all parts together."""
MAX_TEXT_BYTES = 32_000_000
"""Maximum bytes of a part that is read as a whole."""
MAX_PARTS = 1000
KNOWN_NAMES = FILE_NAMES | set(version_1.PARTS.values())
GUIDELINE_PATTERN = re.compile(GUIDELINES + r"v([1-9]\d{0,5})\.md")
QUESTION_QRELS_PATTERN = re.compile(QUESTION_QRELS + r"[a-z][a-z0-9_]{0,29}\.qrels\.txt")
FOLDER_PATTERNS = (GUIDELINE_PATTERN, COLLECTION_FILE_PATTERN, QUESTION_QRELS_PATTERN)
SPAN_PATTERN = re.compile(r"(\d{1,9})-(\d{1,9})")
MAX_NUMBER = 2_147_483_647


class InvalidReleaseCell(ValueError):
    """A cell in a table of a release is invalid. The arguments are the problem and the expected
    value."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected


DAMAGED_PART_ERRORS = (*ARCHIVE_ERRORS, UnicodeDecodeError)
DAMAGED_LIST_ERRORS = (*DAMAGED_PART_ERRORS, ValueError, IndexError, OSError)
"""Further errors that a damaged zip directory can cause while the parts are first read."""


@contextmanager
def open_release(path: str | Path, *, name: str) -> Iterator[ReleaseFile]:
    """Open a release and check its list of parts and its checksums. Raises FormatError if it is not
    a valid release."""
    with ExitStack() as stack:
        try:
            release = ReleaseFile(stack.enter_context(open_zip(path, name)), name)
            release.check()
        except DAMAGED_LIST_ERRORS as error:
            raise _damaged_error(name, error) from None
        try:
            yield release
        except DAMAGED_PART_ERRORS as error:
            raise _damaged_error(name, error) from None


def _damaged_error(name: str, error: Exception) -> FormatError:
    return make_damaged_archive_error(name, error, "a complete release")


class ReleaseFile:
    """A zip file that claims to be a release, and its parsed parts."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self.file, self.name = file, name
        self.about: dict[str, Any] = {}

    @property
    def is_version_1(self) -> bool:
        return self.about.get("version") == 1

    def stored_name(self, part: str) -> str:
        """Return the file name of the part in this release."""
        return version_1.PARTS.get(part, part) if self.is_version_1 else part

    def wrong(
        self, problem: str, expected: str, *, part: str = "", line: int | None = None
    ) -> FormatError:
        place = f"{self.name}/{self.stored_name(part)}" if part else self.name
        return FormatError.single(place, line, problem, expected)

    def check(self) -> None:
        infos = self.file.infolist()
        names = [info.filename for info in infos]
        if len(names) > MAX_PARTS:
            raise self.wrong(f"{len(names)} parts", f"at most {MAX_PARTS}")
        for info in infos:
            if info.filename not in KNOWN_NAMES and not any(
                pattern.fullmatch(info.filename) for pattern in FOLDER_PATTERNS
            ):
                raise self.wrong(
                    f"an unknown file {info.filename[:100]!r}",
                    "only files that belong to a release",
                )
            if info.flag_bits & 1:
                raise self.wrong(f"{info.filename} is encrypted", "a release without password")
        if len(set(names)) < len(names):
            raise self.wrong("duplicate part names", "each part once")
        if missing := [part.name for part in PARTS if part.needed and part.name not in names]:
            raise self.wrong(f"missing parts: {', '.join(missing)}", "all parts of a release")
        if (total := sum(info.file_size for info in infos)) > MAX_BYTES:
            raise self.wrong(f"{total:,} bytes when unpacked", f"at most {MAX_BYTES:,}")
        self._check_sums(names)
        self.about = self._read_manifest()

    def _check_sums(self, names: list[str]) -> None:
        """Compare the checksums of all parts, so that damage is found before anything is
        written."""
        said = {}
        for number, line in enumerate(self.text(CHECKSUMS_FILE).splitlines(), 1):
            digest, _, name = line.partition("  ")
            if not re.fullmatch(r"[0-9a-f]{64}", digest) or name not in names:
                raise self.wrong(
                    "not the checksum of a part",
                    "64 hexadecimal digits, two spaces, the name of a part",
                    part=CHECKSUMS_FILE,
                    line=number,
                )
            said[name] = digest
        for name in names:
            if name == CHECKSUMS_FILE:
                continue
            if name not in said:
                raise self.wrong(
                    f"missing checksum of {name}", "one checksum per part", part=CHECKSUMS_FILE
                )
            total = hashlib.sha256()
            with self.part(name) as file:
                while block := file.read(1 << 20):
                    total.update(block)
            if total.hexdigest() != said[name]:
                raise self.wrong(
                    "the checksum differs from SHA256SUMS",
                    "an unchanged part",
                    part=name,
                )

    def part(self, name: str) -> IO[bytes]:
        return self.file.open(self.stored_name(name))

    def has(self, name: str) -> bool:
        return self.stored_name(name) in self.file.namelist()

    def text(self, name: str) -> str:
        """Return the text of a small part of the release."""
        with self.part(name) as file:
            raw = file.read(MAX_TEXT_BYTES + 1)
        if len(raw) > MAX_TEXT_BYTES:
            raise self.wrong(
                "the part is too large", f"at most {MAX_TEXT_BYTES:,} bytes", part=name
            )
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self.wrong("not UTF-8", "UTF-8", part=name) from None
        if "\0" in text:
            raise self.wrong("a NUL character", "text", part=name)
        return text

    def _read_manifest(self) -> dict[str, Any]:
        try:
            about = json.loads(self.text("campaign.json"))
        except (json.JSONDecodeError, RecursionError, ValueError) as error:
            raise self.wrong(
                f"invalid JSON ({str(error)[:100]})", "valid JSON", part="campaign.json"
            ) from None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise self.wrong(
                "not the description of a release", f'"format": "{FORMAT}"', part="campaign.json"
            )
        if about.get("version") not in (1, VERSION):
            raise self.wrong(
                f"version {str(about.get('version'))[:20]}",
                f"version 1 or {VERSION}",
                part="campaign.json",
            )
        for name in ("campaign", "collection", "pool", "recipe"):
            if not isinstance(about.get(name), dict):
                raise self.wrong(
                    f"missing {name}",
                    "objects for campaign, collection, pool and recipe",
                    part="campaign.json",
                )
        if not isinstance(about["campaign"].get("settings"), dict):
            raise self.wrong(
                "settings of the campaign are missing", "settings", part="campaign.json"
            )
        if about["version"] == 1:
            version_1.translate_manifest(about)
        return about

    def guidelines(self) -> list[tuple[int, str]]:
        """Return (version, text) of each version of the guidelines, oldest first."""
        numbered = [
            (int(match[1]), name)
            for name in self.file.namelist()
            if (match := GUIDELINE_PATTERN.fullmatch(name))
        ]
        return [(number, self.text(name)) for number, name in sorted(numbered)]

    def objects(self, part: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of a JSON Lines part as (line number, object)."""
        with self.part(part) as file:
            for number, text in iterate_lines(file, name=f"{self.name}/{self.stored_name(part)}"):  # type: ignore[arg-type]
                if not text.strip():
                    continue
                try:
                    row = json.loads(text)
                except (json.JSONDecodeError, RecursionError, ValueError):
                    raise self.wrong(
                        "invalid JSON", "one JSON object per line", part=part, line=number
                    ) from None
                if not isinstance(row, dict) or "\\u0000" in text or "\0" in text:
                    raise self.wrong(
                        "not a JSON object, or it contains a null character",
                        "one JSON object per line",
                        part=part,
                        line=number,
                    )
                yield number, row

    def rows(
        self, part: str, mistakes: FileProblems, *, quoting: bool = False
    ) -> Iterator[tuple[DelimitedRow, dict[str, str]]]:
        """Yield the rows of a table. Its columns must be exactly those of the part, in this or an
        older version."""
        with self.part(part) as file:
            table = DelimitedTable(
                file,  # type: ignore[arg-type]
                name=f"{self.name}/{self.stored_name(part)}",
                delimiter="\t",
                quoting=quoting,
            )
            columns = tuple(table.first.cells)
            if self.is_version_1:
                columns = tuple(version_1.COLUMNS.get(name, name) for name in columns)
            if columns not in (PARTS_BY_NAME[part].columns, *PARTS_BY_NAME[part].earlier):
                raise self.wrong(
                    "unexpected header", " ".join(PARTS_BY_NAME[part].columns), part=part, line=1
                )
            for row in table:
                if len(row.cells) != len(columns):
                    mistakes.add(row.line, f"{len(row.cells)} columns", f"{len(columns)} columns")
                elif any("\0" in cell for cell in row.cells):
                    mistakes.add(row.line, "a NUL character", "text")
                else:
                    cells = dict(zip(columns, row.cells, strict=True))
                    if self.is_version_1:
                        cells = {n: version_1.translate_cell(n, cell) for n, cell in cells.items()}
                    yield row, cells

    def _checked_rows(self, part: str, read: Any, *, quoting: bool = False) -> Iterator[Any]:
        """Yield each row of a table, converted by `read(line, cells)`. Raises FormatError with all
        problems at the end."""
        mistakes = FileProblems(f"{self.name}/{self.stored_name(part)}")
        for row, cells in self.rows(part, mistakes, quoting=quoting):
            try:
                record = read(row.line, cells)
            except InvalidReleaseCell as error:
                mistakes.add(row.line, error.problem, error.expected, "\t".join(row.cells))
                continue
            yield record
        mistakes.raise_if_any()

    def annotators(self) -> list[AnnotatorRow]:
        def read(line: int, c: dict[str, str]) -> AnnotatorRow:
            if not c["annotator"] or len(c["annotator"]) > 60:
                raise InvalidReleaseCell(
                    "the pseudonym is missing or has more than 60 characters",
                    "a pseudonym of at most 60 characters",
                )
            status = parse_choice(c["status"], Membership.Status.values, "status")
            return AnnotatorRow(c["annotator"], status, c["reason"], parse_annotator_type(c))

        return list(self._checked_rows("annotators.tsv", read))

    def feedback(self) -> list[FeedbackRow]:
        def read(line: int, c: dict[str, str]) -> FeedbackRow:
            if c["question"] == OPINION:
                return FeedbackRow(
                    line,
                    c["annotator"],
                    score=parse_choice(c["answer"], Feedback.Score.labels, "answer"),
                )
            parse_choice(c["question"], [OPINION, REMARK], "question")
            return FeedbackRow(line, c["annotator"], text=parse_short_text(c["answer"], 5000))

        return list(self._checked_rows("feedback.tsv", read))

    def pairs(self) -> list[PairRow]:
        """Return the pairs of the campaign and of its qualification test."""

        def read(line: int, c: dict[str, str]) -> PairRow:
            needed = parse_number(c["needed"], "needed")
            if needed is None or needed > 32_000:
                raise InvalidReleaseCell(
                    f"invalid value in column `needed`: {c['needed'][:20]!r}",
                    "a whole number up to 32,000",
                )
            # releases of older versions have no additional judgements
            asked_more = parse_number(c.get("asked_more", "0"), "asked_more")
            if asked_more is None or asked_more > MAX_VALUES["judgements_per_pair"]:
                raise InvalidReleaseCell(
                    f"invalid asked_more {c['asked_more'][:20]!r}",
                    f"a whole number up to {MAX_VALUES['judgements_per_pair']}",
                )
            return PairRow(
                c["topic"],
                c["document"],
                parse_choice(c["kind"], Pair.Kind.values, "kind"),
                asked_more,
            )

        return [
            row
            for part in ("pairs.tsv", "qualification.tsv")
            for row in self._checked_rows(part, read)
        ]

    def strata(self) -> list[StratumRow]:
        def read(line: int, c: dict[str, str]) -> StratumRow:
            counts = [parse_number(cell, "drawn") for cell in c["drawn"].split(",") if cell]
            place, size = parse_number(c["number"], "number"), parse_number(c["pairs"], "pairs")
            if (
                place is None
                or not size
                or None in counts
                or not 0 < len(c["stratum"]) <= 300
                or any((n or 0) > size for n in counts)
            ):
                raise InvalidReleaseCell(
                    "a stratum with missing name, size or counts, or counts above its size",
                    "number, stratum, pairs, drawn",
                )
            return StratumRow(place, c["stratum"], size, [n or 0 for n in counts])

        return list(self._checked_rows("strata.tsv", read))

    def draws(self) -> list[DrawRow]:
        def read(line: int, c: dict[str, str]) -> DrawRow:
            stratum, place = (
                parse_number(c[name], name) if c[name] else None for name in ("stratum", "place")
            )
            entered = parse_choice(c["entered"], ["", *SelectionMethod], "entered")
            stage = parse_number(c["stage"], "stage") if c["stage"] else None
            if stage is not None and not 0 < stage <= MAX_STAGE:
                raise InvalidReleaseCell(f"invalid stage {stage}", f"1 to {MAX_STAGE}, or empty")
            if stage is None and (stratum is None or place is None):
                raise InvalidReleaseCell(
                    "neither a stage nor a place in a stratum",
                    "the number of a stratum and a place from 0, or the batch of an ordered pool",
                )
            return DrawRow(line, c["topic"], c["document"], stratum, place, stage, entered)

        return list(self._checked_rows("draw.tsv", read))

    def llm_judges(self) -> list[dict[str, Any]]:
        """Return the entries of llm-judges.json, unchecked."""
        try:
            said = json.loads(self.text(LLM_JUDGES))
        except (json.JSONDecodeError, RecursionError, ValueError) as error:
            raise self.wrong(
                f"invalid JSON ({str(error)[:100]})", "valid JSON", part=LLM_JUDGES
            ) from None
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise self.wrong("not a list of LLM judges", "a list of objects", part=LLM_JUDGES)
        return said

    def llm_labels(self) -> Iterator[LlmLabelRow]:
        def read(line: int, c: dict[str, str]) -> LlmLabelRow:
            grade = parse_number(c["grade"], "grade")
            if grade is None or grade > 32_000:
                raise InvalidReleaseCell(
                    f"invalid grade {c['grade'][:20]!r}", "a whole number up to 32,000"
                )
            return LlmLabelRow(line, c["llm_judge"], c["topic"], c["document"], grade)

        return self._checked_rows(LLM_LABELS, read) if self.has(LLM_LABELS) else iter(())

    def runs(self) -> list[RunRow]:
        """Return the rows of runs.tsv, none if the release has no runs."""

        def read(line: int, c: dict[str, str]) -> RunRow:
            path = parse_choice(c["file"], self.file.namelist(), "file")
            flags = parse_flag(c["baseline"]), parse_flag(c["pooled"])
            return RunRow(
                line, c["tag"], parse_date(c["date"]), c["group"], c["description"], *flags, path
            )

        return self._folder_rows(RUNS, RUN_FOLDER, read)

    def clicks(self) -> list[ClickRow]:
        """Return the rows of clicks.tsv, none if the release has no click qrels."""

        def read(line: int, c: dict[str, str]) -> ClickRow:
            return ClickRow(line, c["name"], parse_choice(c["file"], self.file.namelist(), "file"))

        return self._folder_rows(CLICKS, CLICK_FOLDER, read)

    def _folder_rows(self, part: str, folder: str, read: Any) -> list[Any]:
        """Return the rows of a table that lists the files of a folder. Each file must be listed
        once."""
        rows = list(self._checked_rows(part, read)) if self.has(part) else []
        files = sorted(name for name in self.file.namelist() if name.startswith(folder))
        if sorted(row.file for row in rows) != files:
            raise self.wrong(
                f"the table lists other files than those in {folder}",
                f"each file of {folder} once",
                part=part,
            )
        return rows

    def rankings(self, row: RunRow) -> RunColumns:
        with self.part(row.file) as file:
            called = f"{self.name}/{row.file}"
            return read_run(PeekableStream(file, name=called))  # type: ignore[arg-type]

    def click_grades(self, row: ClickRow) -> QrelsColumns:
        with self.part(row.file) as file:
            called = f"{self.name}/{row.file}"
            return read_qrels(PeekableStream(file, name=called))  # type: ignore[arg-type]

    def gold(self, scale: set[int]) -> list[RulingRow]:
        def read(line: int, c: dict[str, str]) -> RulingRow:
            return RulingRow(
                c["topic"], c["document"], _parse_grade(c["grade"], scale), None, c["explanation"]
            )

        return list(self._checked_rows("gold.tsv", read))

    def adjudications(self, scale: set[int]) -> list[RulingRow]:
        def read(line: int, c: dict[str, str]) -> RulingRow:
            return RulingRow(
                c["topic"],
                c["document"],
                _parse_grade(c["grade"], scale),
                parse_time(c["decided_at"]),
                c["reason"],
            )

        return list(self._checked_rows("adjudications.tsv", read))

    def answers(self, scales: Mapping[str, set[int]]) -> dict[RevisionKey, dict[str, int | None]]:
        """Return the answers to further questions, by revision and question. scales: valid values
        of each question."""
        answers: dict[RevisionKey, dict[str, int | None]] = {}

        def read(line: int, c: dict[str, str]) -> None:
            key = parse_choice(c["question"], list(scales), "question")
            revision = parse_number(c["revision"], "revision") or 0
            own = answers.setdefault((c["topic"], c["document"], c["annotator"], revision), {})
            if key in own:
                raise InvalidReleaseCell(f"duplicate answer to {key}", "one answer per question")
            own[key] = (
                None if c["answer"] == CANNOT_JUDGE else _parse_grade(c["answer"], scales[key])
            )

        if self.has(ANSWERS):
            list(self._checked_rows(ANSWERS, read))
        return answers

    def judgements(self, scale: set[int]) -> Iterator[JudgementRow]:
        """Yield the release's judgements. Raises FormatError with all problems at the end."""

        def read(line: int, c: dict[str, str]) -> JudgementRow:
            revision, version = (
                parse_number(c["revision"], "revision"),
                parse_number(c["guideline_version"], "guideline_version"),
            )
            judged_at = parse_time(c["judged_at"])
            if not revision or revision > 32_000 or judged_at is None:
                raise InvalidReleaseCell(
                    "the revision or time is missing", "a revision of at least 1 and judged_at"
                )
            status = parse_choice(c["status"], Judgement.Status.values, "status")
            grade = _parse_grade(c["grade"], scale) if c["grade"] else None
            if grade is None and status == Judgement.Status.COUNTED:
                raise InvalidReleaseCell("a counted judgement without a grade", "a grade")
            active, idle, hidden = (
                parse_number(c[name], name) for name in ("active_ms", "idle_ms", "hidden_ms")
            )
            return JudgementRow(
                line,
                c["qid"],
                c["docid"],
                c["annotator"],
                revision,
                grade,
                parse_short_text(c["cannot_judge_reason"], 20),
                c["note"],
                parse_spans(c["spans"]),
                status,
                parse_flag(c["late"]),
                parse_flag(c["after_deadline"]),
                active,
                idle,
                hidden,
                parse_number(c["total_ms"], "total_ms"),
                parse_number(c["server_ms"], "server_ms"),
                version or 0,
                parse_short_text(c["device"], 20),
                parse_time(c["served_at"]),
                judged_at,
                parse_lease_token(c["lease_id"]),
            )

        return self._checked_rows("judgements.tsv", read, quoting=True)


def parse_annotator_type(cells: Mapping[str, str]) -> str:
    """Parse the type of an annotator. Releases of version 0.1.0 only record whether the annotator
    was simulated."""
    if "type" in cells:
        return parse_choice(cells["type"], [kind.value for kind in AnnotatorType], "type")
    return (
        AnnotatorType.SIMULATED.value
        if parse_flag(cells["simulated"])
        else AnnotatorType.HUMAN.value
    )


def parse_number(cell: str, what: str) -> int | None:
    """Parse a non-negative integer. An empty cell is None."""
    if not cell:
        return None
    if not (cell.isascii() and cell.isdigit() and len(cell) <= 10) or int(cell) > MAX_NUMBER:
        raise InvalidReleaseCell(
            f"invalid {what} {cell[:20]!r}", f"a whole number from 0 to {MAX_NUMBER:,}, or empty"
        )
    return int(cell)


def _parse_grade(cell: str, scale: set[int]) -> int:
    grade = parse_number(cell, "grade")
    if grade is None or grade not in scale:
        raise InvalidReleaseCell(
            f"invalid grade {cell[:20]!r}", f"one of {', '.join(map(str, sorted(scale)))}"
        )
    return grade


def parse_flag(cell: str) -> bool:
    if cell not in ("0", "1"):
        raise InvalidReleaseCell(f"{cell[:20]!r}", "0 or 1")
    return cell == "1"


def parse_choice(cell: str, known: list[str], what: str) -> str:
    if cell not in known:
        raise InvalidReleaseCell(f"invalid {what} {cell[:30]!r}", f"one of {', '.join(known)}")
    return cell


def parse_short_text(cell: str, most: int) -> str:
    if len(cell) > most:
        raise InvalidReleaseCell(
            f"{cell[:30]!r}… has {len(cell)} characters", f"at most {most} characters"
        )
    return cell


def parse_time(cell: str) -> datetime | None:
    if not cell:
        return None
    try:
        time = datetime.fromisoformat(cell)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None or not 1970 < time.year < 9000:
        raise InvalidReleaseCell(f"{cell[:40]!r} is not a date and time", "ISO 8601 in UTC")
    return time


def parse_date(cell: str) -> date | None:
    try:
        return date.fromisoformat(cell) if cell else None
    except ValueError:
        raise InvalidReleaseCell(f"{cell[:40]!r} is not a date", "YYYY-MM-DD, or empty") from None


def parse_spans(cell: str) -> list[list[int]]:
    passages = []
    for part in filter(None, cell.split(";")):
        match = SPAN_PATTERN.fullmatch(part)
        if match is None or int(match[1]) >= int(match[2]):
            raise InvalidReleaseCell(
                f"invalid span {part[:30]!r}", "begin-end, with begin before end"
            )
        passages.append([int(match[1]), int(match[2])])
    return passages


def parse_lease_token(cell: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(cell) if cell else None
    except ValueError:
        raise InvalidReleaseCell(f"invalid lease {cell[:40]!r}", "a UUID or empty") from None
