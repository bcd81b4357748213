"""The API documentation page, and the sign-in redirect of the administration site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from pooling.permissions import require_administrator


def redirect_to_sign_in(request: HttpRequest) -> HttpResponseRedirect:
    """Replace the sign-in page of the administration site by a redirect to the common one, because
    its form would bypass the limits on failed sign-ins."""
    if admin.site.has_permission(request):
        return redirect("admin:index")
    if request.user.is_authenticated:
        require_administrator(request)
        raise PermissionDenied
    return redirect_to_login(
        request.GET.get("next", reverse("admin:index")), login_url=reverse("sign-in")
    )


class SchemaView(SpectacularAPIView):
    http_method_names = ["get", "head"]


class ApiDocumentsView(SpectacularSwaggerSplitView):
    """The API documentation page. Its script has its own address, because the content security
    policy allows no inline script."""

    http_method_names = ["get", "head"]
    template_name = "api_docs.html"
    url_name = "api-schema"
