"""`manage.py machine_judges PREL RUN... --machine NAME=QRELS`: what a machine's labels are worth beside people's."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.commandline.measures import add_level_options, add_run_options, measure_list, one_qrels
from analysis.commandline.sampled_files import SampledPool, packed_runs, sampled_pool
from analysis.core.agreement.kappa import cohen_kappa
from analysis.core.correction import Estimate, Targets, corrected, cross_fitted, rank_features, standing_of, tuned_lambda, weights_of_run
from analysis.core.measures import Measure
from analysis.core.packing import Packed
from analysis.core.rankings import tau_b
from pooling.commandline import BadInput, FileCommand, named_file, text_table

MEASURES = "P@10 DCG@10"
BEST = 5


class Command(FileCommand):
    help = "Machine labels beside people's: agreement, rankings of systems, and people's estimates corrected by the machine."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prel", metavar="PREL", help="what people judged of a sampled pool (topic 0 document stratum grade)")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        parser.add_argument("--machine", action="append", required=True, metavar="NAME=QRELS", help="a machine's labels of every pair of the pool")
        parser.add_argument("--measures", type=linear_measures, default=MEASURES, metavar='"..."', help=f'P@k and DCG@k (default "{MEASURES}")')
        add_level_options(parser)
        add_run_options(parser)

    def compute(self, *, prel: str, runs: list[str], machine: list[str], measures: list[Measure], level: int, seed: int, **options: Any) -> dict[str, Any]:
        pool = sampled_pool(self, prel)
        packed = list(packed_runs(self, runs, pool, options))
        result: dict[str, Any] = {}
        for text in machine:
            name, path = named_file(text)
            if name in result:
                raise BadInput(f"two machines are called {name}; name them, as in first={path}")
            labels = self.labels_of(pool, path, name)
            agreement = agreement_of(pool, labels, level)
            systems = {}
            for measure in measures:
                systems[str(measure)] = systems_of(pool, packed, labels, measure, level, np.random.default_rng(seed))
            result[name] = {"agreement": agreement, "systems": systems}
        return result

    def labels_of(self, pool: SampledPool, path: str, name: str) -> np.ndarray:
        """int64 (n_rows): the machine's grade of every pair of the pool. BadInput where one is missing: nothing says by what chance."""
        qrels = one_qrels(self, path, name)
        rows = np.full(len(pool.sample.grades), -1, np.int64)
        for index, topic in enumerate(qrels.topics):
            own = qrels.rows(index)
            if topic in pool.index.topic_codes:
                codes = np.full(own.stop - own.start, pool.index.topic_codes[topic], np.int64)
                found = pool.index.rows(codes, qrels.documents[own])
                rows[found[found >= 0]] = qrels.grades[own][found >= 0]
        if missing := int((rows < 0).sum()):
            raise BadInput(
                f"{path}: {missing} of {len(rows)} pairs of the pool have no label by {name}; the correction is valid only if the machine "
                "labelled every pair before the draw. Label the rest with the same model and prompt, or leave this machine out"
            )
        return rows

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for name, found in result.items():
            if name == "seed":
                continue
            agreement = found["agreement"]
            parts.append(
                f"{name}: kappa {figure(agreement['kappa'])}, weighted {figure(agreement['weighted_kappa'])}, on two grades "
                f"{figure(agreement['binary_kappa'])}, over {agreement['pairs']} pairs that people judged, weighted by their chance"
            )
            for measure, systems in found["systems"].items():
                rows = [
                    [tag, *systems["people"][tag], *systems["corrected"][tag], *systems["cross_fitted"][tag]] for tag in systems["people"]
                ]
                header = ["run"] + [f"{what}{end}" for what in ("people", "corrected", "cross-fitted") for end in ("", " from", " to")]
                parts.append(f"{measure}\n{text_table(header, rows)}")
                parts.append(
                    f"The machine is worth {figure(systems['gain'])} times people's labels here. Alone it ranks the systems with tau "
                    f"{figure(systems['tau_machine_alone'])} to people's, the best five with {figure(systems['tau_machine_alone_top5'])}: "
                    "its scores alone are no verdict."
                )
                parts += sorted(set(systems.get("undefined", {}).values()))
        parts.append(
            "Valid only if the machine's labels were made and frozen before the draw, people did not see them, and no system that is "
            "compared here was built on this machine."
        )
        return "\n\n".join(parts)


def linear_measures(text: str) -> list[Measure]:
    """For argparse: measures that are sums over documents, so that a correction of their labels is one of their values."""
    measures = measure_list(text)
    for measure in measures:
        if measure.family not in ("P", "DCG") or measure.condensed or measure.cutoff is None:
            raise ArgumentTypeError(f"{measure} is not linear in the grades, expected P@k or DCG@k")
    return measures


def figure(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.2f}"


def agreement_of(pool: SampledPool, labels: np.ndarray, level: int) -> dict[str, Any]:
    """Kappas of people and machine over the judged pairs, each weighted by 1 / π, so that they speak of the pool, not of the sample."""
    sample = pool.sample
    judged = np.flatnonzero(sample.grades >= 0)
    n_grades = 1 + int(max(sample.grades.max(initial=1), labels.max(initial=1)))
    people, machine, weight = sample.grades[judged], labels[judged], sample.weight[judged]

    def joint(rows: np.ndarray, n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.bincount(a[rows] * n + b[rows], weights=weight[rows], minlength=n * n).reshape(n, n)

    everywhere = np.arange(len(judged))
    whole = joint(everywhere, n_grades, people, machine)
    binary = joint(everywhere, 2, (people >= level).astype(int), (machine >= level).astype(int))
    confusion = np.bincount(people * n_grades + machine, minlength=n_grades**2).reshape(n_grades, n_grades)
    by_topic = {}
    for index, topic in enumerate(sample.topics):
        rows = np.flatnonzero(sample.topic[judged] == index)
        found = joint(rows, 2, (people >= level).astype(int), (machine >= level).astype(int))
        by_topic[topic] = {"pairs": len(rows), "binary_kappa": float(cohen_kappa(found, weighted=False))}
    return {
        "pairs": len(judged),
        "kappa": float(cohen_kappa(whole, weighted=False)),
        "weighted_kappa": float(cohen_kappa(whole, weighted=True)),
        "binary_kappa": float(cohen_kappa(binary, weighted=False)),
        "confusion": confusion.tolist(),
        "by_topic": by_topic,
    }


def systems_of(
    pool: SampledPool, runs: Sequence[Packed], labels: np.ndarray, measure: Measure, level: int, rng: np.random.Generator
) -> dict[str, Any]:
    sample = pool.sample
    discounted = measure.family == "DCG"
    lowest = measure.level or level
    people = np.where(sample.grades >= 0, sample.grades if discounted else sample.grades >= lowest, np.nan).astype(np.float64)
    machine = (labels if discounted else labels >= lowest).astype(np.float64)
    weights = np.column_stack([weights_of_run(packed, sample, cutoff=measure.cutoff or 10, discounted=discounted) for packed in runs])
    targets = Targets(sample, weights, people, machine)
    alone = corrected(targets, 0.0)
    powered = corrected(targets, tuned_lambda(targets))
    fitted = cross_fitted(targets, rank_features(standing_of(runs, len(sample.grades)), labels), rng)
    tags = [packed.tag for packed in runs]
    by_machine = weights.T @ machine
    top = np.argsort(-alone.values, kind="stable")[:BEST]
    reasons = {tag: why for tag, why in zip(tags, alone.why, strict=True) if why is not None}
    return {
        "people": of_systems(tags, alone),
        "corrected": of_systems(tags, powered),
        "cross_fitted": of_systems(tags, fitted),
        "new_topics": {tag: [low, high] for tag, low, high in zip(tags, fitted.new_low.tolist(), fitted.new_high.tolist(), strict=True)},
        "lambda": dict(zip(tags, powered.lambdas.tolist(), strict=True)),
        "gain": float(alone.variances.sum() / powered.variances.sum()) if powered.variances.sum() > 0 else math.nan,
        "tau_machine_alone": tau_b(alone.values, by_machine),
        "tau_machine_alone_top5": tau_b(alone.values[top], by_machine[top]),
        **({"undefined": reasons} if reasons else {}),
    }


def of_systems(tags: Sequence[str], estimate: Estimate) -> Mapping[str, list[float]]:
    columns = zip(tags, estimate.values.tolist(), estimate.low.tolist(), estimate.high.tolist(), strict=True)
    return {tag: [value, low, high] for tag, value, low, high in columns}
