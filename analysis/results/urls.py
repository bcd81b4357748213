"""Addresses of the results of a campaign: for viewers, and for who has a link."""

from django.urls import path

from analysis.results import views

urlpatterns = [
    path("campaigns/<slug:slug>/results/", views.of_campaign, name="campaign-results"),
    path(
        "campaigns/<slug:slug>/results/<str:part>/", views.of_campaign, name="campaign-results-part"
    ),
    path(
        "campaigns/<slug:slug>/results/reports/<int:pk>/",
        views.report_of_campaign,
        name="campaign-results-report",
    ),
    path("results/<str:token>/", views.of_link, name="results-link"),
    path("results/<str:token>/<str:part>/", views.of_link, name="results-link-part"),
    path("results/<str:token>/reports/<int:pk>/", views.report_of_link, name="results-link-report"),
]
