"""All addresses: each app owns its own."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

api = [
    path("", include("pooling.api_urls")),
    path("", include("annotation.api_urls")),
    path("", include("analysis.api_urls")),
]

urlpatterns = [
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("analysis.urls")),
    path("api/v1/", include(api)),
    path("api/schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/docs", SpectacularSwaggerView.as_view(url_name="api-schema"), name="api-docs"),
    path("admin/", admin.site.urls),
]
