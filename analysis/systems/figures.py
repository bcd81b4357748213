"""Files for print of a report's pictures, by the same description as on the page. Drawn by the
worker, never inside a request.

drawn("bootstrap", result) -> {"figure-1.pdf": bytes, "figure-1.svg": bytes, "figure-1.png": bytes,
...}"""

from __future__ import annotations

from typing import Any

from analysis.systems.kinds import KINDS
from assay.charts.print_files import EmptyFigure, render_files


def render_figures(kind: str, result: dict[str, Any]) -> dict[str, bytes]:
    """Files by their names, numbered as the pictures of the page; none of a picture that says in
    words why it is empty."""
    files: dict[str, bytes] = {}
    for number, picture in enumerate(KINDS[kind].pictures(result), 1):
        try:
            files |= {
                f"figure-{number}.{extension}": content
                for extension, content in render_files(picture).items()
            }
        except EmptyFigure:
            continue
    return files
