"""Rows of lists as cards: each cell says what its column is called."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, JsonResponse

from pooling.cards import TableCards, with_labels

LIST = """<table class="table compact card-rows">
  <thead>
    <tr>
      <th scope="col"><span class="visually-hidden">Choose</span><input type="checkbox" hidden></th>
      <th scope="col"><a class="sort" href="?sort=tag">Tag</a></th>
      <th scope="col" class="number"><a class="sort" href="?sort=rows">Rows &amp; "more"</a></th>
      <th scope="col">Look at</th>
      <th scope="col"><span class="visually-hidden">Delete</span></th>
    </tr>
  </thead>
  <tbody>
    <tr class="decided">
      <td><input type="checkbox" name="run"></td>
      <th scope="row"><a href="/1">TF-IDF</a></th>
      <td class="number">1,200</td>
      <td>
      </td>
      <td><a href="/delete">Delete…</a></td>
    </tr>
    <tr>
      <td colspan="5" class="muted">None fits.</td>
    </tr>
  </tbody>
</table>"""


def cells(html: str) -> list[str]:
    body = html[html.index("<tbody>") :]
    return re.findall(r"<t[dh]\b[^>]*>", body)


def test_each_cell_says_its_column_and_what_it_is_of_a_card() -> None:
    assert cells(with_labels(LIST)) == [
        '<td data-card="choose">',
        '<th scope="row" data-card="title">',
        '<td class="number" data-label="Rows &amp; &quot;more&quot;">',
        '<td data-card="none">',
        "<td>",  # its heading is for those who hear the page: the button says what it does
        '<td colspan="5" class="muted" data-card="title">',
    ]


def test_a_first_cell_that_is_a_number_keeps_the_name_of_its_column() -> None:
    head = "<thead><tr><th>Topic</th><th>Words</th></tr></thead>"
    table = (
        f'<table class="table card-rows">{head}<tbody><tr><td>1,051</td><td>a '
        f"cold</td></tr><tr><td>A7</td><td>9</td></tr></tbody></table>"
    )
    assert cells(with_labels(table)) == [
        '<td data-label="Topic">',
        '<td data-label="Words">',
        '<td data-card="title">',
        '<td data-label="Words">',
    ]


def test_a_cell_behind_one_that_spans_two_columns_has_its_own_name() -> None:
    head = "<thead><tr><th>A</th><th>B</th><th>C</th><th>D</th></tr></thead>"
    table = (
        f'<table class="table card-rows">{head}<tbody><tr><th>x</th><td '
        f'colspan="2">y</td><td>z</td></tr></tbody></table>'
    )
    assert cells(with_labels(table)) == [
        '<th data-card="title">',
        '<td colspan="2">',
        '<td data-label="D">',
    ]


def answered(response: HttpResponse) -> str:
    answer = TableCards(lambda request: response)(HttpRequest())
    assert isinstance(answer, HttpResponse)
    return answer.content.decode()


def test_pages_have_labels_where_a_table_asks_for_them_and_nothing_else_is_touched() -> None:
    plain = LIST.replace(" card-rows", "")
    page = f"<main>ü {plain}<p>between</p>{LIST}</main>"
    assert (
        answered(HttpResponse(page)) == f"<main>ü {plain}<p>between</p>{with_labels(LIST)}</main>"
    )
    assert answered(HttpResponse(plain)) == plain
    assert answered(HttpResponse(LIST, content_type="text/plain")) == LIST
    data = {"table": LIST}
    assert answered(JsonResponse(data)) == JsonResponse(data).content.decode()
