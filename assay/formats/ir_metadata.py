"""Read and write the ir_metadata head of a run: YAML in comment lines between two marks (Breuer,
Keller and Schaer 2022). The YAML is kept as text."""

from __future__ import annotations

import re

from assay.formats.streams import Source, iterate_lines

START, END = "# ir_metadata.start", "# ir_metadata.end"
MAX_HEAD_BYTES = 1 << 16
"""Maximum size in bytes of the lines before the first result in which a head is searched."""
HEAD_PATTERN = re.compile(
    r"^[ \t]*#\s*ir_metadata\.start[ \t]*\n(.*?)^[ \t]*#\s*ir_metadata\.end[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
COMMENT_SIGN = re.compile(r"^[ \t]*# ?", re.MULTILINE)


def extract_metadata(comments: str) -> tuple[str, int]:
    """Return (the text between the marks without comment signs, its number of comment lines with
    the marks). Both are empty without a complete head, or if there is nothing between the marks.

    comments: the lines before the first result.
    """
    head = HEAD_PATTERN.search(comments.replace("\r\n", "\n"))
    text = COMMENT_SIGN.sub("", head[1]).rstrip() if head else ""
    if not head or not text:
        return "", 0
    return text, sum(line.lstrip().startswith("#") for line in head[0].split("\n"))


def find_metadata(path: Source) -> str:
    """Return the text of a run file's head, or an empty string."""
    comments = ""
    for _, line in iterate_lines(path):
        if (line.strip() and not line.lstrip().startswith("#")) or len(comments) > MAX_HEAD_BYTES:
            break
        comments += line + "\n"
    return extract_metadata(comments)[0]


def format_head(metadata: str) -> str:
    """Return the text as comment lines between the marks."""
    lines = [f"# {line}".rstrip() for line in metadata.splitlines()]
    return "\n".join([START, *lines, END]) + "\n"
