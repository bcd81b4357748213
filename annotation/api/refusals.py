"""A manager's mistake as the API says it."""

from __future__ import annotations

from rest_framework.exceptions import APIException

from annotation.services.errors import CampaignError, ContradictionError
from pooling.api.problems import malformed_error
from pooling.api.views import Conflict


def to_api_exception(error: CampaignError) -> APIException:
    """400 for what makes no sense, 409 for what cannot be done as things stand."""
    return (
        malformed_error(str(error))
        if isinstance(error, ContradictionError)
        else Conflict(str(error))
    )
