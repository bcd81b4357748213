"""Imports every service that registers a kind of job."""

from annotation.services.llm_judges import judges  # noqa: F401
from annotation.services.people import (
    account_mails,  # noqa: F401
    messages,  # noqa: F401
)
