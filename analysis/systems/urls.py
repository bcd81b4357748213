"""Addresses of the analyses of systems."""

from django.urls import path

from analysis.systems import views

urlpatterns = [
    path("campaigns/<slug:slug>/systems/", views.campaign_page, name="campaign-systems"),
    path(
        "campaigns/<slug:slug>/systems/clicks",
        views.compare_with_clicks,
        name="campaign-against-clicks",
    ),
    path(
        "campaigns/<slug:slug>/systems/new/<str:kind>/",
        views.campaign_new,
        name="campaign-report-new",
    ),
    path("collections/<slug:slug>/analyses/", views.collection_page, name="collection-analyses"),
    path(
        "collections/<slug:slug>/analyses/new/<str:kind>/",
        views.collection_new,
        name="collection-report-new",
    ),
    path("analyses/", views.index, name="analyses"),
    path("analyses/<int:pk>/", views.report, name="report"),
    path("analyses/<int:pk>/tables/<slug:key>.<str:extension>", views.table, name="report-table"),
    path("analyses/<int:pk>/figures/<str:name>", views.figure, name="report-figure"),
    path("analyses/<int:pk>/result.json", views.result, name="report-result"),
    path("analyses/<int:pk>/files.zip", views.files, name="report-files"),
    path("analyses/<int:pk>/again", views.compute_again, name="report-again"),
    path("analyses/<int:pk>/top-up", views.top_up, name="report-top-up"),
    path("analyses/<int:pk>/delete", views.delete, name="report-delete"),
]
