"""Navigation of a campaign or collection: the tabs of its pages, and the pages within a tab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from pooling.models import Job
from pooling.platform.jobs import figure_kinds

register = template.Library()

Text = str | Promise


class PlacePage(NamedTuple):
    """A page within a tab of the navigation. tab: its name in the view. address: name of its URL.
    key: further argument of the URL, or empty."""

    tab: str
    address: str
    name: Text
    key: str = ""


class Place(NamedTuple):
    """A tab of the navigation with its pages. The first page opens with the tab."""

    name: Text
    pages: tuple[PlacePage, ...]


class NavPage(NamedTuple):
    name: Text
    url: str
    is_current: bool
    tab: str


class NavSection(NamedTuple):
    name: Text
    url: str
    is_current: bool
    pages: list[NavPage]
    tabs: frozenset[str]


class NavSections(NamedTuple):
    """The navigation of a page. places: tabs without the settings. pages: pages of the current tab,
    empty if it has only one."""

    places: list[NavSection]
    settings: NavSection | None
    pages: list[NavPage]


COLLECTION_PLACES = (
    Place(_("Overview"), (PlacePage("overview", "collection", _("Overview")),)),
    Place(
        _("Topics"),
        (
            PlacePage("topics", "collection-topics", _("Topics")),
            PlacePage("check", "collection-check", _("Topic check")),
        ),
    ),
    Place(_("Documents"), (PlacePage("documents", "collection-documents", _("Documents")),)),
    Place(
        _("Runs and qrels"),
        (
            PlacePage("runs", "collection-runs", _("Runs")),
            PlacePage("qrels", "collection-qrels", _("Qrels")),
            PlacePage("systems", "collection-analyses", _("Results")),
        ),
    ),
    Place(_("Pools"), (PlacePage("pools", "collection-pools", _("Pools")),)),
)
COLLECTION_SETTINGS = Place(_("Settings"), (PlacePage("edit", "collection-edit", _("Settings")),))


def show_places(
    places: Sequence[Place], settings: Place | None, *, slug: str, tab: str
) -> NavSections:
    """Return the navigation tabs with their addresses. Pages of apps that are not installed are
    left out."""
    shown = [place for each in places if (place := _show_place(each, slug, tab))]
    gear = _show_place(settings, slug, tab) if settings else None
    current = next((place for place in (*shown, gear) if place and place.is_current), None)
    pages = current.pages if current and len(current.pages) > 1 else []
    return NavSections(shown, gear, pages)


def _show_place(place: Place, slug: str, tab: str) -> NavSection | None:
    pages = []
    for page in place.pages:
        try:
            url = reverse(page.address, args=[slug, page.key] if page.key else [slug])
        except NoReverseMatch:
            continue
        pages.append(NavPage(page.name, url, page.tab == tab, page.tab))
    if not pages:
        return None
    return NavSection(
        place.name,
        pages[0].url,
        any(page.is_current for page in pages),
        pages,
        frozenset(page.tab for page in pages),
    )


@register.simple_tag(takes_context=True)
def collection_places(context: dict[str, Any]) -> NavSections:
    """Return the navigation tabs of the page's collection."""
    return show_places(
        COLLECTION_PLACES,
        COLLECTION_SETTINGS,
        slug=context["collection"].slug,
        tab=context.get("tab", ""),
    )


@register.simple_tag(takes_context=True)
def count_unfinished_jobs(context: dict[str, Any]) -> int:
    """Return the number of jobs that the user has requested and that wait or run."""
    return (
        Job.objects.filter(created_by=context["user"], state__in=Job.ACTIVE)
        .exclude(kind__in=figure_kinds())
        .count()
    )
