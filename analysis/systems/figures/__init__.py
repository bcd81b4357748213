"""Figures for print: a command's answer -> SVG, PNG and PDF by matplotlib. Drawn by the worker, never inside a request.

    drawn("bootstrap", result) -> {"ranks-1.svg": bytes, "ranks-1.png": bytes, "ranks-1.pdf": bytes, ...}

The same result gives the same bytes with the same matplotlib. Series differ by colour and by mark or hatch; colours are those of Okabe
and Ito (2008), which colour-blind readers can tell apart.
"""

from typing import Any


def drawn(kind: str, result: dict[str, Any]) -> dict[str, bytes]:
    """Files by their names; none where nothing is defined."""
    from analysis.systems.figures.canvas import draw_all  # here: only the worker needs matplotlib, web processes do without its 60 MB

    return draw_all(kind, result)
