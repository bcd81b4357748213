"""`manage.py compare_systems QRELS RUN...`: which systems are really better, on any measure, every
pair tested."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    evaluate_files,
    measures_or_estimates,
    one_qrels,
)
from assay.analyses.shared.reading import Reading, alpha_option, measures_option
from assay.analyses.shared.sampled_differences import compared_by_sample
from assay.analyses.shared.sampled_files import SAMPLED_MEASURES, sampled_measures
from assay.analyses.shared.topic_groups import groups_of_topics
from assay.cli.base import BadInput, text_table
from assay.comparison.leading import compared_words
from assay.comparison.significance import why_no_verdict
from assay.comparison.system_comparison import (
    FAMILIES,
    TESTS,
    Compared,
    all_pairs,
    compare,
    corrected,
    deciding_p,
    grouped,
    monte_carlo_error,
    verdicts,
)
from assay.comparison.verdict_words import LOOKED_AT_OFTEN, constant_words, groups_column
from assay.counts import counted
from assay.digits import p_text
from assay.measures.measures import Measure, UnknownMeasure, refuse_estimates
from assay.options import add_options, option

MEASURES = "nDCG@10 AP"
DECIDES = {"max": "randomisation", "none": "t", "bonferroni": "t", "holm": "t"}
"""The test by which letters tell systems apart, by family."""


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(MEASURES, measures_or_estimates)
    family: str = option(
        "holm",
        "Correction for multiple comparisons",
        choices=tuple(
            zip(
                FAMILIES,
                (
                    "none: raw p-values",
                    "Bonferroni",
                    "Holm",
                    "randomised Tukey HSD, which needs no assumption",
                ),
                strict=True,
            )
        ),
    )
    trials: int = option(
        100_000,
        "Random changes of signs",
        help="random changes of signs beyond 20 topics",
        hint="Beyond 20 topics; up to there all are taken.",
        least=1,
        most_in_form=10_000_000,
    )
    alpha: float = alpha_option()


class Command(OfCampaign):
    estimates_sampled = True
    help = (
        "Paired tests of systems on any measure: differences with intervals, raw and corrected "
        "p-values, effects, groups by letters."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--against",
            default="all",
            metavar="all|TAG",
            help="every pair (default), or every run against this one",
        )
        add_options(parser, Options)
        parser.add_argument(
            "--topic-groups",
            metavar="FILE",
            help="topic and group, tab-separated: the same within each group of topics, too",
        )
        parser.add_argument(
            "--sampled",
            action="store_true",
            help="QRELS is a sampled pool (topic 0 document stratum grade): differences of estimates, by default of "
            + SAMPLED_MEASURES,
        )
        parser.add_argument(
            "--rank-model",
            action="store_true",
            help="with --sampled: HT-P@k and HT-DCG@k with the help of a regression on ranks, too",
        )

    def compute(
        self,
        *,
        qrels: str,
        runs: list[str],
        against: str,
        family: str,
        trials: int,
        alpha: float,
        topic_groups: str | None,
        seed: int,
        sampled: bool,
        **options: Any,
    ) -> dict[str, Any]:
        if not 0 < alpha < 1:
            raise BadInput(f"--alpha {alpha:g}, expected a level between 0 and 1")
        if len(runs) < 2:
            raise BadInput("one run cannot be compared, expected two or more")
        if sampled:
            if topic_groups is not None:
                raise BadInput(
                    "--topic-groups is for judged qrels; the probabilities of a sampled pool are "
                    "those of all its topics"
                )
            options |= {"seed": seed, "measures": sampled_measures(options["measures"], MEASURES)}
            return compared_by_sample(
                self,
                qrels,
                runs,
                options["measures"],
                against=against,
                family=family,
                alpha=alpha,
                options=options,
            )
        refuse_sampled_only(options)
        judged = one_qrels(self, qrels)
        evaluations = evaluate_files(self, runs, {judged.name: judged}, options)[judged.name]
        tags = [evaluation.tag for evaluation in evaluations]
        if against != "all" and against not in tags:
            raise BadInput(f"--against {against}, but the runs are {', '.join(tags)}")
        pairs = (
            all_pairs(len(tags))
            if against == "all"
            else [(tags.index(against), k) for k, tag in enumerate(tags) if tag != against]
        )
        groups = {} if topic_groups is None else groups_of_topics(self, topic_groups, judged.topics)
        result: dict[str, Any] = {}
        undefined: dict[str, str] = {}
        for column, measure in enumerate(options["measures"]):
            values = np.column_stack([evaluation.values[:, column] for evaluation in evaluations])
            counted = ~np.isnan(values).any(axis=1)
            how = (str(measure), tags, pairs, against, family, trials, alpha, seed)
            whole = self.compared(values[counted], *how)
            if isinstance(whole, str):
                undefined[str(measure)] = whole
                whole = empty(tags)
            if groups:
                whole["by_group"] = {}
                for group, members in groups.items():
                    part = self.compared(values[counted & members], *how)
                    if isinstance(part, str):
                        undefined[f"{measure}, {group}"] = part
                        part = empty(tags)
                    whole["by_group"][group] = part
            result[str(measure)] = whole
        result["settings"] = {
            "against": against,
            "family": family,
            "trials": trials,
            "alpha": alpha,
            "letters_by": DECIDES[family],
        }
        if undefined:
            result["undefined"] = undefined
        return result

    def compared(
        self,
        values: np.ndarray,
        measure: str,
        tags: Sequence[str],
        pairs: Sequence[tuple[int, int]],
        against: str,
        family: str,
        trials: int,
        alpha: float,
        seed: int,
    ) -> dict[str, Any] | str:
        """The answer for one measure, or the reason why there is none."""
        if len(values) < 2:
            return f"{counted(len(values), 'topic', 'counts', 'count')} for all runs, but a paired test needs two"
        rng = np.random.default_rng(seed)
        made = compare(values, pairs, trials=trials, rng=rng, alpha=alpha)
        held = corrected(made, values, family, rng=rng)
        p = deciding_p(made, held, family)
        different = verdicts(made, p, alpha=alpha)
        answer = {
            "means": dict(zip(tags, values.mean(axis=0).tolist(), strict=True)),
            "pairs": [row_of(made, held, p, different, k, tags) for k in range(len(pairs))],
            "topics": len(values),
            **grouped(made, values, different, tags),
        }
        return {
            "verdict": compared_words(measure, answer, against=against, family=family, alpha=alpha),
            **answer,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        settings = result["settings"]
        for measure in [
            name
            for name, of_measure in result.items()
            if isinstance(of_measure, dict) and "means" in of_measure
        ]:
            of_measure = result[measure]
            if measure in result.get("undefined", {}):
                parts.append(f"{measure}: {result['undefined'][measure]}")
                continue
            order = sorted(of_measure["means"], key=lambda tag: (-of_measure["means"][tag], tag))
            parts.append(of_measure["verdict"])
            name, group = groups_column(of_measure)
            parts.append(
                text_table(
                    ["run", f"mean {measure}", name],
                    [[tag, of_measure["means"][tag], group[tag]] for tag in order],
                )
            )
            parts.append(
                pairs_table(
                    of_measure["pairs"],
                    settings["family"],
                    tests=TESTS[:1] if "pool" in result else TESTS,
                )
            )
        often = [LOOKED_AT_OFTEN] if options.get("campaign") else []
        if "pool" in result:
            return "\n\n".join([*parts, sampled_notes(result), *often])
        answers = [one for one in result.values() if isinstance(one, dict) and "means" in one]
        notes = ["Differences are b - a with 95% confidence intervals over topics."]
        if any(any(one["groups"].values()) for one in answers):
            test = (
                "randomisation test"
                if settings["letters_by"] == "randomisation"
                else "paired t-test"
            )
            notes.append(
                f"Runs that share a letter do not differ significantly at {settings['alpha']:g} "
                f"by the {test}, correction: {settings['family']}."
            )
        notes.append(constant_words(result).strip())
        if settings["family"] == "none" and any(len(one["pairs"]) > 1 for one in answers):
            notes.append(
                "Uncorrected p-values of many pairs find differences that do not exist: see --family."
            )
        parts.append(" ".join(filter(None, notes)))
        return "\n\n".join([*parts, *often])


def refuse_sampled_only(options: Mapping[str, Any]) -> None:
    if options["rank_model"]:
        raise BadInput(
            "--rank-model is for sampled pools (--sampled): where everything is judged there is nothing to help"
        )
    try:
        refuse_estimates(options["measures"])
    except UnknownMeasure as error:
        raise BadInput(str(error)) from None


def sampled_notes(result: Mapping[str, Any]) -> str:
    pool = result["pool"]
    return (
        f"{pool['judged']} of {pool['pairs']} pairs of the pool are judged. Differences are b - "
        f"a, estimated, with the range (95 %) in which the mean "
        f"over all topics of this kind lies; of HT-P@k and HT-DCG@k --json has the range for "
        f"these topics, too. {result['settings']['tests'].capitalize()}."
    )


def empty(tags: Sequence[str]) -> dict[str, Any]:
    return {
        "verdict": "",
        "means": dict.fromkeys(tags),
        "pairs": [],
        "groups": dict.fromkeys(tags, ""),
        "no_verdict": "",
        "topics": 0,
    }


def row_of(
    made: Compared,
    held: Mapping[str, np.ndarray],
    p: np.ndarray,
    different: np.ndarray,
    k: int,
    tags: Sequence[str],
) -> dict[str, Any]:
    """p: the corrected p-values on which verdicts rest."""
    a, b = made.pairs[k]
    randomisation = float(made.p["randomisation"][k])
    return {
        "a": tags[a],
        "b": tags[b],
        "difference": made.difference[k],
        "interval": made.intervals[k].bounds,
        "interval_reason": made.intervals[k].reason,
        **{test: made.p[test][k] for test in TESTS},
        "randomisation_exact": bool(made.exact[k]),
        "randomisation_error": 0.0
        if made.exact[k]
        else monte_carlo_error(randomisation, made.trials),
        "corrected": {test: held[test][k] for test in TESTS},
        "p": p[k],
        "opposed": bool(made.opposed[k]),
        "different": None if why_no_verdict(made.n_topics) else bool(different[k]),
        "effect": made.effect[k],
        "effect_interval": [made.effect_low[k], made.effect_high[k]],
        "wins": int(made.wins[k]),
        "ties": int(made.ties[k]),
        "losses": int(made.losses[k]),
    }


def pairs_table(
    pairs: Sequence[Mapping[str, Any]], family: str, *, tests: Sequence[str] = TESTS
) -> str:
    rows = []
    reasons = any(row["interval_reason"] for row in pairs)
    for row in pairs:
        cells = [
            row["a"],
            row["b"],
            row["difference"],
            *row["interval"],
            row["effect"],
            f"{row['wins']}/{row['ties']}/{row['losses']}",
        ]
        cells += [p_text(row[test]) for test in tests]
        if family != "none":
            cells += [
                p_text(row["corrected"][test])
                for test in tests
                if family != "max" or test == "randomisation"
            ]
        rows.append([*cells, row["interval_reason"]] if reasons else cells)
    header = ["a", "b", "b - a", "from", "to", "effect", "wins/ties/losses", *tests]
    if family != "none":
        header += [
            f"{test}, corrected" for test in tests if family != "max" or test == "randomisation"
        ]
    return text_table([*header, "why no interval"] if reasons else header, rows)
