"""Results of `llm compare` for one LLM judge: agreement, rankings, and people's estimates corrected
by its labels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

import numpy as np

from assay.analyses.shared.sampled_files import SampledPool
from assay.cli.base import BadInput
from assay.column_types import QrelsColumns
from assay.comparison.rankings import tau_b
from assay.formats.judgements import read_judgements
from assay.formats.qrels import make_qrels
from assay.formats.streams import iterate_lines
from assay.labels import llm_agreement as agreement
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.labels import select_counted
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun
from assay.sampling.correction import (
    CorrectedEstimate,
    EstimationTargets,
    compute_run_weights,
    correct_estimates,
    cross_fit_estimates,
    make_regression_features,
    summarise_run_ranks,
    tune_lambda,
)
from assay.sampling.estimates import clip_to_range

N_BEST_SYSTEMS = agreement.N_BEST
ESTIMATORS = ("people", "corrected", "cross_fitted")
"""Estimators of the same quantity: people's labels alone, PPI++, and cross-fitted PPI++."""
HEADER = ["llm_judge", "topic", "document", "grade"]


def read_llm_labels(path: str) -> dict[str, QrelsColumns]:
    """Read the LLM labels of a release: llm_judge, topic, document, grade. Raises BadInput with the
    line."""
    rows: dict[str, list[tuple[str, str, int]]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for number, text in iterate_lines(path, name=path):
        cells = text.rstrip("\n").split("\t")
        if number == 1 and cells == HEADER:
            continue
        if len(cells) != len(HEADER) or not re.fullmatch(r"-?[0-9]{1,9}", cells[3]):
            raise BadInput(
                f"{path}:{number}: expected {', '.join(HEADER)} separated by tabs, as in "
                "llm-labels.tsv of a release"
            )
        before = seen.setdefault((cells[0], cells[1], cells[2]), number)
        if before != number:
            raise BadInput(
                f"{path}:{number}: duplicate label by {cells[0]} for document {cells[2]} of topic {cells[1]} (see line {before}), expected each pair once"
            )
        rows.setdefault(cells[0], []).append((cells[1], cells[2], int(cells[3])))
    return {name: make_qrels(name, llm_rows) for name, llm_rows in rows.items()}


def read_judge_metadata(path: str | None) -> dict[str, Mapping[str, Any]]:
    """Read llm-judges.json of a release by name of the LLM judge. Raises BadInput for another kind
    of file."""
    if path is None:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            return {str(one["name"]): one for one in json.load(file)}
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f"{path}: not a list of LLM judges, expected llm-judges.json of a release"
        ) from None


def invalid_correction_reason(about: Mapping[str, Any] | None) -> str | None:
    """Return why the LLM judge's labels must not be used for correction, or None if nothing known
    rules it out."""
    if about is None:
        return None
    frozen, drawn = about.get("frozen_at"), about.get("drawn_at")
    if not frozen:
        return (
            "its labels are not frozen and could still be adapted to the sample. Freeze "
            "them, then draw a sample"
        )
    if drawn and datetime.fromisoformat(frozen) > datetime.fromisoformat(drawn):
        return (
            f"its labels were frozen at {frozen}, after the sample was drawn at {drawn}. "
            "Labels must be frozen first: draw a new sample"
        )
    return None


def align_labels_with_pool(
    pool: SampledPool, qrels: QrelsColumns, name: str
) -> tuple[np.ndarray, str | None]:
    """Return (int64 (n_rows), the LLM judge's grade of every pair of the pool, -1 without a label;
    why it cannot be used for correction if labels are missing, otherwise None)."""
    rows = np.full(len(pool.sample.grades), -1, np.int64)
    for index, topic in enumerate(qrels.topics):
        own = qrels.rows(index)
        if topic in pool.index.topic_codes:
            codes = np.full(own.stop - own.start, pool.index.topic_codes[topic], np.int64)
            pair_rows = pool.index.rows(codes, qrels.documents[own])
            rows[pair_rows[pair_rows >= 0]] = qrels.grades[own][pair_rows >= 0]
    missing = int((rows < 0).sum())
    return rows, (
        f"{missing} of {len(rows)} pairs of the pool have no label by {name}. The correction "
        "is valid only if the LLM judge labelled every pair before the draw. Label the rest "
        "with the same model and prompt, or leave this LLM judge out"
        if missing
        else None
    )


def read_judgement_counts(path: str, pool: SampledPool) -> np.ndarray:
    """Return float64 (n_rows, n_grades), the number of judgements of each pair of the pool by
    grade, from a file of judgements."""
    judgements = read_judgements(path)
    n_grades = 1 + int(judgements.grade.max(initial=1))
    table, _ = select_counted(judgements, n_grades=n_grades)
    counts = np.zeros((len(pool.sample.grades), n_grades))
    for code, topic in enumerate(table.topics):
        if topic not in pool.index.topic_codes:
            continue
        pairs = np.flatnonzero(table.pair_topic == code)
        documents = np.array(
            [table.documents[d].encode("utf-8") for d in table.pair_document[pairs].tolist()]
        )
        rows = pool.index.rows(
            np.full(len(pairs), pool.index.topic_codes[topic], np.int64), documents
        )
        row_of = np.full(len(table.pair_topic), -1, np.int64)
        row_of[pairs] = rows
        own = row_of[table.pair]
        np.add.at(counts, (own[own >= 0], table.grade[own >= 0]), 1)
    return counts


def compute_agreement(
    pool: SampledPool, labels: np.ndarray, min_relevant: int, counts: np.ndarray | None
) -> dict[str, Any]:
    """Compute kappas between people and the LLM judge.

    Pairs with people's labels are weighted by 1 / π, so that kappas refer to the pool rather than
    the sample. With `counts`, kappas between two people, and between a single judgement and the LLM
    judge, are computed over the pairs with two or more judgements.
    """
    sample = pool.sample
    judged = np.flatnonzero((sample.grades >= 0) & (labels >= 0))
    n_grades = 1 + int(
        max(
            sample.grades.max(initial=1),
            labels.max(initial=1),
            0 if counts is None else counts.shape[1] - 1,
        )
    )
    people, llm, weight, topic = (
        sample.grades[judged],
        labels[judged],
        sample.weight[judged],
        sample.topic[judged],
    )
    single = np.eye(n_grades)[people]
    joint = agreement.joint_with_llm(single, llm, topic, len(sample.topics), weight)
    kappas = agreement.compute_kappas(joint, min_relevant)
    binary = agreement.binarise_joint(joint, min_relevant)
    n = np.bincount(topic, minlength=len(sample.topics))
    result: dict[str, Any] = {
        "pairs": len(judged),
        **{name: one.value for name, one in kappas.items()},
        "intervals": {name: one.interval.bounds for name, one in kappas.items()},
        "undefined": {
            name: one.interval.reason for name, one in kappas.items() if one.interval.reason
        },
        "confusion": np.bincount(people * n_grades + llm, minlength=n_grades**2)
        .reshape(n_grades, n_grades)
        .tolist(),
        "by_topic": {
            name: {
                "pairs": int(n[k]),
                "binary_kappa": float(cohen_kappa(binary[k], weighted=False)),
            }
            for k, name in enumerate(sample.topics)
        },
    }
    if counts is not None:
        wide = np.zeros((len(counts), n_grades))
        wide[:, : counts.shape[1]] = counts
        rows = np.flatnonzero((counts.sum(axis=1) >= 2) & (labels >= 0) & (sample.grades >= 0))
        where = (sample.topic[rows], len(sample.topics), sample.weight[rows])
        result["people"] = {
            "pairs": len(rows),
            "among_themselves": _kappa_values(
                agreement.joint_between_people(wide[rows], *where), min_relevant
            ),
            "one_and_llm": _kappa_values(
                agreement.joint_with_llm(wide[rows], labels[rows], *where), min_relevant
            ),
        }
    return result


def _kappa_values(joint: np.ndarray, min_relevant: int) -> dict[str, list[float]]:
    return {
        name: kappa.to_list for name, kappa in agreement.compute_kappas(joint, min_relevant).items()
    }


def compute_systems(
    pool: SampledPool,
    runs: Sequence[PackedRun],
    labels: np.ndarray,
    measure: Measure,
    min_relevant: int,
    seed: int,
    *,
    related: Mapping[str, str],
    why: str | None,
) -> dict[str, Any]:
    """Estimate and rank systems by people's labels, by the LLM judge's, and by people's corrected
    with them. why: the reason not to correct, or None."""
    sample = pool.sample
    discounted = measure.family == "DCG"
    lowest = measure.min_relevant or min_relevant
    people = np.where(
        sample.grades >= 0, sample.grades if discounted else sample.grades >= lowest, np.nan
    ).astype(np.float64)
    llm = (np.maximum(labels, 0) if discounted else labels >= lowest).astype(np.float64)
    weights = np.column_stack(
        [
            compute_run_weights(packed, sample, cutoff=measure.cutoff or 10, discounted=discounted)
            for packed in runs
        ]
    )
    targets = EstimationTargets(sample, weights, people, llm)
    alone = correct_estimates(targets, 0.0)
    tags = [packed.tag for packed in runs]
    by_topic = np.zeros_like(alone.by_topic)
    np.add.at(by_topic, sample.topic, weights * llm[:, None])
    by_llm = by_topic.sum(axis=0)
    top = np.argsort(-alone.values, kind="stable")[:N_BEST_SYSTEMS]
    others = np.array([tag not in related for tag in tags])
    result: dict[str, Any] = {
        "people": values_by_system(tags, alone, measure),
        "llm_alone": dict(zip(tags, by_llm.tolist(), strict=True)),
        "tau_llm_alone": tau_b(alone.values, by_llm),
        "tau_llm_alone_top5": tau_b(alone.values[top], by_llm[top]),
        "halves": agreement.compare_halves(
            alone.by_topic, by_topic, np.random.default_rng(seed)
        )._asdict(),
    }
    if related:
        by_people, by_its_own = (
            agreement.rank_positions(alone.values).tolist(),
            agreement.rank_positions(by_llm).tolist(),
        )
        result["related"] = {
            tag: [p, m]
            for tag, p, m in zip(tags, by_people, by_its_own, strict=True)
            if tag in related
        }
        result["tau_llm_alone_others"] = (
            tau_b(alone.values[others], by_llm[others]) if others.sum() > 1 else math.nan
        )
    estimates = [alone]
    if why is None:
        corrections, corrected_ones = compute_corrections(
            targets, alone, runs, tags, labels, measure, seed
        )
        result |= corrections
        estimates += corrected_ones
    reasons = {
        tag: reason
        for k, tag in enumerate(tags)
        if (reason := next((one.why[k] for one in estimates if one.why[k] is not None), None))
        is not None
    }
    contradictions = {
        tag: both
        for tag in tags
        if (
            both := find_contradiction(
                {way: result[way][tag] for way in ESTIMATORS if way in result}
            )
        )
    }
    return (
        result
        | ({"undefined": reasons} if reasons else {})
        | ({"contradictions": contradictions} if contradictions else {})
    )


def find_contradiction(estimates: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names of the first two estimates of the same quantity whose intervals do not
    overlap, or an empty list. estimates: (value, low, high) by name."""
    for (a, (_, low_a, high_a)), (b, (_, low_b, high_b)) in combinations(estimates.items(), 2):
        if low_a > high_b or low_b > high_a:
            return [a, b]
    return []


def format_contradictions(contradictions: Mapping[str, Sequence[str]]) -> str:
    shown = ", ".join(f"{tag} ({a} and {b})" for tag, (a, b) in contradictions.items()).replace(
        "_fitted", "-fitted"
    )
    return (
        "Contradiction: two 95% confidence intervals of one quantity exclude each other for "
        f"{shown}. Drawn pairs without a grade are then not missing at random, or the LLM "
        "labels were not frozen before the draw. Do not use any of these confidence "
        "intervals."
    )


def compute_corrections(
    targets: EstimationTargets,
    alone: CorrectedEstimate,
    runs: Sequence[PackedRun],
    tags: Sequence[str],
    labels: np.ndarray,
    measure: Measure,
    seed: int,
) -> tuple[dict[str, Any], list[CorrectedEstimate]]:
    powered = correct_estimates(targets, tune_lambda(targets))
    fitted = cross_fit_estimates(
        targets,
        make_regression_features(summarise_run_ranks(runs, len(labels)), labels),
        np.random.default_rng(seed),
    )
    new = zip(tags, fitted.new_low.tolist(), fitted.new_high.tolist(), strict=True)
    corrections = {
        "corrected": values_by_system(tags, powered, measure),
        "cross_fitted": values_by_system(tags, fitted, measure),
        "new_topics": {tag: list(clip_to_range(measure, low, high)) for tag, low, high in new},
        "lambda": dict(zip(tags, powered.lambdas.tolist(), strict=True)),
        "gain": float(alone.variances.sum() / powered.variances.sum())
        if powered.variances.sum() > 0
        else math.nan,
    }
    return corrections, [powered, fitted]


def values_by_system(
    tags: Sequence[str], estimate: CorrectedEstimate, measure: Measure
) -> Mapping[str, list[float]]:
    columns = zip(
        tags, estimate.values.tolist(), estimate.low.tolist(), estimate.high.tolist(), strict=True
    )
    return {tag: [value, *clip_to_range(measure, low, high)] for tag, value, low, high in columns}
