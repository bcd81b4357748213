"""Test the differences between systems on any measure, for every pair of systems."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.campaign_sources import (
    CampaignAction,
    CampaignCommand,
    add_campaign_options,
)
from assay.analyses.shared.comparison_tables import (
    assisted_table,
    differences_chart,
    fixed_topics_table,
    means_table,
    pairs_table,
    result_measures,
)
from assay.analyses.shared.fail_conditions import (
    FailCondition,
    check_conditions,
    describe_check,
    parse_fail_condition,
    resolve_baselines,
)
from assay.analyses.shared.measures import (
    evaluate_runs,
    iterate_runs,
    parse_measures_or_estimates,
    read_one_qrels,
)
from assay.analyses.shared.reading import SampledEvaluationOptions, alpha_option, measures_option
from assay.analyses.shared.sampled_differences import compare_sampled_systems, pairs_to_compare
from assay.analyses.shared.sampled_files import (
    SAMPLED_MEASURES,
    SampledPool,
    measures_or_default,
    read_sampled_pool,
)
from assay.analyses.shared.topic_groups import read_topic_groups
from assay.charts.svg import Picture
from assay.cli.base import BadInput, Warn, join_tables, to_json_types
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.leading_system import describe_comparison
from assay.comparison.significance import no_verdict_reason
from assay.comparison.system_comparison import (
    FAMILIES,
    TESTS,
    PairComparisons,
    compare_systems,
    correct_p_values,
    deciding_p,
    find_significant,
    group_systems,
    monte_carlo_error,
)
from assay.comparison.verdict_sentences import REPEATED_TESTING_NOTE
from assay.formats.topic_scores import TopicScores, read_topic_scores
from assay.measures.measures import Measure, UnknownMeasure, refuse_estimates
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Table

MEASURES = "nDCG@10 AP"
DECIDING_TESTS = {"max": "randomisation", "none": "t", "bonferroni": "t", "holm": "t"}
"""The test that determines which systems differ, by correction."""
MIN_RUNS = "there is only one run; a comparison needs at least two"


@dataclass(frozen=True)
class Options(SampledEvaluationOptions):
    measures: list[Measure] = measures_option(MEASURES, parse_measures_or_estimates)
    against: str = option(
        "all",
        "Compare",
        help="runs to compare: all (every pair), or TAG (this run with every other run)",
        hint="Every pair of runs, or one run with all others.",
        metavar="all|TAG",
        kind="tag",
        more={"choices": (("all", "every pair of runs"),)},
    )
    correction: str = option(
        "holm",
        "Multiple-comparison correction",
        choices=tuple(
            zip(
                FAMILIES,
                (
                    "no correction",
                    "Bonferroni",
                    "Holm",
                    "randomised Tukey HSD, max statistic",
                ),
                strict=True,
            )
        ),
    )
    permutations: int = option(
        100_000,
        "Permutations",
        help="number of random permutations if there are more than 20 topics (default: 100000)",
        hint="For more than 20 topics. With up to 20 topics, all permutations are used.",
        least=1,
        most_in_form=10_000_000,
    )
    alpha: float = alpha_option()


def compute(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    groups: Mapping[str, NDArray[np.bool_]] | None = None,
    seed: int = 0,
    warn: Warn,
) -> Values:
    """Test the difference between every pair of runs on every measure.

    groups: {name: bool (n_topics of the qrels)}, groups of topics in which the tests are repeated.
    Differences are B - A on the scale of the measure. If no tests are possible, the result has only
    means, and the reason is in `undefined`. Raises BadInput for fewer than two runs, an unknown tag
    in `against`, or measures or options of sampled pools. Sources: Smucker, Allan and Carterette
    (2007), Carterette (2012).
    """
    check_options(options)
    evaluations = evaluate_runs(runs, {"": qrels}, options.measures, options, warn=warn)[""]
    scores = {
        str(measure): np.column_stack([evaluation.values[:, column] for evaluation in evaluations])
        for column, measure in enumerate(options.measures)
    }
    tags = [evaluation.tag for evaluation in evaluations]
    return compare_score_tables(scores, tags, options, groups=groups, seed=seed)


def compute_scores(
    table: TopicScores,
    options: Options,
    *,
    groups: Mapping[str, NDArray[np.bool_]] | None = None,
    seed: int = 0,
) -> Values:
    """Test the difference between every pair of systems on every measure of a table of scores, as
    `compute` does. A topic that a system lacks counts as `missing_topics` says. A topic with an
    undefined score is left out."""
    values = table.values
    if options.missing_topics == "zero":
        values = np.where(table.has_row, values, 0.0)
    scores = {measure: values[:, :, column].T for column, measure in enumerate(table.measures)}
    return compare_score_tables(scores, table.tags, options, groups=groups, seed=seed)


def compare_score_tables(
    scores: Mapping[str, NDArray[np.float64]],
    tags: Sequence[str],
    options: Options,
    *,
    groups: Mapping[str, NDArray[np.bool_]] | None,
    seed: int,
) -> Values:
    """Test all pairs on each table. scores: float64 (n_topics, n_runs) by measure, NaN if a topic
    does not count for a run, which leaves it out for all. Raises BadInput."""
    if len(tags) < 2:
        raise BadInput(MIN_RUNS)
    pairs = pairs_to_compare(tags, options.against)
    result: Values = {}
    undefined: dict[str, str] = {}

    def compare_topics(values: NDArray[np.float64], measure: str, name: str) -> Values:
        answer = _compare_measure(values, measure, tags, pairs, options, seed)
        if isinstance(answer, str):
            undefined[name] = answer
            return empty_result(tags)
        return answer

    for measure, values in scores.items():
        counts = ~np.isnan(values).any(axis=1)
        result[measure] = compare_topics(values[counts], measure, measure)
        if groups:
            result[measure]["by_group"] = {
                group: compare_topics(values[counts & members], measure, f"{measure}, {group}")
                for group, members in groups.items()
            }
    result["settings"] = {
        "against": options.against,
        "correction": options.correction,
        "permutations": options.permutations,
        "alpha": options.alpha,
        "letters_by": DECIDING_TESTS[options.correction],
    }
    return result | ({"undefined": undefined} if undefined else {})


def check_options(options: Options) -> None:
    if options.rank_model:
        raise BadInput("--rank-model is only for sampled pools; add --sampled")
    try:
        refuse_estimates(options.measures)
    except UnknownMeasure as error:
        raise BadInput(str(error)) from None


def compute_sampled(
    pool: SampledPool, runs: Iterable[RunColumns], options: Options, *, seed: int = 0
) -> Values:
    """Test the differences of scores estimated from a sampled pool, by the paired t-test.

    Raises BadInput for fewer than two runs, an unknown tag in `against`, randomised Tukey HSD, and
    measures that are not estimates."""
    options = replace(options, measures=measures_or_default(options.measures, MEASURES))
    return compare_sampled_systems(
        pool,
        runs,
        options.measures,
        options,
        against=options.against,
        family=options.correction,
        alpha=options.alpha,
        seed=seed,
    )


def _compare_measure(
    values: NDArray[np.float64],
    measure: str,
    tags: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    options: Options,
    seed: int,
) -> Values | str:
    """Return the result for one measure, or the reason why there is none.

    values: float64 (n_topics, n_runs), without NaN.
    """
    if len(values) < 2:
        return f"{format_count(len(values), 'topic', 'counts', 'count')} for all runs; a paired test needs at least two"
    rng = np.random.default_rng(seed)
    pair_results = compare_systems(
        values, pairs, trials=options.permutations, rng=rng, alpha=options.alpha
    )
    adjusted_p = correct_p_values(pair_results, values, options.correction, rng=rng)
    p = deciding_p(pair_results, adjusted_p, options.correction)
    different = find_significant(pair_results, p, alpha=options.alpha)
    answer = {
        "means": dict(zip(tags, values.mean(axis=0).tolist(), strict=True)),
        "pairs": [
            make_row(pair_results, adjusted_p, p, different, k, tags) for k in range(len(pairs))
        ],
        "topics": len(values),
        **group_systems(pair_results, values, different, tags),
    }
    how: Any = {
        "against": options.against,
        "correction": options.correction,
        "alpha": options.alpha,
    }
    return {"verdict": describe_comparison(measure, answer, **how), **answer}


def empty_result(tags: Sequence[str]) -> Values:
    return {
        "verdict": "",
        "means": dict.fromkeys(tags),
        "pairs": [],
        "groups": dict.fromkeys(tags, ""),
        "no_verdict": "",
        "topics": 0,
    }


def make_row(
    pair_results: PairComparisons,
    adjusted_p: Mapping[str, np.ndarray],
    p: np.ndarray,
    different: np.ndarray,
    k: int,
    tags: Sequence[str],
) -> Values:
    """Return pair `k` as JSON values. adjusted_p: corrected p-values by test. p: the corrected
    p-values of the test that decides."""
    a, b = pair_results.pairs[k]
    randomisation = float(pair_results.p["randomisation"][k])
    return {
        "a": tags[a],
        "b": tags[b],
        "difference": pair_results.difference[k],
        "interval": pair_results.intervals[k].bounds,
        "interval_reason": pair_results.intervals[k].reason,
        **{test: pair_results.p[test][k] for test in TESTS},
        "randomisation_exact": bool(pair_results.exact[k]),
        "randomisation_error": 0.0
        if pair_results.exact[k]
        else monte_carlo_error(randomisation, pair_results.trials),
        "corrected": {test: adjusted_p[test][k] for test in TESTS},
        "p": p[k],
        "opposed": bool(pair_results.opposed[k]),
        "different": None if no_verdict_reason(pair_results.n_topics) else bool(different[k]),
        "effect": pair_results.effect[k],
        "effect_interval": [pair_results.effect_low[k], pair_results.effect_high[k]],
        "wins": int(pair_results.wins[k]),
        "ties": int(pair_results.ties[k]),
        "losses": int(pair_results.losses[k]),
    }


def list_verdicts(result: Values) -> list[str]:
    """Return a sentence per measure on which systems differ."""
    return [one["verdict"] for one in result_measures(result).values() if one["verdict"]]


def plan_conditions(
    options: Options, conditions: Sequence[FailCondition], *, sampled: bool
) -> Options:
    """Return the options with the measures of the conditions. Tests are limited to those against
    their baseline, unless `against` or several baselines require more. Raises BadInput for tests
    against another run."""
    measures = (
        measures_or_default(options.measures, MEASURES) if sampled else list(options.measures)
    )
    for one in conditions:
        if one.measure not in measures:
            measures.append(one.measure)
    baselines = {one.baseline for one in conditions}
    if options.against == "all":
        against = baselines.pop() if len(baselines) == 1 else "all"
        return replace(options, measures=measures, against=against)
    if baselines != {options.against}:
        raise BadInput(
            f"--against is {options.against}, but --fail-on compares with "
            f"{', '.join(sorted(baselines))}; give the same run, or omit --against"
        )
    return replace(options, measures=measures)


def result_tables(result: Values) -> list[Table]:
    """Return the tables, with the verdicts in the note of the first."""
    means, *further = tables_without_verdicts(result)
    return [replace(means, note=" ".join([*list_verdicts(result), means.note])), *further]


def tables_without_verdicts(result: Values) -> list[Table]:
    answers, settings = result_measures(result), result["settings"]
    all_tables = [means_table("scores", "Effectiveness of the systems", answers, settings)]
    for number, (measure, one) in enumerate(answers.items(), 1):
        all_tables.append(
            pairs_table(f"pairs-{number}", f"Pairwise tests by {measure}", one, settings)
        )
    for number, name in enumerate(next(iter(answers.values())).get("by_group", {}), 1):
        within = {measure: one["by_group"][name] for measure, one in answers.items()}
        all_tables.append(
            means_table(f"scores-group-{number}", f"Effectiveness on {name}", within, settings)
        )
    if "pool" in result:
        pool = result["pool"]
        by_pair = (
            make(measure, answer)
            for measure, answer in answers.items()
            for make in (fixed_topics_table, assisted_table)
        )
        all_tables += [one for one in by_pair if one is not None]
        all_tables.append(
            Table(
                "sample",
                "Sample",
                ["pairs", "judged", "strata"],
                [[pool["pairs"], pool["judged"], pool["strata"]]],
                "All scores and differences are estimates from the judged pairs.",
            )
        )
    return all_tables


def result_charts(result: Values) -> list[Picture]:
    return [
        differences_chart(measure, one)
        for measure, one in result_measures(result).items()
        if one["pairs"]
    ]


class Command(CampaignCommand):
    estimates_sampled = True
    help = (
        "Test the differences between systems on any measure. Report confidence intervals, raw "
        "and corrected p-values, effect sizes, and groups of systems that do not differ "
        "significantly."
    )
    tables = staticmethod(result_tables)
    verdicts = staticmethod(list_verdicts)
    tables_below_verdicts = staticmethod(tables_without_verdicts)
    charts = staticmethod(result_charts)

    def table(self, result: Values, **options: Any) -> str:
        """Return the verdicts, then the tables, as text."""
        plain = to_json_types(result)
        text = join_tables(tables_without_verdicts(plain), plain)
        correction = plain["settings"]["correction"]
        checks = [describe_check(one, correction) for one in plain.get("fail_on", [])]
        return "\n".join([*checks, *list_verdicts(plain), "", text]).lstrip("\n")

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        add_options(parser, Options)
        parser.add_argument(
            "--topic-groups",
            metavar="FILE",
            help=(
                "file that assigns topics to groups (tab-separated topic and group); systems are "
                "also compared within each group"
            ),
        )
        parser.add_argument(
            "--fail-on",
            action="append",
            default=[],
            type=parse_fail_condition,
            metavar="CONDITION",
            help="condition for exit status 1, such as 'nDCG@10 < bm25': a run is significantly "
            "worse than bm25. The tag `baseline` refers to the first run. Runs are compared only "
            "with this run, unless --against is given",
        )
        parser.add_argument(
            "--sampled",
            action="store_true",
            help="read QRELS as a sampled pool (topic 0 document stratum grade) and estimate "
            f"differences (default measures: {SAMPLED_MEASURES})",
        )
        parser.add_argument(
            "--scores",
            action=CampaignAction,
            metavar="FILE",
            help="file of scores by topic (run measure topic value), instead of QRELS and RUN; all its "
            "measures are compared",
        )

    def compute(
        self,
        *,
        qrels: str | None,
        runs: list[str],
        topic_groups: str | None,
        seed: int,
        sampled: bool,
        fail_on: list[FailCondition],
        scores: str | None,
        **options: Any,
    ) -> Values:
        if scores is not None:
            if qrels is not None or options["campaign"] or sampled:
                raise BadInput("--scores FILE replaces QRELS and RUN; give one or the other")
            if fail_on:
                raise BadInput("--fail-on needs QRELS and RUN instead of --scores")
            table = read_topic_scores(scores)
            groups = topic_groups and read_topic_groups(self, topic_groups, table.topics)
            return compute_scores(
                table, Options.from_mapping(options), groups=groups or {}, seed=seed
            )
        if qrels is None or len(runs) < 2:
            raise BadInput(MIN_RUNS)
        if options["campaign"]:
            self.note(REPEATED_TESTING_NOTE)
        chosen = Options.from_mapping(options)
        if not sampled:
            check_options(chosen)  # fail before files are read
        read: Iterable[RunColumns] = iterate_runs(self, runs, options)
        if fail_on:
            read = list(read)
            fail_on = resolve_baselines(fail_on, [run.tag for run in read])
            chosen = plan_conditions(chosen, fail_on, sampled=sampled)
        result = self.compare_files(qrels, read, chosen, topic_groups, seed=seed, sampled=sampled)
        if fail_on:
            result["fail_on"] = check_conditions(fail_on, result)
            self.failed = any(one["worse"] for one in result["fail_on"])
        return result

    def compare_files(
        self,
        qrels: str,
        read: Iterable[RunColumns],
        chosen: Options,
        topic_groups: str | None,
        *,
        seed: int,
        sampled: bool,
    ) -> Values:
        if not sampled:
            judged = read_one_qrels(self, qrels)
            groups = topic_groups and read_topic_groups(self, topic_groups, judged.topics)
            return compute(judged, read, chosen, groups=groups or {}, seed=seed, warn=self.warn)
        if topic_groups is not None:
            raise BadInput(
                "--topic-groups cannot be used with a sampled pool, whose inclusion probabilities apply only to all topics together"
            )
        return compute_sampled(read_sampled_pool(self, qrels), read, chosen, seed=seed)
