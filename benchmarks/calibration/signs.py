"""How often honest annotators, and an annotator who answers at random, are flagged as agreeing no
better than chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from assay.campaigns.outlier_annotators import find_outliers
from assay.labels.agreement.annotators import compute_annotator_kappas
from assay.labels.agreement.raters import count_against_others_by_topic
from assay.labels.labels import LabelTable, make_label_table

NOISE = {0.2: 0.66, 0.5: 0.28, 0.8: 0.055}
"""Kappa (linear, four grades) of two careful annotators -> share of the variance of a judgement
that is the annotator's own."""
N_TOPICS, TOPIC_EFFECT = 20, 0.4
"""Number of topics, and share of a pair's relevance that is common to the topic."""
CARE_RANGE, OWN_SHIFT = 0.2, 0.5
"""Annotators of differing care have a share of own variance between 1 - 0.2 and 1 + 0.2 of the
usual one, and judge all pairs of a topic too strictly or too leniently by a random amount with this
standard deviation."""
RANDOM_SHARE = 0.28
"""Share of the judgements that the random annotator makes."""


class SignRates(NamedTuple):
    """Rates of flagged annotators. kappa: mean over annotators, each with the label of the others.
    false_alarm: share of campaigns in which an honest annotator is flagged. at_random: share in
    which the random annotator is flagged, NaN if there is none."""

    kappa: float
    false_alarm: float
    at_random: float


def simulate_campaign(
    base: float,
    *,
    annotators: int,
    pairs: int,
    by_topic: bool,
    differing: bool,
    random_too: bool,
    rng: np.random.Generator,
) -> LabelTable:
    """Simulate a campaign with two judgements per pair and `pairs` judgements per annotator on
    average. by_topic: whether a third of the annotators makes most judgements of each topic.
    random_too: whether annotator 0 answers at random and makes RANDOM_SHARE of the judgements."""
    n_pairs = annotators * pairs // 2
    topic = np.sort(rng.integers(N_TOPICS, size=n_pairs))
    weight = np.ones((N_TOPICS, annotators))
    if by_topic:
        few = rng.random((N_TOPICS, annotators)).argsort(axis=1) >= max(3, annotators // 3)
        weight[few] = 0.05
    if random_too:
        weight[:, 0] = weight[:, 1:].sum(axis=1) * RANDOM_SHARE / (1 - RANDOM_SHARE)
    key = np.log(weight)[topic] + rng.gumbel(size=(n_pairs, annotators))
    who = np.argsort(-key, axis=1)[:, :2].ravel()
    of_topic = np.sqrt(TOPIC_EFFECT) * rng.standard_normal(N_TOPICS)
    truth = of_topic[topic] + np.sqrt(1 - TOPIC_EFFECT) * rng.standard_normal(n_pairs)
    noise = NOISE[base] * (
        rng.uniform(1 - CARE_RANGE, 1 + CARE_RANGE, annotators)
        if differing
        else np.ones(annotators)
    )
    error = rng.standard_normal(2 * n_pairs)
    own = np.sqrt(1 - noise[who]) * truth.repeat(2) + np.sqrt(noise[who]) * error
    if differing:
        own += OWN_SHIFT * rng.standard_normal((annotators, N_TOPICS))[who, topic.repeat(2)]
    if random_too:
        own = np.where(who == 0, error, own)
    return make_label_table(
        topics=[f"{i:02}" for i in range(N_TOPICS)],
        documents=[f"{i:06}" for i in range(n_pairs)],
        annotators=[f"{i:03}" for i in range(annotators)],
        topic=topic.repeat(2),
        document=np.arange(n_pairs).repeat(2),
        annotator=who,
        grade=np.searchsorted(stats.norm.ppf([0.25, 0.5, 0.75]), own),
        n_grades=4,
    )


def measure_sign_rates(
    base: float,
    *,
    annotators: int,
    pairs: int,
    campaigns: int,
    rng: np.random.Generator,
    by_topic: bool = False,
    differing: bool = False,
    random_too: bool = False,
) -> SignRates:
    """Simulate campaigns and measure how often annotators are flagged."""
    kappas, alarms, found = [], 0, 0
    for _ in range(campaigns):
        table = simulate_campaign(
            base,
            annotators=annotators,
            pairs=pairs,
            by_topic=by_topic,
            differing=differing,
            random_too=random_too,
            rng=rng,
        )
        people = compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))
        kappas.append(np.nanmean([person.kappa for person in people]))
        flagged = {one.name for one in find_outliers(table, people)}
        found += random_too and "000" in flagged
        alarms += bool(flagged - ({"000"} if random_too else set()))
    return SignRates(
        float(np.mean(kappas)),
        alarms / campaigns,
        found / campaigns if random_too else float("nan"),
    )
