"""Contrast of the palette (WCAG 2.2, 1.4.3 and 1.4.11), computed from the style sheets for light
and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "static/css"
CSS = "".join(
    (FOLDER / name).read_text(encoding="utf-8") for name in ("tokens.css", "components.css")
)
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", CSS)
}

TEXT = [
    (ink, ground)
    for ink in ("ink", "ink-soft", "ink-faint", "accent")
    for ground in ("paper", "surface", "sunken", "raised")
]
TEXT += [(meaning, f"{meaning}-soft") for meaning in ("good", "warn", "bad", "accent")]
TEXT += [(meaning, "surface") for meaning in ("good", "warn", "bad")]
TEXT += [
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("on-bad", "bad"),
    ("ink", "mark"),
    ("accent-strong", "accent-soft"),
]
TEXT += [("ink", f"{soft}-soft") for soft in ("good", "warn", "bad", "accent")]
TEXT += [("ink-soft", f"{soft}-soft") for soft in ("good", "warn", "bad", "accent")]
SIGNS = [("line-strong", ground) for ground in ("paper", "surface", "raised")]
SIGNS += [("focus", ground) for ground in ("paper", "surface", "sunken", "raised")]
SIGNS += [(f"series-{n}", "surface") for n in range(1, 7)] + [("accent", "step-1")]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_the_known_contrast_of_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_reaches_4_5_to_1(ink: str, ground: str, theme: str) -> None:
    place = ["light", "dark"].index(theme)
    assert contrast(PAIRS[ink][place], PAIRS[ground][place]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("sign", "ground"), SIGNS)
def test_signs_and_edges_reach_3_to_1(sign: str, ground: str, theme: str) -> None:
    place = ["light", "dark"].index(theme)
    assert contrast(PAIRS[sign][place], PAIRS[ground][place]) >= 3
