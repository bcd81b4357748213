"""`manage.py stability QRELS RUN...`: does the ranking of systems survive a change of the
collection? (multi-element protocol)"""

from __future__ import annotations

import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    all_runs,
    divisible_measures,
    one_qrels,
    topics_that_count,
)
from assay.analyses.shared.reading import Reading, measures_option
from assay.analyses.shared.subcollection_files import export, new_folder
from assay.cli.base import BadInput, fraction, positive, text_table
from assay.comparison.stability import (
    MEASURES,
    Protocol,
    Stability,
    StabilityChunk,
    as_json,
    chunks,
    combine,
    populations,
    run_chunk,
)
from assay.counts import counted
from assay.digits import error_of_share, text_of
from assay.formats.errors import FormatError
from assay.formats.opening import lines
from assay.measures.batch import PackedCollection, pack
from assay.measures.measures import Measure
from assay.measures.subcollections import ELEMENTS, JOINT
from assay.options import add_options, option

FILTERED = "runs are filtered to the documents drawn, not run again on them"


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(MEASURES, divisible_measures)
    pairs: int = option(50, "Pairs of sub-collections at each level", least=1, most_in_form=100_000)
    threshold: float = option(
        0.9,
        "Rankings agree from a tau of",
        help="minimum tau-b of rankings that agree",
        least=0,
        most=1,
        metavar="T",
    )
    per_topic_quota: bool = option(
        False,
        "Draw half of each topic's assessments",
        help="draw half of each topic's assessments, not half of all",
        hint="Assessments only; else half of all.",
    )


class Command(ByTopicGroup, OfCampaign, PiecewiseCommand):
    help = (
        "Rank systems on pairs of sub-collections that share more and more of one element, and "
        "say how often the rankings agree."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--element",
            choices=[*ELEMENTS, *JOINT],
            required=True,
            help="element to vary; positive: relevant assessments only; a+b: two elements at once",
        )
        parser.add_argument(
            "--overlaps",
            type=levels,
            metavar="5:100:5",
            help="overlaps in percent, as first:last:step or 10,50,100 (default: 5:100:5; topics: each number)",
        )
        parser.add_argument(
            "--also",
            type=thresholds,
            default=(),
            metavar="T,T",
            help="further thresholds of tau-b, as in 0.8,0.95",
        )
        parser.add_argument(
            "--deltas",
            action="store_true",
            help="tau-b of every pair of sub-collections in the JSON",
        )
        parser.add_argument(
            "--docids",
            metavar="FILE",
            help="the collection's document ids, one a line (default: those of runs and qrels)",
        )
        parser.add_argument(
            "--export",
            metavar="FOLDER",
            help="write which documents, topics or assessments each sub-collection holds",
        )
        parser.add_argument(
            "--export-qrels",
            type=positive,
            metavar="N",
            help="number of pairs per level whose qrels are exported, with --export",
        )
        add_options(parser, Options)

    def plan(
        self, *, qrels: str, runs: list[str], docids: str | None, **options: Any
    ) -> PieceworkPlan:
        protocol = protocol_of(options)
        if docids is not None and "documents" not in protocol.elements:
            raise BadInput(f"--docids is for --element documents, not for {protocol.element}")
        documents = None if docids is None else self.document_ids(docids)
        judged = topics_that_count(one_qrels(self, qrels), options)
        collection = pack(judged, all_runs(self, runs, options))
        if len(collection.tags) < 2:
            raise BadInput("one run makes no ranking of systems; give at least two")
        if unmet := [
            tag for tag, has in zip(collection.tags, collection.has, strict=True) if not has.any()
        ]:
            self.warn(f"{', '.join(unmet)}: no topic in common with the qrels")
        try:
            parts = populations(collection, protocol, documents)
        except ValueError as error:
            raise BadInput(str(error)) from None
        unlisted = 0 if documents is None else self.unlisted(collection, documents)
        drawn = parts[protocol.elements[0]]
        work = chunks(drawn, protocol)
        folder = None if options["export"] is None else new_folder(options["export"])
        if folder is None and options["export_qrels"]:
            raise BadInput("--export-qrels writes into a folder: name one with --export")

        def finish(taus: list[NDArray[np.float64]]) -> dict[str, Any]:
            result = {
                **as_json(combine(drawn, protocol, work, taus)),
                "pairs": protocol.pairs,
                "threshold": protocol.threshold,
            }
            result["topics"] = len(collection.topics)
            names = [str(measure) for measure in protocol.measures]
            if options["also"]:
                result["at"] = {
                    f"{t:g}": at_threshold(
                        combine(drawn, replace(protocol, threshold=t), work, taus)
                    )
                    for t in options["also"]
                }
            if options["deltas"]:
                result["deltas"] = {
                    name: [np.asarray(level, np.float64)[k].tolist() for level in taus]
                    for k, name in enumerate(names)
                }
            if len(parts) > 1:
                of_part = {
                    element: {
                        "population": one.n,
                        "size": one.size,
                        "shared": [one.shared(level.overlap) for level in work],
                    }
                    for element, one in parts.items()
                }
                result |= {
                    "parts": of_part,
                    "population": None,
                    "size": None,
                    "shared": [None] * len(work),
                }
            if folder is not None:
                result["exported"] = export(
                    folder,
                    collection,
                    protocol,
                    work,
                    documents,
                    n_qrels=options["export_qrels"] or 0,
                )
            if "documents" in protocol.elements:
                result |= {"unlisted": unlisted, "note": FILTERED}
            return result

        return PieceworkPlan(
            f"stability over {protocol.element}",
            _taus,
            (collection, protocol, documents),
            work,
            finish,
        )

    def document_ids(self, path: str) -> NDArray[np.bytes_]:
        """The ids of a list, sorted, each once."""
        given = []
        for number, text in lines(path):
            words = text.split()
            if len(words) > 1:
                raise FormatError.single(
                    path, number, f"{len(words)} words", "one document id a line", text
                )
            given.extend(words)
        if not given:
            raise FormatError.single(path, None, "no document ids", "one document id a line")
        ids = np.unique(np.array([document.encode() for document in given]))
        if len(ids) < len(given):
            self.warn(
                f"{path}: {counted(len(given) - len(ids), 'line', 'repeats', 'repeat')} a "
                f"document id; each id counts once"
            )
        return ids

    def unlisted(self, collection: PackedCollection, documents: NDArray[np.bytes_]) -> int:
        n = int(np.count_nonzero(~np.isin(collection.documents, documents)))
        if n == len(collection.documents):
            raise BadInput("no document of runs and qrels is in the list of document ids")
        if n:
            self.warn(
                f"{counted(n, 'document')} of runs and qrels {'is' if n == 1 else 'are'} not in "
                f"the list of document ids and so in no sub-collection"
            )
        return n

    def table(self, result: dict[str, Any], **options: Any) -> str:
        names = list(result["probability"])
        header = [
            "overlap",
            "shared",
            *(f"P {name}" for name in names),
            *(f"tau {name}" for name in names),
        ]
        rows: list[list[Any]] = [
            [
                f"{100 * level:.4g} %",
                shown_shared(result, i),
                *(shown_share(result["probability"][name][i], result["pairs"]) for name in names),
                *(result["mean_tau"][name][i] for name in names),
            ]
            for i, level in enumerate(result["levels"])
        ]
        summary = [
            [
                name,
                result["fit"][name]["slope"],
                result["fit"][name]["intercept"],
                "none"
                if result["minimum_overlap"][name] is None
                else f"{100 * result['minimum_overlap'][name]:.4g} %",
                sum(result["undefined"][name]),
            ]
            for name in names
        ]
        parts = [
            f"{shown_sizes(result)} in each sub-collection, {result['pairs']} pairs a level; "
            f"P = share of pairs with Kendall's tau-b >= {result['threshold']:g}, tau = its mean",
            text_table(header, rows),
            (
                f"A share of {result['pairs']} pairs is known to "
                f"{error_of_share(0.5, result['pairs']):.2g} (standard error of a half)."
            ),
            text_table(
                ["measure", "slope", "intercept", "least overlap with P = 1", "undefined taus"],
                summary,
            ),
        ]
        return "\n\n".join(parts + ([result["note"]] if "note" in result else []))


def shown_sizes(result: dict[str, Any]) -> str:
    parts = result.get("parts") or {result["element"]: result}
    return " and ".join(
        f"{element}: {part['size']} of {part['population']}" for element, part in parts.items()
    )


def shown_shared(result: dict[str, Any], level: int) -> Any:
    return (
        ", ".join(str(part["shared"][level]) for part in result["parts"].values())
        if "parts" in result
        else result["shared"][level]
    )


def at_threshold(estimate: Stability) -> dict[str, Any]:
    """What depends on the threshold."""
    return {
        key: value
        for key, value in as_json(estimate).items()
        if key in ("probability", "fit", "minimum_overlap")
    }


def thresholds(text: str) -> tuple[float, ...]:
    """For argparse: numbers from 0 to 1 with commas between."""
    return tuple(fraction(word) for word in text.split(","))


def _taus(
    shared: tuple[PackedCollection, Protocol, NDArray[np.bytes_] | None], chunk: StabilityChunk
) -> NDArray[np.float64]:
    collection, protocol, documents = shared
    return run_chunk(collection, protocol, chunk, documents)


def shown_share(share: float | None, n: int) -> str:
    """A share of n pairs with the digits that so many draws give it."""
    return "-" if share is None else text_of(share, error_of_share(share, n))


def protocol_of(options: dict[str, Any]) -> Protocol:
    try:
        return Protocol(
            element=options["element"],
            measures=tuple(options["measures"]),
            overlaps=options["overlaps"],
            pairs=options["pairs"],
            threshold=options["threshold"],
            level=options["level"],
            per_topic_quota=options["per_topic_quota"],
            topics=options["topics"],
            seed=options["seed"],
        )
    except ValueError as error:
        raise BadInput(str(error)) from None


def levels(text: str) -> tuple[Fraction, ...]:
    """For argparse: percentages as `first:last:step`, or separated by commas. -> fractions,
    exact"""
    wrong = ArgumentTypeError(
        f"{text!r} is neither first:last:step nor a list of percentages from 0 to 100, as in 5:100:5 or 10,50,100"
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
