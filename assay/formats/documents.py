"""Read documents one after the other in bounded memory. The format is detected by content.

Formats: JSONL (including BEIR's corpus.jsonl), tab-separated with or without header, FiRA's
documents, CSV with a header, TREC text (`<DOC>`), SMART, and tar or zip archives with one html or
txt file per document.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.formats.archives import ArchiveMember, is_tar, iterate_tar, iterate_zip
from assay.formats.delimited import DelimitedTable, FileProblems, find_column, normalise_names
from assay.formats.errors import MAX_SHOWN, FormatError
from assay.formats.markup import collapse_spaces, extract_html_text, parse_tagged_fields
from assay.formats.packaged import dataset_id, document_to_row, iterate_dataset
from assay.formats.streams import (
    MAX_DOCUMENT_BYTES,
    ZIP_ARCHIVE,
    PeekableStream,
    Source,
    detect_unreadable,
    display_name,
    iterate_lines,
)
from assay.formats.topics import iterate_json_lines, iterate_smart_records, json_to_text

ID_NAMES = (
    "_id",
    "id",
    "docno",
    "doc_id",
    "docid",
    "document_id",
    "document",
    "documentid",
    "number",
)
TITLE_NAMES = ("title", "headline", "head", "hl", "ti")
TEXT_NAMES = (
    "text",
    "contents",
    "content",
    "body",
    "doc_text",
    "abstract",
    "passage",
    "segment",
    "document_text",
)
BEGIN_PATTERN = re.compile(r"<doc(\s[^<>]*)?>", re.IGNORECASE)
END_PATTERN = re.compile(r"</doc\s*>", re.IGNORECASE)
HTML_PATTERN = re.compile(r"<(?:!doctype\s+html|html|head|body|title|pre|div|p)\b", re.IGNORECASE)
MAX_PAGE_CHARACTERS = 1 << 23
"""Maximum length in characters of an HTML page."""
HEADERLESS_COLUMNS = {2: ("text",), 3: ("title", "text"), 4: ("url", "title", "text")}


class DocumentRecord(NamedTuple):
    """A document as read from a file.

    fields: all other fields of the file, by name. line: the line where the document begins, or the
    entry number in an archive.
    """

    document: str
    title: str
    text: str
    fields: dict[str, str] = {}
    line: int = 0


def read_documents(
    path: Source, *, name: str | None = None, max_bytes: int | None = None
) -> Iterator[DocumentRecord]:
    """Yield the documents in file order. The text may be empty, which the caller counts and
    reports.

    HTML is converted to readable text. The text remains untrusted: every page that shows it must
    escape it.

    Problems are collected while reading. Valid documents are yielded, and FormatError with all
    problems is raised at the end, so a caller must not keep anything before the iterator has ended.
    Problems are a document without ID, a repeated ID, a row with a different number of columns, a
    line that is not a JSON object, `<DOC>` without an end, a file without documents, and whatever
    `streams` and `archives` refuse.
    """
    if identifier := dataset_id(path):
        yield from make_documents(iterate_dataset(identifier, "docs"))
        return
    file_name = display_name(path, name)
    mistakes = FileProblems(file_name)
    ids = _SeenIds()
    for document in _iterate_documents(path, file_name, max_bytes, mistakes):
        if not document.document:
            mistakes.add(
                document.line,
                "a document without ID",
                f"an ID under one of the names {', '.join(ID_NAMES)}",
                document.text[:200],
            )
            continue
        if len(document.document.encode("utf-8")) > 1024:
            mistakes.add(
                document.line,
                "the document ID is too long",
                "at most 1024 bytes",
                document.document,
            )
            continue
        ids.add(document)
        yield document
    ids.report(mistakes)
    if not ids.lines and not mistakes.count:
        mistakes.add(None, "no documents", "at least one document")
    mistakes.raise_if_any()


def make_documents(entries: Iterable[Any]) -> Iterator[DocumentRecord]:
    """Yield the documents of an ir_datasets dataset."""
    for line, entry in enumerate(entries, 1):
        row = document_to_row(entry)
        title = collapse_spaces(row.pop("title", ""))
        yield DocumentRecord(row.pop("id"), title, row.pop("text"), row, line)


class _SeenIds:
    """The IDs seen so far, stored as 64-bit hashes so that millions fit into memory."""

    def __init__(self) -> None:
        self.hashes = array("Q")
        self.lines = array("Q")

    def add(self, document: DocumentRecord) -> None:
        self.hashes.append(
            int.from_bytes(
                blake2b(document.document.encode("utf-8"), digest_size=8).digest(), "little"
            )
        )
        self.lines.append(document.line)

    def report(self, mistakes: FileProblems) -> None:
        hashes = np.frombuffer(self.hashes, np.uint64) if self.hashes else np.empty(0, np.uint64)
        ordered = np.sort(hashes)
        if not (ordered[1:] == ordered[:-1]).any():
            return
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        first = order[np.searchsorted(hashes[order], hashes[order[same + 1]])]
        pairs = sorted(zip(order[same + 1].tolist(), first.tolist(), strict=True))
        for row, before in pairs[: max(MAX_SHOWN - len(mistakes.first), 0)]:
            mistakes.add(
                self.lines[row],
                f"duplicate document ID (first in line {self.lines[before]})",
                "each ID once",
            )
        mistakes.count += max(len(pairs) - MAX_SHOWN, 0)


def _iterate_documents(
    path: Source, file_name: str, max_bytes: int | None, mistakes: FileProblems
) -> Iterator[DocumentRecord]:
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-" and _is_zip(path):
        with open(path, "rb") as file:
            what = detect_unreadable(file.read(4096))
        if what is not None and what != ZIP_ARCHIVE:
            raise FormatError.single(file_name, None, what.problem, what.expected)
        for member in iterate_zip(Path(path), file_name, max_bytes=max_bytes):
            yield from _read_member(member, mistakes)
        return
    stream = PeekableStream(path, name=file_name, max_bytes=max_bytes)
    head = stream.head.lstrip()
    if is_tar(stream.head):
        for member in iterate_tar(stream):
            yield from _read_member(member, mistakes)
    elif head[:1] == b"{":
        yield from _read_json_lines(stream, mistakes)
    elif head[:1] == b"<":
        text = head.decode("utf-8", "replace")
        if not BEGIN_PATTERN.search(text) and HTML_PATTERN.search(text[:2000]):
            content = stream.read_exactly(MAX_DOCUMENT_BYTES)
            yield from _read_member(ArchiveMember(Path(file_name).name, content, 1), mistakes)
        else:
            yield from _read_trec(stream, mistakes)
    elif re.match(rb"\.I\s+\S+\s", head):
        for line, identifier, fields in iterate_smart_records(stream, file_name):
            yield DocumentRecord(
                identifier, collapse_spaces(fields.pop("t", "")), fields.pop("w", ""), fields, line
            )
    else:
        yield from _read_delimited(stream, head, mistakes)


def _is_zip(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _read_member(member: ArchiveMember, mistakes: FileProblems) -> Iterator[DocumentRecord]:
    """Convert a file of an archive to a document. Its ID is the file name without suffix."""
    if not member.name or member.name.startswith("."):
        return
    if what := detect_unreadable(member.content):
        mistakes.add(member.number, f"{member.name} is {what.problem}", what.expected)
        return
    try:
        text = member.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mistakes.add(
            member.number,
            f"{member.name} has a byte that is not UTF-8 (0x{member.content[error.start]:02x})",
            "UTF-8",
        )
        return
    if "\0" in text:
        mistakes.add(member.number, f"{member.name} has a NUL byte", "text")
        return
    stem, _, suffix = member.name.rpartition(".")
    if not stem:
        stem, suffix = member.name, ""
    if suffix.lower() in ("html", "htm", "xhtml") or (
        suffix.lower() not in ("txt", "text", "md") and HTML_PATTERN.search(text[:2000])
    ):
        if len(text) > MAX_PAGE_CHARACTERS:
            mistakes.add(
                member.number,
                f"{member.name} is a page of {len(text)} characters",
                f"at most {MAX_PAGE_CHARACTERS}",
            )
            return
        title, text = extract_html_text(text)
        yield DocumentRecord(stem, title, text, {}, member.number)
    else:
        yield DocumentRecord(stem, "", text.replace("\r\n", "\n").strip(), {}, member.number)


def _read_json_lines(stream: PeekableStream, mistakes: FileProblems) -> Iterator[DocumentRecord]:
    for line, value in iterate_json_lines(stream, mistakes):
        fields = {key: json_to_text(cell) for key, cell in value.items() if cell is not None}
        lower = {key.lower(): key for key in reversed(fields)}
        document = next((fields.pop(lower[key]) for key in ID_NAMES if key in lower), "")
        title = next(
            (
                fields.pop(lower[key])
                for key in TITLE_NAMES
                if key in lower and lower[key] in fields
            ),
            "",
        )
        text = next(
            (fields.pop(lower[key]) for key in TEXT_NAMES if key in lower and lower[key] in fields),
            "",
        )
        yield DocumentRecord(document.strip(), collapse_spaces(title), text, fields, line)


def _read_trec(stream: PeekableStream, mistakes: FileProblems) -> Iterator[DocumentRecord]:
    begin, size = 0, 0
    parts: list[str] = []
    for line, text in iterate_lines(stream, name=mistakes.file):
        at = 0
        while True:
            if not begin:
                begin_tag = BEGIN_PATTERN.search(text, at)
                if begin_tag is None:
                    break
                begin, at, parts, size = line, begin_tag.end(), [], 0
            end = END_PATTERN.search(text, at)
            part = text[at : end.start()] if end else text[at:]
            parts.append(part)
            size += len(part) + 1
            if size > MAX_DOCUMENT_BYTES:
                raise FormatError.single(
                    mistakes.file,
                    begin,
                    "a document is too long",
                    f"at most {MAX_DOCUMENT_BYTES} characters",
                )
            if end is None:
                break
            yield _read_tagged("\n".join(parts), begin)
            begin, at = 0, end.end()
    if begin:
        mistakes.add(begin, "<DOC> without </DOC>", "</DOC> at the end of each document")


def _read_tagged(record: str, line: int) -> DocumentRecord:
    named: dict[str, list[str]] = {}
    for key, value in parse_tagged_fields(record):
        named.setdefault(key, []).append(value)
    document = next((named.pop(key)[0] for key in ID_NAMES if key in named), "")
    title = next((" ".join(named.pop(key)) for key in TITLE_NAMES if key in named), "")
    loose = named.pop("", [])
    body = next((named.pop(key) for key in TEXT_NAMES if key in named), [])
    paragraphs = named.pop("p", [])
    text = "\n\n".join([*body, *paragraphs, *loose]) if body else "\n\n".join([*loose, *paragraphs])
    return DocumentRecord(
        collapse_spaces(document),
        collapse_spaces(title),
        text.strip(),
        {key: "\n".join(value) for key, value in named.items()},
        line,
    )


def _read_delimited(
    stream: PeekableStream, head: bytes, mistakes: FileProblems
) -> Iterator[DocumentRecord]:
    first = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    tabs = "\t" in first
    table = DelimitedTable(
        stream, name=mistakes.file, delimiter="\t" if tabs else ",", quoting=not tabs
    )
    names = normalise_names(table.first.cells)
    n_columns = len(names)
    document = find_column(names, ID_NAMES)
    if document is None and not tabs:
        raise FormatError.single(
            table.name,
            table.first.line,
            "documents in an unknown format",
            "JSONL, `id<TAB>text`, <DOC>, or an archive of files",
            first,
        )
    rows = table
    if document is None or n_columns < 2:
        labels = HEADERLESS_COLUMNS.get(n_columns)
        if labels is None:
            raise FormatError.single(
                table.name,
                table.first.line,
                f"{n_columns} columns without a header",
                "`id<TAB>text` or `id<TAB>title<TAB>text`",
                first,
            )
        names, document = ["", *labels], 0
        yield _read_row(table.first.line, table.first.cells, names, 0)
    for line, cells in rows:
        if len(cells) != n_columns:
            mistakes.add(
                line,
                f"{len(cells)} columns",
                f"{n_columns} columns as in the first line",
                table.delimiter.join(cells)[:400],
            )
            continue
        yield _read_row(line, cells, names, document)


def _read_row(line: int, cells: list[str], names: list[str], document: int) -> DocumentRecord:
    fields = {
        key or f"column_{k + 1}": cell
        for k, (key, cell) in enumerate(zip(names, cells, strict=True))
        if k != document
    }
    title = next((fields.pop(key) for key in TITLE_NAMES if key in fields), "")
    text = next((fields.pop(key) for key in TEXT_NAMES if key in fields), None)
    if text is None:
        kept = ("language", "url")
        text = "\n\n".join(cell for key, cell in fields.items() if key not in kept and cell)
        fields = {key: cell for key, cell in fields.items() if key in kept}
    return DocumentRecord(cells[document].strip(), collapse_spaces(title), text, fields, line)
