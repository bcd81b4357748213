"""Lists that one searches, filters, sorts and turns over: rows and addresses by hand."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from pooling.models import Run
from pooling.platform.listing import ListPage, RowFilter
from pooling.services.collections import create_collection
from pooling.templatetags.pooling_tables import PageTable

ROWS = [("b", 2), ("A", 10), ("c", None), ("d", 10), ("e", 1), ("f", 3)]


def listed(address: str = "", **more) -> ListPage:
    choice = RowFilter(
        "size",
        "Size",
        [("big", "big ones")],
        lambda rows, value: [row for row in rows if row[1] == 10],
    )
    given = {
        "search": lambda row: row[0],
        "sort": {"name": lambda row: row[0].lower(), "n": lambda row: row[1]},
        "choices": [choice],
    }
    return ListPage(RequestFactory().get("/" + address), ROWS, **given | more)


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("", "bAcdef"),
        ("?sort=name", "Abcdef"),
        ("?sort=n", "ebfAdc"),  # equal ones in their order, the undefined one last
        ("?sort=-n", "Adfbec"),
        ("?sort=no-such-column", "bAcdef"),
        ("?q=a", "A"),
        ("?q=%20%20", "bAcdef"),
        ("?q=z", ""),
        ("?size=big", "Ad"),
        ("?size=huge", "bAcdef"),
        ("?size=big&q=D&sort=name", "d"),
    ],
)
def test_words_choices_and_order_of_a_sequence(address, names) -> None:
    assert "".join(row[0] for row in listed(address)) == names


def test_pages_keep_what_was_asked_for() -> None:
    shown = listed("?q=&sort=-n&page=2&other=x", per_page=4)
    assert [row[0] for row in shown] == ["e", "c"]
    assert (shown.previous, shown.following) == ("?q=&sort=-n&other=x&page=1", "")
    assert [row[0] for row in listed("?page=99", per_page=4)] == ["e", "f"]
    assert [row[0] for row in listed("?page=%00", per_page=4)] == ["b", "A", "c", "d"]


def test_the_second_list_of_a_page_has_parameters_of_its_own() -> None:
    shown = listed("?q=a&sort=name&gold-q=b", prefix="gold-")
    assert [row[0] for row in shown] == ["b"]
    assert shown.other_parameters == [("q", "a"), ("sort", "name")]
    assert shown.address(sort="n") == "?q=a&sort=name&gold-q=b&gold-sort=n"
    assert shown.unfiltered_address == "?q=a&sort=name"


def test_a_list_in_which_nothing_fits_is_not_empty() -> None:
    assert not listed("?q=z").empty
    assert listed("?q=z").shows_tools
    nothing = ListPage(RequestFactory().get("/"), [], search=lambda row: row)
    assert nothing.empty
    assert not nothing.shows_tools


def drawn(template: str, **context: object) -> str:
    return Template("{% load pooling_tables %}" + template).render(
        Context({"page_table": PageTable(cards=False), **context})
    )


def test_a_heading_sorts_once_each_way_and_says_how_it_is_sorted() -> None:
    heading = '{% column shown "name" heading %}'
    assert (
        drawn(heading, shown=listed(), heading="Na<me")
        == '<th scope="col"><a class="sort" href="?sort=name">Na&lt;me</a></th>'
    )
    assert 'aria-sort="ascending"><a class="sort" href="?sort=-name">' in drawn(
        heading, shown=listed("?sort=name")
    )
    assert 'aria-sort="descending"><a class="sort" href="?sort=name">' in drawn(
        heading, shown=listed("?sort=-name")
    )
    assert 'class="number"><a class="sort" href="?sort=-n">' in drawn(
        '{% column shown "n" "N" "number" %}', shown=listed()
    )


def test_words_are_escaped_and_kept_in_the_form() -> None:
    page = drawn(
        '{% include "_list_tools.html" with label="Find" %}', shown=listed("?q=%22%3Ca&sort=n&x=1")
    )
    assert 'value="&quot;&lt;a"' in page
    assert '<input type="hidden" name="sort" value="n">' in page
    assert '<input type="hidden" name="x" value="1">' in page
    assert "0 matches." in page
    assert 'href="?sort=n&amp;x=1"' in page


@pytest.mark.django_db
def test_rows_of_the_database_are_searched_and_sorted_there(django_assert_num_queries) -> None:
    collection = create_collection(name="Small", user=None)
    for tag, group, n_rows in (("b", "x", 5), ("a", "", 7), ("c", "Ax", 5)):
        Run.objects.create(
            collection=collection, tag=tag, group=group, n_rows=n_rows, n_topics=1, max_depth=1
        )

    def tags(address: str) -> str:
        shown = ListPage(
            RequestFactory().get("/" + address),
            Run.objects.all(),
            search=("tag", "group"),
            sort={"tag": "tag", "n": ("n_rows", "tag")},
        )
        return "".join(run.tag for run in shown)

    assert tags("?sort=tag") == "abc"
    assert tags("?sort=n") == "bca"
    assert tags("?sort=-n") == "acb"  # 5 b, 5 c, 7 a
    assert tags("?q=a&sort=tag") == "ac"
    assert tags("?q=a x") == "c"
    with django_assert_num_queries(2):  # how many, and those of the page
        tags("?sort=tag")
