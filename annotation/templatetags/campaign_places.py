"""Template tags for the navigation of a campaign: its tabs, and the pages of each."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.demo.example import find_example
from annotation.models import Campaign
from annotation.selectors.llm_judges import has_llm_judges
from pooling.templatetags.places import NavSections, Place, PlacePage, show_places

register = template.Library()

GOLD = PlacePage("gold", "campaign-gold", _("Gold questions"))
LLM_JUDGES = PlacePage("llm_judges", "campaign-llm-judges", _("LLM judges"))
PLACES = (
    Place(_("Overview"), (PlacePage("progress", "campaign", _("Overview")),)),
    Place(
        _("People"),
        (
            PlacePage("people", "campaign-people", _("Annotators")),
            PlacePage("invitations", "campaign-invite", _("Invitations")),
            PlacePage("questions", "campaign-questions", _("Questions")),
            PlacePage("feedback", "campaign-feedback", _("Feedback")),
        ),
    ),
    Place(_("Judgements"), (PlacePage("judgements", "campaign-judgements", _("Judgements")),)),
    Place(
        _("Quality"),
        (
            PlacePage("agreement", "campaign-agreement", _("Agreement")),
            GOLD,
        ),
    ),
    Place(_("Results"), (PlacePage("systems", "campaign-systems", _("Results")),)),
    Place(_("Export"), (PlacePage("export", "campaign-export", _("Export")),)),
)
GENERAL = PlacePage("settings", "campaign-settings", _("General"))
PUBLICATION = PlacePage("settings-publication", "campaign-step", _("Publication"), "publication")
WEBHOOKS = PlacePage("webhooks", "campaign-webhooks", _("Webhooks"))
AUDIT = PlacePage("audit", "campaign-audit", _("Audit log"))
SETTINGS = Place(
    _("Settings"),
    (
        GENERAL,
        PlacePage("settings-scale", "campaign-step", _("Scale"), "scale"),
        PlacePage("settings-guidelines", "campaign-step", _("Guidelines"), "guidelines"),
        PlacePage("settings-pool", "campaign-step", _("Pool"), "pool"),
        PUBLICATION,
        LLM_JUDGES,
        WEBHOOKS,
        AUDIT,
        PlacePage("settings-open", "campaign-step", _("Close, duplicate, delete"), "open"),
    ),
)
DRAFT_SETTINGS = Place(_("Settings"), (GENERAL, PUBLICATION, LLM_JUDGES, WEBHOOKS, AUDIT))
DRAFT_PLACES = (PLACES[0], Place(_("Gold questions"), (GOLD,)))
PREFERENCE_PLACES = PLACES[:2]
NOT_FOR_PREFERENCES = ("settings-scale", "settings-publication", "llm_judges", "gold")
EMPTY_IN_EXAMPLE = {"campaign-gold", "campaign-feedback"}


@register.simple_tag(takes_context=True)
def campaign_places(context: dict[str, Any]) -> NavSections:
    """Return the navigation tabs of the page's campaign. A draft has no results yet, and its
    settings are the steps to its opening. LLM judges need an endpoint or labels from a file."""
    campaign, tab = context["campaign"], context.get("tab", "")
    gear = DRAFT_SETTINGS if campaign.state == Campaign.State.DRAFT else SETTINGS
    if tab != LLM_JUDGES.tab and not has_llm_judges(campaign):
        gear = Place(gear.name, tuple(page for page in gear.pages if page != LLM_JUDGES))
    if campaign.is_preferences:
        offered = [page for page in gear.pages if page.tab not in NOT_FOR_PREFERENCES]
        shown = PREFERENCE_PLACES[:1] if campaign.state == "draft" else PREFERENCE_PLACES
        return show_places(shown, Place(gear.name, tuple(offered)), slug=campaign.slug, tab=tab)
    if campaign.state != Campaign.State.DRAFT:
        return show_places(PLACES, gear, slug=campaign.slug, tab=tab)
    places = [place for place in DRAFT_PLACES if campaign.pool_id or GOLD not in place.pages]
    return show_places(places, gear, slug=campaign.slug, tab=tab)


@register.simple_tag(takes_context=True)
def example_page(context: dict[str, Any]) -> str:
    """Return the address of the same page in the demo's example, or an empty string.

    There is none if the campaign is a draft or has judgements, if the page would be empty in the example too, and
    for users who do not manage the example.
    """
    campaign, request = context["campaign"], context["request"]
    match = request.resolver_match
    filled = {page.address for place in PLACES for page in place.pages} - EMPTY_IN_EXAMPLE
    if (
        match.view_name not in filled
        or campaign.state == Campaign.State.DRAFT
        or campaign.memberships.filter(n_judged__gt=0).exists()
    ):
        return ""
    example = find_example(request.user)
    if example is None or example == campaign:
        return ""
    return reverse(match.view_name, kwargs=match.kwargs | {"slug": example.slug})
