"""Imports every service that registers a kind of job."""

from annotation.services import machines, messages  # noqa: F401  registered on import
