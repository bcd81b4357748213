"""`compare systems --fail-on`, and the commands of the guide on search regressions."""

from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from assay.cli.main import main
from tests.analysis.commands.called import answer
from tests.analysis.commands.judged_file import refused
from tests.analysis.commands.ranked_files import files

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "search-regressions.md"
TOPICS = range(8)
QRELS = "".join(f"{t} 0 r 1\n" for t in TOPICS)


def ranked(tag: str, ranks: dict[int, int]) -> str:
    """A run that has the relevant document of topic t at ranks[t], by default at rank 1."""
    return "".join(
        f"{t} Q0 {'r' if rank == ranks.get(t, 1) else f'x{rank}'} {rank} {9 - rank} {tag}\n"
        for t in TOPICS
        for rank in (1, 2)
    )


RELEASE = ranked("release", {})
WORSE = ranked("change", dict.fromkeys(TOPICS, 2))
"""RR 0.5 in place of 1 in all of 8 topics. Two of 2^8 changes of signs are as extreme: p = 1/128."""
NOISE = ranked("change", {0: 2})
"""Worse in one topic: p = 1."""


@pytest.mark.parametrize(
    ("change", "more", "status"),
    [
        (WORSE, (), 1),
        (WORSE, ("--alpha", "0.005"), 0),
        (NOISE, (), 0),
        (RELEASE.replace("release", "change"), (), 0),
    ],
    ids=["worse", "worse, stricter level", "noise", "equal"],
)
def test_the_status_is_1_only_if_a_run_is_significantly_worse(
    tmp_path: Path, change: str, more: tuple[str, ...], status: int
) -> None:
    paths = files(tmp_path, qrels=QRELS, release=RELEASE, change=change)
    ended, out, _ = refused("compare_systems", *paths, "--fail-on", "RR < baseline", *more)
    assert ended == status
    [checked] = json.loads(out)["fail_on"]
    assert (checked["condition"], checked["baseline"]) == ("RR < release", "release")
    assert [(one["run"], one["difference"], one["p"]) for one in checked["worse"]] == (
        [("change", -0.5, 1 / 128)] if status else []
    )


def test_a_better_run_does_not_fail_and_another_baseline_may_be_named(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, change=WORSE, release=RELEASE)
    assert refused("compare_systems", *paths, "--fail-on", "RR<baseline")[0] == 0
    assert refused("compare_systems", *paths, "--fail-on", "RR < release")[0] == 1


def test_conditions_test_every_run_against_their_baseline_only(tmp_path: Path) -> None:
    paths = files(
        tmp_path, qrels=QRELS, release=RELEASE, change=WORSE, noise=NOISE.replace("change", "noise")
    )
    found = json.loads(
        refused("compare_systems", *paths, "--measures", "AP", "--fail-on", "RR < baseline")[1]
    )
    assert [(row["a"], row["b"]) for row in found["RR"]["pairs"]] == [
        ("release", "change"),
        ("release", "noise"),
    ]
    assert "AP" in found
    found = json.loads(
        refused("compare_systems", *paths, "--fail-on", "RR < noise", "--fail-on", "RR < release")[
            1
        ]
    )
    assert len(found["RR"]["pairs"]) == 3
    assert [[row["run"] for row in one["worse"]] for one in found["fail_on"]] == [
        ["change"],
        ["change"],
    ]


def test_the_outcome_is_printed_first(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, release=RELEASE, change=WORSE)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["assay", "compare", "systems", *paths, "--fail-on", "RR < baseline"])
    assert ended.value.code == 1
    assert out.getvalue().startswith(
        "Failed (Holm correction): RR is significantly lower than that of release for change "
        "(difference -0.5000, p = 0.0078).\n"
    )
    assert "Effectiveness of the systems" in out.getvalue()
    answer("compare_systems", paths[0], paths[1], paths[1])  # without a condition, the status is 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--fail-on", "RR"), "'RR' is not a condition, expected a measure and a run"),
        (("--fail-on", "RR > baseline"), "is not a condition"),
        (("--fail-on", "RR AP < baseline"), "has 2 measures, expected one"),
        (("--fail-on", "quality < baseline"), "quality"),
        (
            ("--fail-on", "RR < other"),
            "'RR < other': unknown run other; choose from release, change",
        ),
        (
            ("--fail-on", "RR < baseline", "--against", "change"),
            "--against is change, but --fail-on compares with release",
        ),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], says: str
) -> None:
    paths = files(tmp_path, qrels=QRELS, release=RELEASE, change=WORSE)
    with pytest.raises(SystemExit) as ended:
        main(["assay", "compare", "systems", *paths, *more])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_a_build_does_not_pass_without_a_test(tmp_path: Path) -> None:
    few = "".join(line + "\n" for line in QRELS.splitlines()[:5])
    paths = files(tmp_path, qrels=few, release=RELEASE, change=WORSE)
    status, _, err = refused("compare_systems", *paths, "--fail-on", "RR < baseline")
    assert status == 2
    assert "cannot be tested: 5 topics; a verdict needs at least 6" in err


def test_the_commands_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Topic t has 20 results; the change has the relevant ones one rank lower."""
    text = GUIDE.read_text(encoding="utf-8")
    commands = re.findall(r"^ +(?:- run: )?(assay .+)$", text, re.MULTILINE)
    assert len(commands) == 6
    monkeypatch.chdir(tmp_path)
    topics, ranks = range(20), range(1, 21)
    Path("qrels.txt").write_text(
        "".join(f"{t} 0 d{r} {(t + r) % 3}\n" for t in topics for r in ranks if r != 20)
    )
    for name, tag, shift in (("baseline", "release", 0), ("new", "change", 5), ("other", "o", 1)):
        Path(f"{name}.run").write_text(
            "".join(
                f"{t} Q0 d{d} {place} {30 - place} {tag}\n"
                for t in topics
                for place, d in enumerate(
                    sorted(ranks, key=lambda d: (-((t + d) % 3 if shift < 5 else -d), d)), 1
                )
            )
        )
    ended = []
    for command in commands:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main(shlex.split(command))
                ended.append(0)
            except SystemExit as end:
                ended.append(end.code)
        assert out.getvalue(), (command, err.getvalue())
    assert ended == [1, 1, 1, 0, 0, 1]
