"""Offer tables and charts of managers' pages as files: CSV and LaTeX, and SVG and PNG for charts.

Pages that offer files call `render_page` instead of Django's `render`. The tags of `pooling_tables`
pass what they show, with values in full precision, and receive a menu of links. A link leads to
the page's own address (`?part=table-2&format=csv`), so permissions, filters and choices are those
of the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import shortcuts
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext as _

from assay.charts.svg import Picture
from assay.tabular import Table, to_csv, to_latex

CONTENT_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
TYPE_LABELS = {"svg": "SVG", "png": "PNG", "csv": "CSV", "tex": "LaTeX"}


DOTS_ICON = mark_safe(
    '<svg class="icon" viewBox="0 0 20 20" fill="currentColor" aria-hidden="true">'
    '<circle cx="4.5" cy="10" r="1.5"/><circle cx="10" cy="10" r="1.5"/>'
    '<circle cx="15.5" cy="10" r="1.5"/></svg>'
)


class PageFiles:
    """The tables and charts that a page offers as files, by their keys in addresses."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.parts: dict[str, Table | Picture] = {}

    def offer(self, part: Table | Picture) -> SafeString:
        """Return the download menu of a table or chart, or nothing if it has no rows."""
        if not part.rows:
            return SafeString()
        kind = "table" if isinstance(part, Table) else "picture"
        key = f"{kind}-{1 + sum(name.startswith(kind) for name in self.parts)}"
        self.parts[key] = part
        links = {}
        for extension in _part_formats(part):
            query = self.request.GET.copy()
            query["part"], query["format"] = key, extension
            links[TYPE_LABELS[extension]] = f"{self.request.path}?{query.urlencode()}"
        return download_menu(_part_title(part), links.items())

    def answer(self, key: str, extension: str) -> HttpResponse:
        part = self.parts.get(key)
        if part is None or extension not in _part_formats(part):
            return HttpResponse(
                "This page has no such chart or table now. Load it again.\n",
                status=404,
                content_type="text/plain; charset=utf-8",
            )
        name = slugify(_part_title(part))[:60].strip("-") or "table"
        return HttpResponse(
            _render_part(part, key, extension),
            content_type=CONTENT_TYPES[extension],
            headers={"Content-Disposition": f'attachment; filename="{name}.{extension}"'},
        )


def download_menu(title: str, links: Iterable[tuple[str, str]]) -> SafeString:
    """Return the menu of a table's or chart's files. links: (format, address)."""
    anchors = format_html_join(
        "",
        '<a href="{}" aria-label="{}" download>{}</a>',
        ((address, f"{name}: {title}", name) for name, address in links),
    )
    return format_html(
        '<details class="menu part-files"><summary class="button quiet small" aria-label="{}">'
        '{}</summary><div class="menu-list">{}</div></details>',
        _("Download %(title)s") % {"title": title},
        DOTS_ICON,
        anchors,
    )


def render_page(
    request: HttpRequest, template: str, context: dict[str, Any] | None = None, **options: Any
) -> HttpResponse:
    """Render a page whose tables and charts can be downloaded, or return one of them as a file."""
    if request.method != "GET":
        return shortcuts.render(request, template, context, **options)
    files = PageFiles(request)
    page = shortcuts.render(request, template, {**(context or {}), "page_files": files}, **options)
    if "part" not in request.GET or page.status_code != 200:
        return page
    return files.answer(request.GET["part"], request.GET.get("format", ""))


def _part_title(part: Table | Picture) -> str:
    return part.title if isinstance(part, Table) else part.caption


def _part_formats(part: Table | Picture) -> tuple[str, ...]:
    return ("csv", "tex") if isinstance(part, Table) else ("svg", "png", "csv", "tex")


def _render_part(part: Table | Picture, key: str, extension: str) -> bytes:
    if isinstance(part, Picture):
        if extension in ("svg", "png"):
            from assay.charts.print_files import (
                render_files,
            )  # imported here because it loads matplotlib

            return render_files(part)[extension]
        part = part.table(key)
    return (to_csv if extension == "csv" else to_latex)(part).encode()
