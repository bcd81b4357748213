"""The Celery application. Jobs are rows of the database, and a task consists of an ID and a service
call."""

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
    """Lower the worker's priority and import its modules before it starts its processes, which
    inherit both."""
    import_numerics()
    with environment.exit_on_bad_setting():
        os.nice(environment.worker_niceness())
