"""Sets in one file: a Quepid book as JSON, and umbrela's JSONL of queries with their candidate
passages.

read_bundle(path, names) -> Bundle: topics, documents, pairs and grades. Neither form needs ids of
topics: `TopicNames` gives them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import IO, Any, NamedTuple

from assay.column_types import QrelsColumns
from assay.counts import counted, part_of
from assay.formats.delimited import FileMistakes
from assay.formats.documents import TEXT_NAMES
from assay.formats.documents import TITLE_NAMES as HEADLINES
from assay.formats.errors import FormatError
from assay.formats.markup import one_line
from assay.formats.opening import Peeked, Source, read_json, source_name
from assay.formats.pool import pool_of_pairs
from assay.formats.qrels import qrels_of_rows
from assay.formats.topics import TopicRecord, json_lines, plain
from assay.pools.depth import PooledPairs

LOOKED_AT = 1 << 16
"""Bytes of a file's head that tell umbrela's records from a book."""
BOOK, UMBRELA = "Quepid book", "umbrela file"
WITHOUT_TEXT = {*HEADLINES, "url", "link", "thumb", "thumb_options", "image", "image_options"}


class TopicNames:
    """Ids of topics that come as texts only: the id that a text has already, else q1, q2, ... of
    those that are free.

    known: text -> id. taken: every id in use.
    """

    def __init__(self, known: Mapping[str, str], taken: set[str]) -> None:
        self.known = {
            one_line(text): topic for text, topic in reversed(list(known.items())) if text.strip()
        }
        self.taken, self.number = set(taken), 0

    def of(self, text: str, own: str = "") -> str:
        """The id of a text. own: the id that the file gives it, which is then used as it is."""
        text = one_line(text)
        if not own and text not in self.known:
            while not own or own in self.taken:
                self.number += 1
                own = f"q{self.number}"
        topic = own or self.known[text]
        self.known.setdefault(text, topic)
        self.taken.add(topic)
        return topic


class Bundle(NamedTuple):
    """documents: id -> (title, text, further fields). grades: None where nobody graded."""

    form: str
    name: str
    topics: list[TopicRecord]
    documents: dict[str, tuple[str, str, dict[str, str]]]
    pairs: PooledPairs
    grades: QrelsColumns | None
    warnings: list[str]


def is_bundle(head: bytes) -> bool:
    """Whether the begin of a file looks like a book or an umbrela file."""
    return re.match(rb"\s*[\[{]", head) is not None


def read_bundle(
    path: Source, names: TopicNames, *, name: str | None = None, max_bytes: int | None = None
) -> Bundle:
    """A Quepid book (`query_doc_pairs`) or umbrela's JSONL, whose query and candidates are objects
    with ids or plain text, or its results, one `query, passage, judgment` a line.

    A pair's grade is the most frequent one of its judges, the lowest of several most frequent ones.
    Refused: JSON of another shape, pairs without query or document, a pair twice, grades that are
    no whole number from 0."""
    called = source_name(path, name)
    stream = Peeked(path, name=called, max_bytes=max_bytes)
    mistakes = FileMistakes(called)
    building = _Building(called, names, mistakes)
    if re.match(rb"\s*\{", stream.head) and not re.search(
        rb'"(candidates|passage)"', stream.head[:LOOKED_AT]
    ):
        book = read_json(stream, called)
        pairs = book.get("query_doc_pairs") if isinstance(book, dict) else None
        if not isinstance(pairs, list):
            raise FormatError.single(
                called,
                1,
                "JSON of no set that is known",
                'a Quepid book ("query_doc_pairs") or umbrela\'s JSONL ("candidates")',
            )
        _book(pairs, building)
        return building.done(BOOK, one_line(plain(book.get("name"))))
    records: Iterator[tuple[int, Any]] = json_lines(stream, mistakes)  # type: ignore[arg-type]  # it reads as a file does
    if stream.head.lstrip()[:1] == b"[":
        listed = read_json(stream, called)
        records = (
            (number, record)
            for number, record in enumerate(listed if isinstance(listed, list) else [], 1)
        )
    for line, record in records:
        _umbrela(line, record, building)
    return building.done(UMBRELA, "")


class _Building:
    """What a file has given so far."""

    def __init__(self, called: str, names: TopicNames, mistakes: FileMistakes) -> None:
        self.called, self.names, self.mistakes = called, names, mistakes
        self.topics: dict[str, TopicRecord] = {}
        self.documents: dict[str, tuple[str, str, dict[str, str]]] = {}
        self.pairs: dict[tuple[str, str], int] = {}
        self.judged: dict[tuple[str, str], list[int]] = {}
        self.n_documents: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()

    def pair(self, line: int | None, place: str, topic: str, document: str, rank: int) -> bool:
        if (topic, document) in self.pairs:
            text = self.topics[topic].text
            self.mistakes.add(
                line, f"{place}: document {document} is there twice for {text!r}", "each pair once"
            )
            return False
        self.pairs[topic, document] = rank
        self.n_documents[topic] += 1
        return True

    def document(self, document: str, title: str, text: str, fields: dict[str, str]) -> None:
        if not (title.strip() or text.strip()):
            return
        earlier = self.documents.setdefault(document, (title, text, fields))
        if earlier[:2] != (title, text):
            self.counted[
                "documents that have another text than before: {n}; the first one is used"
            ] += 1

    def judge(self, line: int | None, place: str, pair: tuple[str, str], given: Any) -> None:
        text = str(given).strip().removesuffix(".0")
        if not re.fullmatch(r"[0-9]{1,4}", text):
            self.mistakes.add(line, f"{place}: grade {given!r}", "a whole number from 0")
        else:
            self.judged.setdefault(pair, []).append(int(text))

    def done(self, form: str, name: str) -> Bundle:
        if not self.pairs and not self.mistakes.count:
            self.mistakes.add(None, "no pair", "at least one query with a document")
        self.mistakes.raise_any()
        if undescribed := len({document for _, document in self.pairs} - set(self.documents)):
            self.counted[
                f"{counted(undescribed, 'document', 'comes', 'come')} without any text"
            ] = 1
        split = sum(len(set(grades)) > 1 for grades in self.judged.values())
        if split:
            self.counted[
                (
                    f"{part_of(split, len(self.judged), 'pair', 'has', 'have')} several grades; the "
                    f"most frequent is taken, of equals the lowest"
                )
            ] = 1
        ranks = list(self.pairs.values())
        depth = max(ranks)
        priority = [depth - rank if rank else 0 for rank in ranks]
        pool = pool_of_pairs(list(self.pairs), ranks, priority, [False] * len(ranks))
        rows = (
            (topic, document, label(grades)) for (topic, document), grades in self.judged.items()
        )
        grades = qrels_of_rows(name or "judgements", rows) if self.judged else None
        warnings = [text.format(n=n) for text, n in self.counted.items()]
        return Bundle(
            form, name, list(self.topics.values()), self.documents, pool, grades, warnings
        )


def label(grades: list[int]) -> int:
    """The most frequent grade, of several the lowest (METHODS 4)."""
    counts = Counter(grades)
    return min(grades, key=lambda grade: (-counts[grade], grade))


def _book(pairs: list[Any], building: _Building) -> None:
    for number, pair in enumerate(pairs):
        place = f"query_doc_pairs[{number}]"
        if not isinstance(pair, dict):
            building.mistakes.add(
                None, f"{place} is not a pair", "an object with query_text, doc_id, judgements"
            )
            continue
        query, document = one_line(plain(pair.get("query_text"))), plain(pair.get("doc_id")).strip()
        if not query or not document:
            building.mistakes.add(
                None,
                f"{place} has no {'query_text' if not query else 'doc_id'}",
                "a query and a document",
            )
            continue
        topic = building.names.of(query)
        notes = {key: plain(pair[key]) for key in ("notes", "options") if pair.get(key)}
        building.topics.setdefault(
            topic,
            TopicRecord(topic, query, one_line(plain(pair.get("information_need"))), fields=notes),
        )
        position = pair.get("position")
        rank = (
            position
            if isinstance(position, int)
            and not isinstance(position, bool)
            and 0 < position < 1_000_000
            else 0
        )
        if not building.pair(None, place, topic, document, min(rank, 32767)):
            continue
        fields = pair.get("document_fields") or {}
        if isinstance(fields, str):  # older books have the fields as JSON in a string
            try:
                fields = json.loads(fields)
            except ValueError:
                fields = {"text": fields}
        building.document(document, *_fields(fields if isinstance(fields, dict) else {}))
        for judgement in pair.get("judgements") or []:
            if (
                not isinstance(judgement, dict)
                or judgement.get("unrateable")
                or judgement.get("judge_later")
                or judgement.get("rating") is None
            ):
                building.counted["judgements unrateable, put off or empty, and left out: {n}"] += 1
            else:
                building.judge(None, place, (topic, document), judgement["rating"])


def _fields(given: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """(title, text, further fields). Without a field that is known as text, all of them but title
    and addresses are the text, by name."""
    fields = {
        str(key): plain(value) for key, value in given.items() if value not in (None, "", [], {})
    }
    lower = {key.lower(): key for key in reversed(fields)}
    title = next((fields.pop(lower[key]) for key in HEADLINES if key in lower), "")
    text = next(
        (fields.pop(lower[key]) for key in TEXT_NAMES if key in lower and lower[key] in fields),
        None,
    )
    if text is None:
        text = "\n\n".join(
            f"{key}: {value}" for key, value in fields.items() if key.lower() not in WITHOUT_TEXT
        )
    return one_line(title), text, fields


def _umbrela(line: int, record: Any, building: _Building) -> None:
    query = record.get("query") if isinstance(record, dict) else None
    candidates = record.get("candidates") if isinstance(record, dict) else None
    if (
        isinstance(record, dict) and candidates is None and "passage" in record
    ):  # what umbrela writes: one judged passage a line
        candidates = [
            {
                **{key: record[key] for key in ("docid", "judgment") if key in record},
                "doc": record["passage"],
            }
        ]
    if not isinstance(query, (str, dict)) or not isinstance(candidates, list):
        building.mistakes.add(
            line, "a record without query or candidates", '{"query": ..., "candidates": [...]}'
        )
        return
    text = one_line(plain(query.get("text") if isinstance(query, dict) else query))
    own = plain(query.get("qid")).strip() if isinstance(query, dict) else ""
    if not text and not own:
        building.mistakes.add(line, "a query without text", "a text")
        return
    topic = building.names.of(text, own)
    if building.topics.setdefault(topic, TopicRecord(topic, text, line=line)).text != text:
        building.mistakes.add(
            line,
            f"topic {topic} has another text than in line {building.topics[topic].line}",
            "one text for a topic",
            text,
        )
    for rank, candidate in enumerate(candidates, 1 + building.n_documents[topic]):
        place = f"candidate {rank}"
        whole = candidate if isinstance(candidate, dict) else {"doc": candidate}
        doc = whole.get("doc", {})
        title, passage, fields = _fields(doc) if isinstance(doc, dict) else ("", plain(doc), {})
        document = plain(whole.get("docid") or whole.get("doc_id")).strip()
        if not document and passage.strip():
            document = "p-" + sha256(passage.encode("utf-8")).hexdigest()[:16]
            building.counted["passages without an id, named by a digest of their text: {n}"] += 1
        if not document:
            building.mistakes.add(
                line, f"{place} has neither an id nor a text", "a docid or a passage"
            )
            continue
        if not building.pair(line, place, topic, document, rank):
            continue
        building.document(document, title, passage, fields)
        judged = whole.get("judgment", whole.get("judgement"))
        if judged is not None:
            building.judge(line, place, (topic, document), judged)


def write_documents(bundle: Bundle, out: IO[str]) -> None:
    """The bundle's documents as JSONL."""
    for document, (title, text, fields) in bundle.documents.items():
        rest = {
            key: value
            for key, value in fields.items()
            if key.lower() not in ("_id", "title", "text")
        }
        out.write(
            json.dumps({"_id": document, "title": title, "text": text, **rest}, ensure_ascii=False)
            + "\n"
        )
