"""Lists of pages that one searches, filters, sorts and turns over: by GET parameters, so also
without script and as a link."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PER_PAGE = 50
MIN_ROWS_FOR_TOOLS = 5
"""A list of so few rows shows no search: one sees it whole."""
Rows = Any
"""A QuerySet, or a sequence of anything."""


@dataclass(frozen=True)
class RowFilter:
    """A select above the list. keep(rows, value) -> the rows that stay; options are (value, words),
    without the one for all rows."""

    name: str
    label: StrOrPromise
    options: Sequence[tuple[str, StrOrPromise]]
    keep: Callable[[Rows, str], Rows]


@dataclass(frozen=True)
class ActiveFilter:
    """A ListChoice with its parameter's name in the address and the value chosen, empty for all
    rows."""

    parameter: str
    label: StrOrPromise
    options: Sequence[tuple[str, StrOrPromise]]
    chosen: str


class ListPage:
    """The rows of a list that the address asks for: `q` (words), `sort` (a column, with - from the
    top), `page`, and a parameter a choice.

    rows: a QuerySet, or a sequence (that is in memory anyway). search: of a QuerySet the fields
    that may contain all the words (with = before it, that may be a word), of a sequence a function
    row -> text. sort: column -> of a QuerySet a field or expression or several in a tuple, of a
    sequence a function row -> value (None stands last). default: the column that it is sorted by at
    first, as `sort` says it; empty keeps the order of the rows. prefix: begins the parameters'
    names, for the second list of a page. part: the id of the part of the page in which the list
    stands, to which its links lead. wide: of a QuerySet with long texts or many joins; the order is
    found by row numbers alone, which takes a statement more.

    Iterates over the rows of the page; `fitting` are those of all pages, in order. A parameter that
    means nothing is as if it was not there. Templates: `_list_tools.html` (search and choices), `{%
    column shown "key" "Heading" %}` (a heading that sorts), `_list_foot.html` (pages)."""

    def __init__(
        self,
        request: HttpRequest,
        rows: Rows,
        *,
        search: Sequence[str] | Callable[[Any], str] = (),
        sort: Mapping[str, Any] | None = None,
        choices: Sequence[RowFilter] = (),
        default: str = "",
        per_page: int = PER_PAGE,
        prefix: str = "",
        part: str = "",
        wide: bool = False,
    ) -> None:
        self._asked, self.prefix, self.part = request.GET, prefix, part
        self.searchable, self.columns = bool(search), sort or {}
        self.words = " ".join(self._parameter("q").split()) if self.searchable else ""
        self.choices = [self._shown(choice) for choice in choices]
        wanted = self._parameter("sort")
        self.sorted_by = wanted if wanted.removeprefix("-") in self.columns else default
        for shown, choice in zip(self.choices, choices, strict=True):
            rows = choice.keep(rows, shown.chosen) if shown.chosen else rows
        for word in self.words.split():
            rows = _search_word(rows, word, search)
        if self.sorted_by:
            rows = _sort_rows(
                rows,
                self.columns[self.sorted_by.removeprefix("-")],
                down=self.sorted_by.startswith("-"),
            )
        self.fitting = rows
        turned: Any = _WideRows(rows) if wide else rows
        self.page: Page[Any] = Paginator(turned, per_page).get_page(self._parameter("page"))

    def _parameter(self, name: str) -> str:
        return self._asked.get(self.prefix + name, "").strip()

    def _shown(self, choice: RowFilter) -> ActiveFilter:
        value = self._parameter(choice.name)
        chosen = value if value in {option for option, _ in choice.options} else ""
        return ActiveFilter(self.prefix + choice.name, choice.label, choice.options, chosen)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.page)

    def __len__(self) -> int:
        return len(self.page)

    def show(self, rows: Sequence[Any]) -> None:
        """The rows of the page in the form in which they are to be shown, one for one."""
        self.page.object_list = rows

    @property
    def asked(self) -> bool:
        """The address says something of this list."""
        own = [*self.parameters.values(), *(choice.parameter for choice in self.choices)]
        return any(name in self._asked for name in own)

    @property
    def count(self) -> int:
        """How many rows fit, on all pages."""
        return self.page.paginator.count

    @property
    def is_filtered(self) -> bool:
        """Rows may be left out, for words or a choice ask for it."""
        return bool(self.words) or any(choice.chosen for choice in self.choices)

    @property
    def empty(self) -> bool:
        """The list has no row at all; one in which nothing fits is not empty."""
        return not self.count and not self.is_filtered

    @property
    def tools(self) -> bool:
        return (self.searchable or bool(self.choices)) and (
            self.is_filtered or self.count > MIN_ROWS_FOR_TOOLS
        )

    @property
    def parameters(self) -> dict[str, str]:
        """Names of this list's own parameters: words and order."""
        return {name: self.prefix + name for name in ("q", "sort", "page")}

    @property
    def kept(self) -> list[tuple[str, str]]:
        """(parameter, value) of everything else in the address, which the form of the search takes
        along."""
        own = {self.prefix + name for name in ("q", "page")} | {
            choice.parameter for choice in self.choices
        }
        return [
            (name, value)
            for name, values in self._asked.lists()
            if name not in own
            for value in values
        ]

    def address(self, **changes: object) -> str:
        """The query of the address ("?q=a&sort=-n#part") with changes to this list's parameters;
        None takes one away."""
        asked = self._asked.copy()
        asked.pop(self.prefix + "page", None)
        for name, value in changes.items():
            asked.pop(self.prefix + name, None)
            if value is not None:
                asked[self.prefix + name] = str(value)
        return "?" + asked.urlencode() + (f"#{self.part}" if self.part else "")

    @property
    def here(self) -> str:
        """The query of the address as it was asked for, for a form that comes back to the same page
        of the list."""
        return "?" + self._asked.urlencode()

    @property
    def whole(self) -> str:
        """The address of the list with nothing left out."""
        return self.address(
            **{"q": None}
            | {choice.parameter.removeprefix(self.prefix): None for choice in self.choices}
        )

    @property
    def previous(self) -> str:
        return (
            self.address(page=self.page.previous_page_number()) if self.page.has_previous() else ""
        )

    @property
    def following(self) -> str:
        return self.address(page=self.page.next_page_number()) if self.page.has_next() else ""


class _WideRows:
    """A QuerySet whose pages are looked up by row number: databases carry whole rows, with their
    texts, through a sort."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows = rows

    def count(self) -> int:
        return self._rows.count()

    def __getitem__(self, page: slice) -> list[Any]:
        numbers = list(self._rows.values_list("pk", flat=True)[page])
        row_of_number = self._rows.order_by().in_bulk(numbers)
        return [row_of_number[number] for number in numbers if number in row_of_number]


def _search_word(rows: Rows, word: str, search: Sequence[str] | Callable[[Any], str]) -> Rows:
    if callable(search):
        return [row for row in rows if word.casefold() in search(row).casefold()]
    fields = (
        f"{field[1:]}__iexact" if field.startswith("=") else f"{field}__icontains"
        for field in search
    )
    return rows.filter(reduce(or_, (Q(**{field: word}) for field in fields)))


def _sort_rows(rows: Rows, column: Any, *, down: bool) -> Rows:
    if not isinstance(rows, QuerySet):
        values = [(column(row), row) for row in rows]
        known = sorted(
            (pair for pair in values if pair[0] is not None), key=lambda pair: pair[0], reverse=down
        )
        return [row for _, row in known] + [row for value, row in values if value is None]
    fields = column if isinstance(column, tuple) else (column,)
    by = [F(field) if isinstance(field, str) else field for field in fields]
    order = [field.desc(nulls_last=True) if down else field.asc(nulls_last=True) for field in by]
    return rows.order_by(*order, "pk")  # the row's number last, so that no row stands on two pages
