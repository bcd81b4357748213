"""Small files of runs and qrels for tests of commands, and the text that commands print for
people."""

from __future__ import annotations

import io
from pathlib import Path

from tests.commands import call_command

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n2 0 d -1\n3 0 z 0\n"
CLICKS = "1 0 a 0\n1 0 b 1\n1 0 q 1\n2 0 a 3\n4 0 a 1\n"
GOOD = "1 Q0 a 1 9 good\n1 Q0 c 2 8 good\n1 Q0 b 3 7 good\n2 Q0 a 1 5 good\n3 Q0 z 1 1 good\n"
POOR = "1 Q0 b 1 9 poor\n1 Q0 a 2 8 poor\n9 Q0 a 1 5 poor\n"
OTHER = "1 Q0 x 1 9 other\n1 Q0 a 2 8 other\n2 Q0 d 1 5 other\n2 Q0 a 2 4 other\n"


def files(folder: Path, **texts: str) -> list[str]:
    """Write each text to a file with the given name. Returns the paths."""
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


def printed(command: str, *arguments: str) -> tuple[str, str]:
    """Run a command without --json. Returns (standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()
