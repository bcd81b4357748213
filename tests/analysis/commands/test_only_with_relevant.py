"""`--only-with-relevant` does the same in every command that offers it: a topic without relevant
documents might as well not be in the qrels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files
from tests.commands import get_commands, load_command_class

QRELS = "".join(
    f"{t} 0 {d} {g}\n"
    for t in range(12)
    for d, g in (("a", 1), ("b", (t + 1) % 3 % 2), ("c", 0), ("d", t % 2))
)
RUNS = {
    tag: "".join(
        f"{t} Q0 {d} 1 {(weights.index(d) * (3 * t + 1)) % 5 + k / 10} {tag}\n"
        for t in range(13)
        for k, d in enumerate("abcd")
    )
    for tag, weights in (("one", "abcd"), ("two", "dcba"), ("three", "bdac"))
}
ORDER = "tag\tdate\tgroup\none\t2021-01-02\tx\ntwo\t2021-01-03\ty\nthree\t2021-02-01\tx\n"
JUDGED = "topic,document,annotator,grade\n" + "".join(
    f"{t},{d},{who},{int(g) if who < 'c' else (len(d) + int(t)) % 2}\n"
    for t, _, d, g in (line.split() for line in (QRELS + "12 0 a 0\n12 0 c 0\n").splitlines())
    for who in "abc"
)
MORE = {
    "bootstrap": ["--trials", "20"],
    "compare_systems": ["--permutations", "50", "--measures", "AP"],
    "plan_study": [
        "--measures",
        "AP",
        "--difference",
        "0.1",
        "--grades",
        "2",
        "--label-trials",
        "20",
    ],
    "split_half": ["--splits", "3", "--measures", "AP"],
    "stability": [
        "--element",
        "assessments",
        "--overlaps",
        "50:100:50",
        "--pairs",
        "4",
        "--measures",
        "AP",
    ],
    "reusability": ["--depth", "2", "--measures", "AP"],
    "evaluate": ["--measures", "AP"],
}
OFFERING = sorted(
    name
    for name, app in get_commands().items()
    if app in {"assay"}
    and "--only-with-relevant"
    in load_command_class(app, name).create_parser("manage.py", name).format_help()
)


@pytest.mark.parametrize("name", OFFERING)
def test_a_topic_without_relevant_documents_might_as_well_not_be_there(
    name: str, tmp_path: Path
) -> None:
    few, order, *runs = files(tmp_path, few=QRELS, order=ORDER, **RUNS)
    whole = tmp_path / "further" / "few"
    whole.parent.mkdir()
    whole.write_text(QRELS + "12 0 a 0\n12 0 c 0\n")
    more = MORE.get(name, [])
    if name == "compare_runs":
        runs = runs[:2]
    elif name == "leaderboard":
        more = ["--metadata", order]
    elif name == "plan_study":
        more = [*more, "--judgements", *files(tmp_path, judged=JUDGED)]

    def told(qrels: str, *options: str) -> dict[str, Any]:
        given = (
            [*runs, "--qrels", f"A={qrels}", "--qrels", f"B={few}"]
            if name == "compare_rankings"
            else [qrels, *runs]
        )
        return answer(name, *given, *more, *options)[0]

    def kept(found: dict[str, Any]) -> dict[str, Any]:
        """Without what counts the topics of the qrels."""
        return {key: value for key, value in found.items() if key not in ("topics", "evaluated")}

    without = kept(told(few))
    assert kept(told(str(whole), "--only-with-relevant")) == without
    assert kept(told(str(whole))) != without


@pytest.mark.parametrize("name", ["evaluate", "compare_systems"])
def test_of_a_sample_nobody_knows_which_topics_have_none(name: str, tmp_path: Path) -> None:
    sample, *runs = files(tmp_path, sample="0 0 a s 0\n0 0 b s -1\n1 0 a s 1\n1 0 b s -1\n", **RUNS)
    assert "where topics without relevant documents are unknown" in refused(
        name, sample, *runs, "--sampled", "--measures", "HT-P@2", "--only-with-relevant"
    )
