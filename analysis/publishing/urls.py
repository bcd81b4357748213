"""Addresses of exports, recipes and releases."""

from django.urls import path

from analysis.publishing import views

urlpatterns = [
    path("import-campaign/", views.import_release, name="campaign-import"),
    path("campaigns/<slug:slug>/export/", views.page, name="campaign-export"),
    path("campaigns/<slug:slug>/export/files/<slug:name>", views.file, name="campaign-export-file"),
    path(
        "campaigns/<slug:slug>/export/files/<slug:name>/send",
        views.send_file,
        name="campaign-export-send",
    ),
    path("campaigns/<slug:slug>/export/payment.csv", views.payment_file, name="campaign-payment"),
    path("campaigns/<slug:slug>/export/recipes/", views.new_recipe, name="campaign-recipe-new"),
    path("campaigns/<slug:slug>/export/recipes/<int:pk>/", views.recipe, name="campaign-recipe"),
    path(
        "campaigns/<slug:slug>/export/releases/<int:pk>.zip", views.release, name="campaign-release"
    ),
    path(
        "campaigns/<slug:slug>/export/difference.csv",
        views.difference_file,
        name="campaign-recipe-difference-file",
    ),
    path(
        "campaigns/<slug:slug>/export/difference",
        views.difference,
        name="campaign-recipe-difference",
    ),
]
