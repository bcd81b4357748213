"""Addresses of the live pages of a campaign."""

from django.urls import path

from analysis.views import progress, strip, times, trail

urlpatterns = [
    path("campaigns/<slug:slug>/", progress.page, name="campaign"),
    path("campaigns/<slug:slug>/live", strip.live_figures, name="campaign-live"),
    path("campaigns/<slug:slug>/time/", times.page, name="campaign-time"),
    path("campaigns/<slug:slug>/feedback/", trail.feedback, name="campaign-feedback"),
    path("campaigns/<slug:slug>/audit/", trail.audit, name="campaign-audit"),
]
