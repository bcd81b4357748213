"""Advise whether judging can stop, based on the judgements so far and on the effect of more."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import iterate_runs, read_one_qrels
from assay.analyses.shared.pool_grades import build_pool_from_files, look_up_grades
from assay.analyses.shared.reading import RunReading
from assay.analyses.shared.sampled_files import SampledPool, read_sampled_pool
from assay.cli.base import BadInput
from assay.column_types import QrelsColumns, RunColumns
from assay.measures.packing import pack_run
from assay.options import add_options, option
from assay.results import Values
from assay.sampling.stopping import estimate_remaining_relevant
from assay.sampling.stopping_advice import (
    advise_ordered_pool,
    advise_sampled_pool,
    summarise_audit,
)
from assay.tabular import Cell, Table


class AuditCounts(NamedTuple):
    """An audit sample: n pairs drawn at random from n_left unjudged pairs, `relevant` of which are
    relevant."""

    n_left: int
    relevant: int
    n: int


def parse_audit_counts(text: str) -> AuditCounts:
    cells = text.split(",")
    if len(cells) != 3 or not all(cell.strip().isdecimal() for cell in cells):
        raise ArgumentTypeError(f"{text!r} is not LEFT,RELEVANT,N (three whole numbers)")
    audit = AuditCounts(*(int(cell) for cell in cells))
    if not audit.relevant <= audit.n <= audit.n_left or not audit.n:
        raise ArgumentTypeError(f"{text!r}: expected RELEVANT <= N <= LEFT and N above 0")
    return audit


@dataclass(frozen=True)
class Options(RunReading):
    depth: int = option(
        10,
        "Pool depth",
        help="depth of the prioritised pool",
        least=1,
        metavar="K",
    )
    cutoff: int = option(
        10,
        "Cutoff of nDCG",
        help="cutoff of nDCG, on which the advice is based",
        least=1,
        metavar="K",
    )
    last: int | None = option(
        None,
        "Pairs judged at the last interim check",
        help="number of pairs judged at the last interim check; frequent checks end judging too early",
        least=1,
    )
    audit_sample: AuditCounts | None = option(
        None,
        "Audit sample",
        help=(
            "audit sample: N pairs drawn at random from LEFT unjudged pairs, of which RELEVANT "
            "are relevant"
        ),
        read=parse_audit_counts,
        metavar="LEFT,RELEVANT,N",
    )
    recall: float = option(
        0.9,
        "Target recall",
        help="target recall, with --audit-sample",
        least=0,
        most=1,
        metavar="SHARE",
    )


def compute(
    qrels: QrelsColumns, runs: Iterable[RunColumns], options: Options, *, seed: int = 0
) -> Values:
    """Report which decisions between the best systems are still open on a prioritised pool.

    The pool of the runs is rebuilt. Pairs missing from the qrels are unjudged. seed: for the
    simulated grades of unjudged pairs. Without advice, the reason is in `undefined`. Raises
    BadInput for an empty pool.
    """
    depth = max(options.depth, options.cutoff)
    pool = build_pool_from_files(runs, qrels, depth=depth, seed=seed)
    grades = look_up_grades(pool, qrels)
    result = advise_ordered_pool(
        pool,
        grades,
        min_relevant=options.min_relevant,
        cutoff=options.cutoff,
        seed=seed,
        last=options.last,
    )
    if options.audit_sample is not None:
        audit = AuditCounts(*options.audit_sample)
        n_found = int((grades >= options.min_relevant).sum())
        left = estimate_remaining_relevant(audit.n_left, audit.relevant, audit.n)
        result["left"] = summarise_audit(left, n_found, audit.n, recall=options.recall)
    return result


def compute_sampled(
    pool: SampledPool, runs: Iterable[RunColumns], options: Options, *, seed: int = 0
) -> Values:
    """Report how much narrower the confidence intervals of a sampled pool become if the rest is
    judged.

    Raises BadInput for an audit sample, which only a prioritised pool needs.
    """
    refuse_audit(options)
    packed = [pack_run(run, pool.index) for run in runs]
    return advise_sampled_pool(
        pool.sample, packed, cutoff=options.cutoff, seed=seed, last=options.last
    )


def refuse_audit(options: Options) -> None:
    if options.audit_sample is not None:
        raise BadInput(
            "--audit-sample needs a prioritised pool: in a sampled pool, every pair was drawn at random"
        )


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [
        [
            result["pairs"],
            result["judged"],
            result["judged"] / result["pairs"],
            "yes" if result["stop"] else "no",
        ]
    ]
    header = ["pairs", "judged", "share judged", "may stop"]
    made = [Table("advice", "Stopping advice", header, rows, result.get("words", ""))]
    if result.get("decisions"):
        rows = [[one["words"], one["flip"], one["equal"]] for one in result["decisions"]]
        header = ["decision", "share reversed", "share equal"]
        note = "Shares of the simulated grades of unjudged pairs."
        made.append(Table("decisions", "Decisions between best systems", header, rows, note))
    if result.get("comparisons"):
        rows = [[one["words"]] for one in result["comparisons"]]
        made.append(Table("comparisons", "Comparisons with the best", ["comparison"], rows))
    if left := result.get("left"):
        rows = [[left["estimate"], left["upper"], left["found"], left["recall"]]]
        header = ["estimate", "upper bound", "found", "target recall"]
        made.append(Table("left", "Relevant documents left", header, rows, left["words"]))
    return made


class Command(CampaignCommand):
    estimates_sampled = True
    help = (
        "Advise whether you can stop judging. The advice depends on undecided differences "
        "between systems (prioritised pools), or on the effect of judging the remaining pairs "
        "(sampled pools)."
    )
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "qrels",
            metavar="QRELS",
            help=(
                "qrels file of the judgements so far, or a sampled pool in five columns (with "
                "--sampled)"
            ),
        )
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument("--sampled", action="store_true", help="read QRELS as a sampled pool")
        add_options(parser, Options)

    def compute(
        self, *, qrels: str, runs: Sequence[str], sampled: bool, seed: int, **option_values: Any
    ) -> Values:
        options = Options.from_mapping(option_values)
        if sampled:
            refuse_audit(options)  # fail before files are read
        if len(runs) < 2:
            raise BadInput("the advice is about the order of runs, so it needs at least two")
        read = iterate_runs(self, runs, option_values)
        if sampled:
            return compute_sampled(read_sampled_pool(self, qrels), read, options, seed=seed)
        return compute(read_one_qrels(self, qrels), read, options, seed=seed)
