"""Addresses of the pages about annotators and their agreement."""

from django.urls import path

from analysis.views import agreement, gold, labels, people

urlpatterns = [
    path("campaigns/<slug:slug>/people/", people.index, name="campaign-people"),
    path("campaigns/<slug:slug>/people/<str:pseudonym>/", people.person, name="campaign-person"),
    path("campaigns/<slug:slug>/people/<str:pseudonym>/act", people.act, name="campaign-person-act"),
    path("campaigns/<slug:slug>/people/<str:pseudonym>/exclude/<int:job_id>", people.exclude, name="campaign-exclude"),
    path("campaigns/<slug:slug>/agreement/", agreement.page, name="campaign-agreement"),
    path("campaigns/<slug:slug>/agreement/refresh", agreement.refresh, name="campaign-agreement-refresh"),
    path("campaigns/<slug:slug>/pairs/<int:pair_id>/", agreement.pair, name="campaign-pair"),
    path("campaigns/<slug:slug>/gold/", gold.page, name="campaign-gold"),
    path("campaigns/<slug:slug>/labels/", labels.page, name="campaign-labels"),
]
