"""`manage.py compare_runs QRELS RUN_A RUN_B`: is run B significantly better than run A? (Lin et al.
2021)"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.first_ranks import add_verdict_options, first_ranks
from assay.analyses.shared.reading import Reading
from assay.cli.base import BadInput, text_table
from assay.comparison.equal_runs import equal_runs
from assay.comparison.outcomes import compare
from assay.comparison.verdict_words import UNPAIRED, equal_runs_words, verdict_word
from assay.comparison.verdicts import as_json, judge
from assay.counts import counted
from assay.digits import p_text
from assay.options import add_options


class Command(ByTopicGroup, OfCampaign):
    help = (
        "Compare two runs by outcome (answered by neither, one, both), with tests and verdicts; "
        "differences are B minus A."
    )
    run_places = ("run_a", "run_b")

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("run_a", metavar="RUN_A")
        parser.add_argument("run_b", metavar="RUN_B")
        add_campaign_options(parser)
        add_verdict_options(parser, ["none", "bonferroni"])
        add_options(parser, Reading)

    def compute(
        self, *, qrels: str, run_a: str, run_b: str, seed: int, **options: Any
    ) -> dict[str, Any]:
        if options["correction"] == "bonferroni" and options["family"] is None:
            raise BadInput(
                "--correction bonferroni needs --family, the number of comparisons made in all"
            )
        first = first_ranks(self, qrels, [run_a, run_b], options)
        comparison = compare(*first.ranks)
        how = {name: options[name] for name in ("alpha", "decide")}
        (judged,) = judge(
            [comparison], **how, correction=options["correction"], family=options["family"]
        )
        family = 1 if options["correction"] == "none" else options["family"]
        rates = equal_runs(*first.ranks, **how, family=family, rng=np.random.default_rng(seed))
        a, b = first.tags
        row = {
            "a": a,
            "b": b,
            **as_json(comparison, judged),
            "topics_with_several_relevant": first.n_several,
        }
        return {**row, "alpha": options["alpha"], "equal_runs": asdict(rates)}

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return comparison_table(result)


def comparison_table(row: dict[str, Any]) -> str:
    """What a person reads of one comparison."""
    mrr, shares, verdict = row["mrr"], row["outcomes"], row["verdict"]
    k = {
        "wrs": "rank-sum (unpaired)",
        "wrs_tie_corrected": "rank-sum, ties corrected",
        "wsr": "signed-rank",
        "t": "t",
    }
    tests = text_table(
        ["test of mean RR", "p", "asks for"],
        [[name, p_text(mrr[test]), f"{row['scales'][test]} scale"] for test, name in k.items()],
    )
    outcomes = text_table(
        ["outcome", "topics", "share"],
        [
            [name, row["outcome_topics"][name], f"{100 * share:.1f} %"]
            for name, share in shares.items()
        ],
    )
    both = text_table(
        ["where both answer", "A", "B", "signed-rank p", "t p"],
        [
            [
                name,
                *(number(row[key][part]) for part in ("a", "b")),
                *(p_text(row[key][part]) for part in ("wsr", "t")),
            ]
            for key, name in (("esl", "mean ESL"), ("rr", "mean RR"))
        ],
    )
    lines = [
        f"A {row['a']}: mean RR {mrr['a']:.4f}",
        (
            f"B {row['b']}: mean RR {mrr['b']:.4f}, difference {mrr['difference']:+.4f} on "
            f"{counted(row['topics'], 'topic')}"
        ),
        "",
        tests,
        UNPAIRED,
        (
            f"signed-rank test: {row['wsr_method']['mrr']} for mean RR of all topics, "
            f"{row['wsr_method']['esl'] or '-'} where both answer"
        ),
        "",
        outcomes,
        f"only one run answers: binomial p {p_text(row['binomial'])}",
        "",
        both,
        "",
        f"{'':28}by ESL      by RR",
        *(
            f"B is {words:22} {verdict_word(verdict[key]):10}  {verdict_word(verdict['by_rr'][key])}"
            for key, words in (
                ("better", "better"),
                ("significantly_better", "significantly better"),
                ("do_no_harm", "better, doing no harm"),
            )
        ),
        *(f"because {reason}" for reason in verdict["because"]),
        *(f"but {reason}" for reason in verdict["disagreements"]),
        "",
        *corrected_lines(row),
        equal_runs_words(row),
    ]
    return "\n".join(lines)


def corrected_lines(row: dict[str, Any]) -> list[str]:
    """Every p-value is raw unless it is called corrected; here are the corrected ones, if there is
    a correction."""
    if row["correction"] == "none":
        return []
    tests = {
        "binomial": "binomial",
        "esl_wsr": "ESL signed-rank",
        "esl_t": "ESL t",
        "rr_wsr": "RR signed-rank",
        "rr_t": "RR t",
    }
    words = ", ".join(f"{name} {p_text(row['corrected'][key])}" for key, name in tests.items())
    return [
        (
            f"p-values above are raw; corrected ({row['correction']}, {row['family']} comparisons), "
            f"as the verdicts use them: {words}"
        )
    ]


def number(value: float) -> str:
    return "-" if value != value else f"{value:.6g}"
