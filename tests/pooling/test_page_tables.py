"""Tables of pages: labels for cards on phones, and downloads made from values."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory

from assay.charts.bars import bar_chart
from pooling.platform.page_files import PageFiles

LIST = """{% load pooling_tables %}{% table "Runs & more" "compact card-rows" %}
<thead><tr>
  <th scope="col"><input type="checkbox"></th>{% head written=True %}
  {% head "Tag" %}{% head 'Mean "AP"' "number" %}{% head "Warnings" %}{% head "Delete" hidden=True %}
</tr></thead>
<tbody>
  {% for run in runs %}
    <tr{% row %}>
      <td{% cell choose=True %}><input type="checkbox"></td>
      <th{% cell run.tag %}{% also "Imported" run.at %}>{{ run.tag }}</th>
      <td class="number"{% cell run.ap digits=2 %}>{{ run.ap|floatformat:2 }}</td>
      <td{% cell run.warnings %}></td>
      <td{% cell %}><button>Delete</button></td>
    </tr>
  {% empty %}<tr><td colspan="5" class="muted">None fits.</td></tr>
  {% endfor %}
</tbody>{% endtable %}"""
AT = datetime(2026, 3, 1, 12, 30, 5, 999, tzinfo=UTC)
RUNS = [
    {"tag": "=BM25()", "ap": 0.123456789012345, "warnings": ["twice", "short"], "at": AT},
    {"tag": "1,051", "ap": float("nan"), "warnings": [], "at": AT},
]


def drawn(text: str, **values: Any) -> tuple[str, PageFiles]:
    files = PageFiles(RequestFactory().get("/runs", {"q": "a&b"}))
    return Template(text).render(Context({"page_files": files, **values})), files


def rows_of(files: PageFiles) -> list[list[str]]:
    return list(csv.reader(io.StringIO(files.answer("table-1", "csv").content.decode())))


def test_each_cell_says_its_column_or_its_part_of_a_card():
    page, _ = drawn(LIST, runs=RUNS)
    body = page[page.index("<tbody>") :]
    assert re.findall(r"<t[dh]\b[^>]*>", body) == [
        '<td data-card="choose">',
        '<th data-card="title">',
        '<td class="number" data-label="Mean &quot;AP&quot;">',
        '<td data-label="Warnings">',
        '<td data-card="control">',
        '<td data-card="choose">',
        '<th data-label="Tag">',  # a number alone would be no title
        '<td class="number" data-label="Mean &quot;AP&quot;">',
        '<td data-card="none">',
        '<td data-card="control">',
    ]


def test_a_table_without_cards_has_no_labels():
    page, _ = drawn(LIST.replace("card-rows", ""), runs=RUNS)
    assert "data-" not in page


def test_files_hold_the_values_in_full_precision_and_no_controls():
    _, files = drawn(LIST, runs=RUNS)
    assert rows_of(files) == [
        ["Tag", "Imported", 'Mean "AP"', "Warnings"],
        ["'=BM25()", "2026-03-01T12:30:05+00:00", "0.123456789012345", "twice, short"],
        ["1,051", "2026-03-01T12:30:05+00:00", "", ""],
    ]
    latex = files.answer("table-1", "tex").content.decode()
    assert "& 0.12 &" in latex
    assert "& -- &" in latex


def test_links_keep_what_the_page_was_asked_for():
    page, files = drawn(LIST, runs=RUNS)
    assert 'href="/runs?q=a%26b&amp;part=table-1&amp;format=csv"' in page
    assert 'aria-label="CSV: Runs &amp; more" download' in page
    answer = files.answer("table-1", "csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="runs-more.csv"'


@pytest.mark.parametrize(
    "page", [LIST, LIST.replace('card-rows"', 'card-rows" files=False')], ids=["empty", "off"]
)
def test_a_table_without_rows_or_with_files_off_has_no_links(page):
    text, files = drawn(page, runs=[] if page == LIST else RUNS)
    assert "part-files" not in text
    assert files.answer("table-1", "csv").status_code == 404


def test_a_chart_has_its_links_inside_and_a_chart_without_data_none():
    text = "{% load pooling_tables %}{% picture full %}{% picture empty %}"
    full = bar_chart(["<a>"], [1 / 3], caption="Judged <by> day", unit="n")
    empty = bar_chart(["a"], [None], caption="Nothing", unit="n")
    page, files = drawn(text, full=full, empty=empty)
    assert list(files.parts) == ["picture-1"]
    assert page.count("part-files") == 1
    assert page.index("</figcaption>") < page.index("part-files") < page.index('class="picture"')
    answer = files.answer("picture-1", "csv").content.decode()
    assert "0.3333333333333333" in answer
    assert files.answer("picture-1", "svg").content.startswith(b"<?xml")


def test_a_cell_beyond_the_columns_is_an_error():
    with pytest.raises(TemplateSyntaxError, match="without a column"):
        drawn('{% load pooling_tables %}{% table "T" %}<tr{% row %}><td{% cell 1 %}>{% endtable %}')
