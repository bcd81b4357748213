"""Every live picture in a real browser: no word is cut at its edge, and no two words lie on each
other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from assay.charts import bars, lines, matrices, panels, points
from tests.hostile_world import LONG as HOSTILE

pytestmark = pytest.mark.browser
CSS = Path("static/css")
LONG = [
    "bm25-with-rm3-and-a-neural_reranker.v2 second run of the group",
    "a run with a very long name that goes on and on",
    "ein_langer_Name-42",
]
OUTSIDE = """() => {
  const found = [];
  for (const svg of [...document.querySelectorAll('.picture > svg')].filter(svg => svg.checkVisibility())) {
    const frame = svg.viewBox.baseVal;
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBBox();
      if (box.x < -0.5 || box.y < -1 || box.x + box.width > frame.width + 0.5 || box.y + box.height > frame.height + 1)
        found.push(text.lastChild.textContent);
    }
  }
  return found;
}"""
SHOWN = """() => [...document.querySelectorAll('.picture > svg')].filter(svg => svg.checkVisibility()).map(svg => ({
  form: svg.getAttribute('class') || '', scrolled: svg.parentElement.scrollWidth - svg.parentElement.clientWidth,
  pixels: Math.min(...[...svg.querySelectorAll('text')].map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))}))"""
"""Of each picture as drawn: its form, by how much it is scrolled sideways, the height of its
smallest words."""
MEETING = """() => {
  const found = [];
  for (const svg of [...document.querySelectorAll('.picture > svg')].filter(svg => svg.checkVisibility())) {
    const boxes = [...svg.querySelectorAll('text')].map(text => [text.lastChild.textContent, text.getBBox()]);
    for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
      const [a, p] = boxes[i], [b, q] = boxes[j];
      if (Math.min(p.x + p.width, q.x + q.width) - Math.max(p.x, q.x) > 1
        && Math.min(p.y + p.height, q.y + q.height) - Math.max(p.y, q.y) > 3) found.push([a, b]);
    }
  }
  return found;
}"""


def drawn(names: list[str], values: list[float | None], label: str) -> list[str]:
    """Each kind of picture of these names and values."""
    n = len(names)
    defined = [0.0 if value is None else value for value in values]
    words: dict[str, Any] = {"caption": "c", "reason": "nothing"}
    rows = [
        points.DrawnInterval(
            name,
            value,
            None if value is None else value - 0.1,
            None if value is None else value + 0.1,
            "undefined: no topic",
        )
        for name, value in zip(names, values, strict=True)
    ]
    reaching = [
        row._replace(
            least=None if row.value is None else row.value - 0.3,
            most=None if row.value is None else row.value + 0.4,
        )
        for row in rows
    ]
    line = [
        lines.Line(name, [(float(i), v) for i, v in enumerate(values)], marks=True)
        for name in names[:3]
    ]
    axes = [*names, "P@5", "AP", "RR"][: max(n, 3)]
    return [
        bars.bar_chart(names, values, unit=label, **words),
        bars.stacked_bar_chart(names, [(label, defined), (f"the other {label}", defined)], **words),
        points.interval_chart(rows, x_label=label, what="run", reference=(0.9, label), **words),
        points.interval_chart(
            [points.DrawnInterval(name, value) for name, value in zip(names, values, strict=True)],
            x_label=label,
            what="run",
            low=0,
            **words,
        ),
        points.interval_chart(
            reaching,
            x_label=label,
            what="run",
            meanings=("mean", label, "what the unjudged could make of it"),
            **words,
        ),
        points.box_chart(
            [
                points.BoxSummary(name, v, v, v, v, v, 12345)
                for name, v in zip(names, values, strict=True)
            ],
            x_label=label,
            what="run",
            **words,
        ),
        points.scatter_chart(
            [
                points.ScatterPoint(name, v, v, i % 2)
                for i, (name, v) in enumerate(zip(names, defined, strict=True))
            ],
            kinds=["run", label],
            x_label=label,
            y_label=label,
            **words,
        ),
        points.radar_chart(axes, [(label, [0.5] * len(axes))], caption="c", high=1.0),
        lines.line_chart(line, x_label=label, y_label=label, vertical=[(0.0, "deadline")], **words),
        panels.panel_chart(
            [
                (name, lines.line_chart(line, x_label=label, y_label=label, width=400.0, **words))
                for name in names[:3]
            ],
            caption="c",
        ),
        matrices.matrix_chart(
            names, names, [values] * n, row_label="run", column_label=label, **words
        ),
        matrices.matrix_chart(
            ["1", "2"], names, [values] * 2, row_label="topic", column_label=label, **words
        ),
        matrices.matrix_chart(
            names,
            names,
            [values] * n,
            row_label="run",
            column_label=label,
            classes=((0.0, "p < 0.05"), (0.05, "not separable")),
            **words,
        ),
    ]


HALF_DAYS = [f"{1 + i // 2:02d} Nov {12 * (i % 2):02d}h" for i in range(28)]
CASES: dict[str, Callable[[], list[str]]] = {
    "long names": lambda: drawn(
        LONG,
        [0.25, 0.5, 0.9],
        "a label that is long: mean nDCG@10 of the runs under the labels by majority, all topics of the set",
    ),
    "hostile texts": lambda: drawn([f"{n}{HOSTILE}" for n in range(3)], [0.25, 0.5, 0.9], HOSTILE),
    "one point": lambda: drawn(["Judged@10"], [0.5], "Judged@10"),
    "many points": lambda: drawn(
        [f"run-{i}" for i in range(1, 41)], [i / 40 for i in range(40)], "nDCG@10"
    ),
    "ties": lambda: drawn(["a", "b", "c"], [1.0, 1.0, 1.0], "tau"),
    "undefined among them": lambda: drawn(["a", "b", "c"], [None, 0.5, None], "tau"),
    "nothing": lambda: drawn(["a", "b"], [None, None], "tau"),
    "two weeks": lambda: [
        bars.bar_chart(HALF_DAYS, [float(i % 7) for i in range(28)], caption="c", unit="judgements")
    ],
    "great numbers": lambda: drawn(["A001", "A002"], [1_234_567.0, 2_345_678.0], "judgements"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_no_word_is_cut_and_no_two_words_meet(one_page: Page, case: str) -> None:
    """In one of two columns and on a phone: no picture is scrolled, and every word is legible."""
    style = "".join(
        (CSS / name).read_text() for name in ("tokens.css", "base.css", "components.css")
    )
    figures = CASES[case]()
    cards = [f'<section class="card">{figure}</section>' for figure in figures]
    halves, whole = (
        [card for card in cards if ("(a) " in card) == is_whole] for is_whole in (False, True)
    )  # panels are in studies only
    one_page.set_content(
        f'<style>{style}</style><div class="page"><div class="columns">{"".join(halves)}</div>{"".join(whole)}</div>'
    )
    assert one_page.locator("figure").count() == len(figures)
    wrong = {width: found for width in (1280, 390, 320) if (found := illegible(one_page, width))}
    assert wrong == {}


def illegible(page: Page, width: int) -> list[Any]:
    """What cannot be read in a window of this width."""
    page.set_viewport_size({"width": width, "height": 900})
    shown = page.evaluate(SHOWN)
    assert len(shown) == page.locator(".picture").count()
    assert {one["form"] for one in shown} <= {"narrow" if width < 600 else ""}
    needed = page.evaluate("document.documentElement.scrollWidth")
    words = "".join(page.locator(".picture > svg").all_text_contents())
    return [
        *([f"a legend reaches over the window: {needed}"] if needed > width else []),
        *(f"cut: {word}" for word in page.evaluate(OUTSIDE)),
        *(f"meet: {both}" for both in page.evaluate(MEETING)),
        *(one for one in shown if one["scrolled"] > 1 or one["pixels"] < 11),
        *(["a label is shortened"] if "…" in words else []),
    ]
