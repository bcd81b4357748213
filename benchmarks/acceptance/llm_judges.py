"""Measurements for targets D1 and D2: human grades corrected with GPT-4's on the pairs of TREC DL
2023, with strata by votes and by the LLM judge's grade.

The track's runs are not available. The systems are generated rerankings of the judged pairs: ten by
noisy human grades and ten by noisy LLM grades.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.formats.qrels import read_qrels
from assay.pools.depth import PooledPairs
from assay.pools.strata import (
    Strata,
    allocate_sample,
    make_llm_strata,
    make_vote_strata,
    rate_spreads,
    sampled_mask,
    shuffle_strata,
)
from assay.sampling.correction import EstimationTargets, correct_estimates, tune_lambda
from assay.sampling.estimates import JudgedSample
from tests.commands import call_command

LEVEL, CUTOFF, HIGHEST = 2, 10, 3
N_DIFFERENCES = 60
NOISE = np.linspace(0.6, 2.4, 10)
"""Standard deviation of the noise that the systems of each kind add to a grade, from the best to
the worst."""


@dataclass(frozen=True, eq=False)
class CorrectionSetting:
    """Data for measuring the correction of human grades by an LLM judge. pool: of the generated
    systems. people, llm: int64 (n_pairs), grades by people and by the LLM judge. weights: float64
    (n_pairs, 60), of the pairs in the differences of P@10."""

    pool: PooledPairs
    people: NDArray[np.int64]
    llm: NDArray[np.int64]
    weights: NDArray[np.float64]


def make_setting(folder: Path, seed: int) -> CorrectionSetting:
    judged, labelled = (
        read_qrels(str(folder / f"dl23.qrels.{name}.txt.gz")) for name in ("nist", "gpt4")
    )
    grade_of = {}
    for index, topic in enumerate(labelled.topics):
        own = labelled.rows(index)
        grade_of.update(
            zip(
                ((topic, d) for d in labelled.documents[own].tolist()),
                labelled.grades[own].tolist(),
                strict=True,
            )
        )
    topic = np.repeat(np.arange(len(judged.topics)), np.diff(judged.offsets))
    people = judged.grades.astype(np.int64)
    llm = np.array(
        [
            grade_of[judged.topics[t], d]
            for t, d in zip(topic.tolist(), judged.documents.tolist(), strict=True)
        ],
        np.int64,
    )
    rng = np.random.default_rng(seed)
    ranks = np.column_stack(
        [
            rank_within_topics(topic, truth + rng.normal(0, noise, len(topic)))
            for truth in (people, llm)
            for noise in NOISE
        ]
    )
    pool = PooledPairs(
        depth=100,
        tags=[f"system{k}" for k in range(ranks.shape[1])],
        topics=judged.topics,
        topic=topic.astype(np.int32),
        documents=judged.documents,
        best_rank=ranks.min(axis=1).astype(np.int32),
        priority=np.zeros(len(topic), np.int32),
        ranks=ranks.astype(np.int16),
        everyone=np.zeros(len(topic), bool),
    )
    alone = (ranks <= CUTOFF) / (CUTOFF * len(judged.topics))
    first, second = np.triu_indices(ranks.shape[1], 1)
    chosen = rng.permutation(len(first))[:N_DIFFERENCES]
    return CorrectionSetting(pool, people, llm, alone[:, first[chosen]] - alone[:, second[chosen]])


def rank_within_topics(topic: NDArray[np.int64], merit: NDArray[np.float64]) -> NDArray[np.int64]:
    order = np.lexsort((-merit, topic))
    ranks = np.empty(len(topic), np.int64)
    ranks[order] = np.arange(len(topic)) - np.searchsorted(topic, topic[order]) + 1
    return ranks


def draw_sample(
    setting: CorrectionSetting,
    strata: Strata,
    spreads: NDArray[np.float64],
    share: float,
    rng: np.random.Generator,
) -> JudgedSample:
    counts = allocate_sample(strata.sizes, spreads, round(share * len(setting.people)))
    place = shuffle_strata(strata, rng, setting.pool.documents, setting.pool.topic)
    relevant = (setting.people >= LEVEL).astype(np.int32)
    grades = np.where(sampled_mask(strata, place, counts), relevant, -1).astype(np.int32)
    return JudgedSample(
        setting.pool.topics,
        setting.pool.topic.astype(np.int64),
        grades,
        strata.stratum.astype(np.int64),
        strata.sizes,
        counts,
        np.ones(len(strata.sizes), bool),
        strata.names,
    )


def estimate_differences(
    setting: CorrectionSetting, sample: JudgedSample, llm: NDArray[np.int64], *, alone: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate the sixty differences between systems. Returns values, half-widths of the confidence
    intervals, and lambdas."""
    labels = np.where(sample.grades >= 0, sample.grades, np.nan).astype(np.float64)
    targets = EstimationTargets(sample, setting.weights, labels, (llm >= LEVEL).astype(np.float64))
    corrected_means = correct_estimates(targets, 0.0 if alone else tune_lambda(targets))
    return (
        corrected_means.values,
        (corrected_means.high - corrected_means.low) / 2,
        corrected_means.lambdas,
    )


def measure_corrections(folder: Path, simulations: int, seed: int) -> list[dict[str, object]]:
    """Measure the correction at each judged share. Returns the coverage, the variance gain over
    human judgements sampled by votes, and both with shuffled LLM labels."""
    setting = make_setting(folder, seed)
    truth = setting.weights.T @ (setting.people >= LEVEL)
    by_votes = make_vote_strata(setting.pool)
    by_llm, spreads = make_llm_strata(setting.pool, setting.llm)
    rows: list[dict[str, object]] = []
    for share in (0.05, 0.10, 0.20):
        by_estimate: dict[str, list] = {
            "people": [],
            "corrected": [],
            "shuffled": [],
            "shuffled alone": [],
        }
        lambdas: list[float] = []
        for number in range(simulations):
            rng = np.random.default_rng([seed, round(share * 100), number])
            sample = draw_sample(setting, by_votes, rate_spreads(by_votes.rates), share, rng)
            by_estimate["people"].append(
                estimate_differences(setting, sample, setting.llm, alone=True)[:2]
            )
            noise = rng.permutation(setting.llm)
            by_estimate["shuffled"].append(
                estimate_differences(setting, sample, noise, alone=False)[:2]
            )
            sample = draw_sample(setting, by_llm, spreads, share, rng)
            values, halves, own = estimate_differences(setting, sample, setting.llm, alone=False)
            by_estimate["corrected"].append((values, halves))
            lambdas.append(float(own.mean()))
        errors = {
            name: np.array([values - truth for values, _ in one])
            for name, one in by_estimate.items()
            if one
        }
        halves = {
            name: np.array([half for _, half in one]) for name, one in by_estimate.items() if one
        }
        shown = {name: ~np.isnan(half) for name, half in halves.items()}
        coverage = {
            name: float((np.abs(errors[name]) <= halves[name])[shown[name]].mean())
            for name in errors
        }
        variance = {name: float((one**2).mean()) for name, one in errors.items()}
        rows.append(
            {
                "share": share,
                "coverage": coverage,
                "gain": variance["people"] / variance["corrected"],
                "lambda": math.fsum(lambdas) / len(lambdas),
                "width_shuffled": float(
                    np.nanmean(halves["shuffled"]) / np.nanmean(halves["people"])
                ),
                "half_width": {name: float(np.nanmean(one)) for name, one in halves.items()},
                "shown": {name: float(one.mean()) for name, one in shown.items()},
            }
        )
    return rows


def measure_judges(folder: Path) -> list[dict[str, object]]:
    """Rank the LLM judges of LLMJudge by `llm rank`, most useful first. Labels outside the scale
    are left out."""
    out = io.StringIO()
    given = ["--min-relevant", str(LEVEL), "--max-grade", str(HIGHEST)]
    call_command(
        "rank_llm_judges",
        "--table",
        str(folder / "labels_wide.tsv.gz"),
        *given,
        "--json",
        stdout=out,
        stderr=io.StringIO(),
    )
    result = json.loads(out.getvalue())
    line = f"rank_llm_judges --table {folder.name}/labels_wide.tsv.gz {' '.join(given)}"
    rows = []
    for name in result["order"]:
        low, high = result["llm_judges"][name].pop("interval")
        rows.append(
            {"judge": name, "line": line} | result["llm_judges"][name] | {"low": low, "high": high}
        )
    return rows
