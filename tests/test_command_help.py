"""The help of every command: every argument is explained, and every command has an example."""

from __future__ import annotations

import io
import itertools
import os
import shlex
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from assay.cli.command_list import (
    COMMAND_MODULES,
    find_command_files,
    load_command,
    read_command_help,
)
from assay.cli.examples import EXAMPLES
from assay.cli.main import main

OF_DJANGO = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color"),
    *("force_color", "skip_checks"),
}
NO_NOUN = {
    *("of", "in", "with", "from", "by", "for", "to", "beside", "until", "as", "at", "on", "only"),
    *(
        "between",
        "also",
        "without",
        "where",
        "when",
        "than",
        "whose",
        "what",
        "how",
        "which",
        "who",
    ),
}
LIBRARY = [
    name
    for name, module in COMMAND_MODULES.items()
    if read_command_help(find_command_files()[module]).module.startswith("assay.")
]
CALLS_A_MODEL = "llm judge"


@pytest.mark.parametrize("name", COMMAND_MODULES)
def test_every_argument_is_explained_and_the_command_has_an_example(name: str) -> None:
    parser = load_command(COMMAND_MODULES[name]).create_parser("assay", name)
    own = [
        action
        for action in parser._actions
        if action.dest not in OF_DJANGO and action.help is not SUPPRESS
    ]
    called = {action.dest: action.help or "" for action in own}
    assert [dest for dest, text in called.items() if not text] == []
    assert [dest for dest, text in called.items() if text.split()[0].strip(",:") in NO_NOUN] == []
    parser.parse_args(shlex.split(EXAMPLES[name]))


SEVERAL_MEANINGS = {"--output": "a file, or the folder of commands that write several files"}
"""Options of which a command may take something else, with the reason."""


def test_an_option_takes_the_same_in_all_commands() -> None:
    """Whether it takes a value, how the value is called, and of choices those of the command that
    has most."""
    takes: dict[str, set[tuple[bool, object]]] = {}
    choices: dict[str, list[set[str]]] = {}
    for module in COMMAND_MODULES.values():
        for action in _list_actions(load_command(module).create_parser("assay", module)):
            for option in action.option_strings:
                if not option.startswith("--") or action.dest in OF_DJANGO:
                    continue
                what = "choice" if action.choices else action.metavar or action.dest.upper()
                takes.setdefault(option, set()).add((action.nargs != 0, what))
                choices.setdefault(option, []).append(set(map(str, action.choices or ())))
    assert {option for option, of in takes.items() if len(of) > 1} == set(SEVERAL_MEANINGS)
    wrong = [
        option for option, of in choices.items() if not all(some <= max(of, key=len) for some in of)
    ]
    assert wrong == []


def _list_actions(parser: ArgumentParser) -> list[Action]:
    """Those of its subcommands, too."""
    found: list[Action] = []
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for one in action.choices.values():
                found += _list_actions(one)
        else:
            found.append(action)
    return found


def test_every_example_is_of_a_command() -> None:
    assert set(EXAMPLES) == set(COMMAND_MODULES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files with the names that the examples use."""
    made = tmp_path_factory.mktemp("examples")
    topics, documents = range(1, 41), range(1, 13)
    pairs = [*itertools.product(topics, documents)]
    grade = {(t, d): (t * d) % 4 for t, d in pairs}
    qrels = [f"{t} 0 d{d} {grade[t, d]}" for t, d in pairs if d != 12]
    files = {
        "qrels.txt": qrels,
        "llm.qrels": [f"{t} 0 d{d} {min(grade[t, d] + (t + d) % 5 // 4, 3)}" for t, d in pairs],
        "clicks.qrels": [f"{t} 0 d{d} {min(grade[t, d], 1)}" for t, d in pairs if d % 3],
        "topics.tsv": [f"{t}\tquestion number {t}" for t in topics],
        "judgements.csv": ["topic,document,annotator,grade,seconds"]
        + [
            f"{t},d{d},{who},{(grade[t, d] + (who == 'c') * (d % 2)) % 4},{20 + d}"
            for t, d in pairs
            for who in "abc"
        ],
        "clicks.tsv": ["session\ttopic\tdocument\trank\tclicked"]
        + [f"s{t}-{n}\t{t}\td{d}\t{d}\t{int(grade[t, d] > n)}" for t, d in pairs for n in range(3)],
        "leaderboard.csv": [
            "tag,date,group,score",
            "bm25,2021-01-02,x,0.30",
            "dense,2021-02-03,y,0.40",
            "new,2021-03-04,x,0.35",
        ],
        "submissions.csv": [
            "tag,date,group,score,private score",
            "bm25,2021-01-02,x,0.30,0.31",
            "dense,2021-02-03,y,0.40,0.38",
        ],
        "battles.tsv": ["topic\tsystem_a\tsystem_b\twinner\tshown_left"]
        + [
            f"{t}\tx\ty\t{('a', 'b', 'tie')[t % 3]}\t{'ab'[t % 2]}\n{t}\ty\tz\t{'ba'[t % 2]}\ta"
            for t in topics
        ],
        "answers.jsonl": [
            f'{{"metadata": {{"run_id": "{run}", "narrative_id": "{t}"}}, "references": ["d1", "d2"], '
            '"answer": [{"text": "A sentence.", "citations": [0, 1]}, {"text": "Another."}]}'
            for t in topics
            for run in "xy"
        ],
        "support.tsv": ["topic\tsystem\tsentence\tcitation\tlabel"]
        + [f"{t}\tx\t0\t{t % 2}\tpartial" for t in topics],
        "nuggets.jsonl": [
            f'{{"qid": "{t}", "nuggets": [{{"text": "a fact", "importance": "vital"}}]}}'
            for t in topics
        ],
        "assignments.tsv": ["topic\tsystem\tnugget\tassignment"]
        + [f"{t}\tx\t0\tsupport" for t in topics],
        "rubrics.jsonl": [
            f'{{"qid": "{t}", "rubrics": [{{"criterion": "names a fact", "weight": 4}}]}}'
            for t in topics
        ],
        "verdicts.tsv": ["topic\tsystem\tcriterion\tverdict"] + [f"{t}\tx\t0\tmet" for t in topics],
        "sampled.prel": [
            f"{t} 0 d{d} {1 if d < 7 else 2} {grade[t, d] if d < 7 or d % 2 else -1}"
            for t, d in pairs
        ],
    }
    for tag, step in (("bm25", 5), ("dense", 7), ("new", 11)):
        files[f"{tag}.run"] = [
            f"{t} Q0 d{d} {rank} {20 - rank} {tag}"
            for t in topics
            for rank, d in enumerate(sorted(documents, key=lambda d, t=t: (d * step + t) % 13), 1)
        ]
    for name, lines in files.items():
        (made / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


@pytest.mark.parametrize("name", LIBRARY)
def test_the_examples_on_files_run(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main(["assay", *name.split(), *shlex.split(EXAMPLES[name])])
    assert out.getvalue().strip(), err.getvalue()
    assert os.getcwd() == str(folder)
