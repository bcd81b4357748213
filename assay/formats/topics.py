"""Read topics. The format is detected by content.

Formats: TREC's tagged text with unclosed tags, TREC's XML, tab-separated with or without header,
FiRA's queries, CSV with a header, JSONL (including BEIR's queries.jsonl), query sets of
OpenSearch's Search Relevance, SMART, and one topic per line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from assay.formats.delimited import DelimitedTable, FileProblems, find_column, normalise_names
from assay.formats.errors import FormatError
from assay.formats.markup import collapse_spaces, parse_tagged_fields
from assay.formats.packaged import dataset_id, iterate_dataset
from assay.formats.streams import (
    MAX_DOCUMENT_BYTES,
    PeekableStream,
    Source,
    display_name,
    iterate_lines,
    read_json,
)
from assay.formats.unsupported import refuse_unsupported

ID_NAMES = (
    "topic",
    "topic_id",
    "query_id",
    "qid",
    "queryid",
    "topicid",
    "_id",
    "id",
    "number",
    "num",
)
TEXT_NAMES = ("text", "title", "query_text", "query", "question", "topic_text")
DESCRIPTION_NAMES = ("description", "desc", "information_need", "question")
NARRATIVE_NAMES = ("narrative", "narr")
QUERY_SET = '"querySetQueries"'
LABEL_PATTERN = re.compile(
    r"^(?:Number|Topic|Title|Description|Narrative|Domain|Summary|Concept\(s\)|Factor\(s\)|Definition\(s\)|Nationality|Time)\s*:\s*"
)
RECORD_PATTERN = re.compile(r"<(top|topic|doc|query)\b([^<>]*)>", re.IGNORECASE)
HTML_PATTERN = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
ATTRIBUTE_PATTERN = re.compile(r"(\w+)\s*=\s*[\"']([^\"']*)[\"']")
MAX_BYTES = 1 << 28
"""Maximum size in bytes of a topics file, which is read whole."""


class TopicRecord(NamedTuple):
    """A topic as read from a file. text: the query. fields: all other fields of the file, by name.
    line: the line where the topic begins."""

    topic: str
    text: str
    description: str = ""
    narrative: str = ""
    fields: dict[str, str] = {}
    line: int = 0


def read_topics(
    path: Source, *, name: str | None = None, max_bytes: int | None = None
) -> list[TopicRecord]:
    """Read the topics in file order.

    Empty text is kept (`assay.pools.topic_checks` reports it). IDs are text: "051" differs from
    "51". Queries of OpenSearch (`queryText`) have no ID and get q1, q2, ...

    Raises FormatError with all problems: a topic without ID, a repeated ID, malformed markup other
    than TREC's, entities or document types in XML, a row with a different number of columns than
    the first, invalid JSON, or a file without topics.
    """
    if identifier := dataset_id(path):
        return make_topics(iterate_dataset(identifier, "queries"), name or str(path))
    file_name = display_name(path, name)
    stream = PeekableStream(path, name=file_name, max_bytes=min(max_bytes or MAX_BYTES, MAX_BYTES))
    refuse_unsupported(stream.head, file_name, "topics")
    head = stream.head.lstrip()
    mistakes = FileProblems(file_name)
    topics_read: Iterable[TopicRecord]
    if head[:1] == b"<":
        topics_read = _read_marked(stream, file_name)
    elif head[:1] in (b"{", b"[") and QUERY_SET.encode() in head:
        topics_read = _read_query_sets(stream)
    elif head[:1] == b"{":
        topics_read = _read_json_lines(stream, mistakes)
    elif re.match(rb"\.I\s+\S+\s", head):
        topics_read = _read_smart_topics(stream)
    else:
        topics_read = _read_delimited(stream, head, mistakes)
    topics = []
    first: dict[str, int] = {}
    for topic in topics_read:
        if not topic.topic:
            mistakes.add(
                topic.line,
                "a topic without ID",
                f"an ID under one of the names {', '.join(ID_NAMES)}",
                topic.text,
            )
        elif topic.topic in first:
            mistakes.add(
                topic.line,
                f"duplicate topic {topic.topic} (first in line {first[topic.topic]})",
                "each ID once",
                topic.text,
            )
        else:
            first[topic.topic] = topic.line
            topics.append(topic)
    if not topics and not mistakes.count:
        mistakes.add(None, "no topics", "at least one topic")
    mistakes.raise_if_any()
    return topics


def make_topics(entries: Iterable[Any], name: str) -> list[TopicRecord]:
    """Return the topics of named tuples whose field names are those of topic files."""
    lines = (
        json.dumps(
            {
                key: value
                for key, value in zip(normalise_names(list(entry._fields)), entry, strict=True)
                if value not in (None, "")
            },
            ensure_ascii=False,
            default=str,
        )
        for entry in entries
    )
    return read_topics(io.BytesIO("\n".join(lines).encode("utf-8")), name=name)


def _make_topic(fields: Iterable[tuple[str, str]], line: int, *, rest: str = "") -> TopicRecord:
    """Make a topic from (name, value) pairs, using the names of all formats. rest: the text if no
    field has one."""
    named: dict[str, str] = {}
    for key, value in fields:
        if value and key:
            named[key] = f"{named[key]} {value}" if key in named else value
    topic = next(
        (named.pop(key) for key in ("num", "number", "docno", *ID_NAMES) if key in named), ""
    )
    text = next(
        (
            named.pop(key)
            for key in ("title", "query", "query_text", "text", "question")
            if key in named
        ),
        rest,
    )
    description = next((named.pop(key) for key in DESCRIPTION_NAMES if key in named), "")
    narrative = next((named.pop(key) for key in NARRATIVE_NAMES if key in named), "")
    return TopicRecord(
        collapse_spaces(topic),
        collapse_spaces(text or description),
        collapse_spaces(description),
        narrative,
        named,
        line,
    )


def _strip_label(value: str) -> str:
    return LABEL_PATTERN.sub("", value, count=1)


def _read_marked(stream: PeekableStream, file_name: str) -> Iterator[TopicRecord]:
    from defusedxml.common import (
        DefusedXmlException,
    )  # imported here because only files with markup need it

    text = "\n".join(
        text for _, text in iterate_lines(stream, name=file_name, max_line=MAX_DOCUMENT_BYTES)
    )
    try:
        root, numbers = _parse_xml(text)
    except DefusedXmlException as error:
        raise FormatError.single(
            file_name,
            1,
            f"XML with {type(error).__name__.removesuffix('Forbidden')}",
            "plain XML without entities",
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        _require_record(
            text,
            file_name,
            getattr(error, "position", (1, 0))[0],
            f"markup that cannot be read ({error})",
        )
        return _read_tagged(text)
    records = [
        e
        for e in root.iter()
        if isinstance(e.tag, str) and e.tag.lower() in ("top", "topic", "doc") and e is not root
    ]
    if not records:
        records = [e for e in root.iter() if isinstance(e.tag, str) and e.tag.lower() == "query"]
    if not records:
        _require_record(text, file_name, 1, "markup without a topic")
        return _read_tagged(text)
    return (_read_element(record, numbers[id(record)]) for record in records)


def _require_record(text: str, file_name: str, line: int, problem: str) -> None:
    if RECORD_PATTERN.search(text):
        return
    if HTML_PATTERN.search(text[:4000]):
        problem = "an HTML page"
    raise FormatError.single(
        file_name,
        line,
        problem,
        "<top> or <topic> records, XML, or one `id<TAB>text` per line",
        text[:200].split("\n")[0],
    )


def _parse_xml(text: str) -> tuple[Element, dict[int, int]]:
    """Return the root element, and the line where each element (by identity) begins."""
    from defusedxml.ElementTree import DefusedXMLParser

    numbers: dict[int, int] = {}

    class LineNumberBuilder(TreeBuilder):
        def start(self, tag: Any, attrs: Any) -> Element:
            element = super().start(tag, attrs)
            numbers[id(element)] = parser.parser.CurrentLineNumber
            return element

    parser = DefusedXMLParser(target=LineNumberBuilder(), forbid_dtd=True)
    parser.feed(text.encode("utf-8") if not text.startswith("<?xml") else text)
    return parser.close(), numbers


def _read_element(record: Element, line: int) -> TopicRecord:
    fields = [(key.lower(), value.strip()) for key, value in record.attrib.items()]
    for child in record:
        if isinstance(child.tag, str):
            fields.append((child.tag.lower(), _strip_label("".join(child.itertext()).strip())))
    return _make_topic(fields, line, rest=(record.text or "").strip())


def _read_tagged(text: str) -> Iterator[TopicRecord]:
    begins = list(RECORD_PATTERN.finditer(text))
    kind = next((begin[1].lower() for begin in begins if begin[1].lower() != "query"), "query")
    begins = [begin for begin in begins if begin[1].lower() == kind]
    line, at = 1, 0
    for begin, after in zip(begins, [*begins[1:], None], strict=True):
        line += text.count("\n", at, begin.start())
        at = begin.start()
        record = text[begin.end() : after.start() if after else len(text)]
        record = re.split(rf"</{kind}\s*>", record, maxsplit=1, flags=re.IGNORECASE)[0]
        fields = [(key, _strip_label(value)) for key, value in parse_tagged_fields(record)]
        attributes = [(key.lower(), value) for key, value in ATTRIBUTE_PATTERN.findall(begin[2])]
        rest = " ".join(value for key, value in fields if not key)
        yield _make_topic([*attributes, *fields], line, rest=rest)


def iterate_json_lines(
    stream: Source, mistakes: FileProblems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of each line with a JSON object. Other lines are recorded as problems,
    blank lines are skipped."""
    for line, text in iterate_lines(stream, name=mistakes.file):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            mistakes.add(line, "invalid JSON", "one JSON object per line", text)
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            mistakes.add(line, "JSON, but not an object", "one JSON object per line", text)


def json_to_text(value: Any) -> str:
    """Convert a JSON value to text: strings unchanged, null as an empty string, other values as
    JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(value, ensure_ascii=False)


def _read_query_sets(stream: PeekableStream) -> Iterator[TopicRecord]:
    """Yield the topics of every `querySetQueries`, at any depth."""
    waiting = [read_json(stream, stream.name)]
    queries: list[Any] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and isinstance(value.get("querySetQueries"), list):
            queries += value["querySetQueries"]
        elif isinstance(value, (dict, list)):
            waiting += reversed(list(value.values()) if isinstance(value, dict) else value)
    for number, query in enumerate(queries, 1):
        if not isinstance(query, dict) or "queryText" not in query:
            problem = f"query {number} of the query set has no queryText"
            raise FormatError.single(stream.name, 1, problem, '{"queryText": "red shoes"}')
        yield _make_json_topic(query, number, 1)


def _read_json_lines(stream: PeekableStream, mistakes: FileProblems) -> Iterator[TopicRecord]:
    for number, (line, value) in enumerate(iterate_json_lines(stream, mistakes), 1):
        yield _make_json_topic(value, number, line)


def _make_json_topic(value: dict[str, Any], number: int, line: int) -> TopicRecord:
    """Make a topic from a JSON object. number: number of the object in its file, from 1, which is
    the ID of a query of OpenSearch."""
    fields = {key.lower(): json_to_text(cell).strip() for key, cell in value.items()}
    default = ""
    if "querytext" in fields:
        default, fields = f"q{number}", {"query": fields.pop("querytext")} | fields
    topic = next(
        (
            fields.pop(key)
            for key in ("_id", "qid", "query_id", "topic_id", "topic", "id", "number", "num")
            if key in fields
        ),
        default,
    )
    return _make_topic(fields.items(), line)._replace(topic=topic)


def _read_smart_topics(stream: PeekableStream) -> Iterator[TopicRecord]:
    for line, identifier, fields in iterate_smart_records(stream, stream.name):
        yield TopicRecord(
            identifier,
            collapse_spaces(fields.pop("w", "") or fields.pop("t", "")),
            fields=fields,
            line=line,
        )


def iterate_smart_records(
    stream: Source, file_name: str
) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield (line, ID, text by letter) of each SMART record (`.I 1`, `.T`, `.W`, ...)."""
    begin, identifier, letter = 0, "", ""
    fields: dict[str, list[str]] = {}
    for line, text in iterate_lines(stream, name=file_name):
        if text.startswith(".I ") or text.startswith(".I\t"):
            if begin:
                yield (
                    begin,
                    identifier,
                    {key: "\n".join(value).strip() for key, value in fields.items()},
                )
            begin, identifier, letter, fields = line, text[2:].strip(), "", {}
        elif re.fullmatch(r"\.[A-Z]\s*", text):
            letter = text[1].lower()
        elif letter:
            fields.setdefault(letter, []).append(text)
    if begin:
        yield begin, identifier, {key: "\n".join(value).strip() for key, value in fields.items()}


def _read_delimited(
    stream: PeekableStream, head: bytes, mistakes: FileProblems
) -> Iterator[TopicRecord]:
    first = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    names = normalise_names(first.replace('"', "").split(","))
    if (
        "\t" not in first
        and find_column(names, TEXT_NAMES) is not None
        and (find_column(names, ID_NAMES) is not None or len(names) == 2)
    ):
        table = DelimitedTable(stream, name=stream.name, delimiter=",")
    elif "\t" in first:
        table = DelimitedTable(stream, name=stream.name, delimiter="\t", quoting=False)
        names = normalise_names(table.first.cells)
    else:
        yield from _read_single_lines(stream, mistakes)
        return
    topic, text = find_column(names, ID_NAMES), find_column(names, TEXT_NAMES)
    if topic is not None and text is not None and topic != text:
        for line, cells in table:
            if len(cells) != len(names):
                mistakes.add(
                    line,
                    f"{len(cells)} columns",
                    f"{len(names)} columns as in the header",
                    table.delimiter.join(cells),
                )
                continue
            fields = {key: cell.strip() for key, cell in zip(names, cells, strict=True) if key}
            fields.pop(names[topic])
            yield _make_topic(fields.items(), line)._replace(
                topic=cells[topic].strip(), text=collapse_spaces(cells[text])
            )
        return
    if names == ["query", "information_need"]:
        for line, cells in table:
            if len(cells) == 2:
                yield TopicRecord(
                    collapse_spaces(cells[0]),
                    collapse_spaces(cells[0]),
                    collapse_spaces(cells[1]),
                    line=line,
                )
            else:
                mistakes.add(
                    line,
                    f"{len(cells)} columns",
                    "2 columns as in the header",
                    table.delimiter.join(cells),
                )
        return
    for line, cells in (table.first, *table):
        if len(cells) < 2:
            mistakes.add(line, "the tab is missing", "`id<TAB>text`", table.delimiter.join(cells))
            continue
        description, narrative, *_ = [*(cell.strip() for cell in cells[2:]), "", ""]
        yield TopicRecord(
            cells[0].strip(), collapse_spaces(cells[1]), description, narrative, line=line
        )


def _read_single_lines(stream: PeekableStream, mistakes: FileProblems) -> Iterator[TopicRecord]:
    for line, text in iterate_lines(stream, name=mistakes.file):
        if text.strip():
            topic, _, rest = text.strip().partition(" ")
            yield TopicRecord(topic, collapse_spaces(rest), line=line)
