"""Addresses of the app for analyses."""

from analysis.dashboard import urls as dashboard
from analysis.publishing import urls as publishing
from analysis.results import urls as results
from analysis.studies import urls as studies
from analysis.systems import urls as systems

urlpatterns = [
    *dashboard.urlpatterns,
    *publishing.urlpatterns,
    *results.urlpatterns,
    *systems.urlpatterns,
    *studies.urlpatterns,
]
