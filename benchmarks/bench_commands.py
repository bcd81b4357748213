"""Start-up and computing time of commands on plain files: processor time (user and system) of whole
processes, measured alternately.

- `evaluate --help`, as `assay` and as manage.py. The limit is three times `python -c 'import numpy'`,
  measured in the same rounds.
- Commands on files of two topics, where start-up dominates, in multiples of the same `import numpy`.
  The limit is four, because scipy.special alone takes three.
- `evaluate QRELS RUN` with AP and nDCG@10 for one generated run of 66 topics x 1000 documents. Peer: the
  command of ir_measures on the same files. Before timing, the means must agree to four decimals. Both
  have bytecode files.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bench_evaluate import write_files

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
PEER_COMMAND = str(Path(PYTHON).parent / "ir_measures")
MEASURES = ("AP", "nDCG@10")
TIMES_NUMPY = 3
TIMES_NUMPY_COMPUTING = 4
SMALL_COMMANDS = {
    "evaluate": ["qrels", "a", "b"],
    "compare_systems": ["qrels", "a", "b"],
    "bootstrap": ["qrels", "a", "b"],
    "agreement": ["judgements"],
}
"""Command -> its input files with two topics."""
OUR_NAMES = {"assay": ["-m", "assay"], "manage.py": ["manage.py"]}


def main(quick: bool) -> list[dict[str, object]]:
    rounds = 3 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        qrels, (run,) = write_files(Path(folder), n_runs=1, n_topics=66, n_documents=1000)
        files = [str(qrels), str(run)]
        ours = {
            name: [PYTHON, *words, "evaluate", *files, "--measures", " ".join(MEASURES)]
            for name, words in OUR_NAMES.items()
        }
        theirs = [PEER_COMMAND, *files, *MEASURES]
        check_same_means(ours["assay"], theirs)
        paths = write_small_files(Path(folder))
        small = {
            name: [PYTHON, "-m", "assay", name, *(str(paths[word]) for word in words)]
            for name, words in SMALL_COMMANDS.items()
        }
        started = measure_seconds({"numpy": [PYTHON, "-c", "import numpy"], **small}, rounds)
        helped = measure_seconds(
            {
                "numpy": [PYTHON, "-c", "import numpy"],
                **{
                    name: [PYTHON, *words, "evaluate", "--help"]
                    for name, words in OUR_NAMES.items()
                },
            },
            rounds,
        )
        evaluated = measure_seconds({"ir_measures": theirs, **ours}, rounds)
    rows = []
    for name in OUR_NAMES:
        note = f"{1000 * helped[name]:.0f} ms compared with {1000 * helped['numpy']:.0f} ms"
        limit = TIMES_NUMPY * helped["numpy"] / helped[name]
        rows.append(
            {
                "work": f"`{name} evaluate --help`",
                "peer": "3 times `import numpy`",
                "ratio": limit,
                "at_least": 1.0,
                "note": note,
            }
        )
    for name in SMALL_COMMANDS:
        note = f"{1000 * started[name]:.0f} ms compared with {1000 * started['numpy']:.0f} ms"
        limit = TIMES_NUMPY_COMPUTING * started["numpy"] / started[name]
        work = f"`{name}` on two topics"
        rows.append(
            {
                "work": work,
                "peer": f"{TIMES_NUMPY_COMPUTING} times `import numpy`",
                "ratio": limit,
                "at_least": 1.0,
                "note": note,
            }
        )
    for name in OUR_NAMES:
        note = f"{1000 * evaluated[name]:.0f} ms compared with {1000 * evaluated['ir_measures']:.0f} ms of processor time"
        ratio = evaluated["ir_measures"] / evaluated[name]
        work = f"`{name} evaluate`, one run of 66 topics x 1000, AP and nDCG@10"
        rows.append(
            {
                "work": work,
                "peer": "ir_measures' command",
                "ratio": ratio,
                "at_least": 1.0,
                "note": note,
            }
        )
    return rows


def write_small_files(folder: Path) -> dict[str, Path]:
    """Write small input files with two topics: qrels, two runs, and the judgements of two
    annotators. Returns their paths."""
    pairs = [(topic, document) for topic in (1, 2) for document in (1, 2, 3)]
    texts = {
        "qrels": [f"{topic} 0 d{document} {document % 2}" for topic, document in pairs],
        "a": [f"{topic} Q0 d{document} {document} {9 - document} a" for topic, document in pairs],
        "b": [f"{topic} Q0 d{document} {4 - document} {document} b" for topic, document in pairs],
        "judgements": ["topic\tdocument\tannotator\tgrade"]
        + [
            f"{topic}\td{document}\ta{who}\t{(topic + document + who) % 2}"
            for topic, document in pairs
            for who in (1, 2)
        ],
    }
    paths = {name: folder / f"small-{name}.txt" for name in texts}
    for name, lines in texts.items():
        paths[name].write_text("\n".join([*lines, ""]), encoding="utf-8")
    return paths


def check_same_means(ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Raise AssertionError if the commands of Assay and ir_measures report different means."""
    told = dict(line.split() for line in run_and_read(theirs).splitlines())
    table = [line.split() for line in run_and_read(ours).splitlines()]
    header = next(row for row in table if row[:1] == ["run"])
    values = dict(zip(header[1:], table[table.index(header) + 1][1:], strict=True))
    assert {name: values[name] for name in MEASURES} == {name: told[name] for name in MEASURES}, (
        values,
        told,
    )


def run_and_read(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def measure_seconds(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Measure the processor time of commands. Returns name -> median seconds per process. The first
    round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, command in commands.items():
            taken[name].append(processor_seconds(command))
    return {name: statistics.median(values[1:]) for name, values in taken.items()}


def processor_seconds(command: Sequence[str]) -> float:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return used.ru_utime + used.ru_stime
