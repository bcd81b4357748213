"""The Celery application. Jobs are rows of the database; a task is an id and a service call."""

import os

from celery import Celery, signals

from config import environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["pooling", "annotation", "analysis"])


@signals.worker_init.connect
def give_way(**_: object) -> None:
    """Background work takes what the web server leaves over; the worker's processes inherit it."""
    os.nice(environment.number("WORKER_NICE", 10, least=0))
