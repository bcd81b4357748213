"""Reading a release that anybody may have made: nothing is unpacked to disk, nothing is trusted, every problem has its place.

with open_archive(path, name="release.zip") as archive:      # whole, listed, checksums right, or FormatError
    archive.about                                            # campaign.json
    for row in archive.judgements(scale={0, 1}): ...
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from analysis.services.archive import ANNOTATOR_COLUMNS, FORMAT, GOLD_COLUMNS, PAIR_COLUMNS, SUMS, VERSION
from annotation.models import Judgement, Membership, Pair
from pooling.formats.delimited import Mistakes, Row, Table
from pooling.formats.errors import FormatError
from pooling.formats.exports import RAW_COLUMNS
from pooling.formats.opening import lines

MOST_BYTES = 4_000_000_000
"""Unpacked, all parts together."""
LARGEST_TEXT = 32_000_000
"""Bytes of a part that is read as a whole."""
MOST_PARTS = 1000
REQUIRED = {
    "adjudications.tsv", "annotators.tsv", "campaign.json", "gold.tsv", "judgements.tsv", "pairs.tsv", "pool.tsv", "qrels.txt",
    "qrels-binary.txt", "qualification.tsv", "topics.jsonl",
}  # fmt: skip
OTHERS = {
    "agreement.json",
    "datasheet.md",
    "documents.jsonl",
    "excluded.tsv",
    "labels.tsv",
    "statistics.json",
    "topics.tsv",
    "topics-removed.tsv",
}
GUIDELINE = re.compile(r"guidelines/v([1-9]\d{0,5})\.md")
ADJUDICATION_COLUMNS = ("topic", "document", "grade", "decided_at", "reason")
SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
LARGEST_NUMBER = 2_147_483_647


class JudgementRow(NamedTuple):
    """One revision, checked cell by cell. line: of judgements.tsv."""

    line: int
    topic: str
    document: str
    annotator: str
    revision: int
    grade: int | None
    cannot_reason: str
    note: str
    spans: list[list[int]]
    standing: str
    late: bool
    after_deadline: bool
    active_ms: int | None
    idle_ms: int | None
    hidden_ms: int | None
    wall_ms: int | None
    server_ms: int | None
    guideline_version: int
    device: str
    served_at: datetime | None
    judged_at: datetime
    lease: uuid.UUID | None


class PairRow(NamedTuple):
    topic: str
    document: str
    kind: str
    needed: int


class AnnotatorRow(NamedTuple):
    pseudonym: str
    standing: str
    reason: str
    simulated: bool


class Ruling(NamedTuple):
    """Of a manager, or (decided_at None) the known grade of a gold pair."""

    topic: str
    document: str
    grade: int
    decided_at: datetime | None
    reason: str


class Wrong(ValueError):
    """A cell that cannot be used: (what is wrong, what was expected)."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected


@contextmanager
def open_archive(path: str | Path, *, name: str) -> Iterator[Archive]:
    """The archive with its list of parts and checksums looked at. FormatError for whatever is not one."""
    try:
        with zipfile.ZipFile(path) as file:
            archive = Archive(file, name)
            archive.check()
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        raise FormatError.single(name, None, f"the zip archive is damaged ({error})", "a release, whole") from None


class Archive:
    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self.file, self.name = file, name
        self.about: dict[str, Any] = {}

    def wrong(self, problem: str, expected: str, *, part: str = "", line: int | None = None) -> FormatError:
        return FormatError.single(f"{self.name}/{part}" if part else self.name, line, problem, expected)

    def check(self) -> None:
        infos = self.file.infolist()
        names = [info.filename for info in infos]
        if len(names) > MOST_PARTS:
            raise self.wrong(f"{len(names)} parts", f"at most {MOST_PARTS}")
        for info in infos:
            if info.filename not in REQUIRED | OTHERS | {SUMS} and not GUIDELINE.fullmatch(info.filename):
                raise self.wrong(f"a part called {info.filename[:100]!r}", "only the parts of a release")
            if info.flag_bits & 1:
                raise self.wrong(f"{info.filename} is encrypted", "an archive without password")
        if len(set(names)) < len(names):
            raise self.wrong("two parts of one name", "each part once")
        if missing := sorted((REQUIRED | {SUMS}) - set(names)):
            raise self.wrong(f"without {', '.join(missing)}", "all parts of a release")
        if (total := sum(info.file_size for info in infos)) > MOST_BYTES:
            raise self.wrong(f"{total:,} bytes when unpacked", f"at most {MOST_BYTES:,}")
        self._check_sums(names)
        self.about = self._about()

    def _check_sums(self, names: list[str]) -> None:
        """Reads every part once, so that a damaged one is found before anything is written."""
        said = {}
        for number, line in enumerate(self.text(SUMS).splitlines(), 1):
            digest, _, name = line.partition("  ")
            if not re.fullmatch(r"[0-9a-f]{64}", digest) or name not in names:
                raise self.wrong(
                    "not the checksum of a part", "64 hexadecimal digits, two blanks, the name of a part", part=SUMS, line=number
                )
            said[name] = digest
        for name in names:
            if name == SUMS:
                continue
            if name not in said:
                raise self.wrong(f"no checksum of {name}", "one for each part", part=SUMS)
            total = hashlib.sha256()
            with self.part(name) as file:
                while block := file.read(1 << 20):
                    total.update(block)
            if total.hexdigest() != said[name]:
                raise self.wrong("another checksum than SHA256SUMS says", "the part as it was released", part=name)

    def part(self, name: str) -> IO[bytes]:
        return self.file.open(name)

    def has(self, name: str) -> bool:
        return name in self.file.namelist()

    def text(self, name: str) -> str:
        """A small part as a whole."""
        with self.part(name) as file:
            raw = file.read(LARGEST_TEXT + 1)
        if len(raw) > LARGEST_TEXT:
            raise self.wrong(f"more than {LARGEST_TEXT:,} bytes", "a smaller part", part=name)
        try:
            found = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self.wrong("not UTF-8", "UTF-8", part=name) from None
        if "\0" in found:
            raise self.wrong("a NUL character", "text", part=name)
        return found

    def _about(self) -> dict[str, Any]:
        try:
            about = json.loads(self.text("campaign.json"))
        except (json.JSONDecodeError, RecursionError, ValueError) as error:
            raise self.wrong(f"not JSON ({str(error)[:100]})", "JSON", part="campaign.json") from None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise self.wrong("not the description of a release", f'"format": "{FORMAT}"', part="campaign.json")
        if about.get("version") != VERSION:
            raise self.wrong(f"version {str(about.get('version'))[:20]}", f"version {VERSION}", part="campaign.json")
        for name in ("campaign", "collection", "pool", "recipe"):
            if not isinstance(about.get(name), dict):
                raise self.wrong(f"no {name}", "an object for campaign, collection, pool and recipe", part="campaign.json")
        if not isinstance(about["campaign"].get("settings"), dict):
            raise self.wrong("a campaign without settings", "settings", part="campaign.json")
        return about

    def guidelines(self) -> list[tuple[int, str]]:
        """(version, text) by version."""
        found = [(int(match[1]), name) for name in self.file.namelist() if (match := GUIDELINE.fullmatch(name))]
        return [(number, self.text(name)) for number, name in sorted(found)]

    def objects(self, part: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """(line, object) of a part of JSON lines."""
        with self.part(part) as file:
            for number, text in lines(file, name=f"{self.name}/{part}"):  # type: ignore[arg-type]
                if not text.strip():
                    continue
                try:
                    row = json.loads(text)
                except (json.JSONDecodeError, RecursionError, ValueError):
                    raise self.wrong("not JSON", "one JSON object a line", part=part, line=number) from None
                if not isinstance(row, dict) or "\\u0000" in text or "\0" in text:
                    raise self.wrong("not an object of text", "one JSON object a line", part=part, line=number)
                yield number, row

    def rows(
        self, part: str, columns: tuple[str, ...], mistakes: Mistakes, *, quoting: bool = False
    ) -> Iterator[tuple[Row, dict[str, str]]]:
        """Rows of a table with exactly these columns."""
        with self.part(part) as file:
            table = Table(file, name=f"{self.name}/{part}", delimiter="\t", quoting=quoting)  # type: ignore[arg-type]
            if tuple(table.first.cells) != columns:
                raise self.wrong("another header", " ".join(columns), part=part, line=1)
            for row in table:
                if len(row.cells) != len(columns):
                    mistakes.add(row.line, f"{len(row.cells)} columns", f"{len(columns)} columns")
                elif any("\0" in cell for cell in row.cells):
                    mistakes.add(row.line, "a NUL character", "text")
                else:
                    yield row, dict(zip(columns, row.cells, strict=True))

    def _checked(self, part: str, columns: tuple[str, ...], read: Any, *, quoting: bool = False) -> Iterator[Any]:
        """What `read(line, cells)` makes of each row; all problems of the part at its end."""
        mistakes = Mistakes(f"{self.name}/{part}")
        for row, cells in self.rows(part, columns, mistakes, quoting=quoting):
            try:
                found = read(row.line, cells)
            except Wrong as error:
                mistakes.add(row.line, error.problem, error.expected, "\t".join(row.cells))
                continue
            yield found
        mistakes.raise_any()

    def annotators(self) -> list[AnnotatorRow]:
        def read(line: int, c: dict[str, str]) -> AnnotatorRow:
            if not c["annotator"] or len(c["annotator"]) > 60:
                raise Wrong("no pseudonym, or one of more than 60 characters", "a pseudonym")
            return AnnotatorRow(
                c["annotator"], one_of(c["standing"], Membership.Standing.values, "standing"), c["reason"], flag(c["simulated"])
            )

        return list(self._checked("annotators.tsv", ANNOTATOR_COLUMNS, read))

    def pairs(self) -> list[PairRow]:
        """Of the campaign and of its qualification."""

        def read(line: int, c: dict[str, str]) -> PairRow:
            needed = number(c["needed"], "needed")
            if needed is None or needed > 32_000:
                raise Wrong(f"needed {c['needed'][:20]!r}", "a whole number up to 32,000")
            return PairRow(c["topic"], c["document"], one_of(c["kind"], Pair.Kind.values, "kind"), needed)

        return [row for part in ("pairs.tsv", "qualification.tsv") for row in self._checked(part, PAIR_COLUMNS, read)]

    def gold(self, scale: set[int]) -> list[Ruling]:
        def read(line: int, c: dict[str, str]) -> Ruling:
            return Ruling(c["topic"], c["document"], _grade(c["grade"], scale), None, c["explanation"])

        return list(self._checked("gold.tsv", GOLD_COLUMNS, read))

    def adjudications(self, scale: set[int]) -> list[Ruling]:
        def read(line: int, c: dict[str, str]) -> Ruling:
            return Ruling(c["topic"], c["document"], _grade(c["grade"], scale), moment(c["decided_at"]), c["reason"])

        return list(self._checked("adjudications.tsv", ADJUDICATION_COLUMNS, read))

    def judgements(self, scale: set[int]) -> Iterator[JudgementRow]:
        """One by one; FormatError with all problems at the end."""

        def read(line: int, c: dict[str, str]) -> JudgementRow:
            revision, version = number(c["revision"], "revision"), number(c["guideline_version"], "guideline_version")
            judged_at = moment(c["judged_at"])
            if not revision or revision > 32_000 or judged_at is None:
                raise Wrong("no revision or no time", "a revision from 1 and judged_at")
            standing = one_of(c["standing"], Judgement.Standing.values, "standing")
            grade = _grade(c["grade"], scale) if c["grade"] else None
            if grade is None and standing == Judgement.Standing.COUNTED:
                raise Wrong("a judgement that counts without a grade", "a grade")
            active, idle, hidden = (number(c[name], name) for name in ("active_ms", "idle_ms", "hidden_ms"))
            return JudgementRow(
                line, c["qid"], c["docid"], c["annotator"], revision, grade,
                short(c["cannot_judge_reason"], 20), c["note"], spans(c["spans"]),
                standing, flag(c["late"]), flag(c["after_deadline"]), active, idle, hidden,
                number(c["total_ms"], "total_ms"), number(c["server_ms"], "server_ms"), version or 0, short(c["device"], 20),
                moment(c["served_at"]),
                judged_at, lease(c["lease_id"]),
            )  # fmt: skip

        return self._checked("judgements.tsv", RAW_COLUMNS, read, quoting=True)


def number(cell: str, what: str) -> int | None:
    """A whole number from 0, None for an empty cell."""
    if not cell:
        return None
    if not (cell.isascii() and cell.isdigit() and len(cell) <= 10) or int(cell) > LARGEST_NUMBER:
        raise Wrong(f"{what} {cell[:20]!r}", f"a whole number from 0 to {LARGEST_NUMBER:,}, or nothing")
    return int(cell)


def _grade(cell: str, scale: set[int]) -> int:
    found = number(cell, "grade")
    if found is None or found not in scale:
        raise Wrong(f"grade {cell[:20]!r}", f"one of {', '.join(map(str, sorted(scale)))}")
    return found


def flag(cell: str) -> bool:
    if cell not in ("0", "1"):
        raise Wrong(f"{cell[:20]!r}", "0 or 1")
    return cell == "1"


def one_of(cell: str, known: list[str], what: str) -> str:
    if cell not in known:
        raise Wrong(f"{what} {cell[:30]!r}", f"one of {', '.join(known)}")
    return cell


def short(cell: str, most: int) -> str:
    if len(cell) > most:
        raise Wrong(f"{cell[:30]!r}… of {len(cell)} characters", f"at most {most} characters")
    return cell


def moment(cell: str) -> datetime | None:
    if not cell:
        return None
    try:
        found = datetime.fromisoformat(cell)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or not 1970 < found.year < 9000:
        raise Wrong(f"{cell[:40]!r} is no date and time", "ISO 8601 in UTC")
    return found


def spans(cell: str) -> list[list[int]]:
    found = []
    for part in filter(None, cell.split(";")):
        match = SPAN.fullmatch(part)
        if match is None or int(match[1]) >= int(match[2]):
            raise Wrong(f"span {part[:30]!r}", "begin-end, with begin before end")
        found.append([int(match[1]), int(match[2])])
    return found


def lease(cell: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(cell) if cell else None
    except ValueError:
        raise Wrong(f"lease {cell[:40]!r}", "a UUID or nothing") from None
