"""Measure how often rankings of systems agree between sub-collections (multi-element protocol)."""

from __future__ import annotations

import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    drop_topics_without_relevant,
    iterate_runs,
    parse_divisible_measures,
    read_one_qrels,
)
from assay.analyses.shared.reading import EvaluationOptions, measures_option
from assay.analyses.shared.stability_tables import name_element, result_charts, result_tables
from assay.analyses.shared.subcollection_files import check_output_folder
from assay.analyses.shared.subcollection_files import export_subcollections as write_subcollections
from assay.cli.base import BadInput, Warn, parse_fraction, parse_positive
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.stability import (
    MEASURES,
    StabilityChunk,
    StabilityProtocol,
    StabilityResult,
    combine_results,
    make_chunks,
    make_populations,
    run_chunk,
    to_json,
)
from assay.formats.errors import FormatError
from assay.formats.streams import iterate_lines
from assay.measures.batch import PackedCollection, pack_collection
from assay.measures.measures import Measure
from assay.measures.subcollections import ELEMENTS, JOINT
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values

FILTERED_NOTE = "runs are filtered to the documents drawn, not run again on them"


def parse_levels(text: str) -> tuple[Fraction, ...]:
    """Parse percentages, `first:last:step` or comma-separated, to exact fractions, for argparse."""
    wrong = ArgumentTypeError(
        f"{text!r} is neither first:last:step nor a list of percentages from 0 to 100, such as 5:100:5 or 10,50,100"
    )
    words = re.split("[:,]", text)
    if not all(re.fullmatch(r"\d+(\.\d+)?", word) for word in words) or (
        ":" in text and ("," in text or len(words) != 3)
    ):
        raise wrong
    numbers = [Fraction(word) for word in words]
    if ":" in text:
        first, last, step = numbers
        if step == 0 or first > last:
            raise wrong
        numbers = [first + i * step for i in range(math.floor((last - first) / step) + 1)]
    if max(numbers) > 100:
        raise wrong
    return tuple(number / 100 for number in numbers)


def parse_thresholds(text: str) -> tuple[float, ...]:
    """Parse comma-separated numbers from 0 to 1, for argparse."""
    return tuple(parse_fraction(word) for word in text.split(","))


@dataclass(frozen=True)
class Options(EvaluationOptions):
    element: str = option(
        "documents",
        "Elements to vary",
        help="element that varies between sub-collections (a+b: two elements, independently)",
        choices=tuple((name, name_element(name)) for name in (*ELEMENTS, *JOINT)),
        required=True,
    )
    measures: list[Measure] = measures_option(MEASURES, parse_divisible_measures, divisible=True)
    overlaps: tuple[Fraction, ...] | None = option(
        None,
        "Overlaps in percent",
        help="overlaps in percent, as first:last:step or a list such as 10,50,100 (default: "
        "5:100:5; for topics: each number of shared topics)",
        hint="first:last:step or 10,50,100. Leave empty for 5:100:5, and for each number of shared "
        "topics if topics vary.",
        read=parse_levels,
        metavar="5:100:5",
    )
    pairs: int = option(50, "Pairs of sub-collections per overlap", least=1, most_in_form=100_000)
    min_tau: float = option(
        0.9,
        "Threshold of similarity",
        help="minimum similarity at which two rankings agree",
        least=0,
        most=1,
        metavar="T",
    )
    similarity: str = option(
        "tau-b",
        "Similarity of rankings",
        help="similarity of two rankings",
        choices=(
            ("tau-b", "Kendall's tau-b"),
            ("tau-a", "Kendall's tau-a"),
            ("tau-ap", "AP correlation, mean of both directions"),
            ("rbo", "Rank-biased overlap"),
        ),
    )
    also: tuple[float, ...] = option(
        (),
        "Additional thresholds",
        help="comma-separated additional values for --min-tau, such as 0.8,0.95",
        read=parse_thresholds,
        metavar="T,T",
    )
    deltas: bool = option(
        False,
        "Tau of every pair",
        help="include the similarity of every pair of sub-collections in the JSON",
    )
    per_topic_quota: bool = option(
        False,
        "Draw half of each topic's assessments",
        help="draw half of each topic's assessments instead of half of all assessments",
        hint="Only for assessments. Otherwise half of all are drawn.",
    )


def plan(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    documents: NDArray[np.bytes_] | None = None,
    seed: int = 0,
    warn: Warn,
) -> PieceworkPlan:
    """Plan the ranking of the runs on pairs of sub-collections of increasing overlap, one piece per
    overlap.

    documents: sorted distinct IDs of the collection, or None for those of runs and qrels. Only used
    if documents vary. The plan shares (collection, protocol, documents). Raises BadInput for fewer
    than two runs, and for a population too small to be divided.
    """
    protocol = make_protocol(options, seed)
    collection = pack_collection(drop_topics_without_relevant(qrels, vars(options)), list(runs))
    if len(collection.tags) < 2:
        raise BadInput("there is only one run; a ranking needs at least two")
    if unmet := [
        tag for tag, has in zip(collection.tags, collection.has, strict=True) if not has.any()
    ]:
        warn(f"{', '.join(unmet)}: no topic in common with the qrels")
    try:
        parts = make_populations(collection, protocol, documents)
    except ValueError as error:
        raise BadInput(str(error)) from None
    n_unlisted = 0 if documents is None else count_unlisted(collection, documents, warn)
    drawn = parts[protocol.elements[0]]
    work = make_chunks(drawn, protocol)

    def finish(taus: list[NDArray[np.float64]]) -> Values:
        result = {
            **to_json(combine_results(drawn, protocol, work, taus)),
            "pairs": protocol.pairs,
            "threshold": protocol.threshold,
            "similarity": protocol.similarity,
            "topics": len(collection.topics),
        }
        if options.also:
            result["at"] = {
                f"{t:g}": threshold_values(
                    combine_results(drawn, replace(protocol, threshold=t), work, taus)
                )
                for t in options.also
            }
        if options.deltas:
            result["deltas"] = {
                str(measure): [np.asarray(level, np.float64)[k].tolist() for level in taus]
                for k, measure in enumerate(protocol.measures)
            }
        if len(parts) > 1:
            of_part = {
                element: {
                    "population": one.n,
                    "size": one.size,
                    "shared": [one.n_shared(level.overlap) for level in work],
                }
                for element, one in parts.items()
            }
            result |= {
                "parts": of_part,
                "population": None,
                "size": None,
                "shared": [None] * len(work),
            }
        if "documents" in protocol.elements:
            result |= {"unlisted": n_unlisted, "note": FILTERED_NOTE}
        return result

    shared = (collection, protocol, documents)
    return PieceworkPlan(f"stability over {protocol.element}", _run_piece, shared, work, finish)


def count_unlisted(collection: PackedCollection, documents: NDArray[np.bytes_], warn: Warn) -> int:
    """Return the number of documents of runs and qrels that are not in the list. Raises BadInput if
    none of them is."""
    n = int(np.count_nonzero(~np.isin(collection.documents, documents)))
    if n == len(collection.documents):
        raise BadInput(
            "no document of runs and qrels is in the list of document IDs; check the IDs"
        )
    if n:
        warn(
            f"{format_count(n, 'document')} of runs and qrels {'is' if n == 1 else 'are'} not "
            "in the list of document IDs and therefore in no sub-collection"
        )
    return n


def threshold_values(estimate: StabilityResult) -> dict[str, Any]:
    """Return the values that depend on the threshold."""
    return {
        key: value
        for key, value in to_json(estimate).items()
        if key in ("probability", "fit", "minimum_overlap")
    }


def _run_piece(
    shared: tuple[PackedCollection, StabilityProtocol, NDArray[np.bytes_] | None],
    chunk: StabilityChunk,
) -> NDArray[np.float64]:
    collection, protocol, documents = shared
    return run_chunk(collection, protocol, chunk, documents)


def make_protocol(options: Options, seed: int) -> StabilityProtocol:
    try:
        return StabilityProtocol(
            element=options.element,
            measures=tuple(options.measures),
            overlaps=options.overlaps,
            pairs=options.pairs,
            threshold=options.min_tau,
            min_relevant=options.min_relevant,
            per_topic_quota=options.per_topic_quota,
            missing_topics=options.missing_topics,
            seed=seed,
            similarity=options.similarity,
        )
    except ValueError as error:
        raise BadInput(str(error)) from None


class Command(TopicGroupCommand, CampaignCommand, PiecewiseCommand):
    help = (
        "Rank systems on pairs of sub-collections that share a growing part of one element, "
        "and report how often the rankings agree."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--docids",
            metavar="FILE",
            help="file of the collection's document IDs, one per line (default: the IDs in runs and "
            "qrels)",
        )
        parser.add_argument(
            "--export",
            metavar="FOLDER",
            help="output folder for the documents, topics or assessments of each sub-collection",
        )
        parser.add_argument(
            "--export-qrels",
            type=parse_positive,
            metavar="N",
            help=(
                "number of pairs of sub-collections per overlap for which qrels are written "
                "(with --export)"
            ),
        )
        add_options(parser, Options)

    def plan(
        self,
        *,
        qrels: str,
        runs: list[str],
        docids: str | None,
        export: str | None,
        export_qrels: int | None,
        seed: int,
        **option_values: Any,
    ) -> PieceworkPlan:
        if docids is not None and "documents" not in option_values["element"].split("+"):
            raise BadInput(f"--docids needs --element documents, not {option_values['element']}")
        made = plan(
            read_one_qrels(self, qrels),
            iterate_runs(self, runs, option_values),
            Options.from_mapping(option_values),
            documents=None if docids is None else self.read_document_ids(docids),
            seed=seed,
            warn=self.warn,
        )
        if export is None:
            if export_qrels:
                raise BadInput("--export-qrels needs --export FOLDER")
            return made
        folder = check_output_folder(export)
        collection, protocol, documents = made.shared

        def finish(taus: list[NDArray[np.float64]]) -> Values:
            written = write_subcollections(
                folder, collection, protocol, made.pieces, documents, n_qrels=export_qrels or 0
            )
            return {**made.finish(taus), "exported": written}

        return replace(made, finish=finish)

    def read_document_ids(self, path: str) -> NDArray[np.bytes_]:
        """Read document IDs, one per line. Return the distinct IDs, sorted."""
        listed_ids = []
        for number, text in iterate_lines(path):
            words = text.split()
            if len(words) > 1:
                raise FormatError.single(
                    path, number, f"{len(words)} words", "one document ID per line", text
                )
            listed_ids.extend(words)
        if not listed_ids:
            raise FormatError.single(path, None, "no document IDs", "one document ID per line")
        ids = np.unique(np.array([document.encode() for document in listed_ids]))
        if len(ids) < len(listed_ids):
            self.warn(
                f"{path}: {format_count(len(listed_ids) - len(ids), 'line', 'repeats', 'repeat')} "
                "a document ID; each ID counts once"
            )
        return ids
