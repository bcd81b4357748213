"""Addresses of studies."""

from django.urls import path

from analysis.studies import views

urlpatterns = [
    path(
        "campaigns/<slug:slug>/studies/new/<str:name>/",
        views.campaign_new,
        name="campaign-study-new",
    ),
    path(
        "collections/<slug:slug>/studies/new/<str:name>/",
        views.collection_new,
        name="collection-study-new",
    ),
    path("studies/<int:pk>/", views.study, name="study"),
    path("studies/<int:pk>/study.zip", views.folder, name="study-zip"),
    path("studies/<int:pk>/again", views.make_again, name="study-again"),
    path("studies/<int:pk>/delete", views.delete, name="study-delete"),
    path("studies/<int:pk>/<path:name>", views.file, name="study-file"),
]
