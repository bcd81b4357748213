from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from fractions import Fraction
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay.analyses.shared.stability_tables import result_tables
from assay.analyses.stability import parse_levels
from assay.measures.subcollections import JOINT
from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import printed
from tests.assay.measures.small_collections import (
    Small,
    keep_documents,
    random_collection,
    reference_scores,
)
from tests.commands import call_command
from tests.installation import interruptible

ROOT = Path(__file__).resolve().parents[3]


def written(small: Small, folder: Path) -> list[str]:
    """The collection as files: qrels, and one file a run."""
    qrels = folder / "qrels.txt"
    qrels.write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, judged in small.qrels.items() for d, g in judged.items())
    )
    paths = [str(qrels)]
    for tag, run in small.runs.items():
        path = folder / f"{tag}.run"
        path.write_text(
            "".join(
                f"{t} Q0 {d} 0 {s} {tag}\n"
                for t, ranking in run.items()
                for d, s in ranking.items()
            )
        )
        paths.append(str(path))
    return paths


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(random_collection(np.random.default_rng(1), n_topics=8, n_runs=5), tmp_path)


def test_the_answer_has_the_keys_of_the_contract(files: list[str]) -> None:
    found, _ = answer(
        "stability",
        *files,
        "--element",
        "assessments",
        "--overlaps",
        "0:100:25",
        "--pairs",
        6,
        "--seed",
        3,
    )
    assert (found["element"], found["seed"], found["pairs"], found["threshold"]) == (
        "assessments",
        3,
        6,
        0.9,
    )
    assert found["size"] == found["population"] // 2
    assert found["levels"] == [0, 0.25, 0.5, 0.75, 1]
    assert found["shared"] == [(2 * p * found["size"] + 100) // 200 for p in (0, 25, 50, 75, 100)]
    for key in ("probability", "mean_tau", "undefined"):
        assert {measure: len(values) for measure, values in found[key].items()} == dict.fromkeys(
            ["AP", "Rprec", "Bpref", "nDCG"], 5
        )
    assert set(found["fit"]["AP"]) == {"slope", "intercept"}
    assert set(found["minimum_overlap"]) == {"AP", "Rprec", "Bpref", "nDCG"}
    assert all(values[-1] == 1 for values in found["probability"].values())


def test_topics_have_a_level_for_each_number_of_shared_topics_and_others_twenty(
    files: list[str],
) -> None:
    found, _ = answer("stability", *files, "--element", "topics", "--pairs", 2)
    assert (found["population"], found["size"], found["shared"]) == (8, 4, [1, 2, 3, 4])
    assert found["levels"] == [0.25, 0.5, 0.75, 1]
    assert answer("stability", *files, "--element", "positive", "--pairs", 2)[0]["levels"] == [
        p / 100 for p in range(5, 101, 5)
    ]


def test_a_list_of_documents_sets_the_population(files: list[str], tmp_path: Path) -> None:
    listed = tmp_path / "ids.txt.gz"
    with gzip.open(listed, "wt") as out:
        out.write(
            "".join(f"d{i:02d}\n" for i in range(40))
            + "".join(f"never-retrieved-{i}\n" for i in range(60))
            + "d00\n"
        )
    found, _ = answer(
        "stability", *files, "--element", "documents", "--pairs", 2, "--docids", listed
    )
    assert (found["population"], found["size"], found["unlisted"]) == (
        100,
        50,
        5,
    )  # only-run0 ... only-run4
    assert "not run again" in found["note"]
    assert (
        answer("stability", *files, "--element", "documents", "--pairs", 2)[0]["population"] == 45
    )


def test_any_number_of_processes_and_the_same_seed_give_the_same_answer(files: list[str]) -> None:
    arguments = (*files, "--element", "documents", "--pairs", 5, "--seed", 11)
    one, _ = answer("stability", *arguments)
    assert one == answer("stability", *arguments, "--processes", 2)[0]
    assert one == answer("stability", files[0], *reversed(files[1:]), *arguments[len(files) :])[0]
    assert one != answer("stability", *arguments, "--seed", 12)[0]


def test_shares_of_pairs_have_the_interval_of_clopper_and_pearson() -> None:
    """None of 2 pairs: 0 to 1 - sqrt(.025). 1 of 2: 1 - sqrt(.975) to sqrt(.975). Full overlap has
    no interval, because P is 1 by construction."""
    result = {
        "element": "topics",
        "population": 4,
        "size": 2,
        "pairs": 2,
        "threshold": 0.9,
        "levels": [0.0, 0.5, 1.0],
        "shared": [0, 1, 2],
        "probability": {"AP": [0.0, 0.5, 1.0]},
        "mean_tau": {"AP": [0.1, 0.5, 1.0]},
        "undefined": {"AP": [0, 0, 0]},
        "fit": {"AP": {"slope": 1.0, "intercept": 0.0}},
        "minimum_overlap": {"AP": None},
    }
    table = result_tables(result)[-1]
    assert (table.key, table.heads) == ("intervals", (("", 1), ("AP", 2)))
    assert table.rows == [
        [0.0, 0, pytest.approx(1 - 0.025**0.5)],
        [0.5, pytest.approx(1 - 0.975**0.5), pytest.approx(0.975**0.5)],
    ]
    assert [one.key for one in result_tables(result | {"levels": [1.0]})] == ["summary", "levels"]


def test_the_table_names_another_similarity(files: list[str]) -> None:
    found, _ = answer("stability", *files, "--element", "topics", "--similarity", "tau-ap")
    assert found["similarity"] == "tau-ap"
    levels = next(table for table in result_tables(found) if table.key == "levels")
    assert "tau-ap AP" in levels.header
    assert "P: share of pairs whose tau-ap is at least 0.9; tau-ap: its mean." in levels.note
    del found["similarity"]  # a report of version 0.1.0
    assert "whose tau-b is at least 0.9; tau: its mean." in result_tables(found)[1].note


def test_a_quota_changes_the_sizes(files: list[str]) -> None:
    found, _ = answer(
        "stability", *files, "--element", "assessments", "--per-topic-quota", "--pairs", 2
    )
    rows = [line.split()[0] for line in Path(files[0]).read_text().splitlines()]
    assert found["size"] == sum(rows.count(topic) // 2 for topic in set(rows))


def test_the_table_says_what_was_drawn(files: list[str]) -> None:
    out = StringIO()
    call_command(
        "stability",
        *files,
        "--element",
        "documents",
        "--pairs",
        "3",
        "--overlaps",
        "50,100",
        stdout=out,
        stderr=StringIO(),
    )
    text = out.getvalue()
    assert "22 of 45 documents in each sub-collection, 3 pairs at each level." in text
    assert "not run again" in text
    rows = [line.split()[:2] for line in text.splitlines()]
    assert ["0.5000", "11"] in rows
    assert ["1.0000", "22"] in rows


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            ["--element", "topics", "--per-topic-quota"],
            "a quota per topic requires the element assessments, not topics",
        ),
        (
            ["--element", "topics", "--docids", "x"],
            "--docids needs --element documents, not topics",
        ),
        (["--element", "documents", "--docids", "no-such-file"], "no-such-file: No such file"),
    ],
)
def test_contradicting_options_are_refused(
    files: list[str], more: list[str], expected: str
) -> None:
    assert expected in refused("stability", *files, *more)


def test_a_list_of_documents_with_two_words_on_a_line_is_refused(
    files: list[str], tmp_path: Path
) -> None:
    (tmp_path / "ids").write_text("d01\nd02 d03\n")
    assert "ids:2: 2 words, expected one document ID per line" in refused(
        "stability", *files, "--element", "documents", "--docids", tmp_path / "ids"
    )
    (tmp_path / "none").write_text("z1\nz2\n")
    assert "no document of runs and qrels" in refused(
        "stability", *files, "--element", "documents", "--docids", tmp_path / "none"
    )


def test_one_run_is_refused(files: list[str]) -> None:
    assert "there is only one run" in refused("stability", *files[:2], "--element", "topics")


def test_systems_that_are_always_tied_have_no_tau(tmp_path: Path) -> None:
    same = {f"t{i}": {"a": 2.0, "b": 1.0} for i in range(4)}
    paths = written(Small({t: {"a": 1, "b": 0} for t in same}, {"x": same, "y": same}), tmp_path)
    found, _ = answer("stability", *paths, "--element", "topics", "--pairs", 3)
    assert found["undefined"]["AP"] == [3, 3]
    assert found["mean_tau"]["AP"] == [None, None]
    assert found["probability"]["AP"] == [0, 0]
    assert found["minimum_overlap"]["AP"] is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5:20:5", [5, 10, 15, 20]),
        ("0:100:50", [0, 50, 100]),
        ("10:25:10", [10, 20]),
        ("10,2.5", [10, 2.5]),
        ("100", [100]),
    ],
)
def test_levels_are_read_exactly(text: str, expected: list[float]) -> None:
    assert list(parse_levels(text)) == [Fraction(percent) / 100 for percent in expected]


@pytest.mark.parametrize(
    "text", ["", "5:100", "5:100:0", "50:10:5", "101", "-5", "5:120:5", "5:10,20:5", "a", "1e2"]
)
def test_levels_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="percentages"):
        parse_levels(text)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_an_interruption_leaves_no_file_and_no_process(
    files: list[str], tmp_path: Path, processes: str
) -> None:
    target = tmp_path / "out" / "answer.json"
    target.parent.mkdir()
    command = [
        sys.executable,
        "manage.py",
        "stability",
        *files,
        "--element",
        "documents",
        "--overlaps",
        "0:100:0.1",
        "--pairs",
        "500",
    ]
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a shell's background job
    started = subprocess.Popen(
        [*command, "--json", "--processes", processes, "--output", str(target)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=interruptible,
    )
    signal.signal(signal.SIGINT, ours)
    assert started.stderr is not None
    said = ""
    while "stability over documents: " not in said:  # the progress line: it is at work
        said += (more := started.stderr.read(1))
        assert more, said
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does on Ctrl-C
    _, rest = started.communicate(timeout=120)
    assert started.returncode == 130, rest
    assert "interrupted; nothing was written" in rest
    assert "Traceback" not in rest
    assert list(target.parent.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)


def exported(folder: Path, element: str, level: str, pair: int, side: int) -> set[str]:
    """Ids of what a sub-collection holds, as its file says: in the first (1 or 3) or in the second
    (2 or 3)."""
    with gzip.open(folder / f"{element}-{level}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    return {row[0] for row in rows if int(row[-1][pair]) & side}


@pytest.mark.parametrize("element", ["documents", "topics", "assessments", "positive", *JOINT])
def test_the_sub_collections_written_give_the_taus_by_pytrec_eval_and_scipy(
    files: list[str], tmp_path: Path, element: str
) -> None:
    """Each sub-collection is evaluated from its files: its qrels, the documents kept in the runs,
    the topics averaged over."""
    small = random_collection(np.random.default_rng(1), n_topics=8, n_runs=5)
    out, names = tmp_path / "drawn", ["AP", "Bpref", "nDCG"]
    how = (
        "--element",
        element,
        "--overlaps",
        "25,50",
        "--pairs",
        3,
        "--measures",
        " ".join(names),
        "--deltas",
        "--seed",
        4,
    )
    result, _ = answer("stability", *files, *how, "--export", out, "--export-qrels", 3)
    assert sorted(result["exported"]) == sorted(
        str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()
    )
    for number, level in enumerate(("0.25", "0.5")):
        for pair in range(3):
            sides = []
            for side in (1, 2):
                rows = [
                    line.split()
                    for line in (out / f"qrels-{level}" / f"{pair + 1}-{side}.txt")
                    .read_text()
                    .splitlines()
                ]
                qrels: dict[str, dict[str, int]] = {}
                for topic, _, document, grade in rows:
                    qrels.setdefault(topic, {})[document] = int(grade)
                kept = (
                    exported(out, "documents", level, pair, side)
                    if "documents" in element
                    else set(small.documents())
                )
                topics = sorted(
                    exported(out, "topics", level, pair, side)
                    if "topics" in element
                    else small.qrels
                )
                lists = {
                    kind: set(
                        (out / f"{kind}-{level}" / f"{pair + 1}-{side}.txt").read_text().split()
                    )
                    for kind in ("topics", "documents")
                }
                assert lists == {"topics": set(topics), "documents": set(kept)}
                runs = keep_documents(small, kept).runs
                sides.append(
                    [
                        reference_scores(qrels, of_run, names, topics).mean(axis=1)
                        for of_run in runs.values()
                    ]
                )
            first, second = np.round(sides, 10)
            expected = [kendalltau(first[:, m], second[:, m]).statistic for m in range(len(names))]
            np.testing.assert_allclose(
                [
                    np.nan if (tau := result["deltas"][m][number][pair]) is None else tau
                    for m in names
                ],
                expected,
                atol=1e-9,
            )


def test_two_elements_have_the_sizes_and_draws_of_each_alone(
    files: list[str], tmp_path: Path
) -> None:
    how = ("--overlaps", "50", "--pairs", 2, "--measures", "AP", "--seed", 4)
    together, _ = answer(
        "stability",
        *files,
        "--element",
        "topics+assessments",
        *how,
        "--export",
        tmp_path / "both",
        "--processes",
        2,
    )
    assert together["population"] is None
    for element in ("topics", "assessments"):
        alone, _ = answer(
            "stability", *files, "--element", element, *how, "--export", tmp_path / element
        )
        assert together["parts"][element] == {
            key: alone[key] for key in ("population", "size", "shared")
        }
        name = f"{element}-0.5.tsv.gz"
        assert (tmp_path / "both" / name).read_bytes() == (tmp_path / element / name).read_bytes()
    with gzip.open(tmp_path / "both" / "topics-0.5.tsv.gz", "rt") as lines:
        rows = lines.read().splitlines()
    assert rows[0] == "topic\tpairs"
    assert [sum(row[-2] == digit for row in rows[1:]) for digit in "0123"] == [
        2,
        2,
        2,
        2,
    ]  # 8 topics, halves of 4 that share 2
    assert (
        "4 of 8 topics and 57 of 115 assessments"
        in printed("stability", *files, "--element", "topics+assessments", *how)[0]
    )
    assert "not an empty folder" in refused(
        "stability", *files, "--element", "topics", *how, "--export", tmp_path / "both"
    )
    assert "--export-qrels needs --export" in refused(
        "stability", *files, "--element", "topics", *how, "--export-qrels", 1
    )
