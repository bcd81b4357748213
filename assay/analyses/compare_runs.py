"""Compare two runs by outcome, with tests and verdicts (Lin et al. 2021)."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.first_ranks import VerdictOptions, correction_option, read_first_ranks
from assay.analyses.shared.measures import iterate_runs, read_one_qrels
from assay.analyses.shared.run_charts import outcome_bar_chart
from assay.analyses.shared.verdict_tables import comparison_tables, p_value_or_none
from assay.charts.svg import Picture
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.equal_runs import simulate_equal_runs
from assay.comparison.outcomes import compare_ranks
from assay.comparison.verdict_sentences import describe_equal_runs, describe_run_verdict
from assay.comparison.verdicts import judge_comparisons, to_json
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Cell, Table


@dataclass(frozen=True)
class Options(VerdictOptions):
    correction: str = correction_option("none", "none", "bonferroni")
    seconds_per_document: float | None = option(
        None,
        "Seconds per document",
        help="reading time per document in seconds, for reporting search lengths as times",
        hint="To show search lengths as reading times. Leave empty for none.",
        least=0,
        strict=True,
        metavar="X",
    )


def compute(
    qrels: QrelsColumns,
    run_a: RunColumns,
    run_b: RunColumns,
    options: Options,
    *,
    seed: int = 0,
    warn: Warn,
    part: bool = False,
) -> Values:
    """Compare run B with run A: tests, verdicts, and the number of topics by outcome (answered by
    neither run, A, B or both).

    Differences are B - A in reciprocal rank (RR) and expected search length (ESL). seed: for the
    comparisons of equal runs. part: the qrels are limited to a group of topics. Means over topics
    that both runs answer are undefined if there are none. Raises BadInput for Bonferroni without
    the number of comparisons. Source: Lin et al. (2021).
    """
    refuse_unknown_family(options)
    first = read_first_ranks(qrels, [run_a, run_b], options, warn=warn, part=part)
    comparison = compare_ranks(*first.ranks)
    (judged,) = judge_comparisons(
        [comparison],
        alpha=options.alpha,
        decide=options.decide,
        correction=options.correction,
        family=options.family_size,
    )
    rates = simulate_equal_runs(
        *first.ranks,
        alpha=options.alpha,
        decide=options.decide,
        family=1
        if options.correction == "none" or options.family_size is None
        else options.family_size,
        rng=np.random.default_rng(seed),
    )
    a, b = first.tags
    row = {
        "a": a,
        "b": b,
        **to_json(comparison, judged),
        "topics_with_several_relevant": first.n_several,
    }
    result = {**row, "alpha": options.alpha, "equal_runs": asdict(rates)}
    if options.seconds_per_document is not None:
        result["reading_time"] = compute_reading_times(row["esl"], options.seconds_per_document)
    return result


def compute_reading_times(esl: Values, seconds: float) -> Values:
    """Return the mean times to the first relevant document in seconds, None if no topic is answered by
    both runs. esl: means `a` and `b` of the expected search length. seconds: constant reading time per
    document, as in the user model of Lin et al. (2021, section 4)."""
    a, b = (None if esl[side] is None else esl[side] * seconds for side in "ab")
    difference = None if a is None or b is None else b - a
    return {"seconds_per_document": seconds, "a": a, "b": b, "difference": difference}


def refuse_unknown_family(options: Options) -> None:
    if options.correction == "bonferroni" and options.family_size is None:
        raise BadInput(
            "--correction bonferroni needs --family-size, the number of comparisons in the family"
        )


def tests_table(row: Values) -> Table:
    """Return every test of one comparison, uncorrected and corrected."""
    mrr, scales, methods = row["mrr"], row["scales"], row["wsr_method"]
    of_all = [
        ("wrs", "rank-sum (unpaired)", ""),
        ("wrs_tie_corrected", "rank-sum (unpaired), corrected for ties", ""),
        ("wsr", "signed-rank", methods["mrr"]),
        ("t", "t", ""),
    ]
    rows: list[list[Cell]] = [
        ["RR, all topics", words, p_value_or_none(mrr[test]), None, scales[test], method]
        for test, words, method in of_all
    ]
    corrected = {} if row["correction"] == "none" else row["corrected"]
    rows.append(
        [
            "topics that one run answers",
            "binomial",
            p_value_or_none(row["binomial"]),
            p_value_or_none(corrected.get("binomial")),
            "",
            "",
        ]
    )
    for key, name in (("esl", "ESL"), ("rr", "RR")):
        for test, words in (("wsr", "signed-rank"), ("t", "t")):
            rows.append(
                [
                    f"{name}, topics that both runs answer",
                    words,
                    p_value_or_none(row[key][test]),
                    p_value_or_none(corrected.get(f"{key}_{test}")),
                    scales[test],
                    (methods["esl"] or "") if (key, test) == ("esl", "wsr") else "",
                ]
            )
    note = f"{row['topics']} topics. Scale: the scale that the test requires."
    if corrected:
        note += (
            f" Correction: {row['correction']}, {row['family_size']} comparisons. Verdicts use it."
        )
    header = ["compared", "test", "p", "p, corrected", "scale", "method"]
    return Table("tests", "Tests of B against A", header, rows, note)


def reading_time_table(result: Values) -> Table:
    times = result["reading_time"]
    return Table(
        "reading-time",
        "Reading time to the first relevant document",
        ["A", "B", "seconds A", "seconds B", "difference"],
        [[result["a"], result["b"], times["a"], times["b"], times["difference"]]],
        "Mean expected search length times "
        f"{times['seconds_per_document']:g} seconds per document, over the topics that both answer. "
        "The difference is B minus A.",
    )


def result_tables(result: Values) -> list[Table]:
    tables = comparison_tables([result], rates=describe_equal_runs(result))
    tables += [reading_time_table(result)] if "reading_time" in result else []
    return [*tables, tests_table(result)]


def list_verdicts(result: Values) -> list[str]:
    """Return the verdict by search length, with its reasons."""
    return [describe_run_verdict(result)]


def result_charts(result: Values) -> list[Picture]:
    return [outcome_bar_chart([result], f"Topics by outcome (A: {result['a']}, B: {result['b']})")]


class Command(TopicGroupCommand, CampaignCommand):
    help = (
        "Compare two runs by outcome (topics answered by neither, one or both runs), with tests "
        "and verdicts. Differences are B minus A."
    )
    run_places = ("run_a", "run_b")
    tables = staticmethod(result_tables)
    verdicts = staticmethod(list_verdicts)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("run_a", metavar="RUN_A")
        parser.add_argument("run_b", metavar="RUN_B")
        add_campaign_options(parser)
        add_options(parser, Options)

    def compute(
        self, *, qrels: str, run_a: str, run_b: str, seed: int, **option_values: Any
    ) -> Values:
        options = Options.from_mapping(option_values)
        refuse_unknown_family(options)  # fail before files are read
        judged = read_one_qrels(self, qrels)
        a, b = iterate_runs(self, [run_a, run_b], option_values)
        part = self.only_these is not None
        return compute(judged, a, b, options, seed=seed, warn=self.warn, part=part)
