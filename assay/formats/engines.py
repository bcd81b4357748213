"""Write labels for search engines and learning to rank, which identify topics by query text.

    write_import_judgment    OpenSearch's Search Relevance, a judgement list to import
    write_rank_eval          the ranking evaluation API of Elasticsearch and OpenSearch
    write_ltr                learning to rank: `grade qid:N # document`
    write_label_csv          a table of topic, query, document and grade

All take LabelledQuery rows, and raise ValueError for labels that the format cannot hold.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any, NamedTuple

from assay.column_types import QrelsColumns
from assay.formats.markup import collapse_spaces

PLACEHOLDER = "{{query}}"
"""Text in a request template that stands for the query."""
DEFAULT_TEMPLATE = {"query": {"multi_match": {"query": PLACEHOLDER}}}
DEFAULT_CUTOFF = 10


class LabelledQuery(NamedTuple):
    """A topic with its labels. text: the query. grades: (document, grade), grades from 0."""

    topic: str
    text: str
    grades: list[tuple[str, int]]


def list_labelled_queries(qrels: QrelsColumns, texts: Mapping[str, str]) -> list[LabelledQuery]:
    """Return the topics of the qrels with their query texts, without negative grades (unjudged).

    texts: topic -> query. Raises ValueError for topics without a text, or with the same text.
    """
    queries: list[LabelledQuery] = []
    topic_of: dict[str, str] = {}
    for index, topic in enumerate(qrels.topics):
        text = collapse_spaces(texts.get(topic, ""))
        if not text:
            raise ValueError(f"topic {topic} has no query text")
        if (other := topic_of.setdefault(text, topic)) != topic:
            raise ValueError(f"topics {other} and {topic} have the same query {text!r}")
        rows = qrels.rows(index)
        pairs = zip(qrels.documents[rows].tolist(), qrels.grades[rows].tolist(), strict=True)
        grades = [(document.decode("utf-8"), grade) for document, grade in pairs if grade >= 0]
        if grades:
            queries.append(LabelledQuery(topic, text, grades))
    return queries


def write_import_judgment(
    queries: Iterable[LabelledQuery], out: IO[str], *, name: str, description: str = ""
) -> None:
    """Write a judgement list for `PUT _plugins/_search_relevance/judgments`. Ratings are strings,
    as its importer expects."""
    ratings = [
        {
            "query": query.text,
            "ratings": [
                {"docId": document, "rating": str(grade)} for document, grade in query.grades
            ],
        }
        for query in queries
    ]
    _write_json(
        {
            "name": name,
            "description": description,
            "type": "IMPORT_JUDGMENT",
            "judgmentRatings": ratings,
        },
        out,
    )


def parse_template(text: str) -> Any:
    """Parse a request template. Raises ValueError if it is not a JSON object with PLACEHOLDER."""
    try:
        template = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the request template is invalid JSON: {error}") from None
    if not isinstance(template, dict) or PLACEHOLDER not in json.dumps(
        template, ensure_ascii=False
    ):
        raise ValueError(
            f"the request template has no {PLACEHOLDER}, expected a request such as "
            f"{json.dumps(DEFAULT_TEMPLATE)}"
        )
    return template


def write_rank_eval(
    queries: Iterable[LabelledQuery],
    out: IO[str],
    *,
    index: str,
    template: Any = DEFAULT_TEMPLATE,
    cutoff: int = DEFAULT_CUTOFF,
) -> None:
    """Write the body of `POST INDEX/_rank_eval`, which computes nDCG@cutoff of every query.

    index: the index of the documents. template: the request, from `parse_template`.
    """
    requests = [
        {
            "id": query.topic,
            "request": _fill_template(template, query.text),
            "ratings": [
                {"_index": index, "_id": document, "rating": grade}
                for document, grade in query.grades
            ],
        }
        for query in queries
    ]
    _write_json({"requests": requests, "metric": {"dcg": {"k": cutoff, "normalize": True}}}, out)


def _fill_template(value: Any, query: str) -> Any:
    if isinstance(value, str):
        return value.replace(PLACEHOLDER, query)
    if isinstance(value, list):
        return [_fill_template(one, query) for one in value]
    if isinstance(value, dict):
        return {key: _fill_template(one, query) for key, one in value.items()}
    return value


def write_ltr(queries: Iterable[LabelledQuery], out: IO[str]) -> None:
    """Write `grade qid:N # document`, with a comment line `# qid:N: query` for each query first.
    Queries are numbered from 1."""
    queries = list(queries)
    for number, query in enumerate(queries, 1):
        out.write(f"# qid:{number}: {query.text}\n")
    for number, query in enumerate(queries, 1):
        for document, grade in query.grades:
            if len(document.split()) != 1:
                raise ValueError(
                    f"the ID {document!r} contains white space, which learning-to-rank files do not allow"
                )
            out.write(f"{grade} qid:{number} # {document}\n")


def write_label_csv(
    queries: Iterable[LabelledQuery], out: IO[str], *, safe: Callable[[str], str] = str
) -> None:
    """Write `topic,query,document,grade` with a header. safe: applied to every cell."""
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("topic", "query", "document", "grade"))
    for query in queries:
        for document, grade in query.grades:
            cells: Sequence[str] = (query.topic, query.text, document, str(grade))
            table.writerow([safe(cell) for cell in cells])


def _write_json(value: Any, out: IO[str]) -> None:
    json.dump(value, out, ensure_ascii=False, indent=1)
    out.write("\n")
