"""Addresses of the analyses of systems."""

from django.urls import path

from analysis.views import systems

urlpatterns = [
    path("campaigns/<slug:slug>/systems/", systems.campaign_page, name="campaign-systems"),
    path("campaigns/<slug:slug>/systems/clicks", systems.against_clicks, name="campaign-against-clicks"),
    path("campaigns/<slug:slug>/systems/new/<str:kind>/", systems.campaign_new, name="campaign-report-new"),
    path("collections/<slug:slug>/analyses/", systems.collection_page, name="collection-analyses"),
    path("collections/<slug:slug>/analyses/new/<str:kind>/", systems.collection_new, name="collection-report-new"),
    path("analyses/", systems.index, name="analyses"),
    path("analyses/<int:pk>/", systems.report, name="report"),
    path("analyses/<int:pk>/tables/<slug:key>.<str:extension>", systems.table, name="report-table"),
    path("analyses/<int:pk>/figures/<str:name>", systems.figure, name="report-figure"),
    path("analyses/<int:pk>/result.json", systems.result, name="report-result"),
    path("analyses/<int:pk>/files.zip", systems.files, name="report-files"),
    path("analyses/<int:pk>/again", systems.again, name="report-again"),
    path("analyses/<int:pk>/delete", systems.delete, name="report-delete"),
]
