"""Reading of files that the documentation prints."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def block(document: str, first_line: str) -> str:
    """Return the indented lines from the one that begins with `first_line` (without it if it is a
    comment), up to the next line that is not indented or begins another file."""
    lines = (DOCS / document).read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"    {first_line}"))
    found = []
    for line in lines[start + (1 if first_line.startswith("#") else 0) :]:
        if line and (not line.startswith("    ") or re.match(r"    # /\S+$", line)):
            break
        found.append(line[4:])
    return "\n".join(found).strip() + "\n"
