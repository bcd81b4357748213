"""Addresses of the app: people, judging, managing."""

from annotation import urls_judging, urls_manage, urls_people

urlpatterns = [*urls_people.urlpatterns, *urls_judging.urlpatterns, *urls_manage.urlpatterns]
