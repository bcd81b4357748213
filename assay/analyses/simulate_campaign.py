"""Replay complete judgements with a pooling strategy, annotators who make errors, and a budget."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    iterate_runs,
    parse_measure_list,
    read_one_qrels,
)
from assay.analyses.shared.pool_grades import keep_judged_pairs, look_up_grades
from assay.analyses.shared.reading import MEASURES_HINT, RunReading
from assay.cli.base import BadInput, Warn, parse_fraction, parse_positive
from assay.column_types import QrelsColumns, RunColumns
from assay.measures.measures import Measure, parse_measures
from assay.number_words import format_count
from assay.options import add_options, option
from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE
from assay.pools.depth import cut_run, make_depth_pool
from assay.results import Values
from assay.sampling import replay_ordered as ordered
from assay.sampling import replay_sampled as sampled
from assay.sampling.replay import AnnotatorErrors, JudgedPool, make_judged_pool, select_part
from assay.tabular import Cell, Table

STRATEGIES = {
    ordered.LEVEL_ORDER: "rank by rank",
    **dict(
        zip(ordered.GOALS, ("most likely relevant first", "equal shares of topics"), strict=True)
    ),
    "sampled": "stratified sample",
}
ESTIMATES = "HT-nDCG@10 xinfAP"
MEASURES = "AP nDCG@10"
MAX_OVERRUN = 1.05
"""Warn if the number of drawn pairs exceeds the budget by more than this factor. Topics are
resampled, and their pools differ in size."""
SCHEDULER_NOTE = (
    "the assignment order of the scheduler; leases, parallel annotators and time are not replayed"
)


def parse_shares(text: str) -> list[float]:
    try:
        fractions = sorted({parse_fraction(cell) for cell in text.split(",")})
    except ArgumentTypeError:
        fractions = []
    if not fractions or fractions[0] <= 0:
        raise ArgumentTypeError(
            f"{text!r} is not a list of shares above 0 and up to 1, such as 0.1,0.2,0.5"
        )
    return fractions


def parse_part(text: str) -> tuple[float, int]:
    share, _, most = text.partition(",")
    try:
        share_and_most = parse_fraction(share), parse_positive(most)
    except ArgumentTypeError:
        share_and_most = 0.0, 0
    if not share_and_most[0] or not share_and_most[1]:
        raise ArgumentTypeError(
            f"{text!r} is not a share of the topics and a number of runs, such as 0.8,16"
        )
    return share_and_most


@dataclass(frozen=True)
class Options(RunReading):
    strategy: str = option(
        ordered.LEVEL_ORDER, "Pooling strategy", choices=tuple(STRATEGIES.items())
    )
    depth: int = option(10, "Pool depth", help="depth of the pool", least=1, metavar="K")
    budgets: list[float] = option(
        "0.1,0.2,0.3,0.5",
        "Budgets",
        help="comma-separated budgets, as shares of the pool",
        read=parse_shares,
        metavar="SHARES",
    )
    simulations: int = option(1, "Simulations", help="number of simulations", least=1)
    stopping: bool = option(
        False,
        "Stopping rule",
        help="apply the stopping rule of this pool type, with an interim check at each budget",
    )
    part: tuple[float, int] | None = option(
        None,
        "Part of topics and runs",
        help="share of the topics and maximum number of runs in each simulation",
        read=parse_part,
        metavar="SHARE,RUNS",
    )
    strata: str = option(
        "rank",
        "Strata",
        help="basis of the strata of a sampled pool",
        choices=tuple((name, name) for name in sampled.STRATA_MAKERS),
    )
    batch: int = option(
        DEFAULT_SIZE, "Batch size", help="pairs per batch of a prioritised pool", least=1
    )
    audit: float = option(
        DEFAULT_AUDIT,
        "Audit pairs",
        help="share of audit pairs in each batch",
        least=0,
        most=1,
        metavar="SHARE",
    )
    sensitivity: float = option(
        1.0,
        "Sensitivity",
        help="probability that an annotator labels a relevant pair as relevant",
        least=0,
        most=1,
        metavar="P",
    )
    specificity: float = option(
        1.0,
        "Specificity",
        help="probability that an annotator labels a non-relevant pair as not relevant",
        least=0,
        most=1,
        metavar="P",
    )
    n_judgements: int = option(
        1, "Judgements per pair", help="judgements per pair, aggregated by majority", least=1
    )
    seconds: int = option(
        48, "Seconds per judgement", help="seconds per judgement", least=1, metavar="S"
    )
    unjudged: str = option(
        "drop",
        "Pairs without a grade",
        choices=(("drop", "leave them out"), ("lowest", "grade 0")),
    )
    measures: list[Measure] | None = option(
        None,
        "Measures",
        help=f'measures of prioritised pools (default: "{MEASURES}"); sampled pools use {ESTIMATES}',
        hint=MEASURES_HINT,
        read=parse_measure_list,
        metavar='"..."',
        kind="measures",
    )


class SimulationInputs(NamedTuple):
    """Data that all simulated campaigns share. part: (share of the topics, maximum number of runs)
    of each simulation, or None."""

    judged_pool: JudgedPool
    plan: ordered.OrderedReplay | sampled.SampledReplay
    pairs: np.ndarray
    stopping: bool
    part: tuple[float, int] | None
    seed: int


def plan(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    seed: int = 0,
    warn: Warn,
) -> PieceworkPlan:
    """Plan the simulations, one per piece.

    qrels: complete judgements. For a prioritised pool, the result has means over simulations of the
    error of scores (RMSE), the correlation of rankings (tau) and recall by budget, and for a
    sampled pool bias, coverage and half-width of the estimates. Raises BadInput for options of the
    other kind of pool, and if no pair of the pool is relevant.
    """
    refuse_contradictions(options)
    judged_pool = make_pool_of_runs(qrels, list(runs), options, seed, warn)
    errors = AnnotatorErrors(options.sensitivity, options.specificity, options.n_judgements)
    made: ordered.OrderedReplay | sampled.SampledReplay
    if options.strategy == "sampled":
        made = sampled.SampledReplay(
            options.budgets, options.strata, parse_measures(ESTIMATES), errors
        )
    else:
        chosen = options.measures or parse_measures(MEASURES)
        made = ordered.OrderedReplay(
            options.strategy, options.budgets, chosen, errors, options.batch, options.audit
        )
    pairs = sampled.choose_system_pairs(len(judged_pool.tags), np.random.default_rng(seed))
    shared = SimulationInputs(judged_pool, made, pairs, options.stopping, options.part, seed)
    cost = options.n_judgements * options.seconds / 3600
    return PieceworkPlan(
        "simulations",
        run_simulation,
        shared,
        list(range(options.simulations)),
        lambda simulations: summarise_simulations(
            shared, options.strategy, cost, simulations, warn
        ),
    )


def refuse_contradictions(options: Options) -> None:
    if options.strategy == "sampled" and options.measures is not None:
        raise BadInput(
            f"--measures needs a prioritised pool; a sampled pool is estimated by {ESTIMATES}"
        )
    if options.strategy == "sampled" and options.part is not None:
        raise BadInput(
            "--part needs a prioritised pool; simulations of a sampled pool draw topics with replacement"
        )


def make_pool_of_runs(
    qrels: QrelsColumns, runs: Sequence[RunColumns], options: Options, seed: int, warn: Warn
) -> JudgedPool:
    tops = [cut_run(run, options.depth, topics=qrels.topics) for run in runs]
    pool = make_depth_pool(tops, depth=options.depth, rng=np.random.default_rng(seed))
    grades = look_up_grades(pool, qrels)
    n_missing = int((grades < 0).sum())
    if options.unjudged == "lowest":
        grades = np.maximum(grades, 0)
    elif n_missing:
        are = "is" if n_missing == 1 else "are"
        warn(
            f"{n_missing} of {format_count(len(pool), 'pair')} of the pool have no grade and "
            f"{are} left out (--unjudged lowest counts them as grade 0)"
        )
        pool, grades = keep_judged_pairs(pool, grades)
    if not len(pool) or not (grades >= options.min_relevant).any():
        raise BadInput(
            f"{qrels.name}: no pair of the pool has a grade of at least {options.min_relevant}"
        )
    return make_judged_pool(pool, grades, runs, min_relevant=options.min_relevant)


def summarise_simulations(
    shared: SimulationInputs,
    order: str,
    cost: float,
    simulations: Sequence[tuple[Any, Any]],
    warn: Warn,
) -> Values:
    """Summarise the simulations. cost: hours per judged pair."""
    judged_pool = shared.judged_pool
    result: Values = {
        "order": order,
        "scheduler": SCHEDULER_NOTE,
        "pairs": len(judged_pool),
        "topics": judged_pool.n_topics,
        "runs": len(judged_pool.tags),
        "relevant": int((judged_pool.grades >= judged_pool.min_relevant).sum()),
        "simulations": len(simulations),
    }
    outcomes = [one for one, _ in simulations]
    stops = [stop for _, stop in simulations if stop is not None]
    if order == "sampled":
        result |= summarise_samples(shared, outcomes)
    else:
        result |= summarise_checks(shared, outcomes)
    for budget, row in result["budgets"].items():
        row["hours"] = row["judged"] * cost
        if order == "sampled" and row["judged"] > MAX_OVERRUN * float(budget) * len(judged_pool):
            warn(
                f"budget {budget}: {row['judged']:,.0f} pairs are drawn instead of "
                f"{float(budget) * len(judged_pool):,.0f}, because each stratum gives at least 2. "
                "Fewer strata (--strata votes) allow a smaller sample"
            )
    if stops:
        result["stopping"] = (
            summarise_sampled_stops(stops) if order == "sampled" else summarise_ordered_stops(stops)
        )
    return result


def run_simulation(shared: SimulationInputs, number: int) -> tuple[Any, Any]:
    """Simulate one campaign. Return (its results by budget, the time at which the stopping rule
    applied or None)."""
    if isinstance(shared.plan, sampled.SampledReplay):
        looks = sampled.simulate_sample(
            shared.judged_pool, shared.plan, shared.pairs, [shared.seed, number, 0]
        )
        return looks, sampled.replay_until_stop(
            shared.judged_pool, shared.plan, [shared.seed, number, 1]
        ) if shared.stopping else None
    judged_pool, seed = shared.judged_pool, shared.seed + number
    if shared.part is not None:
        share, most = shared.part
        rng = np.random.default_rng([shared.seed, number, 2])
        topics = np.sort(
            rng.permutation(judged_pool.n_topics)[: max(round(share * judged_pool.n_topics), 1)]
        )
        judged_pool = select_part(
            judged_pool, topics, np.sort(rng.permutation(len(judged_pool.tags))[:most])
        )
    return ordered.replay_ordered(judged_pool, shared.plan, seed), ordered.replay_until_stop(
        judged_pool, shared.plan, seed
    ) if shared.stopping else None


def summarise_checks(
    shared: SimulationInputs, outcomes: Sequence[list[ordered.InterimResult]]
) -> Values:
    """Return, per budget, the means over simulations of the interim checks: pairs judged, recall,
    tau and RMSE by measure, relevant pairs left, and their upper bound."""
    budgets = {}
    for k, budget in enumerate(shared.plan.budgets):
        looks = [looks[k] for looks in outcomes]
        bounded = [look for look in looks if not math.isnan(look.upper_left)]
        budgets[str(budget)] = {
            "judged": mean_or_nan(look.judged for look in looks),
            "recall": mean_or_nan(look.recall for look in looks),
            **{
                key: {
                    name: mean_or_nan(getattr(look, key)[name] for look in looks)
                    for name in looks[0].tau
                }
                for key in ("tau", "rmse")
            },
            "relevant_left": mean_or_nan(look.left for look in looks),
            "relevant_left_at_most": mean_or_nan(look.upper_left for look in bounded),
            "bound_held": mean_or_nan(look.left <= look.upper_left for look in bounded),
        }
    return {"budgets": budgets}


def summarise_samples(
    shared: SimulationInputs, outcomes: Sequence[dict[tuple[str, str], sampled.SimulationResult]]
) -> Values:
    def summarise_budget(budget: str, name: str) -> dict[str, float]:
        rows = [looks[budget, name] for looks in outcomes]
        columns = {"bias": "bias", "coverage": "covered", "half_width": "half", "tau": "tau"}
        return {
            key: mean_or_nan(getattr(row, column) for row in rows)
            for key, column in columns.items()
        }

    names = dict.fromkeys(name for budget, name in outcomes[0] if budget != "1")

    def mean_judged(budget: str) -> float:
        return mean_or_nan(looks[budget, next(iter(names))].judged for looks in outcomes)

    return {
        "budgets": {
            str(b): {
                "judged": mean_judged(str(b)),
                "measures": {name: summarise_budget(str(b), name) for name in names},
            }
            for b in shared.plan.budgets
        },
        "full": {
            name: summarise_budget("1", name) for budget, name in outcomes[0] if budget == "1"
        },
    }


def summarise_ordered_stops(stops: Sequence[ordered.OrderedStop]) -> dict[str, float]:
    return {
        "share_judged": mean_or_nan(stop.judged for stop in stops),
        "best_right": mean_or_nan(stop.right for stop in stops),
        "mean_loss": mean_or_nan(stop.loss for stop in stops),
        "greatest_loss": max(stop.loss for stop in stops),
        "pairs": sum(stop.pairs for stop in stops),
        "wrong_by_more_than_.01": sum(stop.wrong for stop in stops),
    }


def summarise_sampled_stops(stops: Sequence[sampled.SampledStop]) -> dict[str, float]:
    return {
        "share_judged": mean_or_nan(stop.judged for stop in stops),
        "coverage": sum(stop.covered for stop in stops) / sum(stop.compared for stop in stops),
        "coverage_full": sum(stop.covered_whole for stop in stops)
        / sum(stop.compared_whole for stop in stops),
        "best_right": mean_or_nan(stop.right for stop in stops),
        "mean_loss": mean_or_nan(stop.loss for stop in stops),
        "greatest_loss": max(stop.loss for stop in stops),
        "comparisons": sum(stop.compared for stop in stops),
        "significant": sum(stop.significant for stop in stops),
        "wrong_sign": sum(stop.wrong_sign for stop in stops),
        "significant_full": sum(stop.significant_whole for stop in stops),
        "seen": sum(stop.seen for stop in stops),
        "let_go_for_narrowing": sum(stop.narrowing for stop in stops),
        "narrowed_by_more": sum(stop.narrowed for stop in stops),
    }


def mean_or_nan(values: Iterable[float]) -> float:
    """Return the mean, NaN without values."""
    numbers = [float(value) for value in values]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def result_tables(result: Values) -> list[Table]:
    simulations = format_count(result["simulations"], "simulation")
    about = (
        f"{result['order']}: {format_count(result['pairs'], 'pair')} of "
        f"{format_count(result['topics'], 'topic')}, {result['relevant']} relevant, "
        f"{format_count(result['runs'], 'run')}, {simulations}; {result['scheduler']}."
    )
    rows: list[list[Cell]]
    if result["order"] == "sampled":
        rows = [
            [
                float(budget),
                name,
                row["judged"],
                row["hours"],
                *(one[key] for key in ("bias", "coverage", "half_width", "tau")),
            ]
            for budget, row in result["budgets"].items()
            for name, one in row["measures"].items()
        ]
        header = [
            *("share judged", "measure", "judged", "hours"),
            *("bias", "coverage", "half-width", "tau"),
        ]
        note = (
            f"{about} A measure without HT or inf counts pairs outside the sample as not relevant."
        )
        full: list[list[Cell]] = [[name, one["half_width"]] for name, one in result["full"].items()]
        made = [
            Table("budgets", "Estimates by budget", header, rows, note),
            Table(
                "full", "CI half-width with complete judgements", ["measure", "half-width"], full
            ),
        ]
    else:
        names = list(next(iter(result["budgets"].values()))["tau"])
        header = [
            *("share judged", "judged", "hours", "recall"),
            *(f"tau {name}" for name in names),
            *(f"RMSE {name}" for name in names),
            *("relevant left", "upper bound", "bound holds"),
        ]
        rows = [
            [
                float(budget),
                *(row[key] for key in ("judged", "hours", "recall")),
                *row["tau"].values(),
                *row["rmse"].values(),
                *(row[key] for key in ("relevant_left", "relevant_left_at_most", "bound_held")),
            ]
            for budget, row in result["budgets"].items()
        ]
        made = [Table("budgets", "Results by budget", header, rows, about)]
    if "stopping" in result:
        rows = [[key.replace("_", " "), value] for key, value in result["stopping"].items()]
        made.append(Table("stopping", "Stopping of the rule", ["", "value"], rows))
    return made


class Command(PiecewiseCommand):
    help = (
        "Replay a complete set of judgements with a pooling strategy, simulated annotator errors "
        "and a budget, to plan a campaign."
    )
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS", help="qrels file of complete judgements")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_options(parser, Options)

    def plan(
        self, *, qrels: str, runs: list[str], seed: int, **option_values: Any
    ) -> PieceworkPlan:
        options = Options.from_mapping(option_values)
        refuse_contradictions(options)  # fail before files are read
        judged = read_one_qrels(self, qrels)
        return plan(
            judged, iterate_runs(self, runs, option_values), options, seed=seed, warn=self.warn
        )
