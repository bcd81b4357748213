"""Agreement of an LLM judge and people: tables worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.labels.llm_agreement import (
    binarise_joint,
    compare_halves,
    compute_kappas,
    find_related_systems,
    joint_between_people,
    joint_with_llm,
    rank_positions,
)

COUNTS = np.array([[0.0, 0, 2], [1, 1, 0], [0, 1, 0]])
"""Judgements of three pairs by grade: 2 2; 0 1; 1."""
TOPIC = np.array([0, 1, 1])


def test_two_people_on_one_pair() -> None:
    """The third pair has one judgement and gives nothing. Half of the weight agrees; chance: .25² +
    .25² + .5² = .375; kappa = .125 / .625."""
    joint = joint_between_people(COUNTS, TOPIC, 2)
    assert joint[0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert joint[1].tolist() == [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]
    found = compute_kappas(joint, 1)
    assert found["kappa"].value == pytest.approx(0.2)
    assert found["kappa"].interval.reason == "2 topics; a confidence interval needs 10"
    assert all(math.isnan(bound) for bound in found["kappa"].to_list[1:])
    assert binarise_joint(joint.sum(axis=0), 2).tolist() == [[1, 0], [0, 1]]
    assert compute_kappas(joint, 2)["binary_kappa"].value == pytest.approx(1)


def test_a_judgement_and_the_llm_judge() -> None:
    """LLM judge 2, 0, 1: agrees on 1 + .5 + 1 of 3; marginals of people 1/6 .5 1/3, of the llm
    1/3 1/3 1/3; chance 1/3; kappa .75."""
    joint = joint_with_llm(COUNTS, np.array([2, 0, 1]), TOPIC, 2)
    assert joint.sum(axis=0).tolist() == [[0.5, 0, 0], [0.5, 1, 0], [0, 0, 1]]
    assert compute_kappas(joint, 1)["kappa"].value == pytest.approx(0.75)
    weighted = joint_with_llm(COUNTS, np.array([2, 0, 1]), TOPIC, 2, np.array([1.0, 4, 0]))
    assert weighted.sum(axis=0).tolist() == [[2, 0, 0], [2, 0, 0], [0, 0, 1]]


def test_an_interval_over_topics_holds_the_value() -> None:
    rng = np.random.default_rng(1)
    llm = rng.integers(0, 3, 400)
    counts = np.eye(3)[np.where(rng.random(400) < 0.7, llm, rng.integers(0, 3, 400))]
    value, low, high = compute_kappas(joint_with_llm(counts, llm, np.arange(400) % 20, 20), 1)[
        "kappa"
    ].to_list
    assert low < value < high
    assert 0.5 < value < 0.9  # .7 of the labels are copied: kappa .7


def test_halves_of_equal_topics_agree_wholly_and_a_turned_llm_judge_not_at_all() -> None:
    people = np.tile([3.0, 2, 1], (6, 1))
    assert tuple(compare_halves(people, -people, np.random.default_rng(0), splits=5)) == (
        1,
        -1,
        1,
        -1,
    )
    assert all(
        math.isnan(one) for one in compare_halves(people[:3], people[:3], np.random.default_rng(0))
    )


def test_systems_built_with_the_llm_judge_are_told() -> None:
    found = find_related_systems(
        ["bm25", "my_GPT-4-rerank", "Team-X", "t5"], ["gpt4", "T5"], ["team-x"]
    )
    assert found == {
        "my_GPT-4-rerank": "its tag contains gpt4",
        "Team-X": "named as built with it",
    }  # t5: too short a name to tell
    assert rank_positions(np.array([0.1, 0.5, 0.3])).tolist() == [3, 1, 2]


def test_intervals_of_few_topics_cover_what_they_say() -> None:
    """Ten topics, relevance partly the topic's and an LLM judge that is stricter on some: percentiles
    over topics covered .90 of the time."""
    rng = np.random.default_rng(0)

    def draw(n_topics: int) -> np.ndarray:
        relevance = np.sqrt(0.4) * rng.standard_normal((n_topics, 1)) + np.sqrt(
            0.6
        ) * rng.standard_normal((n_topics, 10))
        people = relevance + 0.5 * rng.standard_normal((n_topics, 10)) > 0
        llm = (
            relevance
            + 0.3 * rng.standard_normal((n_topics, 1))
            + 0.8 * rng.standard_normal((n_topics, 10))
            > 0
        )
        topic = np.repeat(np.arange(n_topics), 10)
        return joint_with_llm(
            np.eye(2)[people.ravel().astype(int)], llm.ravel().astype(int), topic, n_topics
        )

    joint = draw(100_000).sum(axis=0)
    shares = joint / joint.sum()
    by_chance = (shares.sum(axis=0) * shares.sum(axis=1)).sum()
    true = (np.trace(shares) - by_chance) / (1 - by_chance)
    shown = [
        (low, high)
        for _, low, high in (compute_kappas(draw(10), 1)["kappa"].to_list for _ in range(600))
        if not math.isnan(low)
    ]
    assert len(shown) > 550
    assert 0.93 <= sum(low <= true <= high for low, high in shown) / len(shown) <= 0.98
