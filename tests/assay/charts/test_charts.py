"""Every live picture: well-formed, announced to screen readers, with its numbers behind it, safe
with hostile text, never empty."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from xml.etree import ElementTree

import pytest

from assay.charts import bars, lines, matrices, panels, points
from assay.charts.print_files import figure_parts
from assay.charts.svg import (
    WIDTH,
    LinearScale,
    choose_date_ticks,
    choose_ticks,
    format_number,
    tick_labels,
)
from tests.assay.charts.forms import narrow, usual

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\" onload='x' & ü"
NOTHING = "nobody has judged yet"

Draw = Callable[[str, bool], str]


def _bars(name: str, empty: bool) -> str:
    return bars.bar_chart(
        [name, "b", "c"],
        [None] * 3 if empty else [1.0, None, 3.0],
        caption=name,
        unit=name,
        what=name,
        reason=NOTHING,
    )


def _stacked(name: str, empty: bool) -> str:
    return bars.stacked_bar_chart(
        [name, "b"],
        [(name, [0.0, 0.0] if empty else [1.0, 2.0]), ("other", [0.0, 0.0])],
        caption=name,
        what=name,
        reason=NOTHING,
    )


def _lines(name: str, empty: bool) -> str:
    ys = [None] * 3 if empty else [0.5, None, 0.75]
    line = lines.Line(
        name,
        list(zip((0.0, 1.0, 2.0), ys, strict=True)),
        low=[0.4, None, 0.7] if not empty else [],
        high=[0.6, None, 0.8] if not empty else [],
    )
    return lines.line_chart(
        [line, lines.Line("two", [])],
        caption=name,
        x_label=name,
        y_label=name,
        vertical=[(1.0, name)],
        horizontal=[(0.6, name)],
        reason=NOTHING,
    )


def _matrix(name: str, empty: bool) -> str:
    values = [[None, None], [None, None]] if empty else [[1.0, None], [0.0, 4.0]]
    return matrices.matrix_chart(
        [name, "b"],
        ["x", name],
        values,
        caption=name,
        row_label=name,
        column_label=name,
        reason=NOTHING,
    )


def _intervals(name: str, empty: bool) -> str:
    rows = [points.DrawnInterval(name, None, note=name)] + (
        [] if empty else [points.DrawnInterval("b", 0.25, -0.5, 0.75)]
    )
    return points.interval_chart(
        rows, caption=name, x_label=name, what=name, reference=(0.0, name), reason=NOTHING
    )


def _boxes(name: str, empty: bool) -> str:
    rows = [points.BoxSummary(name, None, None, None, None, None, 0)] + (
        [] if empty else [points.BoxSummary("b", 1.0, 2.0, 3.0, 4.0, 9.0, 17)]
    )
    return points.box_chart(rows, caption=name, x_label=name, what=name, reason=NOTHING)


def _scatter(name: str, empty: bool) -> str:
    spots = (
        []
        if empty
        else [
            points.ScatterPoint(name, 1.0, 2.0, 0),
            points.ScatterPoint("b", 3.0, 4.0, 1),
            points.ScatterPoint("c", 3.0, 4.0, 2),
        ]
    )
    return points.scatter_chart(
        spots,
        kinds=[name, "two", "three"],
        caption=name,
        x_label=name,
        y_label=name,
        reason=NOTHING,
    )


def _radar(name: str, empty: bool) -> str:
    axes = [name, "b"] if empty else [name, "b", "c"]
    return points.radar_chart(
        axes, [(name, [0.5] * len(axes)), ("other", [1.0] * len(axes))], caption=name, high=1.0
    )


def test_dates_have_ticks_at_the_beginnings_of_months_or_years() -> None:
    """2020-10-02 to 2021-01-10, four years, and ten days."""

    def labels(first: str, last: str, wanted: int = 6) -> list[str]:
        ends = (float(date.fromisoformat(day).toordinal()) for day in (first, last))
        return list(choose_date_ticks(*ends, wanted).values())

    assert labels("2020-10-02", "2021-01-10") == ["2020-11", "2020-12", "2021-01"]
    assert labels("2019-03-05", "2023-02-01") == ["2020", "2021", "2022", "2023"]
    assert labels("2020-01-01", "2020-12-31", 4) == ["2020-01", "2020-04", "2020-07", "2020-10"]
    assert labels("2021-01-01", "2021-01-10", 5) == [f"2021-01-0{day}" for day in (1, 3, 5, 7, 9)]
    days = [float(date(2019 + k, 3, 5).toordinal()) for k in range(5)]
    line = lines.Line("one", [(day, 0.5) for day in days])
    figure = lines.line_chart([line], caption="c", x_label="x", y_label="y", dates=True)
    texts = [text.text for text in usual(figure).iter(f"{SVG}text")]
    assert [text for text in texts if text and text.startswith("20")] == ["2020", "2022"]
    assert "2019-03-05" in figure  # in the data table


def test_points_have_their_shapes_in_the_legend_and_labels_that_meet_nothing() -> None:
    """The second point has no room above it, the third none at all."""
    spots = [
        points.ScatterPoint("a", 0.0, 0.0, 2, "one"),
        points.ScatterPoint("b", 1.0, 1.0, 1, "two"),
        points.ScatterPoint("c", 1.0, 1.0, 1, "three"),
        points.ScatterPoint("d", 1.0, 0.999, 1, "four"),
    ]
    figure = points.scatter_chart(
        spots,
        kinds=["no", "square", "triangle"],
        caption="c",
        x_label="x",
        y_label="y",
        y_down=True,
    )
    legend = re.findall(r"<svg viewBox[^>]*><(\w+) [^>]*/></svg> (\w+)</li>", figure)
    assert legend == [("rect", "square"), ("polygon", "triangle")]
    texts = [text.text for text in usual(figure).iter(f"{SVG}text")]
    assert [text for text in texts if text in ("one", "two", "three", "four")] == [
        "one",
        "two",
        "three",
    ]
    places = {
        one.findtext(f"{SVG}title"): float(one.get("y") or 0)
        for one in usual(figure).iter(f"{SVG}rect")
    }
    assert places["b: 1, 1"] > places["d: 1, 1.00"]  # y grows downwards


def test_conditions_have_a_row_each_with_one_interval_per_series() -> None:
    rows = [
        (
            name,
            [points.DrawnInterval("A", value, value - 1, value + 1), points.DrawnInterval("B", 4)],
        )
        for name, value in (("easy", 2.0), ("hard", 3.0))
    ]
    figure = points.conditions_chart(
        rows, styles=[2, 1], caption="c", x_label="rank", row_label="condition", what="run"
    )
    root = usual(figure)
    squares = [one for one in root.iter(f"{SVG}rect") if one.get("height") == "9"]
    lines_drawn = [one for one in root.iter(f"{SVG}rect") if one.get("height") == "2"]
    assert [one.get("class") for one in squares + lines_drawn] == ["s2"] * 4
    assert len(list(root.iter(f"{SVG}circle"))) == 2
    widths = {one.get("width") for one in lines_drawn}
    assert len(widths) == 1  # both span two ranks
    assert re.findall(r"/></svg> (\w)</li>", figure) == ["B", "A"]


def test_classes_of_a_matrix_are_darkest_first_in_cells_and_legend_alike():
    """Nine steps, from 0 to 8: three classes take the ends and the middle."""
    classes = ((0.0, "small"), (0.1, "middle"), (0.5, "great"))
    drawn = matrices.matrix_chart(
        ["r"],
        ["a", "b", "c"],
        [[0.1, 0.9, 0.05]],
        caption="c",
        row_label="r",
        column_label="c",
        classes=classes,
    )
    cells = re.findall(r'<rect[^>]*class="(g\d)"[^>]*><title>r, (\w)', drawn)
    assert cells == [("g4", "a"), ("g0", "b"), ("g8", "c")]
    legend = re.findall(r'class="(g\d)"/></svg> (\w+)</li>', drawn)
    assert legend == [("g8", "small"), ("g4", "middle"), ("g0", "great")]


def test_what_an_interval_and_the_thin_line_beside_it_mean_is_in_the_legend_where_they_are_drawn():
    rows = [points.DrawnInterval("a", 0.5, least=0.4, most=0.9)]
    drawn = points.interval_chart(
        rows, caption="c", x_label="x", what="run", meanings=("mean", "interval", "reach")
    )
    assert re.findall(r"</svg> (\w+)</li>", drawn) == ["mean", "reach"], "no interval is drawn"
    assert '<th scope="col">least</th>' in drawn
    assert "legend" not in points.interval_chart(rows, caption="c", x_label="x", what="run")


def test_columns_beside_intervals_hold_the_value_and_further_texts():
    rows = [
        points.DrawnInterval("a", 0.5, texts=("–",)),
        points.DrawnInterval("b", 0.25, texts=("0.01",), is_grey=True),
    ]
    drawn = points.interval_chart(
        rows, caption="c", x_label="x", what="run", columns=("mean", "p (Holm)")
    )
    wide, narrow = re.findall(r"<svg.*?</svg>", drawn)
    assert re.findall(r'<text[^>]*text-anchor="end"[^>]*>([^<]+)</text>', wide)[:2] == [
        "mean",
        "p (Holm)",
    ]
    for words in ("mean", "0.50", "0.25"):
        assert all(f">{words}</text>" in form for form in (wide, narrow))
    assert ">0.01</text>" in wide
    assert ">0.01</text>" not in narrow
    assert re.findall(r'class="(s\d)"', wide) == ["s1", "s6"]
    assert '<th scope="col">p (Holm)</th>' in drawn


def _curve(name: str, values: list[float | None], width: float = 400.0) -> str:
    line = lines.Line(name, list(zip((0.0, 1.0, 2.0), values, strict=True)), marks=True)
    return lines.line_chart(
        [line, lines.Line("two", [])],
        caption=name,
        x_label=name,
        y_label=name,
        width=width,
        reason=NOTHING,
    )


def _panels(name: str, empty: bool) -> str:
    return panels.panel_chart(
        [
            (name, _curve(name, [0.5, 0.6, None])),
            ("b", _curve("b", [None] * 3)),
            ("c", _curve("c", [0.1, 0.2, 0.3])),
        ],
        caption=name,
    )


DRAWINGS = [_bars, _stacked, _lines, _matrix, _intervals, _boxes, _scatter, _radar]


@pytest.mark.parametrize("draw", DRAWINGS)
class TestEveryPicture:
    def test_it_is_well_formed_with_title_description_and_the_numbers_in_a_table(self, draw: Draw):
        figure = ElementTree.fromstring(draw("judgements", False))
        assert figure.tag == "figure"
        assert figure.findtext("figcaption") == "judgements"
        svg = figure.find(f"div/{SVG}svg")
        assert svg is not None
        assert svg.get("role") == "img"
        ids = (svg.get("aria-labelledby") or "").split()
        named = [element for element in svg if element.get("id") in ids]
        assert [element.tag for element in named] == [f"{SVG}title", f"{SVG}desc"]
        assert named[0].text == "judgements"
        assert len(named[1].text or "") > 10
        table = figure.find("details/div/table")
        assert table is not None
        assert len(table.findall("tbody/tr")) >= 2
        width = len(table.findall("thead/tr/th"))
        assert {len(row) for row in table.findall("tbody/tr")} == {width}

    def test_two_of_them_on_a_page_do_not_share_ids(self, draw: Draw):
        found = re.findall(r' id="([^"]+)"', draw("one", False) + draw("two", False))
        assert len(found) == len(set(found)) == 8, "title and description of both forms"

    def test_hostile_text_stays_text(self, draw: Draw):
        picture = draw(HOSTILE, False)
        figure = ElementTree.fromstring(picture)
        assert "<script" not in picture
        assert not [
            element
            for element in figure.iter()
            if any(name.startswith("on") for name in element.attrib)
        ]
        assert figure.findtext("figcaption") == HOSTILE

    def test_a_sign_that_no_xml_may_hold_is_replaced(self, draw: Draw):
        """A group was called by one: no file of its picture could be made."""
        for empty in (False, True):
            assert (
                ElementTree.fromstring(draw("a\x00\x1b\ufffeb", empty)).findtext("figcaption")
                == "a\ufffd\ufffd\ufffdb"
            )

    def test_nothing_is_styled_inline_and_nothing_runs(self, draw: Draw):
        figure = ElementTree.fromstring(draw("judgements", False))
        for element in figure.iter():
            assert "style" not in element.attrib
            assert element.tag.rpartition("}")[2] not in (
                "style",
                "script",
                "foreignObject",
                "image",
                "use",
            )
            assert not [
                value
                for value in element.attrib.values()
                if value.startswith(("http:", "https:", "//")) and "w3.org" not in value
            ]

    def test_where_there_is_nothing_it_says_why_instead_of_drawing(self, draw: Draw):
        picture = draw("judgements", True)
        figure = ElementTree.fromstring(picture)
        assert "<svg" not in picture
        assert figure.findtext("p") == (
            "A radar chart needs three axes, not 2." if draw is _radar else NOTHING
        )
        assert figure.findtext("figcaption") == "judgements"

    def test_no_coordinate_is_undefined(self, draw: Draw):
        assert not re.search(r'="[^"]*\b(nan|inf|None)\b', draw("judgements", False))


class TestUndefinedValues:
    def test_a_bar_without_a_value_is_a_gap_and_a_dash_in_the_table(self):
        figure = usual(_bars("a", False))
        assert len(figure.findall(f"div/{SVG}svg/{SVG}rect")) == 2
        cells = [row.findtext("td") for row in figure.findall("details/div/table/tbody/tr")]
        assert cells == ["1", "–", "3"]

    def test_a_line_is_broken_where_it_is_undefined(self):
        figure = usual(_lines("a", False))
        assert len(figure.findall(f"div/{SVG}svg/{SVG}polyline")) == 2

    def test_an_empty_cell_is_hatched_and_zero_is_not(self):
        figure = usual(_matrix("a", False))
        classes = [rect.get("class") for rect in figure.findall(f"div/{SVG}svg/{SVG}rect")]
        assert classes == ["g2", "empty-cell", "g0", "g8"]  # 1 of 4 is step 2 of 8

    def test_an_annotator_without_kappa_stays_in_the_picture_with_the_reason(self):
        assert "shares no pair" in points.interval_chart(
            [
                points.DrawnInterval("A1", None, note="shares no pair"),
                points.DrawnInterval("A2", 0.5, 0.4, 0.6),
            ],
            caption="kappa",
            x_label="",
            what="annotators",
        )

    @pytest.mark.parametrize("at", [-0.5, 0.0, 0.45, 2.0])
    def test_the_reference_stands_within_the_axis_wherever_the_values_are(self, at):
        rows = [
            points.DrawnInterval("A1", 0.5, 0.4, 0.6),
            points.DrawnInterval("A2", 0.45, 0.4, 0.5),
        ]
        picture = points.interval_chart(
            rows, caption="kappa", x_label="", what="annotators", reference=(at, "chance")
        )
        [line] = [
            one for one in usual(picture).iter(f"{SVG}line") if one.get("class") == "reference"
        ]
        axis = [
            float(one.get("x2"))
            for one in usual(picture).iter(f"{SVG}line")
            if one.get("class") == "l1"
        ]
        assert 14 + 6.4 * 4 <= float(line.get("x1")) <= WIDTH - 20
        assert (float(line.get("x1")) >= max(axis)) == (at > 0.6)

    def test_short_names_leave_their_space_to_the_picture(self):
        def left_end(name):
            picture = points.interval_chart(
                [points.DrawnInterval(name, 0.5, 0.0, 1.0)], caption="c", x_label="x", what="run"
            )
            return min(
                float(one.get("x1"))
                for one in usual(picture).iter(f"{SVG}line")
                if one.get("class") == "l1"
            )

        assert left_end("A001") < 52
        assert (
            left_end("nDCG@10") - 6 - 10 >= 57.5
        )  # as wide as Noto Sans sets it at 12 px, measured in Chromium
        assert left_end("x" * 30) == pytest.approx(14 + 7.2 * 24 + 6)


class TestScales:
    def test_ticks_are_round_and_inside(self):
        assert choose_ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
        assert choose_ticks(-0.13, 0.42) == [
            0,
            0.2,
            0.4,
        ]  # the range is 0.55: a step of 0.1 would give more than five
        assert choose_ticks(0, 38_810) == [0, 10_000, 20_000, 30_000]
        assert choose_ticks(3, 3) == [3]

    @pytest.mark.parametrize(
        ("values", "labels"),
        [
            ([0.13, 0.135, 0.14], ["0.130", "0.135", "0.140"]),
            ([0.0, 0.5, 1.0], ["0", "0.50", "1"]),
            ([-0.0025, 0.0], ["\N{MINUS SIGN}0.0025", "0.0000"]),
            ([0.0, 0.01, 0.02], ["0", "0.01", "0.02"]),
            ([10_000.0, 20_000.0], ["10,000", "20,000"]),
        ],
    )
    def test_a_tick_states_its_value(self, values, labels):
        assert tick_labels(values, format_number) == labels

    def test_of_equal_dates_only_the_first_is_written(self):
        days = {0.0: "24 Nov", 0.5: "24 Nov", 1.0: "25 Nov"}
        assert tick_labels(list(days), days.__getitem__) == ["24 Nov", "", "25 Nov"]

    def test_an_axis_of_counts_has_whole_numbers_only(self):
        assert choose_ticks(0, 3, whole=True) == [0, 1, 2, 3]
        assert choose_ticks(0, 1, whole=True) == [0, 1]
        figure = usual(bars.bar_chart(["a", "b"], [1.0, 3.0], caption="c", unit="judgements"))
        words = {text.text for text in figure.iter(f"{SVG}text")}
        assert words == {"0", "1", "2", "3", "a", "b", "judgements"}

    def test_an_axis_of_shares_reaches_its_whole_even_where_all_are_nothing(self):
        figure = usual(
            bars.bar_chart(["rank 1"], [0.0], caption="c", unit="% complete", high=100.0)
        )
        assert {"0", "20", "40", "60", "80", "100"} <= {
            text.text for text in figure.iter(f"{SVG}text")
        }

    def test_a_scale_maps_its_ends_to_its_ends(self):
        scale = LinearScale(10, 20, 100, 0)
        assert (scale(10), scale(15), scale(20)) == (100, 50, 0)

    def test_a_scale_without_extent_puts_everything_in_the_middle(self):
        assert LinearScale(3, 3, 0, 10)(3) == 5

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (38810, "38,810"),
            (0.6512, "0.65"),
            (-0.6512, "−0.65"),
            (2.0, "2"),
            (97.00000000000001, "97"),
            (None, "–"),
            (float("nan"), "–"),
            (float("inf"), "–"),
        ],
    )
    def test_numbers_for_people(self, value, text):
        assert format_number(value) == text


@pytest.mark.parametrize(
    "name",
    [
        "bm25-with-rm3-and-a-neural_reranker.v2 second run of the group",
        "x" * 70,
        "short",
        "ein sehr langer Name mit Leerzeichen",
    ],
)
@pytest.mark.parametrize("draw", ["intervals", "boxes"])
def test_a_rows_name_is_shown_whole_in_as_many_lines_as_it_needs(draw, name):
    if draw == "intervals":
        picture = points.interval_chart(
            [points.DrawnInterval(name, 0.5), points.DrawnInterval("next", 0.4)],
            caption="c",
            x_label="x",
            what="run",
        )
    else:
        rows = [points.BoxSummary(n, 1.0, 2.0, 3.0, 4.0, 5.0, 9) for n in (name, "next")]
        picture = points.box_chart(rows, caption="c", x_label="x", what="run")
    labels = [
        text for text in usual(picture).iter(f"{SVG}text") if text.find(f"{SVG}title") is not None
    ]
    assert [text.find(f"{SVG}title").text for text in labels] == [name, "next"]
    spans = labels[0].findall(f"{SVG}tspan")
    shown = [span.text for span in spans] if spans else [labels[0].text]
    assert "".join(shown).replace(" ", "") == name.replace(" ", "")
    assert max(map(len, shown)) <= 24
    last = float(spans[-1].get("y")) if spans else float(labels[0].get("y"))
    assert float(labels[1].get("y")) - last >= 14  # the lines of two rows do not meet


def _texts(root: ElementTree.Element) -> list[list[str]]:
    """The lines of each text."""
    return [
        [span.text or "" for span in text.findall(f"{SVG}tspan")] or [text.text or ""]
        for text in root.iter(f"{SVG}text")
    ]


class TestLongNamesAreWhole:
    """Names of columns and bars in the usual form: in lines where that has room, otherwise numbers
    with a key."""

    LONG = "a run with a very long name that goes on and on and on and on"

    def test_a_matrix_of_few_columns_has_their_names_in_lines(self):
        columns = ["Not relevant at all", "Somewhat relevant", "Perfectly relevant"]
        root = usual(
            matrices.matrix_chart(
                [self.LONG, "b"],
                columns,
                [[1.0, 2.0, 3.0]] * 2,
                caption="c",
                row_label="run",
                column_label="grade",
            )
        )
        texts = _texts(root)
        assert [" ".join(lines) for lines in texts[1:4]] == columns
        assert " ".join(texts[4]) == self.LONG

    def test_a_matrix_of_runs_against_runs_has_their_numbers_before_the_rows_names(self):
        names = [f"{self.LONG} {letter}" for letter in "abcdefghij"]
        root = usual(
            matrices.matrix_chart(
                names,
                names,
                [[0.5] * 10] * 10,
                caption="c",
                row_label="run",
                column_label="against",
            )
        )
        said = [" ".join(lines) for lines in _texts(root)]
        assert said[1:11] == [str(number) for number in range(1, 11)]
        assert [words for words in said if ": " in words] == [
            f"{number}: {name}" for number, name in enumerate(names, 1)
        ]

    def test_a_matrix_of_other_columns_has_a_key_below(self):
        columns = [f"{self.LONG} {letter}" for letter in "abcdefghij"]
        said = [
            " ".join(lines)
            for lines in _texts(
                usual(
                    matrices.matrix_chart(
                        ["1"], columns, [[0.5] * 10], caption="c", row_label="t", column_label="c"
                    )
                )
            )
        ]
        assert said[1:11] == [str(number) for number in range(1, 11)]
        assert said[-10:] == [f"{number}: {name}" for number, name in enumerate(columns, 1)]

    def test_bars_have_their_names_in_lines_or_numbers_with_a_key(self):
        two = _texts(usual(bars.bar_chart([self.LONG, "b"], [1.0, 2.0], caption="c", unit="pairs")))
        assert self.LONG in [" ".join(lines) for lines in two]
        many = [f"{self.LONG} {letter}" for letter in "abcdefghijklmnopqrst"]
        said = [
            " ".join(lines)
            for lines in _texts(usual(bars.bar_chart(many, [1.0] * 20, caption="c", unit="pairs")))
        ]
        assert said[-20:] == [f"{number}: {name}" for number, name in enumerate(many, 1)]
        assert {str(number) for number in range(1, 21)} <= set(said)

    def test_a_row_without_a_value_says_its_whole_reason(self):
        reason = "undefined: " + self.LONG
        for form in (usual, narrow):
            drawn = form(
                points.interval_chart(
                    [points.DrawnInterval("a", None, note=reason), points.DrawnInterval("b", 0.5)],
                    caption="c",
                    x_label="x",
                    what="run",
                )
            )
            assert reason in [" ".join(lines) for lines in _texts(drawn)]

    def test_the_lines_of_a_radar_do_not_cross_the_labels_of_its_scale(self):
        svg = usual(points.radar_chart(["a", "b", "c"], [("x", [1.0] * 3)], caption="c", high=1.0))
        classes = [element.get("class") for element in svg.iter()]
        assert classes.count("plate") == 4
        assert classes.index("plate") > classes.index("l1")

    def test_names_around_a_radar_that_have_no_room_are_numbers_with_a_key(self):
        axes = [f"{self.LONG} {letter}" for letter in "abcd"]
        said = [
            " ".join(lines)
            for lines in _texts(
                usual(points.radar_chart(axes, [("one", [0.5] * 4)], caption="c", high=1.0))
            )
        ]
        assert said[-4:] == [f"{number}: {name}" for number, name in enumerate(axes, 1)]


class TestPanels:
    def test_they_stand_two_in_a_row_and_in_a_narrow_window_one_below_another(self):
        """Usual panels are 400 pixels wide, narrow ones 280."""
        picture = _panels("a panel", False)
        sizes = {
            form: form(picture).find(f"div/{SVG}svg").get("viewBox").split()[2]
            for form in (usual, narrow)
        }
        assert sizes == {usual: "800", narrow: "280"}
        heads = {}
        for form in (usual, narrow):
            named = [
                text
                for text in form(picture).iter(f"{SVG}text")
                if re.match(r"\([a-z]\) ", text.text or "")
            ]
            assert [text.text for text in named] == ["(a) a panel", "(b) b", "(c) c"]
            heads[form] = [(float(text.get("x")), float(text.get("y"))) for text in named]
        (a, b, c) = heads[usual]
        assert (a[0], b[0], c[0]) == (8, 408, 8)
        assert a[1] == b[1] < c[1]
        assert [x for x, _ in heads[narrow]] == [8, 8, 8]
        assert heads[narrow][0][1] < heads[narrow][1][1] < heads[narrow][2][1]

    def test_all_lines_and_marks_are_in_both_forms_below_the_name_of_their_panel(self):
        picture = _panels("a", False)
        for form in (usual, narrow):
            root = form(picture)
            assert len(list(root.iter(f"{SVG}polyline"))) == 2
            dots = [float(dot.get("cy")) for dot in root.iter(f"{SVG}circle")]
            assert len(dots) == 5  # one of the six points is undefined, and a panel has none
            head = next(
                float(text.get("y")) for text in root.iter(f"{SVG}text") if text.text == "(c) c"
            )
            assert [y > head for y in dots] == [False, False, True, True, True]
            height = float(root.find(f"div/{SVG}svg").get("viewBox").split()[3])
            assert max(dots) < height

    def test_a_long_name_and_a_reason_are_whole_and_the_table_says_whose_number_it_is(self):
        name = TestLongNamesAreWhole.LONG
        reason = "undefined, because " + name
        empty = lines.line_chart(
            [lines.Line("x", [])], caption="x", x_label="x", y_label="y", reason=reason
        )
        picture = panels.panel_chart(
            [(name, _curve("a", [0.5, 0.6, 0.7])), ("none", empty)], caption="both"
        )
        for form in (usual, narrow):
            said = [" ".join(words) for words in _texts(form(picture))]
            assert f"(a) {name}" in said
            assert reason in said
        rows = [
            ["".join(cell.itertext()) for cell in row]
            for row in ElementTree.fromstring(picture).iter("tr")
        ]
        assert rows[0][:3] == ["panel", "a", "a"]
        assert [row[0] for row in rows[1:]] == [name] * 3
        assert [row[2] for row in rows[1:]] == ["0.500", "0.600", "0.700"]


def test_the_colours_of_a_matrix_are_explained():
    words = {"caption": "c", "row_label": "topic", "column_label": "rank"}
    picture = matrices.matrix_chart(
        ["1"], ["a", "b"], [[0.5, None]], high=1.0, form=lambda v: f"{100 * v:.0f} %", **words
    )
    [legend] = [one for one in usual(picture).iter("ul") if one.get("class") == "legend"]
    assert "".join(legend.itertext()).split() == ["0", "%", "100", "%", "none"]
    assert [rect.get("class") for rect in legend.iter("rect")] == [f"g{i}" for i in range(9)] + [
        "empty-cell"
    ]


@pytest.mark.parametrize("form", [usual, narrow])
def test_the_reference_line_does_not_run_through_the_reason_of_an_undefined_row(form):
    drawn = [
        points.DrawnInterval("a", 0.5),
        points.DrawnInterval("b", None, note="2 shared pairs; needs 10"),
    ]
    root = form(
        points.interval_chart(
            drawn, caption="c", x_label="x", what="run", low=0, reference=(0.0, "chance")
        )
    )
    order = [
        (one.tag.rpartition("}")[2], one.get("class"), one.text)
        for one in root.iter()
        if one.tag.startswith(SVG)
    ]
    line, plate = order.index(("line", "reference", None)), order.index(("rect", "plate", None))
    assert line < plate < order.index(("text", "label", "2 shared pairs; needs 10")), (
        "what is later lies above"
    )
    [rect] = [one for one in root.iter(f"{SVG}rect") if one.get("class") == "plate"]
    [text] = [one for one in root.iter(f"{SVG}text") if one.text == "2 shared pairs; needs 10"]
    top, bottom = float(rect.get("y")), float(rect.get("y")) + float(rect.get("height"))
    assert top < float(text.get("y")) - 6 < bottom
    assert float(rect.get("x")) + float(rect.get("width")) - float(text.get("x")) >= 24 * 6.5, (
        "24 letters of 12 pixels"
    )


def test_only_an_undefined_row_has_its_reason_in_the_table():
    drawn = [
        points.DrawnInterval("a", 0.5, note="no topic"),
        points.DrawnInterval("b", None, note="no topic"),
    ]
    picture = points.interval_chart(drawn, caption="c", x_label="x", what="run")
    rows = [[cell.text for cell in row] for row in usual(picture).iter("tr")][1:]
    assert rows == [["a", "0.500", "–", "–", None], ["b", "–", "–", "–", "no topic"]]


def test_points_stand_within_the_frame():
    picture = points.interval_chart(
        [points.DrawnInterval("a", 0.0), points.DrawnInterval("b", 1.0)],
        caption="c",
        x_label="x",
        what="run",
    )
    root = usual(picture)
    [axis] = [
        line
        for line in root.iter(f"{SVG}line")
        if line.get("class") == "axis" and line.get("y1") == line.get("y2")
    ]
    for circle in root.iter(f"{SVG}circle"):
        assert float(axis.get("x1")) + 4 < float(circle.get("cx")) < float(axis.get("x2")) - 4


class TestNarrowForm:
    """What a window of 320 pixels shows: 280 wide, no name cut, none beside a row that it would
    leave no room."""

    LONG = "bm25-with-rm3-and-a-neural_reranker.v2 second run of the group"

    @pytest.mark.parametrize("draw", DRAWINGS)
    def test_it_is_280_wide_and_has_the_same_title_and_shapes(self, draw: Draw):
        figure = draw("a name", False)
        one, other = (form(figure).find(f"div/{SVG}svg") for form in (usual, narrow))
        assert one is not None
        assert other is not None
        assert [svg.get("viewBox", "").split()[2] for svg in (one, other)] == ["560", "280"]
        assert one.findtext(f"{SVG}title") == other.findtext(f"{SVG}title") == "a name"
        for kind in ("circle", "polyline", "rect"):
            assert [x.get("class") for x in one.iter(f"{SVG}{kind}")] == [
                x.get("class") for x in other.iter(f"{SVG}{kind}")
            ], kind

    @pytest.mark.parametrize("draw", [_stacked, _intervals, _boxes])
    def test_a_long_name_stands_whole_above_its_row(self, draw: Draw):
        root = narrow(draw(self.LONG, False))
        name = next(
            text
            for text in root.iter(f"{SVG}text")
            if text.findtext(f"{SVG}title") == self.LONG and text.get("text-anchor") == "start"
        )
        lines = [span.text or "" for span in name.findall(f"{SVG}tspan")]
        assert "".join(lines).replace(" ", "") == self.LONG.replace(" ", "")
        assert len(lines) >= 2
        assert {span.get("x") for span in name.findall(f"{SVG}tspan")} == {"2"}

    def test_short_names_stay_beside_their_rows(self):
        root = narrow(
            points.interval_chart(
                [points.DrawnInterval("BM25", 0.5), points.DrawnInterval("DLH", 0.4)],
                caption="c",
                x_label="x",
                what="run",
            )
        )
        names = [
            text
            for text in root.iter(f"{SVG}text")
            if text.find(f"{SVG}title") is not None and text.get("text-anchor") == "end"
        ]
        assert [text.text for text in names] == ["BM25", "DLH"]
        dots = [float(dot.get("cy", 0)) for dot in root.iter(f"{SVG}circle")]
        assert [float(text.get("y", 0)) - 4 for text in names] == dots

    def test_a_matrix_of_long_names_counts_its_columns_and_says_the_numbers_before_its_rows(self):
        names = [self.LONG, "another run of some length"]
        root = narrow(
            matrices.matrix_chart(
                names,
                names,
                [[None, 0.04], [0.04, None]],
                caption="c",
                row_label="run",
                column_label="against",
            )
        )
        words = [
            " ".join(
                part
                for part in (text.text, *(span.text for span in text.findall(f"{SVG}tspan")))
                if part
            )
            for text in root.iter(f"{SVG}text")
        ]
        assert words[:3] == ["against", "1", "2"]
        assert [word[:2] for word in words if word[1:2] == ":"] == ["1:", "2:"]
        assert "0.04" in words

    @pytest.mark.parametrize(
        "names",
        [
            ["Wrong", "Topic", "Partial", "Perfect"],
            ["Irrelevant", "Relevant", "Very relevant"],
            ["a", "b"],
            ["Wrong"] * 3 + ["Perfectly"],
        ],
    )
    @pytest.mark.parametrize("rows", [None, ["the topic of a long name", "x"]])
    def test_no_column_of_a_matrix_is_left_without_a_name(
        self, names: list[str], rows: list[str] | None
    ):
        """Of grades nobody can tell the second from the first and the third, as of ranks."""
        values = [[1.0] * len(names)] * len(rows or names)
        root = narrow(
            matrices.matrix_chart(
                rows or names, names, values, caption="c", row_label="a", column_label="b"
            )
        )
        said = [
            (text.text or "", float(text.get("y", 0)))
            for text in root.iter(f"{SVG}text")
            if text.text
        ]
        heads = [words for words, y in said if y == said[1][1]]
        assert heads in (names, [str(n) for n in range(1, len(names) + 1)])

    def test_columns_that_are_other_things_than_rows_are_explained_below(self):
        grades = ["Not relevant at all", "Somewhat relevant", "Perfectly relevant"]
        root = narrow(
            matrices.matrix_chart(
                ["1", "2"],
                grades,
                [[1.0, 2.0, 3.0]] * 2,
                caption="c",
                row_label="topic",
                column_label="grade",
            )
        )
        words = [text.text for text in root.iter(f"{SVG}text")]
        assert words[:4] == ["grade", "1", "2", "3"]
        assert words[-3:] == [
            "1: Not relevant at all",
            "2: Somewhat relevant",
            "3: Perfectly relevant",
        ]

    def test_a_number_that_does_not_fit_its_cell_is_not_written(self):
        """Twelve runs leave 23 pixels a cell; 0.0421 is 43 wide."""
        names = [f"r{n}" for n in range(12)]
        root = narrow(
            matrices.matrix_chart(
                names,
                names,
                [[0.0421] * 12] * 12,
                caption="c",
                row_label="r",
                column_label="c",
                form=lambda v: f"{v:.4f}",
            )
        )
        assert "0.0421" not in {text.text for text in root.iter(f"{SVG}text")}
        few = narrow(
            matrices.matrix_chart(
                ["a", "b"],
                ["a", "b"],
                [[0.0421] * 2] * 2,
                caption="c",
                row_label="r",
                column_label="c",
                form=lambda v: f"{v:.4f}",
            )
        )
        assert [text.text for text in few.iter(f"{SVG}text")].count("0.0421") == 4

    def test_bars_with_long_labels_are_numbered_and_explained_and_hours_are_not(self):
        few = narrow(
            bars.bar_chart([self.LONG, "b", "c"], [1.0, 2.0, 3.0], caption="c", unit="pairs")
        )
        words = [
            text.text or "".join(span.text or "" for span in text.findall(f"{SVG}tspan"))
            for text in few.iter(f"{SVG}text")
        ]
        assert words[-2:] == ["2: b", "3: c"]
        assert words[-3].replace(" ", "") == f"1:{self.LONG}".replace(" ", "")
        hours = [f"{1 + i // 2:02d} Nov {12 * (i % 2):02d}h" for i in range(28)]
        many = narrow(bars.bar_chart(hours, [1.0] * 28, caption="c", unit="pairs"))
        assert {text.text for text in many.iter(f"{SVG}text")} >= {hours[0]}
        ranks = narrow(
            bars.bar_chart([f"rank {n}" for n in range(1, 11)], [1.0] * 10, caption="c", unit="%")
        )
        days = narrow(
            bars.bar_chart(
                ["29 Nov 12h", "30 Nov 00h", "30 Nov 12h", "01 Dec 00h", "01 Dec 12h"],
                [1.0] * 5,
                caption="c",
                unit="pairs",
            )
        )
        for counted in (many, ranks, days):
            assert not [
                text for text in counted.iter(f"{SVG}text") if (text.text or "").startswith("1: ")
            ]
        assert {"rank 1", "rank 4"} <= {text.text for text in ranks.iter(f"{SVG}text")}

    def test_files_are_of_the_usual_form(self):
        picture, _ = figure_parts(_intervals("a", False))
        assert picture.get("viewBox", "").split()[2] == "560"


@pytest.mark.parametrize("draw", [_lines, _scatter, _bars])
def test_a_long_label_of_an_axis_is_whole_in_both_forms(draw: Draw):
    label = (
        "estimated mean nDCG@10 of the runs under the labels by majority, over all topics of the "
        "set that anybody has judged so far"
    )
    for form in (usual, narrow):
        said = form(draw(label, False)).iter(f"{SVG}text")
        lines = [
            "".join(span.text or "" for span in text.findall(f"{SVG}tspan")).replace(" ", "")
            for text in said
        ]
        assert label.replace(" ", "") in lines
