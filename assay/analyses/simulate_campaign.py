"""`manage.py simulate_campaign QRELS RUN...`: what a way of pooling would have brought, replayed
over a complete set of judgements."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    each_run,
    measure_list,
    one_qrels,
)
from assay.analyses.shared.pool_grades import grades_of_pool, judged_part
from assay.analyses.shared.reading import LEVEL, RUNS, Reading
from assay.cli.base import BadInput, fraction, positive, text_table
from assay.counts import counted
from assay.measures.measures import Measure, parse_measures
from assay.options import add_options
from assay.pools.batches import AUDIT, SIZE
from assay.pools.depth import depth_pool, top_of_run
from assay.sampling import replay_ordered as ordered
from assay.sampling import replay_sampled as sampled
from assay.sampling.replay import Errors, World, part_of, world_of

ORDERS = (ordered.LEVEL, *ordered.GOALS, "sampled")
ESTIMATES = "HT-nDCG@10 xinfAP"
MEASURES = "AP nDCG@10"
MORE = 1.05
"""Times the pairs asked for, from which on it is said that more are drawn; topics are drawn anew,
and their pools are of unequal size."""
SCHEDULER = "the order of service of the scheduler's core; leases, annotators side by side and time are not replayed"


class Shared(NamedTuple):
    """What every simulation needs. part: share of the topics and most runs of each, or None."""

    world: World
    plan: ordered.OrderedReplay | sampled.SampledReplay
    pairs: np.ndarray
    stopping: bool
    part: tuple[float, int] | None
    seed: int


class Command(PiecewiseCommand):
    help = (
        "Replay a complete set of judgements with a way of pooling, fallible annotators and a "
        "budget, before a campaign is paid for."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS", help="the complete judgements")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        parser.add_argument(
            "--order",
            choices=ORDERS,
            default=ordered.LEVEL,
            help="level by level (default), relevant first, equal shares of topics, sampled",
        )
        parser.add_argument(
            "--depth", type=positive, default=10, metavar="K", help="depth of the pool (default 10)"
        )
        parser.add_argument(
            "--budgets",
            type=shares,
            default="0.1,0.2,0.3,0.5",
            metavar="SHARES",
            help="shares of the pool (default 0.1,0.2,0.3,0.5)",
        )
        parser.add_argument(
            "--simulations",
            type=positive,
            default=1,
            metavar="N",
            help="number of simulations (default: 1)",
        )
        parser.add_argument(
            "--stopping",
            action="store_true",
            help="stopping rule, checked at each budget",
        )
        parser.add_argument(
            "--part",
            type=part,
            metavar="SHARE,RUNS",
            help="each simulation over a share of the topics and at most so many runs",
        )
        parser.add_argument(
            "--strata",
            choices=list(sampled.STRATA),
            default="rank",
            help="strata of a sampled pool (default: rank)",
        )
        parser.add_argument(
            "--batch",
            type=positive,
            default=SIZE,
            metavar="N",
            help=f"pairs of a planned batch (default {SIZE})",
        )
        parser.add_argument(
            "--audit",
            type=fraction,
            default=AUDIT,
            metavar="SHARE",
            help=f"audit pairs of each batch (default {AUDIT})",
        )
        parser.add_argument(
            "--sensitivity",
            type=fraction,
            default=1.0,
            metavar="P",
            help="chance that an annotator calls a relevant pair relevant",
        )
        parser.add_argument(
            "--specificity",
            type=fraction,
            default=1.0,
            metavar="P",
            help="chance that an annotator calls another pair not relevant",
        )
        parser.add_argument(
            "--judgements",
            type=positive,
            default=1,
            metavar="N",
            help="judgements per pair; the majority becomes the label (default: 1)",
        )
        parser.add_argument(
            "--seconds",
            type=positive,
            default=48,
            metavar="S",
            help="seconds per judgement, for the hours of work (default: 48)",
        )
        parser.add_argument(
            "--unjudged",
            choices=("drop", "lowest"),
            default="drop",
            help="pairs of the pool without a grade: dropped (default), or grade 0",
        )
        parser.add_argument(
            "--measures",
            type=measure_list,
            metavar='"..."',
            help=f'measures of ordered pools (default: "{MEASURES}"); of sampled pools: {ESTIMATES}',
        )
        add_options(parser, Reading, *LEVEL, *RUNS)

    def plan(
        self,
        *,
        qrels: str,
        runs: list[str],
        order: str,
        measures: list[Measure] | None,
        seed: int,
        **options: Any,
    ) -> PieceworkPlan:
        if order == "sampled" and measures is not None:
            raise BadInput(
                f"--measures is for ordered pools; a sampled pool is estimated by {ESTIMATES}"
            )
        if order == "sampled" and options["part"] is not None:
            raise BadInput(
                "--part is for ordered pools; a sampled pool's simulations draw topics with repetition"
            )
        world = self.world(qrels, runs, seed=seed, options=options)
        errors = Errors(options["sensitivity"], options["specificity"], options["judgements"])
        made: ordered.OrderedReplay | sampled.SampledReplay
        if order == "sampled":
            made = sampled.SampledReplay(
                options["budgets"], options["strata"], parse_measures(ESTIMATES), errors
            )
        else:
            chosen = measures or parse_measures(MEASURES)
            made = ordered.OrderedReplay(
                order, options["budgets"], chosen, errors, options["batch"], options["audit"]
            )
        pairs = sampled.pairs_of_systems(len(world.tags), np.random.default_rng(seed))
        shared = Shared(world, made, pairs, options["stopping"], options["part"], seed)
        cost = options["judgements"] * options["seconds"] / 3600
        numbers = list(range(options["simulations"]))
        return PieceworkPlan(
            "simulations",
            simulate,
            shared,
            numbers,
            lambda simulations: self.finish(shared, order, cost, simulations),
        )

    def world(self, path: str, runs: Sequence[str], *, seed: int, options: dict[str, Any]) -> World:
        judged = one_qrels(self, path)
        read = list(each_run(self, runs, options))
        tops = [top_of_run(run, options["depth"], topics=judged.topics) for run in read]
        pool = depth_pool(tops, depth=options["depth"], rng=np.random.default_rng(seed))
        grades = grades_of_pool(pool, judged)
        n_missing = int((grades < 0).sum())
        if options["unjudged"] == "lowest":
            grades = np.maximum(grades, 0)
        elif n_missing:
            are = "is" if n_missing == 1 else "are"
            self.warn(
                f"{n_missing} of {counted(len(pool), 'pair')} of the pool without a grade {are} "
                f"dropped (--unjudged lowest counts them as grade 0)"
            )
            pool, grades = judged_part(pool, grades)
        if not len(pool) or not (grades >= options["level"]).any():
            raise BadInput(
                f"{path}: no pair of the pool has a grade of at least {options['level']}, so that "
                f"there is nothing to find"
            )
        return world_of(pool, grades, read, level=options["level"])

    def finish(
        self, shared: Shared, order: str, cost: float, simulations: Sequence[tuple[Any, Any]]
    ) -> dict[str, Any]:
        world = shared.world
        result: dict[str, Any] = {
            "order": order,
            "scheduler": SCHEDULER,
            "pairs": len(world),
            "topics": world.n_topics,
            "runs": len(world.tags),
            "relevant": int((world.grades >= world.level).sum()),
            "simulations": len(simulations),
        }
        brought = [one for one, _ in simulations]
        stops = [stop for _, stop in simulations if stop is not None]
        if order == "sampled":
            result |= of_samples(shared, brought)
        else:
            result |= of_looks(shared, brought)
        for budget, row in result["budgets"].items():
            row["hours"] = row["judged"] * cost
            if order == "sampled" and row["judged"] > MORE * float(budget) * len(world):
                self.warn(
                    f"budget {budget}: {row['judged']:,.0f} pairs are drawn in place of "
                    f"{float(budget) * len(world):,.0f}, for each stratum gives at least 2; "
                    "fewer strata (--strata votes) make a smaller sample possible"
                )
        if stops:
            result["stopping"] = (
                of_sampled_stops(stops) if order == "sampled" else of_ordered_stops(stops)
            )
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        simulations = "simulation" if result["simulations"] == 1 else "simulations"
        parts = [
            f"{result['order']}: {result['pairs']} pairs of {result['topics']} topics, "
            f"{result['relevant']} relevant, {result['runs']} runs, "
            f"{result['simulations']} {simulations}; {result['scheduler']}"
        ]
        if result["order"] == "sampled":
            rows = [
                [
                    f"{budget}, {name}",
                    row["judged"],
                    row["hours"],
                    *(one[key] for key in ("bias", "coverage", "half_width", "tau")),
                ]
                for budget, row in result["budgets"].items()
                for name, one in row["measures"].items()
            ]
            parts.append(
                text_table(
                    ["share, measure", "judged", "hours", "bias", "coverage", "half-width", "tau"],
                    rows,
                )
            )
            full = ", ".join(
                f"{name} {one['half_width']:.3f}" for name, one in result["full"].items()
            )
            parts.append(
                f"Half-width with everything judged: {full}. A measure without HT or inf counts "
                f"what was not drawn as not relevant."
            )
        else:
            names = list(next(iter(result["budgets"].values()))["tau"])
            header = [
                "share judged",
                "hours",
                "recall",
                *(f"tau {name}" for name in names),
                *(f"rmse {name}" for name in names),
            ]
            rows = [
                [budget, row["hours"], row["recall"], *row["tau"].values(), *row["rmse"].values()]
                for budget, row in result["budgets"].items()
            ]
            parts.append(text_table(header, rows))
        if "stopping" in result:
            parts.append(
                "When the rule says stop\n"
                + text_table(
                    ["", "value"],
                    [[key.replace("_", " "), value] for key, value in result["stopping"].items()],
                )
            )
        return "\n\n".join(parts)


def simulate(shared: Shared, number: int) -> tuple[Any, Any]:
    """One simulation: what it brought, and when the rule said stop."""
    if isinstance(shared.plan, sampled.SampledReplay):
        looks = sampled.simulated(shared.world, shared.plan, shared.pairs, [shared.seed, number, 0])
        return looks, sampled.stopped(
            shared.world, shared.plan, [shared.seed, number, 1]
        ) if shared.stopping else None
    world, seed = shared.world, shared.seed + number
    if shared.part is not None:
        share, most = shared.part
        rng = np.random.default_rng([shared.seed, number, 2])
        topics = np.sort(rng.permutation(world.n_topics)[: max(round(share * world.n_topics), 1)])
        world = part_of(world, topics, np.sort(rng.permutation(len(world.tags))[:most]))
    return ordered.replayed(world, shared.plan, seed), ordered.stopped(
        world, shared.plan, seed
    ) if shared.stopping else None


def of_looks(shared: Shared, brought: Sequence[list[ordered.Look]]) -> dict[str, Any]:
    """Means over simulations, by budget."""
    budgets = {}
    for k, budget in enumerate(shared.plan.budgets):
        looks = [looks[k] for looks in brought]
        bounded = [look for look in looks if not math.isnan(look.upper_left)]
        budgets[str(budget)] = {
            "judged": mean(look.judged for look in looks),
            "recall": mean(look.recall for look in looks),
            **{
                key: {
                    name: mean(getattr(look, key)[name] for look in looks) for name in looks[0].tau
                }
                for key in ("tau", "rmse")
            },
            "relevant_left": mean(look.left for look in looks),
            "relevant_left_at_most": mean(look.upper_left for look in bounded),
            "bound_held": mean(look.left <= look.upper_left for look in bounded),
        }
    return {"budgets": budgets}


def of_samples(
    shared: Shared, brought: Sequence[dict[tuple[str, str], sampled.Found]]
) -> dict[str, Any]:
    def summary(budget: str, name: str) -> dict[str, float]:
        rows = [looks[budget, name] for looks in brought]
        columns = {"bias": "bias", "coverage": "covered", "half_width": "half", "tau": "tau"}
        return {key: mean(getattr(row, column) for row in rows) for key, column in columns.items()}

    names = dict.fromkeys(name for budget, name in brought[0] if budget != "1")

    def judged(budget: str) -> float:
        return mean(looks[budget, next(iter(names))].judged for looks in brought)

    return {
        "budgets": {
            str(b): {
                "judged": judged(str(b)),
                "measures": {name: summary(str(b), name) for name in names},
            }
            for b in shared.plan.budgets
        },
        "full": {name: summary("1", name) for budget, name in brought[0] if budget == "1"},
    }


def of_ordered_stops(stops: Sequence[ordered.OrderedStop]) -> dict[str, float]:
    return {
        "share_judged": mean(stop.judged for stop in stops),
        "best_right": mean(stop.right for stop in stops),
        "mean_loss": mean(stop.loss for stop in stops),
        "greatest_loss": max(stop.loss for stop in stops),
        "pairs": sum(stop.pairs for stop in stops),
        "wrong_by_more_than_.01": sum(stop.wrong for stop in stops),
    }


def of_sampled_stops(stops: Sequence[sampled.SampledStop]) -> dict[str, float]:
    return {
        "share_judged": mean(stop.judged for stop in stops),
        "coverage": sum(stop.covered for stop in stops) / sum(stop.compared for stop in stops),
        "coverage_full": sum(stop.covered_whole for stop in stops)
        / sum(stop.compared_whole for stop in stops),
        "best_right": mean(stop.right for stop in stops),
        "mean_loss": mean(stop.loss for stop in stops),
        "greatest_loss": max(stop.loss for stop in stops),
        "comparisons": sum(stop.compared for stop in stops),
        "significant": sum(stop.significant for stop in stops),
        "wrong_sign": sum(stop.wrong_sign for stop in stops),
        "significant_full": sum(stop.significant_whole for stop in stops),
        "seen": sum(stop.seen for stop in stops),
        "let_go_for_narrowing": sum(stop.narrowing for stop in stops),
        "narrowed_by_more": sum(stop.narrowed for stop in stops),
    }


def mean(values: Iterable[float]) -> float:
    """NaN of nothing."""
    numbers = [float(value) for value in values]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def shares(text: str) -> list[float]:
    try:
        fractions = sorted({fraction(cell) for cell in text.split(",")})
    except ArgumentTypeError:
        fractions = []
    if not fractions or fractions[0] <= 0:
        raise ArgumentTypeError(
            f"{text!r}: expected shares of the pool above 0, at most 1, as in 0.1,0.2,0.5"
        )
    return fractions


def part(text: str) -> tuple[float, int]:
    share, _, most = text.partition(",")
    try:
        share_and_most = fraction(share), positive(most)
    except ArgumentTypeError:
        share_and_most = 0.0, 0
    if not share_and_most[0] or not share_and_most[1]:
        raise ArgumentTypeError(
            f"{text!r}: expected a share of the topics and a number of runs, as in 0.8,16"
        )
    return share_and_most
