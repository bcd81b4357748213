"""Read topics, documents and grades from one file: a Quepid book (JSON) or umbrela's JSONL of
queries with candidate passages.

`read_bundle` returns a Bundle. Neither format needs topic IDs: `TopicNames` assigns them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import IO, Any, NamedTuple

from assay.column_types import QrelsColumns
from assay.formats.delimited import FileProblems
from assay.formats.documents import TEXT_NAMES
from assay.formats.documents import TITLE_NAMES as HEADLINES
from assay.formats.errors import FormatError
from assay.formats.markup import collapse_spaces
from assay.formats.pool import make_pool
from assay.formats.qrels import make_qrels
from assay.formats.streams import PeekableStream, Source, display_name, read_json
from assay.formats.topics import TopicRecord, iterate_json_lines, json_to_text
from assay.number_words import format_count, format_part
from assay.pools.depth import PooledPairs

HEAD_BYTES = 1 << 16
"""Number of bytes at the start of a file that distinguish umbrela's records from a book."""
BOOK, UMBRELA = "Quepid book", "umbrela file"
NON_TEXT_FIELDS = {*HEADLINES, "url", "link", "thumb", "thumb_options", "image", "image_options"}


class TopicNames:
    """Topic IDs for topics that come as text only.

    A text keeps its known ID. A new text gets the first free ID of q1, q2, ...

    known: text -> ID. taken: all IDs in use.
    """

    def __init__(self, known: Mapping[str, str], taken: set[str]) -> None:
        self.known = {
            collapse_spaces(text): topic
            for text, topic in reversed(list(known.items()))
            if text.strip()
        }
        self.taken, self.number = set(taken), 0

    def get_id(self, text: str, own: str = "") -> str:
        """Return the ID of a text.

        own: the ID in the file, which is used unchanged if given.
        """
        text = collapse_spaces(text)
        if not own and text not in self.known:
            while not own or own in self.taken:
                self.number += 1
                own = f"q{self.number}"
        topic = own or self.known[text]
        self.known.setdefault(text, topic)
        self.taken.add(topic)
        return topic


class Bundle(NamedTuple):
    """The content of a bundle file.

    documents: ID -> (title, text, other fields). grades: None if the file has no judgements.
    """

    form: str
    name: str
    topics: list[TopicRecord]
    documents: dict[str, tuple[str, str, dict[str, str]]]
    pairs: PooledPairs
    grades: QrelsColumns | None
    warnings: list[str]


def is_bundle(head: bytes) -> bool:
    """Return whether the start of a file looks like a book or an umbrela file."""
    return re.match(rb"\s*[\[{]", head) is not None


def read_bundle(
    path: Source, names: TopicNames, *, name: str | None = None, max_bytes: int | None = None
) -> Bundle:
    """Read a Quepid book (`query_doc_pairs`) or umbrela's JSONL.

    umbrela's lines are requests, whose query and candidates are objects with IDs or plain text, or
    results, with `query, passage, judgment`. The grade of a pair is the most frequent grade of its
    judges, and the lowest of them in a tie.

    Raises FormatError for JSON of another shape, a pair without query or document, a repeated pair,
    or a grade that is not a whole number from 0.
    """
    file_name = display_name(path, name)
    stream = PeekableStream(path, name=file_name, max_bytes=max_bytes)
    mistakes = FileProblems(file_name)
    builder = _BundleBuilder(file_name, names, mistakes)
    if re.match(rb"\s*\{", stream.head) and not re.search(
        rb'"(candidates|passage)"', stream.head[:HEAD_BYTES]
    ):
        book = read_json(stream, file_name)
        pairs = book.get("query_doc_pairs") if isinstance(book, dict) else None
        if not isinstance(pairs, list):
            raise FormatError.single(
                file_name,
                1,
                "JSON in an unknown format",
                'a Quepid book ("query_doc_pairs") or umbrela\'s JSONL ("candidates")',
            )
        _add_book(pairs, builder)
        return builder.build(BOOK, collapse_spaces(json_to_text(book.get("name"))))
    records: Iterator[tuple[int, Any]] = iterate_json_lines(stream, mistakes)  # type: ignore[arg-type]  # it reads as a file does
    if stream.head.lstrip()[:1] == b"[":
        listed = read_json(stream, file_name)
        records = (
            (number, record)
            for number, record in enumerate(listed if isinstance(listed, list) else [], 1)
        )
    for line, record in records:
        _add_umbrela(line, record, builder)
    return builder.build(UMBRELA, "")


class _BundleBuilder:
    """Builder that collects the topics, documents and grades of a file while it is read."""

    def __init__(self, file_name: str, names: TopicNames, mistakes: FileProblems) -> None:
        self.file_name, self.names, self.mistakes = file_name, names, mistakes
        self.topics: dict[str, TopicRecord] = {}
        self.documents: dict[str, tuple[str, str, dict[str, str]]] = {}
        self.pairs: dict[tuple[str, str], int] = {}
        self.judged: dict[tuple[str, str], list[int]] = {}
        self.n_documents: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()

    def add_pair(self, line: int | None, place: str, topic: str, document: str, rank: int) -> bool:
        if (topic, document) in self.pairs:
            text = self.topics[topic].text
            self.mistakes.add(
                line, f"{place}: duplicate document {document} for {text!r}", "each pair once"
            )
            return False
        self.pairs[topic, document] = rank
        self.n_documents[topic] += 1
        return True

    def add_document(self, document: str, title: str, text: str, fields: dict[str, str]) -> None:
        if not (title.strip() or text.strip()):
            return
        earlier = self.documents.setdefault(document, (title, text, fields))
        if earlier[:2] != (title, text):
            self.counted[
                "documents whose text differs from an earlier one: {n}; the first text is used"
            ] += 1

    def judge(self, line: int | None, place: str, pair: tuple[str, str], given: Any) -> None:
        text = str(given).strip().removesuffix(".0")
        if not re.fullmatch(r"[0-9]{1,4}", text):
            self.mistakes.add(
                line, f"{place}: {given!r} is not a grade", "a whole number of at least 0"
            )
        else:
            self.judged.setdefault(pair, []).append(int(text))

    def build(self, form: str, name: str) -> Bundle:
        if not self.pairs and not self.mistakes.count:
            self.mistakes.add(None, "no pairs", "at least one query with a document")
        self.mistakes.raise_if_any()
        if undescribed := len({document for _, document in self.pairs} - set(self.documents)):
            self.counted[f"{format_count(undescribed, 'document', 'has', 'have')} no text"] = 1
        split = sum(len(set(grades)) > 1 for grades in self.judged.values())
        if split:
            self.counted[
                (
                    f"{format_part(split, len(self.judged), 'pair', 'has', 'have')} several "
                    "grades; the most frequent is used (ties: lowest)"
                )
            ] = 1
        ranks = list(self.pairs.values())
        depth = max(ranks)
        priority = [depth - rank if rank else 0 for rank in ranks]
        pool = make_pool(list(self.pairs), ranks, priority, [False] * len(ranks))
        rows = (
            (topic, document, most_frequent_grade(grades))
            for (topic, document), grades in self.judged.items()
        )
        grades = make_qrels(name or "judgements", rows) if self.judged else None
        warnings = [text.format(n=n) for text, n in self.counted.items()]
        return Bundle(
            form, name, list(self.topics.values()), self.documents, pool, grades, warnings
        )


def most_frequent_grade(grades: list[int]) -> int:
    """Return the most frequent grade, or the lowest of them in a tie."""
    counts = Counter(grades)
    return min(grades, key=lambda grade: (-counts[grade], grade))


def _add_book(pairs: list[Any], builder: _BundleBuilder) -> None:
    for number, pair in enumerate(pairs):
        place = f"query_doc_pairs[{number}]"
        if not isinstance(pair, dict):
            builder.mistakes.add(
                None, f"{place} is not a pair", "an object with query_text, doc_id, judgements"
            )
            continue
        query, document = (
            collapse_spaces(json_to_text(pair.get("query_text"))),
            json_to_text(pair.get("doc_id")).strip(),
        )
        if not query or not document:
            builder.mistakes.add(
                None,
                f"{place} has no {'query_text' if not query else 'doc_id'}",
                "a query and a document",
            )
            continue
        topic = builder.names.get_id(query)
        notes = {key: json_to_text(pair[key]) for key in ("notes", "options") if pair.get(key)}
        builder.topics.setdefault(
            topic,
            TopicRecord(
                topic,
                query,
                collapse_spaces(json_to_text(pair.get("information_need"))),
                fields=notes,
            ),
        )
        position = pair.get("position")
        rank = (
            position
            if isinstance(position, int)
            and not isinstance(position, bool)
            and 0 < position < 1_000_000
            else 0
        )
        if not builder.add_pair(None, place, topic, document, min(rank, 32767)):
            continue
        fields = pair.get("document_fields") or {}
        if isinstance(fields, str):  # older books store the fields as JSON in a string
            try:
                fields = json.loads(fields)
            except ValueError:
                fields = {"text": fields}
        builder.add_document(document, *_split_fields(fields if isinstance(fields, dict) else {}))
        for judgement in pair.get("judgements") or []:
            if (
                not isinstance(judgement, dict)
                or judgement.get("unrateable")
                or judgement.get("judge_later")
                or judgement.get("rating") is None
            ):
                builder.counted[
                    "judgements left out because they are unrateable, postponed or empty: {n}"
                ] += 1
            else:
                builder.judge(None, place, (topic, document), judgement["rating"])


def _split_fields(given: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Split the fields of a document into (title, text, other fields).

    If no field has a known name for text, the text consists of all fields except titles and
    addresses, each with its name.
    """
    fields = {
        str(key): json_to_text(value)
        for key, value in given.items()
        if value not in (None, "", [], {})
    }
    lower = {key.lower(): key for key in reversed(fields)}
    title = next((fields.pop(lower[key]) for key in HEADLINES if key in lower), "")
    text = next(
        (fields.pop(lower[key]) for key in TEXT_NAMES if key in lower and lower[key] in fields),
        None,
    )
    if text is None:
        text = "\n\n".join(
            f"{key}: {value}" for key, value in fields.items() if key.lower() not in NON_TEXT_FIELDS
        )
    return collapse_spaces(title), text, fields


def _add_umbrela(line: int, record: Any, builder: _BundleBuilder) -> None:
    query = record.get("query") if isinstance(record, dict) else None
    candidates = record.get("candidates") if isinstance(record, dict) else None
    if isinstance(record, dict) and candidates is None and "passage" in record:
        # umbrela's output has one judged passage per line
        candidates = [
            {
                **{key: record[key] for key in ("docid", "judgment") if key in record},
                "doc": record["passage"],
            }
        ]
    if not isinstance(query, (str, dict)) or not isinstance(candidates, list):
        builder.mistakes.add(
            line, "a record without query or candidates", '{"query": ..., "candidates": [...]}'
        )
        return
    text = collapse_spaces(json_to_text(query.get("text") if isinstance(query, dict) else query))
    own = json_to_text(query.get("qid")).strip() if isinstance(query, dict) else ""
    if not text and not own:
        builder.mistakes.add(line, "a query without text", "the text of the query")
        return
    topic = builder.names.get_id(text, own)
    if builder.topics.setdefault(topic, TopicRecord(topic, text, line=line)).text != text:
        builder.mistakes.add(
            line,
            f"the text of topic {topic} differs from line {builder.topics[topic].line}",
            "the same text for every occurrence of a topic",
            text,
        )
    for rank, candidate in enumerate(candidates, 1 + builder.n_documents[topic]):
        place = f"candidate {rank}"
        whole = candidate if isinstance(candidate, dict) else {"doc": candidate}
        doc = whole.get("doc", {})
        title, passage, fields = (
            _split_fields(doc) if isinstance(doc, dict) else ("", json_to_text(doc), {})
        )
        document = json_to_text(whole.get("docid") or whole.get("doc_id")).strip()
        if not document and passage.strip():
            document = "p-" + sha256(passage.encode("utf-8")).hexdigest()[:16]
            builder.counted["passages without an ID, named by a digest of their text: {n}"] += 1
        if not document:
            builder.mistakes.add(
                line,
                f"{place} has neither an ID nor a text",
                "a docid or a passage",
            )
            continue
        if not builder.add_pair(line, place, topic, document, rank):
            continue
        builder.add_document(document, title, passage, fields)
        judged = whole.get("judgment", whole.get("judgement"))
        if judged is not None:
            builder.judge(line, place, (topic, document), judged)


def write_documents(bundle: Bundle, out: IO[str]) -> None:
    """Write the bundle's documents as JSONL."""
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
