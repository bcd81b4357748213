"""Imports every service that registers a kind of job."""

from annotation.services import account_mails, machines, messages  # noqa: F401
