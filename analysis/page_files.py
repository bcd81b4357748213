"""Every picture and table of a manager's page as a file: SVG, PNG, CSV, LaTeX, from what the page
shows.

The middleware puts links behind each picture and table of the pages under PLACES, and answers them
at the page's own address (`?part=table-2&format=csv`), so that rights, filters and chosen measures
are those of the page. Drawing for print is slow and happens on a click only. A table that has its
own downloads, or is there only to decide about each of its rows, says so with `data-no-files`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape, unescape
from html.parser import HTMLParser

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from assay.tabular import Cell, Table, to_csv, to_latex

PLACES = ("/campaigns/", "/collections/", "/analyses/", "/studies/")
TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
NAMES = {"svg": "SVG", "png": "PNG", "csv": "CSV", "tex": "LaTeX"}
PART = re.compile(
    r'<figure class="figure">.*?</figure>|(?:<div class="table-wrap"[^>]*>\s*)?<table\b[^>]*>.*?</table>(?:\s*</div>)?',
    re.DOTALL,
)
HEADING = re.compile(
    r"<(?:h[1-4]|summary|figcaption)\b[^>]*>(.*?)</(?:h[1-4]|summary|figcaption)>|<caption\b[^>]*>(.*?)</caption>",
    re.DOTALL,
)
LABEL = re.compile(r'aria-label="([^"]*)"')
NUMERIC = re.compile(r"[-−]?\d{1,3}(,\d{3})+(\.\d+)?|[-−]?\d+(\.\d+)?")


@dataclass(frozen=True)
class PagePart:
    """key: in addresses, such as `picture-1`. end: where its links go in the page. html: of the
    whole part."""

    key: str
    title: str
    html: str
    end: int

    @property
    def formats(self) -> tuple[str, ...]:
        """A picture that has nothing to show has no files."""
        if self.key.startswith("table"):
            return ("csv", "tex")
        return ("svg", "png", "csv", "tex")


def parts_of(page: str) -> list[PagePart]:
    """The pictures and tables of a page, in its order; those without a row, without a picture, and
    with `data-no-files` are left out."""
    parts: list[PagePart] = []
    numbers = {"picture": 0, "table": 0}
    for match in PART.finditer(page):
        html = match[0]
        kind = "picture" if html.startswith("<figure") else "table"
        numbers[kind] += 1
        if "data-no-files" in html or (
            '<div class="picture"' not in html if kind == "picture" else "<td" not in html
        ):
            continue
        end = match.end() - len("</figure>") if kind == "picture" else match.end()
        if kind == "table" and html.endswith("</div>") and not html.startswith("<div"):
            end = match.start() + html.index("</table>") + len("</table>")
        parts.append(
            PagePart(f"{kind}-{numbers[kind]}", _title_of(html, page[: match.start()]), html, end)
        )
    return parts


def _title_of(html: str, before: str) -> str:
    """Its own caption, the name of its frame, or the last heading above it."""
    own = HEADING.search(html) or LABEL.search(html)
    if own is None:
        above = list(HEADING.finditer(before))
        own = above[-1] if above else None
    words = next((group for group in own.groups() if group), "") if own else ""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", words)).split()) or "table"


def table_of(part: PagePart) -> Table:
    """The rows that the page shows. A column of numbers is one that the page sets as numbers; a
    column without words, of buttons, is left out."""
    reader = TableReader()
    reader.feed(part.html)
    rows = [row for row in reader.rows if row]
    width = max([len(reader.header), *(len(row) for row in rows)])
    header = [*reader.header, *[""] * (width - len(reader.header))]
    filled: list[list[ReadCell]] = [row + [ReadCell("")] * (width - len(row)) for row in rows]
    kept = [k for k in range(width) if header[k] or any(row[k].text for row in filled)]
    digits = [max((row[k].decimals for row in filled), default=0) for k in kept]
    cells: list[list[Cell]] = [[row[k].value for k in kept] for row in filled]
    return Table(part.key, part.title, [header[k] for k in kept], cells, digits=digits)


def file_of(part: PagePart, extension: str) -> bytes:
    """Raises Http404 for a form that the part has not."""
    if extension not in part.formats:
        raise Http404("No such file.")
    if extension in ("svg", "png"):
        from assay.charts.printed import printed  # loads matplotlib

        return printed(part.html)[extension]
    return (to_csv if extension == "csv" else to_latex)(table_of(part)).encode()


@dataclass
class ReadCell:
    """text: as the page shows it. exact: the number behind it, where the page tells it. number:
    whether the page sets it as one."""

    text: str
    exact: str = ""
    number: bool = False

    @property
    def value(self) -> Cell:
        if self.text in ("–", "undefined"):
            return None
        if not self.number or not NUMERIC.fullmatch(self.text):
            return self.text
        plain = (
            self.exact
            if NUMERIC.fullmatch(self.exact)
            else self.text.replace(",", "").replace("−", "-")
        )
        return float(plain) if "." in plain else int(plain)

    @property
    def decimals(self) -> int:
        return (
            len(self.text.partition(".")[2]) if self.number and NUMERIC.fullmatch(self.text) else 0
        )


@dataclass
class TableReader(HTMLParser):
    """Header and rows of the first table that is fed; words of controls and those for screen
    readers alone are not read."""

    header: list[str] = field(default_factory=list)
    rows: list[list[ReadCell]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.cell: ReadCell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in VOID:
            return
        hidden = tag in SILENT or "visually-hidden" in (given.get("class") or "")
        self.inside.append(f"!{tag}" if hidden else tag)
        if tag == "tr" and "tbody" in self.inside:
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ReadCell(
                "", given.get("data-value") or "", "number" in (given.get("class") or "").split()
            )

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.cell.text = " ".join(self.cell.text.split())
            if "thead" in self.inside:
                self.header.append(self.cell.text)
            elif self.rows:
                self.rows[-1].append(self.cell)
            self.cell = None
        names = [name.lstrip("!") for name in self.inside]
        if tag in names:
            del self.inside[len(names) - 1 - names[::-1].index(tag) :]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content, of a drawing in a cell."""

    def handle_data(self, data: str) -> None:
        if self.cell is not None and not any(name.startswith("!") for name in self.inside):
            self.cell.text += data


VOID = frozenset(
    {"br", "img", "input", "hr", "wbr", "col", "rect", "line", "circle", "path", "use"}
)
SILENT = frozenset({"button", "select", "svg", "title", "script", "template", "form", "dialog"})


class PageFiles:
    """Middleware: see the module."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not _is_page(request, response):
            return response
        assert isinstance(response, HttpResponse)
        page = response.content.decode()
        parts = parts_of(page)
        if "part" in request.GET:
            return _attached(request, parts)
        for part in reversed(parts):
            page = page[: part.end] + _links(request, part) + page[part.end :]
        response.content = page.encode()
        return response


def _is_page(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        request.method == "GET"
        and request.path.startswith(PLACES)
        and response.status_code == 200
        and not response.streaming
        and response.headers.get("Content-Type", "").startswith("text/html")
    )


def _attached(request: HttpRequest, parts: list[PagePart]) -> HttpResponse:
    key, extension = request.GET["part"], request.GET.get("format", "")
    part = next((one for one in parts if one.key == key and extension in one.formats), None)
    if part is None:
        return HttpResponse(
            "This page has no such picture or table now. Load it again.\n",
            status=404,
            content_type="text/plain; charset=utf-8",
        )
    response = HttpResponse(file_of(part, extension), content_type=TYPES[extension])
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{_file_name(part.title)}.{extension}"'
    )
    return response


def _file_name(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "table"


def _links(request: HttpRequest, part: PagePart) -> str:
    links = []
    for extension in part.formats:
        query = request.GET.copy()
        query["part"], query["format"] = part.key, extension
        address, words = (
            escape(f"{request.path}?{query.urlencode()}"),
            escape(f"{NAMES[extension]}: {part.title}"),
        )
        links.append(f'<a href="{address}" aria-label="{words}" download>{NAMES[extension]}</a>')
    return f'<p class="part-files">{" ".join(links)}</p>'
