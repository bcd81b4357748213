"""The web application for gunicorn."""

import os
import sys

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config import environment
from config.numerics import import_numerics_in_background
from pooling.platform import liveness

APP_LOAD_ERROR = 4
"""gunicorn ends when a process ends with this status; with another one it would begin the next."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("ASSAY_QUERY_SECONDS", "12")  # browsers wait 20 s; jobs may take longer
with environment.exit_on_bad_setting(APP_LOAD_ERROR):
    django_application = get_wsgi_application()
    from config.admission import AdmissionMiddleware
application = AdmissionMiddleware(django_application)
liveness.start_heartbeats(liveness.WEB_SERVER)
get_resolver().url_patterns  # noqa: B018 - the pages are imported now, not with the first visitor
sys.setswitchinterval(
    0.0005
)  # a short answer (a pair to judge) waits half a millisecond for a long one (figures), not five
import_numerics_in_background()
