"""The root of all addresses. Each app defines its own."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from config import health, installation, problem_codes, views
from pooling.api import problems

# Addresses requested with every judgement come first, because each address tried before costs time.
api = [
    path("", include("annotation.api_urls")),
    path("", include("pooling.api_urls")),
    path("", include("analysis.api_urls")),
]

moved = {
    "installation/doors": "installation-sessions",
    "campaigns/<slug:slug>/studies/": "campaign-systems",
    "collections/<slug:slug>/studies/": "collection-analyses",
    "campaigns/<slug:slug>/levers": "campaign-planning",
    "campaigns/<slug:slug>/machines/": "campaign-llm-judges",
    "campaigns/<slug:slug>/time/": "campaign-agreement",
    "campaigns/<slug:slug>/labels/": "campaign-judgements",
    "campaigns/<slug:slug>/labels/list/": "campaign-judgements",
}
"""Old addresses of pages that people may have bookmarked -> current name of the address."""

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
    path("installation/sessions", installation.sessions_page, name="installation-sessions"),
    path("healthz", health.live, name="health"),
    path("readyz", health.ready, name="readiness"),
    path("metrics", health.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    *(
        path(
            old,
            RedirectView.as_view(
                pattern_name=new,
                permanent=True,
                query_string=True,
                http_method_names=["get", "head"],
            ),
            name="-".join(part for part in old.split("/") if part and "<" not in part) + "-moved",
        )
        for old, new in moved.items()
    ),
]

handler400, handler403 = "config.errors.bad_request", "config.errors.forbidden"
handler404, handler500 = "config.errors.not_found", "config.errors.server_error"
