"""The command `assay`: its list of commands, and what completes it in a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from assay.cli.command_list import COMMAND_MODULES, find_command_files
from assay.cli.main import main

ROOT = Path(__file__).resolve().parent.parent


def script(shell: str) -> str:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DJANGO_", "ASSAY_"))
    }
    code = f"from assay.cli.main import main; main(['assay', 'completion', '{shell}'])"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=kept,
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    ).stdout


@pytest.mark.parametrize("words", [["assay"], ["assay", "help"], ["assay", "--help"]])
def test_each_command_has_one_line_in_the_list(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(words)
    lines = capsys.readouterr().out.splitlines()
    for name in COMMAND_MODULES:
        (line,) = [line for line in lines if line.startswith(f"  {name}  ")]
        assert len(line.split("  ", 2)[2]) > 20


def test_each_module_of_a_command_has_one_name() -> None:
    assert sorted(COMMAND_MODULES.values()) == sorted(find_command_files())


def test_no_name_is_the_first_word_of_another() -> None:
    firsts = {name.split()[0] for name in COMMAND_MODULES if " " in name}
    assert not firsts & set(COMMAND_MODULES)
    assert all(len(name.split()) <= 2 for name in COMMAND_MODULES)


@pytest.mark.parametrize(
    "words", [["compare", "runs"], ["compare-runs"], ["compare_runs"], ["help", "compare", "runs"]]
)
def test_a_command_is_found_by_its_name(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["assay", *words, *([] if words[0] == "help" else ["--help"])])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: assay compare runs ")


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (
            ["compare"],
            "compare systems, compare runs, compare rankings, compare preferences, compare labels",
        ),
        (["compare", "system"], "compare systems"),
        (["evalute"], "evaluate"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(words: list[str], near: str) -> None:
    with pytest.raises(SystemExit, match=near):
        main(["assay", *words])


def test_a_package_adds_an_analysis_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "counted-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counted\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[assay.analyses]\ncount_grades = counted:Command\n")
    (tmp_path / "counted.py").write_text(COUNTED)
    monkeypatch.syspath_prepend(str(tmp_path))
    qrels = tmp_path / "q.qrels"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    main(["assay", "count_grades", str(qrels)])
    shown = capsys.readouterr().out
    assert "Grades of the qrels" in shown
    assert shown.splitlines()[-1].split() == ["1", "2"]
    main(["assay"])
    assert "  count_grades" in capsys.readouterr().out


COUNTED = """
from collections import Counter
from assay.analyses.shared.measures import read_one_qrels
from assay.cli.base import FileCommand
from assay.tabular import Table

class Command(FileCommand):
    help = "Count the documents of each grade."
    takes_seed = False

    def arguments(self, parser):
        parser.add_argument("qrels")

    def compute(self, *, qrels, **options):
        return {"grades": dict(sorted(Counter(read_one_qrels(self, qrels).grades.tolist()).items()))}

    def tables(self, result):
        rows = [[grade, n] for grade, n in result["grades"].items()]
        return [Table("grades", "Grades of the qrels", ["grade", "documents"], rows)]
"""


@pytest.mark.parametrize("target", ["install", "run", "test", "lint", "docs"])
def test_every_script_that_make_starts_is_a_file(target: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    scripts = [after for before, after in pairwise(words) if re.search(r"python[\d.]*$", before)]
    assert scripts
    assert [name for name in scripts if name != "-m" and not (ROOT / name).is_file()] == []


def test_an_unknown_shell_is_told_which_there_are() -> None:
    with pytest.raises(SystemExit, match="bash, zsh, fish"):
        main(["assay", "completion", "csh"])


ASKED = """
{script}
ask() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_assay; echo "${{COMPREPLY[*]}}"; }}
ask assay comp
ask assay compare ""
ask assay aggregate --me
ask assay aggregate --method ""
ask assay aggregate --method med
ask assay aggregate judge
ask assay completion ""
ask assay campaign ""
"""


@pytest.mark.long
def test_bash_completes_commands_options_and_values() -> None:
    done = subprocess.run(
        ["bash", "-c", ASKED.format(script=script("bash"))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    names, second, options, values, value, files, shells, actions = done.stdout.splitlines()
    assert names.split() == ["compare", "completion"]
    assert second.split() == ["systems", "runs", "rankings", "preferences", "labels"]
    assert options == "--method"
    assert values.split()[:2] == ["majority", "median"]
    assert value == "median"
    assert files == ""  # those of the folder, by the shell itself
    assert shells == "bash zsh fish"
    assert actions.split() == ["apply", "export"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("shell", "lines"),
    [
        (
            "zsh",
            [
                "_shtab_assay_aggregate_options=(",
                '  "--json[print one JSON object]"',
            ],
        ),
        (
            "fish",
            [
                "complete -c assay -n '_shtab_assay_using aggregate' -l json -d 'print one JSON object'"
            ],
        ),
    ],
)
def test_the_other_shells_have_every_command_and_its_options(shell: str, lines: list[str]) -> None:
    text = script(shell)
    assert set(lines) <= set(text.splitlines())
    assert [name for name in COMMAND_MODULES if name.split()[-1] not in text] == []
    checker = {"zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}[shell]
    if any((Path(folder) / shell).exists() for folder in os.environ["PATH"].split(os.pathsep)):
        assert (
            subprocess.run(checker, input=text, capture_output=True, text=True, check=False).stderr
            == ""
        )


@pytest.mark.parametrize("arguments", [["version"], ["check_topics", "{topics}", "--json"]])
def test_a_reader_that_has_read_enough_ends_a_command_without_a_word(
    tmp_path: Path, arguments: list[str]
) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tone\n2\ttwo\n", encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "assay", *(word.format(topics=topics) for word in arguments)]
    done = subprocess.run(
        words, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=200
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
