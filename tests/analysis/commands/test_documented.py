"""docs/reference/commands.md has a section for every command, with every option and an example."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError

from tests.commands import get_commands, load_command_class

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
OURS = {
    name: app
    for name, app in get_commands().items()
    if app in {"pooling", "annotation", "analysis", "config", "assay"}
}
SHARED = "".join(TEXT.split("## On plain files")[0])
COMMON = {
    "--help",
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
}


def section(name: str) -> str:
    """From the heading that names the command to the next."""
    found = [
        part
        for part in re.split(r"(?m)^### ", TEXT)[1:]
        if re.search(rf"`{name}\b", part.splitlines()[0])
    ]
    assert len(found) == 1, f"{len(found)} sections are about {name}"
    return found[0]


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_option_of_the_command_is_described(name: str) -> None:
    parser = load_command_class(OURS[name], name).create_parser("manage.py", name)
    options = {
        text
        for action in parser._actions
        for text in action.option_strings
        if text.startswith("--")
    } - COMMON
    about = (
        section(name) + SHARED + TEXT.split("## On a campaign in the database")[1].split("###")[0]
    )
    assert sorted(option for option in options if not re.search(rf"{option}\b", about)) == []


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_example_of_the_command_is_one_that_it_takes(name: str) -> None:
    examples = re.findall(r"(?m)^    manage\.py (.+)$", section(name))
    assert examples, f"no example of {name}"
    for example in examples:
        command, *words = re.findall(r'"[^"]*"|\S+', example)
        parser = load_command_class(OURS[command], command).create_parser("manage.py", command)
        parser.parse_args([word.strip('"') for word in words])


CALL = r"(?m)^ {4,}(?:\S*python )?(?:manage\.py|assay|-m assay|\S+/manage\.py) (\w+) ?(.*)$"
CALLS = [
    (path, name, words)
    for path in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
    for name, words in re.findall(CALL, re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8")))
    if name in OURS
]


def test_every_line_of_the_documents_that_calls_a_command_is_one_that_it_takes() -> None:
    """What stands behind two blanks or a # is said about the line."""
    assert len(CALLS) > 100
    for path, name, words in CALLS:
        given = shlex.split(re.split(r" {2,}| #| [|>] ", words)[0])
        try:
            load_command_class(OURS[name], name).create_parser("manage.py", name).parse_args(given)
        except (SystemExit, CommandError) as error:
            pytest.fail(f"{path.name}: {name} {words}: {error}")
