"""Measurements for targets A1, B2, B3, C1 and C2 by `simulate campaign`, each with a command line
that anyone can run."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

from tests.commands import call_command

SETS = {
    "robust03": ("robust03/qrels.robust2003.txt.gz", "robust03/runs", ["--depth", "100"]),
    "dl21": (
        "dl21-passage/qrels.nist.txt.gz",
        "dl21-passage/runs-judged53",
        ["--min-relevant", "2"],
    ),
    "clef15": (
        "clef-ehealth-2015/qrels.eng.clef2015.qtest.graded.txt.gz",
        "clef-ehealth-2015/runs-top100",
        ["--depth", "100"],
    ),
    "nfcorpus": (
        "nfcorpus/beir/qrels/test.tsv",
        "nfcorpus/runs",
        ["--depth", "30", "--unjudged", "lowest"],
    ),
}
TWENTIETHS = ",".join(f"{k / 20:g}" for k in range(2, 19))
TENTHS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9"
TWELFTHS = ",".join(f"{k / 12:.4f}" for k in range(1, 13))


def run_simulation(data: Path, name: str, *options: str) -> dict:
    """Run `simulate campaign` on one collection. Returns its JSON with its command line, without
    the pairs and hours of work, which the page does not show."""
    qrels, runs, own = SETS[name]
    given = [*own, *options]
    files = [str(path) for path in sorted((data / runs).iterdir())]
    out = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        call_command(
            "simulate_campaign",
            str(data / qrels),
            *files,
            "--lenient",
            *given,
            "--json",
            stdout=out,
            stderr=io.StringIO(),
        )
    answer = json.loads(out.getvalue())
    for row in answer["budgets"].values():
        del row["judged"], row["hours"]
    return answer | {"line": f"simulate_campaign {qrels} {runs}/* --lenient {' '.join(given)}"}


def measure_relevant_first(data: Path, simulations: int, seed: int) -> list[dict]:
    rows = []
    for name in SETS:
        for audit in ("0", "0.1"):
            simulated = run_simulation(
                data,
                name,
                "--strategy",
                "relevant",
                "--audit",
                audit,
                "--budgets",
                "0.2,0.3",
                "--measures",
                "nDCG@10",
                "--seed",
                str(seed),
            )
            level = run_simulation(
                data,
                name,
                "--strategy",
                "level",
                "--budgets",
                "0.2,0.3",
                "--measures",
                "nDCG@10",
                "--seed",
                str(seed),
            )
            rows.append(
                {
                    "set": name,
                    "audit": audit,
                    "line": simulated["line"],
                    "pairs": simulated["pairs"],
                    "recall": {b: simulated["budgets"][b]["recall"] for b in ("0.2", "0.3")},
                    "level": {b: level["budgets"][b]["recall"] for b in ("0.2", "0.3")},
                }
            )
    return rows


def measure_coverage(data: Path, simulations: int, seed: int) -> list[dict]:
    return [
        run_simulation(
            data, name, "--strategy", "sampled", "--simulations", str(n), "--seed", str(seed)
        )
        | {"set": name}
        for name, n in (
            ("dl21", simulations),
            ("clef15", max(simulations // 4, 1)),
            ("robust03", max(simulations // 8, 1)),
        )
    ]


def measure_sampled_stop(data: Path, simulations: int, seed: int) -> list[dict]:
    """Measure the stopping rule for sampled pools with interim checks at each tenth of the pool, as
    in campaigns. For clef15 it is also measured with checks twice as often, to show the cost of
    checking at tenths."""
    n = min(simulations, 100)
    plans = (
        ("dl21", n, TENTHS),
        ("clef15", n, TENTHS),
        ("robust03", max(n // 4, 1), TENTHS),
        ("clef15", min(n, 60), TWENTIETHS),
    )
    rows = []
    for name, size, looks in plans:
        options = (
            "--strategy",
            "sampled",
            "--strata",
            "votes",
            "--budgets",
            looks,
            "--stopping",
            "--seed",
            str(seed),
        )
        title = name if looks == TENTHS else f"{name}, looks at twentieths"
        rows.append(
            run_simulation(data, name, *options, "--simulations", str(size)) | {"set": title}
        )
    return rows


def measure_ordered_stop(data: Path, simulations: int, seed: int) -> list[dict]:
    rows = []
    for name in ("dl21", "clef15", "robust03"):
        for order in ("level", "relevant"):
            options = (
                "--strategy",
                order,
                "--part",
                "0.8,16",
                "--stopping",
                "--budgets",
                TWELFTHS,
                "--measures",
                "nDCG@10",
                "--seed",
                str(seed),
            )
            n = str(min(simulations, 20))
            rows.append(run_simulation(data, name, *options, "--simulations", n) | {"set": name})
    return rows
