"""The page of the API's documents."""

from __future__ import annotations

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView


class SchemaView(SpectacularAPIView):
    http_method_names = ["get", "head"]


class Documents(SpectacularSwaggerSplitView):
    """Its script comes from an address of its own, for our content policy allows none within the page."""

    http_method_names = ["get", "head"]
    template_name = "api_docs.html"
    url_name = "api-schema"
