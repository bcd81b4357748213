"""The WSGI application that gunicorn serves."""

import os
import sys

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config import environment
from config.numerics import import_numerics_in_background
from pooling.platform import liveness

APP_LOAD_ERROR = 4
"""Exit status with which gunicorn stops. With any other status it would start another process."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("ASSAY_QUERY_SECONDS", "12")  # browsers wait for 20 s; jobs may take longer
with environment.exit_on_bad_setting(APP_LOAD_ERROR):
    django_application = get_wsgi_application()
    from config.admission import AdmissionMiddleware
application = AdmissionMiddleware(django_application)
liveness.start_heartbeats(liveness.WEB_SERVER)
get_resolver().url_patterns  # noqa: B018 - the pages are imported now, not with the first visitor
# a short response (a pair to judge) then waits for a long one (statistics) for at most half a
# millisecond, not five
sys.setswitchinterval(0.0005)
import_numerics_in_background()
