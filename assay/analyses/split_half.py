"""`manage.py split_half QRELS RUN...`: do two halves of the topics lead to the same conclusions?
(Craswell et al. 2021, Table 4)"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from typing import Any

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    evaluate_files,
    measure_list,
    one_qrels,
)
from assay.analyses.shared.reading import Reading, alpha_option, measures_option
from assay.cli.base import BadInput, text_table
from assay.comparison.significance import Floats, why_no_verdict
from assay.comparison.split_half import (
    ALPHA,
    NOTHING,
    RATES,
    SPLITS,
    SplitHalfChunk,
    SplitHalfTally,
    chunks,
    combine,
    run_chunk,
    tabulate,
)
from assay.counts import counted
from assay.measures.measures import Measure
from assay.measures.score_table import score_table
from assay.options import add_options, option

NAMES = {"sign": "sign", "wrs": "rank-sum", "wsr": "signed-rank", "t": "t"}


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option("RR@100", measure_list)
    splits: int = option(SPLITS, "Random splits", least=1, most_in_form=100_000)
    alpha: float = alpha_option(ALPHA)


class Command(ByTopicGroup, OfCampaign, PiecewiseCommand):
    help = "Split the topics at random into halves and count how often tests on the halves agree about pairs of runs."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        add_options(parser, Options)

    def plan(
        self, *, qrels: str, runs: list[str], splits: int, alpha: float, seed: int, **options: Any
    ) -> PieceworkPlan:
        if len(runs) < 2:
            raise BadInput("at least two runs are needed to compare them")
        evaluations = evaluate_files(self, runs, {"": one_qrels(self, qrels)}, options)[""]
        work = chunks(splits=splits, seed=seed)
        tables = {
            str(measure): score_table(evaluations, i)
            for i, measure in enumerate(options["measures"])
        }
        for name, scores in tables.items():
            if len(scores.topics) < 2:
                raise BadInput(
                    f"{name}: fewer than two topics count for all runs, so there are no halves"
                )
        pieces = [(name, chunk) for name in tables for chunk in work]

        def finish(tallies: list[SplitHalfTally]) -> dict[str, Any]:
            result: dict[str, Any] = {}
            for name, scores in tables.items():
                why = why_no_verdict(len(scores.topics) // 2)
                whole = combine(
                    tally for (of, _), tally in zip(pieces, tallies, strict=True) if of == name
                )
                about = {
                    "topics": len(scores.topics),
                    "splits": splits,
                    "alpha": alpha,
                    "no_verdict": f"halves of {why}" if why else "",
                }
                result[name] = {**asdict(tabulate(NOTHING if why else whole)), **about}
            return result

        return PieceworkPlan(
            "split halves",
            _tally,
            ({name: scores.scores for name, scores in tables.items()}, alpha),
            pieces,
            finish,
        )

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for measure, rates_of in result.items():
            if not isinstance(rates_of, dict):
                continue
            columns = [(kind, test) for kind in ("mean", "median") for test in rates_of[kind]]
            if rates_of["no_verdict"]:
                parts.append(f"{measure}: no verdict: {rates_of['no_verdict']}")
                continue
            header = ["", *(f"{NAMES[test]}, {kind}" for kind, test in columns)]
            rows = [
                [rate, *(f"{100 * rates_of[kind][test][rate]:.1f} %" for kind, test in columns)]
                for rate in RATES
            ]
            parts.append(
                f"{measure}: {counted(rates_of['splits'], 'split')} of "
                f"{counted(rates_of['topics'], 'topic')}, alpha {rates_of['alpha']}\n"
                f"{text_table(header, rows)}\n"
                f"halves with equal medians: {100 * rates_of['tied_medians']:.1f} %"
            )
        return "\n\n".join(parts)


def _tally(
    shared: tuple[dict[str, Floats], float], piece: tuple[str, SplitHalfChunk]
) -> SplitHalfTally:
    scores, alpha = shared
    name, chunk = piece
    return run_chunk(scores[name], chunk, alpha=alpha)
