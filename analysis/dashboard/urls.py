"""Addresses of a campaign's live pages: progress, annotators and their agreement, labels, gold
questions."""

from django.urls import path

from analysis.dashboard.views import (
    adjudication,
    agreement,
    gold,
    home,
    labels,
    live_strip,
    overview,
    people,
    people_actions,
    progress,
    trail,
)

urlpatterns = [
    path("", home.page, name="home"),
    path("campaigns/<slug:slug>/", overview.page, name="campaign"),
    path("campaigns/<slug:slug>/live", live_strip.live_figures, name="campaign-live"),
    path("campaigns/<slug:slug>/planning", progress.planning_page, name="campaign-planning"),
    path(
        "campaigns/<slug:slug>/stopping", progress.request_stopping_check, name="campaign-stopping"
    ),
    path("campaigns/<slug:slug>/feedback/", trail.feedback, name="campaign-feedback"),
    path("campaigns/<slug:slug>/audit/", trail.audit, name="campaign-audit"),
    path("campaigns/<slug:slug>/people/", people.index, name="campaign-people"),
    path(
        "campaigns/<slug:slug>/people/chosen",
        people_actions.act_on_chosen,
        name="campaign-people-chosen",
    ),
    path(
        "campaigns/<slug:slug>/people/exclude/<int:job_id>",
        people_actions.exclude,
        name="campaign-people-exclude",
    ),
    path("campaigns/<slug:slug>/people/<str:pseudonym>/", people.person, name="campaign-person"),
    path(
        "campaigns/<slug:slug>/people/<str:pseudonym>/act",
        people_actions.act_on_annotator,
        name="campaign-person-act",
    ),
    path(
        "campaigns/<slug:slug>/people/<str:pseudonym>/exclude/<int:job_id>",
        people_actions.exclude,
        name="campaign-exclude",
    ),
    path("campaigns/<slug:slug>/agreement/", agreement.page, name="campaign-agreement"),
    path(
        "campaigns/<slug:slug>/agreement/refresh",
        agreement.refresh,
        name="campaign-agreement-refresh",
    ),
    path("campaigns/<slug:slug>/pairs/<int:pair_id>/", adjudication.pair, name="campaign-pair"),
    path("campaigns/<slug:slug>/gold/", gold.page, name="campaign-gold"),
    path("campaigns/<slug:slug>/judgements/", labels.page, name="campaign-judgements"),
    path(
        "campaigns/<slug:slug>/judgements/additional",
        labels.ask,
        name="campaign-additional-judgements",
    ),
]
