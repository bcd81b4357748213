"""Import every service that registers a kind of job."""

# ruff: noqa: F401

from annotation.demo import creation
from annotation.services import webhooks
from annotation.services.llm_judges import judges
from annotation.services.people import (
    account_mails,
    messages,
)
