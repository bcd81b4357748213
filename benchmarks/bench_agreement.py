"""Agreement and aggregation at the size of TripJudge: 38,810 judgements of 12,590 pairs by 135
annotators, four grades, generated data.

- Linearly weighted kappa of every pair of annotators with a common pair. Peer: a loop over
  scikit-learn's cohen_kappa_score on the dense matrix of grades.
- Dawid-Skene. Peer: crowd-kit's DawidSkene with the same limits. Both must end after the same number of
  iterations, with posteriors that match within 1e-6. crowd-kit runs in its own process, which holds the data and
  reports the time of the fit. Its interpreter is ASSAY_BENCH_CROWDKIT_PYTHON, or this one if crowd-kit
  can be imported (`pip install crowd-kit`).

    python -m benchmarks agreement   (or: python -m benchmarks.bench_agreement)
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from assay.labels.aggregation.dawid_skene import DawidSkeneEstimate, StoppingRule, estimate_errors
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.agreement.raters import find_annotator_pairs
from assay.labels.labels import MISSING, LabelTable, make_label_table

CROWDKIT_SCRIPT = """
import sys, json, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from crowdkit.aggregation import DawidSkene
data = np.load(sys.argv[1])
frame = pd.DataFrame({"task": data["pair"], "worker": data["annotator"], "label": data["grade"]})
print("ready", flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    model = DawidSkene(100, tol=1e-5).fit(frame)
    seconds = time.perf_counter() - start
    posterior = model.probas_.sort_index()
    np.save(sys.argv[2], posterior[sorted(posterior.columns)].to_numpy())
    print(json.dumps({"seconds": seconds, "iterations": len(model.loss_history_)}), flush=True)
"""


def generate_table(
    rng: np.random.Generator, *, n_pairs: int, n_judgements: int, n_annotators: int = 135
) -> LabelTable:
    """Generate judgements by annotators of reliability 0.3 to 0.9. An unreliable answer is drawn
    from TripJudge's distribution of grades."""
    shares = np.array([3811, 10901, 13008, 11090]) / 38_810
    per_pair = np.full(n_pairs, n_judgements // n_pairs)
    per_pair[: n_judgements - per_pair.sum()] += 1
    pair = np.repeat(np.arange(n_pairs), per_pair)
    annotator = np.concatenate([rng.choice(n_annotators, n, replace=False) for n in per_pair])
    truth = rng.choice(4, size=n_pairs, p=shares)
    reliable = rng.random(n_judgements) < rng.uniform(0.3, 0.9, n_annotators)[annotator]
    return make_label_table(
        topics=["t"],
        documents=[f"d{i:05}" for i in range(n_pairs)],
        annotators=[f"a{i:03}" for i in range(n_annotators)],
        topic=np.zeros(n_judgements, dtype=int),
        document=pair,
        annotator=annotator,
        grade=np.where(reliable, truth[pair], rng.choice(4, size=n_judgements, p=shares)),
        n_grades=4,
    )


def time_call(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def kappas_of_all_pairs(table: LabelTable) -> NDArray[np.float64]:
    return cohen_kappa(find_annotator_pairs(table, min_common=1).joint, weighted=True)


def scikit_learn_loop(grades: NDArray[np.integer]) -> list[float]:
    """Compute kappa of every pair of annotators by scikit-learn. grades: (n_pairs, n_annotators),
    MISSING if not judged."""
    kappas = []
    for first, second in itertools.combinations(range(grades.shape[1]), 2):
        both = (grades[:, first] != MISSING) & (grades[:, second] != MISSING)
        if both.any():
            kappas.append(
                cohen_kappa_score(
                    grades[both, first], grades[both, second], weights="linear", labels=[0, 1, 2, 3]
                )
            )
    return kappas


def kappa_row(table: LabelTable, repetitions: int) -> dict[str, object]:
    grades = np.full((table.n_pairs, table.n_annotators), MISSING)
    grades[table.pair, table.annotator] = table.grade
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn divides by zero if kappa is undefined
        expected = scikit_learn_loop(grades)
        np.testing.assert_allclose(kappas_of_all_pairs(table), expected, atol=1e-10)
        times = [
            (
                time_call(lambda: kappas_of_all_pairs(table)),
                time_call(lambda: scikit_learn_loop(grades)),
            )
            for _ in range(repetitions)
        ]
    ours, peer = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "work": f"weighted kappa of all pairs of {table.n_annotators} annotators, {len(table):,} judgements",
        "peer": "scikit-learn loop",
        "ratio": peer / ours,
        "at_least": 100,
        "aim": 400,
        "note": f"{len(expected):,} pairs of annotators, match within 1e-10",
    }


def run_dawid_skene(table: LabelTable) -> DawidSkeneEstimate:
    shape = (table.n_pairs, table.n_annotators, table.n_grades)
    return estimate_errors(
        table.pair, table.annotator, table.grade, shape=shape, rule=StoppingRule.CROWD_KIT
    )


def find_crowdkit_python() -> str | None:
    configured = os.environ.get("ASSAY_BENCH_CROWDKIT_PYTHON", "")
    return configured or (sys.executable if importlib.util.find_spec("crowdkit") else None)


def dawid_skene_row(table: LabelTable, repetitions: int) -> dict[str, object]:
    row: dict[str, object] = {
        "work": f"Dawid-Skene, same iterations, {len(table):,} judgements",
        "peer": "crowd-kit",
        "ratio": None,
        "at_least": 6,
        "aim": 12,
    }
    python = find_crowdkit_python()
    if python is None:
        return row | {
            "note": "peer missing: set ASSAY_BENCH_CROWDKIT_PYTHON to an interpreter that has crowd-kit"
        }
    with tempfile.TemporaryDirectory() as folder:
        data, answer = Path(folder) / "data.npz", Path(folder) / "posterior.npy"
        np.savez(data, pair=table.pair, annotator=table.annotator, grade=table.grade)
        times = []
        with subprocess.Popen(
            [python, "-c", CROWDKIT_SCRIPT, str(data), str(answer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            if peer.stdout.readline().strip() != "ready":
                return row | {"note": f"peer missing: {python} could not import crowd-kit"}
            for _ in range(repetitions + 1):
                print("go", file=peer.stdin, flush=True)
                peer_answer = json.loads(peer.stdout.readline())
                ours = time_call(lambda: run_dawid_skene(table))
                times.append((ours, peer_answer["seconds"]))
            peer.stdin.close()
        estimate = run_dawid_skene(table)
        assert len(estimate.objective) == peer_answer["iterations"], (
            len(estimate.objective),
            peer_answer,
        )
        np.testing.assert_allclose(estimate.posterior, np.load(answer), atol=1e-6)
    ours, theirs = (
        statistics.median(column) for column in zip(*times[1:], strict=True)
    )  # the first run warms up both
    return row | {
        "ratio": theirs / ours,
        "note": f"{peer_answer['iterations']} iterations each, posteriors match within 1e-6",
    }


def main(quick: bool = False) -> list[dict[str, object]]:
    size = (
        {"n_pairs": 600, "n_judgements": 1_850, "n_annotators": 20}
        if quick
        else {"n_pairs": 12_590, "n_judgements": 38_810}
    )
    table = generate_table(np.random.default_rng(0), **size)
    return [kappa_row(table, 1 if quick else 3), dawid_skene_row(table, 1 if quick else 7)]


if __name__ == "__main__":
    for result in main(quick="--quick" in sys.argv):
        print(json.dumps(result))
