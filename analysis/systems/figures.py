"""Files for print of a report's charts, from the same description as on the page. Only the worker
draws them, never a request.

    render_figures("bootstrap", result)  # {"figure-1.pdf": bytes, "figure-1.svg": bytes, ...}
"""

from __future__ import annotations

from typing import Any

from analysis.systems.kinds import KINDS
from assay.charts.print_files import EmptyFigure, render_files


def render_figures(kind: str, result: dict[str, Any]) -> dict[str, bytes]:
    """Render the charts of a report as files, by name, numbered as on the page. Charts that only
    give a reason for missing data are left out."""
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
