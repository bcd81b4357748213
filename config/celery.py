"""The Celery application. Jobs are rows of the database; a task is an id and a service call."""

import os

from celery import Celery, signals

from config import environment
from config.numerics import import_numerics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["pooling", "analysis.systems"], related_name="worker")


@signals.worker_init.connect
def prepare_worker(**_: object) -> None:
    """Background work takes what the web server leaves over; the worker's processes inherit that,
    and what is imported here."""
    import_numerics()
    with environment.exit_on_bad_setting():
        os.nice(environment.worker_niceness())
