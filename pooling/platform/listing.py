"""Lists with search, filters, sorting and pages, controlled by GET parameters, so that they work
without JavaScript and as links."""

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
"""Lists with fewer rows show no search, because all rows are visible."""
Rows = Any
"""A QuerySet, or any sequence."""


@dataclass(frozen=True)
class RowFilter:
    """A selection above the list. keep(rows, value) returns the remaining rows. options: (value,
    label), without the option for all rows."""

    name: str
    label: StrOrPromise
    options: Sequence[tuple[str, StrOrPromise]]
    keep: Callable[[Rows, str], Rows]


@dataclass(frozen=True)
class ActiveFilter:
    """A RowFilter with the name of its parameter and the selected value, which is empty for all
    rows."""

    parameter: str
    label: StrOrPromise
    options: Sequence[tuple[str, StrOrPromise]]
    chosen: str


class ListPage:
    """The rows of a list that the address selects: `q` (search words), `sort` (a column, with - for
    descending), `page`, and one parameter per filter.

    rows: a QuerySet, or a sequence. search: for a QuerySet the fields that may contain the words
    (with = in front, equal a word), for a sequence a function row -> text. sort: column -> field,
    expression or tuple of them for a QuerySet, or a function row -> value for a sequence (None
    sorts last). default: initial value of `sort`, empty for the order of the rows. prefix: start of
    the parameters' names, for the second list of a page. part: ID of the page element that contains
    the list, to which its links lead. wide: for a QuerySet with long texts or many joins, find the
    order by row IDs alone, with one more query.

    Iterating yields the rows of the page. `fitting` has those of all pages in order. Invalid
    parameters are ignored. Templates: `_list_tools.html` (search and filters), `{% column shown
    "key" "Heading" %}` (a sortable heading), `_list_foot.html` (pages).
    """

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
        self.words = " ".join(self._get_parameter("q").split()) if self.searchable else ""
        self.choices = [self._describe_choice(choice) for choice in choices]
        wanted = self._get_parameter("sort")
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
        self.page: Page[Any] = Paginator(turned, per_page).get_page(self._get_parameter("page"))

    def _get_parameter(self, name: str) -> str:
        return self._asked.get(self.prefix + name, "").strip()

    def _describe_choice(self, choice: RowFilter) -> ActiveFilter:
        value = self._get_parameter(choice.name)
        chosen = value if value in {option for option, _ in choice.options} else ""
        return ActiveFilter(self.prefix + choice.name, choice.label, choice.options, chosen)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.page)

    def __len__(self) -> int:
        return len(self.page)

    def show(self, rows: Sequence[Any]) -> None:
        """Replace each row of the page by its display form."""
        self.page.object_list = rows

    @property
    def is_requested(self) -> bool:
        """Return whether the address contains parameters of this list."""
        own = [*self.parameters.values(), *(choice.parameter for choice in self.choices)]
        return any(name in self._asked for name in own)

    @property
    def count(self) -> int:
        """Return the number of matching rows on all pages."""
        return self.page.paginator.count

    @property
    def is_filtered(self) -> bool:
        """Return whether search words or a filter may exclude rows."""
        return bool(self.words) or any(choice.chosen for choice in self.choices)

    @property
    def empty(self) -> bool:
        """Return whether the list has no rows at all. A list without matching rows is not empty."""
        return not self.count and not self.is_filtered

    @property
    def shows_tools(self) -> bool:
        return (self.searchable or bool(self.choices)) and (
            self.is_filtered or self.count > MIN_ROWS_FOR_TOOLS
        )

    @property
    def parameters(self) -> dict[str, str]:
        """Return the names of this list's search and sort parameters."""
        return {name: self.prefix + name for name in ("q", "sort", "page")}

    @property
    def other_parameters(self) -> list[tuple[str, str]]:
        """Return the address's other parameters as (parameter, value), which the search form must
        preserve."""
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
        """Return the query string ("?q=a&sort=-n#part") with changes to this list's parameters.
        None removes one."""
        asked = self._asked.copy()
        asked.pop(self.prefix + "page", None)
        for name, value in changes.items():
            asked.pop(self.prefix + name, None)
            if value is not None:
                asked[self.prefix + name] = str(value)
        return "?" + asked.urlencode() + (f"#{self.part}" if self.part else "")

    @property
    def current_address(self) -> str:
        """Return the query string of the current address, for a form that returns to the same page
        of the list."""
        return "?" + self._asked.urlencode()

    @property
    def unfiltered_address(self) -> str:
        """Return the address of the unfiltered list."""
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
    """A QuerySet whose pages are selected by row ID, because a database sorts whole rows, including
    their texts."""

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
    return rows.order_by(*order, "pk")  # sort by ID last, so that no row appears on two pages
