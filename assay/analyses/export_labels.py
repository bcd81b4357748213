"""Write labels in the formats of search engines and learning to rank."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from assay.analyses.shared.measures import read_one_qrels
from assay.cli.base import BadInput, FileCommand, write_text_atomically
from assay.formats.engines import (
    DEFAULT_CUTOFF,
    DEFAULT_TEMPLATE,
    PLACEHOLDER,
    LabelledQuery,
    list_labelled_queries,
    parse_template,
    write_import_judgment,
    write_label_csv,
    write_ltr,
    write_rank_eval,
)
from assay.formats.topics import read_topics
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.tabular import Cell, Table

TARGETS = (
    ("opensearch", "judgement list of OpenSearch's Search Relevance"),
    ("rank-eval", "ranking evaluation request of Elasticsearch and OpenSearch"),
    ("ltr", "learning to rank, grade qid:N # document"),
    ("csv", "topic, query, document and grade"),
)


@dataclass(frozen=True)
class Options(CheckedOptions):
    target: str = option("opensearch", "Target", choices=TARGETS)
    index: str = option(
        "documents",
        "Index",
        help="index of the documents in a ranking evaluation request (default: documents)",
        metavar="NAME",
    )
    cutoff: int = option(
        DEFAULT_CUTOFF,
        "Cutoff",
        help=f"number of results per query in a ranking evaluation request (default: {DEFAULT_CUTOFF})",
        least=1,
        metavar="K",
    )


def write_labels(
    queries: list[LabelledQuery], options: Options, out: IO[str], *, name: str, template: Any
) -> None:
    """Write the labels in the format of the target. name: name of a judgement list. template:
    template of the requests for a ranking evaluation."""
    if options.target == "opensearch":
        write_import_judgment(queries, out, name=name)
    elif options.target == "rank-eval":
        write_rank_eval(queries, out, index=options.index, template=template, cutoff=options.cutoff)
    elif options.target == "ltr":
        write_ltr(queries, out)
    else:
        write_label_csv(queries, out)


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [[int(grade), n] for grade, n in result["labels"].items()]
    note = f"{format_count(result['pairs'], 'pair')} of {format_count(result['topics'], 'topic')}."
    return [Table("labels", f"Labels as {result['target']}", ["grade", "pairs"], rows, note)]


class Command(FileCommand):
    help = (
        "Write qrels in the formats of OpenSearch, Elasticsearch and learning to rank, or as CSV."
    )
    makes_data_file = True
    counts_labels_only = True
    takes_seed = False
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument(
            "--topics",
            metavar="FILE",
            required=True,
            help="topic file with the texts of the queries",
        )
        add_options(parser, Options)
        parser.add_argument(
            "--template",
            metavar="FILE",
            help=f"JSON file of a ranking evaluation request, with {PLACEHOLDER} for the query "
            "(default: a multi_match query on all fields)",
        )

    def compute(
        self,
        *,
        qrels: str,
        topics: str,
        template: str | None,
        output: str | None,
        **option_values: Any,
    ) -> Values:
        options = Options.from_mapping(option_values)
        judged = read_one_qrels(self, qrels)
        texts = {topic.topic: topic.text for topic in read_topics(topics)}
        try:
            request = (
                parse_template(Path(template).read_text(encoding="utf-8"))
                if template
                else DEFAULT_TEMPLATE
            )
            queries = list_labelled_queries(judged, texts)
            if output:
                with write_text_atomically(output) as out:
                    write_labels(queries, options, out, name=judged.name, template=request)
        except ValueError as error:
            raise BadInput(str(error)) from None
        labels = Counter(grade for query in queries for _, grade in query.grades)
        if unjudged := len(judged) - labels.total():
            self.warn(
                f"{format_count(unjudged, 'pair')} with a negative grade left out, because a negative grade means unjudged"
            )
        return {
            "pairs": labels.total(),
            "topics": len(queries),
            "labels": {str(grade): labels[grade] for grade in sorted(labels)},
            "target": options.target,
        }
