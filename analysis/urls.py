"""Addresses of the app: live pages, people, systems, publishing."""

from analysis import urls_dashboard, urls_people, urls_publishing, urls_systems

urlpatterns = [*urls_dashboard.urlpatterns, *urls_people.urlpatterns, *urls_publishing.urlpatterns, *urls_systems.urlpatterns]
