"""Addresses of a campaign's results, for viewers and for visitors with a results link."""

from django.urls import path

from analysis.results import views

urlpatterns = [
    path("campaigns/<slug:slug>/battles/", views.battles, name="campaign-battles"),
    path("campaigns/<slug:slug>/battles.tsv", views.battles_file, name="campaign-battles-file"),
    path("campaigns/<slug:slug>/results/", views.campaign_results, name="campaign-results"),
    path(
        "campaigns/<slug:slug>/results/<str:part>/",
        views.campaign_results,
        name="campaign-results-part",
    ),
    path(
        "campaigns/<slug:slug>/results/reports/<int:pk>/",
        views.campaign_report,
        name="campaign-results-report",
    ),
    path("results/<str:token>/", views.link_results, name="results-link"),
    path("results/<str:token>/<str:part>/", views.link_results, name="results-link-part"),
    path("results/<str:token>/reports/<int:pk>/", views.link_report, name="results-link-report"),
]
