"""`manage.py stopping_advice QRELS RUN...`: whether a half-judged pool says enough, and what
judging on would bring."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, NamedTuple

from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import one_qrels
from assay.analyses.shared.pool_grades import grades_of_pool, pool_of_runs
from assay.analyses.shared.reading import LEVEL, RUNS, Reading
from assay.analyses.shared.sampled_files import packed_runs, sampled_pool
from assay.cli.base import BadInput, fraction, positive, text_table
from assay.options import add_options
from assay.sampling.stopping import relevant_left
from assay.sampling.stopping_answers import of_audit, of_order, of_sample


class Audit(NamedTuple):
    n_left: int
    relevant: int
    n: int


class Command(OfCampaign):
    estimates_sampled = True
    help = (
        "Whether a half-judged pool says enough to stop: decisions (ordered pools) or what "
        "judging the rest would bring (sampled pools)."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "qrels",
            metavar="QRELS",
            help="qrels judged so far, or the sampled pool in five columns with --sampled",
        )
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--sampled", action="store_true", help="the pool is a stratified sample"
        )
        parser.add_argument(
            "--depth",
            type=positive,
            default=10,
            metavar="K",
            help="depth of the ordered pool (default 10)",
        )
        parser.add_argument(
            "--cutoff",
            type=positive,
            default=10,
            metavar="K",
            help="nDCG@K is asked about (default 10)",
        )
        parser.add_argument(
            "--last",
            type=positive,
            metavar="N",
            help="pairs judged at the look before: who looks too often stops too early",
        )
        parser.add_argument(
            "--audit",
            type=audit_numbers,
            metavar="LEFT,RELEVANT,N",
            help="audit pairs: N drawn at random of LEFT pairs that were left, RELEVANT of them relevant",
        )
        parser.add_argument(
            "--recall",
            type=fraction,
            default=0.9,
            metavar="SHARE",
            help="recall to reach, with --audit (default: 0.9)",
        )
        add_options(parser, Reading, *LEVEL, *RUNS)

    def compute(
        self, *, qrels: str, runs: list[str], sampled: bool, audit: Audit | None, **options: Any
    ) -> dict[str, Any]:
        if sampled and audit is not None:
            raise BadInput(
                "--audit is for ordered pools: in a sampled pool every pair was drawn by chance"
            )
        if len(runs) < 2:
            raise BadInput("two runs at least: the advice is about their order")
        return (
            self.of_sample(qrels, runs, options)
            if sampled
            else self.of_order(qrels, runs, audit, options)
        )

    def of_order(
        self, path: str, runs: list[str], audit: Audit | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        judged = one_qrels(self, path)
        pool = pool_of_runs(
            self,
            runs,
            judged,
            depth=max(options["depth"], options["cutoff"]),
            seed=options["seed"],
            options=options,
        )
        grades = grades_of_pool(pool, judged)
        result = of_order(
            pool,
            grades,
            level=options["level"],
            cutoff=options["cutoff"],
            seed=options["seed"],
            last=options["last"],
        )
        if audit is not None:
            left = relevant_left(audit.n_left, audit.relevant, audit.n)
            result["left"] = of_audit(
                left, int((grades >= options["level"]).sum()), audit.n, recall=options["recall"]
            )
        return result

    def of_sample(self, path: str, runs: list[str], options: dict[str, Any]) -> dict[str, Any]:
        pool = sampled_pool(self, path)
        packed = list(packed_runs(self, runs, pool, options))
        return of_sample(
            pool.sample,
            packed,
            cutoff=options["cutoff"],
            seed=options["seed"],
            last=options["last"],
        )

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = [
            f"{result['judged']} of {result['pairs']} pairs are judged ({result['judged'] / result['pairs']:.0%})"
        ]
        parts += [f"no advice: {reason}" for reason in result.get("undefined", {}).values()]
        if "words" in result:
            parts.append(result["words"])
        if result.get("decisions"):
            rows = [
                [decision["words"], decision["flip"], decision["equal"]]
                for decision in result["decisions"]
            ]
            parts.append(text_table(["best systems", "share turned round", "share equal"], rows))
        parts += [decision["words"] for decision in result.get("comparisons", [])]
        if "left" in result:
            parts.append(result["left"]["words"])
        return "\n\n".join(parts)


def audit_numbers(text: str) -> Audit:
    cells = text.split(",")
    if len(cells) != 3 or not all(cell.strip().isdecimal() for cell in cells):
        raise ArgumentTypeError(f"{text!r} is not LEFT,RELEVANT,N, three whole numbers")
    audit = Audit(*(int(cell) for cell in cells))
    if not audit.relevant <= audit.n <= audit.n_left or not audit.n:
        raise ArgumentTypeError(f"{text!r}: expected RELEVANT <= N <= LEFT and N above 0")
    return audit
