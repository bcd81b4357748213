"""`manage.py compare_runs QRELS RUN_A RUN_B`: is run B significantly better than run A? (Lin et al. 2021)"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from analysis.campaign_sources import OfCampaign, add_campaign_options
from analysis.commandline import add_level_options, add_run_options
from analysis.core.outcomes import compare
from analysis.core.verdicts import as_json, judge
from analysis.first_ranks import add_verdict_options, first_ranks
from pooling.commandline import BadInput, positive, text_table


class Command(OfCampaign):
    help = "Compare two runs by outcome (answered by neither, one, both), with tests and verdicts; differences are B minus A."
    takes_seed = False
    run_places = ("run_a", "run_b")

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("run_a", metavar="RUN_A")
        parser.add_argument("run_b", metavar="RUN_B")
        add_campaign_options(parser)
        add_verdict_options(parser, ["none", "bonferroni"])
        parser.add_argument(
            "--family", type=positive, metavar="N", help="with --correction bonferroni: how many comparisons are made in all"
        )
        add_level_options(parser)
        add_run_options(parser)

    def compute(self, *, qrels: str, run_a: str, run_b: str, **options: Any) -> dict[str, Any]:
        if options["correction"] == "bonferroni" and options["family"] is None:
            raise BadInput("--correction bonferroni needs --family, the number of comparisons made in all")
        found = first_ranks(self, qrels, [run_a, run_b], options)
        comparison = compare(*found.ranks)
        (judged,) = judge(
            [comparison], alpha=options["alpha"], decide=options["decide"], correction=options["correction"], family=options["family"]
        )
        a, b = found.tags
        return {"a": a, "b": b, **as_json(comparison, judged), "topics_with_several_relevant": found.n_several}

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return comparison_table(result)


def comparison_table(row: dict[str, Any]) -> str:
    """What a person reads of one comparison."""
    mrr, shares, verdict = row["mrr"], row["outcomes"], row["verdict"]
    k = {"wrs": "rank-sum", "wrs_tie_corrected": "rank-sum, ties corrected", "wsr": "signed-rank", "t": "t"}
    tests = text_table(
        ["test of mean RR", "p", "asks for"], [[name, f"{mrr[test]:.6g}", f"{row['scales'][test]} scale"] for test, name in k.items()]
    )
    outcomes = text_table(
        ["outcome", "topics", "share"], [[name, row["outcome_topics"][name], f"{100 * share:.1f} %"] for name, share in shares.items()]
    )
    both = text_table(
        ["where both answer", "A", "B", "signed-rank p", "t p"],
        [[name, *(number(row[key][part]) for part in ("a", "b", "wsr", "t"))] for key, name in (("esl", "mean ESL"), ("rr", "mean RR"))],
    )
    lines = [
        f"A {row['a']}: mean RR {mrr['a']:.4f}",
        f"B {row['b']}: mean RR {mrr['b']:.4f}, difference {mrr['difference']:+.4f} on {row['topics']} topics",
        "",
        tests,
        "",
        outcomes,
        f"only one run answers: binomial p {row['binomial']:.6g}",
        "",
        both,
        "",
        f"{'':28}by ESL  by RR",
        *(
            f"B is {words:22} {'yes' if verdict[key] else 'no':6}  {'yes' if verdict['by_rr'][key] else 'no'}"
            for key, words in (
                ("better", "better"),
                ("significantly_better", "significantly better"),
                ("do_no_harm", "better, doing no harm"),
            )
        ),
        *(f"because {reason}" for reason in verdict["because"]),
        *(f"but {reason}" for reason in verdict["disagreements"]),
    ]
    return "\n".join(lines)


def number(value: float) -> str:
    return "-" if value != value else f"{value:.6g}"
