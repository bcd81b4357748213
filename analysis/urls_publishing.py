"""Addresses of exports, recipes and releases."""

from django.urls import path

from analysis.views import publishing

urlpatterns = [
    path("import-campaign/", publishing.take_in, name="campaign-import"),
    path("campaigns/<slug:slug>/export/", publishing.page, name="campaign-export"),
    path("campaigns/<slug:slug>/export/files/<slug:name>", publishing.file, name="campaign-export-file"),
    path("campaigns/<slug:slug>/export/recipes/", publishing.new_recipe, name="campaign-recipe-new"),
    path("campaigns/<slug:slug>/export/recipes/<int:pk>/", publishing.recipe, name="campaign-recipe"),
    path("campaigns/<slug:slug>/export/releases/<int:pk>.zip", publishing.release, name="campaign-release"),
    path("campaigns/<slug:slug>/export/difference", publishing.difference, name="campaign-recipe-difference"),
]
