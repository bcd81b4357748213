"""One way to make a figure and to write it, for all kinds."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analysis.systems.kinds import KINDS

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "legend.frameon": False,
    "svg.hashsalt": "assay",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.5,
}
DPI = 200
NOTHING = {
    "svg": {"Date": None, "Creator": "Assay"},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Assay"},
    "png": {"Software": "Assay"},
}
"""Metadata without the moment, so that the same figure is the same file."""


def draw_all(kind: str, result: dict[str, Any]) -> dict[str, bytes]:
    """Files by their names; none where nothing is defined."""
    drawn: dict[str, bytes] = {}
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]  # its keys are literals
        for name, draw in KINDS[kind].figures(result):
            figure = Figure(layout="constrained")
            FigureCanvasAgg(figure)
            draw(figure)
            for extension, metadata in NOTHING.items():
                out = io.BytesIO()
                figure.savefig(out, format=extension, dpi=DPI, metadata=metadata)
                drawn[f"{name}.{extension}"] = out.getvalue()
    return drawn
