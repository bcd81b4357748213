"""Pictures of pages for print: the same words and places, the colours of the light page, the same
bytes."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from PIL import ImageFont

from assay.charts import bars
from assay.charts import print_files as module
from assay.charts.print_files import (
    AGREE,
    DISAGREE,
    SERIES,
    STEPS,
    EmptyFigure,
    render_css,
    render_files,
    style_for_classes,
)
from tests.assay.charts import test_charts
from tests.assay.charts.forms import usual

ROOT = Path(__file__).resolve().parents[3]
TEXT = "{http://www.w3.org/2000/svg}text"


def pictures() -> dict[str, str]:
    made = {
        name: draw
        for name, draw in vars(test_charts).items()
        if re.fullmatch(r"_(bars|stacked|lines|matrix|intervals|boxes|scatter|radar)", name)
    }
    assert len(made) >= 7
    return {name: draw("Wrong & $x^2$ ü", False) for name, draw in made.items()}


@pytest.mark.parametrize("name", sorted(pictures()))
def test_every_picture_is_printed_with_its_words(name: str) -> None:
    figure = pictures()[name]
    found = render_files(figure)
    assert found["pdf"].startswith(b"%PDF")
    assert found["png"].startswith(b"\x89PNG")
    svg = found["svg"].decode()
    words = {
        text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    }
    root = usual(figure)
    wanted = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if text.text}
    assert wanted
    assert wanted <= words
    assert b"Date" not in found["pdf"]
    assert render_files(figure) == found


def test_a_font_in_a_pdf_has_the_letters_of_the_picture_and_nothing_by_which_words_are_laid_out() -> (
    None
):
    figure = bars.stacked_bar_chart(["a", "b"], [("score", [1.0, 2.0])], caption="c")
    packed = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", render_files(figure)["pdf"], re.DOTALL)
    fonts = [
        TTFont(io.BytesIO(stream))
        for stream in map(zlib.decompress, packed)
        if stream.startswith(b"\0\1\0\0")
    ]
    assert fonts
    assert set("score") <= {letter for font in fonts for letter in font.getGlyphOrder()}
    assert not {"GDEF", "GPOS", "GSUB"} & {str(table) for font in fonts for table in font.keys()}  # noqa: SIM118 - it is no dict


@pytest.mark.parametrize("name", ["_bars", "_matrix"])
def test_a_file_taken_alone_has_the_title_of_the_picture(name: str) -> None:
    """Above the drawing, whole though it is long; a paper, which has words of its own, gets the
    drawing alone."""
    words = (
        "Scores of the systems on every topic that anybody has judged so far, with intervals of "
        "95 % & the mean of all"
    )
    figure = re.sub(
        "<figcaption>.*?</figcaption>",
        f"<figcaption>{words.replace('&', '&amp;')}</figcaption>",
        pictures()[name],
    )
    svg = render_files(figure)["svg"].decode()
    texts = list(ElementTree.fromstring(svg).iter(TEXT))
    said = [one.text or "" for one in texts]
    n_lines = next(n for n in range(1, len(said)) if " ".join(said[:n]) == words)
    heights = [
        float(re.search(r"translate\([\d.]+ ([\d.]+)\)", one.get("transform", ""))[1])
        for one in texts
        if "translate" in one.get("transform", "")
    ]  # type: ignore[index]
    if len(heights) == len(texts):
        assert max(heights[:n_lines]) < min(heights[n_lines:])
    assert f"<dc:title>{words.replace('&', '&amp;')}</dc:title>" in svg
    assert words not in " ".join(
        text.text or ""
        for text in ElementTree.fromstring(render_files(figure, titled=False)["svg"]).iter(TEXT)
    )


def test_a_figure_that_says_why_it_is_empty_is_not_printed() -> None:
    with pytest.raises(EmptyFigure, match="nobody has judged yet"):
        render_files(test_charts._bars("x", True))


def test_the_legend_stands_below_with_its_words() -> None:
    figure = bars.stacked_bar_chart(["a"], [("first series", [1.0]), ("other", [2.0])], caption="c")
    svg = render_files(figure)["svg"].decode()
    assert ">first series<" in svg
    assert ">other<" in svg


@pytest.mark.parametrize(
    "words", ["the group of a university with a very long name " * 6, "x" * 150, "WMW@%" * 40, "ä"]
)
def test_words_of_a_legend_are_whole_within_the_picture(words: str) -> None:
    words = words.strip()
    figure = bars.stacked_bar_chart(
        ["a", "b"], [("short", [1.0, 2.0]), (words, [1.0, 2.0]), ("last", [1.0, 2.0])], caption="c"
    )
    svg = ElementTree.fromstring(render_files(figure)["svg"])
    width, height = (float(value) for value in svg.attrib["viewBox"].split()[2:])
    texts = []
    for text in svg.iter(TEXT):
        at = re.search(r"translate\(([\d.]+) ([\d.]+)\)", text.get("transform", ""))
        x, y = at.groups() if at else (text.attrib["x"], text.attrib["y"])
        texts.append((text.text or "", float(x), float(y)))
    first = next(i for i, (said, _, _) in enumerate(texts) if said == "short")
    legend = texts[first:]
    assert "".join(said for said, _, _ in legend).replace(" ", "") == f"short{words}last".replace(
        " ", ""
    )
    lines = [y for said, _, y in legend if said not in ("short", "last")]
    assert all(later - earlier >= 9 for earlier, later in pairwise(lines)), "one line below another"
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 100)
    for said, x, y in legend:
        assert x + font.getlength(said) / 100 * module.FONT <= width
        assert y <= height


def test_colours_are_those_of_the_light_page() -> None:
    styles = "".join(
        (ROOT / "static" / "css" / name).read_text(encoding="utf-8")
        for name in ("tokens.css", "components.css")
    )

    def light(token: str) -> str:
        found = re.search(rf"--{token}: light-dark\((#\w+),", styles)
        assert found, token
        return found[1]

    assert [light(f"series-{k}") for k in range(1, 7)] == list(SERIES)
    assert [light(f"step-{k}") for k in range(9)] == list(STEPS)
    assert [light(name) for name in ("ink", "ink-soft", "line", "line-strong")] == [
        module.INK,
        module.SOFT,
        module.LINE,
        module.STRONG,
    ]
    for name, steps in (("agree", AGREE), ("disagree", DISAGREE)):
        assert re.findall(rf"\.{name}\d {{\s*fill: (#\w+);\s*}}", styles) == list(steps)
    dashes = re.findall(r"\.l\d \{\s*stroke: [^;]+;\s*stroke-dasharray: ([\d ]+);\s*\}", styles)
    assert {tuple(map(int, one.split())) for one in dashes} == {
        style_for_classes(f"l{k}").dashes for k in range(2, 7)
    }


def test_a_page_that_stands_alone_has_a_rule_for_every_class() -> None:
    rules = render_css()
    for name in (
        "s1",
        "l6",
        "g8",
        "agree0",
        "disagree3",
        "apart",
        "axis",
        "grid",
        "label",
        "reference",
        "band",
    ):
        assert f"svg .{name} {{" in rules


def test_a_figure_for_a_column_has_its_width_and_the_usual_size_of_text() -> None:
    figure = test_charts._stacked("first series", False)
    for inches, points in ((3.33, b"239.76"), (7.0, b"504")):
        pdf = render_files(figure, titled=False, inches=inches, kinds=("pdf",))
        assert list(pdf) == ["pdf"]
        box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pdf["pdf"])
        assert box is not None
        assert float(box[1]) == pytest.approx(float(points), abs=0.01)
        svg = render_files(figure, titled=False, inches=inches, kinds=("svg",))["svg"].decode()
        assert set(re.findall(r"font[^;<>]*?([\d.]+)px", svg)) == {"7.92"}


def test_a_figure_has_the_font_of_the_paper_and_others_only_for_letters_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """matplotlib brings STIXGeneral, which looks like Times and has no Arabic letters."""
    monkeypatch.setitem(module.FONTS, "times", ("No Such Font", "STIXGeneral"))
    monkeypatch.setitem(module.FONTS, "libertine", ("No Such Font",))
    module.find_font_family.cache_clear()
    for font, words, embedded in (
        ("times", "score", {"STIXGeneral-Regular"}),
        ("times", "درجة", {"STIXGeneral-Regular", "DejaVuSans"}),
        ("libertine", "score", {"DejaVuSans"}),
        (None, "score", {"DejaVuSans"}),
    ):
        figure = bars.bar_chart(["a", "b"], [1.0, 2.0], caption="c", unit=words)
        pdf = render_files(figure, titled=False, kinds=("pdf",), font=font)["pdf"]
        names = re.findall(rb"/BaseFont /(?:[A-Z]{6}\+)?([\w-]+)", pdf)
        assert {name.decode() for name in names} == embedded
    module.find_font_family.cache_clear()


def test_a_legend_in_print_has_hatches_and_only_series_that_occur() -> None:
    picture = bars.stacked_bar_chart(
        ["a", "b"],
        [("first", [1.0, 2.0]), ("second", [1.0, 2.0]), ("never", [0.0, 0.0])],
        caption="c",
    )
    svg, keys = module.figure_parts(picture)
    assert [key.words for key in keys] == ["first", "second", "never"]
    kept = module._match_legend(keys, svg)
    assert [key.words for key in kept] == ["first", "second"]
    for key in kept:
        [swatch] = [one for one in key.swatches[0].iter() if one.tag == "rect"]
        assert "bar" in swatch.get("class", "").split()
