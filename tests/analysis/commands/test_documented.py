"""docs/reference/commands.md has a section and an example for every command. The site generates the
lists of options (tests/test_site.py)."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError

from assay.cli.command_list import command_name, find_command
from tests.commands import get_commands, load_command_class

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
OURS = {
    name: app
    for name, app in get_commands().items()
    if app in {"pooling", "annotation", "analysis", "config", "assay"}
}


def section(name: str) -> str:
    """From the heading that names the command to the next."""
    found = [
        part
        for part in re.split(r"(?m)^### ", TEXT)[1:]
        if re.search(rf"`{command_name(name)}\b", part.splitlines()[0])
    ]
    assert len(found) == 1, f"{len(found)} sections are about {name}"
    return found[0]


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_example_of_the_command_is_one_that_it_takes(name: str) -> None:
    examples = re.findall(r"(?m)^    assay (.+)$", section(name))
    assert examples, f"no example of {name}"
    for example in examples:
        found = find_command(re.findall(r'"[^"]*"|\S+', example))
        assert found, example
        _, command, words = found
        parser = load_command_class(OURS[command], command).create_parser("manage.py", command)
        parser.parse_args([word.strip('"') for word in words])


CALL = r"(?m)^ {4,}(?:\S*python )?(?:manage\.py|assay|-m assay|\S+/manage\.py) (\w.*)$"
CALLS = [
    (path, found[1], line)
    for path in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
    for line in re.findall(CALL, re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8")))
    if (found := find_command(line.split())) and found[1] in OURS
]


def test_every_line_of_the_documents_that_calls_a_command_is_one_that_it_takes() -> None:
    """What stands behind two blanks or a # is said about the line."""
    assert len(CALLS) > 100
    for path, name, line in CALLS:
        typed = find_command(shlex.split(re.split(r" {2,}| #| [|>] ", line)[0]))
        assert typed
        try:
            load_command_class(OURS[name], name).create_parser("manage.py", name).parse_args(
                typed[2]
            )
        except (SystemExit, CommandError) as error:
            pytest.fail(f"{path.name}: {line}: {error}")
