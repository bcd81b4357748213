"""Addresses of this app's API, under /api/v1/."""

from django.urls import path

from analysis.dashboard import api as dashboard
from analysis.dashboard import api_additional_judgements
from analysis.publishing import api as publishing
from analysis.studies import api as studies
from analysis.systems import api as systems

urlpatterns = [
    path("to-do/", dashboard.ToDoListView.as_view(), name="api-to-do"),
    path(
        "campaigns/<slug:slug>/progress",
        dashboard.ProgressOfCampaign.as_view(),
        name="api-campaign-progress",
    ),
    path(
        "campaigns/<slug:slug>/agreement",
        dashboard.AgreementOfCampaign.as_view(),
        name="api-campaign-agreement",
    ),
    path(
        "campaigns/<slug:slug>/additional-judgements",
        api_additional_judgements.AdditionalJudgementsView.as_view(),
        name="api-additional-judgements",
    ),
    path(
        "campaigns/<slug:slug>/systems",
        systems.CampaignSystems.as_view(),
        name="api-campaign-systems",
    ),
    path("campaigns/<slug:slug>/payment", publishing.PaymentFile.as_view(), name="api-payment"),
    path("campaigns/<slug:slug>/exports/", publishing.ExportList.as_view(), name="api-exports"),
    path(
        "campaigns/<slug:slug>/exports/<slug:name>",
        publishing.ExportFile.as_view(),
        name="api-export-file",
    ),
    path("campaigns/<slug:slug>/recipes/", publishing.RecipeList.as_view(), name="api-recipes"),
    path(
        "campaigns/<slug:slug>/recipes/<int:pk>/",
        publishing.RecipeDetail.as_view(),
        name="api-recipe",
    ),
    path(
        "campaigns/<slug:slug>/recipes/<int:pk>/build",
        publishing.BuildRelease.as_view(),
        name="api-recipe-build",
    ),
    path(
        "campaigns/<slug:slug>/recipes/<int:pk>/missing",
        publishing.MissingList.as_view(),
        name="api-recipe-missing",
    ),
    path(
        "campaigns/<slug:slug>/releases/<int:pk>.zip",
        publishing.ReleaseFileView.as_view(),
        name="api-release",
    ),
    path("reports/", systems.ReportList.as_view(), name="api-reports"),
    path("reports/<int:pk>/", systems.ReportDetail.as_view(), name="api-report"),
    path("reports/<int:pk>/top-up", systems.TopUp.as_view(), name="api-report-top-up"),
    path("studies/", studies.StudyList.as_view(), name="api-studies"),
    path("studies/<int:pk>/", studies.StudyDetail.as_view(), name="api-study"),
    path("studies/<int:pk>/study.zip", studies.StudyZip.as_view(), name="api-study-zip"),
]
