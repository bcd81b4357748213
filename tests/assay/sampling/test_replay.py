"""Complete judgements replayed: worlds of drawn topics and parts, annotators' errors, ordered and
sampled pools."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, t

from assay.formats.runs import read_run
from assay.measures.evaluation import evaluate
from assay.measures.measures import parse_measures
from assay.pools.depth import cut_run, make_depth_pool
from assay.sampling import replay_ordered as ordered
from assay.sampling import replay_sampled as sampled
from assay.sampling.replay import AnnotatorErrors, JudgedPool, make_judged_pool, select_part
from assay.sampling.stopping import SampledComparison
from tests.assay.pools.judged_pools import judged_pool

MEASURES = parse_measures("AP nDCG@10 P@2")
LETTERS = "abcdefghijkl"


@pytest.fixture
def world(tmp_path: Path) -> JudgedPool:
    """Three topics; `forward` has a..l, `backward` l..c. Relevant: a b c in topic 0, l in topic 1,
    a l in topic 2."""
    runs = []
    for tag, documents in (("forward", LETTERS), ("backward", LETTERS[:1:-1])):
        path = tmp_path / tag
        path.write_text(
            "".join(
                f"{t} Q0 {d} {r} {50 - r} {tag}\n"
                for t in range(3)
                for r, d in enumerate(documents, start=1)
            )
        )
        runs.append(read_run(str(path)))
    pool = make_depth_pool(
        [cut_run(run, 12) for run in runs], depth=12, rng=np.random.default_rng(0)
    )
    relevant = {0: "abc", 1: "l", 2: "al"}
    grades = np.array(
        [
            int(d.decode() in relevant[t])
            for t, d in zip(pool.topic.tolist(), pool.documents.tolist(), strict=True)
        ]
    )
    return make_judged_pool(pool, grades, runs, min_relevant=1)


def test_scores_of_a_world_by_hand(world: JudgedPool) -> None:
    found = world.scores(world.grades, MEASURES)
    assert found[:, :, 2].tolist() == [[1.0, 0.0, 0.5], [0.0, 0.5, 0.5]]
    assert found[0, :, 0] == pytest.approx([1, 1 / 12, (1 + 2 / 12) / 2])
    assert found[1, 0, 0] == pytest.approx(1 / 10 / 3)  # c at rank 10, neither a nor b


def test_topics_drawn_with_repetition_are_topics_of_their_own(world: JudgedPool) -> None:
    again = world.repeat_topics(np.array([2, 0, 0]))
    assert again.scores(again.grades, MEASURES) == pytest.approx(
        world.scores(world.grades, MEASURES)[:, [2, 0, 0]]
    )
    unjudged = np.where(again.topic == 1, -1, again.grades).astype(np.int32)
    assert again.scores(unjudged, MEASURES)[:, :, 2].tolist() == [[0.5, 0.0, 1.0], [0.5, 0.0, 0.0]]
    assert sorted(again.service.tolist()) == list(range(36))


def test_a_part_is_what_its_runs_and_topics_give(world: JudgedPool) -> None:
    part = select_part(world, np.array([0, 2]), np.array([1]))
    assert (len(part), part.tags, part.n_topics) == (20, ["backward"], 2)
    assert part.pool.best_rank[part.service].tolist() == sorted([*range(1, 11)] * 2)
    assert part.scores(part.grades, MEASURES)[0, :, 2] == pytest.approx([0, 0.5])
    assert part.scores(part.grades, MEASURES)[0, 0, 0] == pytest.approx(
        1 / 10
    )  # a and b have left the pool
    whole = select_part(world, np.arange(3), np.arange(2))
    assert whole.scores(whole.grades, MEASURES) == pytest.approx(
        world.scores(world.grades, MEASURES)
    )


def test_annotators_err_as_often_as_said() -> None:
    grades = np.repeat(np.array([3, 1, 0]), 20_000)
    said = AnnotatorErrors(0.8, 0.9, 3).apply(grades, 2, np.random.default_rng(0)).reshape(3, -1)
    right = 1 - binom.cdf(1, 3, 0.8), 1 - binom.cdf(1, 3, 0.9)
    assert set(said[0].tolist()) == {3, 0}
    assert (said[0] == 3).mean() == pytest.approx(right[0], abs=0.015)
    assert set(said[1].tolist()) == {1, 2}  # called relevant it gets the lowest relevant grade
    assert (said[1] == 1).mean() == pytest.approx(right[1], abs=0.015)
    assert (
        AnnotatorErrors(1, 1).apply(grades, 2, np.random.default_rng(0)).tolist() == grades.tolist()
    )
    assert AnnotatorErrors(0.5, 1, 2).apply(
        np.full(4000, 2), 2, np.random.default_rng(0)
    ).mean() == pytest.approx(0.5, abs=0.1)  # ties go down


def test_level_by_level_is_the_pools_own_order(world: JudgedPool) -> None:
    """Of six relevant pairs a (0), a (2), l (1) and l (2) have rank 1, b has 2 and c 3; every level
    is six pairs, a tie of both runs aside."""
    looks = ordered.replay_ordered(
        world, ordered.OrderedReplay("level", [6 / 36, 12 / 36, 18 / 36, 1.0], MEASURES), seed=0
    )
    assert [look.judged for look in looks] == [6, 12, 18, 36]
    assert [look.recall for look in looks] == pytest.approx([4 / 6, 5 / 6, 1, 1])
    assert looks[-1].rmse == {str(measure): 0 for measure in MEASURES}
    assert looks[-1].tau["AP"] == 1
    assert [look.left for look in looks] == [2, 1, 0, 0]


@pytest.mark.data
def test_the_bound_of_audit_pairs_holds_on_real_judgements(data_folder: Path) -> None:
    pool, grades = judged_pool(
        data_folder / "dl21-passage", "runs-judged53", "qrels.nist.txt.gz", depth=10
    )
    runs = [
        read_run(str(path), lenient=True)
        for path in sorted((data_folder / "dl21-passage" / "runs-judged53").iterdir())
    ]
    world = make_judged_pool(pool, grades, runs, min_relevant=2)
    held, n_runs = [], 0
    for seed in range(4):
        plan = ordered.OrderedReplay(
            "relevant", [0.2, 0.4, 0.6, 0.8], parse_measures("nDCG@10"), audit=0.2
        )
        for look in ordered.replay_ordered(world, plan, seed):
            held.append(look.left <= look.upper_left)
            n_runs += 1
    assert n_runs == 16
    assert np.mean(held) >= 0.8  # 95 % of looks, of which there are sixteen


def test_a_sample_of_everything_says_what_everything_says(world: JudgedPool) -> None:
    plan = sampled.SampledReplay([1.0], "rank", parse_measures("HT-nDCG@10 HT-P@2 xinfAP"))
    pairs = sampled.choose_system_pairs(2, np.random.default_rng(0))
    assert pairs.tolist() == [[0], [1]]
    found = sampled.simulate_sample(world, plan, pairs, [7])
    for estimate, measure in (("HT-nDCG@10", "nDCG@10"), ("HT-P@2", "P@2")):
        assert found["1.0", estimate].bias == pytest.approx(0, abs=1e-12)
        assert found["1.0", estimate] == pytest.approx(found["1", measure])
    assert found["1.0", "xinfAP"].bias == pytest.approx(0, abs=1e-4)


def test_a_stop_at_everything_sees_all_that_everything_shows(world: JudgedPool) -> None:
    stop = sampled.replay_until_stop(world, sampled.SampledReplay([], "rank", []), [7])
    assert stop.judged == 1
    assert stop.seen == stop.significant_whole == stop.significant
    assert (stop.narrowing, stop.narrowed) == (0, 0)


def test_of_a_stop_what_full_judging_shows_is_counted_by_hand(world: JudgedPool) -> None:
    """Difference of the topics' DCG@10, by its t-interval: beside it a comparison that is said to
    be as wide as that, and one said to be twice as wide."""
    first, second = world.packed
    gains = [np.zeros(world.n_topics), np.zeros(world.n_topics)]
    for own, run in zip(gains, (first, second), strict=True):
        for topic, rank, row in zip(
            run.topic.tolist(), run.rank.tolist(), run.row.tolist(), strict=True
        ):
            own[topic] += world.grades[row] / math.log2(rank + 1) if rank <= 10 else 0
    difference = gains[0] - gains[1]
    half = float(
        t.ppf(0.975, world.n_topics - 1) * difference.std(ddof=1) / math.sqrt(world.n_topics)
    )
    mean = float(difference.mean())
    one = SampledComparison(first.tag, second.tag, mean, 1e-9, 1.0, half, None, world.n_topics)
    significant = int(abs(mean) > half)
    found = sampled.evaluate_stop(
        [one, one._replace(half=2 * half), one._replace(judging=0.9)], 1.0, world
    )
    assert found == (3 * significant, 2 * significant + int(abs(mean) > 2 * half), 2, 1)


def test_strata_of_drawn_topics_are_prefixes_of_one_shuffle(world: JudgedPool) -> None:
    draw = sampled.draw_strata(
        world, sampled.SampledReplay([0.3, 0.6], "votes", []), np.random.default_rng(1)
    )
    few, more = draw.sample(0.4), draw.sample(0.7)
    assert ((few.grades >= 0) <= (more.grades >= 0)).all()
    assert few.n_judged.tolist() == [
        int((few.grades[few.stratum == h] >= 0).sum()) for h in range(len(few.sizes))
    ]


@pytest.mark.data
def test_the_replay_evaluates_as_evaluate_does(data_folder: Path, tmp_path: Path) -> None:
    folder = data_folder / "clef-ehealth-2015"
    pool, grades = judged_pool(
        folder, "runs-top100", "qrels.eng.clef2015.qtest.graded.txt.gz", depth=100
    )
    runs = [
        read_run(str(path), lenient=True) for path in sorted((folder / "runs-top100").iterdir())
    ]
    world = make_judged_pool(pool, grades, runs, min_relevant=1)
    from assay.formats.qrels import make_qrels

    rows = [
        (pool.topics[t], d.decode(), int(g))
        for t, d, g in zip(
            pool.topic.tolist(), pool.documents.tolist(), grades.tolist(), strict=True
        )
    ]
    for k in (0, 30):
        means = evaluate(runs[k], make_qrels("q", rows), MEASURES).means()
        assert world.scores(world.grades, MEASURES)[k].mean(axis=0) == pytest.approx(means)
