"""Small runs and qrels with one relevant document per topic, and functions that run commands on
them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from tests.commands import call_command


def write_qrels(folder: Path, topics: list[str], name: str = "qrels.txt") -> str:
    path = folder / name
    path.write_text("".join(f"{topic} 0 right-{topic} 1\n" for topic in topics))
    return str(path)


def write_run(folder: Path, tag: str, ranks: dict[str, int], depth: int = 12) -> str:
    """Write a run that has the relevant document of each topic at the given rank. 0: the run lacks
    the document."""
    path = folder / f"{tag}.run"
    lines = [
        f"{topic} Q0 {f'right-{topic}' if place == rank else f'wrong{place}'} {place} {depth - place} {tag}\n"
        for topic, rank in ranks.items()
        for place in range(1, depth + 1)
    ]
    path.write_text("".join(lines))
    return str(path)


def printed(command: str, *arguments: str) -> dict[str, Any]:
    """Run a command and return the JSON object that it prints."""
    out = io.StringIO()
    call_command(command, *arguments, "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def read(command: str, *arguments: str) -> str:
    """Run a command and return the text that it prints for people."""
    out = io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()
