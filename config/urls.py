"""All addresses: each app owns its own."""

from django.contrib import admin
from django.urls import include, path

from config import health, installation, problem_codes, views
from pooling.api import problems

# First what is asked with every judgement: each address before it is tried and costs time.
api = [
    path("", include("annotation.api_urls")),
    path("", include("pooling.api_urls")),
    path("", include("analysis.api_urls")),
]

admin.site.login = views.redirect_to_sign_in  # type: ignore[method-assign, assignment]
urlpatterns = [
    path("api/v1/", include(api)),
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("analysis.urls")),
    path("api/schema", views.SchemaView.as_view(), name="api-schema"),
    path(problems.CODES_PATH.removeprefix("/"), problem_codes.problem_page, name="api-problems"),
    path("api/docs", views.ApiDocumentsView.as_view(), name="api-docs"),
    path("installation", installation.installation, name="installation"),
    path("installation/doors", installation.sessions_page, name="installation-doors"),
    path("healthz", health.live, name="health"),
    path("readyz", health.ready, name="readiness"),
    path("metrics", health.metrics, name="metrics"),
    path("admin/", admin.site.urls),
]

handler400, handler403 = "config.errors.bad_request", "config.errors.forbidden"
handler404, handler500 = "config.errors.not_found", "config.errors.server_error"
