"""`make reproduction`: compute docs/evidence/reproduction.md again on the collections of
ASSAY_TEST_DATA, and write the results into it.

    python -m benchmarks.reproduction [NAME ...]      all, or the blocks and studies of these names

The text of the page is written by hand. A console block below a comment `<!-- check: name -->`
holds the output of its commands. The lines between `<!-- study: name; tables: ... -->` and `<!--
end: name -->` are the output of `study` on docs/evidence/reproduction/name.toml.
tests/test_reproduction.py checks that both are up to date.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE_PATH = ROOT / "docs" / "evidence" / "reproduction.md"
RESULTS_DIR = ROOT / "docs" / "evidence" / "reproduction"
CHECK_PATTERN = re.compile(
    r"^<!-- check: (\S+) -->\n(```console\n.*?^```$|\|.*?(?=\n\n|\n?\Z))", re.MULTILINE | re.DOTALL
)
STUDY_PATTERN = re.compile(
    r"^<!-- study: (\S+); tables: ([\w -]*) -->\n(.*?)^<!-- end: \1 -->$", re.MULTILINE | re.DOTALL
)
BEFORE_MARK = "# before: "
"""Marks a line of a study file that holds a command that creates an input from public data."""
PIPE_PATTERN = re.compile(r" \| (?=(?:head|tail|grep|cut|sort|wc|awk)\b)")
MAX_ROWS = 30
"""Maximum rows of a table on the page."""


def parse_commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block in order, as (command line, output)."""
    parts = re.split(
        r"^\$ (.+)\n", block.removeprefix("```console\n").removesuffix("```"), flags=re.MULTILINE
    )
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_command(command: str, *, data: Path, work: Path, folder: Path = ROOT) -> str:
    """Run a command line and return its output. $DATA is the folder of collections, $WORK an empty
    folder, $ASSAY this repository. folder: working directory."""
    from assay.cli.command_list import find_command
    from tests.commands import call_command

    variables = {"DATA": str(data), "WORK": str(work), "ASSAY": str(ROOT)}
    shell = {
        "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **variables},
        "cwd": folder,
        "check": True,
        "text": True,
        "capture_output": True,
    }
    command = re.sub(r"^assay ", "manage.py ", command)
    if not command.startswith("manage.py "):
        return str(subprocess.run(["bash", "-c", command], **shell).stdout)
    command, *rest = PIPE_PATTERN.split(command.removeprefix("manage.py "), maxsplit=1)
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    arguments: list[str] = []
    for word in shlex.split(command):
        path = Path(word)
        arguments += expand_pattern(path, folder) if "*" in path.name else [word]
    out = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        found = find_command(arguments)
        assert found, command
        call_command(found[1], *found[2], stdout=out, stderr=io.StringIO())
    finally:
        os.chdir(before)
    if rest:
        return str(subprocess.run(["bash", "-c", rest[0]], input=out.getvalue(), **shell).stdout)
    return out.getvalue()


def expand_pattern(pattern: Path, folder: Path) -> list[str]:
    """Return the files in this folder that match a pattern, named as a shell would name them."""
    files = sorted(map(str, (folder / pattern.parent).glob(pattern.name)))
    return files if pattern.is_absolute() else [os.path.relpath(file, folder) for file in files]


def rerun_block(block: str, *, data: Path, work: Path) -> str:
    """Run the commands of a console block again and return the block with their current output."""
    lines = [
        f"$ {command}\n{run_command(command, data=data, work=work).rstrip(chr(10))}".rstrip("\n")
        for command, _ in parse_commands(block)
    ]
    return "```console\n" + "\n".join(lines) + "\n```"


def make_study_folder(name: str, *, data: Path, work: Path, files: Path = RESULTS_DIR) -> Path:
    """Create the folder of the study name.toml in the empty folder `work`. files: the folder of the
    TOML file."""
    (work / "data").symlink_to(data)
    text = (files / f"{name}.toml").read_text("utf-8")
    (work / f"{name}.toml").write_text(text, encoding="utf-8")
    for line in text.splitlines():
        if line.startswith(BEFORE_MARK):
            run_command(line.removeprefix(BEFORE_MARK), data=data, work=work, folder=work)
    run_command(
        f"assay study {name.partition('-')[0]} {name}.toml --output {name}",
        data=data,
        work=work,
        folder=work,
    )
    return work / name


def describe_study(name: str, tables: list[str], folder: Path) -> str:
    """Return a study's part of the page: its file, the commands that create it, its contents and
    omissions, and the named tables."""
    about = json.loads((folder / "study.json").read_text("utf-8"))
    toml = (RESULTS_DIR / f"{name}.toml").read_text("utf-8")
    before = [
        line.removeprefix(BEFORE_MARK) for line in toml.splitlines() if line.startswith(BEFORE_MARK)
    ]
    said = "\n".join(line for line in toml.splitlines() if not line.startswith(BEFORE_MARK))
    shell = [
        "ln -s $DATA data",
        f"cp $ASSAY/docs/evidence/reproduction/{name}.toml .",
        *before,
        f"assay study {about['study']} {name}.toml --output results",
    ]
    parts = [
        f"```toml\n{said}\n```",
        "\n".join(f"    {line}" for line in shell),
        f"This study contains the part{'s' if len(about['parts']) > 1 else ''} "
        f"{', '.join(f'`{part}`' for part in about['parts'])}.",
    ]
    if about["left_out"]:
        parts.append(
            "Parts that are left out, with the missing inputs:\n\n"
            + "\n".join(f"- `{part}`: {reason}" for part, reason in about["left_out"].items())
        )
    report = (folder / "report.md").read_text("utf-8")
    parts += [read_report_table(folder, report, key) for key in tables]
    return "\n\n".join(parts) + "\n"


def read_report_table(folder: Path, report: str, key: str) -> str:
    """Read a table from the study's report in Markdown."""
    from assay.markdown import escape_line

    table = json.loads((folder / "tables" / f"{key}.json").read_text("utf-8"))
    start = report.index(f"**{escape_line(table['title'])}.** {escape_line(table['note'])}".strip())
    caption, body = report[start:].split("\n\n", 2)[:2]
    lines = body.splitlines()
    rows = lines[: 2 + MAX_ROWS]
    more = len(table["rows"]) - (len(rows) - 2)
    end = f"\n\n{more:,} more rows in `tables/{key}.csv`." if more else ""
    return f"{caption}\n\n" + "\n".join(rows) + end


def make_study_block(name: str, tables: str, *, data: Path, work: Path) -> str:
    """Return the lines of a study from its start comment to its end comment, inclusive."""
    text = describe_study(name, tables.split(), make_study_folder(name, data=data, work=work))
    return f"<!-- study: {name}; tables: {tables} -->\n{text}<!-- end: {name} -->"


def rewrite_page(text: str, names: list[str], *, data: Path) -> str:
    """Compute blocks and studies of the page again and return the page. names: only these, or all
    if empty."""

    def rerun(match: re.Match[str]) -> str:
        if (names and match[1] not in names) or not match[2].startswith("```console"):
            return match[0]
        with tempfile.TemporaryDirectory(prefix="assay-reproduction-") as work:
            return (
                f"<!-- check: {match[1]} -->\n{rerun_block(match[2], data=data, work=Path(work))}"
            )

    def compute_study(match: re.Match[str]) -> str:
        if names and match[1] not in names:
            return match[0]
        with tempfile.TemporaryDirectory(prefix="assay-reproduction-") as work:
            return make_study_block(match[1], match[2], data=data, work=Path(work))

    return CHECK_PATTERN.sub(rerun, STUDY_PATTERN.sub(compute_study, text))


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    data = os.environ.get("ASSAY_TEST_DATA")
    if not data:
        sys.stderr.write(
            "ASSAY_TEST_DATA is not set to the folder of real collections; nothing was written.\n"
        )
        return 2
    before = PAGE_PATH.read_text("utf-8")
    after = rewrite_page(before, sys.argv[1:], data=Path(data).resolve())
    PAGE_PATH.write_text(after, encoding="utf-8")
    print(f"{PAGE_PATH.relative_to(ROOT)}: {'unchanged' if after == before else 'updated'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
