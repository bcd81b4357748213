"""Paging, ordering and filtering of lists in the API.

A view declares `orders`, the names that `ordering` accepts, and `filters`, its other parameters.
Unknown parameters are refused, because users would not notice that a list ignores one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

from django.db.models import F, OrderBy, Q
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

MAX_NUMBER = 2**31 - 1
PAGING_PARAMETERS = ("limit", "offset")


@dataclass(frozen=True)
class ListFilter:
    """One query parameter of a list.

    values: accepted words, each with its condition. Without values, any text is accepted, and the
    field `lookup` must equal it.
    """

    name: str
    lookup: str = ""
    values: tuple[tuple[str, Q], ...] = ()

    def get_condition(self, text: str) -> Q:
        """Return the query condition for the parameter's value. Raises ValidationError for an
        unknown one."""
        if not self.values:
            return Q(**{self.lookup or self.name: text})
        for word, choice in self.values:
            if word == text:
                return choice
        raise ValidationError(
            {self.name: [f"Must be one of {', '.join(word for word, _ in self.values)}."]}
        )

    def schema(self) -> dict[str, Any]:
        return {
            "type": "string",
            **({"enum": [word for word, _ in self.values]} if self.values else {}),
        }


def choice_filter(name: str, values: Iterable[str]) -> ListFilter:
    """Return a filter on a field with few values."""
    return ListFilter(name, values=tuple((str(value), Q(**{name: value})) for value in values))


def boolean_filter(name: str, choice: Q) -> ListFilter:
    """Return a filter whose value `true` selects the choice and `false` the rest."""
    return ListFilter(name, values=(("true", choice), ("false", ~choice)))


def filter_rows(rows: Any, request: Request, view: Any) -> Any:
    """Filter and order the rows by the request's parameters. Raises ValidationError for unknown
    ones."""
    orders: tuple[str, ...] = getattr(view, "orders", ())
    filters: dict[str, ListFilter] = {one.name: one for one in getattr(view, "filters", ())}
    known = [*PAGING_PARAMETERS, *(["ordering"] if orders else []), *filters]
    asked = request.query_params
    if unknown := sorted(set(asked) - set(known)):
        raise ValidationError(
            {
                name: [f"Unknown parameter. Known parameters: {', '.join(known)}."]
                for name in unknown
            }
        )
    for name in sorted(set(asked) & set(filters)):
        rows = rows.filter(filters[name].get_condition(asked[name]))
    if orders and "ordering" in asked:
        rows = rows.order_by(*parse_ordering(asked["ordering"], orders), "pk")
    return rows


def parse_ordering(text: str, orders: tuple[str, ...]) -> list[OrderBy]:
    """Return the arguments of order_by for text such as `a,-b`. Rows without a value come last in
    both directions on every database."""
    names = [name.strip() for name in text.split(",")]
    if wrong := [name for name in names if name.removeprefix("-") not in orders]:
        raise ValidationError(
            {
                "ordering": [
                    f"{wrong[0]!r} must be one of {', '.join(orders)}, with - before it for descending order."
                ]
            }
        )
    fields = [F(name.removeprefix("-")) for name in names]
    return [
        field.desc(nulls_last=True) if name.startswith("-") else field.asc(nulls_last=True)
        for name, field in zip(names, fields, strict=True)
    ]


@overload
def read_integer(request: Request, name: str, *, least: int, most: int, default: int) -> int: ...
@overload
def read_integer(
    request: Request, name: str, *, least: int, most: int, default: None
) -> int | None: ...
def read_integer(
    request: Request, name: str, *, least: int, most: int, default: int | None
) -> int | None:
    """Return an integer parameter. Raises ValidationError if it is not an integer within the
    bounds."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    raise ValidationError({name: [f"Must be a whole number from {least} to {most}."]})


class LimitOffsetPages(LimitOffsetPagination):
    """Pages as {count, next, previous, results}. Invalid limits and offsets are refused instead of
    replaced."""

    default_limit = 100

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        page: list[Any] | None = super().paginate_queryset(
            filter_rows(queryset, request, view), request, view
        )
        return page

    max_limit = 1000

    def get_limit(self, request: Request) -> int:
        return read_integer(
            request, "limit", least=1, most=self.max_limit, default=self.default_limit
        )

    def get_offset(self, request: Request) -> int:
        return read_integer(request, "offset", least=0, most=MAX_NUMBER, default=0)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": "number of results on all pages"},
                "next": {**link, "description": "null on the last page"},
                "previous": {**link, "description": "null on the first page"},
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        limit = {
            "type": "integer",
            "minimum": 1,
            "maximum": self.max_limit,
            "default": self.default_limit,
        }
        offset = {"type": "integer", "minimum": 0, "maximum": MAX_NUMBER, "default": 0}
        parameters: list[tuple[str, str, dict[str, Any]]] = [
            ("limit", "results per page", limit),
            ("offset", "number of results to skip", offset),
        ]
        orders = getattr(view, "orders", ())
        if orders:
            either = "|".join(orders)
            pattern = {"type": "string", "pattern": f"^-?({either})(,-?({either}))*$"}
            parameters.append(
                (
                    "ordering",
                    f"{', '.join(orders)}; separated by commas, with - before a name for descending order",
                    pattern,
                )
            )
        parameters += [
            (one.name, "only results with this value", one.schema())
            for one in getattr(view, "filters", ())
        ]
        return [
            {"name": name, "in": "query", "required": False, "description": about, "schema": schema}
            for name, about, schema in parameters
        ]
