"""The Celery application. Jobs are rows of the database; a task is an id and a service call."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["pooling", "annotation", "analysis"])
