"""Addresses of the judging page."""

from django.urls import path

from annotation.views import judging

urlpatterns = [
    path("judge/<slug:slug>/", judging.judge, name="judge"),
    path("judge/<slug:slug>/try", judging.trial, name="judge-try"),
    path("judge/<slug:slug>/history", judging.history, name="judge-history"),
    path("judge/<slug:slug>/build", judging.current_build, name="judge-build"),
]
